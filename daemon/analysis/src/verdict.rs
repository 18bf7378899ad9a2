//! Why a run, or a stretch of it, takes longer than it has to: the cause with the most avoidable time, how much that
//! is, and how sure that is.

use crate::budget::{Budgeter, Cause, Causes, WindowBudget};
use crate::criteria::Scope;
use mpiscope_model::Nanoseconds;

/// What is to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Blame {
    /// Where ranks run.
    Mapping,
    /// How work and waiting are spread over ranks.
    Pattern,
    /// Others use the network.
    Background,
    /// Others use the processors.
    Cpu,
}

impl Blame {
    /// All, in order.
    pub const ALL: [Blame; 4] = [Blame::Mapping, Blame::Pattern, Blame::Background, Blame::Cpu];

    /// The word for files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Blame::Mapping => "mapping",
            Blame::Pattern => "pattern",
            Blame::Background => "background",
            Blame::Cpu => "cpu",
        }
    }
}

/// What keeps a verdict from being surer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Remark {
    /// Messages within nodes never decided, so that nobody knows what distance costs.
    NoIntraCriteria,
    /// Messages between nodes never decided.
    NoInterCriteria,
    /// Messages take longer than they have to from the beginning to the end: there is no quiet time to compare with.
    NoQuietReference,
    /// Much of the time in MPI is unknown.
    MuchUnknown,
    /// Another cause costs nearly as much.
    CloseSecond,
}

/// How a stretch of a run stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// What each cause costs that could be avoided, in seconds of ranks, the most first.
    pub causes: Vec<(Blame, f64)>,
    /// The ranks' time.
    pub ranks_s: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// The verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The cause; none where nothing costs enough.
    pub cause: Option<Blame>,
    /// What it costs, in seconds of ranks.
    pub avoidable_s: f64,
    /// What the run would be shorter, in seconds.
    pub avoidable_wall_s: f64,
    /// What it costs, as a share of the ranks' time.
    pub share: f64,
    /// How likely it is right, from 0 to 1.
    pub confidence: f64,
    /// What keeps it from being surer.
    pub remarks: Vec<Remark>,
}

/// Below this share of the ranks' time nothing is to blame.
pub(crate) const NEGLIGIBLE: f64 = 0.02;
/// The run is looked at in so many stretches, of which the quietest quarter is what it could be.
const STRETCHES: usize = 40;

/// What verdicts about stretches of a run rest on.
#[derive(Debug, Clone)]
pub struct Basis {
    /// The excess of messages and collectives for what they usually take, in the quietest quarter of the run.
    quiet: Option<f64>,
    /// The same over the run, and how it varies over it.
    mean: f64,
    net_of_saved: f64,
    unknown_scopes: [bool; 2],
    has_nodes: bool,
    is_referenced: bool,
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// What messages between nodes and collectives usually take, which excess is held against.
fn usual_ns(window: &WindowBudget) -> i64 {
    let budget = &window.budget;
    [Cause::Distance, Cause::Saved, Cause::Operation]
        .into_iter()
        .map(|cause| budget.direct[cause])
        .sum::<i64>()
        + window.inter.criterion_ns as i64
}

impl Basis {
    /// Looks at a run as far as it is settled. `is_referenced` says that criteria come from another run, which was good.
    #[must_use]
    pub fn of(budgeter: &Budgeter, is_referenced: bool) -> Self {
        let ledger = budgeter.ledger();
        let windows = ledger.windows();
        let length = windows.len().div_ceil(STRETCHES).max(1);
        let mut levels: Vec<(f64, f64)> = Vec::new();
        for stretch in windows.chunks(length) {
            let usual: i64 = stretch.iter().map(usual_ns).sum();
            let excess: i64 = stretch.iter().map(|window| window.budget.cost_ns(Cause::Excess)).sum();
            if usual > 0 {
                levels.push((excess as f64 / usual as f64, usual as f64));
            }
        }
        let weighted = |levels: &[(f64, f64)]| {
            let weight: f64 = levels.iter().map(|(_, weight)| weight).sum();
            (weight > 0.0).then(|| levels.iter().map(|(level, weight)| level * weight).sum::<f64>() / weight)
        };
        let mean = weighted(&levels).unwrap_or_default();
        levels.sort_by(|one, other| one.0.total_cmp(&other.0));
        let quarter = levels.len().div_ceil(4);
        let quiet = weighted(&levels[..quarter]);
        let criteria = budgeter.criteria();
        let nodes = budgeter.node_of_rank();
        Self {
            quiet,
            mean,
            net_of_saved: budgeter.net_of_saved(),
            unknown_scopes: [Scope::Intra, Scope::Inter].map(|scope| criteria.is_unknown(scope)),
            has_nodes: nodes.iter().any(|node| Some(node) != nodes.first()),
            is_referenced,
        }
    }

    /// The excess that the quietest quarter of the run has for what messages usually take.
    #[must_use]
    pub fn quiet_level(&self) -> f64 {
        self.quiet.unwrap_or_default().max(0.0)
    }

