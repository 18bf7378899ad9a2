//! An event of the matching, until those of all rings of its process are in order.

use mpiscope_model::{Event, Nanoseconds};

/// An event with the time that orders it, and that at which its call returned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    pub(crate) at_ns: Nanoseconds,
    pub(crate) end_ns: Nanoseconds,
    pub(crate) event: Event,
}
