//! Rows for other programs: CSV, one Parquet file, the trace that Perfetto and Chrome open, and the trace of PICL.
//!
//! Export formats, written to anything that takes bytes, row by row in bounded memory. The program's `export` chooses
//! files and rows.

mod csv;
mod name_column;
mod parquet;
mod perfetto_json;
mod picl;
#[cfg(test)]
mod tests;

pub use csv::CsvTable;
pub use name_column::NameColumn;
pub use parquet::ParquetTable;
pub use perfetto_json::{MessageArrow, Perfetto, Slice};
pub use picl::{Picl, PiclRecord};
