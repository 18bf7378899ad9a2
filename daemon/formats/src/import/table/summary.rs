//! Totals of a table: its ranks, its communicators, its span of time and its resolution.

use super::event::Event;
use crate::import::log_stream::{CommMembers, JobDescription};
use crate::import::trace::describe_long_span;
use crate::limits::MAX_COMM_MEMBERS;
use mpiscope_model::words::counted;
use std::collections::{BTreeMap, BTreeSet};

/// Sums and spans up to here can be added without an overflow.
const MAX_SUM: u64 = 1 << 62;

/// How the times of an event are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) has_duration: bool,
    /// Fractions of a nanosecond were rounded.
    pub(crate) is_rounded: bool,
}

/// Totals of the events of a table.
#[derive(Debug, Default)]
pub(crate) struct TableSummary {
    pub(crate) events: u64,
    /// Events whose calls have no duration.
    pub(crate) untimed: u64,
    /// Whether a rank is named, by rank.
    is_named: Vec<bool>,
    /// When the first call began and the last ended.
    pub(crate) from_ns: i64,
    pub(crate) to_ns: i64,
    /// The lines of these two.
    from_line: u64,
    to_line: u64,
    /// Events whose times were rounded to nanoseconds.
    pub(crate) rounded: u64,
    /// The resolution: the greatest common divisor of all times.
    pub(crate) resolution_ns: u64,
    bytes: u64,
    time_ns: u64,
    /// The ranks that are named with a communicator, by its number in the table. The world communicator is not listed.
    pub(crate) members: BTreeMap<u32, BTreeSet<u32>>,
    member_count: usize,
}

impl TableSummary {
    /// The communicators other than the world, their ranks in order.
    pub(crate) fn comms(&self) -> BTreeMap<u32, CommMembers> {
        let of = |members: &BTreeSet<u32>| CommMembers::Group(members.iter().copied().collect());
        self.members.iter().map(|(comm, members)| (*comm, of(members))).collect()
    }

    /// The job that the table describes.
    pub(crate) fn job_description<'a>(
        &self,
        nodes: &'a [String],
        comms: &'a BTreeMap<u32, CommMembers>,
        name: String,
        command: Vec<String>,
    ) -> JobDescription<'a> {
        // A table does not say when the run began: times count from the first event.
        let (from_ns, to_ns) = (0, self.span_ns());
        JobDescription {
            name,
            command,
            library: "an imported table",
            unix_ns: 0,
            nodes,
            from_ns,
            to_ns,
            comms,
            phases: &[],
        }
    }

    pub(crate) fn rank_count(&self) -> u32 {
        self.is_named.len() as u32
    }

    pub(crate) fn span_ns(&self) -> u64 {
        self.to_ns.abs_diff(self.from_ns)
    }

    /// A sentence about times that no run spans.
    pub(crate) fn describe_long_span(&self, name: &str) -> Option<String> {
        let end = |ns: i64, line: u64| format!("{ns} (line {line})");
        describe_long_span(
            name,
            self.span_ns(),
            &end(self.from_ns, self.from_line),
            &end(self.to_ns, self.to_line),
        )
    }

    /// Adds an event.
    ///
    /// # Errors
    /// A sentence about a sum that is too large.
    pub(crate) fn add_event(&mut self, event: &Event, timing: Timing, line: u64) -> Result<(), String> {
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
        if self.span_ns() > MAX_SUM {
            let (from, to) = (self.from_line, self.to_line);
            return Err(format!("the times of lines {from} and {to} are more than 146 years apart"));
        }
        if self.resolution_ns != 1 {
            self.resolution_ns =
                greatest_common_divisor(self.resolution_ns, event.timestamp_ns.unsigned_abs());
            self.resolution_ns = greatest_common_divisor(self.resolution_ns, event.duration_ns);
        }
        self.bytes =
            checked_sum(self.bytes, event.bytes).ok_or("the sizes of all lines add up to more than 4 EiB")?;
        self.time_ns = checked_sum(self.time_ns, event.duration_ns)
            .ok_or("the durations of all lines add up to more than 146 years")?;
        for rank in [event.rank, event.peer] {
            self.add_rank(rank);
            if event.comm != 0 && self.members.entry(event.comm).or_default().insert(rank) {
                self.member_count += 1;
            }
        }
        if self.member_count > MAX_COMM_MEMBERS {
            return Err(format!("communicators have more than {MAX_COMM_MEMBERS} members together"));
        }
        Ok(())
    }

    /// Marks a rank as named.
    pub(crate) fn add_rank(&mut self, rank: u32) {
        let at = rank as usize;
        if at >= self.is_named.len() {
            self.is_named.resize(at + 1, false);
        }
        self.is_named[at] = true;
    }

    /// Checks that there are events.
    pub(crate) fn check_events(&self) -> Result<(), String> {
        if self.events == 0 { Err("there are no events behind the header".into()) } else { Ok(()) }
    }

    /// Checks that ranks are numbered from 0 without gaps.
    pub(crate) fn check_ranks(&self) -> Result<(), String> {
        let Some(first) = self.is_named.iter().position(|is_named| !is_named) else { return Ok(()) };
        let unnamed = self.is_named.iter().filter(|is_named| !**is_named).count() as u64;
        let last = self.is_named.len() - 1;
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
fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

fn checked_sum(sum: u64, more: u64) -> Option<u64> {
    sum.checked_add(more).filter(|&sum| sum <= MAX_SUM)
}
