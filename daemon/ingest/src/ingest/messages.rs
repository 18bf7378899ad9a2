//! Takes in messages, each by its kind, and hands out batches.

use super::state::Ingest;
use crate::host_clocks::NodeClock;
use crate::origin::Origin;
use mpiscope_model::{Batch, Gap, Losses, ProcessState};
use mpiscope_wire::{Agent, Contact, EndState, Heard, Lost, Message, RunEnd, Switched, Unrecorded};

/// Somebody may switch all the time.
const MOST_GAPS: usize = 1 << 12;

/// More agents than a run has nodes.
const MOST_AGENTS: u32 = 1 << 16;

impl Ingest {
    /// Takes in a message. Returns a batch when the message publishes one: a clock sample, or the end. See [`Ingest::take`].
    pub fn step(&mut self, message: Message) -> Option<Batch> {
        let settles = Self::settles(&message);
        self.feed(message);
        settles.then(|| self.take())
    }

    /// Whether a batch may end with a message: a clock sample, or the end.
    #[must_use]
    pub fn settles(message: &Message) -> bool {
        matches!(message, Message::ClockSample(_) | Message::RunEnd(_))
    }

    /// Takes in a message.
    pub fn feed(&mut self, message: Message) {
        if message.is_from_agent() {
            let next = &mut self.origins[self.origin as usize].next_sequence;
            *next = next.saturating_add(1);
        }
        match &message {
            Message::RunStart(_) | Message::Process(_) | Message::Skipped(_) => self.read_settled(),
            Message::RoundTrip(trip) => self.before_clock_changes(trip.agent),
            Message::ClockSample(_) => self.before_clock_changes(self.origin),
            _ => {}
        }
        match message {
            Message::RunStart(start) => {
                self.zero_ns = start.monotonic_ns;
                self.origins[0].clock = NodeClock::reference(self.zero_ns);
                self.started = Some(start);
            }
            Message::Agent(agent) => self.agent(agent),
            Message::Origin(origin) => self.switch_origin(&origin),
            Message::RoundTrip(trip) => {
                if let Some(origin) = self.origins.get_mut(trip.agent as usize) {
                    origin.round_trip(&trip);
                }
            }
            Message::Contact(contact) => self.contact(contact),
            Message::RunEnd(end) => self.end_run(end),
            Message::Process(process) => self.process(&process),
            Message::Slots(slots) => self.wait(slots.into()),
            Message::Packed(slots) => self.wait(slots.into()),
            Message::ClockSample(sample) => {
                self.origins[self.origin as usize].add_clock_sample(sample);
                self.settle_origin(self.origin);
                self.is_until_old = true;
            }
            Message::Lost(lost) => self.lost(&lost),
            Message::Scheduling(figures) => self.scheduling(&figures),
            Message::Cpus(cpus) => self.cpus(&cpus),
            Message::Switched(switched) => self.switched(switched),
            Message::Unrecorded(unrecorded) => self.count_unrecorded(&unrecorded),
            Message::Skipped(skipped) => self.skip((self.origin, skipped.process), skipped),
            Message::LastCalls(last) => self.last_calls.push((self.origin, last)),
        }
    }

    /// What follows is from another agent.
    fn switch_origin(&mut self, origin: &mpiscope_wire::Origin) {
        match self.origins.get_mut(origin.agent as usize) {
            Some(found) => {
                found.next_sequence = origin.sequence;
                self.origin = origin.agent;
            }
            None => self.fault(None, format!("messages of agent {}, which nobody knows", origin.agent)),
        }
    }

    fn end_run(&mut self, end: RunEnd) {
        self.settle();
        self.ended = Some(end);
        self.is_until_old = false;
        self.decoded.batch.until_ns = self.of_monotonic(end.monotonic_ns);
    }

    fn count_unrecorded(&mut self, unrecorded: &Unrecorded) {
        let key = (self.origin, unrecorded.process);
        if self.processes.contains(key) {
            self.unrecorded.insert(key, unrecorded.calls);
        }
    }

