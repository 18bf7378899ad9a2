//! Collectives that return before they are done, and those between two groups, with answers worked out by hand.

use super::*;

const IBARRIER: Function = 100;
const IBCAST: Function = 101;
const IREDUCE: Function = 102;
const IALLREDUCE: Function = 103;
const ISCAN: Function = 115;

fn waits(found: &Budgeter) -> Vec<(WaitState, Function, u32, u32, u64)> {
    let of = |(key, totals): (&WaitKey, &WaitTotals)| {
        (key.state, key.function, key.waiter.0, key.awaited.0, totals.waited_ns)
    };
    let mut all: Vec<_> = found.waits().map(of).collect();
    all.sort_unstable();
    all
}

fn waited(found: &Budgeter, ranks: u32) -> Vec<u64> {
    (0..ranks).map(|rank| of_rank(found, rank).waiting_ns).collect()
}

#[test]
fn a_wait_for_a_reduction_waits_until_the_last_entered_it() {
    let mut job = Job::default();
    for (rank, enters, begins) in [(0, 10_000, 20_000), (1, 70_000, 70_500), (2, 15_000, 60_000)] {
        let number = job.start(rank, IALLREDUCE, Flow::All, None, enters);
        job.complete(rank, &[number], (begins, 73_000));
    }
    let found = job.run(with_criteria(), &[0, 0, 1]);
    // From the entry of the completing call, not from that of the one that started it.
    assert_eq!(waited(&found, 3), [50_000, 0, 10_000]);
    // The other computed for 70,000; rank 0 only for 19,900, since starting had taken 100.
    assert_eq!(by(&of_rank(&found, 0)), [(Cause::Compute, 50_100), (Cause::Operation, -100)]);
    // The starting call takes 100, what the completing one takes after the last entry is operation, too.
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Operation, 3_100)]);
    assert_eq!(parts(&of_rank(&found, 1)), [(Cause::Operation, 2_600)]);
    let state = WaitState::AllToAll;
    assert_eq!(waits(&found), [(state, 30, 0, 1, 50_000), (state, 30, 2, 1, 10_000)]);
    // Whoever waited goes on along the way of the one that came last.
    let path = |rank| found.paths().find(|(of, ..)| *of == rank).unwrap().2;
    assert_eq!((path(Rank(0))[Cause::Compute], path(Rank(0))[Cause::Operation]), (70_000, 3_000));
    assert_eq!((path(Rank(1))[Cause::Compute], path(Rank(1))[Cause::Operation]), (70_400, 2_600));
}

#[test]
fn a_barrier_that_everybody_entered_in_time_holds_nobody_up() {
    let mut job = Job::default();
    for (rank, enters) in [(0, 10_000), (1, 30_000)] {
        let number = job.start(rank, IBARRIER, Flow::All, None, enters);
        job.complete(rank, &[number], (50_000, 51_000));
    }
    let found = job.run(with_criteria(), &[0, 0]);
    assert_eq!(waited(&found, 2), [0, 0]);
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Operation, 1_100)]);
}

#[test]
fn roots_and_lower_ranks_are_waited_for_by_how_the_data_goes() {
    let mut job = Job::default();
    // Rank 1 enters all of them last: at 50, 51 and 52 thousand.
    for rank in 0..3 {
        let enters = if rank == 1 { 50_000 } else { 10_000 };
        let kinds = [
            (IBCAST, Flow::FromRoot, Some(1)),
            (IREDUCE, Flow::ToRoot, Some(0)),
            (ISCAN, Flow::FromLower, None),
        ];
        let numbers: Vec<u32> = (0..)
            .zip(kinds)
            .map(|(at, (function, flow, root))| job.start(rank, function, flow, root, enters + 1_000 * at))
            .collect();
        assert_eq!(numbers, [0, 1, 2]);
        let times = if rank == 1 {
            [(55_000, 55_100), (55_100, 55_200), (55_200, 55_300)]
        } else {
            [(15_000, 50_500), (50_500, 51_500), (51_500, 52_500)]
        };
        times.iter().zip(numbers).for_each(|(at, number)| job.complete(rank, &[number], *at));
    }
    let found = job.run(with_criteria(), &[0, 0, 0]);
    let (bcast, reduce, scan) = (WaitState::LateBroadcast, WaitState::EarlyReduce, WaitState::Scan);
    let mut expected = [
        (bcast, 30, 0, 1, 35_000),
        (bcast, 30, 2, 1, 35_000),
        (reduce, 30, 0, 1, 500),
        (scan, 30, 2, 1, 500),
    ];
    expected.sort_unstable();
    assert_eq!(waits(&found), expected);
}

