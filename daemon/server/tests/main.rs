//! All tests that use this crate from outside, in one program.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod access;
mod clock;
mod feed;
mod gate;
mod panels;
mod program_connections;
mod programs;
mod support;
