//! What is done every so often.

use std::time::{Duration, Instant};

/// When something was done last.
#[derive(Debug, Default)]
pub(super) struct Timer {
    last: Option<Instant>,
}

impl Timer {
    /// Whether so much time has passed since it was last due. If so, that time begins anew.
    pub(super) fn is_due(&mut self, every: Duration) -> bool {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= every);
        if is_due {
            self.last = Some(Instant::now());
        }
        is_due
    }

    /// It is due whenever it is asked for next.
    pub(super) fn expire(&mut self) {
        self.last = None;
    }
}

/// What an agent does now and then.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Looks for new ring files.
    pub(super) scan: Timer,
    /// Looks how processes are and what they lost.
    pub(super) look: Timer,
    /// Samples the clocks.
    pub(super) clock_sample: Timer,
    /// Asks the scheduler.
    pub(super) scheduling: Timer,
    /// Reports the calls in flight.
    pub(super) in_flight: Timer,
}
