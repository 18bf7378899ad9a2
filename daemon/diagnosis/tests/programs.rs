//! Modelled programs: an unchanged replay gives the recorded run, a changed one what a second run with the change takes.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use mpiscope_diagnosis::{CallKind, Change, Graph, GraphBuilder};
use mpiscope_model::{Blame, Call, CallId, Collected, Flow, Message, Scheduling};
use proptest::prelude::*;

const SEND: u16 = 0;
const RECEIVE: u16 = 1;
const BARRIER: u16 = 2;
const EXCHANGE: u16 = 3;
const START: u16 = 4;
const WAIT: u16 = 5;

fn kinds() -> Vec<CallKind> {
    let barrier = CallKind::Collective { flow: Flow::All, is_barrier: true };
    let start = CallKind::Start { flow: Flow::All, is_barrier: false };
    vec![CallKind::Send, CallKind::Receive, barrier, CallKind::Send, start, CallKind::Wait]
}

/// What a rank does.
#[derive(Debug, Clone, Copy)]
enum Step {
    Compute(u64),
    Send(u32),
    Receive(u32),
    Barrier,
}

/// A run by maxima: its rows, and when it ended.
struct Model {
    calls: Vec<Call>,
    messages: Vec<Message>,
    end_ns: u64,
}

const SEND_NS: u64 = 500;
const RECEIVE_NS: u64 = 300;
const BARRIER_NS: u64 = 2_000;

/// Runs programs; flights by source, destination and number.
fn run(programs: &[Vec<Step>], flight_ns: impl Fn(u32, u32, u64) -> u64) -> Model {
    let ranks = programs.len();
    let mut model = Model { calls: Vec::new(), messages: Vec::new(), end_ns: 0 };
    let mut now = vec![0_u64; ranks];
    let mut at = vec![0; ranks];
    let mut channels: std::collections::HashMap<(u32, u32), std::collections::VecDeque<(u64, u64)>> =
        Default::default();
    let mut numbers: std::collections::HashMap<(u32, u32), u64> = Default::default();
    let mut barriers = vec![0_u32; ranks];
    loop {
        let mut moved = false;
        for rank in 0..ranks {
            while let Some(step) = programs[rank].get(at[rank]) {
                let begin_ns = now[rank];
                let call = |function, start_ns, end_ns, peer| Call {
                    rank: rank as u32,
                    function,
                    start_ns,
                    end_ns,
                    peer,
                    bytes: 100,
                    ..Call::default()
                };
                match *step {
                    Step::Compute(ns) => now[rank] += ns,
                    Step::Send(to) => {
                        let channel = (rank as u32, to);
                        let number = numbers.entry(channel).or_default();
                        let flight_ns = flight_ns(channel.0, to, *number);
                        *number += 1;
                        channels.entry(channel).or_default().push_back((begin_ns, begin_ns + flight_ns));
                        now[rank] += SEND_NS;
                        model.calls.push(call(SEND, begin_ns, now[rank], Some(to)));
                    }
                    Step::Receive(from) => {
                        let channel = channels.entry((from, rank as u32)).or_default();
                        let Some((sent_ns, arrival_ns)) = channel.pop_front() else { break };
                        let end_ns = (begin_ns + RECEIVE_NS).max(arrival_ns);
                        now[rank] = end_ns;
                        model.calls.push(call(RECEIVE, begin_ns, end_ns, Some(from)));
                        model.messages.push(Message {
                            src: from,
                            dst: rank as u32,
                            bytes: 100,
                            send_ns: sent_ns,
                            recv_ns: end_ns,
                            t_msg_ns: end_ns - sent_ns.max(begin_ns),
                            late_sender_ns: sent_ns.saturating_sub(begin_ns),
                            ..Message::default()
                        });
                    }
                    Step::Barrier => break,
                }
                at[rank] += 1;
                moved = true;
            }
        }
        let in_barrier = |rank: usize| matches!(programs[rank].get(at[rank]), Some(Step::Barrier));
        if !moved && (0..ranks).all(in_barrier) {
            let last_ns = now.iter().copied().max().unwrap_or(0);
            for rank in 0..ranks {
                let start_ns = now[rank];
                now[rank] = last_ns + BARRIER_NS;
                model.calls.push(Call {
                    rank: rank as u32,
                    function: BARRIER,
                    start_ns,
                    end_ns: now[rank],
                    comm: Some(0),
                    instance: Some(barriers[rank]),
                    ..Call::default()
                });
                barriers[rank] += 1;
                at[rank] += 1;
            }
            moved = true;
        }
        if !moved {
            break;
        }
    }
    model.end_ns = now.into_iter().max().unwrap_or(0);
    model
}

