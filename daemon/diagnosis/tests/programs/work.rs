//! Work that differs from rank to rank in some places of the program and not in others.

use crate::model::{Model, POLL, RECEIVE, RECEIVE_NS, Step, call, graph_of, luck, near, ring, run};
use mpiscope_diagnosis::whatif::{Change, InTurn};
use mpiscope_model::Site;

const RANKS: u32 = 8;
const WORK_NS: u64 = 1_000_000;

fn balanced() -> Change {
    Change { balanced: true, ..Change::default() }
}

/// All ranks work and meet; now and then all send to rank 0, which handles each message by itself.
fn serialized_root(handle_ns: u64) -> Vec<Vec<Step>> {
    let of_rank = |rank: u32| {
        let of_step = |step: u32| {
            let mut steps = vec![Step::Compute(WORK_NS), Step::Barrier];
            match (step % 4, rank) {
                (0, 0) => {
                    steps.extend((1..RANKS).flat_map(|from| [Step::Receive(from), Step::Compute(handle_ns)]));
                    steps.push(Step::Barrier);
                }
                (0, _) => steps.extend([Step::Send(0), Step::Barrier]),
                _ => {}
            }
            steps
        };
        (0..80).flat_map(of_step).collect()
    };
    (0..RANKS).map(of_rank).collect()
}

/// The same job where everybody does a part.
fn spread_root(part_ns: u64) -> Vec<Vec<Step>> {
    let of_step = |step: u32| {
        let part = [Step::Compute(part_ns), Step::Barrier];
        let work = [Step::Compute(WORK_NS), Step::Barrier];
        work.into_iter().chain(part.into_iter().filter(move |_| step.is_multiple_of(4)))
    };
    (0..RANKS).map(|_| (0..80).flat_map(of_step).collect()).collect()
}

#[test]
fn the_own_work_of_a_root_goes_and_not_a_share_of_all_its_work() {
    const HANDLE_NS: u64 = 200_000;
    let [with, without] = [HANDLE_NS, 0].map(|ns| run(&serialized_root(ns), |_, _, _| 5_000));
    let graph = graph_of(&with, &[0; RANKS as usize]);
    let cost_ns = (with.end_ns - without.end_ns) as f64;
    let saved_ns = with.end_ns as f64 - graph.replay(&balanced()).run_ns;
    // Spread over the others, a seventh of it comes to each of them, at the same time. A share of all its work would save a
    // tenth.
    assert!(saved_ns > 0.83 * cost_ns && saved_ns < cost_ns, "{saved_ns} of {cost_ns}");
}

/// Two models that are coupled: the ranks of one have three times the work of the others, and all meet now and then.
#[test]
fn ranks_that_call_from_other_sites_do_other_work() {
    let of_rank = |rank: u32| {
        let work = Step::Compute(if rank < RANKS / 2 { WORK_NS } else { 3 * WORK_NS });
        let of_step = |step: u32| {
            [work, Step::Send(rank ^ 1), Step::Receive(rank ^ 1)]
                .into_iter()
                .chain((step % 10 == 9).then_some(Step::Barrier))
        };
        (0..400).flat_map(of_step).collect()
    };
    let mut model = run(&(0..RANKS).map(of_rank).collect::<Vec<_>>(), |_, _, _| 5_000);
    let share = |model: &Model| {
        1.0 - graph_of(model, &[0; RANKS as usize]).replay(&balanced()).run_ns / model.end_ns as f64
    };
    assert!(near(share(&model), 1.0 / 3.0, 0.05), "{}", share(&model));
    model.calls.iter_mut().for_each(|call| call.site = Some(Site(call.rank.0 / (RANKS / 2))));
    assert!(share(&model).abs() < 0.001, "{}", share(&model));
}

/// All ranks begin with work of different lengths; then a few always have three times as much as others.
fn uneven_start(slow: &[u32]) -> Vec<Vec<Step>> {
    const MANY: u32 = 64;
    let of_rank = |rank: u32| {
        let factor = if slow.contains(&rank) { 3 } else { 1 };
        let start = Step::Compute(3 * WORK_NS * u64::from(rank * 29 % MANY));
        let steps = (0..600).flat_map(move |_| [Step::Compute(factor * WORK_NS), Step::Barrier]);
        [Step::Barrier, start, Step::Barrier].into_iter().chain(steps).collect()
    };
    (0..MANY).map(of_rank).collect()
}

#[test]
fn only_those_delay_others_whose_work_costs_most_of_the_saving() {
    for slow in [&[7][..], &[7, 40], &[7, 23, 40]] {
        let model = run(&uneven_start(slow), |_, _, _| 5_000);
        let graph = graph_of(&model, &[0; 64]);
        let excess = graph.excess_work();
        let excess_of = |rank: usize| excess.iter().map(|part| part[rank]).sum::<u64>();
        assert!((0..64).filter(|rank| excess_of(*rank) > 0).count() > 20);
        let delaying = graph.delaying_work(&graph.savings(None), &excess, &InTurn);
        for (rank, ns) in (0..).zip(delaying) {
            let is_slow = slow.contains(&rank);
            assert_eq!(ns, if is_slow { excess_of(rank as usize) } else { 0 }, "rank {rank} of {slow:?}");
        }
    }
}

