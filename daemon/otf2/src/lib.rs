//! OTF2 traces, written and read through the OTF2 library of the machine, which is loaded when it is needed.
//!
//! In: definitions and events to write, or the path of an archive. Out: an archive, or its definitions and events as safe
//! values. It never decides what a trace should hold, and knows neither recordings nor ranks.
//!
//! It has the daemon's only foreign functions. Pointers of the library live no longer than the archive they belong to, and
//! no two threads use one archive. What a trace says is checked by whoever asks for it.

mod anchor;
mod constants;
mod definitions;
mod error;
mod event;
mod event_listener;
mod handle;
mod library;
mod other_callbacks;
mod other_event;
mod probe_callbacks;
mod reader;
mod symbols;
#[cfg(test)]
mod tests;
mod writer;

pub use constants::{CollectiveOp, GroupKind, NO_ROOT, PARADIGM_MPI, RegionRole, UNDEFINED};
pub use definitions::{Definitions, Group, InterComm, Location, LocationGroup, Region, TreeNode};
pub use error::Otf2Error;
pub use event::{Event, WantedAttributes};
pub use library::Library;
pub use other_event::{OtherEvent, OtherEvents};
pub use reader::Reader;
pub use writer::{Attributes, Events, GlobalDefinitions, Writer};
