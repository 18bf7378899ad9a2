//! Where time went window by window, for ranges that somebody asks for.

use crate::by_rank::{Avoidable, ByRank, FIGURES, seconds};
use crate::findings::{By, Parts};
use crate::range_verdict::{RangeVerdict, SourcePart};
use mpiscope_diagnosis::RankShares;
use mpiscope_model::{Nanoseconds, Rank};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::ops::Range;

/// More windows are joined in pairs.
const MOST_WINDOWS: usize = 1_024;

/// All windows that were diagnosed, in order and without gaps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Where the first begins.
    pub from_ns: u64,
    /// How long each is.
    pub width_ns: u64,
    /// Where the last one that was diagnosed ends.
    pub to_ns: u64,
    /// Where time in MPI went.
    pub parts: Vec<Parts>,
    /// What could be avoided, in seconds of ranks.
    pub avoidable: Vec<Avoidable>,
    /// Which ranks causes come from, part by part, in order.
    #[serde(default)]
    pub sources: Vec<SourcePart>,
    /// When recording was off.
    #[serde(default)]
    pub off_ns: Vec<(u64, u64)>,
    /// The same by rank, in windows of their own.
    #[serde(default)]
    pub by_rank: ByRank,
    /// What each rank's time was spent on; kept in a file of its own.
    #[serde(skip)]
    pub shares: RankShares,
}

/// Where time went in a range.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RangeBudget {
    /// The range, as far as it was diagnosed.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// How long windows are. Of one that is cut by an end of the range a part counts.
    #[serde(default)]
    pub window_ns: u64,
    /// Where time in MPI went.
    pub parts: Parts,
    /// What each cause costs that could be avoided, the most first.
    pub causes: Vec<(String, f64)>,
    /// The verdict on it; null where nobody gives one.
    #[serde(default)]
    pub verdict: Option<RangeVerdict>,
}

/// Gives the verdict on parts of a run.
pub trait RangeVerdicts: Debug + Send + Sync {
    /// The verdict on a range by where its time went, of these ranges of ranks or of all ranks. None where the recording
    /// supports none.
    fn verdict(
        &self,
        of: &RangeBudget,
        course: &Course,
        ranks: Option<&[(Rank, Rank)]>,
    ) -> Option<RangeVerdict>;
}

impl Parts {
    /// A share of all of them.
    fn times(&self, share: f64) -> Self {
        Self::from_figures(self.figures().map(|figure| share * figure))
    }

    /// Adds those of another stretch.
    pub fn add(&mut self, other: &Self) {
        let By { compute, base, distance, excess, operation, other: rest, unknown, cpu_wait: cpu } =
            &other.waiting_by;
        let pairs = [
            (&mut self.waiting_s, other.waiting_s),
            (&mut self.base_s, other.base_s),
            (&mut self.distance_s, other.distance_s),
            (&mut self.excess_s, other.excess_s),
            (&mut self.operation_s, other.operation_s),
            (&mut self.other_s, other.other_s),
            (&mut self.unknown_s, other.unknown_s),
            (&mut self.total_s, other.total_s),
            (&mut self.distance_saved_s, other.distance_saved_s),
            (&mut self.excess_inside_s, other.excess_inside_s),
            (&mut self.cpu_wait_s, other.cpu_wait_s),
            (&mut self.waiting_by.compute, *compute),
            (&mut self.waiting_by.base, *base),
            (&mut self.waiting_by.distance, *distance),
            (&mut self.waiting_by.excess, *excess),
            (&mut self.waiting_by.operation, *operation),
            (&mut self.waiting_by.other, *rest),
            (&mut self.waiting_by.unknown, *unknown),
            (&mut self.waiting_by.cpu_wait, *cpu),
        ];
        pairs.into_iter().for_each(|(sum, part)| *sum += part);
    }
}

impl RangeBudget {
    /// Whether it is shorter than a window. Windows are divided evenly: of a part of one nothing is known by itself.
    #[must_use]
    pub fn is_within_a_window(&self) -> bool {
        self.to_ns.saturating_sub(self.from_ns) < self.window_ns
    }
}

