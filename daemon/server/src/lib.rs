//! HTTP and WebSocket for the page, behind a token.
//!
//! What it is: the page's files, the gate before them, the clock that pages share, and one loop for each open page that
//! carries the feed, the clock and answers; the same for programs of others. What it
//! is not: the feed's content, the counters, the command line. Who calls it: the program binds a [`Server`], hands the
//! [`Source`] of [`live`] to [`Bound::serve`], and keeps the [`Publisher`] with the one task that owns the counters.
//!
//! What must hold: nobody without a token learns anything, and nobody does more than its token allows; a slow or stuck page costs nobody else anything; every
//! number of connections, bytes and seconds that a client can cause is bounded; [`Publisher::publish`] never waits for
//! a client.

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