fn builder_of(model: &Model, nodes: &[u32]) -> GraphBuilder {
    let mut builder = GraphBuilder::new(kinds());
    model.calls.iter().for_each(|call| builder.call(call));
    model.messages.iter().for_each(|message| builder.message(message));
    (0_u32..).zip(nodes).for_each(|(rank, node)| builder.place(rank, *node));
    builder
}

fn graph_of(model: &Model, nodes: &[u32]) -> Graph {
    builder_of(model, nodes).finish().unwrap()
}

/// A ring: each rank computes, sends to the right and receives from the left.
fn ring(ranks: u32, steps: usize, computing_ns: impl Fn(u32, usize) -> u64) -> Vec<Vec<Step>> {
    let of_rank = |rank: u32| {
        let of_step = |step: usize| {
            let (right, left) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            [Step::Compute(computing_ns(rank, step)), Step::Send(right), Step::Receive(left)]
        };
        (0..steps).flat_map(of_step).collect()
    };
    (0..ranks).map(of_rank).collect()
}

fn near(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() <= share * other.abs().max(1.0)
}

#[test]
fn even_work_in_a_ring_saves_what_a_second_run_saves() {
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
    let moves = |rank: u32, step: usize| if step / 100 == rank as usize { 30_000 } else { 10_000 };
    let model = run(&ring(4, 400, moves), |_, _, _| 2_000);
    let truth_ns = (model.end_ns - run(&ring(4, 400, |_, _| 15_000), |_, _, _| 2_000).end_ns) as f64;
    let saving = graph_of(&model, &[0; 4]).savings(None).causes[1];
    assert!(near(saving.wall_ns, truth_ns, 0.1), "{saving:?}, truth {truth_ns}");
}

#[test]
fn a_quiet_network_and_another_placement_save_what_they_do() {
    let quiet = |from: u32, to: u32, number: u64| {
        if from / 2 == to / 2 { 1_000 } else { 8_000 + number % 7 * 100 }
    };
    let disturbed = |from: u32, to: u32, number: u64| {
        let flight_ns = quiet(from, to, number);
        if from / 2 != to / 2 && (60..140).contains(&number) { 6 * flight_ns } else { flight_ns }
    };
    let program = ring(4, 200, |_, _| 5_000);
    let model = run(&program, disturbed);
    let graph = graph_of(&model, &[0, 0, 1, 1]);
    let truth_ns = (model.end_ns - run(&program, quiet).end_ns) as f64;
    let saving = graph.savings(None).causes[2];
    assert!(near(saving.wall_ns, truth_ns, 0.05), "{saving:?}, truth {truth_ns}");
    let cyclic = run(&program, |from, to, _| if from % 2 == to % 2 { 1_000 } else { 8_000 });
    let graph = graph_of(&cyclic, &[0, 1, 0, 1]);
    let placed = graph.replay(&Change { placement: Some(vec![0; 4]), ..Change::default() });
    assert!(placed.run_ns <= cyclic.end_ns as f64);
}

