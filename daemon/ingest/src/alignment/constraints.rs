//! All that bounds the corrections of all nodes, as differences: of a node's correction to nothing (round trips), of one
//! node's to another's at one moment (messages), of one node's from one moment to the next (how clocks go).
//!
//! Such a system has a greatest and a least solution, the shortest ways from the reference there and back, and what is
//! half-way between them is a solution as well: central where both directions are known.

use super::bounds::Bounds;
use super::known::Swings;
use mpiscope_model::Node;
use rustc_hash::FxHashMap;

/// After so many contradictions messages are no longer believed at all.
const MOST_RETRIES: u32 = 12;
/// A correction that a message forced beyond what round trips say fades by this share of the time that goes on.
const FADING: u64 = 1_000;
/// Messages that force each other further than so many times around are left as they are.
const MOST_ROUNDS: usize = 64;

/// A moment and a node that cannot be as everything says.
struct Contradiction {
    knot: usize,
    node: usize,
}

/// A message bound between two nodes at one knot: `to`'s correction is no more than `least_ns` below `from`'s.
#[derive(Clone, Copy)]
struct Edge {
    from: usize,
    to: usize,
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

/// What is known of each node at each knot by round trips.
#[derive(Default)]
pub(super) struct Boxes {
    /// The range of its correction.
    pub(super) ranges: Vec<(i64, i64)>,
    /// The range of its change to the next knot.
    pub(super) changes: Vec<(i64, i64)>,
    /// How far it can be from that at the knot in the slots around.
    pub(super) swings: Vec<Swings>,
}

pub(super) struct Constraints<'a> {
    bounds: &'a Bounds,
    /// Of each pair of the bounds, where both nodes are known.
    ends: Vec<Option<(usize, usize)>>,
    nodes: usize,
    knots: usize,
    /// All by knot, then by node.
    boxes: Boxes,
    /// What is left of the ranges.
    ranges: Vec<(i64, i64)>,
    /// Where messages of a node are not believed.
    left_out: Vec<bool>,
    reading: Reading,
}

/// What comes of it, by knot, then by node.
pub(super) struct Solution {
    /// Corrections, such that no message ends before it began where that is possible.
    pub(super) corrections: Vec<i64>,
    /// In which range the truth is.
    pub(super) ranges: Vec<(i64, i64)>,
}

impl<'a> Constraints<'a> {
    pub(super) fn new(bounds: &'a Bounds, nodes: &[Node], boxes: Boxes) -> Self {
        let indices: FxHashMap<Node, usize> =
            nodes.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        let ends =
            bounds.pairs().iter().map(|(from, to)| Some((*indices.get(from)?, *indices.get(to)?))).collect();
        let (nodes, left_out) = (nodes.len().max(1), vec![false; boxes.ranges.len()]);
        Self {
            bounds,
            ends,
            nodes,
            knots: boxes.ranges.len() / nodes,
            ranges: boxes.ranges.clone(),
            boxes,
            left_out,
            reading: Reading::Certain,
        }
    }

    pub(super) fn solve(mut self) -> Solution {
        self.believe(Reading::Certain);
        let ranges = self.ranges.clone();
        self.boxes.ranges.clone_from(&ranges);
        self.believe(Reading::Sufficient);
        let middle = |&(low, high): &(i64, i64)| low + (high - low).div_euclid(2);
        let mut corrections = self.ranges.iter().map(middle).collect::<Vec<i64>>();
        self.force_forward(&mut corrections);
        Solution { corrections, ranges }
    }

    /// Tightens the ranges by everything that does not contradict the rest.
    fn believe(&mut self, reading: Reading) {
        self.reading = reading;
        self.left_out.fill(false);
        let mut reach = 0;
        for _ in 0..MOST_RETRIES {
            self.ranges.copy_from_slice(&self.boxes.ranges);
            let Err(Contradiction { knot, node }) = self.tighten() else { return };
            // What contradicts here came from the times around as well.
            for knot in knot.saturating_sub(reach)..(knot + reach + 1).min(self.knots) {
                self.left_out[knot * self.nodes + node] = true;
            }
            reach = (reach * 2).max(1);
        }
        self.left_out.fill(true);
        self.ranges.copy_from_slice(&self.boxes.ranges);
        if self.tighten().is_err() {
            // Not even round trips agree with how clocks go: each moment for itself.
            self.ranges.copy_from_slice(&self.boxes.ranges);
        }
    }

    /// Lets all bounds tighten each other until nothing changes.
    fn tighten(&mut self) -> Result<(), Contradiction> {
        let mut edges = Vec::new();
        for knot in 0..self.knots {
            // Those that contradict on their own are found here, at once.
            while let Err(Contradiction { knot, node }) = self.meet(knot, &mut edges) {
                let at = knot * self.nodes;
                if std::mem::replace(&mut self.left_out[at + node], true) {
                    return Err(Contradiction { knot, node });
                }
                self.ranges[at..at + self.nodes].copy_from_slice(&self.boxes.ranges[at..at + self.nodes]);
            }
        }
        // Whether a knot has something to tell its neighbours.
        let mut news = true;
        for _ in 0..self.knots.max(MOST_ROUNDS) {
            if !std::mem::take(&mut news) {
                return Ok(());
            }
            let forward = (1..self.knots).map(|knot| (knot - 1, knot));
            let backward = (1..self.knots).rev().map(|knot| (knot, knot - 1));
            for (from, to) in forward.chain(backward) {
                if self.carry(from, to)? {
                    self.meet(to, &mut edges)?;
                    news = true;
                }
            }
        }
        Err(Contradiction { knot: 0, node: 0 })
    }