#[test]
fn a_loop_of_polls_for_a_collective_waits_from_its_first() {
    let mut job = Job::default();
    let number = job.start(0, IALLREDUCE, Flow::All, None, 10_000);
    job.call(0, 34, (20_000, 40_000), Effect::Polls);
    job.complete(0, &[number], (45_000, 53_000));
    job.activities.last_mut().unwrap().since_ns = 20_000;
    let number = job.start(1, IALLREDUCE, Flow::All, None, 50_000);
    job.complete(1, &[number], (50_100, 53_000));
    let found = job.run(with_criteria(), &[0, 0]);
    // 30,000 until the other entered; 5,000 of them lay between two calls.
    assert_eq!(by(&of_rank(&found, 0)), [(Cause::Compute, 25_100), (Cause::Operation, -100)]);
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Operation, 3_100)]);
}

#[test]
fn a_loop_of_polls_that_ends_with_nothing_received_is_charged_as_long_as_it_was_in_calls() {
    let mut job = Job::default();
    job.call(0, 34, (20_000, 40_000), Effect::Polls);
    job.other(0, (45_000, 53_000));
    job.activities.last_mut().unwrap().since_ns = 20_000;
    let found = job.run(with_criteria(), &[0]);
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Other, 28_000)]);
}

/// Rank 0 waits at once for a message of rank 1, sent at one time, and for a reduction that rank 2 enters last at another.
fn mixed(sent_ns: u64, entered_ns: u64, end_ns: u64) -> Budgeter {
    let mut job = Job::default();
    job.post(0, &[1], 1_000);
    let numbers = [2_000, 3_000, entered_ns];
    let numbers = [0, 1, 2].map(|rank| job.start(rank, IALLREDUCE, Flow::All, None, numbers[rank as usize]));
    job.send(1, 0, 100, (sent_ns, sent_ns + 300));
    job.wait_all(0, &[1], 100, (5_000, end_ns));
    job.collects(0, &numbers[..1]);
    job.complete(1, &numbers[1..2], (80_000, 81_000));
    job.complete(2, &numbers[2..], (80_000, 81_000));
    job.run(with_criteria(), &[0, 0, 1])
}

#[test]
fn of_messages_and_collectives_in_one_call_what_came_last_decides() {
    let found = mixed(20_000, 60_000, 62_000);
    assert_eq!(waits(&found), [(WaitState::AllToAll, WAITALL, 0, 2, 55_000)]);
    assert_eq!(parts(&of_rank(&found, 0))[..1], [(Cause::Base, 10)]);
    let found = mixed(60_000, 20_000, 61_500);
    assert_eq!(waits(&found), [(WaitState::LateSender, WAITALL, 0, 1, 55_000)]);
    assert_eq!(of_rank(&found, 0).direct[Cause::ExcessInside], 500);
}

#[test]
fn several_collectives_may_be_under_way_and_complete_in_any_order() {
    let mut job = Job::default();
    for (rank, enters) in [(0, [1_000, 2_000]), (1, [30_000, 60_000])] {
        let numbers = enters.map(|at| job.start(rank, IALLREDUCE, Flow::All, None, at));
        let later = if rank == 0 { 5_000 } else { 62_000 };
        job.complete(rank, &[numbers[1]], (later, 63_000));
        job.complete(rank, &[numbers[0]], (64_000, 65_000));
    }
    let found = job.run(with_criteria(), &[0, 0]);
    assert_eq!(waits(&found), [(WaitState::AllToAll, 30, 0, 1, 55_000)]);
    assert_eq!(found.given_up(), 0);
}

