//! Settling a call that received: which message decided when it returned, and what it was made of.

use super::cut::Pieces;
use super::thread::{Incoming, ThreadId};
use super::waits::WaitState;
use super::whatif::{Gains, Latest, WhatIf};
use super::{Budgeter, Cause, Way};
use crate::criteria::{Scope, Version};
use mpiscope_model::{Activity, Nanoseconds, Rank};

use super::settle::Settled;
use super::thresholds::CLEARLY_LATE_NS;

/// A receive that took less than this part of what its message usually takes found it there.
const HAD_ARRIVED: u64 = 4;
/// Or less than this, where nobody knows what it usually takes.
const HARDLY_NS: u64 = 2_000;

impl Budgeter {
    pub(super) fn leave_receive(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        receives: u16,
        version: &Version,
    ) -> Settled {
        let state = &self.threads[thread as usize];
        let is_forced = state.is_forced;
        if state.received() < usize::from(receives) && !is_forced {
            return Settled::NotYet;
        }
        // Nothing is worked out before all of it can be.
        if !is_forced {
            let has_come = |of: &Incoming| self.threads[of.from as usize].has_come_to(of.number);
            let awaited = state.incoming().find(|of| !has_come(of)).map(|of| (of.from, of.number));
            if let Some((from, number)) = awaited {
                self.wait_for(from, number, thread);
                return Settled::NotYet;
            }
        }
        let mut received = std::mem::take(&mut self.received);
        received.clear();
        received.extend(state.incoming());
        let settled = self.received(thread, call, &received, version);
        self.received = received;
        settled
    }

    /// Settles it with all that it received.
    fn received(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        received: &[Incoming],
        version: &Version,
    ) -> Settled {
        let state = &self.threads[thread as usize];
        // The loop that it ends began where the thread stands.
        let waited_from_ns = state.at_ns;
        let rows_before = !state.open.rows.is_empty();
        let waits_since = if rows_before { waited_from_ns } else { call.start_ns.max(state.at_ns) };
        let (binding, clear) = binding(received, call.end_ns, waits_since, version);
        let Some(binding) = binding else {
            let entry = self.own_entry(thread, call);
            self.end_with(thread, call, None, waits_since, Pieces::only(Cause::Unknown, 0), true);
            return self.done(thread, entry, call);
        };
        let send_ns = binding.send_ns.min(call.end_ns);
        let has_waited = send_ns > waits_since;
        let path = if has_waited { self.way_to(&binding).copied() } else { None };
        let unknown = has_waited && path.is_none();
        let decisive = self.decisive(received, call.end_ns, version).unwrap_or(binding);
        let mut whatif = self.arrivals(thread, call, received, &decisive, version, waits_since);
        let source = self.threads[binding.from as usize].rank;
        let from_ns = send_ns.max(waits_since);
        let took_ns = call.end_ns.saturating_sub(from_ns);
        let saved = binding.inter && self.is_saved(source, call.rank);
        let pieces = Pieces::of_message(version, binding.inter, saved, binding.bytes, took_ns);
        let stalled_ns = self.steal.stalled(call.rank, from_ns, call.end_ns, pieces.excess_ns());
        let pieces = pieces.without_core(stalled_ns);
        let entry = self.own_entry(thread, call);
        let mut spared = Gains::default();
        spared[WhatIf::Cored] = stalled_ns as i64;
        let own = self.threads[thread as usize].path.gains;
        let sender_rank = self.threads[decisive.from as usize].rank;
        let sender = self.way_to(&decisive).map_or(own, |way| way.gains);
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
                self.change_of_distance(version, sender_rank, call.rank, &decisive, None);
            whatif.at(arrived_ns, &sender, &change);
        } else {
            let flight_ns = call.end_ns.saturating_sub(decisive.send_ns).saturating_sub(stalled_ns);
            spared[WhatIf::Placed] =
                self.change_of_distance(version, sender_rank, call.rank, &decisive, Some(flight_ns));
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
            self.learn(version, &binding, took_ns);
        }
        self.unpin_all(received);
        self.done(thread, entry, call)
    }

    /// The path that led to the call that sent a message.
    fn way_to(&self, message: &Incoming) -> Option<&Way> {
        self.threads[message.from as usize].way_to(message.number)
    }

    /// The message that arrived last of all that a call received, by when they were sent and what they usually take.
    pub(super) fn decisive(
        &self,
        received: &[Incoming],
        end_ns: Nanoseconds,
        version: &Version,
    ) -> Option<Incoming> {
        let mut latest: Option<(u64, Incoming)> = None;
        let slowed = self.course.slowed(end_ns);
        for message in received.iter().filter(|message| message.send_ns < end_ns) {
            let mut usual_ns = version.message_ns(Scope::of(message.inter), message.bytes)?;
            if message.inter {
                usual_ns = (usual_ns as f64 * slowed) as u64;
            }
            let arrives_ns = message.send_ns.saturating_add(usual_ns);
            let key = |of: &Incoming, arrives_ns: u64| (arrives_ns, of.send_ns, of.from, of.number);
            if latest.is_none_or(|(at_ns, of)| key(message, arrives_ns) > key(&of, at_ns)) {
                latest = Some((arrives_ns, *message));
            }
        }
        latest.map(|(_, message)| message)
    }

    /// When a call would have returned at the earliest for the messages that did not decide when it did.
    pub(super) fn arrivals(
        &self,
        thread: ThreadId,
        call: &Activity,
        received: &[Incoming],
        binding: &Incoming,
        version: &Version,
        waits_since: Nanoseconds,
    ) -> Latest {
        let state = &self.threads[thread as usize];
        let own = state.path.gains;
        let mut latest = Latest::default();
        latest.at(waits_since, &own, &Gains::default());
        for message in received {
            if (message.from, message.number) == (binding.from, binding.number) {
                continue;
            }
            let way = self.way_to(message);
            let usual_ns = version.message_ns(Scope::of(message.inter), message.bytes).unwrap_or_default();
            let arrives_ns = message.send_ns.saturating_add(usual_ns).min(call.end_ns);
            let source = self.threads[message.from as usize].rank;
            let mut spared = Gains::default();
            spared[WhatIf::Placed] = self.change_of_distance(version, source, call.rank, message, None);
            latest.at(arrives_ns, way.map_or(&own, |way| &way.gains), &spared);
        }
        latest
    }

    /// What the advised placement spares a message that took so long, or what is usual; less than nothing where it
    /// drives its ends apart.
    pub(super) fn change_of_distance(
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

    pub(super) fn learn(&mut self, version: &Version, message: &Incoming, took_ns: u64) {
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
    pub(super) fn unpin_all(&mut self, received: &[Incoming]) {
        for incoming in received {
            let sender = &mut self.threads[incoming.from as usize];
            if incoming.posted_ns > incoming.send_ns + CLEARLY_LATE_NS
                && let Some(until_ns) = sender.blocked_until(incoming.number)
            {
                self.thresholds.learn(incoming.bytes, until_ns >= incoming.posted_ns);
            }
            sender.unpin(incoming.number);
        }
    }
}

/// The receive that decided when a call returned: the most plausible one. Says too whether it stands out from the
/// others by a factor of two.
fn binding(
    received: &[Incoming],
    end_ns: Nanoseconds,
    waits_since: Nanoseconds,
    version: &Version,
) -> (Option<Incoming>, bool) {
    if let [only] = received {
        return (Some(*only), true);
    }
    let criterion = |message: &Incoming| version.message_ns(Scope::of(message.inter), message.bytes);
    let are_known = received.iter().all(|message| !version.is_unknown(Scope::of(message.inter)));
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
