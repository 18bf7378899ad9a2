//! What the agents have brought while the recorder had no time for it.

use crate::queue::Receiving;
use mpiscope_wire::Message;
use std::collections::VecDeque;

/// Bytes of slots, and messages, that are kept of what came last: more than a log holds back when the disk is full.
const MOST_BYTES: usize = 32 << 20;
const MOST_MESSAGES: usize = 1 << 16;

/// The messages that came last, in their order.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    messages: VecDeque<Message>,
    slot_bytes: usize,
}

impl Tail {
    fn push(&mut self, message: Message) {
        self.slot_bytes += message.slot_bytes();
        self.messages.push_back(message);
        while (self.slot_bytes > MOST_BYTES || self.messages.len() > MOST_MESSAGES)
            && let Some(first) = self.messages.pop_front()
        {
            self.slot_bytes -= first.slot_bytes();
        }
    }

    /// Adds what came behind it.
    pub(crate) fn append(&mut self, behind: Self) {
        behind.messages.into_iter().for_each(|message| self.push(message));
    }

    /// The last messages; none where it has not as many. Afterwards it is empty.
    pub(crate) fn last(&mut self, count: usize) -> Option<Vec<Message>> {
        let first = self.messages.len().checked_sub(count)?;
        self.slot_bytes = 0;
        Some(std::mem::take(&mut self.messages).into_iter().skip(first).collect())
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_wire::{Contact, Heard, SLOT_BYTES, Slots};

    fn slots(from: u64, count: usize) -> Message {
        Message::Slots(Slots { process: 0, ring: 0, from, slots: vec![[0; 4]; count] })
    }

    #[test]
    fn of_what_came_last_the_newest_is_kept() {
        let mut tail = Tail::default();
        (0..5).for_each(|at| tail.push(slots(at, MOST_BYTES / SLOT_BYTES / 4)));
        let mut behind = Tail::default();
        behind.push(Message::Contact(Contact { agent: 1, heard: Heard::Again }));
        tail.append(behind);
        assert_eq!(tail.last(6), None, "the first one is gone");
        let last = tail.last(2).unwrap();
        assert_eq!((last[0].slot_count(), last[1].slot_count()), (MOST_BYTES / SLOT_BYTES / 4, 0));
        assert!(tail.messages.is_empty() && tail.slot_bytes == 0);
    }
}
