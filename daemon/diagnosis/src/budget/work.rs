//! How much each rank computed, window by window: which ranks had more to do than others, and what balancing would
//! save.

use mpiscope_model::{Function, Nanoseconds, Rank};

/// The most numbers and the most windows that are kept; beyond either, windows are joined in pairs.
const MOST_CELLS: usize = 1 << 21;
const MOST_WINDOWS: u64 = 1 << 19;
/// Fewer are kept of few intervals, however far apart these are: this number, or some for each interval.
const LEAST_WINDOWS: u64 = 1 << 14;
const WINDOWS_PER_INTERVAL: u64 = 4;
/// Functions of a rank that are counted separately.
const MOST_FUNCTIONS: usize = 8;
/// Windows on either side of one that decide who has more to do in it.
const NEAR: usize = 1;
/// Past windows that decide it while the run is going on.
const BEFORE: usize = 8;
/// A rank that computes less than this share of what ranks usually do is there for something else.
const IDLE: f64 = 0.25;
/// The excess before some functions is the whole one if it is off by less than this part of it.
const NEAR_ENOUGH: f64 = 0.25;

/// What a rank computed before its calls of a function.
type Before = (Function, u64);

/// What was computed, window by window.
#[derive(Debug, Clone)]
pub(super) struct Work {
    width_ns: u64,
    /// By window and rank, from the first window on. That is not the first of the run in what a shard adds up in a window.
    windows: Vec<Vec<u64>>,
    first: Option<usize>,
    cells: usize,
    /// How often something was added, and how many windows may be kept since one was closed last.
    intervals: u64,
    most_windows: u64,
    /// By rank.
    before: Vec<Vec<Before>>,
}

mpiscope_model::numbers! { Work { width_ns, windows, first, cells, intervals, most_windows, before } }

impl Work {
    pub(super) fn new(width_ns: u64) -> Self {
        Self {
            width_ns: width_ns.max(1),
            windows: Vec::new(),
            first: Some(0),
            cells: 0,
            intervals: 0,
            most_windows: LEAST_WINDOWS,
            before: Vec::new(),
        }
    }

    /// Calls that end before a time will be settled: windows become longer here and not while they are, or parts would be
    /// rounded otherwise in another order.
    pub(super) fn reach(&mut self, until_ns: Nanoseconds) {
        while until_ns / self.width_ns >= self.most_windows {
            self.join();
        }
    }

    /// A window is over: more windows may be kept where there were more intervals.
    pub(super) fn close(&mut self) {
        while self.cells > MOST_CELLS && self.windows.len() > 1 {
            self.join();
        }
        self.most_windows =
            self.intervals.saturating_mul(WINDOWS_PER_INTERVAL).clamp(LEAST_WINDOWS, MOST_WINDOWS);
    }

    /// Windows are as long, and as many may be kept, as in another one.
    pub(super) fn follow(&mut self, (width_ns, most_windows): (u64, u64)) {
        while self.width_ns < width_ns {
            self.join();
        }
        self.most_windows = most_windows;
    }

    /// How long windows are, and how many may be kept.
    pub(super) fn limits(&self) -> (u64, u64) {
        (self.width_ns, self.most_windows)
    }

    /// An empty one with windows as long. It knows which functions of a rank are counted.
    pub(super) fn emptied(&self) -> Self {
        let known = |of: &Vec<Before>| of.iter().map(|&(function, _)| (function, 0)).collect();
        let before = self.before.iter().map(known).collect();
        Self { first: None, before, most_windows: self.most_windows, ..Self::new(self.width_ns) }
    }

    /// Takes in what another one has taken in since it was emptied last. No rank is in both.
    pub(super) fn merge(&mut self, other: &Self) {
        self.intervals += other.intervals;
        // Windows without work count, too.
        for (at, window) in (other.first.unwrap_or_default()..).zip(&other.windows) {
            let cells = window.iter().enumerate().rev();
            cells.for_each(|(rank, ns)| *self.cell(at, rank) += ns);
        }
        for (rank, theirs) in other.before.iter().enumerate() {
            theirs.iter().for_each(|&(function, ns)| self.add_before(rank, function, ns));
        }
    }

    fn add_before(&mut self, rank: usize, function: Function, worked_ns: u64) {
        if self.before.len() <= rank {
            self.before.resize(rank + 1, Vec::new());
        }
        let before = &mut self.before[rank];
        if let Some((_, ns)) = before.iter_mut().find(|(of, _)| *of == function) {
            *ns += worked_ns;
        } else if before.len() < MOST_FUNCTIONS {
            before.push((function, worked_ns));
        }
    }

