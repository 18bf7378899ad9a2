//! What is no message of this protocol.

/// Why what a page sent makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidMessage(pub String);
