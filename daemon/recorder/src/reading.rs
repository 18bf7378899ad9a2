//! Whether other processes read calls, and which.

use crate::helpers::OnHosts;
use crate::readers::Readers;

/// The recorder's part of it.
pub(crate) struct Reading {
    /// Those that are to be gathered, and how many threads each has.
    pub(crate) wanted: Option<(OnHosts, usize)>,
    pub(crate) readers: Option<(Readers, OnHosts)>,
    /// Whether the live analysis takes in calls, or leaves them to the log.
    pub(crate) is_analysed: bool,
    /// The CPU time of readers that are gone.
    pub(crate) earlier_cpu_s: f64,
}

impl Default for Reading {
    fn default() -> Self {
        Self { wanted: None, readers: None, is_analysed: true, earlier_cpu_s: 0.0 }
    }
}

impl Reading {
    pub(crate) fn is_shared(&self) -> bool {
        self.readers.is_some()
    }

    /// Whether readers have answered.
    pub(crate) fn has_news(&self) -> bool {
        self.readers.as_ref().is_some_and(|(readers, _)| readers.has_news())
    }

    /// Lets the live analysis take in calls, or not.
    pub(crate) fn want_calls(&mut self, are_wanted: bool) {
        self.is_analysed = are_wanted;
    }

    /// The CPU time of readers.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.readers.as_ref().map_or(self.earlier_cpu_s, |(readers, _)| readers.cpu_s())
    }
}
