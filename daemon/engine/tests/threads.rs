//! What a run comes to is the same however many threads do the work.

use mpiscope_engine::{Engine, Step, Sums, WindowCell};
use mpiscope_model::{Call as Row, Message, Rank};
use mpiscope_wire::{
    self as wire, Call, CallFlags, ClockKind, ClockSample, CommDefinition, CommKind, NO_COMM, Process,
    RunEnd, RunStart, Slot, Slots, id,
};
use std::collections::BTreeMap;

const RANKS: u32 = 12;
const PASSES: u64 = 3;
/// Enough for several threads.
const STEPS_OF_PASS: u64 = 4_000;
const STEP_NS: u64 = 50_000;

fn start() -> wire::Message {
    let (run, node) = ("run".into(), "node".into());
    wire::Message::RunStart(RunStart { run, node, unix_ns: 1, monotonic_ns: 0, command: Vec::new() })
}

fn process(rank: u32) -> wire::Message {
    wire::Message::Process(Process {
        process: rank,
        pid: 100 + rank,
        made_ns: 1,
        rank,
        world_size: RANKS,
        clock: ClockKind::Monotonic,
        cost_per_call_ns: 20.0,
        library: "Open MPI".into(),
        node: "node".into(),
    })
}

/// Each rank sends to the next and receives from the one before.
fn step(rank: u32, number: u64) -> [Slot; 2] {
    let at_ns = 1_000 + number * STEP_NS + u64::from(rank) * 7;
    let call = |flags, function, peer: u32, start| Call {
        flags,
        function,
        duration: 5_000,
        start,
        peer: peer as i32,
        comm: 0,
        site: 0,
        tag: 3,
        bytes: 8 * (1 + number % 5),
    };
    [
        call(CallFlags::SEND, id::SEND, (rank + 1) % RANKS, at_ns).encode(),
        call(CallFlags::RECEIVE, id::RECV, (rank + RANKS - 1) % RANKS, at_ns + 10_000).encode(),
    ]
}

fn world(own_rank: u32) -> Slot {
    CommDefinition {
        index: 0,
        kind: CommKind::Communicator,
        id: 0,
        size: RANKS,
        own_rank,
        leader: 0,
        parent: NO_COMM,
        other: None,
    }
    .encode()
}

fn messages() -> Vec<wire::Message> {
    let sample = |monotonic_ns| wire::Message::ClockSample(ClockSample { ticks: monotonic_ns, monotonic_ns });
    let mut messages = vec![start()];
    messages.extend((0..RANKS).map(process));
    messages.push(sample(1));
    for pass in 0..PASSES {
        for rank in 0..RANKS {
            let first = if pass == 0 { vec![world(rank)] } else { Vec::new() };
            let numbers = pass * STEPS_OF_PASS..(pass + 1) * STEPS_OF_PASS;
            let slots: Vec<Slot> =
                first.into_iter().chain(numbers.flat_map(|number| step(rank, number))).collect();
            let from = pass * 2 * STEPS_OF_PASS + u64::from(pass > 0);
            messages.push(wire::Message::Slots(Slots { process: rank, ring: 0, from, slots }));
        }
        messages.push(sample((pass + 1) * STEPS_OF_PASS * STEP_NS));
    }
    let monotonic_ns = (PASSES * STEPS_OF_PASS + 1) * STEP_NS;
    messages.push(wire::Message::RunEnd(RunEnd { exit: Some(0), monotonic_ns }));
    messages
}

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
