//! Settles a window: each thread goes on, call by call, until it has to wait for another one.

use super::collectives::Entry;
use super::cut::Pieces;
use super::thread::ThreadId;
use super::{Budgeter, Cause, Causes, Spared};
use crate::criteria::Version;
use mpiscope_model::{Activity, Blocking, Effect, Function, Nanoseconds, Rank};
use std::ops::Range;
use std::sync::Arc;

/// More threads than fit into the caches of a core, and how many are begun with at once.
const MANY: usize = 1_024;
const AT_ONCE: usize = 32;

/// The call that computing leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) function: Function,
    /// To whom it sends: the same function is called in several places.
    pub(super) peer: Option<Rank>,
}

impl Next {
    pub(super) fn from_call(call: &Activity) -> Self {
        let peer = if let Effect::Transfer { peer, .. } = call.effect { peer } else { None };
        Self { function: call.function, peer }
    }
}

/// What became of an attempt to settle a call.
pub(super) enum Settled {
    Yes,
    /// Its thread has been put where it will be woken, or the next window tries again.
    NotYet,
}

impl Budgeter {
    /// Settles what ended before a time.
    pub(super) fn window(&mut self, until_ns: Nanoseconds) {
        let queued = self.queued;
        self.steal.advance(until_ns.saturating_add(self.options.window_ns));
        self.evolution.begin(self.threads.nodes());
        // Not when a window closes: windows in which nothing happened are not settled one by one.
        let patience_ns = self.options.patience_ns + 2 * self.options.window_ns;
        self.collectives.forget(until_ns.saturating_sub(patience_ns), patience_ns);
        for first in (0..self.threads.len()).step_by(AT_ONCE) {
            let some = first..(first + AT_ONCE).min(self.threads.len());
            // Where there are many, the memory of several is fetched at once.
            if self.threads.len() >= MANY {
                let read = self.threads[some.clone()].iter().fold(0, |all, thread| all ^ thread.fetch());
                std::hint::black_box(read);
            }
            some.for_each(|thread| self.put_on_list(thread as ThreadId));
            self.run(until_ns);
        }
        let patience_ns = if self.queued > self.options.pending { 0 } else { self.options.patience_ns };
        self.force(until_ns, until_ns.saturating_sub(patience_ns));
        // A window in which nothing was settled taught nothing: whether it is skipped makes no difference.
        if self.queued < queued {
            self.close(until_ns);
        }
        let (waited_for_ns, due_ns) = self.look_ahead(until_ns);
        self.evolution.close(waited_for_ns);
        self.due_ns = due_ns;
    }

    /// By thread, when the first call ended that is not settled.
    fn first_ends_ns(&self) -> impl Iterator<Item = Nanoseconds> {
        self.threads.iter().filter_map(|thread| Some(thread.queue.front()?.end_ns))
    }

    /// Before this time every call is settled: none waits for its other side.
    pub(super) fn waited_for_ns(&self, until_ns: Nanoseconds) -> Nanoseconds {
        self.first_ends_ns().fold(until_ns, Nanoseconds::min)
    }

    /// The same, and the end of the first window after a time in which a call ends or patience does.
    fn look_ahead(&self, until_ns: Nanoseconds) -> (Nanoseconds, Option<Nanoseconds>) {
        let (mut waited_for_ns, mut due_ns) = (until_ns, None);
        for end_ns in self.first_ends_ns() {
            waited_for_ns = waited_for_ns.min(end_ns);
            let waits = end_ns < until_ns;
            let at_ns = if waits { end_ns.saturating_add(self.options.patience_ns) } else { end_ns };
            due_ns = Some(due_ns.map_or(at_ns, |due_ns: Nanoseconds| due_ns.min(at_ns)));
        }
        let window_ns = self.options.window_ns;
        let window_end = |at_ns: Nanoseconds| (at_ns - at_ns % window_ns).saturating_add(window_ns);
        (waited_for_ns, due_ns.map(window_end))
    }

    /// What the window taught holds for those after it.
    pub(super) fn close(&mut self, until_ns: Nanoseconds) {
        self.thresholds.settle();
        self.course.close(until_ns);
        let oldest_ns = until_ns.saturating_sub(self.options.patience_ns + 2 * self.options.window_ns);
        self.criteria.close(until_ns, oldest_ns);
        let kept: usize = self.threads.iter().map(super::thread::Thread::kept).sum();
        if kept > self.options.kept {
            for thread in self.threads.iter_mut() {
                self.given_up += thread.give_up_half() as u64;
            }
        }
    }

