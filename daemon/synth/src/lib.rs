//! Modelled MPI jobs whose truth is known, told as the messages that the log of a real run holds.
//!
//! What it is: a simulation of ranks that compute, send, receive and meet in collectives, in causal time; disturbances
//! of known cause; and what each of them costs, from a second simulation without it. What it is not: analysis, of which
//! it knows nothing, so that what it says is true can be held against what the analysis finds. Who uses it: the program
//! (`mpiscope synth`), benchmarks and tests. What must hold: the same spec gives the same messages; a rank's randomness
//! depends on no disturbance; no message is received before it was sent; memory grows with the ranks, not with the
//! length of the run.

mod clocks;
mod compute;
mod disturbance;
mod error;
mod network;
mod pattern;
mod placement;
mod plan;
mod random;
mod run;
mod script;
mod simulation;
mod spec;
mod tape;
mod theft;
mod truth;

pub use disturbance::{DISTURBANCES, Disturbance, Stretch};
pub use error::Error;
pub use pattern::{PATTERNS, Pattern};
pub use placement::Placement;
pub use run::{Run, generate};
pub use spec::{Collective, Collectives, Network, Noise, Sizes, Spec, Style};
pub use truth::{Cause, Part, Traffic, Truth};
