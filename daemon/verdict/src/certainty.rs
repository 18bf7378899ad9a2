//! How sure a verdict is.

use mpiscope_feed::Verdict;

/// Below this confidence there is no clear cause.
const UNSURE: f64 = 0.3;

/// Whether the cause is not clear.
pub(super) fn is_unsure(verdict: &Verdict) -> bool {
    verdict.cause != "none" && verdict.confidence < UNSURE
}