    /// Hands out what became known. Where several threads read, [`Ingest::more`] has the rest.
    pub fn take(&mut self) -> Batch {
        self.read_settled();
        if std::mem::take(&mut self.decoded.losses_changed) {
            self.tell_losses();
        }
        self.settle_last_calls();
        self.update_until();
        let mut batch = std::mem::take(&mut self.decoded.batch);
        let until_ns = batch.until_ns;
        self.decoded.batch.until_ns = until_ns;
        let before_ns = std::mem::replace(&mut self.told_until_ns, until_ns);
        if let Some(last) = self.beside.pop_back() {
            // All is in with the last of them.
            batch.until_ns = before_ns;
            self.beside.iter_mut().for_each(|batch| batch.until_ns = before_ns);
            self.beside.push_back(Batch { until_ns, ..last });
        }
        batch
    }

    /// The next of the batches behind the one that was handed out last, in which other threads put what they read.
    pub fn more(&mut self) -> Option<Batch> {
        self.beside.pop_front()
    }

    /// Whether the daemon's own clock is known well enough to settle entries without a further clock sample.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        self.origins[0].has_slope()
    }

    fn switched(&mut self, switched: Switched) {
        let at_ns = self.of_monotonic(switched.monotonic_ns);
        if let Some(open) = self.gaps.last_mut().filter(|gap| gap.until_ns.is_none()) {
            if switched.is_on {
                open.until_ns = Some(at_ns.max(open.from_ns));
            }
        } else if !switched.is_on && self.gaps.len() < MOST_GAPS {
            self.gaps.push(Gap { from_ns: at_ns, until_ns: None });
        }
        self.decoded.batch.gaps = Some(self.gaps.clone());
    }

    fn agent(&mut self, agent: Agent) {
        let next = self.origins.len() as u32;
        if agent.agent == next && next < MOST_AGENTS {
            let mut origin = Origin::new(agent.identity, agent.node, self.zero_ns);
            // Another agent on the host of one that went: its clock is the same.
            let before = self.origins[1..].iter().rev().find(|before| before.node == origin.node);
            if let Some(before) = before {
                origin.clock = before.clock.clone();
            }
            self.origins.push(origin);
        } else if agent.agent > next {
            self.fault(None, format!("agent {} of {} comes out of turn", agent.agent, agent.node));
        }
    }

    /// The ranks of a node that is not heard of may run or not.
    fn contact(&mut self, contact: Contact) {
        if let Some(origin) = self.origins.get_mut(contact.agent as usize) {
            origin.is_finished = contact.heard == Heard::Finished;
        }
        let (from, to) = match contact.heard {
            Heard::Missed => (ProcessState::Running, ProcessState::Silent),
            Heard::Again | Heard::Finished => (ProcessState::Silent, ProcessState::Running),
        };
        for ((agent, _), info) in &mut self.infos {
            if *agent == contact.agent && info.state == from {
                info.state = to;
                self.decoded.batch.ranks.push(info.clone());
            }
        }
    }

    fn lost(&mut self, lost: &Lost) {
        let key = (self.origin, lost.process);
        if !self.processes.contains(key) {
            self.fault(
                None,
                format!("losses of process number {}, which never said who it is", lost.process),
            );
            return;
        }
        self.lost.insert(key, *lost);
        self.decoded.losses_changed = true;
        let state = match lost.state {
            EndState::Running => ProcessState::Running,
            EndState::Finalized => ProcessState::Finalized,
            EndState::Aborted => ProcessState::Aborted,
            EndState::Vanished => ProcessState::Vanished,
        };
        if let Some(info) = self.infos.get_mut(&key)
            && info.state != state
        {
            info.state = state;
            self.decoded.batch.ranks.push(info.clone());
        }
    }

    fn tell_losses(&mut self) {
        let mut losses = Losses { unreadable: self.decoded.unreadable_slots, ..Losses::default() };
        for lost in self.lost.values() {
            // A job may report any number.
            losses.ring_full = losses.ring_full.saturating_add(lost.ring_full);
            losses.no_ring = losses.no_ring.saturating_add(lost.no_ring);
            losses.unreadable = losses.unreadable.saturating_add(lost.unreadable);
        }
        self.decoded.batch.losses = Some(losses);
    }
}
