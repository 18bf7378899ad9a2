//! The main loop of a program, found from the calls of one rank: which call marks a turn, and when each turn began.

use mpiscope_model::{Call, Function, Nanoseconds, Site};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::ops::Range;

/// Turns differ in length by less than this part of their mean, and they cover that part of the range.
const MOST_SPREAD: f64 = 0.5;
const LEAST_COVER: f64 = 0.5;
/// One of this number of turns may be longer than the others by any time.
const PAUSES: usize = 16;
/// Calls that are kept to find the loop. The functions called most often go first: they are within the loop.
const MOST_CALLS: usize = 1 << 22;

/// A call marks the turns of a loop only if it came more often than this.
pub const LEAST_TURNS: usize = 3;

/// What is called, and from where.
pub type LoopMarker = (Function, Option<Site>);

/// The loop that all others are within.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MainLoop {
    /// The call that marks a turn.
    pub marker: LoopMarker,
    /// When each turn began, in order.
    pub starts_ns: Vec<Nanoseconds>,
}

/// Collects when one rank made its calls. In any order.
#[derive(Debug, Clone, Default)]
pub struct LoopFinder {
    starts: BTreeMap<LoopMarker, Vec<Nanoseconds>>,
    kept: usize,
    dropped: FxHashSet<LoopMarker>,
}

impl LoopFinder {
    /// Takes in a call of the rank.
    pub fn add(&mut self, call: &Call) {
        let marker = (call.function, call.site);
        if self.dropped.contains(&marker) {
            return;
        }
        self.starts.entry(marker).or_default().push(call.start_ns);
        self.kept += 1;
        if self.kept > MOST_CALLS {
            self.drop_most_frequent();
        }
    }

    fn drop_most_frequent(&mut self) {
        let most = self.starts.iter().max_by_key(|(_, starts)| starts.len()).map(|(marker, _)| *marker);
        if let Some(marker) = most {
            self.kept -= self.starts.remove(&marker).map_or(0, |starts| starts.len());
            self.dropped.insert(marker);
        }
    }

    /// All that was called and is kept.
    pub fn markers(&self) -> impl Iterator<Item = LoopMarker> {
        self.starts.keys().copied()
    }

    /// When the calls with these markers began, in order.
    #[must_use]
    pub fn starts(&self, is_marker: impl Fn(LoopMarker) -> bool) -> Vec<Nanoseconds> {
        let matching = self.starts.iter().filter(|(marker, _)| is_marker(**marker));
        let mut starts: Vec<_> = matching.flat_map(|(_, starts)| starts.iter().copied()).collect();
        starts.sort_unstable();
        starts
    }

    /// The main loop in a range, if the calls show one. Of the calls that come in equal distances over most of the range,
    /// the one that comes least often marks the loop that all others are within.
    #[must_use]
    pub fn find(&self, range_ns: &Range<Nanoseconds>) -> Option<MainLoop> {
        let length_ns = range_ns.end.saturating_sub(range_ns.start) as f64;
        let loops = self.starts.iter().filter_map(|(marker, starts)| {
            let mut starts_ns = starts.clone();
            starts_ns.sort_unstable();
            is_loop(&starts_ns, length_ns).then_some(MainLoop { marker: *marker, starts_ns })
        });
        loops.min_by_key(|found| (found.starts_ns.len(), found.starts_ns[0]))
    }
}

fn is_loop(starts_ns: &[Nanoseconds], length_ns: f64) -> bool {
    let mut gaps: Vec<f64> = starts_ns.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let covered_ns: f64 = gaps.iter().sum();
    gaps.sort_unstable_by(f64::total_cmp);
    // A few long pauses are no other loop.
    gaps.truncate(gaps.len() - gaps.len() / PAUSES);
    let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
    let mut off: Vec<f64> = gaps.iter().map(|gap| (gap - mean).abs()).collect();
    off.sort_unstable_by(f64::total_cmp);
    let spread = off.get(off.len() / 2).copied().unwrap_or(f64::MAX);
    starts_ns.len() > LEAST_TURNS && spread <= MOST_SPREAD * mean && covered_ns >= LEAST_COVER * length_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: Function, start_ns: u64) -> Call {
        Call { function, start_ns, end_ns: start_ns + 1, site: Some(Site(7)), ..Call::default() }
    }

    fn finder(calls: &[Call]) -> LoopFinder {
        let mut finder = LoopFinder::default();
        calls.iter().for_each(|call| finder.add(call));
        finder
    }

    #[test]
    fn the_main_loop_is_what_comes_regularly_and_least_often() {
        let mut calls = vec![call(1, 5)];
        for turn in 0..40 {
            let at = 100 + turn * 100 + turn % 3;
            calls.extend([call(2, at), call(3, at + 10), call(3, at + 40), call(3, at + 70)]);
        }
        calls.extend([call(4, 300), call(4, 310), call(4, 320), call(4, 330)]);
        let found = finder(&calls).find(&(0..4_200)).unwrap();
        assert_eq!((found.marker, found.starts_ns.len()), ((2, Some(Site(7))), 40));
        assert_eq!((found.starts_ns[0], found.starts_ns[39]), (100, 4_000));
        calls.reverse();
        assert_eq!(finder(&calls).find(&(0..4_200)), Some(found));
    }

    #[test]
    fn few_or_irregular_calls_are_no_loop() {
        assert_eq!(finder(&[call(1, 120), call(2, 900)]).find(&(100..1_700)), None);
        let burst: Vec<Call> = [0, 1, 2, 3, 4, 1_000].map(|at| call(1, at)).to_vec();
        assert_eq!(finder(&burst).find(&(0..1_000)), None);
        let early: Vec<Call> = (0..10).map(|at| call(1, at)).collect();
        assert_eq!((finder(&early).find(&(0..1_000)), finder(&early).find(&(0..10)).is_some()), (None, true));
    }

    #[test]
    fn with_too_many_calls_the_most_frequent_go() {
        let mut finder = LoopFinder::default();
        for at in 0..MOST_CALLS as u64 {
            finder.add(&call(3, at));
            if at % 100_000 == 0 {
                finder.add(&call(2, at));
            }
        }
        assert_eq!(finder.kept, MOST_CALLS / 100_000 + 1);
        finder.add(&call(3, 7));
        assert!(finder.starts(|marker| marker.0 == 3).is_empty());
        assert_eq!(finder.find(&(0..MOST_CALLS as u64)).map(|found| found.marker), Some((2, Some(Site(7)))));
    }

    #[test]
    fn starts_of_several_call_sites_are_in_order() {
        let other = |start_ns| Call { site: Some(Site(8)), ..call(1, start_ns) };
        let finder = finder(&[call(1, 30), other(20), call(2, 25), call(1, 10)]);
        assert_eq!(finder.starts(|(function, _)| function == 1), [10, 20, 30]);
    }

    #[test]
    fn a_few_long_pauses_are_no_other_loop_and_bursts_are_none() {
        let times = |gaps: &[u64]| -> Vec<Call> {
            let starts = gaps.iter().scan(0, |at, gap| {
                *at += gap;
                Some(*at)
            });
            starts.map(|start| call(5, start)).collect()
        };
        let mut gaps = vec![10; 60];
        (gaps[20], gaps[41], gaps[50]) = (400, 700, 300);
        assert!(finder(&times(&gaps)).find(&(0..2_000)).is_some());
        // Ten at once, and then for a long time none.
        let bursts: Vec<u64> = (0..60).map(|at| if at % 10 == 0 { 300 } else { 1 }).collect();
        assert!(finder(&times(&bursts)).find(&(0..1_900)).is_none());
    }
}
