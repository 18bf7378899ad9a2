//! All tests that use this crate from outside, in one program.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod behaviour;
mod exact;
mod support;
