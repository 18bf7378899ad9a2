//! The rows of a subscription in the order of time, forward or backward, some at a time.
//!
//! In: a library, whose rows come in any order, and up to where they are complete. Out: batches. What must hold: forward,
//! every row of the subscription is in exactly one batch, also those that become known late; a batch has a bounded
//! number of rows, however many there are in a stretch of time.

use super::filter::Filter;
use mpiscope_feed::exchange::Ranks;
use mpiscope_feed::{Late, Library, Timed};
use mpiscope_model::{Call, Message, Nanoseconds};
use mpiscope_protocol::{Batch, CallColumns, Direction, MessageColumns, NO_TAG, NONE, What};
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows of a batch, unless a client asks for fewer.
pub(super) const ROWS_USUAL: usize = 2_048;
/// The most that a client can ask for.
pub(super) const ROWS_MAX: usize = 65_536;
/// The stretch of time that is read first, and the longest.
const FIRST_NS: u64 = 10_000_000;
const LONGEST_NS: u64 = 1 << 50;
/// Stretches without rows that are read before somebody else has a turn.
const EMPTY_STRETCHES: usize = 64;
/// Late rows that came while a stretch was read let it be read again, so often at the most.
const AGAIN_MAX: usize = 16;

/// A row that can be ordered.
pub(super) trait Row: Timed + Send {
    /// Its place among all rows; those that are equal are the same for a reader.
    fn key(&self) -> Key;
    fn keeps(&self, filter: &Filter, ranks: &Ranks) -> bool;
    fn late(library: &Library, after: u64) -> Late<Self>;
    fn visit(
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        ranks: &Ranks,
        visitor: &mut dyn FnMut(&Self),
    ) -> Result<(), String>;
    fn fill(batch: &mut Batch, rows: &[Self], library: &Library);
}

/// When a row became complete, when it began, whose it is, and of which thread or by whom it was received.
type Key = (Nanoseconds, Nanoseconds, u32, u32);

impl Row for Call {
    fn key(&self) -> Key {
        (self.end_ns, self.start_ns, self.rank, u32::from(self.thread))
    }

    fn keeps(&self, filter: &Filter, ranks: &Ranks) -> bool {
        filter.keeps_call(self, ranks)
    }

    fn late(library: &Library, after: u64) -> Late<Self> {
        library.late_calls(after)
    }

    fn visit(
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        ranks: &Ranks,
        visitor: &mut dyn FnMut(&Self),
    ) -> Result<(), String> {
        library.visit_calls(range_ns, ranks, visitor)
    }

    fn fill(batch: &mut Batch, rows: &[Self], _: &Library) {
        let mut columns = CallColumns::default();
        for call in rows {
            columns.rank.push(call.rank);
            columns.thread.push(call.thread.into());
            columns.function.push(call.function.into());
            columns.start_ns.push(call.start_ns as f64);
            columns.end_ns.push(call.end_ns as f64);
            columns.peer.push(call.peer.unwrap_or(NONE));
            columns.tag.push(call.tag.unwrap_or(NO_TAG));
            columns.bytes.push(call.bytes as f64);
            columns.communicator.push(call.comm.unwrap_or(NONE));
            columns.polls.push(call.count as f64);
            columns.site.push(call.site.unwrap_or(NONE));
            columns.collective.push(call.instance.unwrap_or(NONE));
        }
        batch.calls = Some(Box::new(columns));
    }
}

impl Row for Message {
    fn key(&self) -> Key {
        (self.recv_ns, self.send_ns, self.src, self.dst)
    }

    fn keeps(&self, filter: &Filter, ranks: &Ranks) -> bool {
        filter.keeps_message(self, ranks)
    }

    fn late(library: &Library, after: u64) -> Late<Self> {
        library.late_messages(after)
    }

    fn visit(
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        _: &Ranks,
        visitor: &mut dyn FnMut(&Self),
    ) -> Result<(), String> {
        library.visit_messages(range_ns, &mut |messages| messages.iter().for_each(&mut *visitor))
    }

    fn fill(batch: &mut Batch, rows: &[Self], library: &Library) {
        let (mut columns, usual) = (MessageColumns::default(), library.usual());
        for message in rows {
            columns.source.push(message.src);
            columns.destination.push(message.dst);
            columns.tag.push(message.tag);
            columns.communicator.push(message.comm);
            columns.bytes.push(message.bytes as f64);
            columns.send_ns.push(message.send_ns as f64);
            columns.receive_ns.push(message.recv_ns as f64);
            columns.transfer_ns.push(message.t_msg_ns as f64);
            columns.late_sender_ns.push(message.late_sender_ns as f64);
            columns.latency.push(usual.latency(message));
            columns.between_nodes.push(message.inter.into());
        }
        batch.messages = Some(Box::new(columns));
    }
}

/// Where a subscription is in the run.
#[derive(Debug)]
pub(super) struct Position {
    id: u32,
    most: usize,
    filter: Filter,
    /// Forward: rows before this were sent. Backward: rows from this on were.
    at_ns: Nanoseconds,
    /// Late rows before this are not the subscription's.
    begin_ns: Nanoseconds,
    /// How long a stretch is read next.
    stretch_ns: u64,
    late_seen: u64,
    /// Rows that were left out since the last batch.
    missed: u64,
}

