//! The version of the protocol.

/// The version of the messages. A client that knows another one says so and stops.
pub const VERSION: u32 = 1;
