//! A simulated run is read as a real one is: nothing is wrong with it, everything fits together.

use crate::support;
use crate::support::{Read, patterns, read, small};
use mpiscope_model::Rank;
use mpiscope_synth::{
    Collective, Collectives, Disturbance, Network, Pattern, Placement, Sizes, Spec, Stretch, Style, generate,
};
use mpiscope_wire::{Message, first_frame, id};
use std::collections::{BTreeMap, HashSet};

const STYLES: [Style; 3] = [Style::Blocking, Style::Waitall, Style::Polling];

/// Messages of a step, messages beside steps, and rows of calls of a step and beside steps by style, all counted by hand.
fn counted(pattern: Pattern, style: Style, ranks: u64, steps: u64) -> (u64, u64) {
    let n = ranks;
    // The grids of 16 ranks: 4 x 4, and 4 x 2 x 2.
    let flat = 2 * (3 * 4 + 4 * 3);
    let deep = 2 * (3 * 2 * 2 + 4 * 2 + 4 * 2);
    let (messages, exchanges) = match pattern {
        Pattern::Ring => (n, 1),
        Pattern::Halo2d => (flat, 4),
        Pattern::Halo3d => (deep, 6),
        // Rows of four: two partners; four of sixteen are on the diagonal.
        Pattern::Cg => (n * 4 * 2 + n - 4, 0),
        Pattern::AllToAll => (n * (n - 1), n - 1),
        Pattern::RandomSparse => (4 * n, 4),
        Pattern::Wavefront => (8 * flat, 0),
        Pattern::MasterWorker => (2 * (n - 1), 0),
        Pattern::Pipeline => (8 * (n - 1), 0),
        Pattern::Groups => (2 * n, 2),
        Pattern::Collectives => (0, 1),
    };
    let is_blocking = style == Style::Blocking;
    let rows = match pattern {
        Pattern::Cg => messages * if is_blocking { 1 } else { 3 },
        // All but a corner receive, all but the other send, eight times there and eight times back.
        Pattern::Wavefront => 2 * messages + if is_blocking { 0 } else { 2 * 8 * 2 * (n - 1) },
        Pattern::MasterWorker => 2 * messages,
        Pattern::Pipeline => 2 * messages + if is_blocking { 0 } else { 2 * 8 * (n - 1) },
        _ if is_blocking => n * exchanges,
        _ => 2 * messages + n,
    };
    if pattern == Pattern::MasterWorker {
        let (tasks, stops) = (steps * (n - 1), n - 1);
        let sent_by_master = tasks + stops;
        let (served, sent, received) = match style {
            Style::Blocking => (tasks, tasks, tasks + stops),
            // The master's polls end with a probe, and a receive follows.
            Style::Waitall | Style::Polling => (2 * tasks, 2 * tasks, 2 * (tasks + stops)),
        };
        return (2 * tasks + stops, sent_by_master + served + sent + received + 2 * n);
    }
    let mut beside_steps = (0, n * (steps / 10) + 2 * n);
    if pattern == Pattern::Groups {
        // Groups of four send a message each to the next.
        beside_steps.0 += n * (steps / 20);
        beside_steps.1 += n * (steps / 20) * if is_blocking { 1 } else { 3 };
    }
    (steps * messages + beside_steps.0, steps * rows + beside_steps.1)
}

fn assert_sound(read: &Read, what: &str) {
    assert!(read.faults.is_empty(), "{what}: {:?}", read.faults);
    assert_eq!((read.unmatched, read.uncertain, read.late), ((0, 0), 0, 0), "{what}");
    for message in &read.messages {
        assert!(message.send_ns < message.recv_ns, "{what}: {message:?}");
    }
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    for call in &read.calls {
        let last_ns = last.insert(call.rank.0, call.end_ns).unwrap_or_default();
        assert!(last_ns <= call.start_ns && call.start_ns < call.end_ns, "{what}: {call:?} after {last_ns}");
    }
}

