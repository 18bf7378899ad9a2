//! The rows of a subscription in the order of time, forward or backward, some at a time.
//!
//! In: a library, whose rows come in any order, and up to where they are complete. Out: batches. What must hold: every
//! row of the subscription is in exactly one batch, also those that become known late; a batch has no more rows than the
//! client asked for, however many there are at one moment.

use super::filter::Filter;
use mpiscope_feed::exchange::Ranks;
use mpiscope_feed::{Library, Timed};
use mpiscope_model::{Call, Comm, Message, Nanoseconds, Rank, Site};
use mpiscope_protocol::{Batch, CallColumns, Direction, MessageColumns, NO_TAG, NONE, Pace, Subscribe};
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows of a batch, unless a client asks for fewer.
pub(super) const ROWS_USUAL: usize = 2_048;
/// The most that a client can ask for.
pub(super) const ROWS_MAX: usize = 65_536;
/// The stretch of time that is read first, and the longest.
const FIRST_NS: u64 = 10_000_000;
const LONGEST_NS: u64 = 1 << 50;
/// Stretches without rows, or that rows came into while they were read, before somebody else has a turn.
const STRETCHES_MAX: usize = 64;

/// A row that can be ordered.
pub(super) trait Row: Timed + Send {
    /// Its place among all rows: its time first. Those that are equal are the same in all they say.
    fn key(&self) -> Key;
    fn keeps(&self, filter: &Filter, ranks: &Ranks) -> bool;

    /// Those that became known late, about a number of them at a time.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    fn late(
        library: &Library,
        after: Marks,
        most: usize,
        scope: (&Filter, &Ranks),
    ) -> Result<LateRows<Self>, String>;

    /// Whether some may have become known late whose place is in a range.
    fn came_into(library: &Library, after: Marks, range_ns: &Range<Nanoseconds>, filter: &Filter) -> bool;
    fn visit(
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        scope: (&Filter, &Ranks),
        visitor: &mut dyn FnMut(&Self),
    ) -> Result<(), String>;
    fn fill(batch: &mut Batch, rows: &[Self], library: &Library);

    /// The longest stretch that is read at once.
    fn longest_ns(_: &Filter) -> u64 {
        LONGEST_NS
    }
}

/// All that a row says.
pub(super) type Key = [u64; 12];

/// How many late calls, and late messages, were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) calls: u64,
    pub(super) messages: u64,
}

impl Marks {
    /// All that there are.
    fn now(library: &Library) -> Self {
        Self { calls: library.late_calls(u64::MAX, 0).end, messages: library.late_messages(u64::MAX, 0).end }
    }
}

/// Late rows.
pub(super) struct LateRows<R> {
    pub(super) rows: Vec<R>,
    /// Those of before that are not kept any more.
    pub(super) missed: u64,
    pub(super) next: Marks,
    pub(super) has_more: bool,
}

/// Orders what may be missing.
pub(super) fn or(value: Option<impl Into<u64>>) -> u64 {
    value.map_or(0, |value| value.into().saturating_add(1))
}

impl Row for Call {
    fn key(&self) -> Key {
        let (peer, tag) = (self.peer.map(|peer| peer.0), self.tag.map(i32::cast_unsigned));
        let (rank, thread, function) = (self.rank.0.into(), self.thread.into(), self.function.into());
        let of = [self.end_ns, self.start_ns, rank, thread, function, or(peer), or(tag), self.bytes];
        let [a, b, c, d, e, f, g, h] = of;
        let (comm, site) = (self.comm.map(|comm| comm.0), self.site.map(|site| site.0));
        [a, b, c, d, e, f, g, h, or(comm), or(site), self.count, or(self.instance)]
    }

    fn keeps(&self, filter: &Filter, ranks: &Ranks) -> bool {
        filter.keeps_call(self, ranks)
    }

    fn late(
        library: &Library,
        after: Marks,
        most: usize,
        _: (&Filter, &Ranks),
    ) -> Result<LateRows<Self>, String> {
        let late = library.late_calls(after.calls, most);
        let (next, has_more) = (Marks { calls: late.next, ..after }, late.has_more());
        Ok(LateRows { rows: late.rows, missed: late.missed, next, has_more })
    }

    fn came_into(library: &Library, after: Marks, range_ns: &Range<Nanoseconds>, _: &Filter) -> bool {
        library.any_late_call(after.calls, range_ns)
    }

    fn visit(
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        (_, ranks): (&Filter, &Ranks),
        visitor: &mut dyn FnMut(&Self),
    ) -> Result<(), String> {
        library.visit_calls(range_ns, ranks, visitor)
    }