#[test]
fn what_a_started_collective_takes_is_learnt_where_it_was_waited_for() {
    let mut job = Job::default();
    for step in 0..60_u64 {
        let at_ns = step * 100_000;
        for (rank, enters) in [(0, 1_000), (1, 30_000)] {
            let number = job.start(rank, IALLREDUCE, Flow::All, None, at_ns + enters);
            let begins = at_ns + if rank == 0 { 2_000 } else { 31_000 };
            job.complete(rank, &[number], (begins, at_ns + 34_000));
        }
    }
    let options = BudgetOptions { window_ns: 1_000_000, ..BudgetOptions::default() };
    let learnt = job.run(Windowed::new(options), &[0, 1]).learnt();
    let kinds: Vec<_> =
        learnt.collectives().iter().map(|of| (of.key.function, of.key.ranks, of.samples)).collect();
    // Half of them are those that entered last, of whom nobody knows how long they would have waited.
    assert_eq!(kinds, [(IALLREDUCE, 2, 60)]);
    let median_ns = learnt.collectives()[0].median_ns;
    assert!(median_ns.abs_diff(4_000) < 50, "{median_ns}");
}

#[test]
fn a_start_that_was_lost_holds_nobody_up() {
    let mut job = Job::default();
    job.complete(0, &[7], (20_000, 30_000));
    let found = job.run(with_criteria(), &[0, 0]);
    assert_eq!(found.given_up(), 0);
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Operation, 10_000)]);
}

/// Collectives between ranks 0 and 1 on one side and 2 and 3 on the other, each with when it begins and ends.
fn between(function: Function, flow: Flow, roots: [Option<u32>; 4], times: [(u64, u64); 4]) -> Budgeter {
    let mut job = Job::default();
    for ((rank, root), at) in (0..4).zip(roots).zip(times) {
        let of = job.next_on(Comm(1), rank, function, flow, root);
        job.call(rank, function, at, Effect::Collective(of));
    }
    job.run(with_criteria(), &[0; 4])
}

#[test]
fn between_two_groups_each_waits_for_the_last_of_the_other() {
    let times = [(10_000, 71_000), (20_000, 71_000), (70_000, 75_000), (40_000, 72_000)];
    for (function, state) in [(BARRIER, WaitState::Barrier), (54, WaitState::AllToAll)] {
        let found = between(function, Flow::All, [None; 4], times);
        // The first two wait for rank 2; of the others nobody waits for rank 2, which is of their own group.
        assert_eq!(waited(&found, 4), [60_000, 50_000, 0, 0]);
        assert_eq!(waits(&found), [(state, function, 0, 2, 60_000), (state, function, 1, 2, 50_000)]);
    }
}

#[test]
fn whoever_leaves_before_others_of_the_own_group_enter_is_not_held_up() {
    let mut job = Job::default();
    let enter = |job: &mut Job, rank, at| {
        let of = job.next_on(Comm(1), rank, BARRIER, Flow::All, None);
        job.call(rank, BARRIER, at, Effect::Collective(of));
    };
    enter(&mut job, 2, (1_000, 99_000));
    enter(&mut job, 3, (1_000, 99_000));
    enter(&mut job, 0, (5_000, 6_000));
    job.send(0, 1, 100, (50_000, 50_300));
    job.receive(1, 0, 100, (10_000, 51_000));
    enter(&mut job, 1, (60_000, 61_000));
    let found = job.run(with_criteria(), &[0; 4]);
    assert_eq!((found.given_up(), waited(&found, 4)), (0, vec![0, 40_000, 59_000, 59_000]));
}

#[test]
fn between_two_groups_a_root_deals_with_the_other_group_alone() {
    // Rank 0 is the root of the others; rank 1 stands by.
    let roots = [Some(0), None, Some(0), Some(0)];
    let times = [(50_000, 51_000), (10_000, 80_000), (20_000, 52_000), (60_000, 61_000)];
    let found = between(BCAST, Flow::FromRoot, roots, times);
    assert_eq!(waits(&found), [(WaitState::LateBroadcast, BCAST, 2, 0, 30_000)]);
    assert_eq!(waited(&found, 4), [0, 0, 30_000, 0]);
    let times = [(20_000, 66_000), (90_000, 91_000), (30_000, 31_000), (60_000, 61_000)];
    let found = between(52, Flow::ToRoot, roots, times);
    assert_eq!(waits(&found), [(WaitState::EarlyReduce, 52, 0, 3, 40_000)]);
    assert_eq!(waited(&found, 4), [40_000, 0, 0, 0]);
}
