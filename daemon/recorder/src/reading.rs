//! Whether other processes read calls, and which.

use crate::helpers::OnHosts;
use crate::queue::Receiving;
use crate::readers::Readers;
use mpiscope_wire::Message;
use std::collections::VecDeque;

/// The recorder's part of it.
pub(crate) struct Reading {
    /// Who may read calls.
    pub(crate) hosts: Option<OnHosts>,
    /// How many threads each of them has.
    pub(crate) threads: usize,
    /// Those who do.
    pub(crate) readers: Option<Readers>,
    /// Whether the live analysis takes in calls, or leaves them to the log.
    pub(crate) is_analysed: bool,
    /// How many messages of the log were taken in, and how many of them have become rows.
    pub(crate) taken: u64,
    pub(crate) settled: u64,
    /// Of how many those who look have been shown the rows, once they come again.
    pub(crate) shown_until: u64,
    /// Whether they have seen what comes.
    pub(crate) is_known: bool,
    /// What comes meanwhile. Its messages are in the log.
    pub(crate) input: Option<Receiving>,
    /// The last of it.
    pub(crate) tail: Tail,
    /// Whether the run has ended by that.
    pub(crate) is_over: bool,
    /// Whether messages are taken in from the log.
    pub(crate) is_repeating: bool,
    /// The CPU time of readers that are gone.
    pub(crate) earlier_cpu_s: f64,
}

/// Slots, and messages, that are kept of what came last.
const MOST_SLOTS: usize = 1 << 20;
const MOST_MESSAGES: usize = 1 << 16;

/// The messages that came last, in their order.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    messages: VecDeque<Message>,
    slots: usize,
}

impl Tail {
    fn push(&mut self, message: Message) {
        self.slots += slots_of(&message);
        self.messages.push_back(message);
        while (self.slots > MOST_SLOTS || self.messages.len() > MOST_MESSAGES)
            && let Some(first) = self.messages.pop_front()
        {
            self.slots -= slots_of(&first);
        }
    }

    /// Adds what came behind it.
    pub(crate) fn append(&mut self, behind: Self) {
        behind.messages.into_iter().for_each(|message| self.push(message));
    }

    /// The last messages; none where it has not as many. Afterwards it is empty.
    pub(crate) fn last(&mut self, count: usize) -> Option<Vec<Message>> {
        let first = self.messages.len().checked_sub(count)?;
        self.slots = 0;
        Some(std::mem::take(&mut self.messages).into_iter().skip(first).collect())
    }
}

/// How many slots a message has.
pub(crate) fn slots_of(message: &Message) -> usize {
    if let Message::Slots(slots) = message { slots.slots.len() } else { 0 }
}

/// What came while nobody had time for it.
#[derive(Debug, Default)]
pub(crate) struct Missed {
    /// How many messages of the log.
    pub(crate) messages: u64,
    pub(crate) tail: Tail,
    pub(crate) faults: Vec<String>,
    pub(crate) notices: Vec<String>,
    /// Whether the run has ended.
    pub(crate) is_over: bool,
}

impl Missed {
    /// Takes what is there; the log has it, or will.
    pub(crate) fn take(&mut self, input: &Receiving) {
        while let Some(item) = input.try_receive() {
            self.messages += item.messages.len() as u64;
            self.faults.extend(item.faults);
            self.notices.extend(item.notices);
            self.is_over |= matches!(item.messages.last(), Some(Message::RunEnd(_)));
            item.messages.into_iter().for_each(|message| self.tail.push(message));
        }
    }
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            hosts: None,
            threads: 1,
            readers: None,
            is_analysed: true,
            taken: 0,
            settled: 0,
            shown_until: 0,
            is_known: false,
            input: None,
            tail: Tail::default(),
            is_over: false,
            is_repeating: false,
            earlier_cpu_s: 0.0,
        }
    }
}

impl Reading {
    pub(crate) fn is_shared(&self) -> bool {
        self.readers.is_some()
    }

    /// Whether readers have answered.
    pub(crate) fn has_news(&self) -> bool {
        self.readers.as_ref().is_some_and(Readers::has_news)
    }

    /// Lets the live analysis take in calls, or not.
    pub(crate) fn want_calls(&mut self, are_wanted: bool) {
        self.is_analysed = are_wanted;
    }

    /// Nobody reads any more but the daemon.
    pub(crate) fn dismiss(&mut self) {
        if let Some(readers) = self.readers.take() {
            self.earlier_cpu_s += readers.cpu_s();
        }
    }

    /// The CPU time of readers.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.earlier_cpu_s + self.readers.as_ref().map_or(0.0, Readers::cpu_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_wire::{Contact, Heard, Slots};

    fn slots(from: u64, count: usize) -> Message {
        Message::Slots(Slots { process: 0, ring: 0, from, slots: vec![[0; 4]; count] })
    }

    #[test]
    fn of_what_came_last_the_newest_is_kept() {
        let mut tail = Tail::default();
        (0..5).for_each(|at| tail.push(slots(at, MOST_SLOTS / 4)));
        let mut behind = Tail::default();
        behind.push(Message::Contact(Contact { agent: 1, heard: Heard::Again }));
        tail.append(behind);
        assert_eq!(tail.last(6), None, "the first one is gone");
        let last = tail.last(2).unwrap();
        assert_eq!((slots_of(&last[0]), slots_of(&last[1])), (MOST_SLOTS / 4, 0));
        assert!(tail.messages.is_empty() && tail.slots == 0);
    }
}
