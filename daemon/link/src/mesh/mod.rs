//! Connections between the processes that share one analysis, each with each other.
//!
//! In: the secret of the run and the address of process 0. Out: for each other process plain streams, whose bytes travel
//! through encrypted connections. It never looks into them, and nobody without the secret gets further than the first
//! packet.
//!
//! Process 0 waits for the others (`meeting`) and says who they are. Each process then connects to those with smaller
//! numbers (`join`). A thread moves the bytes (`streams`, `tunnel`). Memory is bounded: who does not read makes the other
//! side wait. When a process is lost, all streams to it end.

mod arrivals;
mod control;
mod frame;
mod introduction;
mod join;
mod matrix;
mod meeting;
mod streams;
mod tunnel;

pub use join::{MemberOptions, join};
pub use meeting::{Meeting, MeetingOptions};
pub use streams::{Mesh, STREAMS};
