//! The way of messages out of an agent: first into the journal, then to whoever takes them.

use crate::journal::Journal;
use mpiscope_wire::{Message, Origin};
use std::time::{Duration, Instant};

const SYNC_EVERY: Duration = Duration::from_millis(900);

/// The number of the daemon's own agent.
pub const OWN: u32 = 0;
/// The number of none.
const NOBODY: u32 = u32::MAX;

struct Log {
    journal: Box<dyn Journal>,
    synced: Instant,
    failed: bool,
}

/// Messages on their way.
pub(super) struct Outbox {
    log: Option<Log>,
    /// Whose messages the journal holds last.
    origin: u32,
    encoded: Vec<u8>,
    /// What went wrong and was not handed on yet, in sentences.
    pub(super) faults: Vec<String>,
}

impl Outbox {
    /// Without a journal nothing is kept. `origin` is whose messages it holds last.
    pub(super) fn new(journal: Option<Box<dyn Journal>>, origin: u32) -> Self {
        let log = journal.map(|journal| Log { journal, synced: Instant::now(), failed: false });
        Self { log, origin, encoded: Vec::new(), faults: Vec::new() }
    }

    /// Whether anything is kept.
    pub(super) fn has_journal(&self) -> bool {
        self.log.is_some()
    }

    /// Writes a message of this agent to the journal and hands it on.
    pub(super) fn tell(&mut self, message: Message, sink: &mut dyn FnMut(Message)) {
        if std::mem::replace(&mut self.origin, OWN) != OWN
            && self.log.as_ref().is_none_or(|log| log.journal.has_origins())
        {
            self.put(Message::Origin(Origin { agent: OWN, sequence: 0 }), sink);
        }
        self.put(message, sink);
    }

    /// From now on the messages are those of an agent of another host, the first with this number.
    pub(super) fn relay_from(&mut self, from: Origin, sink: &mut dyn FnMut(Message)) {
        self.origin = from.agent;
        self.put(Message::Origin(from), sink);
    }

    fn put(&mut self, message: Message, sink: &mut dyn FnMut(Message)) {
        self.encoded.clear();
        message.encode(&mut self.encoded);
        let encoded = std::mem::take(&mut self.encoded);
        self.write(&encoded);
        self.encoded = encoded;
        sink(message);
    }

    pub(super) fn write(&mut self, frame: &[u8]) {
        let Some(log) = &mut self.log else { return };
        if let Err(error) = log.journal.write(frame) {
            self.journal_failed(&error);
        }
    }

    fn journal_failed(&mut self, error: &anyhow::Error) {
        // Whose messages follow may be among what is lost: said again.
        self.origin = NOBODY;
        if let Some(log) = &mut self.log
            && !std::mem::replace(&mut log.failed, true)
        {
            self.faults.push(format!("the log could not be written, so a crash would lose calls: {error}"));
        }
    }

    /// Hands what was written to the system; whether that took it.
    pub(super) fn flush(&mut self) -> bool {
        let Some(log) = &mut self.log else { return false };
        let mut result = log.journal.flush();
        if log.synced.elapsed() > SYNC_EVERY {
            log.synced = Instant::now();
            result = result.and_then(|()| log.journal.sync_soon());
        }
        if let Err(error) = &result {
            self.journal_failed(error);
        }
        result.is_ok()
    }

    /// Says what a full disk has cost the log.
    pub(super) fn report_dropped(&mut self) {
        let dropped = self.log.as_ref().map_or(0, |log| log.journal.dropped_bytes());
        if dropped > 0 {
            self.faults.push(format!("{dropped} bytes of the log could not be written"));
        }
    }

    /// Whether all that was written may be forgotten elsewhere; never without a journal.
    pub(super) fn is_safe(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.journal.is_safe())
    }

    /// Whether the journal takes more now.
    pub(super) fn has_room(&self) -> bool {
        self.log.as_ref().is_none_or(|log| log.journal.has_room())
    }

    /// Whether the journal needs the whole state once more, to drop its older part.
    pub(super) fn wants_checkpoint(&mut self) -> bool {
        self.log.as_mut().is_some_and(|log| log.journal.wants_checkpoint())
    }
}