impl Course {
    /// Few enough windows to keep and send; what they sum to stays the same.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        while self.parts.len() > MOST_WINDOWS {
            self.width_ns *= 2;
            self.parts = self.parts.chunks(2).map(sum).collect();
            self.avoidable = self.avoidable.chunks(2).map(costs).collect();
        }
        self
    }

    /// What is known of a range. Of a window that reaches beyond it, the part of its length that is in it counts.
    #[must_use]
    pub fn over(&self, range: &Range<Nanoseconds>, causes: [&str; 4]) -> RangeBudget {
        let count = self.parts.len().min(self.avoidable.len());
        let (mut parts, mut avoidable) = (Parts::default(), Avoidable::default());
        for window in touched(range, self.from_ns, self.width_ns, count) {
            let share = self.inside(range, window, (self.from_ns, self.width_ns)).unwrap_or(0.0);
            parts.add(&self.parts[window].times(share));
            avoidable.iter_mut().zip(self.avoidable[window]).for_each(|(sum, s)| *sum += share * s);
        }
        self.budget(range, self.width_ns, (parts, avoidable), causes)
    }

    /// The same of ranges of ranks, both ends included; windows are longer where there are many ranks.
    #[must_use]
    pub fn of_ranks(
        &self,
        range: &Range<Nanoseconds>,
        ranks: &[(Rank, Rank)],
        causes: [&str; 4],
    ) -> RangeBudget {
        self.budget(range, self.by_rank.width_ns, self.share(range, ranks).unwrap_or_default(), causes)
    }

    /// The share of some ranks in a range: of windows that reach beyond it, the part of their length that is in it. None
    /// where nothing of it was diagnosed.
    pub(crate) fn share(
        &self,
        range: &Range<Nanoseconds>,
        ranks: &[(Rank, Rank)],
    ) -> Option<(Parts, Avoidable)> {
        let by_rank = &self.by_rank;
        let (mut shares, mut is_diagnosed) = ([0.0; FIGURES], false);
        for window in self.rank_windows(range) {
            if let Some(share) = self.inside(range, window, (by_rank.from_ns, by_rank.width_ns)) {
                is_diagnosed = true;
                by_rank.add_share(window, ranks, share, &mut shares);
            }
        }
        is_diagnosed.then(|| seconds(&shares))
    }

    /// The windows by rank that touch a range.
    pub(crate) fn rank_windows(&self, range: &Range<Nanoseconds>) -> Range<usize> {
        let by_rank = &self.by_rank;
        touched(range, by_rank.from_ns, by_rank.width_ns, by_rank.windows())
    }

    /// When the first of these windows by rank begins and the last one ends.
    pub(crate) fn rank_times(&self, windows: &Range<usize>) -> (u64, u64) {
        let by_rank = &self.by_rank;
        let width_ns = by_rank.width_ns.max(1);
        let at = |window: usize| by_rank.from_ns.saturating_add((window as u64).saturating_mul(width_ns));
        (at(windows.start).min(self.to_ns), at(windows.end).min(self.to_ns))
    }

    /// Which part of a window is in a range; none where nothing is.
    fn inside(
        &self,
        range: &Range<Nanoseconds>,
        window: usize,
        (from_ns, width_ns): (u64, u64),
    ) -> Option<f64> {
        let width_ns = width_ns.max(1);
        let from_ns = from_ns.saturating_add((window as u64).saturating_mul(width_ns));
        let to_ns = from_ns.saturating_add(width_ns).min(self.to_ns);
        let inside_ns = to_ns.min(range.end).saturating_sub(from_ns.max(range.start));
        (inside_ns > 0).then(|| inside_ns as f64 / (to_ns - from_ns) as f64)
    }

    fn budget(
        &self,
        range: &Range<Nanoseconds>,
        window_ns: u64,
        (parts, costs): (Parts, Avoidable),
        causes: [&str; 4],
    ) -> RangeBudget {
        let mut causes: Vec<(String, f64)> = causes.into_iter().map(str::to_owned).zip(costs).collect();
        causes.sort_by(|one, other| other.1.total_cmp(&one.1));
        let from_ns = range.start.clamp(self.from_ns.min(self.to_ns), self.to_ns);
        let to_ns = range.end.clamp(from_ns, self.to_ns);
        // A run may be shorter than a window.
        let window_ns = window_ns.min(self.to_ns.saturating_sub(self.from_ns));
        RangeBudget { from_ns, to_ns, window_ns, parts, causes, verdict: None }
    }
}

/// The windows that touch a range, of a number of windows.
fn touched(range: &Range<Nanoseconds>, from_ns: u64, width_ns: u64, windows: usize) -> Range<usize> {
    let width_ns = width_ns.max(1);
    let first = ((range.start.saturating_sub(from_ns) / width_ns) as usize).min(windows);
    let last = (range.end.saturating_sub(from_ns).div_ceil(width_ns) as usize).clamp(first, windows);
    first..last
}

fn sum(parts: &[Parts]) -> Parts {
    let mut sum = Parts::default();
    parts.iter().for_each(|part| sum.add(part));
    sum
}