    /// A rank computed for so much of the time until it called a function.
    pub(super) fn add(
        &mut self,
        rank: Rank,
        from_ns: Nanoseconds,
        to_ns: Nanoseconds,
        worked_ns: u64,
        next: Function,
    ) {
        let rank = rank.index();
        self.add_before(rank, next, worked_ns);
        let whole_ns = to_ns.saturating_sub(from_ns).max(1);
        self.intervals += 1;
        let mut at_ns = from_ns;
        while at_ns < to_ns {
            let at = (at_ns / self.width_ns) as usize;
            let end_ns = ((at as u64 + 1) * self.width_ns).min(to_ns);
            let part_ns = if end_ns - at_ns == whole_ns {
                worked_ns
            } else {
                (u128::from(worked_ns) * u128::from(end_ns - at_ns) / u128::from(whole_ns)) as u64
            };
            *self.cell(at, rank) += part_ns;
            at_ns = end_ns;
        }
    }

    fn cell(&mut self, at: usize, rank: usize) -> &mut u64 {
        let first = *self.first.get_or_insert(at);
        if at < first {
            self.windows.splice(..0, std::iter::repeat_n(Vec::new(), first - at));
            self.first = Some(at);
        }
        let at = at - first.min(at);
        if self.windows.len() <= at {
            self.windows.resize(at + 1, Vec::new());
        }
        let window = &mut self.windows[at];
        if window.len() <= rank {
            self.cells += rank + 1 - window.len();
            window.resize(rank + 1, 0);
        }
        &mut window[rank]
    }

    #[cold]
    fn join(&mut self) {
        debug_assert!(
            self.first == Some(0) || self.windows.is_empty(),
            "it only joins what begins with the run"
        );
        self.width_ns *= 2;
        let pairs = self.windows.chunks(2).map(|pair| {
            let mut joined = pair[0].clone();
            for other in &pair[1..] {
                joined.resize(joined.len().max(other.len()), 0);
                joined.iter_mut().zip(other).for_each(|(ours, theirs)| *ours += theirs);
            }
            joined
        });
        self.windows = pairs.collect();
        self.cells = self.windows.iter().map(Vec::len).sum();
    }

    /// Who had more to do, and when.
    pub(super) fn assess(&self) -> Uneven {
        let near = |at: usize| at.saturating_sub(NEAR)..(at + NEAR + 1).min(self.windows.len());
        let windows = (0..self.windows.len()).map(|at| self.over(near(at))).collect();
        Uneven { width_ns: self.width_ns, windows, lasting: self.lasting() }
    }

    /// The same from past windows, for the next window.
    pub(super) fn assess_now(&self, until_ns: Nanoseconds) -> Uneven {
        let to = ((until_ns / self.width_ns) as usize).min(self.windows.len());
        let window = self.over(to.saturating_sub(BEFORE)..to);
        Uneven { width_ns: u64::MAX, windows: vec![window], lasting: self.lasting() }
    }

    /// By how much each rank had more to do than the mean in some windows, for what it did.
    fn over(&self, windows: std::ops::Range<usize>) -> Vec<f32> {
        let mut own = vec![0; self.before.len()];
        for window in &self.windows[windows] {
            own.iter_mut().zip(window).for_each(|(own, ns)| *own += ns);
        }
        more_than_mean(&own)
    }

    fn lasting(&self) -> Vec<Lasting> {
        let own: Vec<u64> = self.before.iter().map(|of| of.iter().map(|(_, ns)| ns).sum()).collect();
        let more = more_than_mean(&own);
        let mut functions: Vec<Before> = Vec::new();
        for &(function, ns) in self.before.iter().flatten() {
            match functions.iter_mut().find(|(of, _)| *of == function) {
                Some((_, sum)) => *sum += ns,
                None => functions.push((function, ns)),
            }
        }
        let ranks = self.before.len().max(1) as f64;
        let mean = |function| {
            functions.iter().find(|(of, _)| *of == function).map_or(0.0, |(_, sum)| *sum as f64 / ranks)
        };
        let of_rank = |((before, more), own): ((&Vec<Before>, &f32), &u64)| {
            if *more <= 0.0 {
                return Lasting::default();
            }
            let own = *own as f64;
            let over: Vec<f64> =
                before.iter().map(|&(function, ns)| (ns as f64 - mean(function)).max(0.0)).collect();
            let chosen = where_it_lies(&over, f64::from(*more) * own);
            // The excess of the computing before a function, for each unit of the whole excess.
            let weight = |at: usize| {
                let (function, ns) = before[at];
                let part = |sum: f64, set: u32| if set >> at & 1 == 1 { over[at] / sum } else { 0.0 };
                (function, chosen.map_or(1.0, |(set, sum)| part(sum, set) * own / ns.max(1) as f64) as f32)
            };
            Lasting { more: *more, weights: (0..before.len()).map(weight).collect() }
        };
        self.before.iter().zip(&more).zip(&own).map(of_rank).collect()
    }
}

