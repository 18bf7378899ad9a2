//! One agent: the clock of its node, and its pending slots.

use crate::clock::{ClockMap, EarlierLine};
use crate::host_clocks::{NodeClock, RoundTrip};
use crate::settled::Written;
use mpiscope_model::Node;
use mpiscope_wire::{self as wire, ClockKind, ClockSample};

/// What is known of an agent and its node. Number 0 is the daemon's own, whose clock the run's time is of.
#[derive(Debug)]
pub(crate) struct Origin {
    /// What it calls itself; none for the daemon's own.
    pub(crate) identity: Option<u128>,
    pub(crate) node: String,
    /// The number of its next message.
    pub(crate) next_sequence: u64,
    /// Whether it has sent everything and closed the connection.
    pub(crate) is_finished: bool,
    /// Slots since the last clock sample: their times depend on the next one.
    pub(crate) waiting: Vec<Written>,
    counter: ClockMap,
    pub(crate) clock: NodeClock,
    /// All that it wrote before this, of the run's time, has been read.
    pub(crate) until_ns: u64,
    /// The number of its node, once a rank of it is known.
    pub(crate) number: Option<Node>,
}

impl Origin {
    /// The daemon's own. The run began at this time of its clock.
    pub(crate) fn own(zero_ns: u64) -> Self {
        Self {
            identity: None,
            node: String::new(),
            next_sequence: 0,
            is_finished: false,
            waiting: Vec::new(),
            counter: ClockMap::default(),
            clock: NodeClock::reference(zero_ns),
            until_ns: 0,
            number: None,
        }
    }

    /// That of another host.
    pub(crate) fn new(identity: u128, node: String, zero_ns: u64) -> Self {
        Self { identity: Some(identity), node, clock: NodeClock::new(zero_ns), ..Self::own(zero_ns) }
    }

    /// Whether moments after its last clock sample can be converted.
    pub(crate) fn has_slope(&self) -> bool {
        self.counter.has_slope()
    }

    pub(crate) fn add_clock_sample(&mut self, sample: ClockSample) {
        // Everything written before the last clock sample has been read since.
        self.until_ns = self.clock.to_run(self.counter.until_ns());
        self.counter.push(sample);
    }

    /// The run's time of the last clock sample: everything written before it was read by then. `None` before there is
    /// any.
    pub(crate) fn newest_ns(&self) -> Option<u64> {
        let until_ns = self.counter.until_ns();
        (until_ns > 0).then(|| self.clock.to_run(until_ns))
    }

    /// All times up to the last clock sample were published.
    pub(crate) fn fix(&mut self) {
        self.clock.fix_until(self.counter.until_ns());
    }

    pub(crate) fn round_trip(&mut self, trip: &wire::RoundTrip) {
        let wire::RoundTrip { local_ns, offset_ns, uncertainty_ns, .. } = *trip;
        self.clock.sample(RoundTrip { local_ns, offset_ns, uncertainty_ns });
    }

    /// Ticks of one of its clocks as time of the run.
    pub(crate) fn run_ns(&self, kind: ClockKind, ticks: u64, earlier: &mut EarlierLine) -> u64 {
        self.clock.to_run(self.counter.monotonic_ns(kind, ticks, earlier))
    }
}
