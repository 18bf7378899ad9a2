//! A call is over: the thread goes on along the way that led there, and the ledger gets its pieces.

use super::cut::Pieces;
use super::thread::ThreadId;
use super::waits::{SiteWaiting, WaitKey, WaitState};
use super::{Budgeter, Cause, Causes};
use mpiscope_model::{Activity, Nanoseconds, Rank};

impl Budgeter {
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

    /// The call is over: until `from_ns` it waited along another's path (or its own, or nobody knows), then come the
    /// pieces. What lies in the loop before it and outside of calls is computing.
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
        let (mut rows, mut waiting) = std::mem::take(&mut self.rows);
        rows.clear();
        waiting.clear();
        rows.append(&mut state.open.rows);
        rows.push((start_ns, call.end_ns.max(start_ns)));
        let until_ns = from_ns.max(since_ns);
        // Time before `from_ns` in calls, and between them.
        waiting
            .extend(rows.iter().map(|&(from, to)| (from, to.min(until_ns))).filter(|(from, to)| from < to));
        let in_calls: u64 = waiting.iter().map(|(from, to)| to - from).sum();
        let between_ns = (until_ns - since_ns).saturating_sub(in_calls);
        let mut at_ns = since_ns;
        for &(from, to) in &waiting {
            self.ledger.compute(rank, at_ns, from.max(at_ns), 0);
            at_ns = to;
        }
        self.ledger.compute(rank, at_ns, until_ns, 0);
        let mut led = own;
        if let Some(path) = path {
            led = path;
            // Clocks of two nodes agree only so far.
            led[Cause::Unknown] += until_ns as i64 - led.sum();
            let mut by = led - own;
            by[Cause::Compute] -= between_ns as i64;
            self.ledger.waiting(rank, &waiting, by);
            if in_calls > 0 {
                self.site_waits.at(call.site).add(&SiteWaiting { waited_ns: in_calls, by });
            }
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
            self.ledger.direct(rank, Cause::Unknown, from.max(at_ns), to);
        }
        let end_ns = call.end_ns.max(until_ns);
        led[Cause::Unknown] += end_ns.saturating_sub(at_ns) as i64;
        let state = &mut self.threads[thread as usize];
        (state.path, state.at_ns) = (led, end_ns);
        self.rows = (rows, waiting);
    }

    pub(super) fn note_wait(&mut self, state: WaitState, call: &Activity, awaited: Rank, waited_ns: u64) {
        if waited_ns > 0 {
            let (function, site, waiter) = (call.function, call.site, call.rank);
            let key = WaitKey { state, function, site, waiter, awaited };
            self.waits.add(key, call.start_ns, waited_ns);
        }
    }
}
