//! The write-ahead log: frames as they came from the job, on disk before anything else happens to them.
//!
//! It is a row of files `wal/NNNNNN.wal`, each a plain sequence of frames. A writer never continues a file of an
//! earlier process: what a crash tore off stays at the end of its file. A finished file is compressed soon after
//! (`NNNNNN.wal.zst`).

mod compressed;
mod files;
mod reader;
mod syncer;
mod trim;
mod writer;

pub use reader::{WalReader, WalSummary};
pub(crate) use trim::trim;
pub use writer::WalWriter;
