use crate::call::Call;
use crate::message::Message;

/// What was made and not recorded, by reason. Counters only ever grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    /// Calls dropped because a ring was full.
    pub ring_full: u64,
    /// Calls of threads that found no ring left.
    pub no_ring: u64,
    /// Calls whose records the agent could not make sense of.
    pub unreadable: u64,
    /// Calls that were taken from the rings and are in no file: a disk was full, or files are damaged or gone.
    pub unsaved: u64,
}

impl Losses {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.ring_full, self.no_ring, self.unreadable, self.unsaved].into_iter().fold(0, u64::saturating_add)
    }

    /// The greater of each.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            ring_full: self.ring_full.max(other.ring_full),
            no_ring: self.no_ring.max(other.no_ring),
            unreadable: self.unreadable.max(other.unreadable),
            unsaved: self.unsaved.max(other.unsaved),
        }
    }
}

/// The totals of a run, as in the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rows of `calls`.
    pub calls: u64,
    /// Polls folded into those rows beyond the rows themselves: recorded calls = `calls` + `polls`.
    pub polls: u64,
    /// Matched messages.
    pub messages: u64,
    /// Their payload.
    pub bytes: u64,
    /// Of them, those between ranks of one node.
    pub intra_messages: u64,
    /// Of them, those between nodes.
    pub inter_messages: u64,
    /// Sends without a receive.
    pub unmatched_sends: u64,
    /// Receives without a send.
    pub unmatched_receives: u64,
    /// Messages that were paired by best fit only.
    pub uncertain_messages: u64,
    /// Messages that ended before they began by the clocks as they were known when they came in.
    pub clock_violations_before: u64,
    /// Of them and of all others, those that still do by the last clock map.
    pub clock_violations_after: u64,
}

crate::numbers! {
    Totals {
        calls, polls, messages, bytes, intra_messages, inter_messages, unmatched_sends, unmatched_receives,
        uncertain_messages, clock_violations_before, clock_violations_after
    }
}

impl Totals {
    /// Adds what others have counted of their calls and messages.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        // A job may report any number.
        self.polls = self.polls.saturating_add(other.polls);
        self.messages += other.messages;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.intra_messages += other.intra_messages;
        self.inter_messages += other.inter_messages;
        self.uncertain_messages += other.uncertain_messages;
    }

    /// Counts rows of `calls`.
    pub fn add_calls(&mut self, calls: &[Call]) {
        self.calls += calls.len() as u64;
        // A job may report any number.
        let polls = calls.iter().map(|call| call.count.saturating_sub(1));
        self.polls = polls.fold(self.polls, u64::saturating_add);
    }

    /// Counts matched messages.
    pub fn add_messages(&mut self, messages: &[Message]) {
        self.messages += messages.len() as u64;
        for message in messages {
            self.bytes = self.bytes.saturating_add(message.bytes);
            self.inter_messages += u64::from(message.inter);
            self.intra_messages += u64::from(!message.inter);
        }
    }
}
