//! A call is over: the thread goes on along the way that led there, and the ledger gets its pieces.

use super::causes::{Cause, Causes};
use super::cut::Pieces;
use super::shard::Shard;
use super::thread::{Row, ThreadId};
use super::waits::{SiteWaiting, WaitKey, WaitState};
use mpiscope_model::{Activity, Nanoseconds, Rank};
use std::ops::Range;

impl Shard {
    /// The path to the entry of a call itself, whether or not a loop of polls came before it.
    pub(super) fn own_entry(&self, thread: ThreadId, call: &Activity) -> Causes {
        let state = &self.threads[thread as usize];
        let mut path = state.path;
        let mut at_ns = state.at_ns;
        for &(from_ns, to_ns) in &state.open.rows {
            path[Cause::Compute] += from_ns.saturating_sub(at_ns) as i64;
            path[Cause::Other] += to_ns.saturating_sub(from_ns.max(at_ns)) as i64;
            at_ns = at_ns.max(to_ns);
        }
        path[Cause::Compute] += call.start_ns.saturating_sub(at_ns) as i64;
        path
    }

    /// The call is over: until `from_ns` it waited along another's path (or its own, or an unknown one), then come the
    /// pieces. Time of the loop before it and outside of calls is computing.
    pub(super) fn end_with(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        path: Option<Causes>,
        from_ns: Nanoseconds,
        pieces: Pieces,
        unknown: bool,
    ) {
        let state = &mut self.threads[thread as usize];
        let (rank, own, since_ns) = (state.rank, state.path, state.at_ns);
        let start_ns = call.start_ns.max(since_ns);
        if state.open.rows.is_empty() && from_ns <= start_ns && path.is_none() && !unknown {
            // It did not wait: the usual case.
            self.spend(thread, call.end_ns, pieces);
            return;
        }
        let (mut rows, mut waiting) = std::mem::take(&mut self.scratch.rows);
        rows.clear();
        waiting.clear();
        rows.append(&mut state.open.rows);
        rows.push((start_ns, call.end_ns.max(start_ns)));
        let until_ns = from_ns.max(since_ns);
        // Time before `from_ns` in calls, and between them.
        waiting
            .extend(rows.iter().map(|&(from, to)| (from, to.min(until_ns))).filter(|(from, to)| from < to));
        let mut led = self.charge_waiting(call, (rank, own), path, since_ns..until_ns, &waiting);
        let at_ns = self.charge_pieces(rank, &mut led, pieces, until_ns, &rows);
        let end_ns = call.end_ns.max(until_ns);
        led[Cause::Unknown] += end_ns.saturating_sub(at_ns) as i64;
        let state = &mut self.threads[thread as usize];
        (state.path, state.at_ns) = (led, end_ns);
        self.scratch.rows = (rows, waiting);
    }

    /// Charges the time until a call was served: `waiting` are its parts in calls, the rest is computing. Returns the
    /// path at the end of that time, which is another thread's if one is given.
    fn charge_waiting(
        &mut self,
        call: &Activity,
        (rank, own): (Rank, Causes),
        path: Option<Causes>,
        time: Range<Nanoseconds>,
        waiting: &[Row],
    ) -> Causes {
        let in_calls: u64 = waiting.iter().map(|(from, to)| to - from).sum();
        let between_ns = (time.end - time.start).saturating_sub(in_calls);
        let mut at_ns = time.start;
        for &(from, to) in waiting {
            self.sums.ledger.compute(rank, at_ns, from.max(at_ns), 0);
            at_ns = to;
        }
        self.sums.ledger.compute(rank, at_ns, time.end, 0);
        let Some(mut led) = path else {
            for &(from, to) in waiting {
                self.sums.ledger.direct(rank, Cause::Unknown, from, to);
            }
            let mut led = own;
            led[Cause::Unknown] += in_calls as i64;
            led[Cause::Compute] += between_ns as i64;
            return led;
        };
        // Clocks of two nodes agree only so far.
        led[Cause::Unknown] += time.end as i64 - led.sum();
        let mut by = led - own;
        by[Cause::Compute] -= between_ns as i64;
        self.sums.ledger.waiting(rank, waiting, by);
        if in_calls > 0 {
            self.sums.site_waits.value_mut(call.site).add(&SiteWaiting { waited_ns: in_calls, by });
        }
        led
    }

    /// Charges the pieces of a call from a time on, as far as they lie in calls. Returns where they end.
    fn charge_pieces(
        &mut self,
        rank: Rank,
        led: &mut Causes,
        pieces: Pieces,
        from_ns: Nanoseconds,
        rows: &[Row],
    ) -> Nanoseconds {
        let mut at_ns = from_ns;
        for (cause, ns) in pieces.iter() {
            led[cause] += ns as i64;
            for &(from, to) in rows {
                self.sums.ledger.direct(rank, cause, from.max(at_ns), to.min(at_ns + ns));
            }
            at_ns += ns;
        }
        let mut after_ns = from_ns;
        for &(from, to) in rows {
            self.sums.ledger.compute(rank, after_ns, from.max(after_ns), 0);
            after_ns = after_ns.max(to);
            self.sums.ledger.direct(rank, Cause::Unknown, from.max(at_ns), to);
        }
        at_ns
    }

    pub(super) fn note_wait(&mut self, state: WaitState, call: &Activity, awaited: Rank, waited_ns: u64) {
        if waited_ns > 0 {
            let (function, site, waiter) = (call.function, call.site, call.rank);
            let key = WaitKey { state, function, site, waiter, awaited };
            self.sums.waits.add(key, call.start_ns, waited_ns);
        }
    }
}
