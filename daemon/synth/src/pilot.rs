//! Pilots: short runs of a job without disturbances, which find how much there is to compute.

use crate::error::Error;
use crate::plan::{Basis, Plan};
use crate::script::Serial;
use crate::simulation::Simulation;
use crate::spec::{Network, Spec};

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
