//! Messages and collectives that take long, and other placements.

use crate::model::{BARRIER, BROADCAST, Model, Step, builder_of, graph_of, kinds, luck, near, ring, run};
use mpiscope_diagnosis::whatif::{Change, GraphBuilder};
use mpiscope_model::{Call, Comm, Message, Node, Rank, Scheduling};

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
    let placed = graph.replay(&Change { placement: Some(vec![Node(0); 4]), ..Change::default() });
    assert!(placed.run_ns <= cyclic.end_ns as f64);
}

#[test]
fn messages_of_many_sizes_tell_together_when_they_were_slower() {
    let quiet = |from: u32, to: u32, number: u64| {
        if from / 2 == to / 2 { 1_000 } else { 8_000 + (500.0 * luck(from, to, number)) as u64 }
    };
    let disturbed = |from: u32, to: u32, number: u64| {
        let flight_ns = quiet(from, to, number);
        if from / 2 != to / 2 && (40..80).contains(&number) { 3 * flight_ns } else { flight_ns }
    };
    let program = ring(4, 120, |_, _| 5_000);
    let mut model = run(&program, disturbed);
    // Of each size some twenty are sent between nodes.
    model.messages.iter_mut().zip(0..).for_each(|(message, number)| message.bytes = 64 << (number % 48 / 4));
    let truth_ns = (model.end_ns - run(&program, quiet).end_ns) as f64;
    let saving = graph_of(&model, &[0, 0, 1, 1]).savings(None).causes[2];
    assert!(near(saving.wall_ns, truth_ns, 0.1), "{saving:?}, truth {truth_ns}");
}

#[test]
fn rare_slow_messages_that_are_there_all_the_time_are_no_disturbance() {
    // One message in fifty takes up to a hundred times as long.
    let flight_ns = |from: u32, to: u32, number: u64| {
        let slow = 0.02 / luck(from, to, number).max(2e-4);
        8_000 + (8_000.0 * (slow - 1.0).max(0.0)) as u64
    };
    let model = run(&ring(8, 2_000, |_, _| 5_000), flight_ns);
    let saving = graph_of(&model, &[0, 0, 1, 1, 2, 2, 3, 3]).savings(None).causes[2];
    assert!(saving.wall_ns < 0.01 * model.end_ns as f64, "{saving:?} of {}", model.end_ns);
}

#[test]
fn of_two_messages_the_one_with_its_usual_flight_decided() {
    const RANKS: u32 = 8;
    let halo = |computing_ns: fn(u32) -> u64| -> Vec<Vec<Step>> {
        let of_rank = |rank: u32| {
            let (right, left) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
            let exchange = [Step::Send(left), Step::Send(right), Step::ReceiveBoth(left, right)];
            std::iter::once(Step::Compute(computing_ns(rank))).chain(exchange).cycle().take(4 * 400).collect()
        };
        (0..RANKS).map(of_rank).collect()
    };
    let flight_ns = |from, to, number| 20_000 + (2_000.0 * luck(from, to, number)) as u64;
    // Rank 3 is late in each step, so the messages of others have long come when its neighbours go on.
    let [with, without] = [halo(|rank| if rank == 3 { 66_000 } else { 50_000 }), halo(|_| 52_000)]
        .map(|programs| run(&programs, flight_ns).end_ns);
    let model = run(&halo(|rank| if rank == 3 { 66_000 } else { 50_000 }), flight_ns);
    let saving = graph_of(&model, &[0; RANKS as usize]).savings(None).causes[1];
    assert!(near(saving.wall_ns, (with - without) as f64, 0.1), "{saving:?}, truth {}", with - without);
}

