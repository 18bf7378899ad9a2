//! What the job's messages say of the clocks: for each pair of nodes and each slot of time, the least that a message took.

use mpiscope_model::{Nanoseconds, Node};
use rustc_hash::FxHashMap;

/// The length of the first slots; there are twice as many of them as of each longer kind.
const SHORTEST_NS: u64 = 312_500;
const MOST_OF_A_KIND: usize = 4_096;
const FEWEST_OF_A_KIND: usize = 4;
/// 64 MiB. Where pairs are many, slots get longer.
const MOST_CELLS: usize = 8 << 20;
/// Between more pairs of nodes than these, further pairs are left out: those that are known bound the clocks as well.
const MOST_PAIRS: usize = 1 << 17;
/// No message of this pair in this slot.
const NONE: i64 = i64::MAX;

/// Slots of time that get longer as the run does, each no more than one part in 4096 of the time up to it. So their
/// number hardly grows, and the first seconds, in which clocks are known worst, have the shortest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slots {
    of_a_kind: usize,
    shortest_ns: u64,
}

impl Slots {
    pub(super) fn number(&self, time_ns: Nanoseconds) -> usize {
        let steps = time_ns / self.shortest_ns;
        let kind = (steps / self.of_a_kind as u64).checked_ilog2().unwrap_or(0);
        kind as usize * self.of_a_kind + (steps >> kind) as usize
    }

    pub(super) fn begin_ns(&self, number: usize) -> Nanoseconds {
        let kind = (number / self.of_a_kind).saturating_sub(1);
        let steps = (number - kind * self.of_a_kind) as u128;
        u64::try_from((steps << kind) * u128::from(self.shortest_ns)).unwrap_or(u64::MAX)
    }

    fn halved(&self) -> Self {
        Self { of_a_kind: self.of_a_kind / 2, shortest_ns: self.shortest_ns * 2 }
    }
}

/// The least that messages took, by the clocks of their times. The state does not depend on the order of messages.
#[derive(Debug, Clone)]
pub struct Bounds {
    slots: Slots,
    numbers: FxHashMap<(Node, Node), usize>,
    pairs: Vec<(Node, Node)>,
    /// By slot, then by pair; missing ones are none.
    least_ns: Vec<Vec<i64>>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            slots: Slots { of_a_kind: MOST_OF_A_KIND, shortest_ns: SHORTEST_NS },
            numbers: FxHashMap::default(),
            pairs: Vec::new(),
            least_ns: Vec::new(),
        }
    }
}

impl Bounds {
    /// While a message is under way, a correction changes by no more than one part in this number of that time.
    pub(super) const SLOPE: i64 = 256;

    /// Of several messages of a pair in one slot, by when their receives ended, only the one that took the least counts. Slots may
    /// be longer than this one, which then is in one of them.
    #[must_use]
    pub fn slot(recv_ns: Nanoseconds) -> u64 {
        Slots { of_a_kind: MOST_OF_A_KIND, shortest_ns: SHORTEST_NS }.number(recv_ns) as u64
    }

    /// A message between two nodes: when its send began, and when the call that completed its receive ended, in
    /// published times.
    pub fn message(&mut self, from: Node, to: Node, send_ns: Nanoseconds, recv_ns: Nanoseconds) {
        if from == to {
            return;
        }
        let pair = match self.numbers.get(&(from, to)) {
            Some(&pair) => pair,
            None if self.pairs.len() < MOST_PAIRS => {
                self.numbers.insert((from, to), self.pairs.len());
                self.pairs.push((from, to));
                self.pairs.len() - 1
            }
            None => return,
        };
        let took_ns = i128::from(recv_ns) - i128::from(send_ns);
        // Far more than any message takes, and sums of it stay in range.
        let took_ns = took_ns.clamp(i128::from(i64::MIN / 8), i128::from(i64::MAX / 8)) as i64;
        self.cover(recv_ns, self.pairs.len());
        // It counts at the time of its receive, however long ago it was sent.
        let slot = &mut self.least_ns[self.slots.number(recv_ns)];
        if slot.len() <= pair {
            slot.resize(pair + 1, NONE);
        }
        slot[pair] = slot[pair].min(took_ns);
    }

    /// Has slots up to this time, long enough to need no more than this number of figures each.
    pub(super) fn cover(&mut self, until_ns: Nanoseconds, figures: usize) {
        let needed = |bounds: &Self| bounds.least_ns.len().max(bounds.slots.number(until_ns) + 1);
        while needed(self) * figures > MOST_CELLS && self.slots.of_a_kind > FEWEST_OF_A_KIND {
            self.merge();
        }
        self.least_ns.resize(needed(self), Vec::new());
    }

    fn merge(&mut self) {
        let mut merged: Vec<Vec<i64>> = Vec::with_capacity(self.least_ns.len().div_ceil(2));
        for (at, slot) in std::mem::take(&mut self.least_ns).into_iter().enumerate() {
            match merged.last_mut().filter(|_| at % 2 == 1) {
                None => merged.push(slot),
                Some(both) => {
                    both.resize(both.len().max(slot.len()), NONE);
                    for (least, other) in both.iter_mut().zip(slot) {
                        *least = (*least).min(other);
                    }
                }
            }
        }
        (self.least_ns, self.slots) = (merged, self.slots.halved());
    }

    /// The times at which slots begin, and the one at which the last ends.
    pub(super) fn breakpoints(&self) -> Vec<Nanoseconds> {
        (0..=self.least_ns.len()).map(|number| self.slots.begin_ns(number)).collect()
    }

    /// Who sent to whom, by number.
    pub(super) fn pairs(&self) -> &[(Node, Node)] {
        &self.pairs
    }

    /// The pairs with a message in one of the two slots that meet at the beginning of slot `at`: the pair's number,
    /// and its least time before and after.
    pub(super) fn around(&self, at: usize) -> impl Iterator<Item = (usize, [Option<i64>; 2])> + '_ {
        let slot = |number: Option<usize>| {
            number.and_then(|at| self.least_ns.get(at)).map_or(&[][..], Vec::as_slice)
        };
        let (before, after) = (slot(at.checked_sub(1)), slot(Some(at)));
        let cell = |slot: &[i64], pair: usize| slot.get(pair).copied().filter(|&least_ns| least_ns != NONE);
        (0..before.len().max(after.len()))
            .map(move |pair| (pair, [cell(before, pair), cell(after, pair)]))
            .filter(|(_, sides)| *sides != [None, None])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_each_other_and_stay_few() {
        let mut slots = Bounds::default().slots;
        while slots.of_a_kind >= FEWEST_OF_A_KIND {
            for number in 0..slots.number(u64::MAX) {
                let (begin_ns, end_ns) = (slots.begin_ns(number), slots.begin_ns(number + 1));
                assert!(begin_ns < end_ns, "slot {number}");
                assert_eq!((slots.number(begin_ns), slots.number(end_ns - 1)), (number, number));
                assert_eq!(slots.halved().number(begin_ns), number / 2);
            }
            slots = slots.halved();
        }
        let day_ns = 86_400_000_000_000;
        assert!(Bounds::default().slots.number(day_ns) < 72_000);
    }

    #[test]
    fn memory_is_bounded_however_many_pairs_and_however_long() {
        let mut bounds = Bounds::default();
        for from in 0..512 {
            for to in 0..512 {
                bounds.message(Node(from), Node(to), 0, 10_000_000_000 * u64::from(from) + 5_000);
            }
        }
        assert!(bounds.least_ns.len() * bounds.pairs.len() <= MOST_CELLS);
        assert!(bounds.pairs.len() <= MOST_PAIRS);
    }
}
