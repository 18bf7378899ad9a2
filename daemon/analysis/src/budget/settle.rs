//! Settling a window: each thread goes on, call by call, until it has to wait for what another has not reached yet.

use super::collectives::{Awaited, Entry};
use super::cut::Pieces;
use super::thread::{Incoming, Outgoing, Path, ThreadId};
use super::waits::{WaitKey, WaitState};
use super::whatif::{Gains, Latest, WhatIf};
use super::{Budgeter, Cause, Way};
use crate::criteria::{CollectiveKey, Scope, Version, size_bin};
use mpiscope_model::{Activity, Blocking, Collective, Deed, Flow, Function, Nanoseconds, Rank};
use std::sync::Arc;

/// From which size on blocking sends wait for their receives, learnt from sends whose receives were posted late.
#[derive(Debug)]
pub(super) struct Thresholds {
    /// By the octave of the size: sends whose receive was posted late, and how many of them returned after that.
    late: [(u32, u32); OCTAVES],
    from_octave: Option<u32>,
}

/// So many late receives, and so large a share of sends that waited for them, make a size one that waits.
const ENOUGH_LATE: u32 = 8;
const MOSTLY: (u32, u32) = (3, 4);
/// A receive that was posted so much later than its send began is late, whatever messages take.
const CLEARLY_LATE_NS: u64 = 20_000;

/// Sizes of 64 bits have so many octaves.
const OCTAVES: usize = 64;

impl Default for Thresholds {
    fn default() -> Self {
        Self { late: [(0, 0); OCTAVES], from_octave: None }
    }
}

impl Thresholds {
    fn learn(&mut self, bytes: u64, has_waited: bool) {
        let of_size = &mut self.late[octave(bytes) as usize];
        of_size.0 = of_size.0.saturating_add(1);
        of_size.1 = of_size.1.saturating_add(u32::from(has_waited));
    }

    fn settle(&mut self) {
        let waits = |&(late, waited): &(u32, u32)| {
            late >= ENOUGH_LATE
                && u64::from(waited) * u64::from(MOSTLY.1) >= u64::from(late) * u64::from(MOSTLY.0)
        };
        self.from_octave = self.late.iter().position(waits).map(|octave| octave as u32);
    }

    pub(super) fn least_bytes(&self) -> Option<u64> {
        self.from_octave.map(|octave| 1 << octave)
    }

    fn may_wait(&self, bytes: u64) -> bool {
        self.from_octave.is_some_and(|from| octave(bytes) >= from)
    }
}

fn octave(bytes: u64) -> u32 {
    bytes.max(1).ilog2()
}

/// A receive that took less than this part of what its message usually takes found it there.
const HAD_ARRIVED: u64 = 4;
/// Or less than this, where nobody knows what it usually takes.
const HARDLY_NS: u64 = 2_000;

/// The call that computing leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) function: Function,
    /// To whom it sends: the same function is called in several places.
    pub(super) peer: Option<Rank>,
}

impl Next {
    fn of(call: &Activity) -> Self {
        let peer = if let Deed::Transfer { peer, .. } = call.deed { peer } else { None };
        Self { function: call.function, peer }
    }
}

/// What became of an attempt to settle a call.
enum Settled {
    Yes,
    /// Its thread has been put where it will be woken, or the next window tries again.
    NotYet,
}

impl Budgeter {
    /// Settles what ended before a time.
    pub(super) fn window(&mut self, until_ns: Nanoseconds) {
        self.steal.advance(until_ns + self.options.window_ns);
        // Not when a window closes: windows in which nothing happened are not settled one by one.
        self.collectives
            .forget(until_ns.saturating_sub(self.options.patience_ns + 2 * self.options.window_ns));
        for thread in 0..self.threads.len() as ThreadId {
            self.put_on_list(thread);
        }
        self.run(until_ns);
        let patience_ns = if self.queued > self.options.pending { 0 } else { self.options.patience_ns };
        self.force(until_ns, until_ns.saturating_sub(patience_ns));
        self.close(until_ns);
    }

