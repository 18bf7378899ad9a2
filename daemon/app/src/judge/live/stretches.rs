//! What replays say of a job while it runs. A stretch of so many calls that it fits into memory is replayed again and again
//! while it grows; once it is full, what was found of it is kept and the next one begins.

use super::super::graph::{kinds, refer};
use super::super::replayed::Replayed;
use mpiscope_analysis::Reference;
use mpiscope_diagnosis::GraphBuilder;
use mpiscope_model::{Batch, Message, Node};

/// A stretch has so many calls, and so many of each rank, but never more than [`MOST_CALLS`].
pub(super) const CALLS: usize = 1 << 17;
const CALLS_PER_RANK: usize = 512;
const MOST_CALLS: usize = 1 << 22;

pub(super) struct Stretches {
    builder: GraphBuilder,
    ranks: usize,
    /// What was found of stretches that are over.
    past: Replayed,
    /// A better placement, as far as it is known.
    advised: Vec<Node>,
}

impl Stretches {
    pub(super) fn new() -> Self {
        let builder = GraphBuilder::new(kinds());
        Self { builder, ranks: 0, past: Replayed::default(), advised: Vec::new() }
    }

    /// From now on messages are held against these criteria.
    pub(super) fn refer(&mut self, reference: &Reference) {
        refer(&mut self.builder, reference);
    }

    pub(super) fn take(&mut self, batch: &Batch, messages: &[Message]) {
        for info in &batch.ranks {
            self.builder.place(info.rank, info.node);
            self.ranks = self.ranks.max(info.world_size as usize);
        }
        batch.calls.iter().for_each(|call| self.builder.call(call));
        batch.collected.iter().for_each(|of| self.builder.collected(*of));
        batch.scheduling.iter().for_each(|of| self.builder.scheduling(*of));
        messages.iter().for_each(|message| self.builder.message(message));
        let most_calls = CALLS.max(CALLS_PER_RANK * self.ranks).min(MOST_CALLS);
        if self.builder.call_count() >= most_calls {
            let next = self.builder.next_stretch();
            let stretch = std::mem::replace(&mut self.builder, next);
            if let Ok(graph) = stretch.finish() {
                self.past.add(&Replayed::without_causes(&graph, &self.advised));
            }
        }
    }

    /// From now on placement is held against this one.
    pub(super) fn advise(&mut self, advised: &[Node]) {
        self.advised.clear();
        self.advised.extend_from_slice(advised);
    }

    /// What was found so far.
    pub(super) fn look(&self) -> Replayed {
        let mut found = self.past.clone();
        if self.builder.call_count() > 0
            && let Ok(graph) = self.builder.clone().finish()
        {
            found.add(&Replayed::without_causes(&graph, &self.advised));
        }
        found
    }
}
