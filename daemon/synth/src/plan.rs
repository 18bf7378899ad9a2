//! A job made ready to be simulated: with all disturbances, or with some of them removed.

use crate::compute::{Uneven, Work, block};
use crate::disturbance::Disturbance;
use crate::error::Error;
use crate::network::{Others, Wires};
use crate::pattern::Pattern;
use crate::placement::Placement;
use crate::random::LogNormal;
use crate::script::{Script, Serial};
use crate::simulation::Simulation;
use crate::spec::{Network, Spec};
use crate::theft::Theft;
use crate::torus::NodeTorus;

/// Times a pilot is run to find how much there is to compute.
const PILOTS: u32 = 4;
/// A pilot's steps, and how many calls it may make for that at most.
const PILOT_STEPS: u32 = 400;
/// Collectives that are less frequent count for nothing.
const MOST_EVERY: u32 = 50;
const PILOT_CALLS: u64 = 2_000_000;
/// What messages take of a step where the spec names no network.
const MESSAGE_SHARE: f64 = 0.2;
/// No network is faster.
const LEAST_MESSAGE_NS: f64 = 2000.0;
/// Messages within nodes take a part of the time that those between nodes take.
const INTRA_PART: f64 = 1.0 / 8.0;

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
        let mut placement = spec.placement;
        let (mut serial, mut handle_ns) = (Serial::None, 0);
        let (mut uneven, mut thefts, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut slower = Vec::new();
        let run_ns = basis.step_ns * f64::from(basis.steps);
        for (at, disturbance) in spec.disturb.iter().enumerate() {
            let removed = is_removed(at);
            match *disturbance {
                Disturbance::WorsePlacement { placement: bad } => {
                    placement = if removed { Placement::Block } else { bad };
                }
                Disturbance::Imbalance { share, more, drifts } => {
                    uneven.push(Uneven { share, more, drifts, is_spread: removed });
                }
                Disturbance::GradedImbalance { more } => slower.push((Slower::Graded, more, removed)),
                Disturbance::SlowNode { more } => slower.push((Slower::Node, more, removed)),
                Disturbance::SlowRack { more } => slower.push((Slower::Rack, more, removed)),
                Disturbance::SerializedRoot { every, share } => {
                    serial = if removed { Serial::Spread { every } } else { Serial::Root { every } };
                    let every = if spec.pattern == Pattern::MasterWorker { 1 } else { every };
                    handle_ns = (share * basis.step_ns * f64::from(every) / f64::from(spec.ranks)) as u64;
                }
                Disturbance::NetworkContention { ref nodes, during, factor, sigma } if !removed => {
                    let concerned = |node| nodes.contains(&node);
                    let all = if nodes.is_empty() { 0 } else { spec.nodes };
                    others.push(Others {
                        nodes: (0..all).map(concerned).collect(),
                        during_ns: during.range_ns(run_ns),
                        factor,
                        spread: LogNormal::new(sigma),
                    });
                }
                Disturbance::StolenCpu { share, during, period_ns, taken } if !removed => {
                    let ranks = block(spec.ranks, spec.ranks / 3, share);
                    thefts.push(Theft::new(spec.seed, ranks, during.range_ns(run_ns), period_ns, taken));
                }
                Disturbance::StoppedRank { during, period_ns, taken } if !removed => {
                    let last = (spec.ranks - 1, 1);
                    let theft = Theft::new(spec.seed, last, during.range_ns(run_ns), period_ns, taken);
                    thefts.push(theft.of_stops());
                }
                _ => {}
            }
        }
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

impl Basis {
    /// Finds the amount of computing that gives the wanted number of calls a second.
    pub(crate) fn build(spec: &Spec) -> Result<Self, Error> {
        let quiet = Spec { disturb: Vec::new(), ..spec.clone() };
        let calls = calls_in_step(&quiet);
        if spec.rate * spec.seconds < calls {
            return Err(Error::Short { calls, rate: spec.rate, seconds: spec.seconds });
        }
        let step_ns = calls * 1e9 / spec.rate;
        // Two halves of whole turns of collectives, to get their share right.
        let every = spec.collectives.as_ref().map_or(1, |all| all.every).min(MOST_EVERY);
        let steps = PILOT_STEPS.min((PILOT_CALLS as f64 / calls) as u32);
        let steps = (steps / (2 * every)).max(1) * 2 * every;
        let network = spec.network.unwrap_or_else(|| network_of(spec, step_ns));
        let mut basis = Self { network, work_ns: 0.0, step_ns, steps };
        let (least_ns, calls) = pilot(&quiet, &basis);
        basis.step_ns = calls * 1e9 / spec.rate;
        if least_ns > basis.step_ns {
            return Err(Error::Rate { rate: spec.rate, most: calls * 1e9 / least_ns });
        }
        // A line through the last two pilots.
        let (mut before, mut slope) = ((0.0, least_ns), 1.0);
        basis.work_ns = basis.step_ns - least_ns;
        for _ in 0..PILOTS {
            let (found_ns, calls) = pilot(&quiet, &basis);
            basis.step_ns = calls * 1e9 / spec.rate;
            if basis.work_ns - before.0 > 1.0 || basis.work_ns - before.0 < -1.0 {
                slope = ((found_ns - before.1) / (basis.work_ns - before.0)).clamp(0.1, 100.0);
            }
            before = (basis.work_ns, found_ns);
            let wrong_ns = basis.step_ns - found_ns;
            if wrong_ns.abs() < 0.005 * basis.step_ns {
                break;
            }
            basis.work_ns = (basis.work_ns + wrong_ns / slope).max(0.0);
        }
        basis.steps = (spec.seconds * 1e9 / basis.step_ns).round().clamp(1.0, f64::from(u32::MAX)) as u32;
        Ok(basis)
    }
}

/// Nanoseconds and rows of calls of a step, once the delays of ranks have come to where they stay.
fn pilot(spec: &Spec, basis: &Basis) -> (f64, f64) {
    let mut simulation: Simulation<false> = Simulation::new(Plan::new(spec, basis, |_| true));
    simulation.run_to_end();
    let steps = f64::from(basis.steps);
    (simulation.second_half_ns() as f64 / (steps / 2.0), simulation.rows() as f64 / steps)
}

/// About how many calls a step makes.
fn calls_in_step(spec: &Spec) -> f64 {
    let script = spec.pattern.script(spec, Serial::None);
    script.ops.iter().filter(|op| op.is_call()).count() as f64
}

fn network_of(spec: &Spec, step_ns: f64) -> Network {
    let chain = f64::from(spec.pattern.chain(spec.ranks, spec.style));
    let message_ns = (MESSAGE_SHARE * step_ns / chain).max(LEAST_MESSAGE_NS);
    let bytes = (spec.sizes.min_bytes + spec.sizes.max_bytes).max(2) as f64 / 2.0;
    let (inter_base_ns, inter_byte_ns) = (message_ns / 2.0, message_ns / 2.0 / bytes);
    Network {
        intra_base_ns: inter_base_ns * INTRA_PART,
        intra_byte_ns: inter_byte_ns * INTRA_PART,
        inter_base_ns,
        inter_byte_ns,
    }
}
