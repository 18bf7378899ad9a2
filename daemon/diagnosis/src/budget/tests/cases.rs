//! Cases worked by hand.

use super::*;

#[test]
fn a_late_sender_is_waited_for_and_its_computing_is_to_blame() {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.receive(1, 0, 100, (10_000, 54_500));
    let found = job.run(with_criteria(), &[0, 1]);
    let budget = of_rank(&found, 1);
    assert_eq!(by(&budget), [(Cause::Compute, 40_000)]);
    assert_eq!(parts(&budget), [(Cause::Base, 1_000), (Cause::Distance, 2_000), (Cause::Excess, 1_500)]);
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Base, 400)]);
    let (end_ns, path) = found.critical_path();
    assert_eq!((end_ns, path[Cause::Compute], path[Cause::Excess]), (54_500, 50_000, 1_500));
    let waits: Vec<_> =
        found.waits().map(|(key, totals)| (key.state, key.awaited, totals.waited_ns)).collect();
    assert_eq!(waits, [(WaitState::LateSender, Rank(0), 40_000)]);
    let window = found.ledger().total();
    assert_eq!((window.inter.messages, window.inter.delayed, window.inter.took_ns), (1, 1, 4_500));
}

/// Uses the advice to bring both ends of a message onto one node.
fn with_criteria_and_advice() -> Windowed {
    let mut windowed = with_criteria();
    let advice = mpiscope_topology::Advice {
        node_of_rank: vec![Node(0); 2],
        inter_messages_before: 1,
        inter_messages_after: 0,
        inter_bytes_before: 100,
        inter_bytes_after: 0,
    };
    windowed.budgeter = windowed.budgeter.with_advice(advice);
    windowed
}

#[test]
fn the_advised_placement_would_save_the_distance() {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.receive(1, 0, 100, (10_000, 53_000));
    let windowed = with_criteria_and_advice();
    let budget = of_rank(&job.run(windowed, &[0, 1]), 1);
    assert_eq!(parts(&budget), [(Cause::Base, 1_000), (Cause::Saved, 2_000)]);
}

/// What one message between nodes would be spared by the placement that brings its ends onto one.
fn spared_if_placed(receive: (u64, u64)) -> u64 {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.receive(1, 0, 100, receive);
    let windowed = with_criteria_and_advice();
    job.run(windowed, &[0, 1]).ledger().total().spared.placed_ns
}

#[test]
fn a_placement_spares_the_distance_of_messages_that_are_waited_for() {
    assert_eq!(spared_if_placed((10_000, 53_000)), 2_000);
    assert_eq!(spared_if_placed((50_500, 53_000)), 2_000);
    assert_eq!(spared_if_placed((52_000, 53_000)), 2_000);
    // It was there before.
    assert_eq!(spared_if_placed((60_000, 60_200)), 0);
    // What is slow between nodes would be as slow for its distance.
    assert_eq!(spared_if_placed((10_000, 62_000)), 8_000);
}

#[test]
fn balancing_saves_the_rank_with_more_to_compute() {
    // Of four ranks one has twice as much to do; all meet every 10,000 ns.
    let mut job = Job::default();
    for round in 0..50 {
        let begin_ns = round * 10_000;
        for rank in 0..4 {
            let start_ns = begin_ns + if rank == 2 { 10_000 } else { 5_000 };
            job.collective(rank, BARRIER, Flow::All, None, (start_ns, begin_ns + 10_000));
        }
    }
    let first = job.run(with_criteria(), &[0, 0, 1, 1]);
    let mut windowed = with_criteria();
    windowed.budgeter = windowed.budgeter.with_course(first.course(&criteria()));
    let found = job.run(windowed, &[0, 0, 1, 1]);
    // Each would compute 6,250; before their first calls nobody knows.
    let spared = found.ledger().total().spared;
    assert!(spared.balanced_ns.abs_diff(49 * 3_750) < 49 * 60, "{spared:?}");
    assert_eq!((spared.quiet_ns, spared.cored_ns), (0, 0));
}

#[test]
fn a_blocked_sender_waits_for_its_receive() {
    let mut job = Job::default();
    job.send_by(Blocking::Always, 0, 1, 100, (10_000, 61_200));
    job.receive(1, 0, 100, (60_000, 61_100));
    let found = job.run(with_criteria(), &[0, 0]);
    let sender = of_rank(&found, 0);
    assert_eq!(by(&sender), [(Cause::Compute, 50_000)]);
    assert_eq!(parts(&sender), [(Cause::Base, 1_000), (Cause::ExcessInside, 200)]);
    // The receive did not wait: the message was on its way since long ago.
    assert_eq!(parts(&of_rank(&found, 1)), [(Cause::Base, 1_000), (Cause::ExcessInside, 100)]);
    assert!(found.waits().any(|(key, of)| (key.state, of.waited_ns) == (WaitState::LateReceiver, 50_000)));
}

