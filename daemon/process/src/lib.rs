//! This process and its host: what it prints, its private files, its limits and signals.
//!
//! In: text, values and paths. Out: results on stdout, messages on stderr, files that only their owner reads, and figures
//! of this process. It knows nothing of MPI or recordings, and nothing it does ends or holds up a job that depends on it.

pub mod at_once;
pub mod local_host;
pub mod os;
pub mod output;
pub mod own_process;
pub mod private;
pub mod signals;
