//! What each cause costs: what the replay without it saves.

use crate::whatif::change::{Change, UnfeltFlights};
use crate::whatif::graph::Graph;
use crate::whatif::replay::{Departure, Outcome};
use mpiscope_model::{Blame, Node};
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::iter;

/// What the run would be shorter without a cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saving {
    /// Which.
    pub cause: Blame,
    /// By how much, in nanoseconds.
    pub wall_ns: f64,
    /// The least and the most that it may be, by what is not known of flights.
    pub range_ns: (f64, f64),
}

/// What all causes cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Savings {
    /// How long the run took.
    pub recorded_ns: f64,
    /// How long its unchanged replay takes.
    pub replayed_ns: f64,
    /// Where that stops following the run; none where it does not.
    pub departure: Option<Departure>,
    /// Each cause, in the order of [`Blame::ALL`].
    pub causes: [Saving; 4],
}

/// By what a run is shorter, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shorter {
    /// As far as is known.
    pub wall_ns: f64,
    /// The least and the most that it may be, by what is not known of flights.
    pub range_ns: (f64, f64),
}

impl From<Saving> for Shorter {
    fn from(Saving { wall_ns, range_ns, .. }: Saving) -> Self {
        Self { wall_ns, range_ns }
    }
}

/// Sets of causes, one bit each, in the order of [`Blame::ALL`].
const SETS: usize = 1 << Blame::ALL.len();
/// What saves less than this share of the run costs next to nothing: it needs no range, and is in no set.
const NEXT_TO_NOTHING: f64 = 0.005;
/// Ranks delay the others if balancing their work saves this share of what balancing all of it saves.
const MOST_OF_SAVING: f64 = 0.9;
/// More ranks are not searched for.
const MOST_DELAYING: usize = 1_024;
/// A placement is better only if this share fewer messages go between nodes.
const LEAST_MOVED: f64 = 0.01;

impl Graph {
    /// What each cause costs; placement against the one that is advised.
    #[must_use]
    pub fn savings(&self, advised: Option<&[Node]>) -> Savings {
        self.savings_after(&Change::default(), advised)
    }

    /// Likewise what each still costs after a change.
    #[must_use]
    pub fn savings_after(&self, change: &Change, advised: Option<&[Node]>) -> Savings {
        Replays::new(self, change.clone(), advised).savings()
    }

    /// What each cause costs, and by what the run is shorter without each set of them: a bit each, in the order of
    /// [`Blame::ALL`].
    #[must_use]
    pub fn savings_of_sets(&self, advised: Option<&[Node]>) -> (Savings, [Shorter; SETS]) {
        let replays = Replays::new(self, Change::default(), advised);
        let savings = replays.savings();
        let sets = replays.of_sets(&savings.causes);
        (savings, sets)
    }

    /// Messages between nodes with a placement.
    fn inter_messages(&self, nodes: &[Node]) -> usize {
        let node = |call: u32| nodes.get(self.rank_of(call).index());
        self.edges.iter().filter(|edge| node(edge.from) != node(edge.to)).count()
    }

    /// By part of the run and rank, what it computes beyond the mean of those that do the same, in nanoseconds.
    #[must_use]
    pub fn excess_work(&self) -> Vec<Vec<u64>> {
        let work = self.work();
        let ranks = self.threads_of.len();
        let of = |rank: usize, part: usize| {
            let at = rank * work.parts + part;
            (work.own_ns[at] - work.even_ns[at]).max(0.0) as u64
        };
        (0..work.parts).map(|part| (0..ranks).map(|rank| of(rank, part)).collect()).collect()
    }

    /// By rank, the sum of such excess if others wait for it: of about the fewest ranks with the most whose work, balanced alone, saves
    /// most of what balanced work saves. In a large job most ranks have more than others at some time, in sum more than the one
    /// that all wait for. Empty where balanced work saves nothing.
    #[must_use]
    pub fn delaying_work(&self, savings: &Savings, excess: &[Vec<u64>]) -> Vec<u64> {
        let saved_ns = savings.causes[Blame::Pattern as usize].wall_ns;
        let length_ns = savings.recorded_ns - self.began_ns() as f64;
        if savings.departure.is_some() || saved_ns < NEXT_TO_NOTHING * length_ns {
            return Vec::new();
        }
        let mut of_ranks = vec![0_u64; self.threads_of.len()];
        for part in excess {
            of_ranks.iter_mut().zip(part).for_each(|(sum, ns)| *sum += ns);
        }
        let mut order: Vec<usize> = (0..of_ranks.len()).filter(|rank| of_ranks[*rank] > 0).collect();
        order.sort_by_key(|rank| (Reverse(of_ranks[*rank]), *rank));
        let is_enough = |count: usize| {
            let mut balanced_ranks = vec![false; of_ranks.len()];
            order[..count].iter().for_each(|rank| balanced_ranks[*rank] = true);
            let change = Change { balanced: true, balanced_ranks, ..Change::default() };
            savings.replayed_ns - self.replay(&change).run_ns >= MOST_OF_SAVING * saved_ns
        };
        // What lies with most ranks lies with none.
        let most = (of_ranks.len() / 2).min(order.len().saturating_sub(1)).min(MOST_DELAYING);
        if let Some(count) = about_least(most, is_enough) {
            order[count..].iter().for_each(|rank| of_ranks[*rank] = 0);
        }
        of_ranks
    }

