//! A few parts whose ranks are exchanged among each other; all others stay where they are.
//!
//! Exchanges go on for a while when they make it worse, as in Kernighan and Lin: the best state on the way is kept.
//! Sizes of parts never change.

use super::graph::{Edge, Graph};
use super::parts::Parts;
use super::random::Random;
use super::work_budget::Budget;

/// Ranks looked at on each side for the next exchange.
const FRONT: usize = 8;
/// Exchanges without a new best after which a pass gives up.
const PATIENCE: usize = 12;
const NOT_HERE: u32 = u32::MAX;

/// Room for one pool after the other.
#[derive(Debug)]
pub(super) struct Pool {
    /// Where in the pool a rank is.
    place_of: Vec<u32>,
    ranks: Vec<u32>,
    part_of: Vec<u32>,
    parts: Vec<u32>,
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    edges: Vec<Edge>,
    /// Of each rank, the weight of its edges to each part of the pool.
    towards: Vec<i64>,
    locked: Vec<bool>,
    /// The weight of the edges of one rank, by place.
    marked: Vec<i64>,
    /// For each pair of parts, the ranks that had best go from one to the other.
    fronts: Vec<Vec<(i64, u32)>>,
}

impl Pool {
    pub(super) fn new(graph: &Graph) -> Self {
        Self {
            place_of: vec![NOT_HERE; graph.ranks()],
            ranks: Vec::new(),
            part_of: Vec::new(),
            parts: Vec::new(),
            sizes: Vec::new(),
            offsets: Vec::new(),
            edges: Vec::new(),
            towards: Vec::new(),
            locked: Vec::new(),
            marked: Vec::new(),
            fronts: Vec::new(),
        }
    }

    /// Takes the edges between ranks of the pool.
    fn load_edges(&mut self, graph: &Graph, budget: &mut Budget) {
        self.offsets.clear();
        self.edges.clear();
        for &rank in &self.ranks {
            self.offsets.push(self.edges.len());
            for edge in graph.edges_of(rank as usize) {
                let place = self.place_of[edge.to as usize];
                if place != NOT_HERE {
                    self.edges.push(Edge { to: place, weight: edge.weight });
                }
            }
            budget.spend(graph.edges_of(rank as usize).len());
        }
        self.offsets.push(self.edges.len());
    }

    /// Takes the ranks of these parts; in another order with each `random`.
    pub(super) fn load(
        &mut self,
        graph: &Graph,
        from: &Parts,
        which: &[u32],
        random: Option<&mut Random>,
        budget: &mut Budget,
    ) {
        self.ranks.iter().for_each(|&rank| self.place_of[rank as usize] = NOT_HERE);
        self.parts.clear();
        self.parts.extend(which);
        self.sizes.clear();
        self.ranks.clear();
        for &part in which {
            let members = &from.members[part as usize];
            self.sizes.push(members.len());
            self.ranks.extend(members);
        }
        if let Some(random) = random {
            random.shuffle(&mut self.ranks);
        }
        for (place, &rank) in self.ranks.iter().enumerate() {
            self.place_of[rank as usize] = place as u32;
        }
        let index = |part: u32| which.iter().position(|&other| other == part).unwrap_or(0) as u32;
        self.part_of.clear();
        self.part_of.extend(self.ranks.iter().map(|&rank| index(from.part_of[rank as usize])));
        self.load_edges(graph, budget);
        self.marked.clear();
        self.marked.resize(self.ranks.len(), 0);
        self.locked.clear();
        self.locked.resize(self.ranks.len(), false);
        self.fronts.resize_with(which.len() * which.len(), Vec::new);
        self.count();
    }

    /// Writes back where the ranks are now.
    pub(super) fn store(&self, into: &mut Parts) {
        for &part in &self.parts {
            into.members[part as usize].clear();
        }
        for (place, &rank) in self.ranks.iter().enumerate() {
            let part = self.parts[self.part_of[place] as usize];
            into.part_of[rank as usize] = part;
            into.members[part as usize].push(rank);
        }
        // In a fixed order: the next result does not depend on how they came.
        for &part in &self.parts {
            into.members[part as usize].sort_unstable();
        }
    }

    /// Twice the weight of the edges within parts.
    pub(super) fn within(&self) -> i64 {
        (0..self.ranks.len()).map(|place| self.towards_part(place, self.part_of[place] as usize)).sum()
    }

    /// Exchanges ranks until nothing gets better; returns the gain.
    pub(super) fn exchange(&mut self, budget: &mut Budget) -> i64 {
        let mut gained = 0;
        while !budget.is_spent() {
            match self.pass(budget) {
                0 => break,
                gain => gained += gain,
            }
        }
        gained
    }

    fn pass(&mut self, budget: &mut Budget) -> i64 {
        self.locked.fill(false);
        let mut made: Vec<(usize, usize)> = Vec::new();
        let (mut gain, mut best, mut best_made) = (0, 0, 0);
        while made.len() - best_made < PATIENCE {
            let Some((one, other, gains)) = self.best_exchange(budget) else { break };
            self.swap(one, other);
            (self.locked[one], self.locked[other]) = (true, true);
            made.push((one, other));
            gain += gains;
            if gain > best {
                (best, best_made) = (gain, made.len());
            }
        }
        for &(one, other) in made[best_made..].iter().rev() {
            self.swap(one, other);
        }
        best
    }

