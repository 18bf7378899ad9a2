//! The clocks of synthetic networks, against the truth.

use crate::network;
use crate::network::{MILLISECOND, Random, Setting, TrueClock, ZERO_NS};
use mpiscope_ingest::host_clocks::{Bounds, ClockMaps, NodeClock, Violations};
use mpiscope_model::Node;
use proptest::prelude::*;

prop_compose! {
    fn any_clock()(
        start_ns in 1_000_000_000_u64..2_000_000_000_000,
        drift in -100e-6..100e-6,
        wander in 0.0..0.8e-6,
        phase in 0.0..6.0,
    ) -> TrueClock {
        TrueClock { start_ns, drift, wander, phase }
    }
}

prop_compose! {
    fn any_setting()(
        clocks in proptest::collection::vec(any_clock(), 2..7),
        seconds in 1..15_u64,
        jitter_ns in (500.0..50_000.0, 500.0..50_000.0),
        base_ns in 5_000..30_000_u64,
        latency_ns in 1_000..20_000_u64,
        messages_a_step in 0..20_u64,
        both_ways: bool,
        seed: u64,
    ) -> Setting {
        Setting { clocks, seconds, jitter_ns, base_ns, latency_ns, messages_a_step, both_ways, seed }
    }
}

/// The corrections of published times, against the truth, at many moments.
fn check_truth(
    setting: &Setting,
    clocks: &[NodeClock],
    maps: &ClockMaps,
    end_ns: u64,
) -> Result<(), TestCaseError> {
    let mut random = Random(setting.seed ^ 1);
    for (node, clock) in clocks.iter().enumerate() {
        let (true_clock, map) = (setting.true_clock(node), &maps.nodes[node]);
        for number in 0..300 {
            let true_ns = 10 * MILLISECOND + random.below(end_ns - 10 * MILLISECOND);
            let local_ns = true_clock.local_ns(true_ns);
            let told_ns = clock.to_run(local_ns);
            let corrected_ns = maps.correct(Node::from_index(node), told_ns);
            prop_assert!(
                corrected_ns.abs_diff(true_ns) <= map.uncertainty_at(told_ns),
                "node {node}: {corrected_ns} is {true_ns} and stated within {}",
                map.uncertainty_at(told_ns)
            );
            if number < 10 {
                prop_assert!(told_ns.abs_diff(true_ns) <= clock.uncertainty_ns(local_ns));
            }
        }
    }
    Ok(())
}

fn violations(messages: &[network::Sent], maps: &ClockMaps) -> Violations {
    let mut after = Violations::default();
    for message in messages {
        let correct = |node, told_ns| maps.correct(node, told_ns);
        after.see(correct(message.from, message.run_times_ns.0), correct(message.to, message.run_times_ns.1));
    }
    after
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_truth_is_within_the_bounds_and_no_message_goes_back_in_time(setting in any_setting()) {
        let outcome = setting.run();
        let maps = outcome.solve(&mut outcome.bounds());
        prop_assert!(maps.is_free_of_violations);
        prop_assert_eq!(violations(&outcome.messages, &maps), Violations::default());
        check_truth(&setting, &outcome.clocks, &maps, outcome.end_ns)?;
        prop_assert!(maps.nodes[0].correction.is_nothing() && maps.nodes[0].uncertainty_ns() == 0);
        // What is true is what was meant by the figures of the whole run as well.
        for (true_clock, map) in setting.clocks.iter().zip(&maps.nodes).skip(1) {
            let ahead_ns = true_clock.start_ns as i64 - ZERO_NS as i64;
            prop_assert!((map.ahead_ns - ahead_ns).unsigned_abs() <= map.uncertainty_at(0));
            let error = (map.faster_ppb - true_clock.drift * 1e9).abs();
            let reach_ns = 2.0 * map.uncertainty_ns() as f64;
            prop_assert!(error <= 1_000.0 + reach_ns / (outcome.end_ns as f64 / 1e9), "off by {error} ppb");
        }
    }

    #[test]
    fn it_does_not_matter_in_what_order_messages_come(setting in any_setting(), seed: u64) {
        let mut outcome = setting.run();
        let maps = outcome.solve(&mut outcome.bounds());
        let mut random = Random(seed);
        for at in (1..outcome.messages.len()).rev() {
            outcome.messages.swap(at, random.below(at as u64 + 1) as usize);
        }
        prop_assert_eq!(outcome.solve(&mut outcome.bounds()), maps);
    }

    #[test]
    fn past_times_stay_and_never_run_backward(setting in any_setting()) {
        let true_clock = setting.true_clock(1);
        let (mut clock, mut past) = (NodeClock::new(ZERO_NS), Vec::new());
        let mut random = Random(setting.seed);
        clock.sample(setting.trip(&true_clock, 0, &mut random));
        for step in 1..200_u64 {
            // Round trips and calls come on ways of their own: either may be ahead.
            let now_ns = true_clock.local_ns(step * 30 * MILLISECOND + random.below(50 * MILLISECOND));
            for _ in 0..5 {
                let local_ns = now_ns - random.below(40 * MILLISECOND);
                past.push((local_ns, clock.to_run(local_ns)));
            }
            clock.fix_until(now_ns);
            if step % 3 == 0 {
                clock.sample(setting.trip(&true_clock, step * 30 * MILLISECOND, &mut random));
            }
        }
        for &(local_ns, run_ns) in &past {
            prop_assert_eq!(clock.to_run(local_ns), run_ns);
        }
        past.sort_unstable();
        prop_assert!(past.is_sorted_by_key(|&(_, run_ns)| run_ns));
        let bends = (0..100_000).map(|step| clock.to_run(true_clock.local_ns(0) + step * 60_001));
        prop_assert!(bends.is_sorted());
    }

    #[test]
    fn nothing_that_messages_say_makes_time_run_backward(
        setting in any_setting(),
        nonsense in proptest::collection::vec((0..8_u32, 0..8_u32, 0..20_000_000_000_u64, -2_000_000_i64..2_000_000), 1..40),
    ) {
        let outcome = setting.run();
        let mut bounds = outcome.bounds();
        for (from, to, at_ns, took_ns) in nonsense {
            bounds.message(Node(from), Node(to), at_ns, at_ns.saturating_add_signed(took_ns));
        }
        let maps = outcome.solve(&mut bounds);
        for map in &maps.nodes {
            let times = (0..20_000).map(|step| map.correction.apply(step * 1_000_003));
            prop_assert!(times.is_sorted());
        }
    }
}