#[test]
fn where_most_ranks_delay_others_their_work_is_all_of_it() {
    // Each is the slow one for a while.
    let of_rank = |rank: u32, more: u64| -> Vec<Step> {
        let work = move |step: u32| if step * RANKS / 1_000 == rank { more * WORK_NS } else { WORK_NS };
        (0..1_000).flat_map(move |step| [Step::Compute(work(step)), Step::Barrier]).collect()
    };
    let graph = |more: u64| {
        let model = run(&(0..RANKS).map(|rank| of_rank(rank, more)).collect::<Vec<_>>(), |_, _, _| 5_000);
        graph_of(&model, &[0; RANKS as usize])
    };
    let uneven = graph(3);
    let excess = uneven.excess_work();
    let of_ranks: Vec<u64> = (0..8).map(|rank| excess.iter().map(|part| part[rank]).sum()).collect();
    assert_eq!(uneven.delaying_work(&uneven.savings(None), &excess, &InTurn), of_ranks);
    let even = graph(1);
    assert_eq!(even.delaying_work(&even.savings(None), &even.excess_work(), &InTurn), [] as [u64; 0]);
}

#[test]
fn nothing_is_sent_for_work_that_goes_to_all() {
    // Messages take longer than the work on them.
    const HANDLE_NS: u64 = 20_000;
    let [with, spread] =
        [serialized_root(HANDLE_NS), spread_root(HANDLE_NS * u64::from(RANKS - 1) / u64::from(RANKS))]
            .map(|program| run(&program, |_, _, _| 100_000));
    let cost_ns = (with.end_ns - spread.end_ns) as f64;
    let saved_ns = with.end_ns as f64 - graph_of(&with, &[0; RANKS as usize]).replay(&balanced()).run_ns;
    assert!(saved_ns > 0.9 * cost_ns && saved_ns < cost_ns, "{saved_ns} of {cost_ns}");
}

/// Waves over a grid of four by four ranks, there and back: ranks at the border receive from fewer, or send to fewer.
fn sweeps(work_ns: impl Fn(u32) -> u64) -> Vec<Vec<Step>> {
    const SIDE: u32 = 4;
    let beside = |rank: u32, forward: bool| {
        let step = |place: u32, by: u32| {
            if forward { (place + 1 < SIDE).then(|| rank + by) } else { (place > 0).then(|| rank - by) }
        };
        [step(rank % SIDE, 1), step(rank / SIDE, SIDE)].into_iter().flatten()
    };
    let of_rank = |rank: u32| {
        let wave = |forward: bool| {
            let receives = beside(rank, !forward).map(Step::Receive);
            receives.chain([Step::Compute(work_ns(rank))]).chain(beside(rank, forward).map(Step::Send))
        };
        (0..400).flat_map(|number| wave(number / 4 % 2 == 0)).collect()
    };
    (0..SIDE * SIDE).map(of_rank).collect()
}

#[test]
fn ranks_at_the_border_of_a_grid_do_the_same_as_others() {
    // Rank by rank more, and one corner alone.
    let graded = |rank: u32| WORK_NS + WORK_NS * u64::from(rank) / 15;
    let corner = |rank: u32| if rank == 15 { 3 * WORK_NS } else { WORK_NS };
    let even = |all: &dyn Fn(u32) -> u64| (0..16).map(all).sum::<u64>() / 16;
    for work_ns in [&graded as &dyn Fn(u32) -> u64, &corner] {
        let even_ns = even(work_ns);
        let model = run(&sweeps(work_ns), |_, _, _| 5_000);
        let truth_ns = (model.end_ns - run(&sweeps(|_| even_ns), |_, _, _| 5_000).end_ns) as f64;
        let saving = graph_of(&model, &[0; 16]).savings(None).causes[1];
        assert!(near(saving.wall_ns, truth_ns, 0.05), "{saving:?}, truth {truth_ns}");
    }
}

/// All ranks work twice and meet; then they send to rank 0, which works alone, as it does while it receives, until all meet.
fn works_alone(work_ns: impl Fn(u32, u32) -> u64, [alone_ns, all_ns]: [u64; 2]) -> Vec<Vec<Step>> {
    let of_rank = |rank: u32| {
        let of_step = |step: u32| {
            let phases = [
                Step::Compute(work_ns(rank, 2 * step)),
                Step::Barrier,
                Step::Compute(work_ns(rank, 2 * step + 1)),
            ];
            let gather: Vec<Step> = match rank {
                0 => (1..RANKS).map(Step::Receive).chain([Step::Compute(alone_ns)]).collect(),
                _ => vec![Step::Send(0)],
            };
            phases.into_iter().chain(gather).chain([Step::Compute(all_ns), Step::Barrier])
        };
        (0..100).flat_map(of_step).collect()
    };
    (0..RANKS).map(of_rank).collect()
}