#[test]
fn a_network_that_is_slow_throughout_is_held_against_what_was_measured_before() {
    let quiet = |from: u32, to: u32, number: u64| {
        if from / 2 == to / 2 { 1_000 } else { 8_000 + number % 7 * 100 }
    };
    let slow =
        |from: u32, to: u32, number: u64| quiet(from, to, number) * if from / 2 == to / 2 { 1 } else { 4 };
    let program = ring(4, 200, |_, _| 5_000);
    let model = run(&program, slow);
    let truth_ns = (model.end_ns - run(&program, quiet).end_ns) as f64;
    let background = |model: &Model| {
        let mut builder = builder_of(model, &[0, 0, 1, 1]);
        builder.refer(true, 100, 8_300);
        builder.finish().unwrap().savings(None).causes[2]
    };
    let saving = background(&model);
    assert!(near(saving.wall_ns, truth_ns, 0.1), "{saving:?}, truth {truth_ns}");
    // One that is as quiet as it was is not blamed.
    let saving = background(&run(&program, quiet));
    assert!(saving.wall_ns < 0.01 * truth_ns, "{saving:?}");
    let unreferred = graph_of(&model, &[0, 0, 1, 1]).savings(None).causes[2];
    assert!(unreferred.wall_ns < 0.1 * truth_ns, "{unreferred:?}");
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
        builder.begin_with(rank, CallId::new(0, LEFT_OUT));
        for step in 0..STEPS {
            let last_ns = step * 31_000 + 30_000;
            let start_ns = if rank == 1 { last_ns } else { step * 31_000 + 10_000 };
            let call = |function, start_ns, end_ns, comm, instance| Call {
                rank,
                function,
                start_ns,
                end_ns,
                bytes: 8,
                comm,
                instance,
                ..Call::default()
            };
            builder.call(&call(START, start_ns, start_ns + 100, Some(0), Some(step as u32)));
            builder.call(&call(WAIT, start_ns + 100, last_ns + 1_000, None, None));
            let wait = CallId::new(0, LEFT_OUT + 2 * step + 1);
            builder.collected(Collected { rank, call: wait, comm: 0, number: step as u32 });
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
    let change = Change { ranks: vec![(2, 2.0)], ..Change::default() };
    let replayed = graph_of(&model, &[0; 3]).replay(&change);
    assert!(near(replayed.run_ns, slower.end_ns as f64, 0.02), "{replayed:?} {}", slower.end_ns);
}

#[test]
fn an_exchange_that_waits_for_its_receiver_follows_it() {
    // Rank 0 sends at once what rank 1 comes for only after 100 us, again and again; 0's own message is there before.
    let mut builder = GraphBuilder::new(kinds());
    let call = |rank, function, start_ns, end_ns, peer| Call {
        rank,
        function,
        start_ns,
        end_ns,
        peer: Some(peer),
        bytes: 100,
        ..Call::default()
    };
    let mut now_ns = [0_u64; 2];
    for step in 0..50_u64 {
        // The first message is felt, and says what flights take.
        let (begin_0, begin_1) = (now_ns[0] + 10_000, now_ns[1] + if step == 0 { 9_000 } else { 100_000 });
        let end_1 = begin_1.max(begin_0) + 1_000;
        let end_0 = if step == 0 { begin_0 + 1_000 } else { end_1 };
        builder.call(&call(0, EXCHANGE, begin_0, end_0, 1));
        builder.call(&call(1, EXCHANGE, begin_1, end_1, 0));
        builder.message(&Message {
            src: 0,
            dst: 1,
            bytes: 100,
            send_ns: begin_0,
            recv_ns: end_1,
            t_msg_ns: end_1 - begin_1.max(begin_0),
            late_sender_ns: begin_0.saturating_sub(begin_1),
            ..Message::default()
        });
        now_ns = [end_0, end_1];
    }
    let graph = builder.finish().unwrap();
    assert!(graph.quality().blocked > 40, "{:?}", graph.quality());
    let unchanged = graph.replay(&Change::default());
    assert!(near(unchanged.run_ns, now_ns[1] as f64, 1e-6), "{unchanged:?}");
    // Only rank 1's computing decides.
    let faster = graph.replay(&Change { ranks: vec![(1, 0.5)], ..Change::default() });
    assert!(near(faster.run_ns, 50.0 * 51_000.0, 0.03), "{faster:?}");
}

#[test]
fn sends_that_wait_for_their_receivers_are_found_where_most_of_them_do() {
    // In a ring, an exchange returns when its message has arrived and its receiver has entered MPI. Work grows from rank to rank,
    // so most ranks wait for the ones after them.
    const RANKS: usize = 8;
    const STEPS: u64 = 100;
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; RANKS];
    for _ in 0..STEPS {
        let begun_ns: Vec<u64> =
            (0..RANKS).map(|rank| now_ns[rank] + 500_000 + rank as u64 * 1_000_000 / 7).collect();
        for rank in 0..RANKS {
            let (left, right) = ((rank + RANKS - 1) % RANKS, (rank + 1) % RANKS);
            let last_ns = begun_ns[rank].max(begun_ns[left]).max(begun_ns[right]);
            now_ns[rank] = last_ns + 5_000;
            builder.call(&Call {
                rank: rank as u32,
                function: EXCHANGE,
                start_ns: begun_ns[rank],
                end_ns: now_ns[rank],
                peer: Some(right as u32),
                bytes: 1_000,
                ..Call::default()
            });
        }
        for rank in 0..RANKS {
            let left = (rank + RANKS - 1) % RANKS;
            builder.message(&Message {
                src: left as u32,
                dst: rank as u32,
                bytes: 1_000,
                send_ns: begun_ns[left],
                recv_ns: now_ns[rank],
                t_msg_ns: now_ns[rank] - begun_ns[rank].max(begun_ns[left]),
                late_sender_ns: begun_ns[left].saturating_sub(begun_ns[rank]),
                ..Message::default()
            });
        }
    }
    let graph = builder.finish().unwrap();
    let recorded_ns = now_ns.into_iter().max().unwrap() as f64;
    let unchanged = graph.replay(&Change::default());
    assert!(near(unchanged.run_ns, recorded_ns, 1e-6), "{unchanged:?}");
    let even = graph.replay(&Change { even_work: true, ..Change::default() });
    assert!(near(even.run_ns, STEPS as f64 * 1_005_000.0, 0.05), "{even:?} of {recorded_ns}");
}

