//! The recording: a folder that anyone can read without us, safe against crashes while it grows.
//!
//! ```text
//! manifest.json             what the recording is of, which files belong to it, what is missing
//! wal/NNNNNN.wal            frames as they came from the job, until everything made of them is sealed
//! calls/NNNNNN.parquet      segments: rows sorted and compressed
//! messages/NNNNNN.parquet
//! windows/NNNNNN.parquet
//! scheduling/NNNNNN.parquet
//! starts/NNNNNN.parquet     how many calls of each segment began when
//! summary/*.parquet         the sums of the whole run
//! tables/*.parquet          names of functions, communicators, nodes and ranks
//! ```
//!
//! In: rows and frames. Out: the files of a recording, and rows read from them. It has no thread and no clock, and
//! does not know what calls mean. The program decides when to flush, sync and seal; replay and the exports read. A
//! file with its final name is complete, nothing on disk makes a reader panic or leave the folder, and data that
//! cannot be kept is counted and reported.

mod batches;
mod bounds;
mod checksum;
mod columns;
mod corrections;
mod cursor;
mod decode;
mod encode;
mod error;
mod export;
mod files;
mod filters;
mod folder;
mod groups;
mod intake;
mod keep;
mod limits;
mod lock;
mod manifest;
mod reader;
mod row;
mod rows;
mod salvage;
mod schema;
mod segment;
mod shares;
mod summary;
mod table_file;
mod tables;
mod wal;
mod writer;

pub use batches::{Batches, Group, SegmentFault, SegmentIndex, SegmentReader, read_segment};
pub use checksum::crc32_of;
pub use corrections::Corrections;
pub use cursor::{Cursor, Direction};
pub use error::RecordingError;
pub use export::{CsvTable, MessageArrow, NameColumn, ParquetTable, Perfetto, Picl, PiclRecord, Slice};
pub use files::{FileState, file_state, list_file, read_listed};
pub use filters::{CallFilter, Filter, MessageFilter};
pub use folder::{is_only_a_recording, remove_recording};
pub use intake::{EncodedSegment, Intake};
pub use keep::Keep;
pub use lock::is_being_written;
pub use manifest::{
    Clock, ClockNode, ClockVersion, Cost, Cut, FileMark, IMPORT, Job, JobNode, Latency, Lost, Manifest,
    Pause, Pauses, RunTotals, Segment, Segments, State, Uncounted,
};
pub use reader::Recording;
pub use row::{Row, SegmentRow};
pub use rows::{
    DensityRow, DurationRow, FunctionName, FunctionRow, MessageSizeRow, PairRow, RankRow, ShareRow, SiteRow,
    StartRow, WindowRow, WindowSumRow,
};
pub use salvage::salvage;
pub use schema::SCHEMA;
pub use segment::SegmentWriter;
pub use shares::{SHARES_FILE, read_shares, write_shares};
pub use summary::Summary;
pub use tables::Tables;
pub use wal::{WalReader, WalSummary, WalWriter};
pub use writer::{RecordingOptions, RecordingWriter};