fn costs(windows: &[Avoidable]) -> Avoidable {
    let mut sum = Avoidable::default();
    windows.iter().flat_map(|window| window.iter().enumerate()).for_each(|(cause, s)| sum[cause] += s);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::rank_ranges;

    fn course(windows: usize) -> Course {
        let part = |at: usize| Parts { waiting_s: at as f64, total_s: at as f64, ..Parts::default() };
        Course {
            from_ns: 1_000,
            width_ns: 10,
            to_ns: 1_000 + 10 * windows as u64 - 3,
            parts: (0..windows).map(part).collect(),
            avoidable: (0..windows).map(|at| [0.0, at as f64, 0.5, 0.0]).collect(),
            ..Course::default()
        }
    }

    #[test]
    fn a_window_that_is_cut_counts_by_its_part() {
        let names = ["a", "b", "c", "d"];
        let found = course(5).over(&(1_015..1_031), names);
        assert_eq!((found.from_ns, found.to_ns, found.window_ns), (1_015, 1_031, 10));
        // Half of the second window, the third, and a tenth of the fourth.
        assert!((found.parts.waiting_s - (0.5 + 2.0 + 0.3)).abs() < 1e-12, "{found:?}");
        assert!((found.causes[0].1 - 2.8).abs() < 1e-12 && found.causes[0].0 == "b", "{found:?}");
        let all = course(5).over(&(0..u64::MAX), names);
        assert_eq!((all.from_ns, all.to_ns, all.parts.total_s), (1_000, 1_047, 10.0));
        // The last window is shorter, and parts that follow each other sum to the run.
        assert!((course(5).over(&(1_040..1_044), names).parts.total_s - 4.0 * 4.0 / 7.0).abs() < 1e-12);
        let pieces = [0..1_013, 1_013..1_029, 1_029..1_045, 1_045..2_000];
        let sum: f64 = pieces.iter().map(|piece| course(5).over(piece, names).parts.total_s).sum();
        assert!((sum - 10.0).abs() < 1e-12, "{sum}");
        for nothing in [0..1_000, 5_000..6_000, 1_020..1_020] {
            assert_eq!(course(5).over(&nothing, names).parts, Parts::default());
        }
        assert_eq!(Course::default().over(&(0..9), names).parts, Parts::default());
    }

    #[test]
    fn all_of_a_run_that_is_shorter_than_a_window_is_no_part_of_one() {
        let short = Course { to_ns: 1_006, ..course(1) };
        let within = |range: Range<Nanoseconds>| short.over(&range, [""; 4]).is_within_a_window();
        assert_eq!((within(0..u64::MAX), within(1_000..1_006), within(1_001..1_006)), (false, false, true));
        let long = course(5);
        assert_eq!(
            [1_019, 1_020].map(|to| long.over(&(1_010..to), [""; 4]).is_within_a_window()),
            [true, false]
        );
    }

    #[test]
    fn some_ranks_sum_to_all() {
        let mut course = course(6);
        let step = ByRank::step(6, 3);
        assert_eq!((step, ByRank::step(1_024, 64), ByRank::step(100, 100_000)), (1, 8, 100));
        course.by_rank = ByRank::new(1_000, 10, 3);
        for window in 0..6 {
            let cell = |rank: u32| {
                let base_s = f64::from(window * 10 + rank);
                let waiting_by = By { cpu_wait: -0.25, ..By::default() };
                let parts = Parts { base_s, waiting_by, excess_inside_s: 0.5, ..Parts::default() };
                (parts, [0.0, 0.0, f64::from(rank), 0.125])
            };
            course.by_rank.push((0..3).map(cell));
        }
        let names = ["a", "b", "c", "d"];
        let of = |ranks: &[(u32, u32)]| course.of_ranks(&(1_010..1_040), &rank_ranges(ranks), names);
        let (all, some, other) = (of(&[(0, 9)]), of(&[(0, 0), (2, 2)]), of(&[(1, 1)]));
        let mut sum = some.parts.clone();
        sum.add(&other.parts);
        assert_eq!(sum, all.parts);
        assert_eq!(
            (all.parts.base_s, all.parts.waiting_by.cpu_wait, all.parts.excess_inside_s),
            (189.0, -2.25, 4.5)
        );
        assert_eq!((all.from_ns, all.to_ns, &all.causes[0]), (1_010, 1_040, &("c".to_owned(), 9.0)));
        assert_eq!(some.causes[..2], [("c".to_owned(), 6.0), ("d".to_owned(), 0.75)]);
        // A rank in several ranges counts once.
        assert_eq!(of(&[(2, 2), (0, 1), (1, 2)]).parts, all.parts);
        assert_eq!(of(&[(3, 7)]).parts, Parts::default());
        assert_eq!(of(&[]).parts, Parts::default());
    }

    #[test]
    fn many_windows_become_fewer_and_lose_nothing() {
        let many = course(3_001);
        let (before, few) = (many.over(&(0..u64::MAX), [""; 4]), many.bounded());
        assert!(few.parts.len() <= MOST_WINDOWS && few.width_ns == 40);
        let after = few.over(&(0..u64::MAX), [""; 4]);
        assert_eq!(RangeBudget { window_ns: before.window_ns, ..after }, before);
    }
}
