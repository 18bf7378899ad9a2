//! The daemon of one run: agent, engine, recording and page in one process of its own. Whatever becomes of it, the program
//! and `mpiscope run` live on; `run` starts it again, and it goes on from its log.
//!
//! In: what to record, as a line on standard input; rings, and what agents of other hosts bring. Out: a recording, a page,
//! and lines on standard output that say how far it is. It never holds up the job.
//!
//! Two threads carry the calls, with a bounded queue between them: the agent empties the rings, and what agents of other
//! hosts bring, into the log; the recorder turns it into rows, counts and the page's feed. Others serve the page and
//! listen to the agents.

#[macro_use(say)]
extern crate mpiscope_process;

mod completion;
mod functions;
mod helpers;
mod hosts;
mod imported;
mod member;
mod missed;
mod names;
mod postponing;
mod process;
mod protocol;
mod queue;
mod readers;
mod reading;
mod recorder;
mod remotes;
mod start;
pub mod switch;
mod task;
mod viewers;
mod watch;

pub use hosts::{AnalysisHost, AnalysisHosts};
pub use imported::{Teller, record_told, show_told};
pub use member::join;
pub use process::record;
pub use protocol::{Configuration, FromDaemon, Link, Summary, ToDaemon};
pub use recorder::{Diagnose, END_UNKNOWN, Recorder, window_row};
pub use task::Task;
