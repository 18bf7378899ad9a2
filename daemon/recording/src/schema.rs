//! The name of the format.

/// What the format is called; a later one that older programs cannot read gets another number.
pub const SCHEMA: &str = "mpiscope.recording/1";
