//! The latency within regions, and between them, over the run: windows and segments.
//!
//! A region is a set of ranks; a partition assigns ranks to regions, and may change while the job runs. A window uses
//! the partition at the time when it was complete, remembers its version, and is never counted anew. It is final when
//! no call that ended in it waits for its other side; only final windows become part of a series.
//!
//! A series cuts itself into segments as windows arrive (see `series`): growth, steady, and rest. What is kept of
//! windows grows with the segments, not with the windows.

mod bands;
mod cuts;
mod followed;
mod noise;
mod operator;
mod options;
mod partition;
mod pending;
mod ratios;
mod segment;
mod series;
mod tally;
mod trend;
mod windows;

pub use bands::{Band, Bands};
pub use operator::{Evolution, Provisional};
pub use options::EvolutionOptions;
pub use partition::RegionOfRank;
pub use pending::{Pending, pending};
pub use ratios::Ratios;
pub use segment::{Kind, Point, Segment};
pub use series::{Series, Window};
pub use tally::Tally;

#[cfg(test)]
mod tests;