    /// What each cause costs in a stretch.
    fn avoidable(&self, window: &WindowBudget) -> [(Blame, f64); 4] {
        let budget = &window.budget;
        let mapping = seconds(budget.cost_ns(Cause::Saved)) * self.net_of_saved;
        let waited = [Cause::Compute, Cause::Base, Cause::Operation, Cause::Other];
        let pattern = waited.into_iter().map(|cause| seconds(budget.waiting_by[cause])).sum::<f64>();
        let quiet = self.quiet_level() * seconds(usual_ns(window));
        let background = seconds(budget.cost_ns(Cause::Excess)) - quiet;
        let cpu = seconds(window.no_core_ns as i64 + budget.waiting_by[Cause::NoCore]);
        [
            (Blame::Mapping, mapping.max(0.0)),
            (Blame::Pattern, pattern.max(0.0)),
            (Blame::Background, background.max(0.0)),
            (Blame::Cpu, cpu.max(0.0)),
        ]
    }

    /// Judges a stretch of so many ranks and seconds. `path` is what its length was made of, where that is known.
    #[must_use]
    pub fn assess(
        &self,
        window: &WindowBudget,
        ranks: u32,
        length_ns: Nanoseconds,
        path: Option<&Causes>,
    ) -> Assessment {
        let ranks_s = f64::from(ranks) * length_ns as f64 / 1e9;
        let mut causes = self.avoidable(window).to_vec();
        causes.sort_by(|one, other| other.1.total_cmp(&one.1));
        let (blame, avoidable_s) = causes[0];
        let share = if ranks_s > 0.0 { avoidable_s / ranks_s } else { 0.0 };
        let mut remarks = Vec::new();
        let unknown_s = seconds(window.budget.cost_ns(Cause::Unknown));
        let in_mpi_s = seconds(window.budget.total_ns());
        if self.has_nodes && self.unknown_scopes[0] {
            remarks.push(Remark::NoIntraCriteria);
        }
        if self.has_nodes && self.unknown_scopes[1] {
            remarks.push(Remark::NoInterCriteria);
        }
        if unknown_s.abs() > 0.1 * in_mpi_s.max(NEGLIGIBLE * ranks_s) {
            remarks.push(Remark::MuchUnknown);
        }
        if !self.is_referenced && self.never_quiet() {
            remarks.push(Remark::NoQuietReference);
        }
        let second_s = causes[1].1;
        if second_s > 0.6 * avoidable_s && share >= NEGLIGIBLE {
            remarks.push(Remark::CloseSecond);
        }
        let confidence = confidence(share, second_s / avoidable_s.max(1e-12), &remarks);
        let is_enough = share >= NEGLIGIBLE;
        let avoidable_wall_s = path.map_or(avoidable_s / f64::from(ranks.max(1)), |path| {
            self.wall_s(causes[0], path, f64::from(ranks.max(1)), window)
        });
        let verdict = Verdict {
            cause: is_enough.then_some(blame),
            avoidable_s: if is_enough { avoidable_s } else { 0.0 },
            avoidable_wall_s: if is_enough { avoidable_wall_s } else { 0.0 },
            share: if is_enough { share } else { 0.0 },
            confidence,
            remarks,
        };
        Assessment { causes, ranks_s, verdict }
    }

    /// Whether excess is great and about the same all the time.
    fn never_quiet(&self) -> bool {
        self.quiet_level() > 0.5 && self.quiet_level() > 0.7 * self.mean
    }

    /// What the path that decided would be shorter without the cause.
    fn wall_s(
        &self,
        (blame, avoidable_s): (Blame, f64),
        path: &Causes,
        ranks: f64,
        window: &WindowBudget,
    ) -> f64 {
        let whole = |cause: Cause| seconds(window.budget.cost_ns(cause)).max(1e-12);
        match blame {
            Blame::Mapping => seconds(path[Cause::Saved]).max(0.0) * self.net_of_saved,
            Blame::Background => {
                seconds(path[Cause::Excess]).max(0.0) * (avoidable_s / whole(Cause::Excess)).min(1.0)
            }
            Blame::Cpu => seconds(path[Cause::NoCore]).max(0.0),
            // Who is waited for changes along the way; what all wait on average is what they would gain.
            Blame::Pattern => avoidable_s / ranks,
        }
    }
}

/// How often such verdicts are right.
fn confidence(share: f64, second: f64, remarks: &[Remark]) -> f64 {
    let mut confidence: f64 = 0.95;
    // Near the line between enough and not enough.
    let near = (share / NEGLIGIBLE).max(NEGLIGIBLE / share.max(1e-9));
    if near < 1.5 {
        confidence *= 0.75;
    }
    if second > 0.6 && share >= NEGLIGIBLE {
        confidence *= 0.75;
    }
    for remark in remarks {
        confidence *= match remark {
            Remark::NoQuietReference => 0.5,
            Remark::MuchUnknown => 0.7,
            Remark::NoIntraCriteria | Remark::NoInterCriteria => 0.8,
            Remark::CloseSecond => 1.0,
        };
    }
    confidence
}
