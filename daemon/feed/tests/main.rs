//! All tests that use this crate from outside, in one program.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod call_sites;
mod dependencies;
mod durations;
mod library;
mod messages;
mod pending;
mod ranks;
mod replica;
mod selected;
mod support;
