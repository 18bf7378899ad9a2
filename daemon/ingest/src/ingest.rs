//! The state machine: messages in, batches out.

mod entries;
mod flights;
mod messages;
mod nodes;
mod processes;
mod reading;
mod scheduling;
mod settling;
mod state;

pub use state::{Ingest, KnownAgent};
