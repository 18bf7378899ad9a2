//! What each cause costs: what the replay without it saves.

use crate::whatif::change::{Change, UnfeltFlights};
use crate::whatif::gaps::each_gap;
use crate::whatif::graph::Graph;
use crate::whatif::graph::work::Work;
use crate::whatif::replay::{Departure, Outcome};
use crate::whatif::replayer::{InTurn, Replayer};
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
        self.savings_after(&Change::default(), advised, &InTurn)
    }

    /// Likewise what each still costs after a change.
    #[must_use]
    pub fn savings_after(
        &self,
        change: &Change,
        advised: Option<&[Node]>,
        replayer: &dyn Replayer,
    ) -> Savings {
        Replays::new(self, change.clone(), advised, replayer).savings()
    }

    /// What each cause costs, and by what the run is shorter without each set of them: a bit each, in the order of
    /// [`Blame::ALL`].
    #[must_use]
    pub fn savings_of_sets(
        &self,
        advised: Option<&[Node]>,
        replayer: &dyn Replayer,
    ) -> (Savings, [Shorter; SETS]) {
        let replays = Replays::new(self, Change::default(), advised, replayer);
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
        if self.differs_by_step {
            return self.excess_work_of_steps(work);
        }
        let of = |rank: usize, part: usize| {
            let at = rank * work.parts + part;
            (work.own_ns[at] - work.even_ns[at]).max(0.0) as u64
        };
        (0..work.parts).map(|part| (0..ranks).map(|rank| of(rank, part)).collect()).collect()
    }

    fn excess_work_of_steps(&self, work: &Work) -> Vec<Vec<u64>> {
        let mut excess = vec![vec![0; self.threads_of.len()]; work.parts];
        each_gap(self, |gap| {
            let part = usize::from(work.cell_of[gap.call]) * work.parts / work.segment_of.len();
            // What is of no step is no number, and nothing is more than that.
            excess[part][gap.rank] += (gap.pure_ns - f64::from(self.even_steps_ns[gap.call])).max(0.0) as u64;
        });
        excess
    }

    /// By rank, the sum of such excess if others wait for it: of about the fewest ranks with the most whose work, balanced alone, saves
    /// most of what balanced work saves. In a large job most ranks have more than others at some time, in sum more than the one
    /// that all wait for. Empty where balanced work saves nothing.
    #[must_use]
    pub fn delaying_work(&self, savings: &Savings, excess: &[Vec<u64>], replayer: &dyn Replayer) -> Vec<u64> {
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
        let are_enough = |counts: &[usize]| {
            let balanced = |count: &usize| {
                let mut balanced_ranks = vec![false; of_ranks.len()];
                order[..*count].iter().for_each(|rank| balanced_ranks[*rank] = true);
                Change { balanced: true, balanced_ranks, ..Change::default() }
            };
            let outcomes = replayer.outcomes(self, &counts.iter().map(balanced).collect::<Vec<_>>());
            let is_enough =
                |outcome: &Outcome| savings.replayed_ns - outcome.run_ns >= MOST_OF_SAVING * saved_ns;
            outcomes.iter().map(is_enough).collect()
        };
        // What lies with most ranks lies with none.
        let most = (of_ranks.len() / 2).min(order.len().saturating_sub(1)).min(MOST_DELAYING);
        if let Some(count) = about_least(most, replayer.at_once(self), are_enough) {
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

/// About the least number from 1 to `most` that is enough, where all larger ones are too; it may be a tenth too large. `at_once`
/// numbers are tried together, with the same result.
fn about_least(most: usize, at_once: usize, are_enough: impl Fn(&[usize]) -> Vec<bool>) -> Option<usize> {
    let doubled = iter::successors(Some(1), |count| Some(2 * count)).take_while(|count| *count < most);
    let counts: Vec<usize> = doubled.chain([most].into_iter().filter(|most| *most > 0)).collect();
    let mut tried = counts.chunks(at_once.max(1)).zip((0..).step_by(at_once.max(1)));
    let first = |(some, from): (&[usize], usize)| {
        are_enough(some).iter().position(|is_enough| *is_enough).map(|at| from + at)
    };
    let found = tried.find_map(first)?;
    let (mut too_few, mut enough) = (found.checked_sub(1).map_or(0, |before| counts[before]), counts[found]);
    while enough - too_few > 1 + enough / 10 {
        let middle = too_few.midpoint(enough);
        if are_enough(&[middle])[0] { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

/// Replays of one graph. Flights with only an upper bound are drawn from others, and set to their lowest and highest expected
/// time in turn.
struct Replays<'a> {
    graph: &'a Graph,
    change: Change,
    advised: Option<&'a [Node]>,
    replayer: &'a dyn Replayer,
    unchanged: Outcome,
    /// When the run ends with the change.
    base_ns: f64,
    /// Causes without which it may be another one, the change without each, and when the run ends then.
    possible: Vec<Blame>,
    without: Vec<Change>,
    without_ns: Vec<f64>,
    /// When it ends with the change, at the least and the most.
    base_bounds_ns: OnceCell<[f64; 2]>,
}

const BOUNDS: [UnfeltFlights; 2] = [UnfeltFlights::Low, UnfeltFlights::High];

impl<'a> Replays<'a> {
    fn new(
        graph: &'a Graph,
        change: Change,
        advised: Option<&'a [Node]>,
        replayer: &'a dyn Replayer,
    ) -> Self {
        let possible: Vec<Blame> =
            Blame::ALL.into_iter().filter(|cause| is_possible(graph, *cause, advised)).collect();
        let mut changes = vec![Change::default()];
        changes.extend(Some(change.clone()).filter(|change| *change != Change::default()));
        let base = changes.len() - 1;
        changes.extend(possible.iter().map(|cause| change.clone().without(*cause, advised)));
        let outcomes = replayer.outcomes(graph, &changes);
        Self {
            graph,
            change,
            advised,
            replayer,
            unchanged: outcomes[0],
            base_ns: outcomes[base].run_ns,
            possible,
            without: changes.split_off(base + 1),
            without_ns: outcomes[base + 1..].iter().map(|outcome| outcome.run_ns).collect(),
            base_bounds_ns: OnceCell::new(),
        }
    }

    /// The change without all causes of a set.
    fn without_set(&self, set: usize) -> Change {
        let causes = Blame::ALL.into_iter().filter(|cause| set >> *cause as usize & 1 == 1);
        causes.fold(self.change.clone(), |change, cause| change.without(cause, self.advised))
    }

    /// What costs less costs next to nothing.
    fn least_ns(&self) -> f64 {
        NEXT_TO_NOTHING * (self.base_ns - self.graph.began_ns() as f64)
    }

    /// When the run ends after changes, at the least and the most.
    fn bounds_ns(&self, changes: &[Change]) -> Vec<[f64; 2]> {
        let bounded = |change: &Change| BOUNDS.map(|unfelt| Change { unfelt, ..change.clone() });
        let bounded: Vec<Change> = changes.iter().flat_map(bounded).collect();
        let outcomes = self.replayer.outcomes(self.graph, &bounded);
        outcomes.chunks_exact(2).map(|of| [of[0].run_ns, of[1].run_ns]).collect()
    }

    /// By what the run is shorter after changes, from when it ends then.
    fn shorter(&self, changes: &[Change], ends_ns: &[f64]) -> Vec<Shorter> {
        let saved_ns = |at: usize| self.base_ns - ends_ns[at];
        let is_costly = |at: &usize| saved_ns(*at) >= self.least_ns();
        let costly: Vec<usize> = (0..changes.len()).filter(is_costly).collect();
        // With the change alone first, if that is not known yet.
        let base = self.change.clone();
        let unknown = self.base_bounds_ns.get().is_none() && !costly.is_empty();
        let wanted = unknown.then_some(base).into_iter().chain(costly.iter().map(|at| changes[*at].clone()));
        let mut bounds_ns = self.bounds_ns(&wanted.collect::<Vec<_>>());
        if unknown {
            let _ = self.base_bounds_ns.set(bounds_ns.remove(0));
        }
        let mut shorter: Vec<Shorter> = (0..changes.len())
            .map(|at| Shorter { wall_ns: saved_ns(at).max(0.0), range_ns: (0.0, 0.0) })
            .collect();
        let base_ns = self.base_bounds_ns.get().copied().unwrap_or_default();
        for (at, ends_ns) in costly.into_iter().zip(bounds_ns) {
            let wall_ns = shorter[at].wall_ns;
            let [low_ns, high_ns] = [base_ns[0] - ends_ns[0], base_ns[1] - ends_ns[1]];
            shorter[at].range_ns =
                (wall_ns.min(low_ns).min(high_ns).max(0.0), wall_ns.max(low_ns).max(high_ns));
        }
        shorter
    }

    fn savings(&self) -> Savings {
        let shorter = self.shorter(&self.without, &self.without_ns);
        let causes = Blame::ALL.map(|cause| {
            let at = self.possible.iter().position(|possible| *possible == cause);
            let Shorter { wall_ns, range_ns } = at.map(|at| shorter[at]).unwrap_or_default();
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
        let several: Vec<usize> =
            (1..SETS).filter(|set| set & !costly == 0 && set.count_ones() > 1).collect();
        let changes: Vec<Change> = several.iter().map(|set| self.without_set(*set)).collect();
        let outcomes = self.replayer.outcomes(self.graph, &changes);
        let ends_ns: Vec<f64> = outcomes.iter().map(|outcome| outcome.run_ns).collect();
        let mut sets = [Shorter::default(); SETS];
        for (set, shorter) in several.iter().zip(self.shorter(&changes, &ends_ns)) {
            sets[*set] = shorter;
        }
        // Single causes keep their savings, however small.
        single.iter().enumerate().for_each(|(at, of)| sets[1 << at] = Shorter::from(*of));
        std::array::from_fn(|set: usize| if set.count_ones() == 1 { sets[set] } else { sets[set & costly] })
    }
}

/// Whether the run may be another one without a cause.
fn is_possible(graph: &Graph, cause: Blame, advised: Option<&[Node]>) -> bool {
    match cause {
        // As many messages between nodes as before are not worth moving ranks.
        Blame::Mapping => advised.is_some_and(|nodes| {
            let now = graph.inter_messages(&graph.nodes) as f64;
            (graph.inter_messages(nodes) as f64) < (1.0 - LEAST_MOVED) * now
        }),
        Blame::Pattern => graph.rank_count() > 1,
        Blame::Background => !graph.has_one_node(),
        Blame::Cpu => graph.delays.is_known(),
    }
}

#[cfg(test)]
mod tests {
    use super::about_least;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_that_is_enough_is_found_nearly(
            most in 0_usize..3_000,
            least in 1_usize..3_000,
            at_once in 1_usize..9,
        ) {
            let are_enough = |counts: &[usize]| counts.iter().map(|count| *count >= least).collect();
            let found = about_least(most, at_once, are_enough);
            prop_assert_eq!(found, about_least(most, 1, are_enough));
            prop_assert_eq!(found.is_some(), least <= most);
            if let Some(found) = found {
                prop_assert!(found >= least && found <= most && found - least <= found / 10, "{found} for {least}");
            }
        }
    }
}
