//! Simulated programs: an unchanged replay gives the recorded run, a changed one what a second run with the change takes.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod blocked;
mod by_turns;
mod crowded;
mod dealt;
mod members;
mod model;
mod network;
mod queued;
mod recorder;
mod steps;
mod stopped;
mod work;

use model::{RECEIVE, SEND, START, Step, WAIT, graph_of, kinds, near, ring, run};
use mpiscope_diagnosis::whatif::{Change, GraphBuilder, Savings};
use mpiscope_model::{Blame, Call, CallId, Collected, Comm, Message, Rank, Scheduling};
use proptest::prelude::*;

#[test]
fn a_balanced_ring_saves_what_a_second_run_saves() {
    let slow = ring(4, 200, |rank, _| if rank == 1 { 30_000 } else { 10_000 });
    let even = ring(4, 200, |_, _| 15_000);
    let model = run(&slow, |_, _, _| 2_000);
    let truth_ns = (model.end_ns - run(&even, |_, _, _| 2_000).end_ns) as f64;
    let graph = graph_of(&model, &[0; 4]);
    let savings = graph.savings(None);
    assert!(near(savings.replayed_ns, model.end_ns as f64, 1e-6), "{savings:?}");
    assert_eq!(savings.departure, None);
    let saving = savings.causes[1];
    assert_eq!(saving.cause, Blame::Pattern);
    assert!(near(saving.wall_ns, truth_ns, 0.02), "{saving:?}, truth {truth_ns}");
    let excess = graph.excess_work();
    let of_rank = |rank: usize| excess.iter().map(|part| part[rank]).sum::<u64>();
    assert!(of_rank(1) > 0 && [0, 2, 3].iter().all(|rank| of_rank(*rank) == 0), "{excess:?}");
}

#[test]
fn work_that_moves_is_evened_out_as_it_moves() {
    // Seven ranks by turns: no equal parts of the run have one slow rank each.
    let moves = |rank: u32, step: usize| if step * 7 / 1_000 == rank as usize { 31_000 } else { 10_000 };
    let model = run(&ring(7, 1_000, moves), |_, _, _| 2_000);
    let truth_ns = (model.end_ns - run(&ring(7, 1_000, |_, _| 13_000), |_, _, _| 2_000).end_ns) as f64;
    let saving = graph_of(&model, &[0; 7]).savings(None).causes[1];
    assert!(near(saving.wall_ns, truth_ns, 0.05), "{saving:?}, truth {truth_ns}");
}

#[test]
fn a_run_without_calls_can_be_changed() {
    let graph = graph_of(&run(&[vec![Step::Compute(100)], vec![]], |_, _, _| 1), &[0; 2]);
    let change = Change { balanced: true, ranks: vec![(Rank(0), 2.0), (Rank(9), 2.0)], ..Change::default() };
    assert_eq!(graph.replay(&change).run_ns, 0.0);
}

#[test]
fn a_run_in_stretches_is_the_sum_of_them() {
    // Rank 1 has three times the work.
    let model = run(&ring(4, 400, |rank, _| if rank == 1 { 30_000 } else { 10_000 }), |_, _, _| 2_000);
    let whole_ns = graph_of(&model, &[0; 4]).savings(None).causes[1].wall_ns;
    let cuts = [model.end_ns / 3, model.end_ns / 2, u64::MAX];
    let mut builder = GraphBuilder::new(kinds());
    let (mut calls, mut sum_ns) = (model.calls.clone(), 0.0);
    calls.sort_by_key(|call| call.end_ns);
    let mut from_ns = 0;
    for to_ns in cuts {
        let within = |end_ns: u64| end_ns >= from_ns && end_ns < to_ns;
        calls.iter().filter(|call| within(call.end_ns)).for_each(|call| builder.call(call));
        let messages = model.messages.iter().filter(|message| within(message.recv_ns));
        messages.for_each(|message| builder.message(message));
        let next = builder.next_stretch();
        let graph = std::mem::replace(&mut builder, next).finish().unwrap();
        assert_eq!(graph.savings(None).departure, None);
        sum_ns += graph.savings(None).causes[1].wall_ns;
        from_ns = to_ns;
    }
    assert!(near(sum_ns, whole_ns, 0.03), "{sum_ns} of {whole_ns}");
}