#[test]
fn time_without_a_cpu_is_the_cpu_cause_and_not_uneven_work() {
    let robbed = ring(4, 400, |rank, step| if rank == 2 && step % 10 == 0 { 60_000 } else { 10_000 });
    let model = run(&robbed, |_, _, _| 1_000);
    let truth_ns = (model.end_ns - run(&ring(4, 400, |_, _| 10_000), |_, _, _| 1_000).end_ns) as f64;
    let mut builder = GraphBuilder::new(kinds());
    model.calls.iter().for_each(|call| builder.call(call));
    model.messages.iter().for_each(|message| builder.message(message));
    let computing = |call: &&Call| call.rank == 2 && call.function == SEND;
    let mut wait_ns = 0;
    for (step, call) in model.calls.iter().filter(computing).enumerate() {
        wait_ns += if step % 10 == 0 { 50_000 } else { 0 };
        if step % 10 == 5 {
            let at_ns = call.start_ns;
            let (rank, run_ns) = (2, at_ns.saturating_sub(wait_ns));
            builder.scheduling(Scheduling { rank, at_ns, run_ns, wait_ns, ..Scheduling::default() });
        }
    }
    let savings = builder.finish().unwrap().savings(None);
    assert!(near(savings.causes[3].wall_ns, truth_ns, 0.1), "{savings:?}, truth {truth_ns}");
    assert!(savings.causes[1].wall_ns < 0.1 * truth_ns, "{savings:?}");
}

#[test]
fn a_wait_for_a_large_send_ends_when_the_receiver_came() {
    const STEPS: u64 = 100;
    const LATE_NS: u64 = 1_000_000;
    const TRANSFER_NS: u64 = 200_000;
    let call = |rank, function, start_ns, end_ns, peer| Call {
        rank,
        function,
        start_ns,
        end_ns,
        peer,
        bytes: 1_000_000,
        ..Call::default()
    };
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; 2];
    for step in 0..STEPS {
        // Rank 1 works longer than rank 0, but for every tenth step: then its receive waits.
        let [first_ns, second_ns] = now_ns;
        let sent_ns = first_ns + 10_000;
        let came_ns = if step % 10 == 0 { first_ns } else { second_ns + LATE_NS };
        let done_ns = came_ns.max(sent_ns + 500) + TRANSFER_NS;
        let waited_ns = if step % 10 == 0 { sent_ns + 1_000 } else { done_ns };
        builder.call(&call(0, SEND, sent_ns, sent_ns + 500, Some(1)));
        builder.call(&call(0, WAIT, sent_ns + 500, waited_ns, None));
        builder.call(&call(1, RECEIVE, came_ns, done_ns, Some(0)));
        builder.message(&Message {
            src: 0,
            dst: 1,
            bytes: 1_000_000,
            send_ns: sent_ns,
            recv_ns: done_ns,
            ..Message::default()
        });
        now_ns = [waited_ns.max(done_ns), done_ns];
    }
    let graph = builder.finish().unwrap();
    let rest_ns = STEPS as f64 * (TRANSFER_NS + 20_000) as f64;
    let fast = graph.replay(&Change { ranks: vec![(1, 0.0)], ..Change::default() }).run_ns;
    assert!(fast < 1.5 * rest_ns, "{fast} of {}", now_ns[0]);
    assert_eq!(graph.quality().unexplained_ns, 0);
}

