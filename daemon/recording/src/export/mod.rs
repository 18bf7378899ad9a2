//! Rows for other programs: CSV, one Parquet file, the trace that Perfetto and Chrome open, and the trace of PICL.
//!
//! Export formats, written to anything that takes bytes, row by row in bounded memory. The program's `export` chooses
//! files and rows.

mod csv;
mod parquet;
mod perfetto;
mod picl;
#[cfg(test)]
mod tests;

pub use csv::CsvTable;
pub use parquet::ParquetTable;
pub use perfetto::{MessageArrow, Perfetto, Slice};
pub use picl::{Picl, PiclRecord};

/// A column that is in no segment: what a number in a row is called. It stands behind the row's own columns.
pub struct NameColumn<R> {
    /// What the column is called.
    pub name: &'static str,
    /// The number in a row; none where the row has none.
    pub number: fn(&R) -> Option<usize>,
    /// By number, the names; an empty one is not known. A number without a name has none.
    pub names: Vec<String>,
}