#[test]
fn congestion_two_hops_away_is_excess_and_no_imbalance() {
    // 0 -> 1 is congested by 100,000; 1 -> 2 and 2 -> 3 are quick. All computed equally long.
    let mut job = Job::default();
    job.send(0, 1, 100, (20_000, 20_300));
    job.receive(1, 0, 100, (20_000, 123_000));
    job.send(1, 2, 100, (123_000, 123_300));
    job.receive(2, 1, 100, (20_000, 126_000));
    job.send(2, 3, 100, (126_000, 126_300));
    job.receive(3, 2, 100, (20_000, 129_000));
    let found = job.run(with_criteria(), &[0, 1, 2, 3]);
    let waiting = by(&of_rank(&found, 3));
    let of = |cause| waiting.iter().find(|(of, _)| *of == cause).map_or(0, |(_, ns)| *ns);
    assert_eq!((of(Cause::Excess), of(Cause::Compute)), (100_000, 0), "{waiting:?}");
    assert_eq!(of_rank(&found, 3).waiting_ns, 106_000);
}

#[test]
fn a_broadcast_waits_for_its_root_which_waits_for_nobody() {
    let mut job = Job::default();
    job.collective(0, BCAST, Flow::FromRoot, Some(0), (30_000, 31_000));
    job.collective(1, BCAST, Flow::FromRoot, Some(0), (10_000, 35_000));
    // It came after its root had left.
    job.collective(2, BCAST, Flow::FromRoot, Some(0), (90_000, 91_000));
    let found = job.run(with_criteria(), &[0, 0, 1]);
    assert_eq!(
        (of_rank(&found, 0).waiting_ns, parts(&of_rank(&found, 0))),
        (0, vec![(Cause::Operation, 1_000)])
    );
    assert_eq!(by(&of_rank(&found, 1)), [(Cause::Compute, 20_000)]);
    assert_eq!(parts(&of_rank(&found, 1)), [(Cause::Operation, 5_000)]);
    assert_eq!(
        (of_rank(&found, 2).waiting_ns, parts(&of_rank(&found, 2))),
        (0, vec![(Cause::Operation, 1_000)])
    );
}

#[test]
fn a_barrier_waits_for_the_last() {
    let mut job = Job::default();
    for (rank, enters) in [(0, 10_000), (1, 70_000), (2, 40_000)] {
        job.collective(rank, BARRIER, Flow::All, None, (enters, 72_000));
    }
    let found = job.run(with_criteria(), &[0, 1, 2]);
    let waited: Vec<u64> = (0..3).map(|rank| of_rank(&found, rank).waiting_ns).collect();
    assert_eq!(waited, [60_000, 0, 30_000]);
}

#[test]
fn one_congested_link_among_late_neighbours_decides_a_waitall() {
    let mut job = Job::default();
    let from = [1, 2, 3, 4];
    job.post(0, &from, 1_000);
    // Three neighbours send late but their messages are quick, one sent early over a congested link.
    for (rank, begins) in [(1, 60_000), (2, 61_000), (3, 62_000), (4, 20_000)] {
        job.send(rank, 0, 100, (begins, begins + 300));
    }
    job.wait_all(0, &from, 100, (2_000, 65_500));
    let found = job.run(with_criteria(), &[0, 1, 2, 3, 4]);
    // The third was sent 3,500 before the end and is the most plausible.
    assert_eq!(by(&of_rank(&found, 0)).iter().map(|(_, ns)| ns).sum::<i64>(), 60_000);
    assert!(found.waits().any(|(key, _)| key.awaited == Rank(3)));
    let mut job = Job::default();
    job.post(0, &from, 1_000);
    for (rank, begins) in [(1, 60_000), (2, 61_000), (3, 62_000), (4, 20_000)] {
        job.send(rank, 0, 100, (begins, begins + 300));
    }
    // Within a node, 30,000 after the last neighbour: only the congested link between nodes can have decided.
    job.wait_all(0, &from, 100, (2_000, 95_000));
    let found = job.run(with_criteria(), &[0, 0, 0, 0, 1]);
    assert!(found.waits().any(|(key, of)| key.awaited == Rank(4) && of.waited_ns == 18_000));
    assert_eq!(of_rank(&found, 0).direct[Cause::Excess], 72_000);
}

