//! All that bounds the corrections of all nodes, as differences: of a node's correction to nothing (round trips), of one
//! node's to another's at one moment (messages), of one node's from one moment to the next (how clocks go).
//!
//! Such a system has a greatest and a least solution: the shortest ways from the reference there and back. The middle
//! between them is a solution as well, central where both directions are known.

use super::bounds::Bounds;
use super::clock_bounds::Range;
use mpiscope_model::Node;
use rustc_hash::FxHashMap;

/// How often bounds are carried through all breakpoints, there and back.
const MOST_SWEEPS: usize = 3;
/// A correction that a message forced beyond the bounds of round trips fades by this share of the time that passes.
const FADING: u64 = 1_000;
/// Messages that force each other further than this number of rounds are left as they are.
const MOST_ROUNDS: usize = 64;

/// A node that contradicts all bounds together.
#[derive(Debug, PartialEq, Eq)]
struct Contradiction {
    node: usize,
}

/// A message bound between two nodes at one breakpoint: `to`'s correction is no more than `least_ns` below `from`'s.
#[derive(Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    least_ns: i64,
}

/// How messages of a slot count at its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// What follows from them there, however much the clocks changed relative to each other within the slot.
    Certain,
    /// What is enough for none of them to end before it began, corrections being straight within the slot.
    Sufficient,
}

/// The bounds of each node at each breakpoint by round trips.
#[derive(Default)]
pub(super) struct Boxes {
    /// The range of its correction.
    pub(super) ranges: Vec<Range>,
    /// The range of its change to the next breakpoint.
    pub(super) changes: Vec<Range>,
    /// Its greatest distance from the breakpoint's value in the slots around.
    pub(super) swings: Vec<[Range; 2]>,
}

pub(super) struct Constraints<'a> {
    bounds: &'a Bounds,
    /// Of each pair of the bounds, where both nodes are known.
    ends: Vec<Option<(u32, u32)>>,
    nodes: usize,
    breakpoints: usize,
    /// All by breakpoint, then by node.
    boxes: Boxes,
    /// What is left of the ranges.
    ranges: Vec<Range>,
    /// Where messages of a node are not believed.
    left_out: Vec<bool>,
}

/// The resulting bounds, by breakpoint, then by node.
pub(super) struct Solution {
    /// Corrections, such that no message ends before it began where that is possible.
    pub(super) corrections: Vec<i64>,
    /// In which range the truth is.
    pub(super) ranges: Vec<Range>,
}

impl<'a> Constraints<'a> {
    pub(super) fn new(bounds: &'a Bounds, nodes: &[Node], boxes: Boxes) -> Self {
        let indices: FxHashMap<Node, u32> = (0..).zip(nodes).map(|(at, &node)| (node, at)).collect();
        let ends =
            bounds.pairs().iter().map(|(from, to)| Some((*indices.get(from)?, *indices.get(to)?))).collect();
        let (nodes, left_out) = (nodes.len().max(1), vec![false; boxes.ranges.len()]);
        Self {
            bounds,
            ends,
            nodes,
            breakpoints: boxes.ranges.len() / nodes,
            ranges: boxes.ranges.clone(),
            boxes,
            left_out,
        }
    }

    pub(super) fn solve(mut self) -> Solution {
        self.tighten(Reading::Certain);
        let ranges = self.ranges.clone();
        self.boxes.ranges.clone_from(&ranges);
        self.tighten(Reading::Sufficient);
        let middle = |&(low, high): &Range| low + (high - low).div_euclid(2);
        let mut corrections = self.ranges.iter().map(middle).collect::<Vec<i64>>();
        self.force_forward(&mut corrections);
        Solution { corrections, ranges }
    }

    /// Lets all bounds tighten each other. Each breakpoint always agrees with all messages around it, and so the
    /// search may end early.
    fn tighten(&mut self, reading: Reading) {
        self.left_out.fill(false);
        let edges: Vec<Vec<Edge>> = (0..self.breakpoints)
            .map(|breakpoint| {
                let ranges = self.boxes.ranges[self.range_at(breakpoint)].to_vec();
                let says = |edge: &Edge| {
                    edge.least_ns < ranges[edge.from as usize].1.saturating_sub(ranges[edge.to as usize].0)
                };
                self.edges(breakpoint, reading, says)
            })
            .collect();
        for (breakpoint, edges) in edges.iter().enumerate() {
            self.meet_alone(breakpoint, edges);
        }
        // A breakpoint contradicts its neighbours when clocks left their allowed rates, or slots are too long for
        // them: its own messages take precedence.
        let mut alone = vec![false; self.breakpoints];
        for _ in 0..MOST_SWEEPS {
            let mut news = false;
            let forward = (1..self.breakpoints).map(|breakpoint| (breakpoint - 1, breakpoint));
            let backward = (1..self.breakpoints).rev().map(|breakpoint| (breakpoint, breakpoint - 1));
            for (from, to) in forward.chain(backward) {
                if alone[to] {
                    continue;
                }
                let carried = self.carry(from, to);
                if carried == Ok(false) {
                    continue;
                }
                news = true;
                if carried.is_err() || self.meet(to, &edges[to]).is_err() {
                    alone[to] = true;
                    self.meet_alone(to, &edges[to]);
                }
            }
            if !news {
                return;
            }
        }
    }

    /// The range of a breakpoint's figures.
    fn range_at(&self, breakpoint: usize) -> std::ops::Range<usize> {
        breakpoint * self.nodes..(breakpoint + 1) * self.nodes
    }

