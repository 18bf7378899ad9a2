//! Replays a run in stretches whose calls fit into memory, and adds up what they save.
//!
//! A full stretch is replayed once and only its result is kept. The last stretch can be replayed while it grows.

use super::graph::{kinds, refer, share_cpus};
use super::replayed::Replayed;
use crate::processors::Processors;
use crate::side_by_side::SideBySide;
use mpiscope_diagnosis::Reference;
use mpiscope_diagnosis::whatif::{GraphBuilder, InTurn, Replayer};
use mpiscope_matching::Matcher;
use mpiscope_model::{Batch, Call, Message, Nanoseconds, Node};

/// The calls of a stretch while the job runs, which is replayed about once a second.
pub(super) const LIVE_CALLS: usize = 1 << 17;
/// The calls of a stretch at the end of the run; about half a gigabyte.
const FINAL_CALLS: usize = 1 << 22;
/// A stretch grows until each rank has this many calls, up to the limit below.
const CALLS_PER_RANK: usize = 512;
const MOST_FOR_RANKS: usize = 1 << 20;

/// A stretch of a job with many ranks needs more calls.
fn enough_for(ranks: usize) -> usize {
    (CALLS_PER_RANK * ranks).min(MOST_FOR_RANKS)
}

pub(super) struct Stretches {
    replayer: &'static (dyn Replayer + Sync),
    builder: GraphBuilder,
    least_calls: usize,
    ranks: usize,
    nodes: usize,
    processors: Processors,
    /// The sum over full stretches.
    earlier: Replayed,
    /// A better placement; empty where none is known.
    advised: Vec<Node>,
    /// When the first call began, replayed or skipped.
    from_ns: Option<Nanoseconds>,
    /// All calls that ended before this time are in.
    until_ns: Nanoseconds,
    is_paused: bool,
    is_skipping: bool,
    has_skipped: bool,
}

impl Stretches {
    fn new(least_calls: usize, replayer: &'static (dyn Replayer + Sync)) -> Self {
        Self {
            replayer,
            builder: GraphBuilder::new(kinds()),
            least_calls,
            ranks: 0,
            nodes: 0,
            processors: Processors::default(),
            earlier: Replayed::default(),
            advised: Vec::new(),
            from_ns: None,
            until_ns: 0,
            is_paused: false,
            is_skipping: false,
            has_skipped: false,
        }
    }

    /// Those of a job that goes on, which needs all CPUs but one.
    pub(super) fn live() -> Self {
        Self::new(LIVE_CALLS, &InTurn)
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
        self.from_ns = self.from_ns.or_else(|| batch.calls.iter().map(|call| call.start_ns).min());
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
        self.builder.call_count() >= self.least_calls.max(enough_for(self.ranks)) && self.end_stretch()
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
        let from_ns = self.from_ns.unwrap_or(Nanoseconds::MAX);
        if self.has_skipped { result.scaled_to(from_ns..self.until_ns) } else { result }
    }

    /// The sum over earlier stretches and this one.
    fn replay(&self, mut stretch: GraphBuilder) -> Replayed {
        let mut sum = self.earlier.clone();
        share_cpus(&mut stretch, &self.processors);
        if stretch.call_count() > 0
            && let Ok(graph) = stretch.finish()
        {
            sum.add(&Replayed::replay(&graph, &self.advised, self.replayer));
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
    rows: u64,
    /// Where only some parts of the run are replayed.
    parts: Option<Parts>,
}

/// Parts of a run that stand for it: one of equal length in the middle of each of equal stretches.
#[derive(Debug, Clone, Copy)]
struct Parts {
    stretch_calls: u64,
    part_calls: u64,
}

/// A stretch is this many times as long as the part that stands for it; where ranks make few calls, this many at least.
const STRETCH_OF_PART: u64 = 8;
const LEAST_STRETCH_OF_PART: u64 = 4;

impl Parts {
    fn new(calls: u64, part_calls: u64) -> Self {
        let part_calls = part_calls.min(calls / LEAST_STRETCH_OF_PART).max(1);
        let count = (calls / (STRETCH_OF_PART * part_calls)).max(1);
        Self { stretch_calls: (calls / count).max(1), part_calls }
    }

    /// Whether what comes after this number of calls is in a part.
    fn contains(self, calls: u64) -> bool {
        let begin = self.stretch_calls.saturating_sub(self.part_calls) / 2;
        (begin..begin + self.part_calls).contains(&(calls % self.stretch_calls))
    }
}

impl LogStretches {
    pub(super) fn new(reference: &Reference, advised: &[Node], recorder_ns: u64) -> Self {
        let mut stretches = Stretches::new(FINAL_CALLS, &SideBySide);
        stretches.refer(reference);
        stretches.advise(advised);
        stretches.recorded_in(recorder_ns);
        Self { stretches, matching: LogMatching::default(), calls: 0, rows: 0, parts: None }
    }

    /// Of an eighth to a quarter of a run of some calls and ranks, without another placement.
    pub(super) fn of_parts(reference: &Reference, recorder_ns: u64, (calls, ranks): (u64, u32)) -> Self {
        let part_calls = enough_for(ranks as usize).max(LIVE_CALLS) as u64;
        Self { parts: Some(Parts::new(calls, part_calls)), ..Self::new(reference, &[], recorder_ns) }
    }

    /// Adds a batch whose times are corrected.
    pub(super) fn add(&mut self, batch: &Batch) {
        let messages = self.matching.messages(batch);
        if let Some(parts) = self.parts {
            self.stretches.pause(!parts.contains(self.rows));
        }
        self.stretches.add(batch, &batch.calls, &messages);
        self.rows += batch.calls.len() as u64;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_an_eighth_of_a_long_run_and_a_quarter_of_a_short_one() {
        let parts = |calls: u64| {
            let parts = Parts::new(calls, 100);
            (0..calls).filter(|at| parts.contains(*at)).collect::<Vec<u64>>()
        };
        assert_eq!(parts(8_000).len(), 1_000);
        assert_eq!(parts(8_000)[..100], (350..450).collect::<Vec<_>>());
        assert_eq!(parts(500), (200..300).collect::<Vec<_>>());
        assert_eq!(parts(80), (30..50).collect::<Vec<_>>());
        assert_eq!(parts(0), [] as [u64; 0]);
        assert_eq!(parts(1_599).len(), 100);
    }
}
