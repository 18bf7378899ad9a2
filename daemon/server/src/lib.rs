//! HTTP and WebSocket for the page and for other programs, behind tokens.
//!
//! In: connections, the feed's messages, and questions of pages. Out: the page's files, the feed, answers, and rows for
//! programs. It never tells anybody without a token anything, and nobody does more than its token allows.
//!
//! A slow or stuck page costs nobody else anything: [`Publisher::publish`] never waits for a client. Every number of
//! connections, bytes and seconds that a client can cause has a bound. The program binds a [`Server`], hands the [`Source`]
//! of [`live`] to [`Bound::serve`], and keeps the [`Publisher`] with the task that owns the counters.

mod access;
mod assets;
mod connections;
mod farewell;
mod gate;
mod listen;
mod live;
mod programs;
mod refusal;
mod routes;
mod stage;
mod token;
mod viewer;

pub use listen::{Bound, Options, Server, ServerError};
pub use live::{Publisher, Source, live};
pub use mpiscope_protocol::{Answers, SecondRun, Sections, Series};
pub use programs::{AnswerStore, SecondRecording};
pub use token::Token;
