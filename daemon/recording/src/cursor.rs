//! Rows in the order in which they begin, forward or backward, filtered. Parts that are not needed yet, or that their
//! file's index excludes, are not read.

use crate::batches::{SegmentFault, SegmentIndex, SegmentReader};
use crate::filters::Filter;
use crate::manifest::Segment;
use crate::row::SegmentRow;
use mpiscope_model::Nanoseconds;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// From early to late.
    #[default]
    Forward,
    /// From late to early.
    Backward,
}

/// Goes through the rows of segments.
pub struct Cursor<R: SegmentRow, F> {
    reader: SegmentReader,
    filter: F,
    direction: Direction,
    range_ns: Range<Nanoseconds>,
    segments: Vec<Segment>,
    indexes: Vec<Option<SegmentIndex>>,
    /// What was not read yet, the next one on top.
    ahead: BinaryHeap<Reverse<(u64, Ahead)>>,
    /// Rows that were read and not handed out, in order, the next one last.
    waiting: Vec<R>,
    faults: Vec<SegmentFault>,
}

/// A segment, or a group of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ahead {
    Segment(usize),
    Group(usize, usize),
}

impl<R: SegmentRow, F: Filter<R>> Cursor<R, F> {
    /// Goes through the rows that overlap a range. The segments are those of one recording, as they are read.
    #[must_use]
    pub fn new(
        reader: SegmentReader,
        segments: Vec<Segment>,
        range_ns: Range<Nanoseconds>,
        direction: Direction,
        filter: F,
    ) -> Self {
        let mut cursor = Self {
            reader,
            filter,
            direction,
            range_ns,
            indexes: vec![None; segments.len()],
            segments,
            ahead: BinaryHeap::new(),
            waiting: Vec::new(),
            faults: Vec::new(),
        };
        for at in 0..cursor.segments.len() {
            let Segment { from_ns, to_ns, .. } = cursor.segments[at];
            cursor.look_forward_to((from_ns, to_ns), Ahead::Segment(at));
        }
        cursor
    }

    /// What could not be read up to now.
    #[must_use]
    pub fn faults(&self) -> &[SegmentFault] {
        &self.faults
    }

    /// Times in the order in which they come.
    fn key(&self, time_ns: Nanoseconds) -> u64 {
        match self.direction {
            Direction::Forward => time_ns,
            Direction::Backward => u64::MAX - time_ns,
        }
    }

    fn look_forward_to(&mut self, (from_ns, to_ns): (u64, u64), ahead: Ahead) {
        if from_ns < self.range_ns.end && to_ns >= self.range_ns.start {
            // No row begins before the first, and none after the last.
            let first_ns = match self.direction {
                Direction::Forward => from_ns,
                Direction::Backward => to_ns,
            };
            self.ahead.push(Reverse((self.key(first_ns), ahead)));
        }
    }

    fn read(&mut self, ahead: Ahead) -> Result<(), SegmentFault> {
        match ahead {
            Ahead::Segment(at) => {
                let index = self.reader.index::<R>(&self.segments[at])?;
                for (number, group) in index.groups().iter().enumerate() {
                    if group.may_have(&self.filter) {
                        self.look_forward_to((group.from_ns, group.to_ns), Ahead::Group(at, number));
                    }
                }
                self.indexes[at] = Some(index);
            }
            Ahead::Group(at, number) => {
                let Some(index) = &self.indexes[at] else { return Ok(()) };
                let (mut rows, fault) = self.reader.group::<R>(index, number);
                self.faults.extend(fault);
                let range_ns = self.range_ns.clone();
                rows.retain(|row| {
                    row.begin_ns() < range_ns.end && row.end_ns() >= range_ns.start && self.filter.keeps(row)
                });
                self.waiting.append(&mut rows);
                match self.direction {
                    Direction::Forward => self.waiting.sort_by_key(|row| Reverse(row.begin_ns())),
                    Direction::Backward => self.waiting.sort_by_key(SegmentRow::begin_ns),
                }
            }
        }
        Ok(())
    }

    /// The rows that nothing that is still to be read can come before.
    fn due(&mut self) -> Vec<R> {
        let next = self.ahead.peek().map(|Reverse((key, _))| *key);
        let later =
            next.map_or(0, |next| self.waiting.partition_point(|row| self.key(row.begin_ns()) >= next));
        let mut due = self.waiting.split_off(later);
        due.reverse();
        due
    }
}

impl<R: SegmentRow, F: Filter<R>> Iterator for Cursor<R, F> {
    type Item = Vec<R>;

    fn next(&mut self) -> Option<Vec<R>> {
        loop {
            let due = self.due();
            if !due.is_empty() {
                return Some(due);
            }
            let Reverse((_, ahead)) = self.ahead.pop()?;
            if let Err(fault) = self.read(ahead) {
                self.faults.push(fault);
            }
        }
    }
}