    /// Carries what is known at a knot over to the next or to the one before; whether it said anything new there.
    fn carry(&mut self, from: usize, to: usize) -> Result<bool, Contradiction> {
        let mut any = false;
        for node in 0..self.nodes {
            let (least_ns, most_ns) = self.boxes.changes[from.min(to) * self.nodes + node];
            let change = if from < to { (least_ns, most_ns) } else { (-most_ns, -least_ns) };
            let (known, range) =
                (self.ranges[from * self.nodes + node], &mut self.ranges[to * self.nodes + node]);
            let both = (
                range.0.max(known.0.saturating_add(change.0)),
                range.1.min(known.1.saturating_add(change.1)),
            );
            any |= both != *range;
            *range = both;
            if both.0 > both.1 {
                return Err(Contradiction { knot: to, node });
            }
        }
        Ok(any)
    }

    /// The messages around a knot that say something.
    fn collect(&self, knot: usize, edges: &mut Vec<Edge>, says: impl Fn(&Edge) -> bool) {
        edges.clear();
        edges.extend(self.bounds.around(knot).filter_map(|(pair, sides)| {
            let (from, to) = self.ends[pair]?;
            let least = (0..2).filter_map(|side| {
                let took_ns = sides[side]?;
                let sloped_ns = took_ns.abs() / Bounds::SLOPE;
                Some(match self.reading {
                    Reading::Sufficient => took_ns - sloped_ns,
                    Reading::Certain => {
                        let swing = |node: usize| self.boxes.swings[knot * self.nodes + node][side];
                        took_ns + sloped_ns + swing(to).1 - swing(from).0
                    }
                })
            });
            Some(Edge { from, to, least_ns: least.min()? }).filter(&says)
        }));
    }

    /// Lets the nodes tighten each other at one knot.
    fn meet(&mut self, knot: usize, edges: &mut Vec<Edge>) -> Result<(), Contradiction> {
        let at = knot * self.nodes;
        let (ranges, left_out) = (&self.ranges[at..at + self.nodes], &self.left_out[at..at + self.nodes]);
        self.collect(knot, edges, |edge| {
            let far = ranges[edge.from].1.saturating_sub(ranges[edge.to].0);
            edge.least_ns < far && !left_out[edge.from] && !left_out[edge.to]
        });
        let ranges = &mut self.ranges[at..at + self.nodes];
        // No shortest way is longer than all nodes; if one gets shorter still, it goes around in circles.
        for _ in 0..=self.nodes {
            let mut settled = true;
            for &Edge { from, to, least_ns } in edges.iter() {
                let high = ranges[to].1.saturating_add(least_ns);
                let low = ranges[from].0.saturating_sub(least_ns);
                if high < ranges[from].1 {
                    ranges[from].1 = high;
                    settled = false;
                }
                if low > ranges[to].0 {
                    ranges[to].0 = low;
                    settled = false;
                }
                for node in [from, to] {
                    if ranges[node].0 > ranges[node].1 {
                        return Err(Contradiction { knot, node });
                    }
                }
            }
            if settled {
                return Ok(());
            }
        }
        Err(Contradiction { knot, node: edges.first().map_or(0, |edge| edge.from) })
    }

    /// Where messages were left out, does what the controlled logical clock does: the receiver's clock goes forward as
    /// far as its messages force it to, and falls back to the others slowly. Between knots it goes evenly, which
    /// spreads a jump over the time before. Elsewhere this changes nothing.
    fn force_forward(&self, solution: &mut [i64]) {
        if !self.left_out.contains(&true) {
            return;
        }
        let times_ns = self.bounds.knots();
        let mut forced = vec![0_i64; self.nodes];
        let mut edges = Vec::new();
        for knot in 0..self.knots {
            let at = knot * self.nodes;
            let passed_ns = times_ns[knot] - times_ns[knot.saturating_sub(1)];
            let fading_ns = i64::try_from(passed_ns / FADING).unwrap_or(i64::MAX);
            let faded = || forced.iter().map(|&ns| ns.saturating_sub(fading_ns).max(0));
            let before: Vec<i64> =
                solution[at..at + self.nodes].iter().zip(faded()).map(|(&ns, more)| ns + more).collect();
            let mut now = before.clone();
            self.collect(knot, &mut edges, |_| true);
            let settled = (0..MOST_ROUNDS).any(|_| {
                let mut settled = true;
                for &Edge { from, to, least_ns } in &edges {
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
