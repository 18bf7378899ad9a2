//! The state of the run at one moment.

use mpiscope_model::Nanoseconds;
use mpiscope_protocol::{Finding, Verdict};
use std::sync::Arc;

/// How the run and the shared clock stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Moment {
    /// All rows before this are known.
    pub(super) complete_ns: Nanoseconds,
    /// There will be no more.
    pub(super) is_over: bool,
    /// Where the shared clock is.
    pub(super) clock_ns: Nanoseconds,
    /// Whether it moves by itself.
    pub(super) is_moving: bool,
    /// How often it went elsewhere without passing what lies between.
    pub(super) jumps: u64,
    /// Why time was lost, for any subscription.
    pub(super) verdict: Option<Verdict>,
    /// What was found about the run, for a subscription to that.
    pub(super) findings: Arc<Vec<Finding>>,
    /// The run has ended, and the clock is at its end.
    pub(super) is_clock_at_end: bool,
}

impl Moment {
    /// Whether the run has ended and was diagnosed with all that is known, if it is diagnosed.
    pub(super) fn is_diagnosed(&self) -> bool {
        self.is_over && self.verdict.as_ref().is_none_or(|verdict| verdict.is_final)
    }
}
