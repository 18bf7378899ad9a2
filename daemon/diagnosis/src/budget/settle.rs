//! Settles a window: each thread goes on, call by call, until it has to wait for another one.

use super::budgeter::Budgeter;
use super::causes::{Cause, Causes};
use super::collectives::Entry;
use super::cut::Pieces;
use super::shard::Shard;
use super::steps::Settled;
use super::thread::{Next, Thread, ThreadId};
use crate::criteria::Version;
use mpiscope_model::{Activity, Blocking, Effect, Nanoseconds, Rank};
use std::ops::Range;
use std::sync::Arc;

/// More threads than fit into the caches of a core, and how many are begun with at once.
const MANY: usize = 1_024;
const AT_ONCE: usize = 32;

impl Budgeter {
    /// The end of the next window that has to be settled; earlier ones may be skipped. None when no call waits.
    #[must_use]
    pub fn next_window_end_ns(&self) -> Option<Nanoseconds> {
        self.shard.next_window_end_ns()
    }

    /// Everything that ended before a time is in, and nothing that ended later: settles the window that ends then.
    pub fn settle(&mut self, until_ns: Nanoseconds) {
        let queued = self.shard.queued;
        self.shard.begin(until_ns);
        let patience_ns = self.shard.patience_ns(self.shard.queued);
        self.force(until_ns, until_ns.saturating_sub(patience_ns));
        // A window in which nothing was settled taught nothing: whether it is skipped makes no difference.
        let has_settled = self.shard.queued < queued;
        if has_settled {
            self.close(until_ns);
        }
        let ahead = self.shard.look_ahead(until_ns);
        self.shard.sums.evolution.close(ahead.waited_for_ns);
        self.shard.end(until_ns, &ahead, has_settled);
    }

    /// No window before a time has to be settled: nothing ended in them, and no call that waits goes on there.
    pub fn skip(&mut self, until_ns: Nanoseconds) {
        let whole_ns = until_ns - until_ns % self.shard.options.window_ns;
        if whole_ns > self.shard.settled_ns {
            self.shard.settled_ns = whole_ns;
            self.shard.sums.evolution.close(self.shard.waited_for_ns(whole_ns));
        }
    }

    /// Calls that waited too long for their other side go on without it, the oldest first.
    fn force(&mut self, until_ns: Nanoseconds, too_late_ns: Nanoseconds) {
        loop {
            let mut all = self.shard.overdue(until_ns.min(too_late_ns));
            if all.is_empty() {
                return;
            }
            all.sort_unstable();
            all.iter().for_each(|overdue| self.shard.force(overdue, until_ns));
        }
    }

    /// What the window taught holds for those after it.
    fn close(&mut self, until_ns: Nanoseconds) {
        let Self { shard, learning } = self;
        shard.take_observed(|observed| {
            learning.take(observed);
            observed.all.clear();
        });
        let oldest_ns = until_ns.saturating_sub(shard.options.patience_ns + 2 * shard.options.window_ns);
        learning.close(until_ns, oldest_ns, &mut shard.knowledge);
        if shard.kept() > shard.options.kept {
            shard.give_up_half();
        }
    }
}

/// A call that waited too long for its other side, in the order in which such calls go on without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Overdue {
    end_ns: Nanoseconds,
    rank: Rank,
    thread: u16,
    number: u64,
}

/// What is known of windows to come.
#[derive(Debug, Clone, Copy)]
pub struct Ahead {
    /// Before this time every call is settled: none waits for its other side.
    pub(super) waited_for_ns: Nanoseconds,
    /// The end of the first window in which a call ends or patience does.
    pub(super) due_ns: Option<Nanoseconds>,
}

impl Shard {
    pub(super) fn next_window_end_ns(&self) -> Option<Nanoseconds> {
        let next_ns = self.settled_ns.saturating_add(self.options.window_ns);
        let due_ns = if self.has_news { None } else { self.due_ns };
        (self.queued > 0).then(|| due_ns.map_or(next_ns, |due_ns| due_ns.max(next_ns)))
    }

