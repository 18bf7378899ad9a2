//! Reads a table of events: each line is a send or a receive of a rank.

use super::columns::{Column, Columns};
use super::event::Event;
use super::records::Records;
use super::summary::{TableSummary, Timing};
use crate::limits::MAX_RANKS;
use anyhow::Result;
use mpiscope_wire::{FUNCTIONS, Family, id};
use rustc_hash::FxHashMap;
use std::io::BufRead;

const NEEDED: [&str; 6] = ["rank", "type", "timestamp_ns", "source", "destination", "size"];
const OPTIONAL: [&str; 4] = ["tag", "comm", "duration_ns", "call"];

const MAX_BYTES: u64 = 1 << 62;
/// Communicators of a table; all of them stay in memory.
const MAX_COMMS: usize = 1 << 16;
/// Names of the world communicator.
const WORLD: [&str; 4] = ["", "0", "world", "MPI_COMM_WORLD"];

/// Reads a table to its end.
pub(crate) struct TableReader<R> {
    records: Records<R>,
    columns: Columns<6, 4>,
    comms: FxHashMap<String, u32>,
    functions: FxHashMap<&'static str, (u16, bool)>,
}

/// Functions that move messages, and whether they may send.
fn movers() -> FxHashMap<&'static str, (u16, bool)> {
    let of = |family| match family {
        Family::Send => Some(true),
        Family::Receive | Family::Complete => Some(false),
        _ => None,
    };
    FUNCTIONS.iter().filter_map(|entry| Some((entry.name, (entry.id, of(entry.family)?)))).collect()
}

impl<R: BufRead> TableReader<R> {
    /// Reads the header.
    pub(crate) fn open(mut records: Records<R>) -> Result<Self> {
        let columns = Columns::read(&mut records, &NEEDED, &OPTIONAL)?;
        let comms = WORLD.iter().map(|name| ((*name).to_owned(), 0)).collect();
        Ok(Self { records, columns, comms, functions: movers() })
    }

    /// Names of unknown columns.
    pub(crate) fn ignored(&self) -> &[String] {
        &self.columns.ignored
    }

    /// Hands out all events in the order of the table. Returns their totals.
    pub(crate) fn read_events(mut self, mut take: impl FnMut(Event) -> Result<()>) -> Result<TableSummary> {
        let mut summary = TableSummary::default();
        while self.columns.advance(&mut self.records)? {
            let (event, kind) = self.event()?;
            summary.add_event(&event, kind, self.records.line()).map_err(|text| self.records.wrong(text))?;
            take(event)?;
        }
        summary.check_events().map_err(|text| anyhow::anyhow!("{}: {text}", self.records.name()))?;
        Ok(summary)
    }

    /// The event of the current record, and how its times are written.
    fn event(&mut self) -> Result<(Event, Timing)> {
        let Self { records, columns, .. } = &*self;
        let [rank_at, kind, timestamp, source_at, destination_at, size] = columns.needed;
        let [tag, comm, duration, call] = columns.optional;
        let rank_in =
            |column: Column| Ok::<_, anyhow::Error>(column.number(records, u64::from(MAX_RANKS) - 1)? as u32);
        let (rank, source, destination) = (rank_in(rank_at)?, rank_in(source_at)?, rank_in(destination_at)?);
        let is_kind = |name: &[u8]| kind.field(records).eq_ignore_ascii_case(name);
        let sends = is_kind(b"send");
        if !sends && !is_kind(b"receive") && !is_kind(b"recv") {
            return Err(kind.wrong(records, "send or receive"));
        }
        if sends && rank != source {
            return Err(source_at.wrong(records, format_args!("the rank that sends, {rank},")));
        }
        if !sends && rank != destination {
            return Err(destination_at.wrong(records, format_args!("the rank that receives, {rank},")));
        }
        let (timestamp_ns, is_rounded) = timestamp.time(records)?;
        let filled = |column: &Column| !column.is_missing(records);
        let duration = duration.filter(filled);
        let (duration_ns, is_length_rounded) =
            duration.map_or(Ok((0, false)), |column| column.duration(records))?;
        let tag = tag.filter(filled).map_or(Ok(0), |column| column.number(records, i32::MAX as u64))? as i32;
        let function = match call.filter(filled) {
            Some(column) => self.function(column, sends)?,
            None if sends => id::SEND,
            None => id::RECV,
        };
        let bytes = size.number(records, MAX_BYTES)?;
        let peer = if sends { destination } else { source };
        let comm = comm.filter(filled).map_or(Ok(0), |column| self.comm(column))?;
        let event = Event { timestamp_ns, duration_ns, bytes, rank, peer, tag, comm, function, sends };
        let timing = Timing { has_duration: duration.is_some(), is_rounded: is_rounded || is_length_rounded };
        Ok((event, timing))
    }

    fn function(&self, column: Column, sends: bool) -> Result<u16> {
        let known =
            std::str::from_utf8(column.field(&self.records)).ok().and_then(|name| self.functions.get(name));
        // Exchanges send and receive.
        known.filter(|(_, may_send)| *may_send || !sends).map(|(function, _)| *function).ok_or_else(|| {
            let what = if sends { "sends, as MPI_Isend" } else { "receives, as MPI_Waitall" };
            column.wrong(&self.records, format_args!("the name of a function that {what}"))
        })
    }

    /// The number of a communicator in the table.
    fn comm(&mut self, column: Column) -> Result<u32> {
        column.check_marks(&self.records)?;
        // Where a cell is empty, some programs write all numbers of its column with a point.
        let name = without_zeros(column.text(&self.records)?);
        if let Some(&comm) = self.comms.get(name) {
            return Ok(comm);
        }
        let comm = self.comms.len() - WORLD.len() + 1;
        if comm > MAX_COMMS {
            return Err(
                column.wrong(&self.records, format_args!("one of no more than {MAX_COMMS} communicators"))
            );
        }
        self.comms.insert(name.to_owned(), comm as u32);
        Ok(comm as u32)
    }
}

/// The digits of a whole number that is written with a point and zeros behind it; any other text as it is.
fn without_zeros(text: &str) -> &str {
    let is_number = |(digits, zeros): &(&str, &str)| {
        let is_of =
            |text: &str, allowed: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(allowed);
        is_of(digits, u8::is_ascii_digit) && is_of(zeros, |byte| *byte == b'0')
    };
    text.split_once(['.', ',']).filter(is_number).map_or(text, |(digits, _)| digits)
}
