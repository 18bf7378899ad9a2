//! A job made ready to be simulated: with all disturbances, or with some of them removed.

use crate::compute::{Uneven, Work, block};
use crate::disturbance::Disturbance;
use crate::network::{Others, Wires};
use crate::pattern::Pattern;
use crate::placement::Placement;
use crate::random::LogNormal;
use crate::script::{Script, Serial};
use crate::spec::{Network, Spec};
use crate::theft::Theft;
use crate::torus::NodeTorus;

/// What a spec leaves open, found without any disturbance: counterfactual jobs have the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basis {
    pub(crate) network: Network,
    /// What each rank computes in a step.
    pub(crate) work_ns: f64,
    /// What a step takes.
    pub(crate) step_ns: f64,
    pub(crate) steps: u32,
}

/// A job, ready.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) spec: Spec,
    pub(crate) script: Script,
    pub(crate) steps: u32,
    pub(crate) node_of: Vec<u32>,
    pub(crate) wires: Wires,
    pub(crate) work: Work,
    pub(crate) thefts: Vec<Theft>,
    /// What a root works on each message.
    pub(crate) handle_ns: u64,
}

impl Plan {
    /// The job with all disturbances but those that are to be removed, by their places.
    pub(crate) fn new(spec: &Spec, basis: &Basis, is_removed: impl Fn(usize) -> bool) -> Self {
        let mut disturbed = Disturbed::new(spec.placement);
        for (at, disturbance) in spec.disturb.iter().enumerate() {
            disturbed.add(spec, basis, disturbance, is_removed(at));
        }
        let Disturbed { placement, serial, handle_ns, uneven, thefts, others, slower } = disturbed;
        let node_of = placement.nodes(spec.ranks, spec.nodes, spec.seed);
        let slow = slow_ranks(&node_of, spec, &slower);
        Self {
            script: spec.pattern.script(spec, serial),
            steps: basis.steps,
            node_of,
            wires: Wires::new(spec, basis.network, others),
            work: Work::new((spec.seed, spec.work_sigma), (spec.ranks, basis.steps), basis.work_ns, uneven)
                .slowed(slow),
            thefts,
            handle_ns,
            spec: spec.clone(),
        }
    }
}

/// What the disturbances of a job change.
struct Disturbed {
    placement: Placement,
    serial: Serial,
    handle_ns: u64,
    uneven: Vec<Uneven>,
    thefts: Vec<Theft>,
    others: Vec<Others>,
    /// Which ranks are slower, by how much, and whether that is spread over all.
    slower: Vec<(Slower, f64, bool)>,
}

impl Disturbed {
    fn new(placement: Placement) -> Self {
        Self {
            placement,
            serial: Serial::None,
            handle_ns: 0,
            uneven: Vec::new(),
            thefts: Vec::new(),
            others: Vec::new(),
            slower: Vec::new(),
        }
    }

    /// Adds a disturbance, or what is left of the job's work without it.
    fn add(&mut self, spec: &Spec, basis: &Basis, disturbance: &Disturbance, removed: bool) {
        let run_ns = basis.step_ns * f64::from(basis.steps);
        match *disturbance {
            Disturbance::WorsePlacement { placement: bad } => {
                self.placement = if removed { Placement::Block } else { bad };
            }
            Disturbance::Imbalance { share, more, drifts } => {
                self.uneven.push(Uneven { share, more, drifts, is_spread: removed });
            }
            Disturbance::GradedImbalance { more } => self.slower.push((Slower::Graded, more, removed)),
            Disturbance::SlowNode { more } => self.slower.push((Slower::Node, more, removed)),
            Disturbance::SlowRack { more } => self.slower.push((Slower::Rack, more, removed)),
            Disturbance::SerializedRoot { every, share } => {
                self.serial = if removed { Serial::Spread { every } } else { Serial::Root { every } };
                let every = if spec.pattern == Pattern::MasterWorker { 1 } else { every };
                self.handle_ns = (share * basis.step_ns * f64::from(every) / f64::from(spec.ranks)) as u64;
            }
            Disturbance::NetworkContention { ref nodes, during, factor, sigma } if !removed => {
                let all = if nodes.is_empty() { 0 } else { spec.nodes };
                let nodes = (0..all).map(|node| nodes.contains(&node)).collect();
                let (during_ns, spread) = (during.range_ns(run_ns), LogNormal::new(sigma));
                self.others.push(Others { nodes, during_ns, factor, spread });
            }
            Disturbance::StolenCpu { share, during, period_ns, taken } if !removed => {
                let ranks = block(spec.ranks, spec.ranks / 3, share);
                self.thefts.push(Theft::new(spec.seed, ranks, during.range_ns(run_ns), period_ns, taken));
            }
            Disturbance::StoppedRank { during, period_ns, taken } if !removed => {
                let last = (spec.ranks - 1, 1);
                let theft = Theft::new(spec.seed, last, during.range_ns(run_ns), period_ns, taken);
                self.thefts.push(theft.of_stops());
            }
            _ => {}
        }
    }
}

/// Which ranks always compute longer.
#[derive(Debug, Clone, Copy)]
enum Slower {
    /// Each longer than the one before.
    Graded,
    /// Those of one node.
    Node,
    /// Those of one rack.
    Rack,
}

impl Slower {
    /// How much of the slowness each rank has, from 0 to 1.
    fn shares(self, node_of: &[u32], spec: &Spec) -> Vec<f64> {
        let of_nodes = |is_slow: &dyn Fn(u32) -> bool| -> Vec<f64> {
            node_of.iter().map(|&node| f64::from(u8::from(is_slow(node)))).collect()
        };
        match self {
            Slower::Graded => {
                let last = f64::from(spec.ranks.max(2) - 1);
                (0..spec.ranks).map(|rank| f64::from(rank) / last).collect()
            }
            Slower::Node => of_nodes(&|node| node == spec.nodes / 2),
            Slower::Rack => {
                let torus = NodeTorus::with_nodes(spec.nodes);
                let slow = torus.slow_rack(spec.seed);
                of_nodes(&|node| torus.rack(node) == slow)
            }
        }
    }
}

/// How many times as long each rank computes where some are slower, or everybody has a part of that; empty where none is.
fn slow_ranks(node_of: &[u32], spec: &Spec, slower: &[(Slower, f64, bool)]) -> Vec<f64> {
    let mut factors = if slower.is_empty() { Vec::new() } else { vec![1.0; node_of.len()] };
    for &(which, more, is_spread) in slower {
        let shares = which.shares(node_of, spec);
        let even = shares.iter().sum::<f64>() / shares.len() as f64;
        for (factor, share) in factors.iter_mut().zip(shares) {
            *factor *= 1.0 + more * if is_spread { even } else { share };
        }
    }
    factors
}
