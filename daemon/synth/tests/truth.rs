//! What a disturbance costs is what the run takes more than without it.

use crate::support;
use crate::support::{patterns, read, small};
use mpiscope_model::Rank;
use mpiscope_synth::{Cause, Disturbance, Pattern, Placement, Spec, Stretch, Style, Truth, generate};

fn truth(spec: &Spec) -> Truth {
    generate(spec).expect("a sound spec").truth()
}

fn disturbed(pattern: Pattern, disturbance: Disturbance) -> Spec {
    let mut spec = small(pattern);
    spec.seconds = 1.0;
    spec.disturb = vec![disturbance];
    spec
}

#[test]
fn nothing_is_avoidable_where_nothing_is_wrong() {
    for pattern in patterns() {
        let spec = small(pattern);
        let quiet = truth(&spec);
        assert_eq!((quiet.main.cause, quiet.main.avoidable_s, quiet.parts.len()), (Cause::None, 0.0, 0));
        // Disturbances of no strength are none.
        let weak = [
            Disturbance::WorsePlacement { placement: Placement::Block },
            Disturbance::Imbalance { share: 0.5, more: 0.0, drifts: true },
            Disturbance::StolenCpu { share: 0.5, during: Stretch::WHOLE, period_ns: 1_000_000, taken: 0.0 },
            Disturbance::DriftingClocks { offset_ns: 1_000, rate_ppm: 1.0 },
            Disturbance::LostRecords { share: 1.0, period_ns: 1_000_000, lost: 0.5 },
        ];
        for disturbance in weak {
            let found = truth(&Spec { disturb: vec![disturbance.clone()], ..spec.clone() });
            assert_eq!(found.duration_s, quiet.duration_s, "{pattern:?} {disturbance:?}");
            assert!(found.parts.iter().all(|part| part.avoidable_s == 0.0));
            assert_eq!(found.main.cause, Cause::None);
        }
    }
}

/// Each disturbance twice, the second time stronger.
fn growing() -> Vec<(Cause, Pattern, [Disturbance; 2])> {
    let traffic = |factor| Disturbance::NetworkContention {
        nodes: Vec::new(),
        during: Stretch::MIDDLE,
        factor,
        sigma: 0.5,
    };
    let stolen =
        |taken| Disturbance::StolenCpu { share: 0.125, during: Stretch::WHOLE, period_ns: 20_000_000, taken };
    let imbalance = |more, drifts| Disturbance::Imbalance { share: 0.125, more, drifts };
    let root = |share| Disturbance::SerializedRoot { every: 5, share };
    let mapping = |placement| Disturbance::WorsePlacement { placement };
    let stopped = |taken| Disturbance::StoppedRank { during: Stretch::WHOLE, period_ns: 20_000_000, taken };
    let graded = |more| Disturbance::GradedImbalance { more };
    let slow_node = |more| Disturbance::SlowNode { more };
    let slow_link = |factor| Disturbance::NetworkContention {
        nodes: vec![0, 1],
        during: Stretch::WHOLE,
        factor,
        sigma: 0.2,
    };
    vec![
        (Cause::Mapping, Pattern::Cg, [mapping(Placement::Cyclic), mapping(Placement::Random)]),
        (Cause::Pattern, Pattern::Halo2d, [imbalance(0.1, false), imbalance(0.4, false)]),
        (Cause::Pattern, Pattern::Ring, [imbalance(0.1, true), imbalance(0.4, true)]),
        (Cause::Pattern, Pattern::Halo3d, [root(0.1), root(0.4)]),
        (Cause::Pattern, Pattern::MasterWorker, [root(1.0), root(2.0)]),
        (Cause::Background, Pattern::Halo2d, [traffic(2.0), traffic(8.0)]),
        (Cause::Background, Pattern::RandomSparse, [traffic(2.0), traffic(8.0)]),
        (Cause::Cpu, Pattern::Cg, [stolen(0.1), stolen(0.4)]),
        (Cause::Cpu, Pattern::Pipeline, [stopped(0.1), stopped(0.4)]),
        (Cause::Pattern, Pattern::Pipeline, [graded(0.1), graded(0.4)]),
        (Cause::Pattern, Pattern::Collectives, [slow_node(0.1), slow_node(0.4)]),
        (Cause::Background, Pattern::Halo2d, [slow_link(2.0), slow_link(8.0)]),
        (Cause::Pattern, Pattern::Groups, [imbalance(0.1, false), imbalance(0.4, false)]),
    ]
}

#[test]
fn every_disturbance_costs_and_a_stronger_one_costs_more() {
    for (cause, pattern, disturbances) in growing() {
        let specs = disturbances.map(|disturbance| disturbed(pattern, disturbance));
        let [weak, strong] = specs.clone().map(|spec| truth(&spec));
        let what = format!("{pattern:?} {:?}: {:?}, {:?}", specs[1].disturb, weak.main, strong.main);
        assert!(weak.parts[0].avoidable_s > 0.0, "{what}");
        assert_eq!(strong.main.cause, cause, "{what}");
        if cause != Cause::Mapping {
            assert!(strong.main.avoidable_s > 1.5 * weak.parts[0].avoidable_s, "{what}");
        }
        let read = read(&specs[1]);
        assert!(read.faults.is_empty() && read.unmatched == (0, 0) && read.uncertain == 0, "{what}");
        assert!(read.messages.iter().all(|message| message.send_ns < message.recv_ns), "{what}");
        assert!((strong.main.avoidable_s / 16.0 - strong.main.avoidable_wall_s).abs() < 1e-9);
        let share = strong.main.avoidable_wall_s / strong.duration_s;
        assert!((share - strong.main.share).abs() < 1e-9, "{what}");
    }
}

