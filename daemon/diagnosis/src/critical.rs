//! The critical path of a range: from its last event backwards, along whatever ended each wait.
//!
//! Rows come chunk by chunk, the latest first: memory follows a chunk and not the run. Whoever waited for a message
//! whose send began late goes on with its sender; whoever waited in a collective, with the one it waited for last; a
//! sender that was blocked, with its receiver. Everybody else goes on with what they did themselves. The steps follow each
//! other without gaps and sum to the range.

use mpiscope_model::{Call, Flow, Function, Message, Nanoseconds, Rank, Site};
use mpiscope_topology::Meeting;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What a part of the path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathKind {
    /// Between calls; the function is the one called next.
    Compute,
    /// In a call, without waiting for others.
    Call,
    /// A message on its way, or what it takes to notice it.
    Transfer,
    /// A collective, after the last that was waited for has entered.
    Collective,
}

/// A part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathStep {
    /// Where it was.
    pub rank: Rank,
    /// From when.
    pub from_ns: Nanoseconds,
    /// Until when.
    pub to_ns: Nanoseconds,
    /// What it was.
    pub kind: PathKind,
    /// The function, where there is one.
    pub function: Option<Function>,
    /// Its call site.
    pub site: Option<Site>,
    /// Where the path came from, of a transfer or a collective; else the same rank.
    pub other: Rank,
}

/// What the path is made of, by kind, function and call site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPart {
    /// What.
    pub kind: PathKind,
    /// The function.
    pub function: Option<Function>,
    /// Its call site.
    pub site: Option<Site>,
    /// How long in all.
    pub ns: u64,
    /// How many steps.
    pub steps: u64,
}

/// Steps that are kept; with more, those that are close to each other are drawn as one.
const MOST_STEPS: usize = 20_000;
/// Parts of the range in which steps are joined then.
const BINS: u64 = 4_096;

/// What a part of the path is about.
type PartKey = (PathKind, Option<Function>, Option<Site>);

/// The walk.
#[derive(Debug)]
pub struct CriticalPath {
    range_ns: Range<Nanoseconds>,
    /// Where the walk is; none until a call was seen.
    at: Option<(Rank, Nanoseconds)>,
    /// From the end backwards.
    steps: Vec<PathStep>,
    /// Nanoseconds and steps of each.
    parts: FxHashMap<PartKey, (u64, u64)>,
    is_joined: bool,
    /// The call that computing leads to, which may be in a later chunk.
    next: Option<Call>,
}

/// The end of a wait, and who ended it.
#[derive(Debug, Clone, Copy)]
struct WaitEnd {
    end_ns: Nanoseconds,
    other: Rank,
    other_ns: Nanoseconds,
    kind: PathKind,
}

/// What a chunk has, by rank.
struct Chunk {
    /// Sorted by when they ended, then by when the other side did its part.
    waits: FxHashMap<Rank, Vec<WaitEnd>>,
    /// By start.
    calls: FxHashMap<Rank, Vec<Call>>,
}

impl CriticalPath {
    /// A walk back through a range.
    #[must_use]
    pub fn new(range_ns: Range<Nanoseconds>) -> Self {
        Self {
            range_ns,
            at: None,
            steps: Vec::new(),
            parts: FxHashMap::default(),
            is_joined: false,
            next: None,
        }
    }

    /// How far back it has come.
    #[must_use]
    pub fn reached_ns(&self) -> Nanoseconds {
        self.at.map_or(self.range_ns.end, |(_, at_ns)| at_ns)
    }

    /// The rank and the moment at which the path ends, if calls after a moment say so.
    fn end_of_path(&self, from_ns: Nanoseconds, calls: &[Call]) -> Option<(Rank, Nanoseconds)> {
        let end = |call: &&Call| call.end_ns <= self.range_ns.end && call.end_ns > from_ns;
        let last = calls.iter().filter(end).max_by_key(|call| (call.end_ns, std::cmp::Reverse(call.rank)));
        // Calls that go on beyond the range are under way at its end.
        let under_way = || {
            let reaches = |call: &&Call| call.start_ns < self.range_ns.end && call.end_ns > self.range_ns.end;
            calls.iter().filter(reaches).min_by_key(|call| (call.end_ns, call.rank))
        };
        last.map(|call| (call.rank, call.end_ns))
            .or_else(|| under_way().map(|call| (call.rank, self.range_ns.end)))
    }

