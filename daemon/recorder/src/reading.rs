//! Whether other processes read calls, and which.

use crate::helpers::OnHosts;
use crate::missed::Tail;
use crate::queue::Receiving;
use crate::readers::Readers;

/// The recorder's part of it.
pub(crate) struct Reading {
    /// Who may read calls.
    pub(crate) hosts: Option<OnHosts>,
    /// How many threads each of them has.
    pub(crate) threads: usize,
    /// Those who do.
    pub(crate) readers: Option<Readers>,
    /// Whether the live analysis takes in calls, or leaves them to the log.
    pub(crate) is_analysed: bool,
    /// How many messages of the log were taken in, and how many of them have become rows.
    pub(crate) taken: u64,
    pub(crate) settled: u64,
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
            is_analysed: true,
            taken: 0,
            settled: 0,
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

    /// Whether readers have answered.
    pub(crate) fn has_news(&self) -> bool {
        self.readers.as_ref().is_some_and(Readers::has_news)
    }

    /// Lets the live analysis take in calls, or not.
    pub(crate) fn want_calls(&mut self, are_wanted: bool) {
        self.is_analysed = are_wanted;
    }

    /// Nobody reads any more but the daemon.
    pub(crate) fn dismiss(&mut self) {
        if let Some(readers) = self.readers.take() {
            self.earlier_cpu_s += readers.cpu_s();
        }
    }

    /// The CPU time of readers.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.earlier_cpu_s + self.readers.as_ref().map_or(0.0, Readers::cpu_s)
    }
}
