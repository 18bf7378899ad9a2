//! The connection between the agent of a node and the daemon: authentication, packets, acknowledgement.
//!
//! Packets, the proof that both sides know the run's secret, encryption, the daemon's listener and the agent's caller.
//! The program uses it at both ends; frames pass through as they are. Nobody without the secret gets further than the
//! first packet. No packet is larger than its bound, and each is checked before use. A frame is acknowledged only when
//! the daemon's log has it, and sent again otherwise.
#![forbid(unsafe_code)]

mod batch;
mod caller;
mod encryption;
mod error;
mod listener;
mod packet;
mod registry;
mod secret;

pub use caller::{CallerOptions, Outbox, Parcel, call};
pub use encryption::Certificate;
pub use error::LinkError;
pub use listener::{AgentState, Event, KnownAgent, Listener, ListenerOptions};
pub use secret::Secret;