    /// What the window taught holds for those after it.
    fn close(&mut self, until_ns: Nanoseconds) {
        self.thresholds.settle();
        self.course.close(until_ns);
        if !self.is_fixed && self.learning.settle() {
            let learnt = self.learning.version();
            let reference = &self.versions[0].1;
            let version = if reference.is_unknown(Scope::Intra) && reference.is_unknown(Scope::Inter) {
                learnt
            } else {
                learnt.or(reference)
            };
            self.versions.push_back((until_ns, Arc::new(version)));
        }
        let oldest_ns = until_ns.saturating_sub(self.options.patience_ns + 2 * self.options.window_ns);
        while self.versions.len() > 2 && self.versions[2].0 <= oldest_ns {
            self.versions.remove(1);
        }
        let kept: usize = self.threads.iter().map(super::thread::Thread::kept).sum();
        if kept > self.options.kept {
            for thread in &mut self.threads {
                self.given_up += thread.give_up_half() as u64;
            }
        }
    }

    /// Calls that waited too long for their other side go on without it, the oldest first.
    pub(super) fn force(&mut self, until_ns: Nanoseconds, too_late_ns: Nanoseconds) {
        loop {
            let due = |(at, thread): (usize, &super::thread::Thread)| {
                let end_ns = thread.queue.front()?.activity.end_ns;
                (end_ns < until_ns && end_ns < too_late_ns).then_some((
                    end_ns,
                    thread.rank,
                    at,
                    thread.number,
                ))
            };
            let mut all: Vec<_> = self.threads.iter().enumerate().filter_map(due).collect();
            if all.is_empty() {
                return;
            }
            all.sort_unstable();
            for (.., at, number) in all {
                let thread = &mut self.threads[at];
                // Another that went on may have taken it along.
                if thread.number == number && !thread.queue.is_empty() {
                    thread.is_forced = true;
                    self.given_up += 1;
                    self.put_on_list(at as ThreadId);
                    self.run(until_ns);
                }
            }
        }
    }

    fn put_on_list(&mut self, thread: ThreadId) {
        let state = &mut self.threads[thread as usize];
        if !state.is_listed && !state.queue.is_empty() {
            state.is_listed = true;
            self.list.push(thread);
        }
    }

    fn run(&mut self, until_ns: Nanoseconds) {
        while let Some(thread) = self.list.pop() {
            self.threads[thread as usize].is_listed = false;
            loop {
                let state = &self.threads[thread as usize];
                let Some(front) = state.queue.front().map(|record| record.activity) else { break };
                if front.end_ns >= until_ns && until_ns != Nanoseconds::MAX {
                    break;
                }
                if !state.is_entered {
                    self.enter(thread, &front);
                }
                if matches!(self.leave(thread, &front), Settled::NotYet) {
                    break;
                }
                self.queued -= 1;
            }
            while let Some(woken) = self.wake.pop() {
                self.put_on_list(woken);
            }
        }
    }

    /// A thread reaches the entry of its next call.
    fn enter(&mut self, thread: ThreadId, call: &Activity) {
        let goes_on = matches!(call.deed, Deed::Polls | Deed::Probe) || call.since_ns < call.start_ns;
        if !goes_on && !self.threads[thread as usize].open.rows.is_empty() {
            self.end_loop(thread);
        }
        if self.threads[thread as usize].open.rows.is_empty() {
            self.compute(thread, call.start_ns, Some(Next::of(call)).filter(|_| !call.after_loss));
        }
        let state = &mut self.threads[thread as usize];
        state.is_entered = true;
        let number = state.number;
        state.waiters.retain(|&(wanted, waiter)| {
            let is_reached = wanted <= number;
            if is_reached {
                self.wake.push(waiter);
            }
            !is_reached
        });
        if let Deed::Collective(of) = &call.deed {
            let (rank, start_ns) = (call.rank, state.at_ns);
            let entry = Entry { rank, start_ns, end_ns: call.end_ns, way: state.path };
            self.collectives.enter(of, entry, &mut self.wake);
        }
    }

    /// Time between calls, until the next one; nobody knows of what where calls were lost.
    fn compute(&mut self, thread: ThreadId, until_ns: Nanoseconds, next: Option<Next>) {
        let state = &mut self.threads[thread as usize];
        let from_ns = state.at_ns;
        if until_ns <= from_ns {
            return;
        }
        state.at_ns = until_ns;
        let whole_ns = until_ns - from_ns;
        let Some(next) = next else {
            state.path.made_of[Cause::Unknown] += whole_ns as i64;
            return;
        };
        let no_core_ns = if self.steal.knows(state.rank) {
            let usual_ns = state.usual_ns(next, whole_ns);
            self.steal.between(state.rank, from_ns, until_ns, usual_ns)
        } else {
            0
        };
        let worked_ns = whole_ns - no_core_ns;
        state.path.made_of[Cause::NoCore] += no_core_ns as i64;
        state.path.made_of[Cause::Compute] += worked_ns as i64;
        // Before its first call a thread is not in the ledger, as it may not have been there.
        if state.number == 0 {
            return;
        }
        let (rank, function) = (state.rank, next.function);
        let mut gains = Gains::default();
        gains[WhatIf::Cored] = no_core_ns as i64;
        gains[WhatIf::Balanced] = self.course.worked(rank, (from_ns, until_ns), worked_ns, function);
        self.ledger.compute(rank, from_ns, until_ns, no_core_ns);
        self.ledger.spared(until_ns, &gains);
        self.threads[thread as usize].path.gains += gains;
    }

