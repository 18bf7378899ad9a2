//! A link on which messages queue: whoever receives them waits although they were sent long ago, and whoever sends may wait
//! until those before have left.

use crate::model::{EXCHANGE, Model, RECEIVE, SEND, builder_of, call, message, near};
use mpiscope_diagnosis::whatif::Change;
use mpiscope_model::Rank;

const RANKS: usize = 8;
const STEPS: usize = 300;
const NODES: [u32; RANKS] = [0, 0, 1, 1, 2, 2, 3, 3];
const COMPUTING_NS: u64 = 50_000;
const OWN_NS: u64 = 300;

fn flight_ns(from: usize, step: usize) -> u64 {
    if from.is_multiple_of(2) { 2_000 } else { 160_000 + step as u64 % 7 * 1_000 }
}

/// A ring of exchanges, in which rank 1 sends on a link that takes one message in each interval. `slots` is how many of
/// them leave a sender at once; it waits with the next.
fn ring(between_ns: u64, slots: usize) -> Model {
    let mut model = Model { calls: Vec::new(), messages: Vec::new(), end_ns: 0 };
    let mut now = [COMPUTING_NS; RANKS];
    // When the last messages of rank 1 left the link.
    let mut left: Vec<u64> = Vec::new();
    let number = |rank: usize| u32::try_from(rank).unwrap();
    for step in 0..STEPS {
        let entered = now;
        let queued_ns = entered[1].max(left.last().copied().unwrap_or(0)) + between_ns;
        left.push(queued_ns);
        // Until one of the slots is free.
        let drained_ns = if step >= slots { left[step - slots] } else { 0 };
        for rank in 0..RANKS {
            let from = (rank + RANKS - 1) % RANKS;
            let sent_ns = if from == 1 { queued_ns } else { entered[from] };
            let own_ns = entered[rank] + OWN_NS;
            let end_ns =
                own_ns.max(sent_ns + flight_ns(from, step)).max(if rank == 1 { drained_ns } else { 0 });
            let peer = Some(number((rank + 1) % RANKS));
            model.calls.push(call(number(rank), EXCHANGE, (entered[rank], end_ns), peer, 100));
            let ends = [number(from), number(rank)];
            model.messages.push(message(ends, 100, (entered[from], end_ns), entered[rank]));
            now[rank] = end_ns + COMPUTING_NS;
        }
    }
    model.end_ns = now.into_iter().max().unwrap_or(0) - COMPUTING_NS;
    model
}

/// What the network costs, and what it should.
fn costs(between_ns: u64, slots: usize, is_referred: bool) -> (f64, f64) {
    let (model, quiet) = (ring(between_ns, slots), ring(0, slots));
    let mut builder = builder_of(&model, &NODES);
    if is_referred {
        builder.refer(true, 100, [163_000, 170_000]);
    }
    let saved_ns = builder.finish().unwrap().savings(None).causes[2].wall_ns;
    (saved_ns, (model.end_ns - quiet.end_ns) as f64)
}

#[test]
fn a_link_that_queues_costs_what_a_run_without_the_queue_saves() {
    for slots in [usize::MAX, 1] {
        let (saved_ns, truth_ns) = costs(800_000, slots, true);
        assert!(near(saved_ns, truth_ns, 0.15), "slots {slots}: {saved_ns}, truth {truth_ns}");
    }
}

#[test]
fn one_that_never_queued_costs_nothing() {
    let (saved_ns, _) = costs(0, usize::MAX, true);
    let end_ns = ring(0, usize::MAX).end_ns as f64;
    assert!(saved_ns < 0.01 * end_ns, "{saved_ns} of {end_ns}");
}

#[test]
fn a_message_that_was_there_long_before_does_not_come_late_when_its_receiver_is_slow_to_take_it() {
    // Rank 1 has ten times the work of rank 0, and takes a while to receive in each third step.
    const WORK_NS: [u64; 2] = [2_000_000, 20_000_000];
    let mut model = Model { calls: Vec::new(), messages: Vec::new(), end_ns: 0 };
    let mut begun_ns = [0; 2];
    for step in 0..STEPS {
        let (sent_ns, came_ns) = (begun_ns[0] + WORK_NS[0], begun_ns[1] + WORK_NS[1]);
        let taken_ns = came_ns + if step.is_multiple_of(3) { 250_000 } else { 1_000 };
        let done_ns = came_ns + 20_000;
        model.calls.push(call(0, SEND, (sent_ns, sent_ns + OWN_NS), Some(1), 100));
        model.calls.push(call(0, RECEIVE, (sent_ns + OWN_NS, done_ns), Some(1), 100));
        model.calls.push(call(1, EXCHANGE, (came_ns, taken_ns), Some(0), 100));
        model.messages.push(message([0, 1], 100, (sent_ns, taken_ns), came_ns));
        model.messages.push(message([1, 0], 100, (came_ns, done_ns), sent_ns));
        begun_ns = [done_ns, taken_ns];
    }
    let graph = builder_of(&model, &[0, 1]).finish().unwrap();
    let faster = graph.replay(&Change { ranks: vec![(Rank(1), 0.1)], ..Change::default() });
    let saved_ns = graph.recorded_ns() as f64 - faster.run_ns;
    let truth_ns = STEPS as f64 * (WORK_NS[1] - WORK_NS[0]) as f64;
    assert!(near(saved_ns, truth_ns, 0.05), "{saved_ns} of {truth_ns}");
}
