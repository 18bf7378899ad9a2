//! The state that viewers see, and how it becomes messages.

use crate::calls::Calls;
use crate::compare::Compared;
use crate::evolution::Pending;
use crate::findings::{FindingsReport, Verdict};
use crate::hang::Hangs;
use crate::history::DeltaHistory;
use crate::message::{
    Clock, Fault, Faults, InFlight, Kind, Losses, Message, PROTOCOL, TimelineCells, Totals,
};
use crate::parts::{functions, in_flight, losses, nodes, pending, ranks, timeline, totals};
use crate::rows::{FunctionRow, Job, NodeRow, RankRow, Update};
use crate::switch::Switch;
use mpiscope_diagnosis::RegionOfRank;
use mpiscope_matching::{Timeline, TimelineCell};
use mpiscope_model::{Function, Node, Rank};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// How much a feed keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long a window is until the history is full.
    pub window_ns: u64,
    /// Windows of the timeline; at this many, pairs merge.
    pub windows_max: usize,
    /// Calls of one delta.
    pub calls_max: u64,
    /// Calls in flight listed; all are counted.
    pub in_flight_max: usize,
    /// Deltas kept for viewers that are behind.
    pub deltas_max: usize,
    /// Bytes of those deltas.
    pub delta_bytes_max: usize,
    /// Faults listed; all are counted.
    pub faults_max: usize,
    /// Characters of one fault's sentence.
    pub fault_characters_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            window_ns: 100_000_000,
            windows_max: 2_048,
            calls_max: 2_000,
            in_flight_max: 4_096,
            deltas_max: 64,
            delta_bytes_max: 8 << 20,
            faults_max: 64,
            fault_characters_max: 400,
        }
    }
}

/// A message could not be written; the text says why.
#[derive(Debug)]
pub struct EncodeError(String);

impl fmt::Display for EncodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a feed message could not be written: {}", self.0)
    }
}

impl std::error::Error for EncodeError {}

/// One message for one viewer.
#[derive(Debug, Clone)]
pub struct Step {
    /// The number of the state that the viewer has after it.
    pub number: u64,
    /// The message.
    pub bytes: Arc<[u8]>,
}

/// The state that viewers see. One owner applies updates; viewers only read.
#[derive(Debug)]
pub struct FeedState {
    limits: Limits,
    number: u64,
    clock: Clock,
    job: Job,
    totals: Totals,
    losses: Losses,
    fault_count: u64,
    faults: VecDeque<Fault>,
    functions: BTreeMap<Function, FunctionRow>,
    ranks: BTreeMap<Rank, RankRow>,
    nodes: BTreeMap<Node, NodeRow>,
    timeline: Timeline,
    in_flight: InFlight,
    /// Calls that have not returned, by the newest regions.
    pending: Pending,
    regions: RegionOfRank,
    hangs: Hangs,
    switch: Switch,
    /// None until something is known.
    found: Option<FindingsReport>,
    compared: Option<Box<Compared>>,
    deltas: DeltaHistory,
    /// The snapshot of the current number, once somebody asked for it.
    snapshot: Option<Arc<[u8]>>,
}

impl FeedState {
    /// A feed with the usual limits.
    #[must_use]
    pub fn new(job: Job) -> Self {
        Self::with_limits(job, Limits::default())
    }

    /// A feed with limits of one's own.
    #[must_use]
    pub fn with_limits(job: Job, limits: Limits) -> Self {
        FeedState {
            limits,
            number: 0,
            clock: Clock::default(),
            job,
            totals: Totals::default(),
            losses: Losses::default(),
            fault_count: 0,
            faults: VecDeque::new(),
            functions: BTreeMap::new(),
            ranks: BTreeMap::new(),
            nodes: BTreeMap::new(),
            timeline: Timeline::new(limits.window_ns, limits.windows_max),
            in_flight: InFlight::default(),
            pending: Pending::default(),
            regions: RegionOfRank::default(),
            hangs: Hangs::default(),
            switch: Switch::default(),
            found: None,
            compared: None,
            deltas: DeltaHistory::new(limits.deltas_max, limits.delta_bytes_max),
            snapshot: None,
        }
    }

    /// That of two recordings that are compared.
    #[must_use]
    pub fn with_comparison(mut self, compared: Compared) -> Self {
        self.compared = Some(Box::new(compared));
        self
    }

    /// The number of the current state.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The clock of the current state.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The job of the current state.
    #[must_use]
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The number of ranks that are known.
    #[must_use]
    pub fn rank_count(&self) -> usize {
        self.ranks.len()
    }

