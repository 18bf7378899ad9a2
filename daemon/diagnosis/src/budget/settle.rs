//! Settles a window: each thread goes on, call by call, until it has to wait for another one.

use super::budgeter::Budgeter;
use super::causes::{Cause, Causes};
use super::collectives::Entry;
use super::cut::Pieces;
use super::shard::Shard;
use super::steps::Settled;
use super::thread::{Next, Thread, ThreadId};
use super::window_end::{Report, ShardResult, WindowEnd, later};
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
        let mut report = self.shard.report(until_ns, queued);
        if let Some(too_late_ns) = self.too_late_ns(until_ns, &report) {
            self.force(until_ns, too_late_ns);
            report = self.shard.report(until_ns, queued);
        }
        let end = self.decide(until_ns, &report);
        self.shard.end(&end);
        self.close(&end, &report, Vec::new());
    }

    /// No window before a time has to be settled: nothing ended in them, and no call that waits goes on there.
    pub fn skip(&mut self, until_ns: Nanoseconds) {
        self.skip_all(until_ns, self.shard.waited_for_ns(until_ns));
    }

    /// The same for several shards. None waits for a call that ended before `waited_for_ns`.
    pub fn skip_all(&mut self, until_ns: Nanoseconds, waited_for_ns: Nanoseconds) {
        let whole_ns = until_ns - until_ns % self.shard.options.window_ns;
        if whole_ns > self.shard.settled_ns {
            self.shard.skip(whole_ns);
            self.shard.sums.evolution.close(whole_ns.min(waited_for_ns));
        }
    }

    /// Calls that ended before this have waited too long for their other side; none where there are no such calls.
    #[must_use]
    pub fn too_late_ns(&self, until_ns: Nanoseconds, report: &Report) -> Option<Nanoseconds> {
        let too_late_ns = until_ns.saturating_sub(self.shard.patience_ns(report.queued));
        (report.waited_for_ns < too_late_ns).then_some(too_late_ns)
    }

    /// Calls that waited too long for their other side go on without it, the oldest first.
    fn force(&mut self, until_ns: Nanoseconds, too_late_ns: Nanoseconds) {
        loop {
            let mut all = self.shard.overdue(too_late_ns);
            if all.is_empty() {
                return;
            }
            all.sort_unstable();
            all.iter().for_each(|overdue| self.shard.force(overdue, until_ns));
        }
    }

    /// What is decided at the end of a window for all shards, by the report of all.
    #[must_use]
    pub fn decide(&self, until_ns: Nanoseconds, report: &Report) -> WindowEnd {
        // A window in which nothing was settled taught nothing: whether it is skipped makes no difference.
        let has_settled = report.has_settled();
        WindowEnd { until_ns, has_settled, gives_up: has_settled && report.kept > self.shard.options.kept }
    }

    /// The window has ended: what it taught holds for those after it. Shares come from the other shards.
    pub fn close(&mut self, end: &WindowEnd, report: &Report, shares: Vec<ShardResult>) {
        let Self { shard, learning, furthest, .. } = self;
        let until_ns = end.until_ns;
        if shares.is_empty() {
            shard.take_observed(|observed| {
                learning.take(observed);
                observed.clear();
            });
        } else {
            let mut observed = shard.share_observed();
            for share in shares {
                observed.extend(share.observed);
                shard.sums.merge(share.sums);
                *furthest = later(*furthest, share.furthest);
            }
            observed.sort_unstable_by_key(|of| (of.rank, of.thread));
            observed.iter().for_each(|observed| learning.take(observed));
        }
        if end.has_settled {
            let oldest_ns = until_ns.saturating_sub(shard.options.patience_ns + 2 * shard.options.window_ns);
            learning.close(until_ns, oldest_ns, &shard.sums.work, &mut shard.knowledge);
        }
        shard.sums.evolution.close(report.waited_for_ns);
        shard.knowledge.limits = shard.sums.close();
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

mpiscope_model::numbers! { Overdue { end_ns, rank, thread, number } }

impl Shard {
    /// The end of the next window that has to be settled for its calls. None when no call waits.
    #[must_use]
    pub fn next_window_end_ns(&self) -> Option<Nanoseconds> {
        let next_ns = self.settled_ns.saturating_add(self.options.window_ns);
        let due_ns = if self.has_news { None } else { self.due_ns };
        (self.queued > 0).then(|| due_ns.map_or(next_ns, |due_ns| due_ns.max(next_ns)))
    }

    /// Settles what can be settled of what ended before a time.
    pub fn begin(&mut self, until_ns: Nanoseconds) {
        self.steal.advance(until_ns.saturating_add(self.options.window_ns));
        self.sums.evolution.begin(self.threads.nodes());
        self.sums.reach(until_ns, self.threads.nodes().len());
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

    /// How long calls wait for their other side when this number of them waits.
    pub(super) fn patience_ns(&self, queued: usize) -> u64 {
        if queued > self.options.pending { 0 } else { self.options.patience_ns }
    }

    /// By thread, when the first call ended that is not settled.
    fn first_ends_ns(&self) -> impl Iterator<Item = Nanoseconds> {
        self.threads.iter().filter_map(|thread| Some(thread.queue.front()?.end_ns))
    }

    /// Before this time every call is settled: none waits for its other side.
    #[must_use]
    pub fn waited_for_ns(&self, until_ns: Nanoseconds) -> Nanoseconds {
        self.first_ends_ns().fold(until_ns, Nanoseconds::min)
    }

    /// The end of the first window after a time in which a call ends or patience does.
    pub(super) fn first_due_ns(&self, until_ns: Nanoseconds) -> Option<Nanoseconds> {
        let due_ns = |end_ns: Nanoseconds| {
            let waits = end_ns < until_ns;
            if waits { end_ns.saturating_add(self.options.patience_ns) } else { end_ns }
        };
        let window_ns = self.options.window_ns;
        let window_end = |at_ns: Nanoseconds| (at_ns - at_ns % window_ns).saturating_add(window_ns);
        self.first_ends_ns().map(due_ns).min().map(window_end)
    }

    /// No window before a time has to be settled.
    pub fn skip(&mut self, whole_ns: Nanoseconds) {
        self.settled_ns = whole_ns;
    }

    /// Gives up the older half of the paths that are kept for calls whose other side is not known.
    pub(super) fn give_up_half(&mut self) {
        for thread in self.threads.iter_mut() {
            self.sums.given_up += thread.give_up_half() as u64;
        }
    }

    /// Calls that ended before a time and wait.
    #[must_use]
    pub fn overdue(&self, before_ns: Nanoseconds) -> Vec<Overdue> {
        let overdue = |thread: &Thread| {
            let end_ns = thread.queue.front()?.end_ns;
            let Thread { rank, thread, number, .. } = *thread;
            (end_ns < before_ns).then_some(Overdue { end_ns, rank, thread, number })
        };
        self.threads.iter().filter_map(overdue).collect()
    }

    /// A call goes on without its other side, if it is of this shard and still waits.
    pub fn force(&mut self, overdue: &Overdue, until_ns: Nanoseconds) {
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
            self.put_woken_on_list();
        }
    }

    pub(super) fn put_woken_on_list(&mut self) {
        while let Some(woken) = self.scratch.woken.pop() {
            self.put_on_list(woken);
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
        self.threads[thread as usize].is_entered = true;
        self.wake_waiters(thread);
        if let Effect::Collective(of) | Effect::Start(of) = &call.effect {
            let state = &self.threads[thread as usize];
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
