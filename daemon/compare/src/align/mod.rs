//! Two recordings on one clock: the moments that both runs have, by phase or by turn of the main loop.
//!
//! In: the calls of both. Out: which sections of the runs are the same, and the times of B on the clock of A. It reads
//! recordings and changes nothing.

mod anchors;
mod call_source;
mod sections;
mod site_name;

pub use anchors::RunAnchors;
pub(crate) use call_source::calls_of;
pub(crate) use sections::align;
pub use sections::{AlignBy, Aligned, Section, choose};
pub(crate) use site_name::SiteName;
