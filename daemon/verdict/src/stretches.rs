//! Replays a run in stretches whose calls fit into memory, and adds up what they save.
//!
//! A full stretch is replayed once and only its result is kept. The last stretch can be replayed while it grows.

use super::graph::{kinds, refer, share_cpus};
use super::replayed::Replayed;
use crate::processors::Processors;
use mpiscope_diagnosis::Reference;
use mpiscope_diagnosis::whatif::GraphBuilder;
use mpiscope_matching::Matcher;
use mpiscope_model::{Batch, Call, Message, Nanoseconds, Node};

/// The calls of a stretch while the job runs, which is replayed about once a second.
pub(super) const LIVE_CALLS: usize = 1 << 17;
/// The calls of a stretch at the end of the run; about half a gigabyte.
const FINAL_CALLS: usize = 1 << 22;
/// A stretch grows until each rank has this many calls, up to the limit below.
const CALLS_PER_RANK: usize = 512;
const MOST_FOR_RANKS: usize = 1 << 20;

pub(super) struct Stretches {
    builder: GraphBuilder,
    least_calls: usize,
    ranks: usize,
    nodes: usize,
    processors: Processors,
    /// The sum over full stretches.
    earlier: Replayed,
    /// A better placement; empty where none is known.
    advised: Vec<Node>,
    /// All calls that ended before this time are in.
    until_ns: Nanoseconds,
    is_paused: bool,
    is_skipping: bool,
    has_skipped: bool,
}

impl Stretches {
    pub(super) fn new(least_calls: usize) -> Self {
        Self {
            builder: GraphBuilder::new(kinds()),
            least_calls,
            ranks: 0,
            nodes: 0,
            processors: Processors::default(),
            earlier: Replayed::default(),
            advised: Vec::new(),
            until_ns: 0,
            is_paused: false,
            is_skipping: false,
            has_skipped: false,
        }
    }

    /// Sets what messages and collectives take without network contention, where that was measured.
    pub(super) fn refer(&mut self, reference: &Reference) {
        refer(&mut self.builder, reference);
    }

    /// Sets the placement to compare with.
    pub(super) fn advise(&mut self, advised: &[Node]) {
        self.advised.clear();
        self.advised.extend_from_slice(advised);
    }

    /// Sets the CPU time that recording took from the ranks until now.
    pub(super) fn recorded_in(&mut self, cpu_ns: u64) {
        self.builder.recorded_in(cpu_ns);
    }

    /// The nodes that ranks run on, as far as is known.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Skips the calls of later batches, or goes on with a new stretch. Results are scaled up for the skipped time.
    pub(super) fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Adds a batch with its calls and messages; whether that ended a stretch, which is then replayed.
    pub(super) fn add(&mut self, batch: &Batch, calls: &[Call], messages: &[Message]) -> bool {
        self.until_ns = self.until_ns.max(batch.until_ns);
        self.processors.see(&batch.scheduling);
        self.processors.place(&batch.ranks);
        for info in &batch.ranks {
            self.builder.place(info.rank, info.node);
            self.ranks = self.ranks.max(info.world_size as usize);
            self.nodes = self.nodes.max(info.node.index() + 1);
        }
        // The sender leaves calls out while this is paused, and may know later that it goes on.
        let lacks_calls = calls.is_empty() && (self.is_skipping || !batch.activities.is_empty());
        if self.is_paused || lacks_calls {
            (self.is_skipping, self.has_skipped) = (true, true);
            // A stretch has no holes.
            let has_ended = self.end_stretch();
            self.builder.skip(&batch.scheduling);
            return has_ended;
        }
        self.is_skipping = false;
        for of_rank in batch.activities.chunk_by(|one, other| one.rank == other.rank) {
            let threads = of_rank.chunk_by(|one, other| one.call.thread() == other.call.thread());
            threads.for_each(|of_thread| self.builder.begin_with(of_thread[0].rank, of_thread[0].call));
        }
        calls.iter().for_each(|call| self.builder.call(call));
        batch.collected.iter().for_each(|of| self.builder.collected(*of));
        batch.scheduling.iter().for_each(|of| self.builder.scheduling(*of));
        messages.iter().for_each(|message| self.builder.message(message));
        let enough = self.least_calls.max((CALLS_PER_RANK * self.ranks).min(MOST_FOR_RANKS));
        self.builder.call_count() >= enough && self.end_stretch()
    }

    /// Replays the stretch and begins the next one; whether there was one.
    fn end_stretch(&mut self) -> bool {
        let has_calls = self.builder.call_count() > 0;
        if has_calls {
            let next = self.builder.next_stretch();
            let stretch = std::mem::replace(&mut self.builder, next);
            self.earlier = self.replay(stretch);
        }
        has_calls
    }

    /// The result so far.
    pub(super) fn result(&self) -> Replayed {
        let result = self.replay(self.builder.clone());
        if self.has_skipped { result.scaled_to(self.until_ns) } else { result }
    }

    /// The sum over earlier stretches and this one.
    fn replay(&self, mut stretch: GraphBuilder) -> Replayed {
        let mut sum = self.earlier.clone();
        share_cpus(&mut stretch, &self.processors);
        if stretch.call_count() > 0
            && let Ok(graph) = stretch.finish()
        {
            sum.add(&Replayed::replay(&graph, &self.advised));
        }
        sum.cpu_contention = self.processors.shortage();
        sum.stopped = self.processors.stopped();
        sum.blocked = self.processors.blocked();
        sum
    }
}

/// Matches the messages of a log, which has only sends and receives.
#[derive(Default)]
pub(super) struct LogMatching(Matcher);

impl LogMatching {
    /// The messages that a batch completes.
    pub(super) fn messages(&mut self, batch: &Batch) -> Vec<Message> {
        batch.ranks.iter().for_each(|info| self.0.place(info.rank, info.node));
        self.0.feed(&batch.events).messages
    }
}

/// The stretches of a pass over a log.
pub(super) struct LogStretches {
    stretches: Stretches,
    matching: LogMatching,
    /// The calls of the log.
    calls: u64,
}

impl LogStretches {
    pub(super) fn new(reference: &Reference, advised: &[Node], recorder_ns: u64) -> Self {
        let mut stretches = Stretches::new(FINAL_CALLS);
        stretches.refer(reference);
        stretches.advise(advised);
        stretches.recorded_in(recorder_ns);
        Self { stretches, matching: LogMatching::default(), calls: 0 }
    }

    /// Adds a batch whose times are corrected.
    pub(super) fn add(&mut self, batch: &Batch) {
        let messages = self.matching.messages(batch);
        self.stretches.add(batch, &batch.calls, &messages);
        self.calls += batch.calls.iter().map(|call| call.count.max(1)).sum::<u64>();
    }

    /// How many calls were added.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    pub(crate) fn finish(mut self) -> Replayed {
        let rest = self.matching.0.finish().messages;
        self.stretches.add(&Batch::default(), &[], &rest);
        self.stretches.result()
    }
}