    /// Settles what can be settled of what ended before a time.
    pub(super) fn begin(&mut self, until_ns: Nanoseconds) {
        self.steal.advance(until_ns.saturating_add(self.options.window_ns));
        self.sums.evolution.begin(self.threads.nodes());
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
    }

    /// The window has ended.
    pub(super) fn end(&mut self, until_ns: Nanoseconds, ahead: &Ahead, has_settled: bool) {
        self.due_ns = ahead.due_ns;
        // What was settled may have taught what settles a call that waits: the next window tries again.
        self.has_news = has_settled;
        self.settled_ns = until_ns;
    }

    /// How long calls wait for their other side when this number of them waits.
    pub(super) fn patience_ns(&self, queued: usize) -> u64 {
        if queued > self.options.pending { 0 } else { self.options.patience_ns }
    }

    /// By thread, when the first call ended that is not settled.
    fn first_ends_ns(&self) -> impl Iterator<Item = Nanoseconds> {
        self.threads.iter().filter_map(|thread| Some(thread.queue.front()?.end_ns))
    }

    /// Before this time every call is settled: none waits for its other side.
    pub(super) fn waited_for_ns(&self, until_ns: Nanoseconds) -> Nanoseconds {
        self.first_ends_ns().fold(until_ns, Nanoseconds::min)
    }

    pub(super) fn look_ahead(&self, until_ns: Nanoseconds) -> Ahead {
        let (mut waited_for_ns, mut due_ns) = (until_ns, None);
        for end_ns in self.first_ends_ns() {
            waited_for_ns = waited_for_ns.min(end_ns);
            let waits = end_ns < until_ns;
            let at_ns = if waits { end_ns.saturating_add(self.options.patience_ns) } else { end_ns };
            due_ns = Some(due_ns.map_or(at_ns, |due_ns: Nanoseconds| due_ns.min(at_ns)));
        }
        let window_ns = self.options.window_ns;
        let window_end = |at_ns: Nanoseconds| (at_ns - at_ns % window_ns).saturating_add(window_ns);
        Ahead { waited_for_ns, due_ns: due_ns.map(window_end) }
    }

    /// Paths that are kept for calls whose other side is not known.
    pub(super) fn kept(&self) -> usize {
        self.threads.iter().map(Thread::kept).sum()
    }

    /// Gives up the older half of them.
    pub(super) fn give_up_half(&mut self) {
        for thread in self.threads.iter_mut() {
            self.sums.given_up += thread.give_up_half() as u64;
        }
    }

    /// Calls that ended before a time and wait.
    pub(super) fn overdue(&self, before_ns: Nanoseconds) -> Vec<Overdue> {
        let overdue = |thread: &Thread| {
            let end_ns = thread.queue.front()?.end_ns;
            let Thread { rank, thread, number, .. } = *thread;
            (end_ns < before_ns).then_some(Overdue { end_ns, rank, thread, number })
        };
        self.threads.iter().filter_map(overdue).collect()
    }

    /// A call goes on without its other side.
    pub(super) fn force(&mut self, overdue: &Overdue, until_ns: Nanoseconds) {
        let Some(at) = self.threads.find(overdue.rank, overdue.thread) else { return };
        let thread = &mut self.threads[at as usize];
        // Another that went on may have taken it along.
        if thread.number == overdue.number && !thread.queue.is_empty() {
            thread.is_forced = true;
            self.sums.given_up += 1;
            self.put_on_list(at);
            self.run(until_ns);
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

    /// A loop of polls led to nothing.
    pub(super) fn end_loop(&mut self, thread: ThreadId) {
        for (from_ns, to_ns) in std::mem::take(&mut self.threads[thread as usize].open.rows) {
            self.compute(thread, from_ns, Some(Next::default()));
            self.spend(thread, to_ns, Pieces::only(Cause::Other, to_ns.saturating_sub(from_ns)));
        }
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

    /// The criteria of the window in which a call ended, and that window.
    fn version_for(&self, end_ns: Nanoseconds) -> (Range<Nanoseconds>, Arc<Version>) {
        let begin_ns = end_ns - end_ns % self.options.window_ns;
        let window = begin_ns..begin_ns.saturating_add(self.options.window_ns);
        (window, self.knowledge.versions.version_at(begin_ns))
    }
}