    /// A loop of polls led to nothing.
    fn end_loop(&mut self, thread: ThreadId) {
        for (from_ns, to_ns) in std::mem::take(&mut self.threads[thread as usize].open.rows) {
            self.compute(thread, from_ns, Some(Next::default()));
            self.spend(thread, to_ns, Pieces::only(Cause::Other, to_ns.saturating_sub(from_ns)));
        }
    }

    /// The thread goes along its own way: the pieces fill the time until `until_ns`.
    fn spend(&mut self, thread: ThreadId, until_ns: Nanoseconds, pieces: Pieces) {
        let state = &mut self.threads[thread as usize];
        let (rank, mut at_ns) = (state.rank, state.at_ns);
        for (cause, ns) in pieces.iter() {
            let to_ns = at_ns.saturating_add(ns).min(until_ns);
            state.path.made_of[cause] += to_ns.saturating_sub(at_ns) as i64;
            self.ledger.direct(rank, cause, at_ns, to_ns);
            at_ns = at_ns.max(to_ns);
        }
        state.at_ns = at_ns;
    }

    /// Tries to settle the first call of a thread's queue.
    fn leave(&mut self, thread: ThreadId, call: &Activity) -> Settled {
        match call.deed {
            Deed::Polls | Deed::Probe => {
                let state = &mut self.threads[thread as usize];
                state.open.rows.push((call.start_ns.max(state.at_ns), call.end_ns.max(state.at_ns)));
                self.done(thread, Way::default(), call)
            }
            Deed::Other => {
                let entry = self.entry_path(thread);
                self.spend_all(thread, call.end_ns, Cause::Other);
                self.done(thread, entry, call)
            }
            Deed::Collective(of) => self.leave_collective(thread, call, &of),
            Deed::Transfer { receives, .. } if receives > 0 => self.leave_receive(thread, call, receives),
            Deed::Transfer { sends: 1, send: Blocking::Perhaps | Blocking::Always, .. } => {
                self.leave_send(thread, call)
            }
            Deed::Transfer { .. } => {
                let entry = self.entry_path(thread);
                self.spend_all(thread, call.end_ns, Cause::Base);
                self.done(thread, entry, call)
            }
        }
    }

    fn spend_all(&mut self, thread: ThreadId, until_ns: Nanoseconds, cause: Cause) {
        let left_ns = until_ns.saturating_sub(self.threads[thread as usize].at_ns);
        self.spend(thread, until_ns, Pieces::only(cause, left_ns));
    }

    fn entry_path(&self, thread: ThreadId) -> Way {
        self.threads[thread as usize].path
    }

    fn done(&mut self, thread: ThreadId, entry: Way, call: &Activity) -> Settled {
        self.threads[thread as usize].settle(entry);
        let of_rank = self.ledger.rank(call.rank);
        of_rank.until_ns = of_rank.until_ns.max(call.end_ns);
        Settled::Yes
    }

    /// The criteria of the window in which a call ended.
    fn version_for(&self, end_ns: Nanoseconds) -> Arc<Version> {
        let begin_ns = end_ns - end_ns % self.options.window_ns;
        let found = self.versions.iter().rev().find(|(from_ns, _)| *from_ns <= begin_ns);
        Arc::clone(&found.unwrap_or(&self.versions[0]).1)
    }

    fn is_saved(&self, one: Rank, other: Rank) -> bool {
        self.advised().is_some_and(|nodes| {
            let node = |rank: Rank| nodes.get(rank as usize);
            node(one).is_some() && node(one) == node(other)
        })
    }

