//! The library that is preloaded into the job: it stands before the MPI functions and records their calls.
//!
//! What it is: generated symbols, the ABI of each MPI family, and the hand-written shapes of calls; the only crate
//! that speaks to MPI. What it is not: meaning (`capture`), memory layout (`ring`, `wire`). Who uses it: the dynamic
//! linker. What must hold: the program behaves as without us. A fault of ours switches recording off and passes calls
//! through; nothing is ever written to the program's output; timestamps lie right around the real call.

mod agent;
mod calibrate;
mod calibration_request;
mod call_path;
mod caller;
mod clock;
mod generated;
mod groups;
mod guarded;
mod handle;
mod language;
mod local;
mod mpi;
mod process;
mod real;
mod recorded_family;
mod recording_cost;
mod shapes;
mod stderr;
mod text;
mod thread_pointer;
mod thread_ring;
mod topology;
