//! Replays a run in stretches whose calls fit into memory, and adds up what they save.
//!
//! A full stretch is replayed once and only its result is kept. The last stretch can be replayed while it grows. Of a finished run,
//! full ones are replayed while the next one is read.

use super::graph::{kinds, refer, share_cpus};
use super::replayed::Replayed;
use crate::processors::Processors;
use crate::side_by_side::SideBySide;
use crossbeam_channel::bounded;
use mpiscope_diagnosis::Reference;
use mpiscope_diagnosis::whatif::{GraphBuilder, InTurn, Replayer};
use mpiscope_matching::Matcher;
use mpiscope_model::{Batch, Call, Message, Nanoseconds, Node};
use std::thread::JoinHandle;
use std::{panic, thread};

/// The calls of a stretch while the job runs, which is replayed about once a second.
pub(super) const LIVE_CALLS: usize = 1 << 17;
/// The calls that are in memory at the end of the run; about half a gigabyte. In a run with more of them, a stretch has half of that:
/// one grows while another is replayed.
pub(super) const FINAL_CALLS: usize = 1 << 22;
/// A stretch grows until each rank has this many calls, up to the limit below.
const CALLS_PER_RANK: usize = 512;
const MOST_FOR_RANKS: usize = 1 << 20;

/// A stretch of a job with many ranks needs more calls.
fn enough_for(ranks: usize) -> usize {
    (CALLS_PER_RANK * ranks).min(MOST_FOR_RANKS)
}

/// A replay that another thread may do; nothing where there is nothing to replay.
type Replay = Box<dyn FnOnce() -> Option<Replayed> + Send>;

pub(super) struct Stretches {
    replayer: &'static (dyn Replayer + Sync),
    builder: GraphBuilder,
    least_calls: usize,
    ranks: usize,
    nodes: usize,
    processors: Processors,
    /// The sum over full stretches.
    earlier: Replayed,
    /// Whether full stretches are replayed beside what comes next, and the last of them, until its result is known.
    is_beside: bool,
    running: Option<JoinHandle<Option<Replayed>>>,
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
            is_beside: false,
            running: None,
            advised: Vec::new(),
            from_ns: None,
            until_ns: 0,
            is_paused: false,
            is_skipping: false,
            has_skipped: false,
        }
    }

    /// Those of a finished run: up to this number of calls are in memory.
    fn of_finished(most_calls: usize) -> Self {
        Self { is_beside: true, ..Self::new((most_calls / 2).max(1), &SideBySide) }
    }

    /// One that ends with the run, unless that has more calls than this: then it keeps none.
    fn whole(most_calls: usize) -> Self {
        let builder = GraphBuilder::new(kinds()).with_limit(most_calls);
        Self { builder, ..Self::new(usize::MAX, &SideBySide) }
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

    /// Whether there were too many calls to keep.
    fn is_too_large(&self) -> bool {
        self.builder.is_too_large()
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
        batch.collected.iter().chain(&batch.undiagnosed).for_each(|of| self.builder.collected(*of));
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
            let replay = self.replay(stretch);
            self.settle();
            if self.is_beside { self.start(replay) } else { self.add_result(replay()) }
        }
        has_calls
    }

    /// A replay of a stretch, for any thread.
    fn replay(&self, mut stretch: GraphBuilder) -> impl FnOnce() -> Option<Replayed> + Send + use<> {
        share_cpus(&mut stretch, &self.processors);
        let (advised, replayer) = (self.advised.clone(), self.replayer);
        move || {
            let has_calls = stretch.call_count() > 0;
            let graph = has_calls.then(|| stretch.finish().ok())??;
            Some(Replayed::replay(&graph, &advised, replayer))
        }
    }

    /// Replays beside what comes next. Where no thread can be started, this one does it.
    fn start(&mut self, replay: impl FnOnce() -> Option<Replayed> + Send + 'static) {
        let (give, taken) = bounded(1);
        let thread = thread::Builder::new().name("replay".into());
        match thread.spawn(move || taken.recv().ok().and_then(|replay: Replay| replay())) {
            Ok(running) => {
                // It waits for just that.
                let _ = give.send(Box::new(replay) as Replay);
                self.running = Some(running);
            }
            Err(_) => self.add_result(replay()),
        }
    }

    /// Waits for the replay that goes on.
    fn settle(&mut self) {
        if let Some(running) = self.running.take() {
            let result = running.join().unwrap_or_else(|fault| panic::resume_unwind(fault));
            self.add_result(result);
        }
    }

    fn add_result(&mut self, result: Option<Replayed>) {
        if let Some(result) = result {
            self.earlier.add(&result);
        }
    }

    /// The result so far.
    pub(super) fn result(&self) -> Replayed {
        self.with_last(self.replay(self.builder.clone())())
    }

    /// The result of all.
    fn finish(mut self) -> Replayed {
        let last = std::mem::replace(&mut self.builder, GraphBuilder::new(Vec::new()));
        let last = self.replay(last)();
        self.settle();
        self.with_last(last)
    }

    /// The sum over earlier stretches and the last one.
    fn with_last(&self, last: Option<Replayed>) -> Replayed {
        let mut sum = self.earlier.clone();
        if let Some(last) = last {
            sum.add(&last);
        }
        sum.cpu_contention = self.processors.shortage();
        sum.stopped = self.processors.stopped();
        sum.blocked = self.processors.blocked();
        let from_ns = self.from_ns.unwrap_or(Nanoseconds::MAX);
        if self.has_skipped { sum.scaled_to(from_ns..self.until_ns) } else { sum }
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
    extent: Extent,
}

