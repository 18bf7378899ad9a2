//! All tests that use this crate from outside, in one program.

mod frames;
mod host_clocks;
mod hostile;
mod network;
mod nodes;
