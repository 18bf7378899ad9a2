//! Whether other processes read calls, and which.

use crate::helpers::OnHosts;
use crate::missed::Tail;
use crate::queue::Receiving;
use crate::readers::{Gone, Invitations, Readers};
use std::time::{Duration, Instant};

/// As often as those who look get all figures.
const ASK_EVERY: Duration = Duration::from_millis(180);

/// The recorder's part of it.
pub(crate) struct Reading {
    /// Who may read calls.
    pub(crate) hosts: Option<OnHosts>,
    /// How many threads each of them has.
    pub(crate) threads: usize,
    /// Those who do.
    pub(crate) readers: Option<Readers>,
    /// What they and the live analysis have to know of each other.
    pub(crate) invitations: Invitations,
    /// The live analysis that they were last invited to, and whether that knows how many ranks there are.
    pub(crate) invited: u64,
    pub(crate) has_told_ranks: bool,
    /// Whether the live analysis leaves calls to the log.
    pub(crate) is_postponed: bool,
    /// How many messages of the log were taken in, and how many of them have become rows.
    pub(crate) taken: u64,
    pub(crate) settled: u64,
    /// How many calls these stand for, whether readers have said what they have counted or not, and when they were last asked for that.
    pub(crate) made: u64,
    pub(crate) asked: Option<Instant>,
    /// Of how many those who look have been shown the rows, once they come again.
    pub(crate) shown_until: u64,
    /// Whether they have seen what comes.
    pub(crate) is_known: bool,
    /// What comes meanwhile. Its messages are in the log.
    pub(crate) input: Option<Receiving>,
    /// The last of it.
    pub(crate) tail: Tail,
    /// Whether the run has ended by that.
    pub(crate) is_over: bool,
    /// Whether messages are taken in from the log.
    pub(crate) is_repeating: bool,
    /// The CPU time of readers that are gone.
    pub(crate) earlier_cpu_s: f64,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            hosts: None,
            threads: 1,
            readers: None,
            invitations: Invitations::default(),
            invited: 0,
            has_told_ranks: false,
            is_postponed: false,
            taken: 0,
            settled: 0,
            made: 0,
            asked: None,
            shown_until: 0,
            is_known: false,
            input: None,
            tail: Tail::default(),
            is_over: false,
            is_repeating: false,
            earlier_cpu_s: 0.0,
        }
    }
}

impl Reading {
    pub(crate) fn is_shared(&self) -> bool {
        self.readers.is_some()
    }

    /// Whether readers are to say what they have counted. It is asked of all for the same batch, and not for each: they add up meanwhile.
    pub(crate) fn is_due(&mut self) -> bool {
        let is_due = self.asked.is_none_or(|asked| asked.elapsed() >= ASK_EVERY);
        if is_due {
            self.asked = Some(Instant::now());
        }
        is_due
    }

    /// Whether readers have answered.
    pub(crate) fn has_news(&self) -> bool {
        self.readers.as_ref().is_some_and(Readers::has_news)
    }

    /// Has readers join a live analysis, if there is one to join.
    pub(crate) fn invite(&mut self) -> Result<(), Gone> {
        let Some(readers) = &mut self.readers else { return Ok(()) };
        let Some(orders) = self.invitations.take_orders() else { return Ok(()) };
        self.invited = orders.first().map_or(self.invited, |order| order.generation);
        readers.invite(&orders)
    }

    /// Nobody reads any more but the daemon.
    pub(crate) fn dismiss(&mut self) {
        self.invitations.are_gone();
        if let Some(readers) = self.readers.take() {
            self.earlier_cpu_s += readers.cpu_s();
        }
    }

    /// The CPU time of readers.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.earlier_cpu_s + self.readers.as_ref().map_or(0.0, Readers::cpu_s)
    }
}