    /// The path that led to a call of another thread; without it, this one will be woken when it is known.
    fn path_of(&mut self, of: ThreadId, number: u64, asks: ThreadId, is_forced: bool) -> Option<Option<Way>> {
        match self.threads[of as usize].path_to(number) {
            Path::Known(path) => Some(Some(path)),
            Path::Gone => Some(None),
            Path::NotYet if is_forced => Some(None),
            Path::NotYet => {
                let waiters = &mut self.threads[of as usize].waiters;
                if !waiters.contains(&(number, asks)) {
                    waiters.push((number, asks));
                }
                None
            }
        }
    }

    fn leave_receive(&mut self, thread: ThreadId, call: &Activity, receives: u16) -> Settled {
        let state = &self.threads[thread as usize];
        let is_forced = state.is_forced;
        let Some(record) = state.queue.front() else { return Settled::NotYet };
        if record.received() < usize::from(receives) && !is_forced {
            return Settled::NotYet;
        }
        // The loop that it ends began where the thread stands.
        let waited_from_ns = state.at_ns;
        let rows_before = !state.open.rows.is_empty();
        let waits_since = if rows_before { waited_from_ns } else { call.start_ns.max(state.at_ns) };
        let version = self.version_for(call.end_ns);
        let (binding, clear) =
            binding(record.first.iter().chain(&record.more), call.end_ns, waits_since, &version);
        let Some(binding) = binding else {
            let entry = self.own_entry(thread, call);
            self.end_with(thread, call, None, waits_since, Pieces::only(Cause::Unknown, 0), true);
            return self.done(thread, entry, call);
        };
        let send_ns = binding.send_ns.min(call.end_ns);
        let has_waited = send_ns > waits_since;
        let Some(way) = self.path_of(binding.from, binding.number, thread, is_forced) else {
            return Settled::NotYet;
        };
        let (path, unknown) = if has_waited { (way, way.is_none()) } else { (None, false) };
        let decisive = self.decisive(thread, call.end_ns, &version).unwrap_or(binding);
        let Some(mut whatif) = self.arrivals(thread, call, &decisive, &version, waits_since) else {
            return Settled::NotYet;
        };
        let source = self.threads[binding.from as usize].rank;
        let from_ns = send_ns.max(waits_since);
        let took_ns = call.end_ns.saturating_sub(from_ns);
        let saved = binding.inter && self.is_saved(source, call.rank);
        let pieces = Pieces::of_message(&version, binding.inter, saved, binding.bytes, took_ns);
        let stalled_ns = self.steal.stalled(call.rank, from_ns, call.end_ns, pieces.excess_ns());
        let pieces = pieces.without_core(stalled_ns);
        let entry = self.own_entry(thread, call);
        let mut spared = Gains::default();
        spared[WhatIf::Cored] = stalled_ns as i64;
        let own = self.threads[thread as usize].path.gains;
        let sender_rank = self.threads[decisive.from as usize].rank;
        let Some(sender) = self.path_of(decisive.from, decisive.number, thread, is_forced) else {
            return Settled::NotYet;
        };
        let sender = sender.map_or(own, |way| way.gains);
        // A message that was sent before its receiver came had arrived, or was on its way and had to be waited for.
        let usual_ns = version.message_ns(Scope::of(decisive.inter), decisive.bytes);
        let waited_ns = call.end_ns.saturating_sub(decisive.send_ns.max(waits_since));
        let is_late = decisive.send_ns > waits_since;
        if !is_late && waited_ns <= usual_ns.map_or(HARDLY_NS, |usual_ns| usual_ns / HAD_ARRIVED) {
            whatif.at(call.end_ns, &own, &spared);
            if decisive.inter {
                let at_most_ns = waits_since.saturating_sub(decisive.send_ns);
                self.course.arrived(call.end_ns, decisive.bytes, at_most_ns);
            }
            let arrived_ns = decisive.send_ns.saturating_add(usual_ns.unwrap_or_default()).min(waits_since);
            let mut change = Gains::default();
            change[WhatIf::Placed] =
                self.change_of_distance(&version, sender_rank, call.rank, &decisive, None);
            whatif.at(arrived_ns, &sender, &change);
        } else {
            let flight_ns = call.end_ns.saturating_sub(decisive.send_ns).saturating_sub(stalled_ns);
            spared[WhatIf::Placed] =
                self.change_of_distance(&version, sender_rank, call.rank, &decisive, Some(flight_ns));
            if decisive.inter {
                spared[WhatIf::Quiet] = self.course.message(call.end_ns, decisive.bytes, flight_ns) as i64;
            }
            whatif.at(call.end_ns, &sender, &spared);
        }
        self.ledger.spared(call.end_ns, &spared);
        self.end_with(thread, call, path, from_ns, pieces, unknown);
        self.threads[thread as usize].path.gains = whatif.gains(call.end_ns);
        if has_waited {
            self.note_wait(WaitState::LateSender, call, source, from_ns - waits_since);
        }
        if binding.certain && clear && binding.send_ns >= waits_since {
            self.learn(&version, &binding, took_ns);
        }
        self.unpin_all(thread);
        self.done(thread, entry, call)
    }