    fn fill(batch: &mut Batch, rows: &[Self], _: &Library) {
        let mut columns = CallColumns::default();
        for call in rows {
            columns.rank.push(call.rank.0);
            columns.thread.push(call.thread.into());
            columns.function.push(call.function.into());
            columns.start_ns.push(call.start_ns as f64);
            columns.end_ns.push(call.end_ns as f64);
            columns.peer.push(Rank::number_or_max(call.peer));
            columns.tag.push(call.tag.unwrap_or(NO_TAG));
            columns.bytes.push(call.bytes as f64);
            columns.communicator.push(Comm::number_or_max(call.comm));
            columns.polls.push(call.count as f64);
            columns.site.push(Site::number_or_max(call.site));
            columns.collective.push(call.instance.unwrap_or(NONE));
        }
        batch.calls = Some(Box::new(columns));
    }
}

impl Row for Message {
    fn key(&self) -> Key {
        let tag = self.tag.cast_unsigned().into();
        let of = [self.recv_ns, self.send_ns, self.src.0.into(), self.dst.0.into(), tag, self.comm.0.into()];
        let [a, b, c, d, e, f] = of;
        let late_receiver_ns = or(self.late_receiver_ns);
        let (inter, exact) = (self.inter.into(), self.exact.into());
        [a, b, c, d, e, f, self.bytes, self.t_msg_ns, self.late_sender_ns, late_receiver_ns, inter, exact]
    }

    fn keeps(&self, filter: &Filter, ranks: &Ranks) -> bool {
        filter.keeps_message(self, ranks)
    }

    fn late(
        library: &Library,
        after: Marks,
        most: usize,
        _: (&Filter, &Ranks),
    ) -> Result<LateRows<Self>, String> {
        let late = library.late_messages(after.messages, most);
        let (next, has_more) = (Marks { messages: late.next, ..after }, late.has_more());
        Ok(LateRows { rows: late.rows, missed: late.missed, next, has_more })
    }

    fn came_into(library: &Library, after: Marks, range_ns: &Range<Nanoseconds>, _: &Filter) -> bool {
        library.any_late_message(after.messages, range_ns)
    }

    fn visit(
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        _: (&Filter, &Ranks),
        visitor: &mut dyn FnMut(&Self),
    ) -> Result<(), String> {
        library.visit_messages(range_ns, &mut |messages| messages.iter().for_each(&mut *visitor))
    }

    fn fill(batch: &mut Batch, rows: &[Self], library: &Library) {
        let (mut columns, usual) = (MessageColumns::default(), library.usual());
        for message in rows {
            push_message(&mut columns, message, usual.latency(message));
        }
        batch.messages = Some(Box::new(columns));
    }
}

pub(super) fn push_message(columns: &mut MessageColumns, message: &Message, latency: f64) {
    columns.source.push(message.src.0);
    columns.destination.push(message.dst.0);
    columns.tag.push(message.tag);
    columns.communicator.push(message.comm.0);
    columns.bytes.push(message.bytes as f64);
    columns.send_ns.push(message.send_ns as f64);
    columns.receive_ns.push(message.recv_ns as f64);
    columns.transfer_ns.push(message.t_msg_ns as f64);
    columns.late_sender_ns.push(message.late_sender_ns as f64);
    columns.latency.push(latency);
    columns.between_nodes.push(message.inter.into());
}

/// Where a subscription is in the run.
#[derive(Debug)]
pub(super) struct Position {
    id: u32,
    most: usize,
    filter: Filter,
    /// It only goes backward.
    is_backward: bool,
    /// Forward: rows before this were sent. Backward: rows from this on were.
    at_ns: Nanoseconds,
    /// What was sent of the next moment, where a batch did not hold all of it: up to which row, and how many of that.
    within: Option<(Key, u64)>,
    /// Where it began: late rows beyond are not the subscription's.
    begin_ns: Nanoseconds,
    /// How long a stretch is read next.
    stretch_ns: u64,
    late_seen: Marks,
    /// Rows that were left out since the last batch.
    missed: u64,
}

/// A row. Those furthest along a direction are the greatest.
struct OrderedRow<R> {
    is_backward: bool,
    row: R,
}

impl<R: Row> PartialEq for OrderedRow<R> {
    fn eq(&self, other: &Self) -> bool {
        self.row.key() == other.row.key()
    }
}
impl<R: Row> Eq for OrderedRow<R> {}
impl<R: Row> PartialOrd for OrderedRow<R> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<R: Row> Ord for OrderedRow<R> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let times = self.row.at_ns().cmp(&other.row.at_ns());
        let order = times.then_with(|| self.row.key().cmp(&other.row.key()));
        if self.is_backward { order.reverse() } else { order }
    }
}

/// What was read of a stretch: the first rows along the direction, and how many there are in all.
struct Stretch<R> {
    rows: Vec<R>,
    total: u64,
}

