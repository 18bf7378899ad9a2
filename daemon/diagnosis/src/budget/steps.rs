//! The steps of a thread: it goes along its own way, or has to wait for another thread to come to a call.

use super::causes::{Cause, Causes};
use super::cut::Pieces;
use super::shard::Shard;
use super::thread::{Next, ThreadId};
use super::window_budget::Spared;
use mpiscope_model::{Activity, Nanoseconds, Rank};

/// What became of an attempt to settle a call.
pub(super) enum Settled {
    Yes,
    /// Its thread has been put where it will be woken, or the next window tries again.
    NotYet,
}

impl Shard {
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
        let balanced_ns = self.worked(thread, (from_ns, until_ns), worked_ns, function);
        self.sums.ledger.compute(rank, from_ns, until_ns, cpu_wait_ns);
        self.sums.ledger.spared(
            rank,
            until_ns,
            Spared { cored_ns: cpu_wait_ns, balanced_ns, ..Spared::default() },
        );
    }

    /// The thread goes along its own way: the pieces fill the time until `until_ns`.
    pub(super) fn spend(&mut self, thread: ThreadId, until_ns: Nanoseconds, pieces: Pieces) {
        let state = &mut self.threads[thread as usize];
        let (rank, mut at_ns) = (state.rank, state.at_ns);
        for (cause, ns) in pieces.iter() {
            let to_ns = at_ns.saturating_add(ns).min(until_ns);
            state.path[cause] += to_ns.saturating_sub(at_ns) as i64;
            self.sums.ledger.direct(rank, cause, at_ns, to_ns);
            at_ns = at_ns.max(to_ns);
        }
        state.at_ns = at_ns;
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
        self.wake_waiters(thread);
        let of_rank = self.sums.ledger.rank(call.rank);
        of_rank.until_ns = of_rank.until_ns.max(call.end_ns);
        Settled::Yes
    }

    pub(super) fn is_saved(&self, one: Rank, other: Rank) -> bool {
        self.knowledge.advised.as_ref().is_some_and(|nodes| {
            let node = |rank: Rank| nodes.get(rank.index());
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