    /// Goes back through a chunk: its calls and messages are all that overlap it, and its meetings have all their members.
    pub fn back(&mut self, from_ns: Nanoseconds, calls: &[Call], messages: &[Message], meetings: &[Meeting]) {
        let from_ns = from_ns.max(self.range_ns.start);
        let Some((mut rank, mut at_ns)) = self.at.or_else(|| self.end_of_path(from_ns, calls)) else {
            return;
        };
        let chunk = Chunk::new(calls, messages, meetings);
        while at_ns > from_ns {
            let wait = chunk.last_wait(rank, at_ns).filter(|wait| wait.end_ns > from_ns);
            let Some(wait) = wait else {
                self.alone(&chunk, rank, from_ns..at_ns);
                at_ns = from_ns;
                break;
            };
            self.alone(&chunk, rank, wait.end_ns..at_ns);
            let (from, until) = (wait.other_ns.max(self.range_ns.start), wait.end_ns);
            let within = chunk.call_at(rank, until.saturating_sub(1));
            self.push(PathStep {
                rank,
                from_ns: from,
                to_ns: until,
                kind: wait.kind,
                function: within.map(|call| call.function),
                site: within.and_then(|call| call.site),
                other: wait.other,
            });
            (rank, at_ns) = (wait.other, from);
        }
        self.at = Some((rank, at_ns));
        self.join();
    }

    /// What a rank did by itself: its calls, and what is between them.
    fn alone(&mut self, chunk: &Chunk, rank: Rank, of: Range<Nanoseconds>) {
        let mut at_ns = of.end;
        let calls = chunk.calls.get(&rank).map_or(&[][..], Vec::as_slice);
        let end = calls.partition_point(|call| call.start_ns < of.end);
        let carried = self.next.filter(|call| call.rank == rank);
        let mut next = calls.get(end).copied().or(carried);
        for call in calls[..end].iter().rev() {
            if at_ns <= of.start {
                break;
            }
            if call.end_ns <= of.start {
                // A longer one may have begun before; those are rare, and count as computing.
                break;
            }
            let (from, to) = (call.start_ns.max(of.start), call.end_ns.min(at_ns));
            if from >= at_ns || from >= to {
                continue;
            }
            self.compute(rank, to..at_ns, next);
            self.push(PathStep {
                rank,
                from_ns: from,
                to_ns: to,
                kind: PathKind::Call,
                function: Some(call.function),
                site: call.site,
                other: rank,
            });
            at_ns = from;
            next = Some(*call);
        }
        self.compute(rank, of.start..at_ns.max(of.start), next);
        self.next = next;
    }

    fn compute(&mut self, rank: Rank, of: Range<Nanoseconds>, next: Option<Call>) {
        let (function, site) = (next.map(|call| call.function), next.and_then(|call| call.site));
        let Range { start: from_ns, end: to_ns } = of;
        self.push(PathStep { rank, from_ns, to_ns, kind: PathKind::Compute, function, site, other: rank });
    }

    fn push(&mut self, step: PathStep) {
        if step.from_ns >= step.to_ns {
            return;
        }
        let part = self.parts.entry((step.kind, step.function, step.site)).or_default();
        part.0 += step.to_ns - step.from_ns;
        part.1 += 1;
        self.steps.push(step);
        if self.steps.len() > 2 * MOST_STEPS {
            self.join();
        }
    }

    /// Joins steps that lie in the same small part of the range, to bound their number.
    fn join(&mut self) {
        if self.steps.len() <= MOST_STEPS {
            return;
        }
        self.is_joined = true;
        let bin_ns = ((self.range_ns.end - self.range_ns.start) / BINS).max(1);
        let bin = |step: &PathStep| (step.to_ns - 1 - self.range_ns.start) / bin_ns;
        let groups = self.steps.chunk_by(|one, other| bin(one) == bin(other));
        self.steps = groups
            .map(|group| {
                // The longest stands for all.
                let longest = group.iter().max_by_key(|step| step.to_ns - step.from_ns).copied();
                let (first, last) = (group[0], group[group.len() - 1]);
                PathStep { from_ns: last.from_ns, to_ns: first.to_ns, ..longest.unwrap_or(first) }
            })
            .collect();
    }

    /// The steps in order of time; whether some stand for others that are too short to be seen.
    #[must_use]
    pub fn steps(&self) -> (Vec<PathStep>, bool) {
        (self.steps.iter().rev().copied().collect(), self.is_joined)
    }

