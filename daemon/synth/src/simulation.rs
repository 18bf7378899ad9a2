//! Ranks that go through their steps in causal time.
//!
//! There is no queue of events: a rank goes on until it has to wait for an unknown time, and the rank that provides
//! the time lets it go on. What a rank waits for never depends on the order in which ranks are visited, except for a
//! master that receives from anybody: it is served once nobody can do anything earlier.

mod calls;
mod channel;
mod collectives;
mod job;
mod master;
mod meeting;
mod messages;
mod serving;

pub(crate) use channel::Channel;
pub(crate) use job::{SLICE_NS, Simulation};