/// What is replayed.
#[derive(Debug, Clone, Copy)]
enum Extent {
    /// All calls, at the end.
    Whole,
    /// Some parts of the run.
    Parts(Parts),
    /// All stretches.
    Stretches,
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
    /// All of a run, with up to this number of calls in memory.
    pub(super) fn new(reference: &Reference, advised: &[Node], recorder_ns: u64, most_calls: usize) -> Self {
        let stretches = Stretches::of_finished(most_calls);
        let mut all = Self::from_stretches(stretches, Extent::Stretches, reference, recorder_ns);
        all.stretches.advise(advised);
        all
    }

    /// Of a run of some calls and ranks: all of it if that may be in memory, when it is complete; otherwise an eighth to a quarter.
    /// Without another placement, so far.
    pub(super) fn of_first_reading(
        reference: &Reference,
        recorder_ns: u64,
        (calls, ranks): (u64, u32),
        most_calls: usize,
    ) -> Self {
        let (stretches, extent) = if calls <= most_calls as u64 {
            (Stretches::whole(most_calls), Extent::Whole)
        } else {
            let part_calls = enough_for(ranks as usize).max(LIVE_CALLS).min(most_calls) as u64;
            (Stretches::of_finished(most_calls), Extent::Parts(Parts::new(calls, part_calls)))
        };
        Self::from_stretches(stretches, extent, reference, recorder_ns)
    }

    fn from_stretches(
        mut stretches: Stretches,
        extent: Extent,
        reference: &Reference,
        recorder_ns: u64,
    ) -> Self {
        stretches.refer(reference);
        stretches.recorded_in(recorder_ns);
        Self { stretches, matching: LogMatching::default(), calls: 0, rows: 0, extent }
    }

