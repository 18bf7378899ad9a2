//! The connection between the agent of a node and the daemon: who may speak, what is said, what was taken.
//!
//! What it is: packets, the proof that both sides know the run's secret, encryption, the daemon's listener and the
//! agent's caller. What it is not: rings, logs, meaning: frames pass through as they are. Who uses it: the program, at
//! both ends. What must hold: nobody without the secret gets further than the first packet; no packet is larger than its
//! bound, and none is believed before it was checked; a frame is acknowledged only when the daemon's log has it, and
//! what is not acknowledged is sent again.
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
pub use listener::{Event, KnownAgent, Listener, ListenerOptions, Standing};
pub use secret::Secret;
