//! Where the tests of answers have their calls and messages from.

#![allow(dead_code, reason = "each test uses some of it")]

use mpiscope_feed::{CallSource, MessageSource};
use mpiscope_model::{Call, Message, Nanoseconds};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Messages a few at a time, which counts how often it was asked and how much it showed.
#[derive(Debug, Default)]
pub(crate) struct StoredMessages {
    pub(crate) messages: Vec<Message>,
    pub(crate) asked: Arc<AtomicUsize>,
    pub(crate) shown: Arc<AtomicUsize>,
}

impl MessageSource for StoredMessages {
    fn visit(
        &self,
        _: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        for some in self.messages.chunks(10) {
            self.shown.fetch_add(some.len(), Ordering::Relaxed);
            if visitor(some).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Calls that are all looked at.
#[derive(Debug)]
pub(crate) struct Plain(pub(crate) Vec<Call>);

impl CallSource for Plain {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let within = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start;
        self.0.iter().filter(within).for_each(visitor);
        Ok(())
    }
}