/// Ranks that send to all others and wait for all; what they compute, by rank. One flight in thirty is slow, up to sixty times.
fn all_to_all(computing_ns: impl Fn(u32) -> u64, draw: u64) -> Model {
    const RANKS: u32 = 12;
    const STEPS: u64 = 300;
    let of_rank = |rank: u32| -> Vec<Step> {
        let others = (0..RANKS).filter(|other| *other != rank);
        let step = std::iter::once(Step::Compute(computing_ns(rank))).chain(others.map(Step::Send));
        let step: Vec<Step> = step.chain([Step::ReceiveOthers]).collect();
        step.iter().cycle().take(STEPS as usize * step.len()).copied().collect()
    };
    let flight_ns = |from: u32, to: u32, number: u64| {
        let number = number + draw * STEPS;
        let slow = (0.033 / luck(to, from, number).max(1e-5)).powf(0.5).max(1.0);
        (20_000.0 * (1.0 + 0.1 * luck(from, to, number)) * slow) as u64
    };
    run(&(0..RANKS).map(of_rank).collect::<Vec<_>>(), flight_ns)
}

#[test]
fn a_late_rank_does_not_hide_slow_messages_of_others() {
    let late = |rank: u32| if rank == 3 { 200_000 } else { 150_000 };
    let even = |_: u32| 154_167;
    let of_draw = |draw: u64| (all_to_all(late, draw).end_ns as f64, all_to_all(even, draw).end_ns as f64);
    let runs: Vec<(f64, f64)> = (0..8).map(of_draw).collect();
    let truth = runs.iter().map(|(late_ns, even_ns)| late_ns - even_ns).sum::<f64>() / 8.0;
    let saving = graph_of(&all_to_all(late, 0), &[0; 12]).savings(None).causes[1];
    assert!(near(saving.wall_ns, truth, 0.15), "{saving:?}, truth {truth} of {}", runs[0].0);
}