    /// By part of the run and rank, the time in which its computing had no CPU, in nanoseconds.
    #[must_use]
    pub fn delayed_work(&self) -> Vec<Vec<u64>> {
        let work = self.work();
        let mut parts = vec![vec![0; self.threads_of.len()]; work.parts];
        if self.delays.is_known() {
            for thread in &self.threads {
                for (number, call) in thread.calls.clone().enumerate() {
                    let delay_ns = self.delay_before(call as usize) + self.delay_within(call as usize);
                    let part = number * work.parts / thread.calls.len();
                    parts[part][thread.rank.index()] += delay_ns;
                }
            }
        }
        parts
    }
}

/// About the least number from 1 to `most` that is enough, where all larger ones are too; it may be a tenth too large.
fn about_least(most: usize, is_enough: impl Fn(usize) -> bool) -> Option<usize> {
    let doubled = iter::successors(Some(1), |count| Some(2 * count)).take_while(|count| *count < most);
    let (mut too_few, mut found) = (0, None);
    for count in doubled.chain([most].into_iter().filter(|most| *most > 0)) {
        if is_enough(count) {
            found = Some(count);
            break;
        }
        too_few = count;
    }
    let mut enough = found?;
    while enough - too_few > 1 + enough / 10 {
        let middle = too_few.midpoint(enough);
        if is_enough(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

/// Replays of one graph. Flights with only an upper bound are drawn from others, and set to their lowest and highest expected
/// time in turn.
struct Replays<'a> {
    graph: &'a Graph,
    change: Change,
    advised: Option<&'a [Node]>,
    unchanged: Outcome,
    /// When the run ends with the change.
    base_ns: [OnceCell<f64>; 3],
}

const FIGURES: [UnfeltFlights; 3] = [UnfeltFlights::Drawn, UnfeltFlights::Low, UnfeltFlights::High];

impl<'a> Replays<'a> {
    fn new(graph: &'a Graph, change: Change, advised: Option<&'a [Node]>) -> Self {
        let unchanged = graph.replay(&Change::default());
        let base_ns = [const { OnceCell::new() }; 3];
        if change == Change::default() {
            let _ = base_ns[0].set(unchanged.run_ns);
        }
        Self { graph, change, advised, unchanged, base_ns }
    }

    fn ends_ns(&self, change: &Change, figure: usize) -> f64 {
        self.graph.replay(&Change { unfelt: FIGURES[figure], ..change.clone() }).run_ns
    }

    fn base_ns(&self, figure: usize) -> f64 {
        *self.base_ns[figure].get_or_init(|| self.ends_ns(&self.change, figure))
    }

    /// What costs less costs next to nothing.
    fn least_ns(&self) -> f64 {
        NEXT_TO_NOTHING * (self.base_ns(0) - self.graph.began_ns() as f64)
    }

    fn is_possible(&self, cause: Blame) -> bool {
        let graph = self.graph;
        match cause {
            // As many messages between nodes as before are not worth moving ranks.
            Blame::Mapping => self.advised.is_some_and(|nodes| {
                let now = graph.inter_messages(&graph.nodes) as f64;
                (graph.inter_messages(nodes) as f64) < (1.0 - LEAST_MOVED) * now
            }),
            Blame::Pattern => graph.rank_count() > 1,
            Blame::Background => !graph.has_one_node(),
            Blame::Cpu => graph.delays.is_known(),
        }
    }

    fn without(&self, causes: &[Blame]) -> Shorter {
        let possible = || causes.iter().filter(|cause| self.is_possible(**cause));
        if possible().next().is_none() {
            return Shorter::default();
        }
        let without =
            possible().fold(self.change.clone(), |change, cause| change.without(*cause, self.advised));
        let saved_ns = |figure: usize| self.base_ns(figure) - self.ends_ns(&without, figure);
        let wall_ns = saved_ns(0);
        if wall_ns < self.least_ns() {
            return Shorter { wall_ns: wall_ns.max(0.0), range_ns: (0.0, 0.0) };
        }
        let (low_ns, high_ns) = (saved_ns(1), saved_ns(2));
        let range_ns = (wall_ns.min(low_ns).min(high_ns).max(0.0), wall_ns.max(low_ns).max(high_ns));
        Shorter { wall_ns, range_ns }
    }

    fn savings(&self) -> Savings {
        let causes = Blame::ALL.map(|cause| {
            let Shorter { wall_ns, range_ns } = self.without(&[cause]);
            Saving { cause, wall_ns, range_ns }
        });
        Savings {
            recorded_ns: self.graph.recorded_ns() as f64,
            replayed_ns: self.unchanged.run_ns,
            departure: self.unchanged.departure,
            causes,
        }
    }

    fn of_sets(&self, single: &[Saving; 4]) -> [Shorter; SETS] {
        let least_ns = self.least_ns();
        let costs = |at: &usize| single[*at].wall_ns >= least_ns;
        let costly: usize = (0..single.len()).filter(costs).map(|at| 1 << at).sum();
        let mut sets = [Shorter::default(); SETS];
        for set in (1..SETS).filter(|set| set & !costly == 0) {
            let in_set = Blame::ALL.into_iter().filter(|cause| set >> *cause as usize & 1 == 1);
            let causes: Vec<Blame> = in_set.collect();
            sets[set] = match causes[..] {
                [cause] => Shorter::from(single[cause as usize]),
                _ => self.without(&causes),
            };
        }
        std::array::from_fn(|set: usize| match set.trailing_zeros() as usize {
            // Single causes keep their savings, however small.
            at if set.count_ones() == 1 => Shorter::from(single[at]),
            _ => sets[set & costly],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::about_least;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_that_is_enough_is_found_nearly(most in 0_usize..3_000, least in 1_usize..3_000) {
            let found = about_least(most, |count| count >= least);
            prop_assert_eq!(found.is_some(), least <= most);
            if let Some(found) = found {
                prop_assert!(found >= least && found <= most && found - least <= found / 10, "{found} for {least}");
            }
        }
    }
}
