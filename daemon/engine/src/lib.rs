//! The engine: ingest and the operators tied together, the same live and from a recording.
//!
//! In: messages of agents or of a log, or the files of a recording. Out: calls, messages and windows as they become known;
//! the state of a run: ranks, nodes, sums, clocks, who waits for whom; and the figures of a recording, from wherever they
//! can be read. It knows no page and no command line, and writes nothing but who records and who waits for whom.

mod clocks;
mod counted;
mod division;
mod engine;
pub mod hang;
mod live;
pub mod load;
mod owners;
mod sums;
pub mod uncounted;

pub use counted::{Counted, Counter, RowSums};
pub use division::{Divided, Division};
pub use engine::{Engine, Step, WindowCell};
pub use live::{LIVE_FILE, Live, Records};
pub use sums::{SharedTraffic, Sums};