impl Position {
    pub(super) fn new(asked: &Subscribe, filter: Filter, at_ns: Nanoseconds, library: &Library) -> Self {
        let most = asked.most.map_or(ROWS_USUAL, |most| (most as usize).clamp(1, ROWS_MAX));
        let late_seen = Marks::now(library);
        let is_backward = asked.pace == Pace::Fast && asked.direction == Direction::Backward;
        let (id, begin_ns, stretch_ns) = (asked.id, at_ns, FIRST_NS);
        Self {
            id,
            most,
            filter,
            is_backward,
            at_ns,
            within: None,
            begin_ns,
            stretch_ns,
            late_seen,
            missed: 0,
        }
    }

    pub(super) fn at_ns(&self) -> Nanoseconds {
        self.at_ns
    }

    /// Goes elsewhere without what lies between.
    pub(super) fn jump(&mut self, to_ns: Nanoseconds) {
        (self.at_ns, self.begin_ns, self.within) = (to_ns, to_ns, None);
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
        let (from_ns, is_backward) = (self.at_ns, direction == Direction::Backward);
        for _ in 0..STRETCHES_MAX {
            let ranks = self.filter.ranks(library);
            // First: what comes next has only those that are late from now on.
            let mut late: Vec<R> = self.take_late(library, &ranks)?;
            if is_backward {
                late.reverse();
            }
            if !late.is_empty() {
                let late_rows = late.len() as u32;
                return Ok(Some(self.batch(library, (from_ns, self.at_ns), late_rows, &late)));
            }
            self.stretch_ns = self.stretch_ns.min(R::longest_ns(&self.filter));
            let range_ns = match direction {
                Direction::Forward => self.at_ns..self.at_ns.saturating_add(self.stretch_ns).min(to_ns),
                Direction::Backward => self.at_ns.saturating_sub(self.stretch_ns).max(to_ns)..self.at_ns,
            };
            if range_ns.is_empty() {
                break;
            }
            let read = self.read::<R>(library, &range_ns, is_backward, &ranks)?;
            // What came meanwhile may be among it or not: a shorter stretch is read again.
            if R::came_into(library, self.late_seen, &range_ns, &self.filter) {
                self.stretch_ns = (self.stretch_ns / 2).max(1);
                continue;
            }
            let rows = self.settle(read, &range_ns, is_backward);
            if !rows.is_empty() {
                return Ok(Some(self.batch(library, (from_ns, self.at_ns), 0, &rows)));
            }
        }
        Ok(None)
    }

