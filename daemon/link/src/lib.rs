//! The connection between the agent of a host and the daemon: authentication, packets, acknowledgement.
//!
//! In: frames to hand over. Out: the same frames at the other end, in order and each once. It never looks into them, and
//! nobody without the run's secret gets further than the first packet.
//!
//! No packet is larger than its bound, and each is checked before use. A frame is acknowledged only when the daemon's log
//! has it, and sent again otherwise. The daemon listens, agents call.
//!
//! `mesh` connects the processes of one analysis with each other.
#![forbid(unsafe_code)]

mod batch;
mod caller;
mod encryption;
mod error;
mod greeting;
mod introduction;
mod listener;
mod mesh;
mod packet;
mod registry;
mod secret;
mod tcp;

pub use caller::{CallerOptions, Outbox, Parcel, call};
pub use encryption::Certificate;
pub use error::LinkError;
pub use listener::{AgentState, Event, KnownAgent, Listener, ListenerOptions};
pub use mesh::{Meeting, MeetingOptions, MemberOptions, Mesh, STREAMS, join};
pub use secret::Secret;
