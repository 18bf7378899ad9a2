//! What the scheduler says of ranks, and what that means for their calls.

use mpiscope_model::Rank;

/// What the scheduler says of a rank at a moment, in sums since its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchedulerSample {
    pub(crate) at_ns: u64,
    /// The time without a CPU.
    pub(crate) missing_ns: u64,
    /// The part of it in which the rank was stopped.
    pub(crate) stopped_ns: u64,
    pub(crate) run_ns: u64,
    /// How long the rank then waited for a CPU at a time, on average; `u64::MAX` where nobody knows.
    pub(crate) wait_ns: u64,
}

impl SchedulerSample {
    /// The time in which the rank had a CPU or waited for one.
    pub(crate) fn ready_ns(&self) -> u64 {
        self.run_ns.saturating_add(self.missing_ns).saturating_sub(self.stopped_ns)
    }
}

/// The figures of all ranks, and what they mean for each call.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    /// By rank, in the order of time.
    pub(crate) figures: Vec<Vec<SchedulerSample>>,
    /// By call, the time without a CPU in the computing before it, in nanoseconds. Empty where no rank ever waited.
    pub(crate) before: Vec<u64>,
    /// By call, likewise in itself after what it waited for was on its way.
    pub(crate) within: Vec<u64>,
    /// By call, likewise in itself, or the time in which a rank that it needed had none if that is longer.
    pub(crate) of_calls: Vec<u64>,
    /// The share of all of it for which recording itself may be the reason.
    pub(crate) of_recorder: f64,
}

impl Delays {
    /// Of time without a CPU, what there is none of where nothing else wants the ranks' CPUs but recording.
    pub(crate) fn of_others(&self, ns: u64) -> u64 {
        (ns as f64 * (1.0 - self.of_recorder)) as u64
    }

    /// The time without a CPU of a rank in a stretch; between two figures it comes evenly.
    pub(crate) fn between(&self, rank: Rank, from_ns: u64, to_ns: u64) -> u64 {
        self.sum_between(rank, (from_ns, to_ns), |figure| figure.missing_ns) as u64
    }

    /// Whether the scheduler says of a rank how long it waited for a CPU, and that it was not stopped.
    pub(crate) fn is_only_delayed(&self, rank: usize) -> bool {
        let figures = self.figures.get(rank).map_or(&[][..], |figures| figures);
        figures.len() > 1
            && figures.first().map(|figure| figure.stopped_ns)
                == figures.last().map(|figure| figure.stopped_ns)
    }

    /// How much a sum of a rank grew in a stretch; between two figures it grows evenly.
    pub(crate) fn sum_between(
        &self,
        rank: Rank,
        (from_ns, to_ns): (u64, u64),
        sum_ns: impl Fn(&SchedulerSample) -> u64,
    ) -> f64 {
        let Some(figures) = self.figures.get(rank.index()) else { return 0.0 };
        let until = |at_ns: u64| {
            let after = figures.partition_point(|figure| figure.at_ns <= at_ns);
            match (after.checked_sub(1).map(|at| &figures[at]), figures.get(after)) {
                (Some(one), Some(other)) => {
                    let share = (at_ns - one.at_ns) as f64 / (other.at_ns - one.at_ns).max(1) as f64;
                    sum_ns(one) as f64 + sum_ns(other).saturating_sub(sum_ns(one)) as f64 * share
                }
                (Some(only), None) | (None, Some(only)) => sum_ns(only) as f64,
                (None, None) => 0.0,
            }
        };
        (until(to_ns) - until(from_ns)).max(0.0)
    }

    /// How long a rank was stopped in a stretch.
    pub(crate) fn stopped_between(&self, rank: Rank, span: (u64, u64)) -> u64 {
        self.sum_between(rank, span, |figure| figure.stopped_ns) as u64
    }

    /// How long a rank then waited for a CPU at a time, on average, if that is known.
    pub(crate) fn wait_at(&self, rank: Rank, at_ns: u64) -> Option<u64> {
        let figures = self.figures.get(rank.index()).map_or(&[][..], |figures| figures);
        let after = figures.partition_point(|figure| figure.at_ns < at_ns);
        let figure = figures.get(after).or(figures.last());
        figure.map(|figure| figure.wait_ns).filter(|wait_ns| *wait_ns < u64::MAX)
    }

    /// Whether any rank ever waited for a CPU.
    pub(crate) fn is_known(&self) -> bool {
        !self.before.is_empty()
    }
}
