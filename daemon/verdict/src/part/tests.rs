use super::*;
use crate::simulated::simulated;
use mpiscope_feed::exchange::rank_ranges;
use mpiscope_synth::{Pattern, Spec, Style};

const RANKS: u32 = 16;

struct Diagnosed {
    verdicts: PartVerdicts,
    whole: Diagnosis,
    course: Course,
}

impl Diagnosed {
    fn new(pattern: Pattern, disturbed: &str) -> Self {
        let mut spec = Spec::new(pattern, RANKS, 6.0, 20_000.0);
        (spec.nodes, spec.style) = (2, Style::Blocking);
        spec.disturb.push(disturbed.parse().unwrap());
        let (whole, course) = simulated(&spec);
        Self { verdicts: PartVerdicts::new(&whole, RANKS), whole, course }
    }

    /// The verdict on a range in seconds, of some ranks or all.
    fn on(&self, from_s: f64, to_s: f64, ranks: Option<&[(u32, u32)]>) -> RangeVerdict {
        self.maybe_on(from_s, to_s, ranks).unwrap()
    }

    fn maybe_on(&self, from_s: f64, to_s: f64, ranks: Option<&[(u32, u32)]>) -> Option<RangeVerdict> {
        let range_ns = (from_s * 1e9) as u64..(to_s * 1e9) as u64;
        let ranks = ranks.map(rank_ranges);
        let ranks = ranks.as_deref();
        let of = match ranks {
            Some(ranks) => self.course.of_ranks(&range_ns, ranks, Blame::WORDS),
            None => self.course.over(&range_ns, Blame::WORDS),
        };
        self.verdicts.verdict(&of, &self.course, ranks)
    }

    fn until_s(&self) -> f64 {
        self.course.to_ns as f64 / 1e9
    }
}

#[test]
fn all_of_a_run_has_the_verdict_of_the_run() {
    // words: allow names of the simulator's disturbances
    for disturbed in ["imbalance", "stolen-cpu", "background-traffic", "bad-mapping"] {
        let run = Diagnosed::new(Pattern::Ring, disturbed);
        let (all, whole) = (run.on(0.0, run.until_s(), None), &run.whole.verdict);
        assert_eq!(all.cause, whole.cause, "{disturbed}: {all:?}");
        let apart_s = (all.avoidable_wall_s - whole.avoidable_wall_s).abs();
        assert!(apart_s <= 0.01 * whole.avoidable_wall_s, "{all:?} {whole:?}");
        assert!((all.confidence - whole.confidence).abs() < 0.01, "{all:?} {whole:?}");
        assert!((all.share - whole.share).abs() < 0.01, "{all:?} {whole:?}");
        // The same of all ranks, one by one.
        let every = run.on(0.0, run.until_s(), Some(&[(0, 9), (4, RANKS)]));
        assert_eq!(every.cause, all.cause);
        assert!((every.avoidable_wall_s - all.avoidable_wall_s).abs() < 1e-3, "{every:?} {all:?}");
    }
}

#[test]
fn less_than_a_window_has_no_verdict_of_its_own() {
    let run = Diagnosed::new(Pattern::Ring, "imbalance");
    let width_s = run.course.width_ns as f64 / 1e9;
    assert_eq!(run.maybe_on(1.0, 1.0 + 0.9 * width_s, None), None);
    assert_eq!(run.on(1.0, 1.0 + 1.1 * width_s, None).cause, "pattern");
}

#[test]
fn parts_that_follow_each_other_sum_to_the_run() {
    let run = Diagnosed::new(Pattern::Ring, "imbalance");
    // In the middle of a window.
    let middle_s = (run.course.width_ns as f64 * (run.course.parts.len() as f64 / 3.0).floor() + 3e7) / 1e9;
    let (first, second) = (run.on(0.0, middle_s, None), run.on(middle_s, run.until_s(), None));
    let sum_s = first.avoidable_wall_s + second.avoidable_wall_s;
    assert_eq!((first.cause.as_str(), second.cause.as_str()), ("pattern", "pattern"));
    let whole_s = run.whole.verdict.avoidable_wall_s;
    assert!((sum_s - whole_s).abs() < 0.01 * whole_s, "{sum_s} {whole_s}");
}

#[test]
fn a_quiet_part_of_a_disturbed_run_has_nothing_to_avoid() {
    // words: allow the name of one of the simulator's disturbances
    let run = Diagnosed::new(Pattern::Halo2d, "background-traffic");
    let of = run.whole.disturbances.iter().find(|of| of.cause == "background").unwrap();
    assert!(of.from_s > 1.0 && of.to_s < run.until_s() - 1.0, "{of:?}");
    let (before, within) = (run.on(0.0, of.from_s - 0.3, None), run.on(of.from_s, of.to_s, None));
    assert_eq!(
        (before.cause.as_str(), within.cause.as_str()),
        ("none", "background"),
        "{before:?} {within:?}"
    );
    assert!(before.sentence.starts_with("No avoidable time"), "{}", before.sentence);
    assert!(within.share > run.whole.verdict.share, "{within:?}");
    // All of the part is disturbed: there is no time to name.
    assert!(!within.sentence.contains("since") && !within.sentence.contains("until"), "{}", within.sentence);
    let around = run.on(of.from_s - 0.5, of.to_s, None);
    assert!(around.sentence.contains(", since "), "{}", around.sentence);
}

#[test]
fn the_rank_to_blame_is_that_of_the_part() {
    let run = Diagnosed::new(Pattern::Ring, "drifting-imbalance");
    let third_s = run.until_s() / 5.0;
    let (first, last) = (run.on(0.0, third_s, None), run.on(run.until_s() - third_s, run.until_s(), None));
    assert_eq!((first.cause.as_str(), last.cause.as_str()), ("pattern", "pattern"));
    assert!(!first.ranks.is_empty() && !last.ranks.is_empty(), "{first:?} {last:?}");
    assert_ne!(first.ranks, last.ranks);
    for of in [&first, &last] {
        assert!(of.sentence.contains(&ranges(&of.ranks)) && !of.details.is_empty(), "{of:?}");
        // What helps in the part alone does not help where the work moves on.
        assert!(of.actions[0].starts_with("Rebalance during the run"), "{of:?}");
    }
}

#[test]
fn without_a_verdict_on_the_run_there_is_none_on_a_part() {
    let mut run = Diagnosed::new(Pattern::Ring, "imbalance");
    let of = run.course.over(&(0..1_000_000_000), Blame::WORDS);
    assert!(
        run.verdicts.verdict(&of, &run.course, Some(&[(Rank(RANKS), Rank(99))])).is_none(),
        "no such rank"
    );
    let nothing = run.course.over(&(0..0), Blame::WORDS);
    assert!(run.verdicts.verdict(&nothing, &run.course, None).is_none());
    run.whole.verdict.lost_share = 0.5;
    assert!(PartVerdicts::new(&run.whole, RANKS).verdict(&of, &run.course, None).is_none());
}

#[test]
fn time_in_which_recording_was_off_is_no_part_of_it() {
    let mut run = Diagnosed::new(Pattern::Ring, "imbalance");
    let with = run.on(1.0, 3.0, None);
    run.course.off_ns = vec![(0, 1_500_000_000), (2_500_000_000, 9_000_000_000)];
    let without = run.on(1.0, 3.0, None);
    assert!((without.share / with.share - 2.0).abs() < 0.1, "{with:?} {without:?}");
    assert!((without.avoidable_wall_s - with.avoidable_wall_s).abs() < 1e-6);
}