    /// The message that arrived last of all that a call received, by when they were sent and what they usually take.
    fn decisive(&self, thread: ThreadId, end_ns: Nanoseconds, version: &Version) -> Option<Incoming> {
        let record = self.threads[thread as usize].queue.front()?;
        let mut latest: Option<(u64, Incoming)> = None;
        for message in record.first.iter().chain(&record.more).filter(|message| message.send_ns < end_ns) {
            let mut usual_ns = version.message_ns(Scope::of(message.inter), message.bytes)?;
            if message.inter {
                usual_ns = (usual_ns as f64 * self.course.slowed(end_ns)) as u64;
            }
            let arrives_ns = message.send_ns.saturating_add(usual_ns);
            let key = |of: &Incoming, arrives_ns: u64| (arrives_ns, of.send_ns, of.from, of.number);
            if latest.is_none_or(|(at_ns, of)| key(message, arrives_ns) > key(&of, at_ns)) {
                latest = Some((arrives_ns, *message));
            }
        }
        latest.map(|(_, message)| message)
    }

    /// When a call would have returned at the earliest for the messages that did not decide when it did. None while a
    /// way that led to one of them is not known.
    fn arrivals(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        binding: &Incoming,
        version: &Version,
        waits_since: Nanoseconds,
    ) -> Option<Latest> {
        let state = &self.threads[thread as usize];
        let (own, is_forced) = (state.path.gains, state.is_forced);
        let mut latest = Latest::default();
        latest.at(waits_since, &own, &Gains::default());
        let others = state
            .queue
            .front()
            .filter(|record| !record.more.is_empty())
            .map(|record| record.first.iter().chain(&record.more).copied().collect::<Vec<Incoming>>());
        for message in others.unwrap_or_default() {
            if (message.from, message.number) == (binding.from, binding.number) {
                continue;
            }
            let way = self.path_of(message.from, message.number, thread, is_forced)?;
            let usual_ns = version.message_ns(Scope::of(message.inter), message.bytes).unwrap_or_default();
            let arrives_ns = message.send_ns.saturating_add(usual_ns).min(call.end_ns);
            let source = self.threads[message.from as usize].rank;
            let mut spared = Gains::default();
            spared[WhatIf::Placed] = self.change_of_distance(version, source, call.rank, &message, None);
            latest.at(arrives_ns, &way.map_or(own, |way| way.gains), &spared);
        }
        Some(latest)
    }

    /// What the advised placement spares a message that took so long, or what is usual; less than nothing where it
    /// drives its ends apart.
    fn change_of_distance(
        &self,
        version: &Version,
        source: Rank,
        target: Rank,
        message: &Incoming,
        took_ns: Option<u64>,
    ) -> i64 {
        let Some(advised) = self.advised() else { return 0 };
        let node = |rank: Rank| advised.get(rank as usize);
        let inter = node(source) != node(target);
        if inter == message.inter {
            return 0;
        }
        let usual_ns = |scope| version.message_ns(scope, message.bytes);
        let (Some(near_ns), Some(far_ns)) = (usual_ns(Scope::Intra), usual_ns(Scope::Inter)) else {
            return 0;
        };
        let (now_ns, then_ns) = if message.inter { (far_ns, near_ns) } else { (near_ns, far_ns) };
        // What is slow between nodes would be as slow, for its distance, within one. What is slow within a node is not slow
        // for the way.
        let took_ns = took_ns.unwrap_or(now_ns);
        let took_ns = if message.inter { took_ns } else { took_ns.min(now_ns) };
        let then_ns = u128::from(took_ns) * u128::from(then_ns) / u128::from(now_ns.max(1));
        took_ns as i64 - then_ns as i64
    }

