//! The tests that use this crate from outside, in one program; hostile.rs is another.

mod frames;
mod host_clocks;
mod network;
mod nodes;
mod random_jobs;
mod threads;
