//! The trace that PICL 2.0 and MPICL write and ParaGraph reads: a line for each record, with blanks between its fields.
//!
//! A record has its type, the type of its event, the time in seconds, the processor, the process, and the number of data
//! fields. If there are any, a descriptor and the data follow. The descriptor is `2` for whole numbers, or a format in quotes.

use mpiscope_model::Nanoseconds;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Lines that are written at once.
const BUFFER_BYTES: usize = 256 << 10;
const NS_PER_S: u64 = 1_000_000_000;

/// A record whose data are whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PiclRecord<'a> {
    /// The type of the record.
    pub kind: i32,
    /// The type of the event.
    pub event: i32,
    /// When it happened.
    pub at_ns: Nanoseconds,
    /// The processor and the process on it; -1 stands for all.
    pub place: (i64, i64),
    /// Its data.
    pub data: &'a [i64],
}

/// Writes records.
pub struct Picl<W> {
    target: W,
    lines: String,
}

impl<W: Write> Picl<W> {
    /// Begins a trace.
    pub fn begin(target: W) -> Self {
        Self { target, lines: String::with_capacity(2 * BUFFER_BYTES) }
    }

    /// Writes a record. Those of a trace come in the order of time.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record(&mut self, record: &PiclRecord<'_>) -> io::Result<()> {
        let count = record.data.len();
        self.header(record, count);
        if count > 0 {
            self.lines.push_str(" 2");
        }
        for field in record.data {
            // A string takes everything.
            let _ = write!(self.lines, " {field}");
        }
        self.end_line()
    }

    /// Writes a record whose data are a text: its length and its words.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn text(&mut self, kind: i32, event: i32, at_ns: Nanoseconds, text: &str) -> io::Result<()> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        self.header(&PiclRecord { kind, event, at_ns, place: (-1, -1), data: &[] }, words.len() + 1);
        self.lines.push_str(" \"%d");
        words.iter().for_each(|_| self.lines.push_str(" %s"));
        let _ = write!(self.lines, "\" {} {text}", text.len());
        self.end_line()
    }

    fn header(&mut self, record: &PiclRecord<'_>, count: usize) {
        let PiclRecord { kind, event, at_ns, place: (processor, process), .. } = record;
        let (seconds, rest) = (at_ns / NS_PER_S, at_ns % NS_PER_S);
        let _ = write!(self.lines, "{kind} {event} {seconds}.{rest:09} {processor} {process} {count}");
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.lines.push('\n');
        if self.lines.len() >= BUFFER_BYTES { self.drain() } else { Ok(()) }
    }

    fn drain(&mut self) -> io::Result<()> {
        let written = self.target.write_all(self.lines.as_bytes());
        self.lines.clear();
        written
    }

    /// Ends the trace; gives back what it was written to.
    ///
    /// # Errors
    /// When the last of it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.drain()?;
        self.target.flush()?;
        Ok(self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_lines_that_say_how_many_fields_they_have() {
        let mut trace = Picl::begin(Vec::new());
        let at_ns = 12_000_000_345;
        let record = PiclRecord { kind: -3, event: -21, at_ns, place: (4, 0), data: &[800, 7, 1, 0] };
        trace.record(&record).unwrap();
        trace.record(&PiclRecord { kind: -4, data: &[], ..record }).unwrap();
        trace.text(-5, 3, 0, "MPI_Wait  all").unwrap();
        let lines = String::from_utf8(trace.finish().unwrap()).unwrap();
        assert_eq!(
            lines,
            "-3 -21 12.000000345 4 0 4 2 800 7 1 0\n\
             -4 -21 12.000000345 4 0 0\n\
             -5 3 0.000000000 -1 -1 3 \"%d %s %s\" 12 MPI_Wait all\n"
        );
    }
}