#[test]
fn waits_complete_collectives_also_where_earlier_calls_are_left_out() {
    const LEFT_OUT: u64 = 1_000;
    const STEPS: u64 = 100;
    let mut builder = GraphBuilder::new(kinds());
    for rank in 0..2 {
        builder.begin_with(Rank(rank), CallId::new(0, LEFT_OUT));
        for step in 0..STEPS {
            let last_ns = step * 31_000 + 30_000;
            let start_ns = if rank == 1 { last_ns } else { step * 31_000 + 10_000 };
            let call = |function, start_ns, end_ns, comm, instance| Call {
                rank: Rank(rank),
                function,
                start_ns,
                end_ns,
                bytes: 8,
                comm,
                instance,
                ..Call::default()
            };
            builder.call(&call(START, start_ns, start_ns + 100, Some(Comm::WORLD), Some(step as u32)));
            builder.call(&call(WAIT, start_ns + 100, last_ns + 1_000, None, None));
            let wait = CallId::new(0, LEFT_OUT + 2 * step + 1);
            builder.collected(Collected {
                rank: Rank(rank),
                call: wait,
                comm: Comm::WORLD,
                number: step as u32,
            });
        }
    }
    let savings = builder.finish().unwrap().savings(None);
    assert_eq!(savings.departure, None);
    // Of 30 us of work a step 20 are left.
    assert!(near(savings.causes[1].wall_ns, (STEPS * 10_000) as f64, 0.03), "{savings:?}");
}

#[test]
fn a_rank_by_a_factor_is_as_that_rank_slower() {
    let model = run(&ring(3, 50, |_, _| 10_000), |_, _, _| 1_000);
    let slower = run(&ring(3, 50, |rank, _| if rank == 2 { 20_000 } else { 10_000 }), |_, _, _| 1_000);
    let change = Change { ranks: vec![(Rank(2), 2.0)], ..Change::default() };
    let replayed = graph_of(&model, &[0; 3]).replay(&change);
    assert!(near(replayed.run_ns, slower.end_ns as f64, 0.02), "{replayed:?} {}", slower.end_ns);
}

/// What causes cost in a ring whose rank 2 has no CPU for a while in every tenth step, and what that costs. The scheduler is
/// asked once in ten steps.
fn robbed_ring(missing_ns: u64, usual_ns: impl Fn(u32) -> u64) -> (Savings, f64) {
    let is_robbed = |rank: u32, step: usize| rank == 2 && step.is_multiple_of(10);
    let work_ns = |rank, step| usual_ns(rank) + if is_robbed(rank, step) { missing_ns } else { 0 };
    let model = run(&ring(4, 400, work_ns), |_, _, _| 1_000);
    let truth_ns = model.end_ns - run(&ring(4, 400, |rank, _| usual_ns(rank)), |_, _, _| 1_000).end_ns;
    let mut builder = GraphBuilder::new(kinds());
    model.calls.iter().for_each(|call| builder.call(call));
    model.messages.iter().for_each(|message| builder.message(message));
    let computing = |call: &&Call| call.rank == Rank(2) && call.function == SEND;
    let mut wait_ns = 0;
    for (step, call) in model.calls.iter().filter(computing).enumerate() {
        wait_ns += if is_robbed(2, step) { missing_ns } else { 0 };
        if step % 10 == 5 {
            let at_ns = call.start_ns;
            let (rank, run_ns) = (2, at_ns.saturating_sub(wait_ns));
            builder.scheduling(Scheduling {
                rank: Rank(rank),
                at_ns,
                run_ns,
                wait_ns,
                ..Scheduling::default()
            });
        }
    }
    (builder.finish().unwrap().savings(None), truth_ns as f64)
}

#[test]
fn time_without_a_cpu_is_cpu_contention_and_not_load_imbalance() {
    let (savings, truth_ns) = robbed_ring(50_000, |_| 10_000);
    assert!(near(savings.causes[3].wall_ns, truth_ns, 0.1), "{savings:?}, truth {truth_ns}");
    assert!(savings.causes[1].wall_ns < 0.1 * truth_ns, "{savings:?}");
}

