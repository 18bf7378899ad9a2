//! Writes the calls and messages of a recording in formats of other tools.
//!
//! Rows are read in pieces and written in pieces, whatever state the recording is in ([`Source`]), as far as a [`Filter`]
//! keeps them.

mod filter;
pub(crate) mod gather;
pub(crate) mod item;
mod otf2;
mod perfetto;
pub(crate) mod picl;
mod source;
mod summary;
mod sweep;
mod table;

pub use filter::{Filter, RankList, parse_byte_range, parse_duration_ns, parse_run_time_ns};
pub use mpiscope_otf2::Library as Otf2Library;
pub use otf2::write_otf2;
pub use perfetto::write_perfetto;
pub use picl::write_picl;
pub use source::{LogReader, LogSummary, Source, TakeLogRows};
pub use summary::ExportSummary;
pub use table::{TableFormat, TableRows, write_table};