#[test]
fn messages_that_never_decide_leave_their_scope_unknown() {
    // Each Waitall has a quick message within the node and one that comes later from another.
    let mut job = Job::default();
    for step in 0..60_u64 {
        let at_ns = step * 100_000;
        job.post(0, &[1, 2], at_ns);
        job.send(1, 0, 100, (at_ns + 1_000, at_ns + 1_300));
        job.send(2, 0, 100, (at_ns + 30_000, at_ns + 30_300));
        job.wait_all(0, &[1, 2], 100, (at_ns + 500, at_ns + 33_000));
    }
    let found = job
        .run(Windowed::new(BudgetOptions { window_ns: 1_000_000, ..BudgetOptions::default() }), &[0, 0, 1]);
    assert!(found.learnt().is_unknown(Scope::Intra));
    let inter = found.learnt().message_ns(Scope::Inter, 100).unwrap();
    assert!(inter.abs_diff(3_000) < 50, "{inter}");
}

#[test]
fn a_ring_of_sendrecv_has_an_order() {
    let mut job = Job::default();
    for rank in 0..4_u32 {
        job.sendrecv(rank, (rank + 1) % 4, (rank + 3) % 4, 100, (10_000 + u64::from(rank) * 1_000, 20_000));
    }
    let found = job.run(with_criteria(), &[0; 4]);
    assert_eq!(found.given_up(), 0);
    // Rank 0 waited for rank 3, the others' messages were there.
    let waited: Vec<u64> = (0..4).map(|rank| of_rank(&found, rank).waiting_ns).collect();
    assert_eq!(waited, [3_000, 0, 0, 0]);
}

#[test]
fn what_was_lost_in_the_middle_is_unknown_and_the_rest_goes_on() {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.receive(1, 0, 100, (10_000, 54_500));
    // The send of this one was lost.
    job.receive(1, 2, 100, (60_000, 70_000));
    job.send(2, 1, 200, (65_000, 65_300));
    job.events.retain(|event| !matches!(event, Event::Send { bytes: 200, .. }));
    job.send(0, 1, 100, (80_000, 80_400));
    job.receive(1, 0, 100, (75_000, 81_500));
    let found = job.run(with_criteria(), &[0, 1, 1]);
    let budget = of_rank(&found, 1);
    assert_eq!(budget.direct[Cause::Unknown], 10_000);
    assert_eq!(budget.waiting_ns, 45_000);
    assert_eq!(found.given_up(), 1);
}

#[test]
fn a_loop_of_polls_waits_from_its_first_and_computes_between() {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.call(1, 34, (10_000, 40_000), Effect::Polls);
    job.receive_since(1, 0, 100, 10_000, (45_000, 53_000));
    let found = job.run(with_criteria(), &[0, 1]);
    let budget = of_rank(&found, 1);
    // 40,000 until the send began; 5,000 of them lay between two calls.
    assert_eq!((budget.waiting_ns, by(&budget)), (35_000, vec![(Cause::Compute, 35_000)]));
    assert_eq!(parts(&budget), [(Cause::Base, 1_000), (Cause::Distance, 2_000)]);
    // A loop that led to nothing is no waiting.
    let mut job = Job::default();
    job.call(0, 34, (10_000, 40_000), Effect::Polls);
    job.other(0, (50_000, 51_000));
    let found = job.run(with_criteria(), &[0]);
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Other, 31_000)]);
}

#[test]
fn a_size_that_blocks_is_learnt() {
    let mut job = Job::default();
    for step in 0..100_u64 {
        let at_ns = step * 1_000_000;
        job.send(0, 1, 1 << 20, (at_ns, at_ns + 600_000));
        job.receive(1, 0, 1 << 20, (at_ns + 500_000, at_ns + 600_000));
        job.send(0, 1, 64, (at_ns + 700_000, at_ns + 700_500));
        job.receive(1, 0, 64, (at_ns + 900_000, at_ns + 901_000));
    }
    let options = BudgetOptions { window_ns: 10_000_000, ..BudgetOptions::default() };
    let found = job.run(Windowed::new(options), &[0, 1]);
    assert_eq!(found.blocking_from_bytes(), Some(1 << 20));
    let late: u64 = found
        .waits()
        .filter(|(key, _)| key.state == WaitState::LateReceiver)
        .map(|(_, totals)| totals.times)
        .sum();
    assert_eq!(late, 90, "all but those of the first window");
}

#[test]
fn a_message_for_a_busy_receiver_is_long_only_as_a_span() {
    let mut job = Job::default();
    for round in 0..40 {
        let at = round * 1_000;
        job.send(0, 1, 8, (at, at + 5));
        job.receive(1, 0, 8, (at + 100, at + 110));
    }
    let learnt = |latency| {
        let options = BudgetOptions { latency, ..BudgetOptions::default() };
        let version = job.run(Windowed::new(options), &[0, 0]).learnt();
        version.messages().map(|criterion| criterion.median_ns).collect::<Vec<u64>>()
    };
    assert_eq!(learnt(Latency::Felt), []);
    assert_eq!(learnt(Latency::Span), [110]);
}
