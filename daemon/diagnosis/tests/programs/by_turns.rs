//! Ranks that share their CPU with another program: each has it by turns.

use crate::model::{POLL, RECEIVE, SEND, WAIT, call, kinds, message, near};
use mpiscope_diagnosis::whatif::{Change, GraphBuilder};
use mpiscope_model::{Rank, Scheduling};

const STEPS: u64 = 3_000;
const WORK_NS: u64 = 100_000;
const TAKING_NS: u64 = 100_000;
/// Now and then rank 0 waits so long for a CPU: less than half of the time.
const TURN_NS: u64 = 4_000_000;
const EVERY: u64 = 30;

#[test]
fn who_polls_until_such_a_rank_has_taken_its_message_is_spared_the_turn() {
    let mut builder = GraphBuilder::new(kinds());
    let (mut now_ns, mut waited_ns, mut turns) = (0, 0, 0);
    for step in 0..STEPS {
        let begun_ns = now_ns + WORK_NS;
        let turn_ns = if step % EVERY == 0 { TURN_NS } else { 0 };
        let end_ns = begun_ns + TAKING_NS + turn_ns;
        builder.call(&call(1, SEND, (begun_ns, begun_ns + 500), Some(0), 100_000));
        builder.call(&call(1, POLL, (begun_ns + 500, end_ns), None, 0));
        builder.call(&call(0, RECEIVE, (begun_ns, end_ns), Some(1), 100_000));
        builder.message(&message([1, 0], 100_000, (begun_ns, end_ns), begun_ns));
        (now_ns, waited_ns, turns) = (end_ns, waited_ns + turn_ns, turns + u64::from(turn_ns > 0));
        // The scheduler is asked some ten times a second.
        if step % 300 == 0 || step == STEPS - 1 {
            let of_rank = Scheduling { rank: Rank(0), at_ns: end_ns, ..Scheduling::default() };
            let (run_ns, wait_ns) = (end_ns - waited_ns, waited_ns);
            builder.scheduling(Scheduling { run_ns, wait_ns, involuntary: turns, ..of_rank });
        }
    }
    let graph = builder.finish().unwrap();
    let recorded_ns = graph.recorded_ns() as f64;
    assert!(near(graph.replay(&Change::default()).run_ns, recorded_ns, 1e-6));
    let saved_ns = recorded_ns - graph.replay(&Change { own_cores: true, ..Change::default() }).run_ns;
    assert!(near(saved_ns, waited_ns as f64, 0.1), "{saved_ns} of {waited_ns}");
}

/// Two ranks share a CPU: one waits for it in a call while the other computes, then the other while it computes. Each takes
/// the one part, then the other, for some steps.
#[test]
fn ranks_that_share_a_cpu_all_the_time_run_side_by_side_with_one_each() {
    const ROUND: u64 = 40;
    const FLIGHT_NS: u64 = 5_000;
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = 0;
    for step in 0..STEPS {
        let (first, second) = if (step / ROUND).is_multiple_of(2) { (0, 1) } else { (1, 0) };
        // When they change parts, both have a CPU for a moment.
        let turn_ns = now_ns + if step % ROUND == 0 { FLIGHT_NS } else { WORK_NS };
        let end_ns = now_ns + 2 * WORK_NS;
        builder.call(&call(first, SEND, (now_ns, now_ns + 500), Some(second), 100_000));
        builder.call(&call(second, WAIT, (now_ns, turn_ns), None, 100_000));
        builder.message(&message([first, second], 100_000, (now_ns, turn_ns), now_ns));
        builder.call(&call(second, SEND, (turn_ns, turn_ns + 500), Some(first), 100_000));
        builder.call(&call(first, WAIT, (end_ns - 500, end_ns), None, 100_000));
        builder.message(&message([second, first], 100_000, (turn_ns, end_ns), end_ns - 500));
        now_ns = end_ns;
        if step % 50 == 0 || step == STEPS - 1 {
            for rank in [Rank(0), Rank(1)] {
                // Who waits in a call yields: most waits are short.
                let (run_ns, wait_ns, involuntary) = (now_ns / 2, now_ns / 2, 20 * step);
                let of_rank = Scheduling { rank, at_ns: now_ns, ..Scheduling::default() };
                builder.scheduling(Scheduling { run_ns, wait_ns, involuntary, ..of_rank });
            }
        }
    }
    let graph = builder.finish().unwrap();
    let recorded_ns = graph.recorded_ns() as f64;
    assert!(near(graph.replay(&Change::default()).run_ns, recorded_ns, 1e-6));
    let with_cpus_ns = graph.replay(&Change { own_cores: true, ..Change::default() }).run_ns;
    assert!(near(with_cpus_ns, recorded_ns / 2.0, 0.1), "{with_cpus_ns} of {recorded_ns}");
}