    /// The number of hosts that are known.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The hosts of the current state.
    pub fn nodes(&self) -> impl Iterator<Item = &NodeRow> {
        self.nodes.values()
    }

    /// The ranks of the current state.
    pub fn ranks(&self) -> impl Iterator<Item = &RankRow> {
        self.ranks.values()
    }

    /// The verdict, if there is one, and whether it is final.
    #[must_use]
    pub fn verdict(&self) -> Option<(&Verdict, bool)> {
        self.found.as_ref().map(|found| (&found.diagnosis.verdict, found.is_final))
    }

    /// What was found about the run, and its hangs.
    #[must_use]
    pub fn findings(&self) -> (Option<&FindingsReport>, &Hangs) {
        (self.found.as_ref(), &self.hangs)
    }

    /// Bytes of deltas that are kept now.
    #[must_use]
    pub fn delta_bytes(&self) -> usize {
        self.deltas.bytes()
    }

    /// Takes an update; returns the number of the state after it, the same as before when nothing changed.
    pub fn apply(&mut self, update: &Update<'_>) -> u64 {
        let clock = Clock { now_ns: update.now_ns, lag_ns: update.lag_ns };
        let before = std::mem::replace(&mut self.clock, clock);
        let clock_moved = clock != before;
        if let Some(found) = update.found {
            self.regions = found.evolution.region_of_rank();
        }
        let delta = Message {
            protocol: PROTOCOL,
            kind: Kind::Delta,
            number: self.number + 1,
            clock,
            job: replace(&mut self.job, update.job),
            totals: replace(&mut self.totals, &totals(update.totals)),
            losses: replace(&mut self.losses, &losses(update.losses)),
            faults: self.take_faults(update),
            functions: changed(&mut self.functions, update.functions, |row| row.function)
                .as_deref()
                .map(functions),
            ranks: changed(&mut self.ranks, update.ranks, |row| row.rank).as_deref().map(ranks),
            nodes: changed(&mut self.nodes, update.nodes, |row| row.node).as_deref().map(nodes),
            timeline: self.take_timeline(update),
            in_flight: replace(&mut self.in_flight, &in_flight(update.in_flight, self.limits.in_flight_max)),
            pending: replace(&mut self.pending, &pending(&self.regions, update)),
            hangs: replace(&mut self.hangs, update.hangs),
            switch: replace(&mut self.switch, update.switch),
            found: update.found.and_then(|found| replace(&mut self.found, &Some(found.clone())).flatten()),
            calls: self.take_calls(before, update),
            compared: None,
        };
        if clock_moved || has_parts(&delta) {
            self.publish(&delta);
        }
        self.number
    }

    fn publish(&mut self, delta: &Message) {
        self.number = delta.number;
        self.snapshot = None;
        match encode(delta) {
            Ok(bytes) => self.deltas.push(self.number, bytes),
            // Viewers then get a snapshot, or the error with it.
            Err(_) => self.deltas.cut(self.number),
        }
    }

    fn take_faults(&mut self, update: &Update<'_>) -> Option<Faults> {
        for fault in update.faults {
            self.fault_count += 1;
            if self.faults.len() >= self.limits.faults_max {
                self.faults.pop_front();
            }
            self.faults.push_back(Fault {
                rank: fault.rank.map(|rank| rank.0),
                at_ns: update.now_ns,
                text: fault.text.chars().take(self.limits.fault_characters_max).collect(),
            });
        }
        (!update.faults.is_empty()).then(|| self.faults())
    }

    fn take_timeline(&mut self, update: &Update<'_>) -> Option<TimelineCells> {
        let window_ns = self.timeline.window_ns();
        let mut changed = BTreeSet::new();
        for increment in update.timeline.iter().filter(|increment| increment.calls > 0) {
            // One bad clock must not merge the whole run into a few windows.
            let start_ns = increment.start_ns.min(update.now_ns);
            let window = self.timeline.add(increment.function, start_ns, increment.calls);
            changed.insert((window, increment.function));
        }
        if self.timeline.window_ns() != window_ns {
            return Some(timeline(self.timeline.window_ns(), &self.timeline.cells()));
        }
        let cells: Vec<TimelineCell> =
            changed.into_iter().map(|(window, function)| self.timeline.cell(window, function)).collect();
        (!cells.is_empty()).then(|| timeline(window_ns, &cells))
    }