#[test]
fn memory_does_not_grow_with_times_that_make_no_sense() {
    let mut bounds = Bounds::default();
    let [one, other] = [0, 1].map(Node);
    bounds.message(one, other, 5, 9);
    bounds.message(other, one, 0, u64::MAX);
    bounds.message(other, one, u64::MAX, 0);
    let reference = NodeClock::reference(0);
    let unknown = NodeClock::new(0);
    assert_eq!((unknown.to_run(77), unknown.is_known()), (0, false));
    let maps = ClockMaps::solve(&[(Node(0), &reference), (Node(1), &unknown)], &mut bounds, u64::MAX);
    assert_eq!((maps.nodes.len(), maps.correct(Node(1), 99)), (1, 99));
}

/// A message that contradicts all round trips: a clock that jumped, say. The receiver's clock is put forward for it, and
/// that is forgotten after a while.
#[test]
fn a_message_that_cannot_be_is_given_its_order_and_spoils_nothing_else() {
    let clock = TrueClock { start_ns: 7_000_000_000_000, drift: 20e-6, wander: 0.0, phase: 0.0 };
    let setting = Setting {
        clocks: vec![clock; 3],
        seconds: 4,
        jitter_ns: (2_000.0, 3_000.0),
        base_ns: 10_000,
        latency_ns: 5_000,
        messages_a_step: 10,
        both_ways: true,
        seed: 3,
    };
    let mut outcome = setting.run();
    let (recv_ns, early_ns) = (1_000 * MILLISECOND, 200_000);
    outcome.messages.push(network::Sent {
        from: Node(0),
        to: Node(1),
        run_times_ns: (recv_ns + early_ns, recv_ns),
    });
    let maps = outcome.solve(&mut outcome.bounds());
    assert!(!maps.is_free_of_violations);
    assert!(maps.correct(Node(1), recv_ns) >= maps.correct(Node(0), recv_ns + early_ns));
    for (node, time_ms) in [(1, 500), (1, 990), (1, 1_500), (1, 3_000), (2, 1_500), (0, 990)] {
        let told_ns = time_ms * MILLISECOND;
        let added_ns = maps.correct(Node(node), told_ns).abs_diff(told_ns);
        assert!(added_ns < 50_000, "node {node} at {time_ms} ms: {added_ns} ns");
    }
    assert!(maps.nodes[1].uncertainty_at(recv_ns) >= early_ns - 50_000);
}

/// Many nodes, each with eight neighbours: in a full run as many as a large job has, and for a minute.
#[test]
fn many_nodes() {
    let is_full = std::env::var_os("MPISCOPE_FULL").is_some_and(|value| value == "1");
    let (nodes, seconds) = if is_full { (512_u32, 60) } else { (48, 10) };
    let mut random = Random(7);
    let mut clock = || TrueClock {
        start_ns: 1_000_000_000 + random.below(1_000_000_000_000),
        drift: (random.share() - 0.5) * 200e-6,
        wander: 0.5e-6,
        phase: random.share() * 6.0,
    };
    let setting = Setting {
        clocks: (0..nodes).map(|_| clock()).collect(),
        seconds,
        jitter_ns: (2_000.0, 3_000.0),
        base_ns: 10_000,
        latency_ns: 2_000,
        messages_a_step: 0,
        both_ways: true,
        seed: 99,
    };
    let mut outcome = setting.run();
    let (mut bounds, mut before) = (Bounds::default(), Violations::default());
    for step in 1..seconds * 50 {
        for (from, far) in (0..nodes).flat_map(|from| [1, 2, 3, 16].map(|far| (from, far))) {
            for to in [(from + far) % nodes, (from + nodes - far) % nodes] {
                let sent_ns = step * 20 * MILLISECOND + random.below(MILLISECOND);
                let told_ns = |node: u32, true_ns| {
                    outcome.clocks[node as usize].to_run(setting.true_clock(node as usize).local_ns(true_ns))
                };
                let recv_ns = sent_ns + 2_000 + random.heavy(2_000.0);
                let (sent_ns, recv_ns) = (told_ns(from, sent_ns), told_ns(to, recv_ns));
                before.see(sent_ns, recv_ns);
                let (from, to) = (Node(from), Node(to));
                bounds.message(from, to, sent_ns, recv_ns);
                outcome.messages.push(network::Sent { from, to, run_times_ns: (sent_ns, recv_ns) });
            }
        }
    }
    let begun = std::time::Instant::now();
    let maps = outcome.solve(&mut bounds);
    let worst_ns = maps.nodes.iter().map(|map| map.uncertainty_ns()).max();
    let (took, after) = (begun.elapsed(), violations(&outcome.messages, &maps));
    println!("{took:?}; before: {before:?}; after: {after:?}; {worst_ns:?} ns");
    assert!(after.count * 1_000 <= before.count);
}