/// What a rank has more to do than the mean, for what it does. Who does hardly anything is there for something else.
fn more_than_mean(own: &[u64]) -> Vec<f32> {
    let mut sorted: Vec<u64> = own.iter().copied().filter(|&ns| ns > 0).collect();
    sorted.sort_unstable();
    let Some(&median) = sorted.get(sorted.len() / 2) else { return vec![0.0; own.len()] };
    let counts = |ns: u64| ns as f64 >= IDLE * median as f64;
    let (sum, count) = own
        .iter()
        .filter(|&&ns| counts(ns))
        .fold((0.0, 0.0), |(sum, count), &ns| (sum + ns as f64, count + 1.0));
    let mean: f64 = sum / f64::max(count, 1.0);
    own.iter().map(|&ns| if counts(ns) && ns > 0 { (1.0 - mean / ns as f64) as f32 } else { 0.0 }).collect()
}

/// The functions before which a rank has too much to compute, as a set of bits, and its excess there over other ranks.
/// A rank with another order of work has more before one function and less before another. Therefore the set whose sum
/// comes nearest to the whole excess is taken; none where no set comes near.
fn where_it_lies(over: &[f64], too_much: f64) -> Option<(u32, f64)> {
    let counts = (0..over.len()).filter(|&at| over[at] > 0.0).fold(0, |all, at| all | 1_u32 << at);
    let sum = |set: u32| (0..over.len()).filter(|at| set >> at & 1 == 1).map(|at| over[at]).sum::<f64>();
    let sets = (1..1_u32 << over.len()).filter(|set| set & !counts == 0).map(|set| (set, sum(set)));
    let off = |of: &(u32, f64)| (of.1 - too_much).abs();
    sets.min_by(|one, other| off(one).total_cmp(&off(other))).filter(|of| off(of) < NEAR_ENOUGH * too_much)
}

/// What is so over the whole run.
#[derive(Debug, Clone, Default)]
struct Lasting {
    more: f32,
    /// By function, how much of that lies before its calls.
    weights: Vec<(Function, f32)>,
}

mpiscope_model::numbers! { Lasting { more, weights } }

/// Who had more to do than others, and when.
#[derive(Debug, Clone, Default)]
pub(super) struct Uneven {
    width_ns: u64,
    /// By window and rank: the share of what it did.
    windows: Vec<Vec<f32>>,
    lasting: Vec<Lasting>,
}

mpiscope_model::numbers! { Uneven { width_ns, windows, lasting } }

