//! Two runs on one clock: which moments both have, and the time of one run as time of the other.

use mpiscope_model::Nanoseconds;
use std::collections::BTreeMap;

/// A moment that is found again in another run, by its key.
pub type Anchor<K> = (K, Nanoseconds);

/// Which anchors of two runs are the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alignment {
    /// Indices of the anchors in A and in B, in the order of both runs.
    pub pairs: Vec<(usize, usize)>,
    /// Anchors that both have, but in another order than the others.
    pub crossed: usize,
    /// The times of B on the clock of A.
    pub map: TimeMap,
}

impl Alignment {
    /// Matches anchors by key. Keys are unique in each run. The longest sequence that is in order in both runs counts.
    #[must_use]
    pub fn new<K: Ord>(a: &[Anchor<K>], b: &[Anchor<K>]) -> Self {
        let in_b: BTreeMap<&K, usize> = b.iter().enumerate().map(|(at, (key, _))| (key, at)).collect();
        let common = a.iter().enumerate().filter_map(|(at, (key, _))| Some((at, *in_b.get(key)?)));
        let mut common: Vec<(usize, usize)> = common.collect();
        // Of anchors at one time of A, at most one is part of a sequence that rises in B.
        common.sort_by_key(|&(at_a, at_b)| (a[at_a].1, std::cmp::Reverse(b[at_b].1)));
        let times_b: Vec<Nanoseconds> = common.iter().map(|&(_, at)| b[at].1).collect();
        let pairs: Vec<(usize, usize)> = longest_rise(&times_b).into_iter().map(|at| common[at]).collect();
        let points = pairs.iter().map(|&(at_a, at_b)| (b[at_b].1, a[at_a].1));
        Self { crossed: common.len() - pairs.len(), map: TimeMap::through(points), pairs }
    }
}

/// The indices of a longest strictly rising sequence, in order.
fn longest_rise(values: &[Nanoseconds]) -> Vec<usize> {
    // By length of a rise: where the one ends that ends lowest. Each value knows the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        let length = ends.partition_point(|&end| values[end] < *value);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut rise: Vec<usize> = std::iter::successors(ends.last().copied(), |&at| before[at]).collect();
    rise.reverse();
    rise
}

/// Times of run B as times of run A: piecewise linear, strictly rising, from 0 to 0. After the last point both clocks go
/// equally fast. Times are floats: between two points a nanosecond of one run is a part of one in the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeMap {
    /// Times of B and of A, both rising.
    points: Vec<(f64, f64)>,
}

impl TimeMap {
    /// Through these times of B and of A, which rise in both.
    #[must_use]
    pub fn through(points: impl Iterator<Item = (Nanoseconds, Nanoseconds)>) -> Self {
        // At 0 both runs begin, whatever else happens then.
        let points = points.filter(|&(b, a)| b > 0 && a > 0);
        Self { points: points.map(|(b, a)| (b as f64, a as f64)).collect() }
    }

    /// A time of B on the clock of A.
    #[must_use]
    pub fn to_a(&self, b_ns: f64) -> f64 {
        self.apply(b_ns, |point| point)
    }

    /// A time on the clock of A as B's own.
    #[must_use]
    pub fn to_b(&self, a_ns: f64) -> f64 {
        self.apply(a_ns, |(b, a)| (a, b))
    }

