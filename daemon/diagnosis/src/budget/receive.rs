//! Settles a call that received: which message decided when it returned, and its pieces.

use super::causes::{Cause, Causes};
use super::cut::Pieces;
use super::observation::Observation;
use super::options::Latency;
use super::shard::Shard;
use super::steps::Settled;
use super::thread::{Incoming, ThreadId};
use super::thresholds::CLEARLY_LATE_NS;
use super::waits::WaitState;
use super::window_budget::Spared;
use crate::criteria::{Scope, Version};
use mpiscope_model::{Activity, MessageTime, Nanoseconds};

/// A receive that took less than this part of the expected transfer time found its message there.
const HAD_ARRIVED: u64 = 4;
/// Or less than this, where the expected transfer time is unknown.
const HARDLY_NS: u64 = 2_000;

impl Shard {
    pub(super) fn leave_receive(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        receives: u16,
        version: &Version,
    ) -> Settled {
        if self.awaits_messages(thread, receives) {
            return Settled::NotYet;
        }
        self.receive_all(thread, call, version)
    }

    /// Whether not all of what a call received is known, or what led to it; then the thread will be woken.
    pub(super) fn awaits_messages(&mut self, thread: ThreadId, receives: u16) -> bool {
        let state = &self.threads[thread as usize];
        if state.is_forced {
            return false;
        }
        if state.received() < usize::from(receives) {
            return true;
        }
        // Nothing is worked out before all of it can be.
        let has_come = |of: &Incoming| self.threads[of.from as usize].has_come_to(of.number);
        let awaited = state.incoming().find(|of| !has_come(of)).map(|of| (of.from, of.number));
        if let Some((from, number)) = awaited {
            self.wait_for(from, number, thread);
        }
        awaited.is_some()
    }

    /// Settles it with all that it received.
    pub(super) fn receive_all(&mut self, thread: ThreadId, call: &Activity, version: &Version) -> Settled {
        let mut received = std::mem::take(&mut self.scratch.received);
        received.clear();
        received.extend(self.threads[thread as usize].incoming());
        let settled = self.received(thread, call, &received, version);
        self.scratch.received = received;
        settled
    }

    /// Settles a call of whose messages nothing is known.
    fn received_nothing(&mut self, thread: ThreadId, call: &Activity, waits_since: Nanoseconds) -> Settled {
        let entry = self.own_entry(thread, call);
        self.end_with(thread, call, None, waits_since, Pieces::only(Cause::Unknown, 0), true);
        self.done(thread, entry, call)
    }

    fn received(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        received: &[Incoming],
        version: &Version,
    ) -> Settled {
        let state = &self.threads[thread as usize];
        let waits_since = state.waits_since(call);
        let (binding, clear) = binding(received, call.end_ns, waits_since, version);
        let Some(binding) = binding else {
            return self.received_nothing(thread, call, waits_since);
        };
        let send_ns = binding.send_ns.min(call.end_ns);
        let has_waited = send_ns > waits_since;
        let path = if has_waited { self.path_to(&binding).copied() } else { None };
        let unknown = has_waited && path.is_none();
        let decisive = self.decisive(received, call.end_ns, version).unwrap_or(binding);
        let source = self.threads[binding.from as usize].rank;
        let from_ns = send_ns.max(waits_since);
        let took_ns = call.end_ns.saturating_sub(from_ns);
        let saved = binding.inter && self.is_saved(source, call.rank);
        let pieces = Pieces::of_message(version, binding.inter, saved, binding.bytes, took_ns);
        let stalled_ns = self.steal.stalled(call.rank, from_ns, call.end_ns, pieces.excess_ns());
        let pieces = pieces.without_core(stalled_ns);
        let entry = self.own_entry(thread, call);
        let spared = self.spared_by_causes(thread, call, &decisive, waits_since, stalled_ns, version);
        self.sums.ledger.spared(call.rank, call.end_ns, spared);
        self.end_with(thread, call, path, from_ns, pieces, unknown);
        if has_waited {
            self.note_wait(WaitState::LateSender, call, source, from_ns - waits_since);
        }
        if binding.certain && clear {
            self.learn_latency(thread, version, &binding, call, waits_since, took_ns);
        }
        self.unpin_all(thread, call, received);
        self.done(thread, entry, call)
    }

    /// What the deciding message of a call would be spared without each cause.
    fn spared_by_causes(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        decisive: &Incoming,
        waits_since: Nanoseconds,
        stalled_ns: u64,
        version: &Version,
    ) -> Spared {
        let mut spared = Spared { cored_ns: stalled_ns, ..Spared::default() };
        // Within a node neither the placement nor the network costs anything.
        if !decisive.inter {
            return spared;
        }
        // A message that was sent before its receiver came had arrived, or was on its way and had to be waited for.
        let waited_ns = call.end_ns.saturating_sub(decisive.send_ns.max(waits_since));
        let is_late = decisive.send_ns > waits_since;
        let had_arrived = !is_late && waited_ns <= taking_ns(version, decisive.bytes);
        if had_arrived {
            let at_most_ns = waits_since.saturating_sub(decisive.send_ns);
            self.arrived(thread, call.end_ns, decisive.bytes, at_most_ns);
        } else {
            let flight_ns = call.end_ns.saturating_sub(decisive.send_ns).saturating_sub(stalled_ns);
            let sender = self.threads[decisive.from as usize].rank;
            if self.is_saved(sender, call.rank) {
                spared.placed_ns = spared_if_near(version, decisive.bytes, flight_ns);
            }
            spared.quiet_ns = self.flight(thread, call.end_ns, decisive.bytes, flight_ns);
        }
        spared
    }