    /// The path to the entry of a call itself, whether or not a loop of polls came before it.
    fn own_entry(&self, thread: ThreadId, call: &Activity) -> Way {
        let state = &self.threads[thread as usize];
        let mut path = state.path;
        let mut at_ns = state.at_ns;
        for &(from_ns, to_ns) in &state.open.rows {
            path.made_of[Cause::Compute] += from_ns.saturating_sub(at_ns) as i64;
            path.made_of[Cause::Other] += to_ns.saturating_sub(from_ns.max(at_ns)) as i64;
            at_ns = at_ns.max(to_ns);
        }
        path.made_of[Cause::Compute] += call.start_ns.saturating_sub(at_ns) as i64;
        path
    }

    fn learn(&mut self, version: &Version, message: &Incoming, took_ns: u64) {
        let scope = Scope::of(message.inter);
        self.learning.message(scope, message.bytes, took_ns);
        if let Some(criterion_ns) = version.message_ns(scope, message.bytes) {
            let end_ns = message.send_ns + took_ns;
            let window = self.ledger.window(end_ns.saturating_sub(1));
            let judged = if message.inter { &mut window.inter } else { &mut window.intra };
            judged.messages += 1;
            judged.delayed += u64::from(took_ns > criterion_ns);
            judged.took_ns += took_ns;
            judged.criterion_ns += criterion_ns;
        }
    }

    /// What a settled call asked of others is not asked any more, and sizes that wait are learnt.
    fn unpin_all(&mut self, thread: ThreadId) {
        let Some(record) = self.threads[thread as usize].queue.front_mut() else { return };
        let (first, more) = (record.first.take(), std::mem::take(&mut record.more));
        for incoming in first.into_iter().chain(more) {
            let sender = &mut self.threads[incoming.from as usize];
            if incoming.posted_ns > incoming.send_ns + CLEARLY_LATE_NS
                && let Some(until_ns) = sender.blocked_until(incoming.number)
            {
                self.thresholds.learn(incoming.bytes, until_ns >= incoming.posted_ns);
            }
            sender.unpin(incoming.number);
        }
    }

    /// The call is over: until `from_ns` it waited along another's path (or its own, or nobody knows), then come the
    /// pieces. What lies in the loop before it and outside of calls is computing.
    fn end_with(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        path: Option<Way>,
        from_ns: Nanoseconds,
        pieces: Pieces,
        unknown: bool,
    ) {
        let state = &mut self.threads[thread as usize];
        let (rank, own, since_ns) = (state.rank, state.path.made_of, state.at_ns);
        let start_ns = call.start_ns.max(since_ns);
        let mut rows = std::mem::take(&mut state.open.rows);
        if rows.is_empty() && from_ns <= start_ns && path.is_none() && !unknown {
            // It did not wait: the usual case.
            self.spend(thread, call.end_ns, pieces);
            return;
        }
        rows.push((start_ns, call.end_ns.max(start_ns)));
        let until_ns = from_ns.max(since_ns);
        // Time before `from_ns` in calls, and between them.
        let waiting: Vec<(u64, u64)> =
            rows.iter().map(|&(from, to)| (from, to.min(until_ns))).filter(|(from, to)| from < to).collect();
        let in_calls: u64 = waiting.iter().map(|(from, to)| to - from).sum();
        let between_ns = (until_ns - since_ns).saturating_sub(in_calls);
        let mut at_ns = since_ns;
        for &(from, _) in &waiting {
            self.ledger.compute(rank, at_ns, from.max(at_ns), 0);
            at_ns = waiting.iter().find(|piece| piece.0 == from).map_or(at_ns, |piece| piece.1);
        }
        self.ledger.compute(rank, at_ns, until_ns, 0);
        let mut led = own;
        if let Some(path) = path {
            led = path.made_of;
            // Clocks of two nodes agree only so far.
            led[Cause::Unknown] += until_ns as i64 - led.sum();
            let mut by = led - own;
            by[Cause::Compute] -= between_ns as i64;
            self.ledger.waiting(rank, &waiting, by);
        } else {
            for &(from, to) in &waiting {
                self.ledger.direct(rank, Cause::Unknown, from, to);
            }
            led[Cause::Unknown] += in_calls as i64;
            led[Cause::Compute] += between_ns as i64;
        }
        // The pieces, as far as they lie in calls.
        let mut at_ns = until_ns;
        for (cause, ns) in pieces.iter() {
            led[cause] += ns as i64;
            for &(from, to) in &rows {
                self.ledger.direct(rank, cause, from.max(at_ns), to.min(at_ns + ns));
            }
            at_ns += ns;
        }
        let mut after_ns = until_ns;
        for &(from, to) in &rows {
            self.ledger.compute(rank, after_ns, from.max(after_ns), 0);
            after_ns = after_ns.max(to);
        }
        let end_ns = call.end_ns.max(until_ns);
        led[Cause::Unknown] += end_ns.saturating_sub(at_ns) as i64;
        self.ledger.direct(rank, Cause::Unknown, at_ns, end_ns);
        let state = &mut self.threads[thread as usize];
        (state.path.made_of, state.at_ns) = (led, end_ns);
    }

