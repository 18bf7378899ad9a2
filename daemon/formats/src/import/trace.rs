//! A trace of any format, read to its end and checked.

use super::log_stream::CommMembers;
use super::receive_order::{CompletedReceive, order_receives};
use super::trace_piece::TracePiece;
use crate::external_sort::{SortedRecords, Sorter};
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::Path;

/// A trace that was read and found sound.
pub(crate) struct Trace {
    pub(crate) pieces: SortedRecords<TracePiece>,
    pub(crate) calls: u64,
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// When the run began, in nanoseconds since 1970; 0 where that is not known.
    pub(crate) unix_ns: u64,
    pub(crate) nodes: Vec<String>,
    pub(crate) comms: BTreeMap<u32, CommMembers>,
    /// Names of call sites, by number from 1 on.
    pub(crate) call_sites: Vec<String>,
    /// Names of phases, by number from 0 on.
    pub(crate) phases: Vec<String>,
    /// What the recording will not have, a sentence each.
    pub(crate) missing: Vec<String>,
    /// What the user should know, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// What a reader finds in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraceItem {
    Piece(TracePiece),
    Receive(CompletedReceive),
}

/// Takes in items in any order.
pub(crate) type ItemSink<'a> = dyn FnMut(TraceItem) -> Result<()> + 'a;

/// Collects the items of a trace and sorts them.
pub(crate) struct TraceCollector {
    pieces: Sorter<TracePiece>,
    received: Sorter<CompletedReceive>,
}

impl TraceCollector {
    pub(crate) fn new(scratch: &Path) -> Self {
        Self { pieces: Sorter::new(scratch), received: Sorter::new(scratch) }
    }

    pub(crate) fn push(&mut self, found: TraceItem) -> Result<()> {
        match found {
            TraceItem::Piece(piece) => self.pieces.push(piece),
            TraceItem::Receive(received) => self.received.push(received),
        }
    }

    /// Returns all pieces in the order of time.
    pub(crate) fn finish(self) -> Result<SortedRecords<TracePiece>> {
        let Self { mut pieces, received } = self;
        order_receives(received.finish()?, &mut pieces)?;
        pieces.finish()
    }
}

/// A year: no run takes longer.
const LONG_SPAN_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// A sentence about times that no run spans: most likely the first or the last is wrong.
pub(crate) fn describe_long_span(name: &str, span_ns: u64, from: &str, to: &str) -> Option<String> {
    let years = span_ns as f64 / LONG_SPAN_NS as f64;
    (span_ns > LONG_SPAN_NS)
        .then(|| format!("{name}: its times span {years:.1} years, from {from} to {to}: check both"))
}