impl Uneven {
    /// The share of a time of computing that balanced work would save a rank; negative if the rank would have more to
    /// do.
    pub(super) fn share(&self, rank: Rank, from_ns: Nanoseconds, to_ns: Nanoseconds, next: Function) -> f64 {
        let rank = rank.index();
        if self.windows.is_empty() {
            return 0.0;
        }
        let at = ((from_ns / 2 + to_ns / 2) / self.width_ns.max(1)) as usize;
        let window = &self.windows[at.min(self.windows.len() - 1)];
        let more = f64::from(window.get(rank).copied().unwrap_or_default());
        let Some(lasting) = self.lasting.get(rank).filter(|_| more > 0.0) else { return more };
        // What is always too much lies before certain calls; what comes and goes lies anywhere.
        let always = more.min(f64::from(lasting.more)).max(0.0);
        let weight = lasting.weights.iter().find(|(of, _)| *of == next).map_or(0.0, |(_, weight)| *weight);
        (always * f64::from(weight) + more - always).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEND: Function = 10;
    const RECEIVE: Function = 20;

    #[test]
    fn who_has_half_as_much_again_to_do_would_do_the_mean() {
        let mut work = Work::new(1000);
        for rank in 0..4 {
            work.add(Rank(rank), 0, 3000, if rank == 1 { 900 } else { 600 }, SEND);
        }
        let uneven = work.assess();
        let shares: Vec<f64> = (0..4).map(|rank| uneven.share(Rank(rank), 1200, 1300, SEND)).collect();
        assert!((shares[1] - 0.25).abs() < 1e-6 && (shares[0] + 0.125).abs() < 1e-6, "{shares:?}");
    }

    #[test]
    fn a_root_that_works_between_receives_has_too_much_there() {
        let mut work = Work::new(1000);
        for rank in 0..10 {
            work.add(Rank(rank), 0, 1000, 500, SEND);
        }
        work.add(Rank(0), 0, 1000, 200, RECEIVE);
        let uneven = work.assess();
        assert!(uneven.share(Rank(0), 0, 10, SEND).abs() < 1e-6);
        assert!((uneven.share(Rank(0), 0, 10, RECEIVE) - 0.9).abs() < 1e-6);
    }

    #[test]
    fn who_does_the_same_in_another_order_has_too_much_where_it_adds_up() {
        let mut work = Work::new(1000);
        // The first computes half before receiving, which is no more than others do before sending; what it does more comes
        // before a third function.
        const REDUCE: Function = 30;
        for rank in 0..10 {
            work.add(Rank(rank), 0, 1000, if rank == 0 { 400 } else { 800 }, SEND);
        }
        work.add(Rank(0), 0, 1000, 400, RECEIVE);
        work.add(Rank(0), 0, 1000, 300, REDUCE);
        let uneven = work.assess();
        let share = |next| uneven.share(Rank(0), 0, 1000, next);
        assert!(share(SEND).abs() < 1e-6 && share(RECEIVE).abs() < 1e-6, "{}", share(RECEIVE));
        assert!((share(REDUCE) - 0.9).abs() < 1e-6, "{}", share(REDUCE));
    }

    #[test]
    fn windows_follow_intervals_and_not_the_time_between_them() {
        const LONG_NS: u64 = 12 * 365 * 86_400 * 1_000_000_000;
        let mut work = Work::new(1_000_000);
        for at in 0..8_u64 {
            let from_ns = at * LONG_NS;
            work.reach(from_ns + LONG_NS);
            work.add(Rank((at % 2) as u32), from_ns, from_ns + LONG_NS, 1_000, SEND);
            assert!(work.windows.len() as u64 <= LEAST_WINDOWS, "{} windows", work.windows.len());
        }
        let sum: u64 = work.windows.iter().flatten().sum();
        assert!(sum <= 8_000 && work.windows.len() as u64 > LEAST_WINDOWS / 2, "{}", work.windows.len());
        // Where there are many intervals, windows are as short as before.
        let mut work = Work::new(1_000);
        for at in 0..20_000_u64 {
            work.reach(at * 1_000 + 1_000);
            work.add(Rank(0), at * 1_000, at * 1_000 + 1_000, 10, SEND);
            work.close();
        }
        assert_eq!((work.windows.len(), work.width_ns), (20_000, 1_000));
    }

    #[test]
    fn what_is_too_much_everywhere_lies_everywhere() {
        assert_eq!(where_it_lies(&[500.0, 0.0], 120.0), None);
        assert_eq!(where_it_lies(&[100.0, 500.0], 120.0), Some((1, 100.0)));
        assert_eq!(where_it_lies(&[100.0, 0.0, 520.0], 600.0), Some((5, 620.0)));
    }

    #[test]
    fn what_wanders_is_seen_window_by_window() {
        let mut work = Work::new(1000);
        for window in 0..12_u64 {
            for rank in 0..3 {
                let more = if u64::from(rank) == window / 4 { 300 } else { 0 };
                work.add(Rank(rank), window * 1000, window * 1000 + 1000, 600 + more, SEND);
            }
        }
        let uneven = work.assess();
        let at = |rank, window: u64| uneven.share(rank, window * 1000, window * 1000 + 1000, SEND);
        assert!((at(Rank(1), 5) - 2.0 / 9.0).abs() < 1e-6 && (at(Rank(1), 1) + 1.0 / 6.0).abs() < 1e-6);
        assert!(work.assess_now(12_000).share(Rank(0), 12_100, 12_200, SEND) < 0.0);
    }

    #[test]
    fn who_does_nothing_but_deal_gets_nothing_to_do() {
        let mut work = Work::new(1000);
        (0..4).for_each(|rank| work.add(Rank(rank), 0, 1000, if rank == 0 { 10 } else { 900 }, SEND));
        let uneven = work.assess();
        assert!((0..4).all(|rank| uneven.share(Rank(rank), 0, 1000, SEND).abs() < 1e-6));
    }

    #[test]
    fn windows_are_few_however_long_a_run_is() {
        let mut work = Work::new(100);
        let long_ns = 1 << 62;
        work.add(Rank(0), 0, 10, 10, SEND);
        work.reach(long_ns + 10);
        work.add(Rank(0), long_ns, long_ns + 10, 10, SEND);
        work.add(Rank(1), 0, long_ns, long_ns, SEND);
        assert!(work.windows.len() as u64 <= MOST_WINDOWS, "{} windows", work.windows.len());
        let sum = |rank: usize| work.windows.iter().filter_map(|window| window.get(rank)).sum::<u64>();
        assert_eq!(sum(0), 20);
        assert!(long_ns - sum(1) <= MOST_WINDOWS, "no window loses more than a nanosecond");
    }

    #[test]
    fn memory_is_bounded() {
        let mut work = Work::new(1);
        (0..3000).for_each(|at| work.add(Rank(999), at, at + 1, 1, SEND));
        work.close();
        assert!(work.cells <= MOST_CELLS + 1000 && work.width_ns == 2);
        assert_eq!(work.windows.iter().map(|window| window[999]).sum::<u64>(), 3000);
    }
}
