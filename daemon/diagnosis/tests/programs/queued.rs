//! A link on which messages queue: whoever receives them waits although they were sent long ago, and whoever sends may wait
//! until those before have left.

use crate::model::{EXCHANGE, Model, RECEIVE, SEND, builder_of, call, message, near};
use mpiscope_diagnosis::whatif::Change;
use mpiscope_model::{Rank, Scheduling};

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

/// Steps in which rank 0 sends to rank 1 on another node, and each waits for the other's message.
struct Phase {
    work_ns: [u64; 2],
    flight_ns: u64,
    /// How long rank 1 takes to receive what is there, in each third step.
    taking_ns: u64,
    /// The scheduler says that rank 1 waits for a CPU meanwhile.
    lacks_cpu: bool,
}

/// What messages take that are felt.
const QUICK: Phase =
    Phase { work_ns: [2_000_000, 200_000], flight_ns: 2_000, taking_ns: 1_000, lacks_cpu: false };

/// How long the run takes, and how long if rank 1 works a tenth as long.
fn with_rank_1_faster(phases: &[Phase]) -> (f64, f64) {
    let mut model = Model { calls: Vec::new(), messages: Vec::new(), end_ns: 0 };
    let mut of_rank_1 = Scheduling { rank: Rank(1), ..Scheduling::default() };
    let mut scheduling = vec![of_rank_1];
    let mut begun_ns = [0; 2];
    for Phase { work_ns, flight_ns, taking_ns, lacks_cpu } in phases {
        for step in 0..STEPS {
            let (sent_ns, came_ns) = (begun_ns[0] + work_ns[0], begun_ns[1] + work_ns[1]);
            let own_ns = if step.is_multiple_of(3) { *taking_ns } else { 1_000 };
            let taken_ns = (came_ns + own_ns).max(sent_ns + flight_ns);
            let done_ns = came_ns.max(sent_ns) + 20_000;
            model.calls.push(call(0, SEND, (sent_ns, sent_ns + OWN_NS), Some(1), 100));
            model.calls.push(call(0, RECEIVE, (sent_ns + OWN_NS, done_ns), Some(1), 100));
            model.calls.push(call(1, EXCHANGE, (came_ns, taken_ns), Some(0), 100));
            model.messages.push(message([0, 1], 100, (sent_ns, taken_ns), came_ns));
            model.messages.push(message([1, 0], 100, (came_ns, done_ns), sent_ns));
            begun_ns = [done_ns, taken_ns];
            if *lacks_cpu {
                of_rank_1.run_ns += 100_000;
                of_rank_1.wait_ns += if step.is_multiple_of(3) { own_ns } else { 0 };
                of_rank_1.involuntary += u64::from(step.is_multiple_of(3));
                of_rank_1.at_ns = taken_ns;
                scheduling.push(of_rank_1);
            }
        }
    }
    let mut builder = builder_of(&model, &[0, 1]);
    scheduling.into_iter().for_each(|of| builder.scheduling(of));
    let graph = builder.finish().unwrap();
    let faster = graph.replay(&Change { ranks: vec![(Rank(1), 0.1)], ..Change::default() });
    (graph.recorded_ns() as f64, faster.run_ns)
}

/// Rank 1 has ten times the work of rank 0, and takes a while to receive.
const SLOW_TO_TAKE: Phase =
    Phase { work_ns: [2_000_000, 20_000_000], flight_ns: 2_000, taking_ns: 250_000, lacks_cpu: false };
const SPARED_NS: f64 = STEPS as f64 * 18_000_000.0;

#[test]
fn a_message_that_was_there_long_before_does_not_come_late_when_its_receiver_is_slow_to_take_it() {
    let (recorded_ns, faster_ns) = with_rank_1_faster(&[SLOW_TO_TAKE]);
    assert!(near(recorded_ns - faster_ns, SPARED_NS, 0.05), "{} of {SPARED_NS}", recorded_ns - faster_ns);
}

#[test]
fn nor_does_it_on_a_link_on_which_others_come_late() {
    let late = Phase { flight_ns: 3_000_000, ..QUICK };
    let (recorded_ns, faster_ns) = with_rank_1_faster(&[QUICK, late, SLOW_TO_TAKE]);
    assert!(near(recorded_ns - faster_ns, SPARED_NS, 0.05), "{} of {SPARED_NS}", recorded_ns - faster_ns);
}

#[test]
fn a_receiver_that_waits_for_a_cpu_does_not_make_its_link_late() {
    // It takes 1 ms to receive messages that were sent 18 ms before: not long enough to say that they must have been there.
    let slow = Phase { taking_ns: 1_000_000, lacks_cpu: true, ..SLOW_TO_TAKE };
    let (recorded_ns, faster_ns) = with_rank_1_faster(&[QUICK, slow]);
    assert!(near(recorded_ns - faster_ns, SPARED_NS, 0.05), "{} of {SPARED_NS}", recorded_ns - faster_ns);
}