    fn note_wait(&mut self, state: WaitState, call: &Activity, awaited: Rank, waited_ns: u64) {
        if waited_ns > 0 {
            let key = WaitKey { state, function: call.function, waiter: call.rank, awaited };
            self.waits.add(key, waited_ns);
        }
    }

    fn leave_send(&mut self, thread: ThreadId, call: &Activity) -> Settled {
        let Deed::Transfer { send, peer, bytes, .. } = call.deed else { return Settled::Yes };
        let state = &self.threads[thread as usize];
        let is_forced = state.is_forced;
        let outgoing = state.queue.front().and_then(|record| record.outgoing);
        let version = self.version_for(call.end_ns);
        let entry = self.entry_path(thread);
        let start_ns = state.at_ns;
        let node = |rank: Rank| self.nodes.get(rank as usize).copied().unwrap_or_default();
        let inter = peer.is_some_and(|peer| node(peer) != node(call.rank));
        let saved = inter && peer.is_some_and(|peer| self.is_saved(call.rank, peer));
        let own_pieces = |from_ns: u64| {
            Pieces::of_message(&version, inter, saved, bytes, call.end_ns.saturating_sub(from_ns))
        };
        let waits = send == Blocking::Always || self.thresholds.may_wait(bytes);
        if !waits {
            self.spend(thread, call.end_ns, own_pieces(start_ns));
            self.release_post(outgoing);
            return self.done(thread, entry, call);
        }
        let Some(outgoing) = outgoing else {
            if !is_forced {
                return Settled::NotYet;
            }
            self.spend_all(thread, call.end_ns, Cause::Unknown);
            return self.done(thread, entry, call);
        };
        if outgoing.posted_ns > start_ns && call.end_ns >= outgoing.posted_ns {
            let Some(path) = self.path_of(outgoing.to, outgoing.post, thread, is_forced) else {
                return Settled::NotYet;
            };
            let receiver = self.threads[outgoing.to as usize].rank;
            let from_ns = outgoing.posted_ns;
            let pieces = own_pieces(from_ns);
            let mut whatif = Latest::default();
            whatif.at(start_ns, &entry.gains, &Gains::default());
            let spared = self.spared_to_sender(call.end_ns, inter, bytes, &pieces);
            whatif.at(call.end_ns, &path.map_or(entry.gains, |path| path.gains), &spared);
            self.ledger.spared(call.end_ns, &spared);
            self.end_with(thread, call, path, from_ns, pieces, path.is_none());
            self.threads[thread as usize].path.gains = whatif.gains(call.end_ns);
            self.note_wait(WaitState::LateReceiver, call, receiver, from_ns - start_ns);
        } else {
            let pieces = own_pieces(start_ns);
            let spared = self.spared_to_sender(call.end_ns, inter, bytes, &pieces);
            self.ledger.spared(call.end_ns, &spared);
            self.threads[thread as usize].path.gains += spared;
            self.spend(thread, call.end_ns, pieces);
        }
        self.release_post(Some(outgoing));
        self.done(thread, entry, call)
    }

    /// What a sender that waits until its message is there would be spared.
    fn spared_to_sender(&mut self, at_ns: Nanoseconds, inter: bool, bytes: u64, pieces: &Pieces) -> Gains {
        let mut spared = Gains::default();
        spared[WhatIf::Placed] = pieces.saved_ns() as i64;
        if inter && pieces.excess_ns() > 0 {
            let took_ns = pieces.iter().map(|(_, ns)| ns).sum();
            spared[WhatIf::Quiet] = self.course.message(at_ns, bytes, took_ns) as i64;
        }
        spared
    }

    fn release_post(&mut self, outgoing: Option<Outgoing>) {
        if let Some(outgoing) = outgoing {
            self.threads[outgoing.to as usize].unpin(outgoing.post);
        }
    }

