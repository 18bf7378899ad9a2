//! What a run comes to is the same however many threads do the work.

mod ring_job;

use mpiscope_engine::{Engine, Step, Sums, WindowCell};
use mpiscope_model::{Call as Row, Message, Rank};
use ring_job::{PASSES, RANKS, STEPS_OF_PASS, messages};
use std::collections::BTreeMap;

/// All that it comes to.
#[derive(Default)]
struct Outcome {
    steps: usize,
    rows: BTreeMap<Rank, Vec<Row>>,
    messages: Vec<Message>,
    windows: BTreeMap<(u64, Rank, u16), u64>,
    sums: Sums,
}

impl Outcome {
    fn take(&mut self, step: Step) {
        self.steps += 1;
        self.sums.add(&step.calls, &step.messages, &step.windows);
        for row in step.calls {
            self.rows.entry(row.rank).or_default().push(row);
        }
        self.messages.extend(step.messages);
        for ((window, rank, function), totals) in step.windows as Vec<WindowCell> {
            *self.windows.entry((window, rank, function)).or_default() += totals.calls;
        }
    }
}

fn run(threads: usize) -> (Outcome, Engine) {
    let mut engine = Engine::for_diagnosis(100_000_000);
    engine.share_out(threads);
    let mut outcome = Outcome::default();
    for message in messages() {
        engine.feed(message).into_iter().for_each(|step| outcome.take(step));
    }
    engine.finish().into_iter().for_each(|step| outcome.take(step));
    outcome.messages.sort_by_key(|message| (message.src, message.send_ns));
    (outcome, engine)
}

#[test]
fn a_run_comes_to_the_same_on_one_thread_and_on_several() {
    let (one, one_engine) = run(1);
    let calls = u64::from(RANKS) * PASSES * STEPS_OF_PASS * 2;
    assert_eq!((one_engine.totals.calls, one_engine.totals.messages), (calls, calls / 2));
    for threads in [2, 4] {
        let (several, engine) = run(threads);
        assert!(several.steps >= one.steps + 2, "{} and {} steps", several.steps, one.steps);
        assert_eq!(engine.totals, one_engine.totals);
        assert_eq!(engine.until_ns, one_engine.until_ns);
        assert!(several.rows == one.rows, "rows differ with {threads} threads");
        assert!(several.messages == one.messages, "messages differ with {threads} threads");
        assert!(several.windows == one.windows, "windows differ with {threads} threads");
        let summaries = [(&several, &engine), (&one, &one_engine)].map(|(outcome, engine)| {
            format!("{:?}", outcome.sums.summary(&engine.counts, &engine.processors))
        });
        assert!(summaries[0] == summaries[1], "sums differ with {threads} threads");
    }
}