    /// Carries the bounds of a breakpoint over to the next or to the one before; whether they tightened anything
    /// there.
    fn carry(&mut self, from: usize, to: usize) -> Result<bool, Contradiction> {
        let mut any = false;
        for node in 0..self.nodes {
            let (least_ns, most_ns) = self.boxes.changes[from.min(to) * self.nodes + node];
            let change = if from < to { (least_ns, most_ns) } else { (-most_ns, -least_ns) };
            let (known, range) =
                (self.ranges[from * self.nodes + node], &mut self.ranges[to * self.nodes + node]);
            let low = range.0.max(known.0.saturating_add(change.0));
            let high = range.1.min(known.1.saturating_add(change.1));
            any |= (low, high) != *range;
            *range = (low, high);
            if low > high {
                return Err(Contradiction { node });
            }
        }
        Ok(any)
    }

    /// The messages around a breakpoint that bind.
    fn edges(&self, breakpoint: usize, reading: Reading, says: impl Fn(&Edge) -> bool) -> Vec<Edge> {
        let swings = &self.boxes.swings[self.range_at(breakpoint)];
        let edge = |(pair, sides): (usize, [Option<i64>; 2])| {
            let (from, to): (u32, u32) = self.ends[pair]?;
            let least = (0..2).filter_map(|side| {
                let took_ns = sides[side]?;
                let sloped_ns = took_ns.abs() / Bounds::SLOPE;
                Some(match reading {
                    Reading::Sufficient => took_ns - sloped_ns,
                    Reading::Certain => {
                        took_ns + sloped_ns + swings[to as usize][side].1 - swings[from as usize][side].0
                    }
                })
            });
            Some(Edge { from, to, least_ns: least.min()? }).filter(&says)
        };
        self.bounds.around(breakpoint).filter_map(edge).collect()
    }

    /// Lets the nodes tighten each other at one breakpoint, starting from round trips. Messages of nodes that
    /// contradict the others are left out.
    fn meet_alone(&mut self, breakpoint: usize, edges: &[Edge]) {
        let at = self.range_at(breakpoint);
        loop {
            self.ranges[at.clone()].copy_from_slice(&self.boxes.ranges[at.clone()]);
            let Err(Contradiction { node }) = self.meet(breakpoint, edges) else { return };
            self.left_out[at.start + node] = true;
        }
    }

    /// Lets the nodes tighten each other at one breakpoint.
    fn meet(&mut self, breakpoint: usize, edges: &[Edge]) -> Result<(), Contradiction> {
        let at = self.range_at(breakpoint);
        let (ranges, left_out) = (&mut self.ranges[at.clone()], &self.left_out[at]);
        let mut last = 0;
        // No shortest way is longer than all nodes; if one gets shorter still, it goes around in circles.
        for _ in 0..=self.nodes {
            let mut settled = true;
            for &Edge { from, to, least_ns } in edges {
                let (from, to) = (from as usize, to as usize);
                let high = ranges[to].1.saturating_add(least_ns);
                let low = ranges[from].0.saturating_sub(least_ns);
                if (high >= ranges[from].1 && low <= ranges[to].0) || left_out[from] || left_out[to] {
                    continue;
                }
                ranges[from].1 = ranges[from].1.min(high);
                ranges[to].0 = ranges[to].0.max(low);
                (settled, last) = (false, from);
                for node in [from, to] {
                    if ranges[node].0 > ranges[node].1 {
                        return Err(Contradiction { node });
                    }
                }
            }
            if settled {
                return Ok(());
            }
        }
        Err(Contradiction { node: last })
    }

    /// Where messages were left out, does what the controlled logical clock does: the receiver's clock goes forward as
    /// far as its messages force it to, and falls back to the others slowly. Between breakpoints it goes evenly, which
    /// spreads a jump over the time before. Elsewhere this changes nothing.
    fn force_forward(&self, solution: &mut [i64]) {
        if !self.left_out.contains(&true) {
            return;
        }
        let times_ns = self.bounds.breakpoints();
        let mut forced = vec![0_i64; self.nodes];
        for breakpoint in 0..self.breakpoints {
            let at = breakpoint * self.nodes;
            let passed_ns = times_ns[breakpoint] - times_ns[breakpoint.saturating_sub(1)];
            let fading_ns = i64::try_from(passed_ns / FADING).unwrap_or(i64::MAX);
            let faded = || forced.iter().map(|&ns| ns.saturating_sub(fading_ns).max(0));
            let before: Vec<i64> =
                solution[at..at + self.nodes].iter().zip(faded()).map(|(&ns, more)| ns + more).collect();
            let mut now = before.clone();
            let edges = self.edges(breakpoint, Reading::Sufficient, |_| true);
            let settled = (0..MOST_ROUNDS).any(|_| {
                let mut settled = true;
                for &Edge { from, to, least_ns } in &edges {
                    let (from, to) = (from as usize, to as usize);
                    let needed = now[from].saturating_sub(least_ns);
                    if now[to] < needed {
                        now[to] = needed;
                        settled = false;
                    }
                }
                settled
            });
            // Messages that force each other in circles cannot all be met.
            let now = if settled { now } else { before };
            for (node, corrected) in now.into_iter().enumerate() {
                forced[node] = corrected - solution[at + node];
                solution[at + node] = corrected;
            }
        }
    }
}
