//! Logical time: which event of a run can have led to which.
//!
//! An event leads to all later ones of its rank, a send to its receive, and entering a collective to the return of
//! those who wait for it. All other pairs are concurrent. The threads of a rank count as one: its events have the
//! order of its clock, and the earlier of two threads' events leads to the later one, whether or not the threads
//! communicate.
//!
//! Each event takes constant memory: its rank, time, and message or member of a collective. A vector (how many events
//! of each rank lead to one event) is found by going back from there. A collective in which all wait for all ranks
//! with events is a cut: whatever came before it led to whatever comes after, and the search ends there.

mod cone;
mod cuts;
mod events;
mod extension;
mod hub;
#[cfg(test)]
mod tests;
mod time;

pub use cone::Cone;
pub(crate) use events::{Endpoint, Events, in_order};
pub use events::{Meeting, Member};
pub use time::{EventId, LogicalEvent, LogicalEventKind, LogicalTime};