    /// What all of it is made of, the most first; exact.
    #[must_use]
    pub fn parts(&self) -> Vec<PathPart> {
        let mut parts: Vec<_> = self
            .parts
            .iter()
            .map(|(&(kind, function, site), &(ns, steps))| PathPart { kind, function, site, ns, steps })
            .collect();
        parts.sort_unstable_by_key(|part| (std::cmp::Reverse(part.ns), part.kind, part.function, part.site));
        parts
    }
}

impl Chunk {
    fn new(calls: &[Call], messages: &[Message], meetings: &[Meeting]) -> Self {
        let mut by_rank: FxHashMap<Rank, Vec<Call>> = FxHashMap::default();
        for call in calls {
            by_rank.entry(call.rank).or_default().push(*call);
        }
        by_rank
            .values_mut()
            .for_each(|calls| calls.sort_unstable_by_key(|call| (call.start_ns, call.end_ns)));
        let mut chunk = Self { waits: FxHashMap::default(), calls: by_rank };
        messages.iter().for_each(|message| chunk.message(message));
        meetings.iter().for_each(|meeting| chunk.meeting(meeting));
        let key = |wait: &WaitEnd| (wait.end_ns, wait.other_ns, wait.other);
        chunk.waits.values_mut().for_each(|waits| waits.sort_unstable_by_key(key));
        chunk
    }

    fn add(&mut self, rank: Rank, wait: WaitEnd) {
        if wait.other_ns < wait.end_ns {
            self.waits.entry(rank).or_default().push(wait);
        }
    }

    fn message(&mut self, message: &Message) {
        let Message { src, dst, send_ns, recv_ns, .. } = *message;
        if message.late_sender_ns > 0 {
            let wait = WaitEnd { end_ns: recv_ns, other: src, other_ns: send_ns, kind: PathKind::Transfer };
            self.add(dst, wait);
        }
        let late_ns = message.late_receiver_ns.unwrap_or_default();
        if late_ns > 0
            && let Some(call) = self.call_from(src, send_ns)
        {
            let posted_ns = send_ns.saturating_add(late_ns);
            let wait =
                WaitEnd { end_ns: call.end_ns, other: dst, other_ns: posted_ns, kind: PathKind::Transfer };
            self.add(src, wait);
        }
    }

    fn meeting(&mut self, meeting: &Meeting) {
        let entered = || meeting.members.iter().map(|member| (member.enter_ns, member.rank));
        let root = meeting.root.and_then(|root| entered().find(|(_, rank)| *rank == root));
        let last = entered().max();
        let mut members: Vec<_> = meeting.members.iter().collect();
        members.sort_unstable_by_key(|member| member.rank);
        let mut last_of_lower = None;
        for member in members {
            let awaited = match meeting.flow {
                Flow::All => last,
                Flow::FromRoot => root,
                Flow::ToRoot if meeting.root == Some(member.rank) => last,
                Flow::ToRoot => None,
                Flow::FromLower => last_of_lower,
            };
            last_of_lower = last_of_lower.max(Some((member.enter_ns, member.rank)));
            let Some((other_ns, other)) = awaited else { continue };
            if other != member.rank && other_ns > member.enter_ns {
                let wait = WaitEnd { end_ns: member.exit_ns, other, other_ns, kind: PathKind::Collective };
                self.add(member.rank, wait);
            }
        }
    }

    /// The last wait of a rank that ended until then, and of those the one that ended it.
    fn last_wait(&self, rank: Rank, at_ns: Nanoseconds) -> Option<WaitEnd> {
        let waits = self.waits.get(&rank)?;
        let end = waits.partition_point(|wait| wait.end_ns <= at_ns);
        waits[..end].last().copied()
    }

    /// The call of a rank that begins then.
    fn call_from(&self, rank: Rank, at_ns: Nanoseconds) -> Option<&Call> {
        let calls = self.calls.get(&rank)?;
        let at = calls.partition_point(|call| call.start_ns < at_ns);
        calls.get(at).filter(|call| call.start_ns == at_ns)
    }

    /// The call in which a rank is then.
    fn call_at(&self, rank: Rank, at_ns: Nanoseconds) -> Option<&Call> {
        let calls = self.calls.get(&rank)?;
        let end = calls.partition_point(|call| call.start_ns <= at_ns);
        calls[..end].iter().rev().take(4).find(|call| call.end_ns > at_ns)
    }
}

#[cfg(test)]
mod tests;
