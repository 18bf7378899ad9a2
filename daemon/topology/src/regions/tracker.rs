//! Regions as they change: when they are found anew, and how they keep their names.

use super::clustering::Clustering;
use super::graph::TalkGraph;
use super::method::Method;
use super::region::Region;
use mpiscope_model::{Nanoseconds, Rank};
use rustc_hash::FxHashMap;

/// Regions are found anew when so much of the traffic goes between other ranks than when they were found last: half the
/// sum of what the shares of all pairs differ by.
const ENOUGH_CHANGE: f64 = 0.05;
/// And no sooner than so much later in the run.
const EVERY_NS: Nanoseconds = 2_000_000_000;

/// Keeps the names of regions.
#[derive(Debug, Clone, Default)]
pub struct Tracker {
    next_id: u32,
    version: u64,
    regions: Vec<Region>,
}

impl Tracker {
    /// Takes in newer regions. Those that share the most ranks with an older one go on under its name; of those that share
    /// as many the one with the lower rank.
    pub fn update(&mut self, regions: Vec<Vec<Rank>>) -> &[Region] {
        let mut old_of: FxHashMap<Rank, usize> = FxHashMap::default();
        for (old, region) in self.regions.iter().enumerate() {
            old_of.extend(region.ranks.iter().map(|rank| (*rank, old)));
        }
        let mut shared: Vec<(usize, usize, usize)> = Vec::new();
        for (new, ranks) in regions.iter().enumerate() {
            let mut olds: Vec<usize> = ranks.iter().filter_map(|rank| old_of.get(rank).copied()).collect();
            olds.sort_unstable();
            let runs = olds.chunk_by(|one, other| one == other);
            shared.extend(runs.map(|run| (run.len(), new, run[0])));
        }
        shared.sort_by_key(|&(count, new, old)| (std::cmp::Reverse(count), new, old));
        let mut ids: Vec<Option<u32>> = vec![None; regions.len()];
        let mut is_taken = vec![false; self.regions.len()];
        for (_, new, old) in shared {
            if ids[new].is_none() && !is_taken[old] {
                ids[new] = Some(self.regions[old].id);
                is_taken[old] = true;
            }
        }
        let next_id = &mut self.next_id;
        let mut fresh = || {
            *next_id += 1;
            *next_id - 1
        };
        let named = ids.into_iter().zip(regions);
        let regions: Vec<Region> =
            named.map(|(id, ranks)| Region { id: id.unwrap_or_else(&mut fresh), ranks }).collect();
        if regions != self.regions {
            self.version += 1;
            self.regions = regions;
        }
        &self.regions
    }

    /// The regions as they are known now, in the order of their first ranks.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// How often they changed.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// The state when regions were last found: decides when it is worth finding them anew.
#[derive(Debug, Clone, Default)]
struct Freshness {
    looked_ns: Nanoseconds,
    /// All that was exchanged when the graph was looked at last, and by how much it had changed then.
    looked_weight: f64,
    looked_change: f64,
    ranks: Vec<Rank>,
    pairs: FxHashMap<(Rank, Rank), f64>,
    /// The sum over the pairs.
    weight: f64,
}

impl Freshness {
    fn may_be_stale(&self, now_ns: Nanoseconds, ranks: usize, weight: f64) -> bool {
        let is_due = self.ranks.is_empty() || now_ns >= self.looked_ns.saturating_add(EVERY_NS);
        // Shares cannot have changed by more than the share of the new traffic.
        let added = if weight > self.looked_weight { 1.0 - self.looked_weight / weight } else { 0.0 };
        let is_new = ranks != self.ranks.len() || weight < self.looked_weight;
        is_due && (is_new || self.looked_change + added > ENOUGH_CHANGE)
    }

    /// Whether regions are to be found anew for this graph. If so, it is what they were found from last.
    fn renew(&mut self, now_ns: Nanoseconds, exchanged: f64, graph: &TalkGraph) -> bool {
        let weight: f64 = graph.pairs().map(|(.., weight)| weight).sum();
        let change = self.change(graph, weight);
        let is_stale = graph.ranks() != self.ranks || change > ENOUGH_CHANGE;
        (self.looked_ns, self.looked_weight) = (now_ns, exchanged);
        self.looked_change = if is_stale { 0.0 } else { change };
        if is_stale {
            self.weight = weight;
            self.ranks = graph.ranks().to_vec();
            self.pairs = graph.pairs().map(|(one, other, weight)| ((one, other), weight)).collect();
        }
        is_stale
    }

    /// Half of the sum of the differences of all shares: less in one place is more in another.
    fn change(&self, graph: &TalkGraph, weight: f64) -> f64 {
        if self.weight <= 0.0 || weight <= 0.0 {
            return if self.weight == weight { 0.0 } else { 1.0 };
        }
        let more = graph.pairs().map(|(one, other, now)| {
            let before = self.pairs.get(&(one, other)).copied().unwrap_or_default();
            (now / weight - before / self.weight).max(0.0)
        });
        more.sum()
    }
}

/// Regions that follow a graph as it grows.
#[derive(Debug, Clone, Default)]
pub struct Follower {
    freshness: Freshness,
    tracker: Tracker,
}

impl Follower {
    /// Whether it may be worth showing it the graph at a time of the run, by the number of ranks and the traffic so
    /// far: shares of pairs change by no more than the share of the new traffic.
    #[must_use]
    pub fn may_be_stale(&self, now_ns: Nanoseconds, ranks: usize, weight: f64) -> bool {
        self.freshness.may_be_stale(now_ns, ranks, weight)
    }

