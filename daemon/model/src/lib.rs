//! The vocabulary of the daemon: ranks, calls, messages, and their order.
//!
//! In and out: plain values that other crates hand to each other. They never hold bytes of a format, files or clocks.
//!
//! Times are nanoseconds since the start of the run, ranks are world ranks, and communicators are dense indices into the
//! run's table of communicators.

mod activity;
mod batch;
mod blame;
mod call;
mod correction;
mod cpus;
mod event;
mod gap;
mod ids;
mod in_flight;
mod job;
mod lanes;
mod message;
mod message_time;
mod numbers;
mod site;
mod spread;
mod totals;
pub mod words;

pub use activity::{Activity, Blocking, CallId, Collected, Collective, Effect, Flow, Side};
pub use batch::{Batch, Fault};
pub use blame::Blame;
pub use call::{Call, MOST_BETWEEN_POLLS_NS};
pub use correction::{Correction, Nearby};
pub use cpus::{CpuSet, NodeCpus, RankCpus};
pub use event::{Event, PostId};
pub use gap::Gap;
pub use ids::{Comm, Function, Nanoseconds, Node, Rank, Site};
pub use in_flight::{Asks, InFlight, Member, Peer};
pub use job::{
    CommInfo, CommKind, CommName, Coordinate, FunctionInfo, NodeInfo, ProcessState, RankInfo, Scheduling,
};
pub use lanes::deal_out;
pub use message::Message;
pub use message_time::MessageTime;
pub use numbers::{NumberReader, Numbers, Sink, Source};
pub use site::SiteInfo;
pub use spread::{drawn, spread};
pub use totals::{Losses, Totals};