    /// Late rows whose place was passed, in order, no more than a batch holds. What has none is read in its place.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    fn take_late<R: Row>(&mut self, library: &Library, ranks: &Ranks) -> Result<Vec<R>, String> {
        loop {
            let late = R::late(library, self.late_seen, self.most, (&self.filter, ranks))?;
            let LateRows { mut rows, missed, next, has_more } = late;
            (self.late_seen, self.missed) = (next, self.missed + missed);
            rows.retain(|row| self.has_passed(row) && row.keeps(&self.filter, ranks));
            if !rows.is_empty() || !has_more {
                rows.sort_unstable_by_key(R::key);
                // One call may make many rows late.
                self.missed += rows.len().saturating_sub(self.most) as u64;
                rows.truncate(self.most);
                return Ok(rows);
            }
        }
    }

    fn has_passed<R: Row>(&self, row: &R) -> bool {
        let at_ns = row.at_ns();
        if self.is_backward {
            let is_within = self.within.is_some_and(|(last, _)| row.key() > last);
            at_ns < self.begin_ns && (at_ns >= self.at_ns || at_ns + 1 == self.at_ns && is_within)
        } else {
            let is_within = self.within.is_some_and(|(last, _)| row.key() < last);
            at_ns >= self.begin_ns && (at_ns < self.at_ns || at_ns == self.at_ns && is_within)
        }
    }

    /// The first rows along a direction that were not sent: as many as a batch holds and one more.
    fn read<R: Row>(
        &self,
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        is_backward: bool,
        ranks: &Ranks,
    ) -> Result<Stretch<R>, String> {
        let mut kept: BinaryHeap<OrderedRow<R>> = BinaryHeap::new();
        let (mut total, mut same) = (0, 0);
        R::visit(library, range_ns, (&self.filter, ranks), &mut |row| {
            if !range_ns.contains(&row.at_ns()) || !row.keeps(&self.filter, ranks) {
                return;
            }
            if let Some((last, sent)) = &self.within {
                let key = row.key();
                let is_sent = if is_backward { key > *last } else { key < *last };
                same += u64::from(key == *last);
                if is_sent || key == *last && same <= *sent {
                    return;
                }
            }
            total += 1;
            let placed = OrderedRow { is_backward, row: *row };
            if kept.len() <= self.most {
                kept.push(placed);
            } else if kept.peek().is_some_and(|last| placed < *last) {
                kept.pop();
                kept.push(placed);
            }
        })?;
        let rows = kept.into_sorted_vec().into_iter().map(|placed| placed.row).collect();
        Ok(Stretch { rows, total })
    }

    /// Goes to where what was read is complete, and gives the rows up to there. The next stretch is longer where there was
    /// little.
    fn settle<R: Row>(
        &mut self,
        read: Stretch<R>,
        range_ns: &Range<Nanoseconds>,
        is_backward: bool,
    ) -> Vec<R> {
        let Stretch { mut rows, total } = read;
        let most = self.most;
        let before = self.within.take();
        self.at_ns = if is_backward { range_ns.start } else { range_ns.end };
        if total <= most as u64 {
            if total <= most as u64 / 4 {
                self.stretch_ns = (self.stretch_ns * 4).min(LONGEST_NS);
            }
        } else if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
            self.stretch_ns = (self.stretch_ns / 2).max(1);
            let (first_ns, last_ns) = (first.at_ns(), last.at_ns());
            // Of the last moment there may be more.
            self.at_ns = if is_backward { last_ns.saturating_add(1) } else { last_ns };
            if first_ns == last_ns {
                rows.truncate(most);
                let key = rows.last().map_or([0; 12], R::key);
                let sent = rows.iter().rev().take_while(|row| row.key() == key).count() as u64;
                let sent_before = before.filter(|(last, _)| *last == key).map_or(0, |(_, sent)| sent);
                self.within = Some((key, sent + sent_before));
            } else {
                rows.retain(|row| row.at_ns() != last_ns);
            }
        }
        // A subscription that also goes forward gets what it passed here again.
        if is_backward && !self.is_backward {
            self.begin_ns = self.begin_ns.min(self.at_ns);
        }
        rows
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
        let mut again = 0;
        if self.at_ns >= to_ns {
            return Ok(None);
        }
        let (from_ns, ranks) = (self.at_ns, self.filter.ranks(library));
        let mut read = loop {
            self.pass_late::<R>(library, &ranks)?;
            let read = self.read::<R>(library, &(from_ns..to_ns), true, &ranks)?;
            if !R::came_into(library, self.late_seen, &(from_ns..to_ns), &self.filter) {
                break read;
            }
            // Not for ever: the next time will do.
            again += 1;
            if again == STRETCHES_MAX {
                return Ok(None);
            }
        };
        read.rows.truncate(self.most);
        read.rows.reverse();
        self.missed += read.total - read.rows.len() as u64;
        self.at_ns = to_ns;
        let batch = self.batch(library, (from_ns, to_ns), 0, &read.rows);
        Ok(Some(batch).filter(|batch| batch.rows() > 0))
    }

    /// Counts late rows whose place was passed as missed.
    fn pass_late<R: Row>(&mut self, library: &Library, ranks: &Ranks) -> Result<(), String> {
        loop {
            let late: Vec<R> = self.take_late(library, ranks)?;
            if late.is_empty() {
                return Ok(());
            }
            self.missed += late.len() as u64;
        }
    }

    /// Goes on to a time and counts what it passes as missed.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    pub(super) fn skip<R: Row>(&mut self, library: &Library, to_ns: Nanoseconds) -> Result<(), String> {
        let range_ns = self.at_ns.min(to_ns)..self.at_ns.max(to_ns);
        let ranks = self.filter.ranks(library);
        let mut passed = 0;
        self.pass_late::<R>(library, &ranks)?;
        R::visit(library, &range_ns, (&self.filter, &ranks), &mut |row| {
            passed += u64::from(range_ns.contains(&row.at_ns()) && row.keeps(&self.filter, &ranks));
        })?;
        self.missed += passed;
        (self.at_ns, self.within) = (to_ns, None);
        self.begin_ns = self.begin_ns.min(to_ns);
        Ok(())
    }

    /// That no more rows lie between a time and where it is.
    pub(super) fn none_left<R: Row>(&mut self, library: &Library, from_ns: Nanoseconds) -> Batch {
        let batch = self.batch::<R>(library, (from_ns, self.at_ns), 0, &[]);
        self.missed = 0;
        batch
    }

    fn batch<R: Row>(&mut self, library: &Library, range_ns: (u64, u64), late: u32, rows: &[R]) -> Batch {
        let (from_ns, to_ns, missed) = (range_ns.0 as f64, range_ns.1 as f64, self.missed);
        let mut batch = Batch { id: self.id, from_ns, to_ns, late, missed, ..Batch::default() };
        R::fill(&mut batch, rows, library);
        if batch.rows() > 0 {
            self.missed = 0;
        }
        batch
    }
}

#[cfg(test)]
mod tests;