    /// The two ranks of different parts that had best change places, and what that gains.
    fn best_exchange(&mut self, budget: &mut Budget) -> Option<(usize, usize, i64)> {
        let parts = self.parts.len();
        self.fronts.iter_mut().for_each(Vec::clear);
        for place in (0..self.ranks.len()).filter(|&place| !self.locked[place]) {
            let own = self.part_of[place] as usize;
            let towards = &self.towards[place * parts..(place + 1) * parts];
            for part in (0..parts).filter(|&part| part != own) {
                into_front(&mut self.fronts[own * parts + part], towards[part] - towards[own], place as u32);
            }
        }
        budget.spend(self.ranks.len() * parts);
        let mut best: Option<(usize, usize, i64)> = None;
        for first in 0..parts {
            for second in first + 1..parts {
                self.best_between(first, second, &mut best, budget);
            }
        }
        best
    }

    fn best_between(
        &mut self,
        first: usize,
        second: usize,
        best: &mut Option<(usize, usize, i64)>,
        budget: &mut Budget,
    ) {
        let parts = self.parts.len();
        let other_part = &self.fronts[first * parts + second];
        let back = &self.fronts[second * parts + first];
        let Some(&(most_back, _)) = back.first() else { return };
        let beats = |gain: i64, best: &Option<(usize, usize, i64)>| best.is_none_or(|best| gain > best.2);
        for &(gain, one) in other_part {
            if !beats(gain + most_back, best) {
                break;
            }
            let edges = &self.edges[self.offsets[one as usize]..self.offsets[one as usize + 1]];
            edges.iter().for_each(|edge| self.marked[edge.to as usize] = edge.weight);
            for &(gain_back, other) in back {
                // Traffic among them stays between the parts.
                let gain = gain + gain_back - 2 * self.marked[other as usize];
                if beats(gain, best) {
                    *best = Some((one as usize, other as usize, gain));
                }
            }
            edges.iter().for_each(|edge| self.marked[edge.to as usize] = 0);
            budget.spend(2 * edges.len() + back.len());
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        let (part, other_part) = (self.part_of[one], self.part_of[other]);
        self.put(one, other_part);
        self.put(other, part);
    }

    fn put(&mut self, place: usize, part: u32) {
        let parts = self.parts.len();
        let old = std::mem::replace(&mut self.part_of[place], part);
        for edge in &self.edges[self.offsets[place]..self.offsets[place + 1]] {
            self.towards[edge.to as usize * parts + old as usize] -= edge.weight;
            self.towards[edge.to as usize * parts + part as usize] += edge.weight;
        }
    }

    fn towards_part(&self, place: usize, part: usize) -> i64 {
        self.towards[place * self.parts.len() + part]
    }

    fn count(&mut self) {
        let parts = self.parts.len();
        self.towards.clear();
        self.towards.resize(self.ranks.len() * parts, 0);
        for place in 0..self.ranks.len() {
            for edge in &self.edges[self.offsets[place]..self.offsets[place + 1]] {
                self.towards[place * parts + self.part_of[edge.to as usize] as usize] += edge.weight;
            }
        }
    }

    /// Fills the parts anew, each from a random rank by the rank that talks most with it.
    pub(super) fn grow_anew(&mut self, random: &mut Random, budget: &mut Budget) {
        let (count, parts) = (self.ranks.len(), self.parts.len());
        let mut is_open = vec![true; count];
        let mut open = vec![0_i64; count];
        for (place, open) in open.iter_mut().enumerate() {
            *open =
                self.edges[self.offsets[place]..self.offsets[place + 1]].iter().map(|edge| edge.weight).sum();
        }
        // Half of the time those are taken as well that talk little with the rest.
        let aside = random.below(2) as i64;
        for part in 0..parts {
            self.marked.fill(0);
            for taken in 0..self.sizes[part] {
                let candidates = (0..count).filter(|&place| is_open[place]);
                let next = if taken == 0 {
                    let left: Vec<usize> = candidates.collect();
                    if left.is_empty() { None } else { Some(left[random.below(left.len())]) }
                } else {
                    candidates.max_by_key(|&place| (1 + aside) * self.marked[place] - aside * open[place])
                };
                let Some(next) = next else { break };
                is_open[next] = false;
                self.part_of[next] = part as u32;
                for edge in &self.edges[self.offsets[next]..self.offsets[next + 1]] {
                    self.marked[edge.to as usize] += edge.weight;
                    open[edge.to as usize] -= edge.weight;
                }
                budget.spend(count);
            }
        }
        self.marked.fill(0);
        self.count();
    }

    /// Exchanges some ranks at random.
    pub(super) fn shake(&mut self, random: &mut Random) {
        let exchanges = 2 + random.below(3);
        for _ in 0..exchanges {
            let (one, other) = (random.below(self.ranks.len()), random.below(self.ranks.len()));
            if self.part_of[one] != self.part_of[other] {
                self.swap(one, other);
            }
        }
    }
}

/// Keeps the best few, the best first; of equals those that came first.
fn into_front(front: &mut Vec<(i64, u32)>, gain: i64, place: u32) {
    if front.len() == FRONT {
        if front[FRONT - 1].0 >= gain {
            return;
        }
        front.pop();
    }
    let at = front.iter().rposition(|&(other, _)| other >= gain).map_or(0, |at| at + 1);
    front.insert(at, (gain, place));
}
