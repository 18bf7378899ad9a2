//! Where the ranks of a job had better be.
//!
//! In: who talks with whom, and on which node each rank is. Out: the advice with its figures, in sentences, as files for
//! launchers, and as an answer to a page. It moves no rank and writes no file.

mod formats;
mod placement;
mod source;
mod summary;
#[cfg(test)]
mod tests;

pub use placement::{Placement, place};
pub use source::Placements;
pub use summary::{checked, summary};