    /// Calls are complete up to the time that the clock was behind; those of an update ended since the last one did.
    fn take_calls(&self, before: Clock, update: &Update<'_>) -> Option<Calls> {
        let known = |clock: Clock| clock.now_ns.saturating_sub(clock.lag_ns);
        let range = known(before)..known(self.clock);
        let calls = update.calls.iter().flat_map(|piece| piece.iter());
        let calls = Calls::sampled(&range, calls, self.limits.calls_max);
        (calls.total > 0).then_some(calls)
    }

    fn faults(&self) -> Faults {
        Faults { count: self.fault_count, newest: self.faults.iter().cloned().collect() }
    }

    /// The whole state; written once for each number, however many ask.
    ///
    /// # Errors
    /// When the message cannot be written, which plain values in memory give no reason for.
    pub fn snapshot(&mut self) -> Result<Step, EncodeError> {
        let bytes = match &self.snapshot {
            Some(bytes) => Arc::clone(bytes),
            None => {
                let bytes: Arc<[u8]> = encode(&self.snapshot_message())?.into();
                self.snapshot = Some(Arc::clone(&bytes));
                bytes
            }
        };
        Ok(Step { number: self.number, bytes })
    }

    fn snapshot_message(&self) -> Message {
        Message {
            protocol: PROTOCOL,
            kind: Kind::Snapshot,
            number: self.number,
            clock: self.clock,
            job: Some(self.job.clone()),
            totals: Some(self.totals),
            losses: Some(self.losses),
            faults: Some(self.faults()),
            functions: Some(functions(&self.functions.values().copied().collect::<Vec<_>>())),
            ranks: Some(ranks(&self.ranks.values().copied().collect::<Vec<_>>())),
            nodes: Some(nodes(&self.nodes.values().cloned().collect::<Vec<_>>())),
            timeline: Some(timeline(self.timeline.window_ns(), &self.timeline.cells())),
            in_flight: Some(self.in_flight.clone()),
            hangs: Some(self.hangs.clone()),
            switch: Some(self.switch.clone()),
            pending: Some(self.pending.clone()),
            found: self.found.clone(),
            calls: None,
            compared: self.compared.clone(),
        }
    }

    /// The delta that follows this number, when it is still kept.
    #[must_use]
    pub fn delta_after(&self, number: u64) -> Option<Step> {
        let number = number.checked_add(1)?;
        self.deltas.get(number).map(|bytes| Step { number, bytes: Arc::clone(bytes) })
    }

    /// What a viewer needs next that has the state `last`, or none yet: the next delta, a fresh snapshot when that
    /// delta is gone, or nothing when it is up to date.
    ///
    /// # Errors
    /// As [`FeedState::snapshot`].
    pub fn next_after(&mut self, last: Option<u64>) -> Result<Option<Step>, EncodeError> {
        match last {
            Some(last) if last == self.number => Ok(None),
            Some(last) => match self.delta_after(last) {
                Some(step) => Ok(Some(step)),
                None => self.snapshot().map(Some),
            },
            None => self.snapshot().map(Some),
        }
    }
}

/// Writes a message.
///
/// # Errors
/// When it cannot be written, which plain values in memory give no reason for.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, EncodeError> {
    rmp_serde::to_vec_named(message).map_err(|error| EncodeError(error.to_string()))
}

fn has_parts(message: &Message) -> bool {
    message.job.is_some()
        || message.totals.is_some()
        || message.losses.is_some()
        || message.faults.is_some()
        || message.functions.is_some()
        || message.ranks.is_some()
        || message.nodes.is_some()
        || message.timeline.is_some()
        || message.in_flight.is_some()
        || message.hangs.is_some()
        || message.switch.is_some()
        || message.pending.is_some()
        || message.found.is_some()
        || message.calls.is_some()
}

/// Assigns, and returns the new value when it is another one.
fn replace<T: Clone + PartialEq>(current: &mut T, new: &T) -> Option<T> {
    if current == new {
        return None;
    }
    current.clone_from(new);
    Some(new.clone())
}

/// Assigns rows, and returns those that changed, ordered by key.
fn changed<K: Ord + Copy, T: Clone + PartialEq>(
    current: &mut BTreeMap<K, T>,
    rows: &[T],
    key: impl Fn(&T) -> K,
) -> Option<Vec<T>> {
    let mut changed = BTreeMap::new();
    for row in rows {
        let key = key(row);
        if current.get(&key) != Some(row) {
            current.insert(key, row.clone());
            changed.insert(key, row.clone());
        }
    }
    (!changed.is_empty()).then(|| changed.into_values().collect())
}