/// A row with its place, ordered so that those furthest along a direction are the greatest.
struct Placed<R> {
    key: Key,
    is_backward: bool,
    row: R,
}

impl<R> PartialEq for Placed<R> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl<R> Eq for Placed<R> {}
impl<R> PartialOrd for Placed<R> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<R> Ord for Placed<R> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let order = self.key.cmp(&other.key);
        if self.is_backward { order.reverse() } else { order }
    }
}

/// What was read of a stretch: the first rows along the direction, and how many there are in all.
struct Stretch<R> {
    rows: Vec<R>,
    total: u64,
}

impl Position {
    pub(super) fn new(
        id: u32,
        what: What,
        filter: Filter,
        most: Option<u32>,
        at_ns: Nanoseconds,
        library: &Library,
    ) -> Self {
        let most = most.map_or(ROWS_USUAL, |most| (most as usize).clamp(1, ROWS_MAX));
        let late_seen = match what {
            What::Calls => library.late_calls(u64::MAX).next,
            What::Messages => library.late_messages(u64::MAX).next,
            What::Verdicts => 0,
        };
        Self { id, most, filter, at_ns, begin_ns: at_ns, stretch_ns: FIRST_NS, late_seen, missed: 0 }
    }

    pub(super) fn at_ns(&self) -> Nanoseconds {
        self.at_ns
    }

    /// Goes elsewhere without what lies between.
    pub(super) fn jump(&mut self, to_ns: Nanoseconds) {
        (self.at_ns, self.begin_ns) = (to_ns, to_ns);
    }

