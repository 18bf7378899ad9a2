//! How the delay budget works.

/// What a message takes, for criteria and for how late messages are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Latency {
    /// The time in which its receiver waited for it.
    #[default]
    Felt,
    /// From the beginning of the call that sent it to the end of the one that received it, however long it lay there
    /// because its receiver was busy.
    Span,
}

mpiscope_model::numbers! { enum Latency { Felt = 0, Span = 1 } }

/// How the operator works.
#[derive(Debug, Clone, Copy)]
pub struct BudgetOptions {
    /// How long a window is.
    pub window_ns: u64,
    /// What a message takes.
    pub latency: Latency,
    /// How long a call may wait for its other side to become known.
    pub patience_ns: u64,
    /// Calls that may wait; beyond it patience is over.
    pub pending: usize,
    /// Paths that may be kept for calls whose other side is not known.
    pub kept: usize,
}

mpiscope_model::numbers! { BudgetOptions { window_ns, latency, patience_ns, pending, kept } }

impl Default for BudgetOptions {
    fn default() -> Self {
        Self {
            window_ns: 100_000_000,
            latency: Latency::default(),
            patience_ns: 10_000_000_000,
            pending: 4 << 20,
            kept: 2 << 20,
        }
    }
}
