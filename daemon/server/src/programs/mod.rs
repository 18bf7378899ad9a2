//! External programs that receive the run's calls, messages and verdicts in step with the shared clock, move it, and
//! answer: the server's side of `docs/protocol.md`.

pub(crate) mod board;
mod carry_out;
mod client;
mod expanded;
mod filter;
mod finding_position;
pub(crate) mod findings;
mod keeper;
mod liveness;
mod moment;
pub(crate) mod panels;
mod reading;
mod requests;
mod rows;
pub(crate) mod second;
mod serving;
#[cfg(test)]
mod stored;
mod subscription;
mod windows;

pub use board::AnswerStore;
pub(crate) use client::Program;
pub(crate) use keeper::Keeper;
pub use second::SecondRecording;
pub(crate) use serving::run;