    /// Learns from an exact message, by the definition of latency that was chosen.
    fn learn_latency(
        &mut self,
        thread: ThreadId,
        version: &Version,
        message: &Incoming,
        call: &Activity,
        waits_since: Nanoseconds,
        took_ns: u64,
    ) {
        match self.options.latency {
            Latency::Felt if message.send_ns < waits_since => {}
            Latency::Felt => self.learn(thread, version, message, call, took_ns),
            Latency::Span => {
                self.learn(thread, version, message, call, call.end_ns.saturating_sub(message.send_ns));
            }
        }
    }

    /// The path that led to the call that sent a message.
    fn path_to(&self, message: &Incoming) -> Option<&Causes> {
        self.threads[message.from as usize].path_to(message.number)
    }

    /// The message that most likely arrived last of those that a call received: the one whose time is nearest to the
    /// expected transfer time at that moment.
    pub(super) fn decisive(
        &self,
        received: &[Incoming],
        end_ns: Nanoseconds,
        version: &Version,
    ) -> Option<Incoming> {
        let slowed = self.knowledge.course.slowed(end_ns);
        let mut nearest: Option<(f64, Incoming)> = None;
        for message in received.iter().filter(|message| message.send_ns < end_ns) {
            let usual_ns = version.message_ns(Scope::between_nodes(message.inter), message.bytes)?.max(1);
            let usual_ns = if message.inter {
                let quiet_ns = self.knowledge.course.quiet_ns(end_ns, message.bytes, usual_ns);
                quiet_ns as f64 * slowed
            } else {
                usual_ns as f64
            };
            let off = ((end_ns - message.send_ns) as f64 / usual_ns).ln().abs();
            let sender = |of: &Incoming| self.threads[of.from as usize].rank;
            let is_nearer = nearest.is_none_or(|(least, of)| {
                (off, of.send_ns, sender(&of), of.number)
                    < (least, message.send_ns, sender(message), message.number)
            });
            if is_nearer {
                nearest = Some((off, *message));
            }
        }
        nearest.map(|(_, message)| message)
    }

    fn learn(
        &mut self,
        thread: ThreadId,
        version: &Version,
        message: &Incoming,
        call: &Activity,
        took_ns: u64,
    ) {
        let scope = Scope::between_nodes(message.inter);
        let mut ratio = None;
        if let Some(criterion_ns) = version.message_ns(scope, message.bytes) {
            let end_ns = message.send_ns + took_ns;
            let window = self.sums.ledger.window(end_ns.saturating_sub(1));
            let exact = if message.inter { &mut window.inter } else { &mut window.intra };
            exact.messages += 1;
            let normal_ns = version.normal_ns(scope, message.bytes).unwrap_or(criterion_ns);
            let time = MessageTime { took_ns, expected_ns: criterion_ns, normal_ns };
            ratio = Some(time.ratio());
            exact.delayed += u64::from(time.is_delayed());
            exact.took_ns += took_ns;
            exact.criterion_ns += criterion_ns;
            let source = self.threads[message.from as usize].rank;
            self.sums.exchanged.lateness.message(source, call.rank, time);
            self.sums.evolution.exact(call.end_ns, source, call.rank, time);
        }
        self.observe(thread, Observation::Message { scope, bytes: message.bytes, took_ns, ratio });
    }

    /// What a settled call asked of others is not asked any more, and sizes that wait are learnt. Messages are counted.
    pub(super) fn unpin_all(&mut self, thread: ThreadId, call: &Activity, received: &[Incoming]) {
        for incoming in received {
            let sender = &self.threads[incoming.from as usize];
            self.sums.evolution.message(call.end_ns, sender.rank, call.rank);
            if incoming.posted_ns > incoming.send_ns + CLEARLY_LATE_NS
                && let Some(until_ns) = sender.blocked_until(incoming.number)
            {
                let has_waited = until_ns >= incoming.posted_ns;
                let late = Observation::LateReceive { bytes: incoming.bytes, has_waited };
                self.observe(thread, late);
            }
            self.threads[incoming.from as usize].unpin(incoming.number);
        }
    }
}

/// What a message between nodes would be spared within one.
fn spared_if_near(version: &Version, bytes: u64, flight_ns: u64) -> u64 {
    let usual_ns = |scope| version.message_ns(scope, bytes);
    let (Some(near_ns), Some(far_ns)) = (usual_ns(Scope::Intra), usual_ns(Scope::Inter)) else { return 0 };
    let share = near_ns as f64 / far_ns.max(1) as f64;
    (flight_ns as f64 * (1.0 - share).max(0.0)) as u64
}

/// What it takes at most to receive a message of another node that is there already. Within a node all of it is copying:
/// whoever takes longer than that had to wait for it.
fn taking_ns(version: &Version, bytes: u64) -> u64 {
    let Some(usual_ns) = version.message_ns(Scope::Inter, bytes) else {
        return HARDLY_NS;
    };
    let part_ns = usual_ns / HAD_ARRIVED;
    version.message_ns(Scope::Intra, bytes).map_or(part_ns, |within_ns| within_ns.min(part_ns))
}

/// The receive that decided when a call returned: the most plausible one. Says too whether it stands out from the
/// others by a factor of two.
pub(super) fn binding(
    received: &[Incoming],
    end_ns: Nanoseconds,
    waits_since: Nanoseconds,
    version: &Version,
) -> (Option<Incoming>, bool) {
    if let [only] = received {
        return (Some(*only), true);
    }
    let criterion =
        |message: &Incoming| version.message_ns(Scope::between_nodes(message.inter), message.bytes);
    let are_known = received.iter().all(|message| !version.is_unknown(Scope::between_nodes(message.inter)));
    let mut best: Option<(f64, Incoming)> = None;
    let mut second = f64::INFINITY;
    for message in received {
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