#[test]
fn what_a_root_does_after_it_has_received_goes_to_all() {
    // Noise of a thousandth; and with a root that is slower everywhere, too.
    let noise = |rank: u32, piece: u32| (WORK_NS as f64 * 1e-3 * luck(rank, 0, u64::from(piece))) as u64;
    for more in [0, WORK_NS / 10] {
        let own = |rank: u32, piece: u32| WORK_NS + noise(rank, piece) + if rank == 0 { more } else { 0 };
        let even = |rank: u32, piece: u32| WORK_NS + noise(rank, piece) + more / u64::from(RANKS);
        let model = run(&works_alone(own, [WORK_NS, 0]), |_, _, _| 5_000);
        let spread = run(&works_alone(even, [0, WORK_NS / u64::from(RANKS)]), |_, _, _| 5_000);
        let truth_ns = (model.end_ns - spread.end_ns) as f64;
        let saving = graph_of(&model, &[0; RANKS as usize]).savings(None).causes[1];
        // Others call there, too: an eighth of it stays with the root, not at the same time.
        assert!(near(saving.wall_ns, truth_ns, 0.25), "{more}: {saving:?}, truth {truth_ns}");
    }
}

#[test]
fn a_rank_that_is_slow_in_one_of_two_phases_loses_that_there() {
    let program = |slow_ns: u64, even_ns: u64| -> Vec<Vec<Step>> {
        let of_rank = |rank: u32| {
            let (right, left) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
            let own_ns = if rank == 3 { slow_ns } else { even_ns };
            let step = [Step::Compute(WORK_NS), Step::Send(right), Step::Receive(left)];
            let meet = [Step::Compute(own_ns), Step::Barrier];
            (0..100).flat_map(|_| step.into_iter().chain(meet)).collect()
        };
        (0..RANKS).map(of_rank).collect()
    };
    let model = run(&program(9 * WORK_NS, WORK_NS), |_, _, _| 5_000);
    let truth_ns = (model.end_ns - run(&program(2 * WORK_NS, 2 * WORK_NS), |_, _, _| 5_000).end_ns) as f64;
    let saving = graph_of(&model, &[0; RANKS as usize]).savings(None).causes[1];
    assert!(near(saving.wall_ns, truth_ns, 0.05), "{saving:?}, truth {truth_ns}");
}

#[test]
fn ranks_that_take_turns_in_another_order_are_balanced() {
    let of_rank = |rank: u32| {
        let (right, left) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
        let exchange = [Step::Send(right), Step::Receive(left)];
        let [first, second] = if rank.is_multiple_of(2) { exchange } else { [exchange[1], exchange[0]] };
        let step = [Step::Compute(WORK_NS), first, Step::Compute(WORK_NS / 4), second];
        step.into_iter().cycle().take(400).collect()
    };
    let model = run(&(0..RANKS).map(of_rank).collect::<Vec<Vec<Step>>>(), |_, _, _| 5_000);
    let graph = graph_of(&model, &[0; RANKS as usize]);
    assert!(near(graph.replay(&balanced()).run_ns, model.end_ns as f64, 1e-3));
}

#[test]
fn work_that_moves_is_evened_out_where_only_those_poll_that_wait() {
    // One of seven is slow at a time: the others poll until its message is there.
    let moves = |rank: u32, step: usize| if step * 7 / 1_000 == rank as usize { 31_000 } else { 10_000 };
    let mut model = run(&ring(7, 1_000, moves), |_, _, _| 2_000);
    let truth_ns = (model.end_ns - run(&ring(7, 1_000, |_, _| 13_000), |_, _, _| 2_000).end_ns) as f64;
    let mut polls = Vec::new();
    let receives = model.calls.iter_mut().filter(|call| call.function == RECEIVE);
    for receive in receives.filter(|call| call.end_ns - call.start_ns > 10 * RECEIVE_NS) {
        let found_ns = receive.end_ns - RECEIVE_NS;
        for turn in 0..3 {
            let turn_ns = (found_ns - receive.start_ns) / 3;
            let from_ns = receive.start_ns + turn * turn_ns;
            polls.push(call(receive.rank.0, POLL, (from_ns, from_ns + turn_ns), None, 0));
        }
        receive.start_ns = found_ns;
    }
    model.calls.append(&mut polls);
    let saving = graph_of(&model, &[0; 7]).savings(None).causes[1];
    assert!(near(saving.wall_ns, truth_ns, 0.05), "{saving:?}, truth {truth_ns}");
}
