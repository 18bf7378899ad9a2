//! Events that are counted and not looked into: all that is no call of MPI and no message.

/// What such events are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherEvent {
    /// Values of counters.
    Metric,
    /// Values of parameters of regions.
    Parameter,
    /// Transfers from and into windows.
    OneSided,
    /// Threads, locks and tasks.
    Threads,
    /// Samples of call paths.
    CallPathSample,
    /// Files.
    Files,
    /// Times in which the trace was written.
    Flush,
    /// Recording was switched off or on.
    Switch,
    /// A newer library may know.
    Unknown,
}

impl OtherEvent {
    const ALL: [Self; 9] = [
        Self::Metric,
        Self::Parameter,
        Self::OneSided,
        Self::Threads,
        Self::CallPathSample,
        Self::Files,
        Self::Flush,
        Self::Switch,
        Self::Unknown,
    ];

    /// One such event in words; more take an s.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Metric => "metric value",
            Self::Parameter => "parameter",
            Self::OneSided => "one-sided event",
            Self::Threads => "thread event",
            Self::CallPathSample => "call path sample",
            Self::Files => "I/O event",
            Self::Flush => "buffer flush event",
            Self::Switch => "measurement switch event",
            Self::Unknown => "unknown event",
        }
    }
}

/// How many of each kind there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OtherEvents([u64; OtherEvent::ALL.len()]);

impl OtherEvents {
    pub(crate) fn count(&mut self, kind: OtherEvent) {
        self.0[kind as usize] += 1;
    }

    /// Adds others.
    pub fn add(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// Those that there were.
    pub fn iter(&self) -> impl Iterator<Item = (OtherEvent, u64)> {
        OtherEvent::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}
