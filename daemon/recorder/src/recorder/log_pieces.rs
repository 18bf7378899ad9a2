//! The log in pieces that are worth a batch.

use mpiscope_ingest::Ingest;
use mpiscope_wire::Message;

/// Slots of the log that are taken in at a time.
const AT_ONCE: usize = 1 << 17;

/// Messages of the log until they are worth a batch.
#[derive(Default)]
pub(super) struct LogPieces {
    messages: Vec<Message>,
    slots: usize,
}

impl LogPieces {
    /// Takes one; says whether they are.
    pub(super) fn push(&mut self, message: Message) -> bool {
        self.slots += message.slot_count();
        let settles = Ingest::settles(&message);
        self.messages.push(message);
        settles && self.slots >= AT_ONCE
    }

    pub(super) fn take(&mut self) -> Vec<Message> {
        self.slots = 0;
        std::mem::take(&mut self.messages)
    }
}
