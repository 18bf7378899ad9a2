//! OTF2 traces, written and read through the OTF2 library that is on the machine.
//!
//! What it is: the one place of the daemon where foreign functions are called: the library is loaded when it is needed, and
//! what it does is offered as safe values. What it is not: an opinion about what a trace should hold; it knows neither
//! recordings nor ranks. Who uses it: the program's `export` and `import`. What must hold: pointers of the library live no
//! longer than the archive they belong to, no archive is used by two threads, and what a trace says is checked by whoever
//! asks for it.

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
