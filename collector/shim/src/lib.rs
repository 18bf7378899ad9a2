//! The library that is preloaded into the job: it stands before the MPI functions and records their calls.
//!
//! In: the program's calls of MPI, through generated symbols for C and Fortran. Out: slots in the rings of the process. It
//! never changes what the program sees: a fault of ours switches recording off and passes calls through, nothing is written
//! to the program's output, and time stamps lie right around the real call.
//!
//! It is the only crate that talks to MPI: it has the ABI of each family and the hand-written shapes of calls. What a call
//! means is in `capture`, the layout of memory in `ring` and `wire`.

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
