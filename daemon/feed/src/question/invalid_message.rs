//! What is no message of this protocol.

/// Why a message cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidMessage(pub String);
