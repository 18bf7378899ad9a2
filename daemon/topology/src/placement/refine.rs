//! Makes a placement better without changing how many ranks a node has: first by exchanges between two nodes, then by
//! filling a few nodes anew, again and again.

use super::graph::Graph;
use super::parts::Parts;
use super::pool::Pool;
use super::random::Random;
use super::work_budget::Budget;

/// Ranks that are filled anew together, unless two nodes have more.
const RANKS_OF_A_SEARCH: usize = 96;
/// Nodes that are filled anew together.
const MOST_NODES: usize = 4;

/// Improves placements on one graph.
pub(super) struct Refiner<'a> {
    graph: &'a Graph,
    pool: Pool,
    /// What a part sends to each other part; all 0 between uses.
    towards: Vec<i64>,
}

impl<'a> Refiner<'a> {
    pub(super) fn new(graph: &'a Graph, parts: usize) -> Self {
        Self { graph, pool: Pool::new(graph), towards: vec![0; parts] }
    }

    /// Exchanges ranks between parts that talk with each other, until no pair of parts gains by it.
    pub(super) fn exchange(&mut self, parts: &mut Parts, budget: &mut Budget) {
        let count = parts.members.len();
        let mut changed = vec![true; count];
        while changed.contains(&true) {
            let before = std::mem::replace(&mut changed, vec![false; count]);
            for part in 0..count as u32 {
                for (_, other) in self.neighbours(parts, part, budget) {
                    let is_new = |part: u32| before[part as usize] || changed[part as usize];
                    if other < part || !(is_new(part) || is_new(other)) {
                        continue;
                    }
                    if budget.is_spent() {
                        return;
                    }
                    self.pool.load(self.graph, parts, &[part, other], None, budget);
                    if self.pool.exchange(budget) > 0 {
                        self.pool.store(parts);
                        (changed[part as usize], changed[other as usize]) = (true, true);
                    }
                }
            }
        }
    }

    /// Fills a few parts that talk with each other anew, and keeps results that are no worse, until the budget is
    /// spent.
    pub(super) fn search(&mut self, parts: &mut Parts, budget: &mut Budget) {
        let mut random = Random::new(1);
        while !budget.is_spent() {
            // However little there is to do: this ends.
            budget.spend(100);
            let some = self.some_parts(parts, &mut random, budget);
            if some.len() < 2 {
                continue;
            }
            self.pool.load(self.graph, parts, &some, Some(&mut random), budget);
            let before = self.pool.within();
            if random.below(2) == 0 {
                self.pool.grow_anew(&mut random, budget);
            } else {
                self.pool.shake(&mut random);
            }
            self.pool.exchange(budget);
            if self.pool.within() >= before {
                self.pool.store(parts);
            }
        }
    }

    /// A part at random and some of those that it talks with, or that these talk with.
    fn some_parts(&mut self, parts: &Parts, random: &mut Random, budget: &mut Budget) -> Vec<u32> {
        let mut some = vec![random.below(parts.members.len()) as u32];
        let wanted = 2 + random.below(MOST_NODES - 1);
        let mut ranks = parts.members[some[0] as usize].len();
        while some.len() < wanted {
            let from = some[random.below(some.len())];
            let mut near = self.neighbours(parts, from, budget);
            near.retain(|(_, part)| !some.contains(part));
            if near.is_empty() {
                break;
            }
            let part = near[random.below(near.len())].1;
            ranks += parts.members[part as usize].len();
            if some.len() >= 2 && ranks > RANKS_OF_A_SEARCH {
                break;
            }
            some.push(part);
        }
        some
    }

    /// The parts that one talks with, those first with which it talks most.
    fn neighbours(&mut self, parts: &Parts, part: u32, budget: &mut Budget) -> Vec<(i64, u32)> {
        let mut near = Vec::new();
        for &rank in &parts.members[part as usize] {
            let edges = self.graph.edges_of(rank as usize);
            budget.spend(edges.len());
            for edge in edges {
                let other = parts.part_of[edge.to as usize];
                if other != part {
                    if self.towards[other as usize] == 0 {
                        near.push((0, other));
                    }
                    self.towards[other as usize] += edge.weight;
                }
            }
        }
        for (weight, other) in &mut near {
            *weight = std::mem::take(&mut self.towards[*other as usize]);
        }
        near.sort_unstable_by_key(|&(weight, other)| (std::cmp::Reverse(weight), other));
        near
    }
}
