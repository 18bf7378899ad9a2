//! The write-ahead log: frames as they came from the job, on disk before anything is made of them.
//!
//! It is a row of files `wal/NNNNNN.wal`, each a plain sequence of frames. A writer never goes on in a file of another
//! life, so what a crash tore off stays at the end of its file.

mod reader;
mod syncer;
mod writer;

pub use reader::{WalReader, WalSummary};
pub use writer::WalWriter;

const EXTENSION: &str = "wal";
