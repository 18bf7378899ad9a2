//! Replays a recorded run with changed durations: how long it would have taken with balanced work, a CPU for each rank, a
//! quiet network or another placement.
//!
//! In go rows of calls, messages, scheduler samples and nodes; out come run times and the savings of each cause. It must never
//! do I/O, read a clock or start a thread, and it works in time linear in the number of calls.
//!
//! `graph` holds the data, `builder` runs the modules that fill it in, `replay` and `savings` read it.

mod between;
mod builder;
mod call_kind;
mod call_row;
mod censored;
mod change;
mod classes;
mod cpu_sharing;
mod dealers;
mod decisive;
mod delay;
mod drained;
mod explain;
mod flight_times;
mod flights;
mod gaps;
mod graph;
mod groups;
mod lack;
mod marks;
mod median;
mod members;
mod message_calls;
mod order;
mod pace;
mod partners;
mod poll_loops;
mod quiet;
mod quiet_samples;
mod reference;
mod replay;
mod replayer;
mod rule;
mod savings;
mod segments;
mod slow_links;
mod soon;
mod starved;
mod steps;
mod waiting_requests;
mod windows;
mod work;

pub use builder::{GraphBuilder, TooLarge};
pub use call_kind::CallKind;
pub use change::{Change, UnfeltFlights};
pub use graph::{Graph, Quality};
pub use replay::{Departure, Outcome};
pub use replayer::{InTurn, Replayer};
pub use rule::Rule;
pub use savings::{Saving, Savings, Shorter};
pub use slow_links::LinkTime;
