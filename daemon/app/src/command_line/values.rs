//! The words that an option takes, where they stand for a value of the library.

use clap::ValueEnum;
use mpiscope_compare::AlignBy;
use mpiscope_feed::RemapFormat;
use mpiscope_formats::export::TableRows;

/// Whose file a placement is written as.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PlacementFormat {
    /// Of Open MPI 4
    Rankfile,
    /// Of MPICH and its relatives
    Machinefile,
    /// Of Slurm: a host a line, for its arbitrary distribution
    Slurm,
}

impl From<PlacementFormat> for RemapFormat {
    fn from(format: PlacementFormat) -> Self {
        match format {
            PlacementFormat::Rankfile => Self::Rankfile,
            PlacementFormat::Machinefile => Self::Machinefile,
            PlacementFormat::Slurm => Self::Slurm,
        }
    }
}

/// By what two runs are put on one clock.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum Align {
    // By phase or by turn, whichever cuts the runs finer, else by start.
    #[default]
    Auto,
    // Both runs count from their start.
    Start,
    // Phases that the program names with MPI_Pcontrol.
    Phase,
    // Turns of the main loop.
    Turn,
}

impl From<Align> for AlignBy {
    fn from(align: Align) -> Self {
        match align {
            Align::Auto => Self::Auto,
            Align::Start => Self::Start,
            Align::Phase => Self::Phase,
            Align::Turn => Self::Turn,
        }
    }
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A folder with an OTF2 trace
    Otf2,
    /// A JSON trace for ui.perfetto.dev and Chrome
    Perfetto,
    /// A PICL trace for ParaGraph
    Picl,
    /// A table as comma-separated values
    Csv,
    /// A table as one Parquet file
    Parquet,
}

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportTable {
    /// One row a call
    Calls,
    /// One row a message
    Messages,
}

impl From<ExportTable> for TableRows {
    fn from(table: ExportTable) -> Self {
        match table {
            ExportTable::Calls => Self::Calls,
            ExportTable::Messages => Self::Messages,
        }
    }
}
