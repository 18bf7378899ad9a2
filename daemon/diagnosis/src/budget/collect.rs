//! Settling a call that completed collectives which earlier calls had entered, perhaps with messages beside them.

use super::collectives::{Awaited, Entry, Started};
use super::cut::Pieces;
use super::meet::wait_state;
use super::observation::Observation;
use super::receive::binding;
use super::shard::Shard;
use super::steps::Settled;
use super::thread::{Incoming, ThreadId};
use super::window_budget::Spared;
use crate::criteria::{Scope, Version};
use mpiscope_model::{Activity, Collected, Effect, Nanoseconds, Rank};

/// A collective that a call completed, and whom its member waited for.
type Completed = (Started, Option<Entry>);

impl Shard {
    pub(super) fn leave_collected(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        version: &Version,
    ) -> Settled {
        let all: Vec<Collected> = self.threads[thread as usize].collected().copied().collect();
        let Some(completed) = self.completed(thread, call.rank, &all) else { return Settled::NotYet };
        let receives = if let Effect::Transfer { receives, .. } = call.effect { receives } else { 0 };
        if self.awaits_messages(thread, receives) {
            return Settled::NotYet;
        }
        let state = &self.threads[thread as usize];
        let waits_since = state.waits_since(call);
        let received: Vec<Incoming> = state.incoming().copied().collect();
        let decided = self.decided(call, &completed, waits_since, version);
        let message = binding(&received, call.end_ns, waits_since, version).0;
        let messages_decide = message.is_some_and(|message| {
            decided.is_none_or(|decided| {
                self.is_message_likelier(call, &message, &decided, waits_since, version)
            })
        });
        let settled = if messages_decide {
            self.receive_all(thread, call, version)
        } else {
            let is_alone = all.len() == 1 && received.is_empty();
            let only = completed.first().filter(|_| is_alone).map(|(started, _)| *started);
            self.collected(thread, call, (decided, only), (waits_since, &received), version)
        };
        all.iter().for_each(|of| self.collectives.finish(of));
        settled
    }

    /// Whether a call more likely waited for a message than for a collective.
    fn is_message_likelier(
        &self,
        call: &Activity,
        message: &Incoming,
        (started, member): &(Started, Entry),
        waits_since: Nanoseconds,
        version: &Version,
    ) -> bool {
        let key = self.key_of(started.function, &started.of, call.rank);
        let of_message = (
            call.end_ns.saturating_sub(message.send_ns.max(waits_since)),
            version.message_ns(Scope::between_nodes(message.inter), message.bytes),
        );
        let of_collective =
            (call.end_ns.saturating_sub(member.start_ns.max(waits_since)), version.collective_ns(&key));
        is_likelier(of_message, of_collective)
    }

    /// What is known of the collectives that a call completed; none when something is not known yet that will be.
    fn completed(&mut self, thread: ThreadId, rank: Rank, all: &[Collected]) -> Option<Vec<Completed>> {
        let is_forced = self.threads[thread as usize].is_forced;
        let mut completed = Vec::with_capacity(all.len());
        for of in all {
            let Some(started) = self.collectives.started(of) else {
                // Another thread may have started it and not have come to that. Else its start was lost.
                if !is_forced && self.threads.has_others(rank) {
                    self.collectives.wait_for_start(of, thread);
                    return None;
                }
                continue;
            };
            match self.collectives.awaited(&started.of, rank, is_forced) {
                Awaited::NotYet => {
                    self.collectives.wait(&started.of, thread);
                    return None;
                }
                Awaited::Nobody => completed.push((started, None)),
                Awaited::Member(entry) => completed.push((started, Some(entry))),
            }
        }
        Some(completed)
    }

    /// The collective that most likely decided when a call returned.
    fn decided(
        &self,
        call: &Activity,
        completed: &[Completed],
        waits_since: Nanoseconds,
        version: &Version,
    ) -> Option<(Started, Entry)> {
        let took = |(started, member): &(Started, Entry)| {
            let key = self.key_of(started.function, &started.of, call.rank);
            let took_ns = call.end_ns.saturating_sub(member.start_ns.max(waits_since));
            (took_ns, version.collective_ns(&key))
        };
        let awaiting = completed.iter().filter_map(|(started, member)| Some((*started, (*member)?)));
        awaiting.reduce(|best, other| if is_likelier(took(&other), took(&best)) { other } else { best })
    }

    /// Settles it by the collective that decided, if one did. `only` is the one that it completed, where it is one.
    fn collected(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        (decided, only): (Option<(Started, Entry)>, Option<Started>),
        (waits_since, received): (Nanoseconds, &[Incoming]),
        version: &Version,
    ) -> Settled {
        let is_forced = self.threads[thread as usize].is_forced;
        let awaited = decided.filter(|(_, member)| member.start_ns.min(call.end_ns) > waits_since);
        let from_ns = awaited.map_or(waits_since, |(_, member)| member.start_ns.min(call.end_ns));
        // A path that leads beyond this call's end would be a clock that is wrong.
        let path =
            awaited.filter(|(_, member)| member.start_ns <= call.end_ns).map(|(_, member)| member.path);
        if let Some((started, member)) = awaited {
            self.note_wait(wait_state(&started.of), call, member.rank, from_ns - waits_since);
        }
        let took_ns = call.end_ns.saturating_sub(from_ns);
        let key = decided.map(|(started, _)| self.key_of(started.function, &started.of, call.rank));
        let pieces = Pieces::of_collective(key.and_then(|key| version.collective_ns(&key)), took_ns);
        let stalled_ns = self.steal.stalled(call.rank, from_ns, call.end_ns, pieces.excess_ns());
        let pieces = pieces.without_core(stalled_ns);
        let mut spared = Spared { cored_ns: stalled_ns, ..Spared::default() };
        // Where it did not wait, nobody knows how much of the collective was left for it to wait for.
        let felt = key.filter(|_| awaited.is_some() && !is_forced);
        if let Some(key) = felt {
            let own_ns = took_ns - stalled_ns;
            spared.quiet_ns = self.part(thread, call.end_ns, key, own_ns);
        }
        self.sums.ledger.spared(call.rank, call.end_ns, spared);
        let entry = self.own_entry(thread, call);
        self.end_with(thread, call, path, from_ns, pieces, awaited.is_some() && path.is_none());
        self.unpin_all(thread, call, received);
        if let Some(key) = felt.filter(|_| only.is_some()) {
            self.observe(thread, Observation::Collective { key, took_ns });
        }
        self.done(thread, entry, call)
    }
}

/// Which of two messages or collectives decided when a call returned: the one nearer to its expected time, or the
/// later one where an expected time is unknown.
fn is_likelier((took_ns, usual_ns): (u64, Option<u64>), other: (u64, Option<u64>)) -> bool {
    match (usual_ns, other.1) {
        (Some(usual_ns), Some(usual_of_other_ns)) => {
            let times = |took_ns: u64, usual_ns: u64| took_ns.max(1) as f64 / usual_ns.max(1) as f64;
            times(took_ns, usual_ns) < times(other.0, usual_of_other_ns)
        }
        _ => took_ns < other.0,
    }
}
