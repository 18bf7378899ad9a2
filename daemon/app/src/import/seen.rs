//! What is in a table as a whole.

use super::event::Event;
use super::telling::{Members, World};
use super::trace::long_span;
use crate::words::counted;
use std::collections::{BTreeMap, BTreeSet};

/// Sums, and the time from the first event to the last, have room for more up to here.
const MOST_SUM: u64 = 1 << 62;
/// Members of all communicators together; they stay in memory.
const MOST_MEMBERS: usize = 1 << 22;

/// How the times of an event are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) has_duration: bool,
    /// They have parts of nanoseconds.
    pub(crate) is_rounded: bool,
}

/// Who there is, from when to when, and how much.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) events: u64,
    /// Events whose calls have no duration.
    pub(crate) untimed: u64,
    /// By rank, whether it is named.
    named: Vec<bool>,
    /// When the first call began and the last ended.
    pub(crate) from_ns: i64,
    pub(crate) to_ns: i64,
    /// On which lines.
    from_line: u64,
    to_line: u64,
    /// Events whose times were rounded to nanoseconds.
    pub(crate) rounded: u64,
    /// The resolution: the greatest common divisor of all times.
    pub(crate) resolution_ns: u64,
    bytes: u64,
    time_ns: u64,
    /// By the table's number, the ranks that are named with a communicator; the world's are all.
    pub(crate) members: BTreeMap<u32, BTreeSet<u32>>,
    member_count: usize,
}

impl Seen {
    /// The communicators but for the world, their ranks in order.
    pub(crate) fn comms(&self) -> BTreeMap<u32, Members> {
        let of = |members: &BTreeSet<u32>| Members::Group(members.iter().copied().collect());
        self.members.iter().map(|(comm, members)| (*comm, of(members))).collect()
    }

    /// The job that the table tells of.
    pub(crate) fn world<'a>(
        &self,
        nodes: &'a [String],
        comms: &'a BTreeMap<u32, Members>,
        name: String,
        command: Vec<String>,
    ) -> World<'a> {
        // When the run began is in no table: times are told from the first one on.
        let (from_ns, to_ns) = (0, self.span_ns());
        World { name, command, library: "an imported table", unix_ns: 0, nodes, from_ns, to_ns, comms }
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.named.len() as u32
    }

    pub(crate) fn span_ns(&self) -> u64 {
        self.to_ns.abs_diff(self.from_ns)
    }

    /// What to say of times that no run spans.
    pub(crate) fn long_span(&self, name: &str) -> Option<String> {
        let end = |ns: i64, line: u64| format!("{ns} (line {line})");
        long_span(name, self.span_ns(), &end(self.from_ns, self.from_line), &end(self.to_ns, self.to_line))
    }

    /// Takes in an event; says what of it is too much.
    pub(crate) fn see(&mut self, event: &Event, timing: Timing, line: u64) -> Result<(), String> {
        let first = self.events == 0;
        self.events += 1;
        self.untimed += u64::from(!timing.has_duration);
        self.rounded += u64::from(timing.is_rounded);
        if first || event.start_ns() < self.from_ns {
            (self.from_ns, self.from_line) = (event.start_ns(), line);
        }
        if first || event.end_ns() > self.to_ns {
            (self.to_ns, self.to_line) = (event.end_ns(), line);
        }
        if self.span_ns() > MOST_SUM {
            let (from, to) = (self.from_line, self.to_line);
            return Err(format!("the times of lines {from} and {to} are more than 146 years apart"));
        }
        if self.resolution_ns != 1 {
            self.resolution_ns = common_step(self.resolution_ns, event.timestamp_ns.unsigned_abs());
            self.resolution_ns = common_step(self.resolution_ns, event.duration_ns);
        }
        self.bytes =
            sum(self.bytes, event.bytes).ok_or("the sizes of all lines add up to more than 4 EiB")?;
        self.time_ns = sum(self.time_ns, event.duration_ns)
            .ok_or("the durations of all lines add up to more than 146 years")?;
        for rank in [event.rank, event.peer] {
            self.name(rank);
            if event.comm != 0 && self.members.entry(event.comm).or_default().insert(rank) {
                self.member_count += 1;
            }
        }
        if self.member_count > MOST_MEMBERS {
            return Err(format!("communicators have more than {MOST_MEMBERS} members together"));
        }
        Ok(())
    }

    /// There is such a rank.
    pub(crate) fn name(&mut self, rank: u32) {
        let at = rank as usize;
        if at >= self.named.len() {
            self.named.resize(at + 1, false);
        }
        self.named[at] = true;
    }

    /// Says what a table that was read to its end lacks.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.events == 0 { Err("there are no events behind the header".into()) } else { Ok(()) }
    }

    /// Ranks are counted from 0 without gaps.
    pub(crate) fn check_ranks(&self) -> Result<(), String> {
        let Some(first) = self.named.iter().position(|named| !named) else { return Ok(()) };
        let unnamed = self.named.iter().filter(|named| !**named).count() as u64;
        let last = self.named.len() - 1;
        let what = if unnamed == 1 {
            format!("rank {first} is named nowhere")
        } else {
            format!("{} are named nowhere, rank {first} the first of them", counted(unnamed, "rank"))
        };
        Err(format!(
            "{what}, but rank {last} is; ranks are counted from 0 without gaps, and a file of nodes names those that do \
             not talk"
        ))
    }
}

/// The greatest common divisor.
fn common_step(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_step(other, one % other) }
}

fn sum(sum: u64, more: u64) -> Option<u64> {
    sum.checked_add(more).filter(|&sum| sum <= MOST_SUM)
}