    /// Whether this has all calls of the run, and none was replayed yet.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.extent, Extent::Whole) && !self.stretches.is_too_large()
    }

    /// Adds a batch whose times are corrected.
    pub(super) fn add(&mut self, batch: &Batch) {
        if matches!(self.extent, Extent::Whole) && self.stretches.is_too_large() {
            // It has more calls than its manifest says: whoever reads it again replays it.
            return;
        }
        let messages = self.matching.messages(batch);
        if let Extent::Parts(parts) = self.extent {
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

    /// The result of all, compared with a better placement.
    pub(super) fn finish_with(mut self, advised: &[Node]) -> Replayed {
        self.stretches.advise(advised);
        self.finish()
    }

    pub(super) fn finish(mut self) -> Replayed {
        let rest = self.matching.0.finish().messages;
        self.stretches.add(&Batch::default(), &[], &rest);
        self.stretches.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_ingest::Ingest;
    use mpiscope_model::Blame;
    use mpiscope_synth::{Spec, generate};

    /// What these make of a simulated job, a batch at a time.
    fn replayed<const COUNT: usize>(nodes: u32, mut all: [LogStretches; COUNT]) -> [LogStretches; COUNT] {
        let mut spec = Spec::new("ring".parse().unwrap(), 16, 6.0, 20_000.0);
        spec.nodes = nodes;
        spec.disturb = vec!["imbalance".parse().unwrap()];
        let mut ingest = Ingest::for_diagnosis();
        for batch in generate(&spec).unwrap().filter_map(|message| ingest.step(message)) {
            all.iter_mut().for_each(|of| of.add(&batch));
        }
        all
    }

    fn first_reading(calls: u64, most_calls: usize) -> LogStretches {
        LogStretches::of_first_reading(&Reference::None, 0, (calls, 16), most_calls)
    }

    #[test]
    fn a_whole_run_is_replayed_as_in_the_second_reading() {
        for nodes in [1, 4] {
            let advised: Vec<Node> = (0..16).map(|rank| Node(rank % nodes)).collect();
            let second = LogStretches::new(&Reference::None, &advised, 0, FINAL_CALLS);
            let [first, second] = replayed(nodes, [first_reading(0, FINAL_CALLS), second]);
            assert!(first.is_whole() && !second.is_whole());
            assert_eq!(first.calls(), second.calls());
            let (first, second) = (first.finish_with(&advised), second.finish());
            assert!(first.savings().wall_s[Blame::Pattern as usize] > 0.1);
            assert_eq!(first.savings(), second.savings());
            assert_eq!(first.whatif(6_000_000_000), second.whatif(6_000_000_000));
            assert_eq!(first.parts, second.parts);
        }
    }

    #[test]
    fn parts_of_a_run_save_about_what_all_of_it_does() {
        let [whole, some] = replayed(1, [first_reading(0, FINAL_CALLS), first_reading(100_000, 4_000)]);
        assert!(whole.is_whole() && !some.is_whole());
        let (whole, some) = (whole.finish_with(&[]), some.finish());
        assert!(whole.share() > 0.99 && (0.05..0.5).contains(&some.share()), "{} of the run", some.share());
        let [all_s, some_s] = [whole, some].map(|of| of.savings().wall_s[Blame::Pattern as usize]);
        assert!((0.85..1.15).contains(&(some_s / all_s)), "{some_s} s instead of {all_s}");
    }

    #[test]
    fn what_is_replayed_beside_the_reading_adds_up_as_in_turn() {
        let all = || LogStretches::new(&Reference::None, &[], 0, 40_000);
        let mut in_turn = all();
        in_turn.stretches.is_beside = false;
        let [beside, in_turn] = replayed(1, [all(), in_turn]);
        assert!(beside.stretches.running.is_some() && in_turn.stretches.running.is_none());
        let (beside, in_turn) = (beside.finish(), in_turn.finish());
        assert_eq!(beside.savings(), in_turn.savings());
        assert_eq!(beside.parts, in_turn.parts);
        assert_eq!(beside.whatif(6_000_000_000), in_turn.whatif(6_000_000_000));
    }

    #[test]
    fn of_a_run_with_more_calls_than_its_manifest_has_nothing_is_kept() {
        let [first] = replayed(1, [first_reading(0, 10_000)]);
        assert!(!first.is_whole());
        assert_eq!(first.finish().share(), 0.0);
    }

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
