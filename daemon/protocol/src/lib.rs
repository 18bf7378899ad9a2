//! The messages between mpiscope and other programs, version 1 of the protocol.
//!
//! In: values, or bytes in JSON or MessagePack. Out: the other of the two; a message means the same in both formats. It
//! never opens a socket or reads a recording.
//!
//! Names and meanings stay within a version. A reader ignores fields that it does not know, because later versions of
//! mpiscope may add some. `docs/protocol.md` explains the protocol to people; a test writes `docs/protocol.schema.json` and
//! `docs/protocol.asyncapi.json` from these types.

pub mod column;

mod finding;
mod panel;
mod read;
mod reply;
mod request;
#[cfg(test)]
mod schema;
mod second_run;
mod version;
mod window_columns;

pub use finding::{Finding, FindingKind};
pub use panel::{AddPanel, PanelAdded, TellPanel};
pub use read::read_request;
pub use reply::{
    Annotation, Answers, BarrierWaits, Batch, CallColumns, ClientMessage, Clock, End, Failed, Function, Jump,
    MessageColumns, Mode, Node, Passed, Removed, Reply, Series, Subscribed, Verdict, Welcome,
};
pub use request::{
    Annotate, Barrier, Begin, Direction, Format, Hello, Key, Pace, Request, Right, Selection, SetSeries,
    Subscribe, Tell, Topic,
};
pub use second_run::{OwnTimes, Recording, SecondRun, Sections};
pub use version::VERSION;
pub use window_columns::WindowColumns;

/// Stands in a column of ranks, communicators or call sites where there is none.
pub const NONE: u32 = u32::MAX;
/// Stands in a column of tags where there is none.
pub const NO_TAG: i32 = i32::MIN;