#[test]
fn every_pattern_in_every_style_makes_the_calls_it_should() {
    for (pattern, style) in patterns().flat_map(|pattern| STYLES.map(|style| (pattern, style))) {
        let mut spec = small(pattern);
        spec.style = style;
        let (read, truth) = (read(&spec), generate(&spec).unwrap().truth());
        let what = format!("{pattern:?} {style:?}, {} steps", truth.steps);
        assert_sound(&read, &what);
        assert!(truth.steps > 3, "{what}");
        let (messages, rows) = counted(pattern, style, 16, truth.steps.into());
        assert_eq!(read.messages.len() as u64, messages, "{what}");
        assert_eq!(truth.intra_messages + truth.inter_messages, messages, "{what}");
        let folded = read.calls.iter().filter(|call| call.count > 1 || is_folded(call)).count() as u64;
        let found = read.calls.len() as u64;
        if style == Style::Polling && pattern != Pattern::Collectives {
            assert!(folded > 0 && found >= rows && found <= rows + folded, "{what}: {found} {rows} {folded}");
        } else {
            assert_eq!(found, rows, "{what}");
        }
        assert_eq!(truth.rows_of_rank.iter().sum::<u64>(), found, "{what}");
        assert_eq!(truth.calls, read.calls.iter().map(|call| call.count).sum::<u64>(), "{what}");
        let inter = read.messages.iter().filter(|message| message.inter).count() as u64;
        assert_eq!(truth.inter_messages, inter, "{what}");
        assert_eq!(truth.bytes, read.messages.iter().map(|message| message.bytes).sum::<u64>(), "{what}");
    }
}

/// A poll that failed once: it moved nothing although its function would have.
fn is_folded(call: &mpiscope_model::Call) -> bool {
    [id::TEST, id::TESTALL, id::IPROBE].contains(&call.function) && call.bytes == 0 && call.peer.is_none()
}

#[test]
fn pairs_are_those_of_the_messages() {
    for pattern in patterns() {
        let spec = small(pattern);
        let (read, truth) = (read(&spec), generate(&spec).unwrap().truth());
        let mut pairs: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
        for message in &read.messages {
            let pair = pairs.entry((message.src.0, message.dst.0)).or_default();
            *pair = (pair.0 + 1, pair.1 + message.bytes);
        }
        let read_back: Vec<_> =
            truth.pairs.iter().map(|pair| ((pair.src, pair.dst), (pair.messages, pair.bytes))).collect();
        assert_eq!(pairs.into_iter().collect::<Vec<_>>(), read_back, "{pattern:?}");
    }
}

#[test]
fn messages_too_large_to_be_buffered_wait_for_their_receive() {
    for (pattern, style) in patterns().flat_map(|pattern| STYLES.map(|style| (pattern, style))) {
        let mut spec = small(pattern);
        spec.style = style;
        spec.eager_limit_bytes = 2048;
        let read = read(&spec);
        assert_sound(&read, &format!("{pattern:?} {style:?}"));
        let both = |large: bool| read.messages.iter().any(|message| (message.bytes > 2048) == large);
        assert!(pattern == Pattern::Collectives || both(true) && both(false));
        if pattern == Pattern::Wavefront && style == Style::Blocking {
            // A send of a large message ends no earlier than its receive was entered.
            let sends = read.calls.iter().filter(|call| call.function == id::SEND && call.bytes > 2048);
            let long = sends.filter(|call| call.duration_ns() > 2000).count();
            assert!(long > 100, "{long}");
        }
    }
}

