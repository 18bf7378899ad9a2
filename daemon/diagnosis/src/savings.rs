//! What each cause costs: what the replay without it saves.

use crate::change::{Change, UnfeltFlights};
use crate::graph::Graph;
use crate::replay::Departure;
use mpiscope_model::Node;

/// What may be to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Where ranks run.
    Mapping,
    /// How work is spread over ranks.
    Pattern,
    /// The network, at some times or for some messages.
    Background,
    /// CPUs that others use.
    Cpu,
}

impl Cause {
    /// All, in order.
    pub const ALL: [Cause; 4] = [Cause::Mapping, Cause::Pattern, Cause::Background, Cause::Cpu];

    /// A change without it.
    #[must_use]
    pub fn without(self, mut change: Change, advised: Option<&[Node]>) -> Change {
        match self {
            Cause::Mapping => change.placement = advised.map(<[Node]>::to_vec).or(change.placement),
            Cause::Pattern => change.even_work = true,
            Cause::Background => change.quiet_network = true,
            Cause::Cpu => change.own_cores = true,
        }
        change
    }
}

/// What the run would be shorter without a cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saving {
    /// Which.
    pub cause: Cause,
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
    /// Each cause, in the order of [`Cause::ALL`].
    pub causes: [Saving; 4],
}

/// By part of the run and rank, the seconds that a cause which lies with ranks costs them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Excess {
    /// By part, then by rank, in nanoseconds.
    pub parts: Vec<Vec<u64>>,
    /// By rank, what it computed, without time without a CPU.
    pub computed_ns: Vec<u64>,
}

impl Graph {
    /// What each cause costs; placement against the one that is advised.
    #[must_use]
    pub fn savings(&self, advised: Option<&[Node]>) -> Savings {
        self.savings_after(&Change::default(), advised)
    }

    /// Likewise what each still costs after a change.
    #[must_use]
    pub fn savings_after(&self, change: &Change, advised: Option<&[Node]>) -> Savings {
        let unchanged = self.replay(&Change::default());
        let figures = [UnfeltFlights::Median, UnfeltFlights::Low, UnfeltFlights::High];
        let base_ns = figures.map(|unfelt| self.replay(&Change { unfelt, ..change.clone() }).run_ns);
        let causes = Cause::ALL.map(|cause| {
            let nothing = Saving { cause, wall_ns: 0.0, range_ns: (0.0, 0.0) };
            let is_possible = match cause {
                Cause::Mapping => advised.is_some_and(|nodes| *nodes != self.nodes[..]),
                Cause::Pattern => self.rank_count() > 1,
                Cause::Background => self.nodes.iter().any(|node| Some(node) != self.nodes.first()),
                Cause::Cpu => self.delays.is_known(),
            };
            if !is_possible {
                return nothing;
            }
            let without = cause.without(change.clone(), advised);
            let saved = |at: usize| {
                let changed = Change { unfelt: figures[at], ..without.clone() };
                base_ns[at] - self.replay(&changed).run_ns
            };
            let wall_ns = saved(0);
            // What costs next to nothing needs no range.
            if wall_ns < 0.005 * base_ns[0] {
                return Saving { wall_ns: wall_ns.max(0.0), ..nothing };
            }
            let (low, high) = (saved(1), saved(2));
            Saving {
                cause,
                wall_ns,
                range_ns: (wall_ns.min(low).min(high).max(0.0), wall_ns.max(low).max(high)),
            }
        });
        let recorded_ns = self.recorded_ns() as f64;
        Savings { recorded_ns, replayed_ns: unchanged.run_ns, departure: unchanged.departure, causes }
    }

    /// By rank, what it computes beyond the mean of those that do the same.
    #[must_use]
    pub fn excess_work(&self) -> Excess {
        let work = self.work();
        let ranks = self.threads_of.len();
        let of = |rank: usize, part: usize| {
            let at = rank * work.parts + part;
            (work.own_ns[at] - work.even_ns[at]).max(0.0) as u64
        };
        let parts = (0..work.parts).map(|part| (0..ranks).map(|rank| of(rank, part)).collect());
        Excess { parts: parts.collect(), computed_ns: self.computed_ns() }
    }

    /// By rank, the time in which its computing had no CPU.
    #[must_use]
    pub fn delayed_work(&self) -> Excess {
        let work = self.work();
        let mut parts = vec![vec![0; self.threads_of.len()]; work.parts];
        if self.delays.is_known() {
            for thread in &self.threads {
                let length = thread.calls.len().div_ceil(work.parts).max(1);
                for (number, call) in thread.calls.clone().enumerate() {
                    let delay_ns = self.delay_before(call as usize) + self.delay_within(call as usize);
                    parts[number / length][thread.rank as usize] += delay_ns;
                }
            }
        }
        Excess { parts, computed_ns: self.computed_ns() }
    }

    fn computed_ns(&self) -> Vec<u64> {
        let work = self.work();
        let of_rank = |own: &[f64]| own.iter().sum::<f64>() as u64;
        work.own_ns.chunks(work.parts.max(1)).map(of_rank).collect()
    }
}