    fn leave_collective(&mut self, thread: ThreadId, call: &Activity, of: &Collective) -> Settled {
        let is_forced = self.threads[thread as usize].is_forced;
        let awaited = self.collectives.awaited(of, call.rank, is_forced);
        if matches!(awaited, Awaited::NotYet) {
            self.collectives.wait(of, thread);
            return Settled::NotYet;
        }
        let version = self.version_for(call.end_ns);
        let entry = self.entry_path(thread);
        let start_ns = self.threads[thread as usize].at_ns;
        let is_root = of.root == Some(call.rank);
        let ranks = self.collectives.size(of.comm).unwrap_or_default();
        let key = CollectiveKey { function: call.function, ranks, bin: size_bin(of.bytes), is_root };
        let mut from_ns = start_ns;
        let mut path = None;
        if let Awaited::Member(member) = awaited
            && member.start_ns.min(call.end_ns) > start_ns
        {
            from_ns = member.start_ns.min(call.end_ns);
            // A path that leads beyond this call's end would be a clock that is wrong.
            path = (member.start_ns <= call.end_ns).then_some(member.way);
            let state = match of.flow {
                Flow::All if of.is_barrier => WaitState::Barrier,
                Flow::All => WaitState::AllToAll,
                Flow::FromRoot => WaitState::LateBroadcast,
                Flow::ToRoot => WaitState::EarlyReduce,
                Flow::FromLower => WaitState::Scan,
            };
            self.note_wait(state, call, member.rank, from_ns - start_ns);
        }
        let took_ns = call.end_ns.saturating_sub(from_ns);
        let pieces = Pieces::of_collective(version.collective_ns(&key), took_ns);
        let stalled_ns = self.steal.stalled(call.rank, from_ns, call.end_ns, pieces.excess_ns());
        let pieces = pieces.without_core(stalled_ns);
        let own_ns = took_ns - stalled_ns;
        let mut spared = Gains::default();
        spared[WhatIf::Cored] = stalled_ns as i64;
        if !is_forced {
            spared[WhatIf::Quiet] = self.course.collective(call.end_ns, key, own_ns) as i64;
        }
        self.ledger.spared(call.end_ns, &spared);
        let unknown = from_ns > start_ns && path.is_none();
        let mut whatif = Latest::default();
        whatif.at(start_ns, &entry.gains, &Gains::default());
        if !matches!(awaited, Awaited::Nobody) || from_ns > start_ns {
            whatif.join(&self.collectives.latest(of));
        }
        let whatif = whatif.after(took_ns, &spared);
        self.end_with(thread, call, path, from_ns, pieces, unknown);
        self.threads[thread as usize].path.gains = whatif.gains(call.end_ns);
        if !is_forced {
            self.learning.collective(key, took_ns);
        }
        self.collectives.leave(of);
        self.done(thread, entry, call)
    }
}

/// The receive that decided when a call returned: the most plausible one. Says too whether it stands out from the
/// others by a factor of two.
fn binding<'a>(
    incoming: impl Iterator<Item = &'a Incoming> + Clone,
    end_ns: Nanoseconds,
    waits_since: Nanoseconds,
    version: &Version,
) -> (Option<Incoming>, bool) {
    let mut all = incoming.clone();
    if let (Some(only), None) = (all.next(), all.next()) {
        return (Some(*only), true);
    }
    let criterion = |message: &Incoming| version.message_ns(Scope::of(message.inter), message.bytes);
    let are_known = incoming.clone().all(|message| criterion(message).is_some());
    let mut best: Option<(f64, Incoming)> = None;
    let mut second = f64::INFINITY;
    for message in incoming {
        let took_ns = end_ns.saturating_sub(message.send_ns.max(waits_since)).max(1);
        let usual_ns = if are_known { criterion(message).unwrap_or(1).max(1) } else { 1 };
        let plausibility = took_ns as f64 / usual_ns as f64;
        let wins =
            best.is_none_or(|(of_best, other)| (plausibility, other.send_ns) < (of_best, message.send_ns));
        if wins {
            second = best.map_or(second, |(of_best, _)| of_best);
            best = Some((plausibility, *message));
        } else {
            second = second.min(plausibility);
        }
    }
    let clear = best.is_some_and(|(of_best, _)| second >= 2.0 * of_best);
    (best.map(|(_, message)| message), clear)
}