#[test]
fn a_placement_is_judged_by_what_was_measured_where_the_run_has_no_message_within_a_node() {
    let model = run(&ring(4, 200, |_, _| 10_000), |_, _, _| 50_000);
    let saved_ns = |refer: bool| {
        let mut builder = GraphBuilder::new(kinds());
        (0..4).for_each(|rank| builder.place(rank, rank % 2));
        // No receive finds its message there.
        model.calls.iter().for_each(|call| builder.call(call));
        model.messages.iter().for_each(|message| builder.message(message));
        if refer {
            builder.refer(false, 0, 1_000);
        }
        builder.finish().unwrap().savings(Some(&[0, 0, 1, 1])).causes[0].wall_ns
    };
    assert!(saved_ns(false) < 1.0, "{}", saved_ns(false));
    // Two of the four messages of a round trip take a microsecond instead of fifty.
    let better = run(&ring(4, 200, |_, _| 10_000), |from, _, _| if from % 2 == 0 { 1_000 } else { 50_000 });
    let truth_ns = (model.end_ns - better.end_ns) as f64;
    assert!(near(saved_ns(true), truth_ns, 0.05), "{} of {truth_ns}", saved_ns(true));
}

#[test]
fn who_polls_without_a_cpu_for_a_slow_message_loses_little_by_it() {
    // In the second half messages take long.
    let programs = ring(2, 400, |_, _| 10_000);
    let model = run(&programs, |_, _, number| if number < 200 { 1_000 } else { 100_000 });
    let mut builder = GraphBuilder::new(kinds());
    model.calls.iter().for_each(|call| builder.call(call));
    model.messages.iter().for_each(|message| builder.message(message));
    for rank in 0..2 {
        for at_ns in (0..model.end_ns).step_by(100_000) {
            // It lacks a CPU for nine tenths of the time, a microsecond at a time.
            let (run_ns, wait_ns) = (at_ns / 10, at_ns / 10 * 9);
            let involuntary = wait_ns / 1_000;
            builder.scheduling(Scheduling {
                rank,
                at_ns,
                run_ns,
                wait_ns,
                involuntary,
                ..Scheduling::default()
            });
        }
    }
    let graph = builder.finish().unwrap();
    let unchanged_ns = graph.replay(&Change::default()).run_ns;
    let with_cpus_ns = graph.replay(&Change { own_cores: true, ..Change::default() }).run_ns;
    // Nine tenths of the computing, and a microsecond of each message.
    let computing_ns = 400.0 * 9_000.0;
    let saved_ns = unchanged_ns - with_cpus_ns;
    assert!((0.5 * computing_ns..computing_ns + 1.05 * 400_000.0).contains(&saved_ns), "{saved_ns}");
    assert!(unchanged_ns > 5.0 * computing_ns, "{unchanged_ns}");
}

#[test]
fn a_collective_that_is_always_slow_is_held_against_what_was_measured() {
    let programs: Vec<Vec<Step>> =
        (0..4).map(|_| (0..100).flat_map(|_| [Step::Compute(10_000), Step::Barrier]).collect()).collect();
    let model = run(&programs, |_, _, _| 1_000);
    let saved_ns = |refer: bool, is_slow: fn(u32) -> bool| {
        let mut builder = GraphBuilder::new(kinds());
        (0..4).for_each(|rank| builder.place(rank, rank));
        // For slow ranks each takes 90 us longer than in the model.
        for call in &model.calls {
            let number = call.instance.map_or(0, u64::from);
            let is_late = is_slow(call.rank);
            let start_ns = call.start_ns + if is_late { number } else { number.saturating_sub(1) } * 90_000;
            let end_ns = call.end_ns + if is_late { number + 1 } else { number } * 90_000;
            builder.call(&Call { start_ns, end_ns, ..*call });
        }
        if refer {
            builder.refer_collective(BARRIER, 4, 0, 10_000);
        }
        let graph = builder.finish().unwrap();
        let run_ns = |quiet_network| graph.replay(&Change { quiet_network, ..Change::default() }).run_ns;
        run_ns(false) - run_ns(true)
    };
    let all = saved_ns(false, |_| true);
    assert!(all < 1_000.0, "{all}");
    // They took some 92 us of which 10 are usual.
    let all = saved_ns(true, |_| true);
    assert!(near(all, 100.0 * 82_000.0, 0.05), "{all}");
    // A single member that is slow to leave is not the network.
    let one = saved_ns(true, |rank| rank == 3);
    assert!(one < 1_000.0, "{one}");
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
        builder.call(&call(rank, RECEIVE, 100, 1 - rank));
        builder.call(&call(rank, SEND, 200, 1 - rank));
        let (src, send_ns, recv_ns) = (1 - rank, 200, 110);
        builder.message(&Message { src, dst: rank, send_ns, recv_ns, ..Message::default() });
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
        let changed = graph.replay(&Change { ranks: vec![(rank, factor)], ..Change::default() });
        prop_assert!(changed.run_ns >= graph.replay(&Change::default()).run_ns - 1.0);
    }
}
