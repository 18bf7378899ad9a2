//! External programs that receive the run's calls, messages and verdicts in step with the shared clock, move it, and
//! answer: the server's side of `docs/protocol.md`.

mod board;
mod client;
mod expanded;
mod filter;
mod findings;
mod keeper;
mod liveness;
mod panels;
mod reading;
mod requests;
mod rows;
mod second;
#[cfg(test)]
mod stored;
mod subscription;
mod windows;

pub use board::AnswerStore;
pub(crate) use board::Board;
pub(crate) use client::{Program, run};
pub(crate) use findings::findings;
pub(crate) use keeper::Keeper;
pub(crate) use panels::Panels;
pub use second::SecondRecording;
