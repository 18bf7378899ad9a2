//! How long an exact message took, and what it is compared with.

/// Times of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageTime {
    /// How long it took.
    pub took_ns: u64,
    /// The criterion: the median of such messages.
    pub expected_ns: u64,
    /// Up to this long is normal: the 95th percentile of such messages in quiet windows.
    pub normal_ns: u64,
}

impl MessageTime {
    /// The latency ratio `L`.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.took_ns as f64 / self.expected_ns.max(1) as f64
    }

    /// It took longer than is normal.
    #[must_use]
    pub fn is_delayed(&self) -> bool {
        self.took_ns > self.normal_ns
    }

    /// It took longer than expected (`L > 1`), as the paper of PCLVis defines delayed.
    #[must_use]
    pub fn is_above_expected(&self) -> bool {
        self.took_ns > self.expected_ns
    }
}
