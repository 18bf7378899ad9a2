//! All tests that use this crate from outside, in one program.

mod reading;
mod support;
mod truth;
