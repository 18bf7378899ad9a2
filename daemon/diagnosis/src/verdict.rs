//! Why a run, or a stretch of it, takes longer than it has to: the cause with the most avoidable time, how much that
//! is, and how sure that is.

use crate::budget::{Budget, Budgeter, Cause, WindowBudget};
use crate::criteria::Scope;
use mpiscope_model::{Blame, Nanoseconds, Rank};

/// What keeps a verdict from being surer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Remark {
    /// Messages within nodes never decided: the inter-node cost is unknown.
    NoIntraCriteria,
    /// Messages between nodes never decided.
    NoInterCriteria,
    /// Messages take about the same from the beginning to the end, and the time in a quiet network is unknown.
    NoQuietReference,
    /// Much of the time in MPI is unknown.
    MuchUnknown,
    /// Another cause costs nearly as much.
    CloseSecond,
    /// An unchanged replay of the run departs from it: savings are unknown.
    ReplayDeparts {
        /// Whose call first ends at another time.
        rank: Rank,
        /// When.
        at_ns: Nanoseconds,
    },
    /// Calls took long, and nothing was found that they waited for.
    Unexplained,
    /// How long messages were under way is not known closely enough.
    WideRange,
}

/// What a replay of the run saves without each cause.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReplaySavings {
    /// By how much the run would be shorter, in seconds, in the order of [`Blame::ALL`].
    pub wall_s: [f64; 4],
    /// The least and the most that each may be.
    pub range_s: [(f64, f64); 4],
    /// Where an unchanged replay departs from the run.
    pub departs: Option<(Rank, Nanoseconds)>,
    /// Time in calls with an unknown reason to wait, in seconds of ranks.
    pub unexplained_s: f64,
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
pub const NEGLIGIBLE: f64 = 0.02;
/// The run is divided into this number of stretches; the quietest quarter of them is what it could be.
const STRETCHES: usize = 40;

/// What verdicts about stretches of a run rest on.
#[derive(Debug, Clone)]
pub struct Basis {
    /// The excess of messages and collectives over their expected times, in the quietest quarter of the run.
    quiet: Option<f64>,
    /// What each cause costs over the run, without regard to who waits for whom.
    costs_s: [f64; 4],
    ranks: f64,
    unknown_scopes: [bool; 2],
    has_nodes: bool,
    is_referenced: bool,
    /// There was network contention only part of the time.
    is_varied: bool,
    replayed: ReplaySavings,
    /// All waiting, for causes whose cost is not known by stretch.
    waiting_s: f64,
}

/// Where so much of the ranks' time is spent on the way between nodes, a disturbance would cost enough to be blamed.
const MUCH_NETWORK: f64 = 0.05;

