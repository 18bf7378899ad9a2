//! What a collective takes in a quiet network.

/// What a collective takes after its last entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuietGroup {
    pub(crate) took_ns: f32,
    /// In a quiet network, as a share of that.
    pub(crate) share: f32,
}

impl QuietGroup {
    /// What a member's wait takes in a quiet network. What was before the last entry was not the network's.
    pub(crate) fn ns(self, recorded_ns: f64) -> f64 {
        recorded_ns - (1.0 - f64::from(self.share)) * recorded_ns.min(f64::from(self.took_ns))
    }
}