#[test]
fn time_without_a_cpu_is_what_makes_computing_longer_and_not_a_share_of_waiting() {
    // Rank 1 has twice the work, so rank 2 waits for half of its time.
    let (savings, truth_ns) = robbed_ring(400_000, |rank| if rank == 1 { 20_000 } else { 10_000 });
    assert!(near(savings.causes[3].wall_ns, truth_ns, 0.05), "{savings:?}, truth {truth_ns}");
}

#[test]
fn contradictions_are_dropped_and_said() {
    // Each of two messages ends before the other was sent: no order of calls can be.
    let call = |rank, function, start_ns, peer| Call {
        rank,
        function,
        start_ns,
        end_ns: start_ns + 10,
        peer: Some(peer),
        ..Call::default()
    };
    let mut builder = GraphBuilder::new(kinds());
    for rank in 0..2 {
        builder.call(&call(Rank(rank), RECEIVE, 100, Rank(1 - rank)));
        builder.call(&call(Rank(rank), SEND, 200, Rank(1 - rank)));
        let (src, send_ns, recv_ns) = (1 - rank, 200, 110);
        builder.message(&Message { src: Rank(src), dst: Rank(rank), send_ns, recv_ns, ..Message::default() });
    }
    let graph = builder.finish().unwrap();
    assert_eq!(graph.quality().contradictions, 1);
    assert!(graph.replay(&Change::default()).run_ns > 0.0);
}

#[test]
fn too_many_calls_are_refused() {
    let mut builder = GraphBuilder::new(kinds()).with_limit(2);
    (0..3).for_each(|_| builder.call(&Call::default()));
    assert_eq!(builder.finish().unwrap_err().most_calls, 2);
}

/// Programs that end: each round everybody sends to some and receives from those who sent to them.
fn programs() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let round = |ranks: usize| {
        let targets = prop::collection::vec(prop::collection::vec(0..ranks as u32, 0..3), ranks);
        (prop::collection::vec(100_u64..50_000, ranks), targets, any::<bool>())
    };
    (2_usize..6).prop_flat_map(move |ranks| prop::collection::vec(round(ranks), 1..20)).prop_map(|rounds| {
        let ranks = rounds[0].0.len();
        let mut programs = vec![Vec::new(); ranks];
        for (computing, targets, has_barrier) in rounds {
            for rank in 0..ranks {
                programs[rank].push(Step::Compute(computing[rank]));
                programs[rank].extend(targets[rank].iter().map(|to| Step::Send(*to)));
            }
            for (rank, to) in
                targets.iter().enumerate().flat_map(|(rank, to)| to.iter().map(move |to| (rank, *to)))
            {
                programs[to as usize].push(Step::Receive(rank as u32));
            }
            if has_barrier {
                programs.iter_mut().for_each(|program| program.push(Step::Barrier));
            }
        }
        programs
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_unchanged_replay_gives_the_recorded_run(programs in programs(), noise in 1_u64..5_000) {
        let model = run(&programs, |from, to, number| {
            1_000 + (u64::from(from) * 7 + u64::from(to) * 13 + number * 31) % noise
        });
        let graph = graph_of(&model, &[0, 0, 1, 1, 2, 2]);
        let outcome = graph.replay(&Change::default());
        prop_assert_eq!(outcome.departure, None);
        prop_assert!(near(outcome.run_ns, model.end_ns as f64, 0.005) || model.calls.is_empty()
            || outcome.run_ns <= model.end_ns as f64);
        prop_assert_eq!(graph.quality().contradictions, 0);
    }

    #[test]
    fn slower_ranks_never_make_a_run_shorter(programs in programs(), rank in 0_u32..5, factor in 1.0_f64..4.0) {
        let model = run(&programs, |_, _, _| 1_500);
        let graph = graph_of(&model, &[0; 6]);
        let changed = graph.replay(&Change { ranks: vec![(Rank(rank), factor)], ..Change::default() });
        prop_assert!(changed.run_ns >= graph.replay(&Change::default()).run_ns - 1.0);
    }
}