    fn apply(&self, ns: f64, oriented: impl Fn((f64, f64)) -> (f64, f64)) -> f64 {
        let after = self.points.partition_point(|&point| oriented(point).0 <= ns);
        let point = |at: usize| oriented(self.points[at]);
        let (from, to) = after.checked_sub(1).map_or((0.0, 0.0), point);
        if after == self.points.len() {
            return to + (ns - from);
        }
        let (next_from, next_to) = point(after);
        to + (ns - from) * ((next_to - to) / (next_from - from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbered anchors at rising times.
    fn anchors(gaps: &[u64]) -> Vec<Anchor<usize>> {
        let times = gaps.iter().scan(0, |sum, gap| {
            *sum += gap;
            Some(*sum)
        });
        times.enumerate().collect()
    }

    fn gaps() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(1..2_000_000_000_u64, 0..60)
    }

    proptest! {
        #[test]
        fn the_map_rises_and_its_inverse_leads_back(
            a in gaps(), b in gaps(), times in prop::collection::vec(0.0..2e11_f64, 2..20)
        ) {
            let map = Alignment::new(&anchors(&a), &anchors(&b)).map;
            let mut times = times;
            times.sort_by(f64::total_cmp);
            for pair in times.windows(2) {
                prop_assert!(map.to_a(pair[0]) <= map.to_a(pair[1]));
                // Steps that a float can tell apart stay apart.
                prop_assert!(pair[1] - pair[0] < 1.0 || map.to_a(pair[0]) < map.to_a(pair[1]) || map.to_a(pair[1]) > 1e15);
            }
            for time in times {
                // A stretch of one nanosecond may stand for two seconds of the other run.
                prop_assert!((map.to_a(map.to_b(time)) - time).abs() <= 1e-3 * time.max(1.0), "{time}");
            }
            prop_assert_eq!(map.to_a(0.0), 0.0);
        }

        #[test]
        fn equal_runs_have_the_same_time(a in gaps(), time in 0.0..2e11_f64) {
            let anchors = anchors(&a);
            let alignment = Alignment::new(&anchors, &anchors);
            prop_assert_eq!((alignment.pairs.len(), alignment.crossed), (a.len(), 0));
            prop_assert!((alignment.map.to_a(time) - time).abs() < 1e-3);
        }

        #[test]
        fn a_known_stretching_is_undone(a in gaps(), factors in prop::collection::vec(1..20_u64, 60), within in 0.0..1.0_f64) {
            let b: Vec<u64> = a.iter().zip(&factors).map(|(gap, factor)| gap * factor).collect();
            let (of_a, of_b) = (anchors(&a), anchors(&b));
            let map = Alignment::new(&of_a, &of_b).map;
            for ((gap, factor), (from_a, from_b)) in a.iter().zip(&factors).zip(of_a.iter().zip(&of_b)) {
                let back = within * *gap as f64;
                let (time_a, time_b) = (from_a.1 as f64 - back, from_b.1 as f64 - back * *factor as f64);
                prop_assert!((map.to_a(time_b) - time_a).abs() < 1e-2, "{time_b} is {time_a}");
                prop_assert!((map.to_b(time_a) - time_b).abs() < 1e-1);
            }
        }

        #[test]
        fn more_anchors_at_the_end_of_one_run_are_left_out(a in gaps(), b in gaps()) {
            let alignment = Alignment::new(&anchors(&a), &anchors(&b));
            prop_assert_eq!(alignment.pairs.len(), a.len().min(b.len()));
            prop_assert!(alignment.pairs.iter().enumerate().all(|(at, pair)| *pair == (at, at)));
            prop_assert_eq!(alignment.crossed, 0);
        }

        #[test]
        fn anchors_that_are_missing_in_one_run_move_no_other(a in gaps(), keep in prop::collection::vec(any::<bool>(), 60)) {
            let of_a = anchors(&a);
            let of_b: Vec<_> = of_a.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(anchor, _)| *anchor).collect();
            let alignment = Alignment::new(&of_a, &of_b);
            prop_assert_eq!(alignment.pairs.len(), of_b.len());
            for &(at_a, at_b) in &alignment.pairs {
                prop_assert_eq!(of_a[at_a].0, of_b[at_b].0);
            }
            for (_, time) in of_a {
                prop_assert!((alignment.map.to_a(time as f64) - time as f64).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn after_the_last_anchor_both_clocks_go_equally_fast() {
        let map = Alignment::new(&[('x', 100)], &[('x', 300)]).map;
        assert_eq!([0.0, 150.0, 300.0, 350.0].map(|time| map.to_a(time)), [0.0, 50.0, 100.0, 150.0]);
        assert_eq!([0.0, 50.0, 100.0, 150.0].map(|time| map.to_b(time)), [0.0, 150.0, 300.0, 350.0]);
        assert_eq!(TimeMap::default().to_a(7.0), 7.0);
    }

    #[test]
    fn anchors_in_another_order_are_counted_and_left_out() {
        let (a, b) = ([("x", 10), ("y", 20), ("z", 30)], [("y", 5), ("z", 15), ("x", 25)]);
        let alignment = Alignment::new(&a, &b);
        assert_eq!((alignment.pairs, alignment.crossed), (vec![(1, 0), (2, 1)], 1));
        // Two at one time cannot both be on a rising line.
        let alignment = Alignment::new(&[("x", 10), ("y", 10)], &[("x", 10), ("y", 20)]);
        assert_eq!((alignment.pairs.len(), alignment.crossed), (1, 1));
        // An anchor at the very beginning is there, and the map needs no point for it.
        let alignment = Alignment::new(&[("x", 0), ("y", 10)], &[("x", 5), ("y", 20)]);
        assert_eq!((alignment.pairs.len(), alignment.map.to_a(5.0)), (2, 2.5));
    }
}
