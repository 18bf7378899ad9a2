//! Simulated MPI jobs with known truth, as the messages that the log of a real run holds.
//!
//! In: a spec of a job and its disturbances. Out: the messages of its log, and the cost of each disturbance, from a
//! second simulation without it. Ranks compute, send, receive and meet in collectives, in causal time. It knows
//! nothing of the analysis, which is tested against it. The program (`mpiscope synth`), benchmarks and tests use it.
//! The same spec gives the same messages; a rank's randomness depends on no disturbance; no message is received before
//! it was sent; memory grows with the ranks, not with the length of the run.

mod clocks;
mod compute;
mod disturbance;
mod error;
mod network;
mod pattern;
mod pilot;
mod placement;
mod plan;
mod random;
mod run;
mod script;
mod simulation;
mod spec;
mod steps;
mod style;
mod tape;
mod theft;
mod torus;
mod truth;

pub use clocks::NodeClock;
pub use disturbance::{DISTURBANCES, Disturbance, Stretch};
pub use error::Error;
pub use pattern::{PATTERNS, Pattern};
pub use placement::Placement;
pub use run::{Run, generate, node_name};
pub use spec::{Collective, Collectives, Network, Noise, Sizes, Spec};
pub use style::Style;
pub use torus::NodeTorus;
pub use truth::{Cause, Part, Traffic, Truth};