    /// Looks at the graph as it is at a time of the run, when so much was exchanged, and finds regions anew where enough has
    /// changed.
    pub fn look(&mut self, now_ns: Nanoseconds, exchanged: f64, graph: &TalkGraph) -> &Tracker {
        if self.freshness.renew(now_ns, exchanged, graph) {
            let method = Method::default();
            self.tracker.update(Clustering::new(graph, method).cut(method.usual_cut()));
        }
        &self.tracker
    }

    /// The regions as they were found last.
    #[must_use]
    pub fn tracker(&self) -> &Tracker {
        &self.tracker
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regions::tests::{graph_of, planted};

    fn ids(tracker: &Tracker) -> Vec<(u32, Vec<u32>)> {
        let number = |region: &Region| (region.id, region.ranks.iter().map(|rank| rank.0).collect());
        tracker.regions().iter().map(number).collect()
    }

    fn ranks(regions: Vec<Vec<u32>>) -> Vec<Vec<Rank>> {
        regions.into_iter().map(|region| region.into_iter().map(Rank).collect()).collect()
    }

    #[test]
    fn most_of_a_region_keeps_its_name_and_names_are_not_used_again() {
        let mut tracker = Tracker::default();
        tracker.update(ranks(vec![vec![0, 1, 2, 3], vec![4, 5, 6], vec![7]]));
        assert_eq!(ids(&tracker), [(0, vec![0, 1, 2, 3]), (1, vec![4, 5, 6]), (2, vec![7])]);
        assert_eq!(tracker.version(), 1);
        tracker.update(ranks(vec![vec![0, 1, 2, 3], vec![4, 5, 6], vec![7]]));
        assert_eq!(tracker.version(), 1);
        // The first is cut in halves: of two that are as good the one with the lower rank goes on.
        tracker.update(ranks(vec![vec![0, 1], vec![2, 3], vec![4, 5, 6, 7]]));
        assert_eq!(ids(&tracker), [(0, vec![0, 1]), (3, vec![2, 3]), (1, vec![4, 5, 6, 7])]);
        // Rank 7 is alone again, but its name was given up.
        tracker.update(ranks(vec![vec![0, 4, 5], vec![1, 2, 3], vec![6], vec![7]]));
        assert_eq!(ids(&tracker), [(1, vec![0, 4, 5]), (3, vec![1, 2, 3]), (4, vec![6]), (5, vec![7])]);
        tracker.update(ranks(vec![vec![0, 1, 2, 3, 4, 5, 6, 7]]));
        assert_eq!(ids(&tracker), [(1, (0..8).collect())]);
        assert_eq!(tracker.version(), 4);
    }

    #[test]
    fn names_stay_when_a_little_is_added() {
        let graph = planted(8, 16, 1.0, 0.05, 11);
        let mut follower = Follower::default();
        let before = ids(follower.look(0, 1.0, &graph));
        assert_eq!(before.len(), 8);
        let more: Vec<(Rank, Rank, f64)> = (0..10).map(|at| (Rank(at * 12), Rank(127 - at), 0.3)).collect();
        let graph = TalkGraph::new([], graph.pairs().chain(more));
        follower.freshness = Freshness::default();
        assert_eq!(ids(follower.look(1, 1.0, &graph)), before);
    }

    #[test]
    fn regions_are_found_anew_when_enough_has_changed() {
        let pairs = |ranks: u32, weights: [f64; 2]| {
            let ring = move |one: u32| (one, (one + 1) % ranks, weights[(one % 2) as usize]);
            graph_of(0..ranks, (0..ranks).map(ring))
        };
        let mut fresh = Freshness::default();
        assert!(fresh.may_be_stale(0, 8, 0.0));
        assert!(fresh.renew(0, 80.0, &pairs(8, [10.0, 10.0])));
        assert!(!fresh.may_be_stale(EVERY_NS, 8, 82.0));
        assert!(fresh.may_be_stale(EVERY_NS, 9, 82.0));
        assert!(fresh.may_be_stale(EVERY_NS, 8, 160.0));
        // Twice as much of the same is nothing new.
        assert!(!fresh.renew(EVERY_NS, 160.0, &pairs(8, [20.0, 20.0])));
        assert!(!fresh.may_be_stale(2 * EVERY_NS - 1, 8, 800.0));
        assert!(!fresh.may_be_stale(2 * EVERY_NS, 8, 165.0));
        // Two hundredths more in one place, then seventeen.
        assert!(!fresh.renew(2 * EVERY_NS, 170.0, &pairs(8, [20.0, 18.0])));
        assert!(fresh.may_be_stale(3 * EVERY_NS, 8, 176.0));
        assert!(fresh.renew(3 * EVERY_NS, 176.0, &pairs(8, [20.0, 10.0])));
        assert!(!fresh.renew(4 * EVERY_NS, 177.0, &pairs(8, [20.0, 10.0])));
        // A rank more; and less than before, after the criteria changed.
        assert!(fresh.renew(5 * EVERY_NS, 178.0, &pairs(9, [20.0, 10.0])));
        assert!(fresh.may_be_stale(6 * EVERY_NS, 9, 10.0));
        // From silence to anything.
        let mut fresh = Freshness::default();
        assert!(fresh.renew(0, 0.0, &graph_of(0..2, [])));
        assert!(!fresh.renew(0, 0.0, &graph_of(0..2, [])));
        assert!(fresh.renew(0, 1.0, &graph_of(0..2, [(0, 1, 1.0)])));
    }
}
