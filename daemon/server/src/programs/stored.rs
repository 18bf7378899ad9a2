//! Calls and messages in memory, for tests.

use mpiscope_feed::{CallSource, Library, MessageSource};
use mpiscope_model::{Call, Message, Nanoseconds};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex};

/// Clones share the rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Stored {
    pub(super) calls: Arc<Mutex<Vec<Call>>>,
    pub(super) messages: Arc<Mutex<Vec<Message>>>,
}

impl CallSource for Stored {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let within = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start;
        self.calls.lock().unwrap().iter().filter(within).for_each(visitor);
        Ok(())
    }
}

impl MessageSource for Stored {
    fn visit(
        &self,
        _: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let _ = visitor(&self.messages.lock().unwrap());
        Ok(())
    }
}

/// Rows arrive in a library that reads them from there.
pub(super) fn add(library: &Library, stored: &Stored, calls: &[Call], messages: &[Message]) {
    library.arrive(&[calls], &[messages], || {
        stored.calls.lock().unwrap().extend(calls);
        stored.messages.lock().unwrap().extend(messages);
    });
}
