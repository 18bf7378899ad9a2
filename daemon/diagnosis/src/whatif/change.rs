//! What is changed in a replay.

use crate::whatif::graph::Graph;
use crate::whatif::graph::quiet_group::QuietGroup;
use crate::whatif::graph::work::{Scale, Work};
use mpiscope_model::{Blame, Function, Node, Rank};

/// How long a flight takes when the recording only bounds it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnfeltFlights {
    /// The 10th percentile of those of their size that were felt.
    Low,
    /// As one of them, drawn at random: calls that wait for many messages end with a slow one.
    #[default]
    Drawn,
    /// The 90th percentile.
    High,
}

/// What is changed in a replay. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// Ranks that do the same compute for the same time.
    pub balanced: bool,
    /// If not empty, by rank, whether it loses work by that: others keep what they have, or get more.
    pub balanced_ranks: Vec<bool>,
    /// Nobody waits for a CPU.
    pub own_cores: bool,
    /// Flights between nodes and collectives are as in the quietest quarter of the run, or as they were measured before.
    pub quiet_network: bool,
    /// By rank, another node.
    pub placement: Option<Vec<Node>>,
    /// The computing of ranks, by factors.
    pub ranks: Vec<(Rank, f64)>,
    /// Latency by a factor.
    pub latency: Option<f64>,
    /// Bandwidth by a factor.
    pub bandwidth: Option<f64>,
    /// The own time of functions, by factors.
    pub functions: Vec<(Function, f64)>,
    /// How long a flight takes when the recording only bounds it.
    pub unfelt: UnfeltFlights,
}

impl Change {
    /// Whether the run takes another course, and not only what is not known of it is assumed otherwise.
    pub(crate) fn changes_the_run(&self) -> bool {
        *self != Self { unfelt: self.unfelt, ..Self::default() }
    }

    /// Whether a rank loses no work by balance.
    fn keeps_work(&self, rank: usize) -> bool {
        !self.balanced_ranks.is_empty() && !self.balanced_ranks.get(rank).is_some_and(|loses| *loses)
    }

    /// This change, and the run without a cause as well.
    #[must_use]
    pub(crate) fn without(mut self, cause: Blame, advised: Option<&[Node]>) -> Self {
        match cause {
            Blame::Mapping => self.placement = advised.map(<[Node]>::to_vec).or(self.placement),
            Blame::Pattern => self.balanced = true,
            Blame::Background => self.quiet_network = true,
            Blame::Cpu => self.own_cores = true,
        }
        self
    }
}

/// A change, as a replay applies it.
#[derive(Debug)]
pub(crate) struct Applied<'a> {
    pub(crate) change: &'a Change,
    work: &'a Work,
    /// By segment and rank, what becomes of computing; empty where nothing changes.
    scales: Vec<Scale>,
    /// By call, the computing before it where that is balanced step by step, if it is not `NAN`; likewise empty.
    even_steps_ns: &'a [f32],
    /// By rank, the factor of all of it; empty where all are 1.
    ranks: Vec<f64>,
    /// By rank and segment, what becomes of waiting for a CPU meanwhile; likewise empty.
    delays: Vec<f32>,
    /// By function, the factor of its own time; empty where all are 1.
    pub(crate) own: Vec<f32>,
    /// By message, its flight in a quiet network as a share of the recorded one; empty where nothing changes.
    pub(crate) quiet: &'a [f32],
    /// By collective, likewise.
    pub(crate) quiet_groups: &'a [QuietGroup],
}

impl<'a> Applied<'a> {
    pub(crate) fn new(graph: &'a Graph, change: &'a Change) -> Self {
        let work = graph.work();
        let mut scales = if change.balanced { work.scales() } else { Vec::new() };
        let mut delays = if change.balanced { work.delays.clone() } else { Vec::new() };
        if !change.balanced_ranks.is_empty() {
            let scales = scales.iter_mut().enumerate().filter(|(at, _)| change.keeps_work(at % work.ranks));
            scales.filter(|(_, scale)| scale.takes_work()).for_each(|(_, scale)| *scale = Scale::UNCHANGED);
            let delays =
                delays.iter_mut().enumerate().filter(|(at, _)| change.keeps_work(at / work.segments));
            delays.for_each(|(_, factor)| *factor = factor.max(1.0));
        }
        let even_steps_ns = if change.balanced { &*graph.even_steps_ns } else { &[] };
        let mut ranks = Vec::new();
        for &(rank, factor) in &change.ranks {
            ranks.resize(work.ranks, 1.0);
            ranks.get_mut(rank.index()).into_iter().for_each(|of| *of *= factor.max(0.0));
        }
        let mut own = Vec::new();
        for &(function, factor) in &change.functions {
            own.resize(own.len().max(usize::from(function) + 1), 1.0_f32);
            own[usize::from(function)] *= factor.max(0.0) as f32;
        }
        let quiet = if change.quiet_network { graph.in_quiet_network() } else { (&[][..], &[][..]) };
        Self {
            change,
            work,
            scales,
            even_steps_ns,
            ranks,
            delays,
            own,
            quiet: quiet.0,
            quiet_groups: quiet.1,
        }
    }

    /// A rank's computing before a call, of what was recorded.
    pub(crate) fn computing_ns(&self, rank: Rank, call: usize, recorded_ns: f64) -> f64 {
        let even_step_ns = self.even_steps_ns.get(call).copied().filter(|ns| !ns.is_nan());
        let own_ns = match even_step_ns.map(f64::from) {
            // A rank that keeps its work may get more.
            Some(even_ns) if self.change.keeps_work(rank.index()) => even_ns.max(recorded_ns),
            Some(even_ns) => even_ns,
            None if self.scales.is_empty() => recorded_ns,
            None => recorded_ns * self.work.factor(&self.scales, rank.index(), call),
        };
        own_ns * self.ranks.get(rank.index()).copied().unwrap_or(1.0)
    }

    /// The factor of what a rank waits for a CPU while it computes before a call.
    pub(crate) fn delays(&self, rank: Rank, call: usize) -> f64 {
        if self.delays.is_empty() { 1.0 } else { self.work.delay(&self.delays, rank.index(), call) }
    }

    /// Whether nobody makes a call any more.
    pub(crate) fn is_needless(&self, rank: Rank, place: u16, call: usize) -> bool {
        !self.scales.is_empty() && self.work.is_needless(&self.scales, (rank.index(), place), call)
    }

    pub(crate) fn own(&self, function: Function) -> f64 {
        self.own.get(usize::from(function)).map_or(1.0, |factor| f64::from(*factor))
    }
}
