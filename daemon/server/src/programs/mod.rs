//! External programs that receive the run's calls, messages and verdicts in step with the shared clock, move it, and
//! answer: the server's side of `docs/protocol.md`.

mod board;
mod client;
mod filter;
mod keeper;
mod liveness;
mod reading;
mod requests;
mod rows;
mod subscription;

pub use board::AnswerStore;
pub(crate) use board::Board;
pub(crate) use client::{Program, run};
pub(crate) use keeper::Keeper;
