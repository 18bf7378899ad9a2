//! What a worker counts.

use mpiscope_matching::{Counts, Matched, Matcher};
use mpiscope_model::numbers;

/// The figures of a worker's own ranks.
#[derive(Debug, Default)]
pub(crate) struct WorkerFigures {
    pub(crate) counts: Option<Counts>,
    pub(crate) messages: u64,
    pub(crate) uncertain: u64,
    pub(crate) unmatched_sends: u64,
    pub(crate) unmatched_receives: u64,
}

numbers! { WorkerFigures { counts, messages, uncertain, unmatched_sends, unmatched_receives } }

impl WorkerFigures {
    pub(crate) fn matched(&mut self, matched: &Matched) {
        self.messages += matched.messages.len() as u64;
        self.uncertain += matched.uncertain;
        if let Some(counts) = &mut self.counts {
            counts.messages(&matched.messages);
        }
    }

    pub(crate) fn unmatched(&mut self, matcher: &Matcher) {
        self.unmatched_sends += matcher.unmatched_sends();
        self.unmatched_receives += matcher.unmatched_receives();
    }

    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.messages += other.messages;
        self.uncertain += other.uncertain;
        self.unmatched_sends += other.unmatched_sends;
        self.unmatched_receives += other.unmatched_receives;
        match (&mut self.counts, other.counts) {
            (Some(ours), Some(theirs)) => ours.merge(&theirs),
            (ours, theirs) => *ours = ours.take().or(theirs),
        }
    }
}
