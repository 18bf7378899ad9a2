//! What is changed in a replay.

use crate::builder::NONE;
use crate::call_kind::CallKind;
use crate::flights::Figure;
use crate::graph::Graph;
use mpiscope_model::{Blame, Function, Node, Rank};

/// How long a flight takes when the recording only bounds it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnfeltFlights {
    /// The 10th percentile of their size.
    Low,
    /// The median.
    #[default]
    Median,
    /// The 90th percentile.
    High,
}

impl UnfeltFlights {
    pub(crate) fn figure(self) -> Figure {
        match self {
            UnfeltFlights::Low => Figure::Low,
            UnfeltFlights::Median => Figure::Median,
            UnfeltFlights::High => Figure::High,
        }
    }
}

/// What is changed in a replay. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// Ranks that do the same compute for the same time.
    pub even_work: bool,
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
    /// This change, and the run without a cause as well.
    #[must_use]
    pub(crate) fn without(mut self, cause: Blame, advised: Option<&[Node]>) -> Self {
        match cause {
            Blame::Mapping => self.placement = advised.map(<[Node]>::to_vec).or(self.placement),
            Blame::Pattern => self.even_work = true,
            Blame::Background => self.quiet_network = true,
            Blame::Cpu => self.own_cores = true,
        }
        self
    }
}

/// Ranks progress at different times, so work is evened out by parts of each rank's calls.
pub(crate) const MOST_PARTS: usize = 12;
/// A part has at least this many calls.
const LEAST_CALLS: usize = 64;

/// Computing of ranks by parts of their progress, without time without a CPU.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) parts: usize,
    /// By rank and part, in nanoseconds.
    pub(crate) own_ns: Vec<f64>,
    /// The mean of the ranks that do the same.
    pub(crate) even_ns: Vec<f64>,
}

impl Work {
    pub(crate) fn measure(graph: &Graph) -> Self {
        let ranks = graph.threads_of.len();
        let calls = graph.starts.len() / graph.threads.len().max(1);
        let parts = (calls / LEAST_CALLS).clamp(1, MOST_PARTS);
        let mut own_ns = vec![0.0; ranks * parts];
        for thread in &graph.threads {
            let of_rank = thread.rank as usize * parts;
            let length = (thread.calls.len()).div_ceil(parts).max(1);
            let calls = thread.calls.start as usize..thread.calls.end as usize;
            for call in calls.clone().skip(1) {
                let gap_ns = graph.starts[call] - graph.ends[call - 1];
                let pure_ns = gap_ns.saturating_sub(graph.delay_before(call));
                own_ns[of_rank + (call - calls.start) / length] += pure_ns as f64;
            }
        }
        let classes =
            graph.classes.iter().copied().filter(|class| *class != NONE).max().map_or(0, |max| max + 1);
        let mut sums = vec![(0.0, 0_u32); classes as usize * parts];
        let class_of = |rank: usize| graph.classes.get(rank).copied().filter(|class| *class != NONE);
        for rank in (0..ranks).filter(|rank| !graph.threads_of[*rank].is_empty()) {
            let Some(class) = class_of(rank) else { continue };
            for part in 0..parts {
                let (sum, count) = &mut sums[class as usize * parts + part];
                (*sum, *count) = (*sum + own_ns[rank * parts + part], *count + 1);
            }
        }
        let mut even_ns = own_ns.clone();
        for (at, even) in even_ns.iter_mut().enumerate() {
            if let Some(class) = class_of(at / parts) {
                let (sum, count) = sums[class as usize * parts + at % parts];
                *even = sum / f64::from(count.max(1));
            }
        }
        Self { parts, own_ns, even_ns }
    }

    /// By rank and part, what even work takes of what it took.
    fn scales(&self) -> Vec<f32> {
        let both = self.own_ns.iter().zip(&self.even_ns);
        both.map(|(own, even)| if *own > 0.0 { (even / own) as f32 } else { 1.0 }).collect()
    }
}

/// A change, as a replay applies it.
#[derive(Debug)]
pub(crate) struct Applied<'a> {
    pub(crate) change: &'a Change,
    pub(crate) parts: usize,
    /// By rank and part, the factor of computing.
    pub(crate) work: Vec<f32>,
    /// By function, the factor of its own time; empty where all are 1.
    pub(crate) own: Vec<f32>,
    /// By message, its flight in a quiet network as a share of the recorded one; empty where nothing changes.
    pub(crate) quiet: &'a [f32],
    /// By collective, likewise.
    pub(crate) quiet_groups: &'a [f32],
}

impl<'a> Applied<'a> {
    pub(crate) fn new(graph: &'a Graph, change: &'a Change) -> Self {
        let work = graph.work();
        let mut scales = if change.even_work { work.scales() } else { Vec::new() };
        if !change.ranks.is_empty() {
            scales.resize(graph.threads_of.len() * work.parts, 1.0);
            for &(rank, factor) in &change.ranks {
                let first = rank as usize * work.parts;
                let of_rank = scales.iter_mut().skip(first).take(work.parts);
                of_rank.for_each(|scale| *scale *= factor.max(0.0) as f32);
            }
        }
        let mut own = Vec::new();
        for &(function, factor) in &change.functions {
            own.resize(own.len().max(usize::from(function) + 1), 1.0_f32);
            own[usize::from(function)] *= factor.max(0.0) as f32;
        }
        let quiet = if change.quiet_network { graph.quiet_shares() } else { (&[][..], &[][..]) };
        Self { change, parts: work.parts, work: scales, own, quiet: quiet.0, quiet_groups: quiet.1 }
    }

    pub(crate) fn own(&self, function: Function) -> f64 {
        self.own.get(usize::from(function)).map_or(1.0, |factor| f64::from(*factor))
    }
}

impl Graph {
    pub(crate) fn delay_before(&self, call: usize) -> u64 {
        self.delays.before.get(call).copied().unwrap_or(0)
    }

    pub(crate) fn delay_within(&self, call: usize) -> u64 {
        self.delays.within.get(call).copied().unwrap_or(0)
    }

    /// The time in which a call waited for a CPU, its own rank's or another's.
    pub(crate) fn delay_of(&self, call: usize) -> u64 {
        let starved_ns = self.delays.starved.get(&(call as u32)).copied().unwrap_or(0);
        self.delay_within(call).max(starved_ns)
    }

    pub(crate) fn is_setup(&self, call: usize) -> bool {
        self.kind(call) == CallKind::Setup
    }
}