    /// Calls that waited too long for their other side go on without it, the oldest first.
    pub(super) fn force(&mut self, until_ns: Nanoseconds, too_late_ns: Nanoseconds) {
        loop {
            let due = |(at, thread): (usize, &super::thread::Thread)| {
                let end_ns = thread.queue.front()?.end_ns;
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

    pub(super) fn put_on_list(&mut self, thread: ThreadId) {
        let state = &mut self.threads[thread as usize];
        if !state.is_listed && !state.queue.is_empty() {
            state.is_listed = true;
            self.scratch.due.push(thread);
        }
    }

    pub(super) fn run(&mut self, until_ns: Nanoseconds) {
        let mut version = (0..0, Arc::default());
        while let Some(thread) = self.scratch.due.pop() {
            self.threads[thread as usize].is_listed = false;
            loop {
                let state = &self.threads[thread as usize];
                let Some(front) = state.queue.front().copied() else { break };
                if front.end_ns >= until_ns && until_ns != Nanoseconds::MAX {
                    break;
                }
                if !state.is_entered {
                    self.enter(thread, &front);
                }
                if !version.0.contains(&front.end_ns) {
                    version = self.version_for(front.end_ns);
                }
                if matches!(self.leave(thread, &front, &version.1), Settled::NotYet) {
                    break;
                }
                self.queued -= 1;
            }
            while let Some(woken) = self.scratch.woken.pop() {
                self.put_on_list(woken);
            }
        }
    }

    /// A thread reaches the entry of its next call.
    pub(super) fn enter(&mut self, thread: ThreadId, call: &Activity) {
        let goes_on = matches!(call.effect, Effect::Polls | Effect::Probe) || call.since_ns < call.start_ns;
        // One that worked in between waits anew.
        let ends = |&(_, to_ns): &(u64, u64)| !goes_on || to_ns < call.since_ns;
        if self.threads[thread as usize].open.rows.last().is_some_and(ends) {
            self.end_loop(thread);
        }
        if self.threads[thread as usize].open.rows.is_empty() {
            self.compute(thread, call.start_ns, Some(Next::from_call(call)).filter(|_| !call.after_loss));
        }
        let state = &mut self.threads[thread as usize];
        state.is_entered = true;
        let number = state.number;
        state.waiters.retain(|&(wanted, waiter)| {
            let is_reached = wanted <= number;
            if is_reached {
                self.scratch.woken.push(waiter);
            }
            !is_reached
        });
        if let Effect::Collective(of) | Effect::Start(of) = &call.effect {
            let (rank, start_ns) = (call.rank, state.at_ns);
            let entry = Entry { rank, start_ns, end_ns: call.end_ns, path: state.path };
            self.collectives.enter(of, entry, &mut self.scratch.woken);
            if matches!(call.effect, Effect::Start(_)) {
                self.collectives.start(rank, call.function, of, call.end_ns, &mut self.scratch.woken);
            }
        }
    }

    /// Time between calls, until the next one; its use is unknown where calls were lost.
    pub(super) fn compute(&mut self, thread: ThreadId, until_ns: Nanoseconds, next: Option<Next>) {
        let state = &mut self.threads[thread as usize];
        let from_ns = state.at_ns;
        if until_ns <= from_ns {
            return;
        }
        state.at_ns = until_ns;
        let whole_ns = until_ns - from_ns;
        let Some(next) = next else {
            state.path[Cause::Unknown] += whole_ns as i64;
            return;
        };
        let cpu_wait_ns = if self.steal.knows(state.rank) {
            let usual_ns = state.usual_ns(next, whole_ns);
            self.steal.between(state.rank, from_ns, until_ns, usual_ns)
        } else {
            0
        };
        let worked_ns = whole_ns - cpu_wait_ns;
        state.path[Cause::CpuWait] += cpu_wait_ns as i64;
        state.path[Cause::Compute] += worked_ns as i64;
        // Before its first call a thread is not in the ledger, as it may not have been there.
        if state.number == 0 {
            return;
        }
        let (rank, function) = (state.rank, next.function);
        let balanced_ns = self.course.worked(rank, (from_ns, until_ns), worked_ns, function);
        self.ledger.compute(rank, from_ns, until_ns, cpu_wait_ns);
        self.ledger.spared(
            rank,
            until_ns,
            Spared { cored_ns: cpu_wait_ns, balanced_ns, ..Spared::default() },
        );
    }

    /// A loop of polls led to nothing.
    pub(super) fn end_loop(&mut self, thread: ThreadId) {
        for (from_ns, to_ns) in std::mem::take(&mut self.threads[thread as usize].open.rows) {
            self.compute(thread, from_ns, Some(Next::default()));
            self.spend(thread, to_ns, Pieces::only(Cause::Other, to_ns.saturating_sub(from_ns)));
        }
    }

    /// The thread goes along its own way: the pieces fill the time until `until_ns`.
    pub(super) fn spend(&mut self, thread: ThreadId, until_ns: Nanoseconds, pieces: Pieces) {
        let state = &mut self.threads[thread as usize];
        let (rank, mut at_ns) = (state.rank, state.at_ns);
        for (cause, ns) in pieces.iter() {
            let to_ns = at_ns.saturating_add(ns).min(until_ns);
            state.path[cause] += to_ns.saturating_sub(at_ns) as i64;
            self.ledger.direct(rank, cause, at_ns, to_ns);
            at_ns = at_ns.max(to_ns);
        }
        state.at_ns = at_ns;
    }

    /// Tries to settle the first call of a thread's queue.
    pub(super) fn leave(&mut self, thread: ThreadId, call: &Activity, version: &Version) -> Settled {
        if self.threads[thread as usize].collected().next().is_some() {
            return self.leave_collected(thread, call, version);
        }
        match call.effect {
            Effect::Polls | Effect::Probe => {
                let state = &mut self.threads[thread as usize];
                state.open.rows.push((call.start_ns.max(state.at_ns), call.end_ns.max(state.at_ns)));
                self.done(thread, Causes::default(), call)
            }
            Effect::Other => {
                let entry = self.own_entry(thread, call);
                let from_ns = self.threads[thread as usize].at_ns;
                let pieces = Pieces::only(Cause::Other, call.end_ns.saturating_sub(from_ns));
                self.end_with(thread, call, None, from_ns, pieces, false);
                self.done(thread, entry, call)
            }
            Effect::Collective(of) => self.leave_collective(thread, call, &of, version),
            Effect::Start(_) => {
                let entry = self.entry_path(thread);
                self.spend_all(thread, call.end_ns, Cause::Operation);
                self.done(thread, entry, call)
            }
            Effect::Transfer { receives, .. } if receives > 0 => {
                self.leave_receive(thread, call, receives, version)
            }
            Effect::Transfer { sends: 1, send: Blocking::Perhaps | Blocking::Always, .. } => {
                self.leave_send(thread, call, version)
            }
            Effect::Transfer { .. } => {
                let entry = self.entry_path(thread);
                self.spend_all(thread, call.end_ns, Cause::Base);
                self.done(thread, entry, call)
            }
        }
    }

    pub(super) fn spend_all(&mut self, thread: ThreadId, until_ns: Nanoseconds, cause: Cause) {
        let left_ns = until_ns.saturating_sub(self.threads[thread as usize].at_ns);
        self.spend(thread, until_ns, Pieces::only(cause, left_ns));
    }

    pub(super) fn entry_path(&self, thread: ThreadId) -> Causes {
        self.threads[thread as usize].path
    }

    pub(super) fn done(&mut self, thread: ThreadId, entry: Causes, call: &Activity) -> Settled {
        self.threads[thread as usize].settle(entry);
        let of_rank = self.ledger.rank(call.rank);
        of_rank.until_ns = of_rank.until_ns.max(call.end_ns);
        Settled::Yes
    }

    /// The criteria of the window in which a call ended, and that window.
    fn version_for(&self, end_ns: Nanoseconds) -> (Range<Nanoseconds>, Arc<Version>) {
        let begin_ns = end_ns - end_ns % self.options.window_ns;
        let window = begin_ns..begin_ns.saturating_add(self.options.window_ns);
        (window, self.criteria.version_at(begin_ns))
    }

    pub(super) fn is_saved(&self, one: Rank, other: Rank) -> bool {
        self.advised().is_some_and(|nodes| {
            let node = |rank: Rank| nodes.get(rank as usize);
            node(one).is_some() && node(one) == node(other)
        })
    }

    /// The path that led to a call of another thread; without it, this one will be woken when it is known.
    pub(super) fn path_of(
        &mut self,
        of: ThreadId,
        number: u64,
        asks: ThreadId,
        is_forced: bool,
    ) -> Option<Option<Causes>> {
        if self.has_to_wait(of, number, asks, is_forced) {
            return None;
        }
        Some(self.threads[of as usize].path_to(number).copied())
    }

    /// Whether this thread has to wait, because another one has not come to a call yet; it will be woken.
    fn has_to_wait(&mut self, of: ThreadId, number: u64, asks: ThreadId, is_forced: bool) -> bool {
        let has_to_wait = !is_forced && !self.threads[of as usize].has_come_to(number);
        if has_to_wait {
            self.wait_for(of, number, asks);
        }
        has_to_wait
    }

    /// A thread is to be woken when another comes to a call.
    pub(super) fn wait_for(&mut self, of: ThreadId, number: u64, asks: ThreadId) {
        let waiters = &mut self.threads[of as usize].waiters;
        if !waiters.contains(&(number, asks)) {
            waiters.push((number, asks));
        }
    }
}