/// Time on the way between nodes, in a stretch.
fn network_ns(budget: &Budget) -> i64 {
    let causes = [Cause::Saved, Cause::Distance, Cause::Excess, Cause::Operation, Cause::Unknown];
    causes.into_iter().map(|cause| budget.direct[cause] + budget.waiting_by[cause].abs()).sum()
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// Expected times of messages between nodes and collectives, the base of excess.
fn usual_ns(window: &WindowBudget) -> i64 {
    let budget = &window.budget;
    [Cause::Distance, Cause::Saved, Cause::Operation]
        .into_iter()
        .map(|cause| budget.direct[cause])
        .sum::<i64>()
        + window.inter.criterion_ns as i64
}

/// What each cause costs in a stretch, without regard to who waits for whom.
fn costs_s(window: &WindowBudget) -> [f64; 4] {
    let spared = &window.spared;
    Blame::ALL.map(|blame| {
        let ns = match blame {
            Blame::Mapping => spared.placed_ns,
            Blame::Pattern => spared.balanced_ns,
            Blame::Background => spared.quiet_ns,
            Blame::Cpu => spared.cored_ns,
        };
        seconds(ns as i64)
    })
}

impl Basis {
    /// Looks at a run as far as it is settled: a cause costs what the replay without it saves. With `is_referenced`
    /// the criteria come from another run, which was good.
    #[must_use]
    pub fn new(budgeter: &Budgeter, is_referenced: bool, replayed: ReplaySavings) -> Self {
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
        levels.sort_by(|one, other| one.0.total_cmp(&other.0));
        let quarter = levels.len().div_ceil(4);
        let quiet = weighted(&levels[..quarter]);
        let costs_s = costs_s(&ledger.total());
        let ranks = budgeter.node_of_rank().len().max(1) as f64;
        let criteria = budgeter.criteria();
        let nodes = budgeter.node_of_rank();
        Self {
            quiet,
            costs_s,
            ranks,
            unknown_scopes: [Scope::Intra, Scope::Inter].map(|scope| criteria.is_unknown(scope)),
            has_nodes: nodes.iter().any(|node| Some(node) != nodes.first()),
            is_referenced,
            is_varied: budgeter.saw_disturbance(),
            replayed,
            waiting_s: seconds(ledger.total().budget.waiting_ns as i64),
        }
    }

    /// The excess that the quietest quarter of the run has over expected transfer times.
    #[must_use]
    pub fn quiet_level(&self) -> f64 {
        self.quiet.unwrap_or_default().max(0.0)
    }

    /// Nobody knows what distance costs where it is not known what messages take within nodes, or between them.
    #[must_use]
    pub fn is_distance_unknown(&self) -> bool {
        self.has_nodes && self.unknown_scopes.contains(&true)
    }

    /// The avoidable time by cause in a stretch: what the replay of the run saves, divided as the cost is, or as waiting is
    /// where the cost is not known by stretch. Nothing where the replay departs from the run.
    #[must_use]
    pub fn avoidable(&self, window: &WindowBudget) -> [(Blame, f64); 4] {
        let costs_s = costs_s(window);
        let mut all = Blame::ALL.map(|blame| (blame, 0.0));
        if self.replayed.departs.is_some() {
            return all;
        }
        let waiting_s = seconds(window.budget.waiting_ns as i64);
        for (at, (_, avoidable_s)) in all.iter_mut().enumerate() {
            let share = if self.costs_s[at] > 0.0 {
                costs_s[at] / self.costs_s[at]
            } else if self.waiting_s > 0.0 {
                waiting_s / self.waiting_s
            } else {
                0.0
            };
            *avoidable_s = (self.replayed.wall_s[at] * self.ranks * share).max(0.0);
        }
        all
    }

    /// Assesses a stretch with this number of ranks and seconds.
    #[must_use]
    pub fn assess(&self, window: &WindowBudget, ranks: u32, length_ns: Nanoseconds) -> Assessment {
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
        let network_s = seconds(network_ns(&window.budget));
        if !self.is_referenced && !self.is_varied && network_s > MUCH_NETWORK * ranks_s {
            remarks.push(Remark::NoQuietReference);
        }
        let second_s = causes[1].1;
        if second_s > 0.6 * avoidable_s && share >= NEGLIGIBLE {
            remarks.push(Remark::CloseSecond);
        }
        remarks.extend(of_replay(&self.replayed, blame, ranks_s));
        let confidence = confidence(blame, share, second_s / avoidable_s.max(1e-12), &remarks);
        let is_enough = share >= NEGLIGIBLE;
        let avoidable_wall_s = avoidable_s / f64::from(ranks.max(1));
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
}

/// Where calls for which nothing explains their length make up this share of the ranks' time, a cause may hide in them.
const UNEXPLAINED: f64 = 0.1;

/// What keeps a replay from being surer.
fn of_replay(replayed: &ReplaySavings, blame: Blame, ranks_s: f64) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if let Some((rank, at_ns)) = replayed.departs {
        remarks.push(Remark::ReplayDeparts { rank, at_ns });
    }
    let at = Blame::ALL.iter().position(|other| *other == blame).unwrap_or(0);
    let (low_s, high_s) = replayed.range_s[at];
    if high_s - low_s > 0.5 * replayed.wall_s[at].max(1e-9) && high_s > 0.0 {
        remarks.push(Remark::WideRange);
    }
    if replayed.unexplained_s > UNEXPLAINED * ranks_s {
        remarks.push(Remark::Unexplained);
    }
    remarks
}

/// How often such verdicts are right.
fn confidence(blame: Blame, share: f64, second: f64, remarks: &[Remark]) -> f64 {
    // What ranks computed, and how long they waited for a CPU, is known without any message.
    let is_of_ranks = share >= NEGLIGIBLE && matches!(blame, Blame::Pattern | Blame::Cpu);
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
            Remark::NoQuietReference if is_of_ranks => 0.8,
            Remark::NoQuietReference => 0.5,
            Remark::MuchUnknown => 0.7,
            Remark::NoIntraCriteria | Remark::NoInterCriteria => 0.8,
            Remark::CloseSecond => 1.0,
            Remark::ReplayDeparts { .. } => 0.3,
            Remark::Unexplained => 0.6,
            Remark::WideRange => 0.75,
        };
    }
    confidence
}