    /// The next rows on the way to a time, if there are any. Forward it is outside, backward inside.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    pub(super) fn next<R: Row>(
        &mut self,
        library: &Library,
        direction: Direction,
        to_ns: Nanoseconds,
    ) -> Result<Option<Batch>, String> {
        let from_ns = self.at_ns;
        for _ in 0..EMPTY_STRETCHES {
            let batch = match direction {
                Direction::Forward if self.at_ns < to_ns => self.forward::<R>(library, from_ns, to_ns)?,
                Direction::Backward if self.at_ns > to_ns => self.backward::<R>(library, from_ns, to_ns)?,
                _ => break,
            };
            if batch.rows() > 0 {
                return Ok(Some(batch));
            }
        }
        // What is new may all be late.
        if direction == Direction::Forward && self.at_ns >= to_ns {
            let batch = self.only_late::<R>(library);
            return Ok(Some(batch).filter(|batch| batch.rows() > 0));
        }
        Ok(None)
    }

    fn forward<R: Row>(
        &mut self,
        library: &Library,
        from_ns: Nanoseconds,
        to_ns: Nanoseconds,
    ) -> Result<Batch, String> {
        let range_ns = self.at_ns..self.at_ns.saturating_add(self.stretch_ns).min(to_ns);
        let ranks = self.filter.ranks(library);
        let (mut again, mut seen) = (0, R::late(library, self.late_seen).next);
        let (read, late) = loop {
            let read = self.read::<R>(library, &range_ns, false, &ranks)?;
            let late = R::late(library, self.late_seen);
            let new = (late.next - seen).min(late.rows.len() as u64) as usize;
            let came_meanwhile =
                late.rows[late.rows.len() - new..].iter().any(|row| range_ns.contains(&row.at_ns()));
            if !came_meanwhile || again == AGAIN_MAX {
                break (read, late);
            }
            (again, seen) = (again + 1, late.next);
        };
        let late_rows = self.take_late(late, range_ns.start, &ranks);
        let end_ns = self.settle(&read, range_ns.end, false);
        self.at_ns = end_ns;
        let rows: Vec<R> = read.rows.into_iter().filter(|row| row.at_ns() < end_ns).collect();
        Ok(self.batch(library, (from_ns, end_ns), late_rows, rows))
    }

    fn backward<R: Row>(
        &mut self,
        library: &Library,
        from_ns: Nanoseconds,
        to_ns: Nanoseconds,
    ) -> Result<Batch, String> {
        let range_ns = self.at_ns.saturating_sub(self.stretch_ns).max(to_ns)..self.at_ns;
        let read = self.read::<R>(library, &range_ns, true, &self.filter.ranks(library))?;
        let end_ns = self.settle(&read, range_ns.start, true);
        self.at_ns = end_ns;
        let rows: Vec<R> = read.rows.into_iter().filter(|row| row.at_ns() >= end_ns).collect();
        Ok(self.batch(library, (from_ns, end_ns), Vec::new(), rows))
    }

    fn only_late<R: Row>(&mut self, library: &Library) -> Batch {
        let ranks = self.filter.ranks(library);
        let late = R::late(library, self.late_seen);
        let rows = self.take_late(late, self.at_ns, &ranks);
        self.batch(library, (self.at_ns, self.at_ns), rows, Vec::new())
    }

    /// Those late rows whose place was passed, in order.
    fn take_late<R: Row>(&mut self, late: Late<R>, before_ns: Nanoseconds, ranks: &Ranks) -> Vec<R> {
        self.late_seen = late.next;
        self.missed += late.missed;
        let passed = self.begin_ns..before_ns;
        let mut rows: Vec<R> = late.rows;
        rows.retain(|row| passed.contains(&row.at_ns()) && row.keeps(&self.filter, ranks));
        rows.sort_unstable_by_key(R::key);
        rows
    }

    /// The first rows along a direction: as many as a batch holds and one more, and all that have the time of that one.
    fn read<R: Row>(
        &self,
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        is_backward: bool,
        ranks: &Ranks,
    ) -> Result<Stretch<R>, String> {
        let mut kept: BinaryHeap<Placed<R>> = BinaryHeap::new();
        let mut total = 0;
        R::visit(library, range_ns, ranks, &mut |row| {
            if range_ns.contains(&row.at_ns()) && row.keeps(&self.filter, ranks) {
                total += 1;
                let placed = Placed { key: row.key(), is_backward, row: *row };
                if kept.len() <= self.most {
                    kept.push(placed);
                } else if kept.peek().is_some_and(|last| placed < *last) {
                    kept.pop();
                    kept.push(placed);
                }
            }
        })?;
        let mut rows: Vec<R> = kept.into_sorted_vec().into_iter().map(|placed| placed.row).collect();
        // A batch that would have rows of one moment only has all of that moment.
        if rows.len() > self.most && rows.first().map(R::at_ns) == rows.last().map(R::at_ns) {
            let at_ns = rows[0].at_ns();
            rows.clear();
            R::visit(library, &(at_ns..at_ns + 1), ranks, &mut |row| {
                if row.at_ns() == at_ns && row.keeps(&self.filter, ranks) {
                    rows.push(*row);
                }
            })?;
            rows.sort_unstable_by_key(R::key);
            if is_backward {
                rows.reverse();
            }
        }
        Ok(Stretch { rows, total })
    }

    /// Up to where what was read is complete; the next stretch is longer where there was little.
    fn settle<R: Row>(&mut self, read: &Stretch<R>, end_ns: Nanoseconds, is_backward: bool) -> Nanoseconds {
        if read.total <= self.most as u64 {
            if read.total <= self.most as u64 / 4 {
                self.stretch_ns = (self.stretch_ns * 4).min(LONGEST_NS);
            }
            return end_ns;
        }
        self.stretch_ns = (self.stretch_ns / 2).max(1);
        let (Some(first), Some(last)) = (read.rows.first().map(R::at_ns), read.rows.last().map(R::at_ns))
        else {
            return end_ns;
        };
        match (first == last, is_backward) {
            // All of one moment.
            (true, false) => first + 1,
            (true, true) => first,
            // Of the last moment there may be more.
            (false, false) => last,
            (false, true) => last + 1,
        }
    }

    /// The newest rows until a time; those before that a batch does not hold are counted as missed.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    pub(super) fn newest<R: Row>(
        &mut self,
        library: &Library,
        to_ns: Nanoseconds,
    ) -> Result<Option<Batch>, String> {
        if self.at_ns >= to_ns {
            return Ok(None);
        }
        let (from_ns, ranks) = (self.at_ns, self.filter.ranks(library));
        let mut read = self.read::<R>(library, &(from_ns..to_ns), true, &ranks)?;
        read.rows.truncate(self.most);
        read.rows.reverse();
        self.missed += read.total - read.rows.len() as u64;
        self.at_ns = to_ns;
        let batch = self.batch(library, (from_ns, to_ns), Vec::new(), read.rows);
        Ok(Some(batch).filter(|batch| batch.rows() > 0))
    }

    /// Goes on to a time and counts what it passes as missed.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    pub(super) fn skip<R: Row>(&mut self, library: &Library, to_ns: Nanoseconds) -> Result<(), String> {
        let range_ns = self.at_ns.min(to_ns)..self.at_ns.max(to_ns);
        let ranks = self.filter.ranks(library);
        let mut passed = 0;
        R::visit(library, &range_ns, &ranks, &mut |row| {
            passed += u64::from(range_ns.contains(&row.at_ns()) && row.keeps(&self.filter, &ranks));
        })?;
        self.missed += passed;
        self.at_ns = to_ns;
        Ok(())
    }

    fn batch<R: Row>(
        &mut self,
        library: &Library,
        range_ns: (u64, u64),
        mut late: Vec<R>,
        rows: Vec<R>,
    ) -> Batch {
        let (late_rows, missed) = (late.len() as u32, self.missed);
        late.extend(rows);
        let (from_ns, to_ns) = (range_ns.0 as f64, range_ns.1 as f64);
        let mut batch = Batch { id: self.id, from_ns, to_ns, late: late_rows, missed, ..Batch::default() };
        R::fill(&mut batch, &late, library);
        if batch.rows() > 0 {
            self.missed = 0;
        }
        batch
    }
}
