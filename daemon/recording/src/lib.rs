//! The recording: a folder that anyone can read without us, safe against crashes while it grows.
//!
//! ```text
//! manifest.json             what the recording is of, which files belong to it, what is missing
//! wal/NNNNNN.wal            frames as they came from the job, until everything made of them is sealed
//! calls/NNNNNN.parquet      segments: rows sorted and compressed
//! messages/NNNNNN.parquet
//! windows/NNNNNN.parquet
//! scheduling/NNNNNN.parquet
//! tables/*.parquet          names of functions, communicators, nodes and ranks
//! ```
//!
//! What it is: writers and readers of these files. What it is not: a thread, a clock, a meaning of calls. Who uses it:
//! the program, which decides when to flush, sync and seal; replay and the exports, which read. What must hold: a file
//! with its final name is whole, nothing on disk makes a reader panic or leave the folder, and what cannot be kept is
//! counted and told of.

mod checksum;
mod corrections;
mod decode;
mod encode;
mod error;
mod export;
mod folder;
mod manifest;
mod reader;
mod row;
mod rows;
mod segment;
mod tables;
mod wal;
mod writer;

pub use corrections::Corrections;
pub use error::RecordingError;
pub use export::{CsvTable, MessageArrow, NameColumn, ParquetTable, Perfetto, Slice};
pub use manifest::{
    Clock, ClockNode, ClockVersion, Cost, Job, JobNode, Latency, Lost, Manifest, RunTotals, SCHEMA, Segment,
    Segments, State,
};
pub use reader::{Batches, Recording, SegmentFault, SegmentReader, read_segment};
pub use row::{Row, SegmentRow};
pub use rows::{FunctionName, WindowRow};
pub use segment::SegmentWriter;
pub use tables::Tables;
pub use wal::{WalReader, WalSummary, WalWriter};
pub use writer::{RecordingOptions, RecordingWriter};
