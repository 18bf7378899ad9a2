use crate::ids::Nanoseconds;

/// A stretch of the run in which recording was off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Since when.
    pub from_ns: Nanoseconds,
    /// Until when; none where it was off to the end, or is.
    pub until_ns: Option<Nanoseconds>,
}