#[test]
fn all_kinds_of_collectives_are_met_by_all_in_the_same_order() {
    for style in STYLES {
        let mut spec = small(Pattern::Halo2d);
        spec.style = style;
        let kinds = vec![
            Collective::Barrier,
            Collective::Bcast,
            Collective::Reduce,
            Collective::Allreduce,
            Collective::Alltoall,
        ];
        spec.collectives = Some(Collectives { every: 2, kinds, bytes: 64 });
        let read = read(&spec);
        assert_sound(&read, "collectives");
        let of =
            |rank| read.calls.iter().filter(move |call| call.rank == rank && call.function >= id::BARRIER);
        let functions: Vec<u16> = of(Rank(0)).map(|call| call.function).collect();
        let turn = [id::BARRIER, id::BCAST, id::REDUCE, id::ALLREDUCE, id::ALLTOALL];
        assert!(functions.len() > 10);
        assert!(functions.iter().zip(turn.iter().cycle()).all(|(found, expected)| found == expected));
        for (at, &function) in functions.iter().enumerate() {
            let calls: Vec<_> = (0..16).map(|rank| of(Rank(rank)).nth(at).unwrap()).collect();
            let last_ns = calls.iter().map(|call| call.start_ns).max().unwrap();
            let holds = match function {
                id::BCAST => {
                    calls.iter().all(|call| call.end_ns > calls[0].start_ns && call.peer == Some(Rank(0)))
                }
                id::REDUCE => calls[0].end_ns > last_ns,
                _ => calls.iter().all(|call| call.end_ns > last_ns),
            };
            assert!(holds && calls.iter().all(|call| call.function == function), "{at} {function}");
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run_and_another_is_not() {
    let mut spec = small(Pattern::RandomSparse);
    let all = |spec: &Spec| generate(spec).unwrap().collect::<Vec<_>>();
    let (one, same) = (all(&spec), all(&spec));
    assert!(one == same);
    spec.seed = 2;
    assert!(one != all(&spec));
}

#[test]
fn everything_fits_into_the_frames_of_a_log() {
    let mut spec = Spec::new(Pattern::Ring, 2, 0.3, 3_000_000.0);
    let (intra_base_ns, intra_byte_ns, inter_base_ns, inter_byte_ns) = (1.0, 0.0, 1.0, 0.0);
    spec.network = Some(Network { intra_base_ns, intra_byte_ns, inter_base_ns, inter_byte_ns });
    let (mut bytes, mut split, mut last) = (Vec::new(), false, None);
    for message in generate(&spec).unwrap() {
        bytes.clear();
        message.encode(&mut bytes);
        let frame = first_frame(&bytes).unwrap().unwrap();
        if let Message::Slots(slots) = &message {
            split |= last.replace(slots.process) == Some(slots.process);
        }
        assert!(Message::decode(frame.kind, frame.payload).unwrap() == message);
    }
    assert!(split, "a rank writes more in a slice than fits into a frame");
    assert_sound(&read(&spec), "fast");
}

#[test]
fn batches_do_not_grow_with_the_run() {
    let most = |seconds| {
        let mut spec = small(Pattern::Wavefront);
        (spec.seconds, spec.collectives) = (seconds, None);
        read(&spec).most_slots as f64
    };
    let (short, long) = (most(0.4), most(4.0));
    assert!(long < 1.2 * short, "{short} {long}");
}

#[test]
fn the_rate_is_kept() {
    for (pattern, style) in patterns().flat_map(|pattern| STYLES.map(|style| (pattern, style))) {
        let mut spec = small(pattern);
        (spec.style, spec.seconds) = (style, 1.0);
        let truth = generate(&spec).unwrap().truth();
        let rate = truth.rows_of_rank.iter().sum::<u64>() as f64 / truth.duration_s;
        assert!((rate / spec.rate - 1.0).abs() < 0.05, "{pattern:?} {style:?}: {rate}");
        assert!((truth.duration_s - 1.0).abs() < 0.05, "{pattern:?} {style:?}: {}", truth.duration_s);
    }
}

#[test]
fn rates_that_cannot_be_are_refused_with_what_can() {
    let mut spec = small(Pattern::Halo2d);
    spec.rate = 1e12;
    let refused = generate(&spec).unwrap_err().to_string();
    assert!(refused.contains("more than this job can make"), "{refused}");
    spec.rate = 100.0;
    let refused = generate(&spec).unwrap_err().to_string();
    assert_eq!(refused, "a step makes 128 calls, and 100 calls a second are fewer than that in 0.4 seconds");
    spec.ranks = 1;
    assert_eq!(generate(&spec).unwrap_err().to_string(), "halo2d needs 2 to 1,048,576, not 1 ranks");
}

#[test]
fn recorded_and_lost_calls_are_those_that_were_made() {
    for (pattern, style) in patterns().flat_map(|pattern| STYLES.map(|style| (pattern, style))) {
        let mut spec = small(pattern);
        (spec.style, spec.seconds) = (style, 1.0);
        spec.disturb = vec!["lost-records".parse().unwrap()];
        let (read, truth) = (read(&spec), generate(&spec).unwrap().truth());
        let what = format!("{pattern:?} {style:?}");
        let recorded: u64 = read.calls.iter().map(|call| call.count).sum();
        assert!(truth.lost_calls > 0, "{what}");
        assert_eq!(read.losses.ring_full, truth.lost_calls, "{what}");
        assert_eq!(recorded + truth.lost_calls, truth.calls, "{what}");
        assert!(read.faults.is_empty(), "{what}: {:?}", read.faults);
        // What was sent to or by ranks that lost nothing is found, and all that was found was sent in this order.
        let quiet: HashSet<(Rank, Rank, u64, u64)> = {
            spec.disturb.clear();
            let undisturbed = support::read(&spec);
            undisturbed.messages.iter().map(|one| (one.src, one.dst, one.send_ns, one.recv_ns)).collect()
        };
        let pairs = read.messages.iter().map(|one| (one.src, one.dst, one.send_ns, one.recv_ns));
        let right = pairs.filter(|pair| quiet.contains(pair)).count();
        assert!(right >= read.messages.len() * 95 / 100, "{what}: {right} of {}", read.messages.len());
        assert!(right as f64 >= 0.7 * quiet.len() as f64, "{what}: {right} of {}", quiet.len());
    }
}

#[test]
fn clocks_that_drift_are_seen_by_their_round_trips() {
    let mut spec = small(Pattern::Halo2d);
    spec.seconds = 2.0;
    let quiet = read(&spec);
    spec.disturb = vec![Disturbance::DriftingClocks { offset_ns: 5_000_000, rate_ppm: 20.0 }];
    let read = read(&spec);
    assert!(read.faults.is_empty(), "{:?}", read.faults);
    assert_eq!((read.unmatched, read.uncertain), ((0, 0), 0));
    assert_eq!(read.calls.len(), quiet.calls.len());
    let starts = |read: &Read| {
        let mut all: Vec<_> = read.calls.iter().map(|call| (call.rank, call.start_ns)).collect();
        all.sort_unstable();
        all
    };
    let (read_back, true_ones) = (starts(&read), starts(&quiet));
    let wrong: Vec<u64> = read_back
        .iter()
        .zip(&true_ones)
        .map(|(read_back, true_one)| read_back.1.abs_diff(true_one.1))
        .collect();
    let most = *wrong.iter().max().unwrap();
    assert!(most > 100 && most < 60_000, "recorded times are off by up to {most} ns");
}

#[test]
fn scheduling_figures_say_what_was_taken() {
    let mut spec = small(Pattern::Halo2d);
    spec.seconds = 1.0;
    spec.disturb = vec![Disturbance::StolenCpu {
        share: 0.125,
        during: Stretch::WHOLE,
        period_ns: 20_000_000,
        taken: 0.25,
    }];
    let read = read(&spec);
    assert_sound(&read, "stolen");
    let last = |rank| *read.scheduling.iter().rfind(|figures| figures.rank == rank).unwrap();
    let robbed: Vec<u32> = (0..16).filter(|&rank| last(Rank(rank)).wait_ns > 0).collect();
    assert_eq!(robbed.len(), 2);
    for figures in robbed.iter().map(|&rank| last(Rank(rank))) {
        assert_eq!(figures.run_ns + figures.wait_ns, figures.at_ns);
        let share = figures.wait_ns as f64 / figures.at_ns as f64;
        assert!((0.2..0.3).contains(&share), "{share}");
    }
    assert!(read.scheduling.len() >= 16 * 10);
}

#[test]
fn placements_say_who_shares_a_node() {
    let mut spec = small(Pattern::Ring);
    spec.placement = Placement::Cyclic;
    spec.sizes = Sizes { min_bytes: 8, max_bytes: 8 };
    let read = read(&spec);
    assert!(read.messages.iter().all(|message| message.inter && message.bytes == 8));
    assert_eq!(read.node_of[&0], read.node_of[&4]);
    assert_ne!(read.node_of[&0], read.node_of[&1]);
}
