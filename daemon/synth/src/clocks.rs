//! What the clocks of nodes show.

use crate::disturbance::Disturbance;
use crate::random::{Purpose, Stream, unit};
use crate::spec::Spec;
use mpiscope_wire::RoundTrip;

/// What the first node's clock shows when the run begins.
pub(crate) const BEGIN_NS: u64 = 1_000_000_000_000;
/// A round trip takes some twenty to sixty microseconds.
const LEAST_TRIP_NS: f64 = 20_000.0;
const MORE_TRIP_NS: f64 = 40_000.0;

/// The clock of a node.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeClock {
    offset_ns: i64,
    rate: f64,
}

impl NodeClock {
    /// What it shows at a moment of the run.
    #[inline]
    #[must_use]
    pub fn shown_ns(&self, run_ns: u64) -> u64 {
        (BEGIN_NS + run_ns).wrapping_add_signed(self.offset_ns + (self.rate * run_ns as f64) as i64)
    }
}

/// The clocks of all nodes. The first shows the time of the run.
#[derive(Debug)]
pub(crate) struct Clocks {
    /// Empty where all show the same.
    nodes: Vec<NodeClock>,
    trips: Stream,
}

impl Clocks {
    pub(crate) fn new(spec: &Spec) -> Self {
        let found = spec.disturb.iter().find_map(|disturbance| match *disturbance {
            Disturbance::DriftingClocks { offset_ns, rate_ppm } => Some((offset_ns, rate_ppm)),
            _ => None,
        });
        let stream = Stream::new(spec.seed, Purpose::Clocks);
        let clock = |node, (offset_ns, rate_ppm): (u64, f64)| {
            let spread = |number| 2.0 * unit(stream.word(node, number)) - 1.0;
            NodeClock { offset_ns: (offset_ns as f64 * spread(0)) as i64, rate: rate_ppm * 1e-6 * spread(1) }
        };
        let nodes = found.map(|found| {
            let others = (1..spec.nodes).map(|node| clock(node, found));
            std::iter::once(NodeClock::default()).chain(others).collect()
        });
        Self { nodes: nodes.unwrap_or_default(), trips: Stream::new(spec.seed, Purpose::Trips) }
    }

    /// Whether nodes have clocks, and so agents, of their own.
    pub(crate) fn differ(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// The clock of a node.
    #[inline]
    pub(crate) fn of_node(&self, node: u32) -> NodeClock {
        self.nodes.get(node as usize).copied().unwrap_or_default()
    }

    /// What a node's clock shows at a moment of the run.
    #[inline]
    pub(crate) fn shown_ns(&self, node: u32, run_ns: u64) -> u64 {
        self.of_node(node).shown_ns(run_ns)
    }

    /// The result of a message from the first node to a node's agent and back at a moment.
    pub(crate) fn round_trip(&self, node: u32, run_ns: u64) -> RoundTrip {
        let word = self.trips.word(node, run_ns);
        let uncertainty_ns = (LEAST_TRIP_NS + MORE_TRIP_NS * unit(word)) as u64 / 2;
        // How unlike the two ways were.
        let wrong_ns = (0.9 * uncertainty_ns as f64 * (2.0 * unit(word << 20) - 1.0)) as i64;
        let local_ns = self.shown_ns(node, run_ns);
        let offset_ns = (BEGIN_NS + run_ns).wrapping_sub(local_ns) as i64 + wrong_ns;
        RoundTrip { agent: node, local_ns, offset_ns, uncertainty_ns }
    }
}
