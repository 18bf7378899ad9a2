//! All tests that use this crate from outside, in one program.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod absurd;
mod clocks;
mod cursor;
mod damage;
mod disk_full;
mod keep;
mod log;
mod round_trip;
