//! What replays of a run say: what each cause costs, and which ranks it comes from.

use mpiscope_analysis::{Blame, ReplaySavings};
use mpiscope_diagnosis::{Cause, Excess, Graph};
use mpiscope_model::Node;

/// What was found by replays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replayed {
    pub(super) savings: ReplaySavings,
    /// Who computes more than ranks that do the same.
    pub(super) excess: Excess,
    /// Who had no CPU.
    pub(super) delayed: Excess,
    pub(super) end_ns: u64,
}

fn blame(cause: Cause) -> Blame {
    match cause {
        Cause::Mapping => Blame::Mapping,
        Cause::Pattern => Blame::Pattern,
        Cause::Background => Blame::Background,
        Cause::Cpu => Blame::Cpu,
    }
}

impl Replayed {
    /// Replays a run without each cause.
    pub(super) fn of(graph: &Graph, advised: &[Node]) -> Self {
        let is_known = advised.len() >= graph.node_of_rank().len();
        let found = graph.savings(is_known.then_some(advised));
        let mut savings = ReplaySavings {
            departs: found.departure.map(|departure| (departure.rank, departure.at_ns)),
            unexplained_s: graph.quality().unexplained_ns as f64 / 1e9,
            ..ReplaySavings::default()
        };
        for saving in found.causes {
            let at = Blame::ALL.iter().position(|of| *of == blame(saving.cause)).unwrap_or(0);
            savings.wall_s[at] = saving.wall_ns / 1e9;
            savings.range_s[at] = (saving.range_ns.0 / 1e9, saving.range_ns.1 / 1e9);
        }
        Self {
            savings,
            excess: graph.excess_work(),
            delayed: graph.delayed_work(),
            end_ns: graph.recorded_ns(),
        }
    }
}