#[test]
fn a_mapping_costs_more_the_worse_it_is() {
    let mut spec = disturbed(Pattern::Ring, Disturbance::WorsePlacement { placement: Placement::Cyclic });
    spec.nodes = 2;
    let cyclic = truth(&spec);
    assert!(cyclic.main.cause == Cause::Mapping && cyclic.main.share > 0.02, "{:?}", cyclic.main);
    assert_eq!(cyclic.intra_messages, 0);
    // In a halo everybody waits for some other node at any rate; to wait for more of them costs most where messages leave
    // or are waited for one by one.
    let mut spec = disturbed(Pattern::Halo2d, Disturbance::WorsePlacement { placement: Placement::Random });
    let at_once = truth(&spec).parts[0].share;
    spec.serial_port = true;
    let port = truth(&spec).parts[0].share;
    (spec.serial_port, spec.style) = (false, Style::Blocking);
    let blocking = truth(&spec).parts[0].share;
    assert!(2.0 * at_once < port && 2.0 * at_once < blocking, "{at_once} {port} {blocking}");
    assert!(port > 0.02 && blocking > 0.02, "{port} {blocking}");
}

#[test]
fn removing_a_disturbance_leaves_all_other_randomness_as_it_was() {
    let mut spec = small(Pattern::Halo2d);
    let without = read(&spec);
    spec.disturb = vec![Disturbance::NetworkContention {
        nodes: vec![3],
        during: Stretch { from: 0.9, to: 1.0 },
        factor: 50.0,
        sigma: 0.1,
    }];
    let with = read(&spec);
    // Node 3 has no traffic with itself, so nothing happens at all.
    assert!(without.calls == with.calls);
    if let Disturbance::NetworkContention { nodes, .. } = &mut spec.disturb[0] {
        nodes.push(2);
    }
    let with = read(&spec);
    let before = |read: &support::Read| {
        let calls = read.calls.iter().filter(|call| call.end_ns < 300_000_000);
        calls.copied().collect::<Vec<_>>()
    };
    assert!(before(&without) == before(&with), "until it begins");
    assert!(without.calls != with.calls);
}

#[test]
fn several_causes_have_their_own_truth() {
    let mut spec = disturbed(Pattern::Halo2d, "imbalance".parse().unwrap());
    spec.disturb.push("background-traffic".parse().unwrap());
    spec.disturb.push("lost-records".parse().unwrap());
    let truth = truth(&spec);
    let causes: Vec<Cause> = truth.parts.iter().map(|part| part.cause).collect();
    assert_eq!(causes, [Cause::Pattern, Cause::Background]);
    assert!(truth.parts.iter().all(|part| part.avoidable_s > 0.0 && part.share <= truth.main.share));
    assert!((truth.parts[1].from_s - 0.25).abs() < 0.01 && (truth.parts[1].to_s - 0.75).abs() < 0.01);
    let json = truth.to_json(true);
    for piece in ["\"schema\": \"mpiscope.truth/1\"", "\"cause\": \"background\"", "\"pairs\": [[0, 1, "] {
        assert!(json.contains(piece), "{json}");
    }
    assert!(!truth.to_json(false).contains("pairs"));
}

#[test]
fn every_name_is_a_disturbance_of_every_pattern() {
    for name in mpiscope_synth::DISTURBANCES {
        for (pattern, style) in patterns().zip([Style::Blocking, Style::Polling].into_iter().cycle()) {
            let mut spec = disturbed(pattern, name.parse().unwrap());
            spec.style = style;
            let truth = truth(&spec);
            assert!(truth.duration_s > 0.9, "{name} {pattern:?}");
        }
    }
    let refused = "gremlins".parse::<Disturbance>().unwrap_err().to_string();
    assert!(
        refused.starts_with("\"gremlins\" is no disturbance; there are bad-mapping, imbalance,"),
        "{refused}"
    );
    let refused = "square".parse::<Pattern>().unwrap_err().to_string();
    assert!(refused.ends_with("groups and collectives"), "{refused}");
}

#[test]
fn a_stopped_rank_waits_for_no_processor() {
    let stopped = Disturbance::StoppedRank { during: Stretch::WHOLE, period_ns: 20_000_000, taken: 0.3 };
    let read = read(&disturbed(Pattern::Ring, stopped));
    let last = |rank| read.scheduling.iter().rfind(|row| row.rank == rank).expect("each rank has figures");
    let (of_stopped, of_other) = (last(Rank(15)), last(Rank(14)));
    let share = of_stopped.stopped_ns as f64 / of_stopped.at_ns as f64;
    assert!((0.2..0.4).contains(&share), "{of_stopped:?}");
    assert_eq!((of_stopped.wait_ns, of_other.wait_ns, of_other.stopped_ns), (0, 0, 0));
}
