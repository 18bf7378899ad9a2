//! Reads files of other tools, and writes what they tell as the messages that the log of a real run would hold.
//!
//! A file is recognized ([`InputFile::recognize`]), read to its end and checked ([`InputFile::read`]), and only then
//! written ([`ImportedRun::write_log`]): a file that is refused leaves nothing behind.

mod call_stream;
mod dumpi;
mod log_stream;
mod otf2;
mod picl;
mod receive_order;
mod table;
mod trace;
mod trace_piece;

use crate::progress::{Progress, report_items};
use anyhow::Result;
use dumpi::RankFiles;
use log_stream::{JobDescription, MAX_SLOTS};
use mpiscope_wire::Message;
use std::path::{Path, PathBuf};
use table::ImportedTable;
use trace::Trace;

/// The formats that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFormat {
    /// An OTF2 archive.
    Otf2,
    /// Texts that dumpi2ascii writes of a DUMPI trace.
    Dumpi,
    /// A PICL trace.
    Picl,
    /// A table of sends and receives.
    Table,
}

/// A file of another tool whose format is known.
pub struct InputFile {
    path: PathBuf,
    kind: Kind,
}

enum Kind {
    Otf2 { anchor: PathBuf },
    Dumpi(RankFiles),
    Picl,
    Table,
}

impl InputFile {
    /// Finds out which format a file has.
    ///
    /// # Errors
    /// When it is a DUMPI trace that cannot be read as it is. A file that cannot be read at all counts as a table.
    pub fn recognize(path: &Path) -> Result<Self> {
        let kind = if let Some(anchor) = otf2::find_anchor(path) {
            Kind::Otf2 { anchor }
        } else if picl::is_trace(path) {
            Kind::Picl
        } else if let Some(texts) = dumpi::find_rank_files(path)? {
            Kind::Dumpi(texts)
        } else {
            Kind::Table
        };
        Ok(Self { path: path.to_owned(), kind })
    }

    /// The format of the file.
    pub fn format(&self) -> InputFormat {
        match self.kind {
            Kind::Otf2 { .. } => InputFormat::Otf2,
            Kind::Dumpi(_) => InputFormat::Dumpi,
            Kind::Picl => InputFormat::Picl,
            Kind::Table => InputFormat::Table,
        }
    }

    /// Reads the file to its end. For a table and for a PICL trace a file of its own, `nodes`, says which rank was on which node;
    /// other formats say so themselves. What does not fit into memory waits in files without a name in the folder `scratch`.
    ///
    /// # Errors
    /// When a file cannot be read, something in it is wrong, or the work is given up.
    pub fn read(self, nodes: Option<&Path>, scratch: &Path, progress: &dyn Progress) -> Result<ImportedRun> {
        Ok(ImportedRun(match self.kind {
            Kind::Otf2 { anchor } => Contents::Trace(otf2::read_archive(&anchor, scratch, progress)?),
            Kind::Dumpi(texts) => Contents::Trace(dumpi::read_trace(texts, scratch, progress)?),
            Kind::Picl => Contents::Trace(picl::read_trace(&self.path, nodes, scratch, progress)?),
            Kind::Table => Contents::Table(table::read_table(&self.path, nodes, scratch, progress)?),
        }))
    }
}

/// A run that was read from a file of another tool and found sound.
pub struct ImportedRun(Contents);

enum Contents {
    Table(ImportedTable),
    Trace(Trace),
}

impl ImportedRun {
    /// What the user should know about the file, a sentence each. It is not kept in the recording.
    pub fn notes(&self) -> &[String] {
        match &self.0 {
            Contents::Table(table) => &table.notes,
            Contents::Trace(trace) => &trace.notes,
        }
    }

    /// What the recording will not have, a sentence each.
    pub fn missing(&self) -> &[String] {
        match &self.0 {
            Contents::Table(table) => &table.missing,
            Contents::Trace(trace) => &trace.missing,
        }
    }

    /// What the file consists of, in the singular: "call" or "event".
    pub fn item_name(&self) -> &'static str {
        match &self.0 {
            Contents::Table(_) => "event",
            Contents::Trace(_) => "call",
        }
    }

    /// How many items there are.
    pub fn item_count(&self) -> u64 {
        match &self.0 {
            Contents::Table(table) => table.summary.events,
            Contents::Trace(trace) => trace.calls,
        }
    }

    /// Whether it is known of every call how long it took. Without that delays are not known.
    pub fn has_durations(&self) -> bool {
        match &self.0 {
            Contents::Table(table) => table.summary.untimed == 0,
            Contents::Trace(_) => true,
        }
    }

    /// Hands out the messages of the run's log, in their order; the end of the run is the last. `name` is what the run is
    /// called and `command` is the command that it gives for the run. Returns how many ranks of a table have calls that overlap, and
    /// therefore several threads.
    ///
    /// # Errors
    /// When what waits in a file cannot be read, or the work is given up.
    pub fn write_log(
        self,
        name: String,
        command: Vec<String>,
        progress: &dyn Progress,
        sink: &mut dyn FnMut(Message),
    ) -> Result<u64> {
        match self.0 {
            Contents::Table(table) => table.write_log(name, command, progress, sink),
            Contents::Trace(trace) => write_trace(trace, name, command, progress, sink).map(|()| 0),
        }
    }
}

fn write_trace(
    trace: Trace,
    name: String,
    command: Vec<String>,
    progress: &dyn Progress,
    sink: &mut dyn FnMut(Message),
) -> Result<()> {
    let Trace { pieces, from_ns, to_ns, unix_ns, nodes, comms, call_sites, phases, .. } = trace;
    let library = "an imported trace";
    let (nodes, comms, phases) = (&nodes, &comms, &phases);
    let job = JobDescription { name, command, library, unix_ns, nodes, from_ns, to_ns, comms, phases };
    call_stream::write_calls(&job, &call_sites, report_items(pieces, progress), MAX_SLOTS, sink)
}
