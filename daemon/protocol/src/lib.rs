//! The messages between mpiscope and other programs, as values and in JSON and MessagePack.
//!
//! What it is: the messages of protocol version 1, for the server and for clients in Rust. What it is not: sockets, or
//! the reading of calls. `docs/protocol.md` explains the protocol to people, and `docs/protocol.schema.json` and
//! `docs/protocol.asyncapi.json` are written from these types by a test.
//!
//! What must hold: a message means the same in both formats; names and meanings stay within a version; a reader ignores
//! fields that it does not know, because later versions of mpiscope may add some.

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
