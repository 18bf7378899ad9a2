//! One agent: the clock of its node, and what waits for it.

use crate::clock::ClockMap;
use mpiscope_wire::{ClockKind, Knot, RoundTrip, Slots};

/// What is known of an agent and its node. Number 0 is the daemon's own, whose clock the run's time is of.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// What it calls itself; none for the daemon's own.
    pub(crate) identity: Option<u128>,
    pub(crate) node: String,
    /// The number of the next message that it tells.
    pub(crate) next_sequence: u64,
    /// Slots since the last knot: their times are known only with the next one.
    pub(crate) waiting: Vec<Slots>,
    clock: ClockMap,
    alignment: Alignment,
    /// All that it wrote before this, of the run's time, has been read.
    pub(crate) until_ns: u64,
}

impl Origin {
    pub(crate) fn new(identity: u128, node: String) -> Self {
        Self { identity: Some(identity), node, ..Self::default() }
    }

    /// Whether its times can be told on the clock of the run.
    pub(crate) fn is_aligned(&self) -> bool {
        self.identity.is_none() || self.alignment.is_known()
    }

    /// Whether moments after its last knot can be told.
    pub(crate) fn has_slope(&self) -> bool {
        self.clock.has_slope()
    }

    pub(crate) fn knot(&mut self, knot: Knot, zero_ns: u64) {
        // What was written before the last knot has been read since.
        self.until_ns = self.of_monotonic(self.clock.until_ns(), zero_ns);
        self.clock.push(knot);
    }

    pub(crate) fn round_trip(&mut self, trip: &RoundTrip) {
        self.alignment.sample(trip);
    }

    /// Nanoseconds of its monotonic clock as time of the run, which began at `zero_ns`; what lies before is the start.
    pub(crate) fn of_monotonic(&self, monotonic_ns: u64, zero_ns: u64) -> u64 {
        let daemon_ns =
            if self.identity.is_some() { self.alignment.to_daemon(monotonic_ns) } else { monotonic_ns };
        daemon_ns.saturating_sub(zero_ns)
    }

    /// Ticks of one of its clocks as time of the run.
    pub(crate) fn of(&self, kind: ClockKind, ticks: u64, zero_ns: u64) -> u64 {
        self.of_monotonic(self.clock.of(kind, ticks), zero_ns)
    }
}

/// What is added to a node's clock.
#[derive(Debug, Default)]
struct Alignment {
    best: Option<RoundTrip>,
}

impl Alignment {
    fn is_known(&self) -> bool {
        self.best.is_some()
    }

    fn sample(&mut self, trip: &RoundTrip) {
        if self.best.is_none_or(|best| trip.uncertainty_ns < best.uncertainty_ns) {
            self.best = Some(*trip);
        }
    }

    fn to_daemon(&self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_add_signed(self.best.map_or(0, |best| best.offset_ns))
    }
}