#[test]
fn a_placement_with_as_many_messages_between_nodes_saves_nothing() {
    let flight_ns = |from: u32, to: u32, number: u64| 5_000 + (20_000.0 * luck(from, to, number)) as u64;
    let programs: Vec<Vec<Step>> = (0..4)
        .map(|rank| {
            let others = || (0..4).filter(move |other| *other != rank);
            let step = std::iter::once(Step::Compute(10_000)).chain(others().map(Step::Send));
            let step: Vec<Step> = step.chain(others().map(Step::Receive)).collect();
            step.iter().cycle().take(200 * step.len()).copied().collect()
        })
        .collect();
    let graph = graph_of(&run(&programs, flight_ns), &[0, 0, 1, 1]);
    assert_eq!(graph.savings(Some(&[0, 1, 0, 1].map(Node))).causes[0].wall_ns, 0.0);
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
        builder.refer(true, 100, [8_300, 9_000]);
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
fn a_link_that_is_slow_throughout_is_held_against_what_was_measured_before() {
    let quiet = |from: u32, to: u32, number: u64| {
        if from / 2 == to / 2 { 1_000 } else { 8_000 + number % 7 * 100 }
    };
    let nodes = [0, 0, 1, 1, 2, 2, 3, 3];
    let program = ring(8, 400, |_, _| 5_000);
    let background = |model: &Model, normal_ns: u64| {
        let mut builder = builder_of(model, &nodes);
        builder.refer(true, 100, [8_300, normal_ns]);
        builder.finish().unwrap().savings(None).causes[2]
    };
    // Others than it are a majority.
    let slow =
        |from: u32, to: u32, number: u64| quiet(from, to, number) * if (from, to) == (1, 2) { 6 } else { 1 };
    let model = run(&program, slow);
    let truth_ns = (model.end_ns - run(&program, quiet).end_ns) as f64;
    let saving = background(&model, 9_000);
    assert!(near(saving.wall_ns, truth_ns, 0.1), "{saving:?}, truth {truth_ns}");
    let mut builder = builder_of(&model, &nodes);
    builder.refer(true, 100, [8_300, 9_000]);
    let links = builder.finish().unwrap().link_times();
    let slower: Vec<_> = links.iter().map(|link| (link.from.0, link.to.0, link.slower.round())).collect();
    assert_eq!(slower, [(0, 1, 6.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)]);
    // Where some links have always been as slow, that is how far away their nodes are.
    let saving = background(&model, 60_000);
    assert!(saving.wall_ns < 0.01 * truth_ns, "{saving:?}");
    let saving = background(&run(&program, quiet), 9_000);
    assert!(saving.wall_ns < 0.01 * truth_ns, "{saving:?}");
}

#[test]
fn a_slow_link_stays_where_it_is_when_ranks_move() {
    let flight_ns = |nodes: [u32; 8]| {
        move |from: u32, to: u32, number: u64| match (nodes[from as usize], nodes[to as usize]) {
            (from, to) if from == to => 1_000,
            (0, 1) => 50_000 + number % 7 * 100,
            _ => 8_000 + number % 7 * 100,
        }
    };
    let program = ring(8, 400, |_, _| 5_000);
    let nodes = [0, 0, 1, 1, 2, 2, 3, 3];
    let model = run(&program, flight_ns(nodes));
    let mut builder = builder_of(&model, &nodes);
    builder.refer(true, 100, [8_300, 9_000]);
    let graph = builder.finish().unwrap();
    // Nobody sends over it; others do.
    for placed in [[0, 0, 2, 2, 1, 1, 3, 3], [2, 2, 0, 0, 1, 1, 3, 3]] {
        let change = Change { placement: Some(placed.map(Node).to_vec()), ..Change::default() };
        let truth_ns = run(&program, flight_ns(placed)).end_ns as f64;
        let replayed_ns = graph.replay(&change).run_ns;
        assert!(near(replayed_ns, truth_ns, 0.05), "{placed:?}: {replayed_ns}, truth {truth_ns}");
        // In a quiet network it is none any more, whoever sends over it.
        let quiet_ns = run(&program, flight_ns([0, 0, 2, 2, 1, 1, 3, 3])).end_ns as f64;
        let replayed_ns = graph.replay(&Change { quiet_network: true, ..change }).run_ns;
        assert!(near(replayed_ns, quiet_ns, 0.05), "{placed:?}: {replayed_ns}, quiet {quiet_ns}");
    }
}

#[test]
fn a_slow_link_is_found_by_messages_of_all_sizes() {
    let quiet = |_, _, number: u64| 8_000 + number % 7 * 100;
    let program = ring(8, 400, |_, _| 5_000);
    let slow = |from: u32, to: u32, number: u64| quiet(from, to, number) * if from == 1 { 6 } else { 1 };
    let mut model = run(&program, slow);
    let truth_ns = (model.end_ns - run(&program, quiet).end_ns) as f64;
    // Of each size there are too few on a link.
    for (number, message) in (0_u64..).zip(&mut model.messages) {
        message.bytes = 100 << (number / 8 % 16);
    }
    let mut builder = builder_of(&model, &[0, 1, 2, 3, 4, 5, 6, 7]);
    builder.refer(true, 100, [8_300, 9_000]);
    builder.refer(true, 100 << 15, [8_300, 9_000]);
    let graph = builder.finish().unwrap();
    let saving = graph.savings(None).causes[2];
    assert!(near(saving.wall_ns, truth_ns, 0.1), "{saving:?}, truth {truth_ns}");
    let slow: Vec<_> = graph.link_times().into_iter().filter(|link| link.slower > 2.0).collect();
    assert_eq!(slow.iter().map(|link| (link.from.0, link.to.0)).collect::<Vec<_>>(), [(1, 2)]);
}

#[test]
fn a_slow_link_decides_among_several_messages() {
    const RANKS: u32 = 8;
    let of_rank = |rank: u32| {
        let (right, left) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
        let exchange = [Step::Send(left), Step::Send(right), Step::ReceiveBoth(left, right)];
        std::iter::once(Step::Compute(5_000)).chain(exchange).cycle().take(4 * 400).collect()
    };
    let programs: Vec<Vec<Step>> = (0..RANKS).map(of_rank).collect();
    let quiet = |from, to, number| 20_000 + (10_000.0 * luck(from, to, number)) as u64;
    let slow = |from: u32, to: u32, number: u64| {
        quiet(from, to, number) * if from.min(to) == 2 && from.max(to) == 3 { 5 } else { 1 }
    };
    let model = run(&programs, slow);
    let truth_ns = (model.end_ns - run(&programs, quiet).end_ns) as f64;
    let mut builder = builder_of(&model, &[0, 1, 2, 3, 4, 5, 6, 7]);
    builder.refer(true, 100, [25_000, 29_000]);
    let saving = builder.finish().unwrap().savings(None).causes[2];
    assert!(near(saving.wall_ns, truth_ns, 0.1), "{saving:?}, truth {truth_ns}");
}

#[test]
fn a_placement_rests_on_what_was_measured_where_the_run_has_no_message_within_a_node() {
    let model = run(&ring(4, 200, |_, _| 10_000), |_, _, _| 50_000);
    let saved_ns = |refer: bool| {
        let mut builder = GraphBuilder::new(kinds());
        (0..4).for_each(|rank| builder.place(Rank(rank), Node(rank % 2)));
        // No receive finds its message there.
        model.calls.iter().for_each(|call| builder.call(call));
        model.messages.iter().for_each(|message| builder.message(message));
        if refer {
            builder.refer(false, 0, [1_000, 1_000]);
        }
        builder.finish().unwrap().savings(Some(&[0, 0, 1, 1].map(Node))).causes[0].wall_ns
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
                rank: Rank(rank),
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
        (0..4).for_each(|rank| builder.place(Rank(rank), Node(rank)));
        // For slow ranks each takes 90 us longer than in the model.
        for call in &model.calls {
            let number = call.instance.map_or(0, u64::from);
            let is_late = is_slow(call.rank.0);
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
    // Each takes 92 us, and 10 us where it was measured.
    let all = saved_ns(true, |_| true);
    assert!(near(all, 100.0 * 82_000.0, 0.05), "{all}");
    // A single member that is slow to leave is not the network.
    let one = saved_ns(true, |rank| rank == 3);
    assert!(one < 1_000.0, "{one}");
}

/// Broadcasts of 500 us from rank 0; `late_ns` is how long before the end of each the last rank enters.
fn broadcasts(late_ns: impl Fn(u64) -> u64) -> GraphBuilder {
    let mut builder = GraphBuilder::new(kinds());
    (0..4).for_each(|rank| builder.place(Rank(rank), Node(rank)));
    for number in 0..24 {
        let begin_ns = 1_000_000 * number;
        let end_ns = begin_ns + 500_000;
        for rank in 0..4 {
            let times = match rank {
                0 => (begin_ns, begin_ns + 5_000),
                3 => (end_ns - late_ns(number), end_ns),
                _ => (begin_ns + 10_000, end_ns),
            };
            builder.call(&Call {
                rank: Rank(rank),
                function: BROADCAST,
                start_ns: times.0,
                end_ns: times.1,
                comm: Some(Comm::WORLD),
                instance: Some(number as u32),
                peer: Some(Rank(0)),
                bytes: 100,
                ..Call::default()
            });
        }
    }
    builder
}

/// Rank 0 broadcasts after computing; what ranks compute, by rank. It is there 300 us after the root has entered; who comes later
/// takes 5 us.
fn broadcasts_of(computing_ns: [u64; 3]) -> (GraphBuilder, u64) {
    const THERE_NS: u64 = 300_000;
    const OWN_NS: u64 = 5_000;
    let mut builder = GraphBuilder::new(kinds());
    (0..3).for_each(|rank| builder.place(Rank(rank), Node(rank)));
    let mut now_ns = [0; 3];
    for number in 0..40 {
        // What comes before the first call is no work of the program.
        let computing_ns = if number == 0 { [0; 3] } else { computing_ns };
        let root_ns = now_ns[0] + computing_ns[0];
        for (rank, now_ns) in now_ns.iter_mut().enumerate() {
            let start_ns = *now_ns + computing_ns[rank];
            let there_ns = if rank == 0 { 0 } else { root_ns + THERE_NS };
            *now_ns = there_ns.max(start_ns + OWN_NS);
            builder.call(&Call {
                rank: Rank(rank as u32),
                function: BROADCAST,
                start_ns,
                end_ns: *now_ns,
                comm: Some(Comm::WORLD),
                instance: Some(number),
                peer: Some(Rank(0)),
                bytes: 100,
                ..Call::default()
            });
        }
    }
    (builder, now_ns.into_iter().max().unwrap_or(0))
}

#[test]
fn a_broadcast_holds_up_who_comes_before_it_is_there() {
    // Rank 1 waits for the root, or comes after all is there; the root is ahead of all; it comes last.
    let cases = [
        ([1_000_000, 900_000, 1_600_000], [1.0, 2.0, 1.0]),
        ([1_000_000, 2_000_000, 2_000_000], [5.0 / 3.0, 5.0 / 6.0, 5.0 / 6.0]),
        ([1_000_000, 2_000_000, 2_000_000], [1.5, 1.0, 1.0]),
        ([1_000_000, 2_000_000, 2_000_000], [1.0, 0.75, 0.75]),
        ([2_000_000, 1_000_000, 1_000_000], [0.25, 1.0, 1.0]),
    ];
    for (computing_ns, factors) in cases {
        let (builder, end_ns) = broadcasts_of(computing_ns);
        let graph = builder.finish().unwrap();
        assert!(near(graph.replay(&Change::default()).run_ns, end_ns as f64, 1e-6));
        let ranks = (0..).map(Rank).zip(factors).collect();
        let changed = |rank: usize| (computing_ns[rank] as f64 * factors[rank]) as u64;
        let truth_ns = broadcasts_of([0, 1, 2].map(changed)).1;
        let replayed_ns = graph.replay(&Change { ranks, ..Change::default() }).run_ns;
        assert!(near(replayed_ns, truth_ns as f64, 0.01), "{factors:?}: {replayed_ns}, truth {truth_ns}");
    }
}

#[test]
fn a_barrier_costs_no_more_where_all_messages_are_large() {
    const FLIGHT_NS: u64 = 150_000;
    let programs = |computing_ns: fn(u32) -> u64| -> Vec<Vec<Step>> {
        let of_rank = |rank: u32| {
            let exchange = [Step::Send((rank + 1) % 4), Step::Receive((rank + 3) % 4)];
            let step = [Step::Compute(computing_ns(rank)), Step::Barrier].into_iter().chain(exchange);
            step.cycle().take(4 * 100).collect()
        };
        (0..4).map(of_rank).collect()
    };
    let mut model = run(&programs(|rank| if rank == 0 { 400_000 } else { 100_000 }), |_, _, _| FLIGHT_NS);
    let even = run(&programs(|_| 175_000), |_, _, _| FLIGHT_NS);
    model.messages.iter_mut().for_each(|message| message.bytes = 1 << 20);
    let balanced = graph_of(&model, &[0; 4]).replay(&Change { balanced: true, ..Change::default() });
    assert!(near(balanced.run_ns, even.end_ns as f64, 0.02), "{balanced:?}, truth {}", even.end_ns);
}

#[test]
fn a_broadcast_that_is_always_slow_is_held_against_what_was_measured() {
    let saved_ns = |measured_ns: u64| {
        let mut builder = broadcasts(|_| 200_000);
        builder.refer_collective(BROADCAST, 4, 100, measured_ns);
        let graph = builder.finish().unwrap();
        let run_ns = |quiet_network| graph.replay(&Change { quiet_network, ..Change::default() }).run_ns;
        run_ns(false) - run_ns(true)
    };
    // Each takes 500 us after the root has entered, which waits for nobody: only the last one makes the run shorter.
    let saved = saved_ns(100_000);
    assert!(near(saved, 400_000.0, 0.05), "{saved}");
    assert!(saved_ns(490_000) < 1_000.0, "{}", saved_ns(490_000));
}

#[test]
fn a_quiet_network_makes_no_collective_longer() {
    let saved_ns = |late_ns: fn(u64) -> u64| {
        let graph = broadcasts(late_ns).finish().unwrap();
        let run_ns = |quiet_network| graph.replay(&Change { quiet_network, ..Change::default() }).run_ns;
        run_ns(false) - run_ns(true)
    };
    // One slow collective of 24 is chance.
    let one = saved_ns(|number| if number == 21 { 100_000 } else { 10_000 + number * 10 });
    assert!(one.abs() < 1_000.0, "{one}");
    // Others than the last to enter wait for the root for much longer than the collective takes after the last entry.
    let many = saved_ns(|number| match number {
        12.. if number % 4 == 0 => 200,
        12.. => 100_000,
        _ => 10_000 + number * 10,
    });
    assert!((0.0..12.0 * 100_000.0).contains(&many), "{many}");
}

#[test]
fn a_few_collectives_are_as_slow_as_messages_meanwhile() {
    const STEPS_OF_BARRIER: usize = 3 * 20;
    const EXTRA_NS: u64 = 600_000;
    let is_slow = |number: u64| (60..140).contains(&number);
    let flight_ns = |slower: u64| {
        move |_, _, number: u64| (80_000 + number % 7 * 1_000) * if is_slow(number) { slower } else { 1 }
    };
    let of_rank = |steps: Vec<Step>| {
        steps.chunks(STEPS_OF_BARRIER).flat_map(|some| some.iter().copied().chain([Step::Barrier])).collect()
    };
    let programs: Vec<Vec<Step>> = ring(4, 200, |_, _| 50_000).into_iter().map(of_rank).collect();
    let model = run(&programs, flight_ns(6));
    let flights_ns = model.end_ns - run(&programs, flight_ns(1)).end_ns;
    // Barriers, which come after 20 steps each, take longer where messages do, or where they do not.
    let lengthened = |is_longer: fn(u64) -> bool| {
        let barriers = model.calls.iter().filter(|call| call.rank == Rank(0) && call.function == BARRIER);
        let left_ns: Vec<u64> = barriers.map(|call| call.end_ns).collect();
        let later = |ns: u64| {
            let before = (0_u64..).zip(&left_ns).filter(|(number, left)| **left <= ns && is_longer(*number));
            ns + EXTRA_NS * before.count() as u64
        };
        let calls = model.calls.iter().map(|call| Call {
            start_ns: later(call.start_ns),
            end_ns: later(call.end_ns),
            ..*call
        });
        let messages = model.messages.iter().map(|message| Message {
            send_ns: later(message.send_ns),
            recv_ns: later(message.recv_ns),
            ..*message
        });
        let end_ns = later(model.end_ns);
        let model = Model { calls: calls.collect(), messages: messages.collect(), end_ns };
        graph_of(&model, &[0, 1, 2, 3]).savings(None).causes[2].wall_ns
    };
    let meanwhile_ns = lengthened(|number| (3..7).contains(&number));
    let truth_ns = (flights_ns + 4 * EXTRA_NS) as f64;
    assert!(near(meanwhile_ns, truth_ns, 0.05), "{meanwhile_ns}, truth {truth_ns}");
    let elsewhere_ns = lengthened(|number| number == 8);
    assert!(near(elsewhere_ns, flights_ns as f64, 0.05), "{elsewhere_ns}, truth {flights_ns}");
}
