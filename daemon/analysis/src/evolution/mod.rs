//! How the latency within regions, and between them, went over the run: its windows, and what they are summed up to.
//!
//! A region is a set of ranks; a partition says which rank is in which, and may change while the job runs. A window is
//! accounted under the partition that held when all of it was in, remembers its version, and is never accounted
//! anew. It is final when no call that ended in it waits for its other side; only final windows become part of a series.
//!
//! A series cuts itself into segments as windows arrive (see `series`): growth, steady, and rest. What is kept of
//! windows grows with the segments, not with the windows.

mod cuts;
mod followed;
mod noise;
mod operator;
mod partition;
mod pending;
mod segment;
mod series;
mod tally;
mod trend;
mod windows;

pub use operator::{Evolution, Provisional};
pub use partition::RegionOfRank;
pub use pending::{Pending, pending};
pub use segment::{Kind, Point, Segment};
pub use series::{EvolutionOptions, Series, Window};
pub use tally::Tally;

#[cfg(test)]
mod tests;
