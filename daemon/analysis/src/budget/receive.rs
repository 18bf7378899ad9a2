//! Settling a call that received: which message decided when it returned, and what it was made of.

use super::cut::Pieces;
use super::thread::{Incoming, ThreadId};
use super::waits::WaitState;
use super::whatif::{Gains, Latest, WhatIf};
use super::{Budgeter, Cause, Latency, Way};
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
        // What it did before was another task, which would have been somebody else's.
        if self.threads[decisive.from as usize].serving.deals_to(thread) {
            whatif = Latest::default();
            self.threads[thread as usize].is_dealt = true;
        }
        // A message that was sent before its receiver came had arrived, or was on its way and had to be waited for.
        let usual_ns = version.message_ns(Scope::of(decisive.inter), decisive.bytes);
        let waited_ns = call.end_ns.saturating_sub(decisive.send_ns.max(waits_since));
        let is_late = decisive.send_ns > waits_since;
        if !is_late && waited_ns <= taking_ns(version, &decisive) {
            whatif.at(call.end_ns, &own, &spared);
            if decisive.inter {
                let at_most_ns = waits_since.saturating_sub(decisive.send_ns);
                self.course.arrived(call.end_ns, decisive.bytes, at_most_ns);
            }
            let arrived_ns = decisive.send_ns.saturating_add(usual_ns.unwrap_or_default()).min(waits_since);
            let mut change = Gains::default();
            if self.threads[thread as usize].works_for_others {
                change[WhatIf::Balanced] = arrived_ns.saturating_sub(decisive.send_ns) as i64;
            }
            change[WhatIf::Placed] =
                self.change_of_distance(version, sender_rank, call.rank, &decisive, None);
            let gained = self.counts(thread, call, &decisive, sender, change);
            whatif.at(arrived_ns, &gained, &Gains::default());
        } else {
            let flight_ns = call.end_ns.saturating_sub(decisive.send_ns).saturating_sub(stalled_ns);
            spared[WhatIf::Placed] =
                self.change_of_distance(version, sender_rank, call.rank, &decisive, Some(flight_ns));
            if decisive.inter && spared[WhatIf::Placed] > 0 {
                spared[WhatIf::Placed] -=
                    self.late_among_others(received, call.rank, version, &decisive, flight_ns);
            }
            // Who works where its work is need not send it.
            if self.threads[thread as usize].works_for_others {
                spared[WhatIf::Balanced] = flight_ns as i64;
            }
            if decisive.inter {
                spared[WhatIf::Quiet] = self.course.message(call.end_ns, decisive.bytes, flight_ns) as i64;
            }
            let gained = self.counts(thread, call, &decisive, sender, spared);
            whatif.at(call.end_ns, &gained, &Gains::default());
        }
        self.ledger.spared(call.end_ns, &spared);
        self.end_with(thread, call, path, from_ns, pieces, unknown);
        self.threads[thread as usize].path.gains = whatif.gains(call.end_ns);
        if has_waited {
            self.note_wait(WaitState::LateSender, call, source, from_ns - waits_since);
        }
        if binding.certain && clear {
            match self.options.latency {
                Latency::Felt if binding.send_ns < waits_since => {}
                Latency::Felt => self.learn(version, &binding, call, took_ns),
                Latency::Span => {
                    self.learn(version, &binding, call, call.end_ns.saturating_sub(binding.send_ns));
                }
            }
        }
        self.unpin_all(received);
        self.done(thread, entry, call)
    }

    /// The path that led to the call that sent a message.
    fn way_to(&self, message: &Incoming) -> Option<&Way> {
        self.threads[message.from as usize].way_to(message.number)
    }

    /// What a message's way gained, with what it is spared itself, counts for its receiver.
    fn counts(
        &mut self,
        thread: ThreadId,
        call: &Activity,
        message: &Incoming,
        mut way: Gains,
        spared: Gains,
    ) -> Gains {
        way += spared;
        let state = &mut self.threads[thread as usize];
        let is_alone = state.received() <= 1;
        if is_alone { state.serving.come(message.from, call.end_ns, way) } else { way }
    }

    /// The message that most likely arrived last of all that a call received: the one whose time is nearest to what it
    /// usually takes at such a time.
    pub(super) fn decisive(
        &self,
        received: &[Incoming],
        end_ns: Nanoseconds,
        version: &Version,
    ) -> Option<Incoming> {
        let slowed = self.course.slowed(end_ns);
        let mut nearest: Option<(f64, Incoming)> = None;
        for message in received.iter().filter(|message| message.send_ns < end_ns) {
            let usual_ns = version.message_ns(Scope::of(message.inter), message.bytes)?.max(1);
            let usual_ns = if message.inter {
                let quiet_ns = self.course.quiet_ns(end_ns, message.bytes, usual_ns);
                quiet_ns as f64 * slowed
            } else {
                usual_ns as f64
            };
            let off = ((end_ns - message.send_ns) as f64 / usual_ns).ln().abs();
            let is_nearer = nearest.is_none_or(|(least, of)| {
                (off, of.send_ns, of.from, of.number) < (least, message.send_ns, message.from, message.number)
            });
            if is_nearer {
                nearest = Some((off, *message));
            }
        }
        nearest.map(|(_, message)| message)
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
            if message.inter {
                let quiet_ns = self.course.quiet_ns(call.end_ns, message.bytes, usual_ns);
                spared[WhatIf::Quiet] = arrives_ns.saturating_sub(message.send_ns + quiet_ns) as i64;
            }
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
        let Some(advised) = &self.advised else { return 0 };
        let node = |rank: Rank| advised.node_of_rank.get(rank as usize);
        let inter = node(source) != node(target);
        if inter == message.inter {
            return 0;
        }
        let usual_ns = |scope| version.message_ns(scope, message.bytes);
        let (Some(near_ns), Some(far_ns)) = (usual_ns(Scope::Intra), usual_ns(Scope::Inter)) else {
            return 0;
        };
        let (now_ns, then_ns) = if message.inter { (far_ns, near_ns) } else { (near_ns, far_ns) };
        // What is slow between nodes would be as slow, for its distance, within one. In its place others are slow that have
        // to go between nodes then, and of whom nobody sees it now.
        let took_ns = took_ns.unwrap_or(now_ns);
        let late_ns = took_ns.saturating_sub(now_ns) as f64;
        let took_ns = took_ns.min(now_ns);
        let then = then_ns as f64 / now_ns.max(1) as f64;
        let late_ns = if message.inter { late_ns * (1.0 - then) * advised.net_share } else { 0.0 };
        took_ns as i64 - (took_ns as f64 * then) as i64 + late_ns as i64
    }

    /// Of what the advised placement spares a message that decided among several, what it does not spare for the others that
    /// go between nodes then. They may be as late, unseen: of stragglers as they are in networks, the latest of half as many
    /// is later by a factor of about the root of a half.
    fn late_among_others(
        &self,
        received: &[Incoming],
        target: Rank,
        version: &Version,
        message: &Incoming,
        took_ns: u64,
    ) -> i64 {
        let Some(advised) = self.advised.as_ref().filter(|_| received.len() > 1) else { return 0 };
        let node = |rank: Rank| advised.node_of_rank.get(rank as usize);
        let (mut now, mut then) = (0.0, 0.0);
        for of in received {
            now += f64::from(u8::from(of.inter));
            then += f64::from(u8::from(node(self.threads[of.from as usize].rank) != node(target)));
        }
        if then == 0.0 || then >= now {
            return 0;
        }
        let seen = (1.0 - f64::sqrt(then / now)) * now / (now - then);
        let near_ns = version.message_ns(Scope::Intra, message.bytes).unwrap_or_default() as f64;
        let far_ns = version.message_ns(Scope::Inter, message.bytes).unwrap_or_default().max(1) as f64;
        let late_ns = (took_ns as f64 - far_ns).max(0.0) * (1.0 - near_ns / far_ns) * advised.net_share;
        (late_ns * (1.0 - seen)) as i64
    }

    pub(super) fn learn(&mut self, version: &Version, message: &Incoming, call: &Activity, took_ns: u64) {
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
            let source = self.threads[message.from as usize].rank;
            self.lateness.message(source, call.rank, took_ns, criterion_ns);
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

/// What it takes at most to receive a message that is there already. Within a node all of it is copying and telling; so
/// who takes longer than that had to wait for it.
fn taking_ns(version: &Version, message: &Incoming) -> u64 {
    let Some(usual_ns) = version.message_ns(Scope::of(message.inter), message.bytes) else {
        return HARDLY_NS;
    };
    let part_ns = usual_ns / HAD_ARRIVED;
    if !message.inter {
        return part_ns;
    }
    version.message_ns(Scope::Intra, message.bytes).map_or(part_ns, |within_ns| within_ns.min(part_ns))
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
