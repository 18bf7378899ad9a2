//! What replays say of a run, in stretches of so many calls that each fits into memory. The last one can be replayed while it
//! grows; once it is full, what was found of it is kept and the next one begins.

use super::graph::kinds;
use super::replayed::Replayed;
use crate::processors::Processors;
use mpiscope_analysis::{Matcher, Reference, Scope};
use mpiscope_diagnosis::GraphBuilder;
use mpiscope_model::{Batch, Message, Nanoseconds, Node};

/// Of a running job a stretch has at least so many calls: it is replayed every second or so.
pub(super) const LIVE_CALLS: usize = 1 << 17;
/// In the end; some half a gigabyte.
pub(super) const FINAL_CALLS: usize = 1 << 22;
/// Where there are so many ranks that each would have too few calls, a stretch has so many of each, up to the most.
const CALLS_PER_RANK: usize = 512;
const MOST_FOR_RANKS: usize = 1 << 20;

pub(super) struct Stretches {
    builder: GraphBuilder,
    least_calls: usize,
    ranks: usize,
    processors: Processors,
    /// What was found of stretches that are over.
    past: Replayed,
    /// A better placement, as far as it is known.
    advised: Vec<Node>,
    /// Up to where the run is known.
    until_ns: Nanoseconds,
    /// Calls are left out until a new stretch may begin.
    is_resting: bool,
    has_rested: bool,
}

impl Stretches {
    pub(super) fn new(least_calls: usize) -> Self {
        let builder = GraphBuilder::new(kinds());
        Self {
            builder,
            least_calls,
            ranks: 0,
            processors: Processors::default(),
            past: Replayed::default(),
            advised: Vec::new(),
            until_ns: 0,
            is_resting: false,
            has_rested: false,
        }
    }

    /// From now on messages between nodes are held against what they take in an undisturbed network, where that is known.
    pub(super) fn refer(&mut self, reference: &Reference) {
        let (Reference::Quiet(version) | Reference::Given(version)) = reference else { return };
        for criterion in version.messages().filter(|criterion| criterion.scope == Scope::Inter) {
            let (from, to) = criterion.sizes();
            self.builder.refer(from.midpoint(to.saturating_sub(1)), criterion.median_ns);
        }
    }

    /// From now on placement is held against this one.
    pub(super) fn advise(&mut self, advised: &[Node]) {
        self.advised.clear();
        self.advised.extend_from_slice(advised);
    }

    /// From now on calls are left out, or no more. Where stretches are left out, those that are replayed stand for them.
    pub(super) fn rest(&mut self, is_resting: bool) {
        if std::mem::replace(&mut self.is_resting, is_resting) && !is_resting {
            // What the scheduler says are sums: they count from here.
            self.processors.all().for_each(|of| self.builder.scheduling(*of));
        }
        self.has_rested |= is_resting;
    }

    /// Takes in what became known; says whether a stretch is over.
    pub(super) fn take(&mut self, batch: &Batch, messages: &[Message]) -> bool {
        self.until_ns = self.until_ns.max(batch.until_ns);
        self.processors.see(&batch.scheduling);
        for info in &batch.ranks {
            self.builder.place(info.rank, info.node);
            self.ranks = self.ranks.max(info.world_size as usize);
        }
        if self.is_resting {
            return false;
        }
        let mut before = None;
        for activity in &batch.activities {
            let thread = Some((activity.rank, activity.call.thread()));
            if std::mem::replace(&mut before, thread) != thread {
                self.builder.begin_with(activity.rank, activity.call);
            }
        }
        batch.calls.iter().for_each(|call| self.builder.call(call));
        batch.collected.iter().for_each(|of| self.builder.collected(*of));
        batch.scheduling.iter().for_each(|of| self.builder.scheduling(*of));
        messages.iter().for_each(|message| self.builder.message(message));
        let enough = self.least_calls.max((CALLS_PER_RANK * self.ranks).min(MOST_FOR_RANKS));
        let is_over = self.builder.call_count() >= enough;
        if is_over {
            let next = self.builder.next_stretch();
            let stretch = std::mem::replace(&mut self.builder, next);
            self.past = self.with(stretch);
        }
        is_over
    }

    /// What was found so far.
    pub(super) fn look(&self) -> Replayed {
        let found = self.with(self.builder.clone());
        if self.has_rested { found.standing_for(self.until_ns) } else { found }
    }

    /// What was found in the end.
    pub(super) fn finish(mut self) -> Replayed {
        let next = self.builder.next_stretch();
        let stretch = std::mem::replace(&mut self.builder, next);
        self.with(stretch)
    }

    fn with(&self, stretch: GraphBuilder) -> Replayed {
        let mut found = self.past.clone();
        if stretch.call_count() > 0
            && let Ok(graph) = stretch.finish()
        {
            found.add(&Replayed::without_causes(&graph, &self.advised));
        }
        found.shortage = self.processors.shortage();
        found
    }
}

/// The stretches of a pass over a log, whose messages are not known yet.
pub(super) struct Unmatched {
    stretches: Stretches,
    matcher: Matcher,
}

impl Unmatched {
    pub(super) fn new(reference: &Reference, advised: &[Node]) -> Self {
        let mut stretches = Stretches::new(FINAL_CALLS);
        stretches.refer(reference);
        stretches.advise(advised);
        Self { stretches, matcher: Matcher::default() }
    }

    /// Takes in a batch whose calls and events have their last times.
    pub(super) fn take(&mut self, batch: &Batch) {
        batch.ranks.iter().for_each(|info| self.matcher.place(info.rank, info.node));
        let matched = self.matcher.feed(&batch.events);
        self.stretches.take(batch, &matched.messages);
    }

    pub(super) fn finish(mut self) -> Replayed {
        let rest = self.matcher.finish().messages;
        self.stretches.take(&Batch::default(), &rest);
        self.stretches.finish()
    }
}
