//! The graph of a run: from the rows of a recording, or from the batches of a pass over its log.

use mpiscope_analysis::{Matcher, Reference, Scope};
use mpiscope_diagnosis::{CallKind, Graph, GraphBuilder, TooLarge};
use mpiscope_model::{Batch, Nanoseconds};
use mpiscope_recording::{Corrections, JobNode, Recording};
use mpiscope_wire::FUNCTIONS;

/// What all functions do, by number.
pub(crate) fn kinds() -> Vec<CallKind> {
    let most = FUNCTIONS.iter().map(|entry| usize::from(entry.id)).max().unwrap_or(0);
    let mut kinds = vec![CallKind::Local; most + 1];
    for entry in FUNCTIONS {
        kinds[usize::from(entry.id)] = CallKind::of_name(entry.name);
    }
    kinds
}

/// Has messages between nodes held against what they take in an undisturbed network, where that is known.
pub(super) fn refer(builder: &mut GraphBuilder, reference: &Reference) {
    let (Reference::Quiet(version) | Reference::Given(version)) = reference else { return };
    for criterion in version.messages().filter(|criterion| criterion.scope == Scope::Inter) {
        let (from, to) = criterion.sizes();
        builder.refer(from.midpoint(to.saturating_sub(1)), criterion.median_ns);
    }
}

/// Collects a graph beside a pass over a log.
pub(super) struct GraphCollector {
    builder: GraphBuilder,
    matcher: Matcher,
}

impl GraphCollector {
    pub(super) fn new(reference: &Reference) -> Self {
        let mut builder = GraphBuilder::new(kinds());
        refer(&mut builder, reference);
        Self { builder, matcher: Matcher::default() }
    }

    /// Takes in a batch whose events have their last times.
    pub(super) fn feed(&mut self, batch: &Batch, corrections: &Corrections) {
        for info in &batch.ranks {
            self.matcher.place(info.rank, info.node);
            self.builder.place(info.rank, info.node);
        }
        for call in &batch.calls {
            let correction = corrections.of_rank(call.rank);
            let corrected = |at_ns: Nanoseconds| correction.apply(at_ns);
            let (start_ns, end_ns) = (corrected(call.start_ns), corrected(call.end_ns));
            self.builder.call(&mpiscope_model::Call { start_ns, end_ns, ..*call });
        }
        batch.collected.iter().for_each(|of| self.builder.collected(*of));
        batch.scheduling.iter().for_each(|of| self.builder.scheduling(*of));
        let matched = self.matcher.feed(&batch.events);
        matched.messages.iter().for_each(|message| self.builder.message(message));
    }

    pub(super) fn finish(mut self) -> Result<Graph, TooLarge> {
        self.matcher.finish().messages.iter().for_each(|message| self.builder.message(message));
        self.builder.finish()
    }
}

/// A builder that knows where ranks run.
pub(crate) fn builder(nodes: &[JobNode]) -> GraphBuilder {
    let mut builder = GraphBuilder::new(kinds());
    for (node, of) in (0_u32..).zip(nodes) {
        of.ranks.iter().for_each(|rank| builder.place(*rank, node));
    }
    builder
}

/// The graph of a recording whose rows are in segments; and what is wrong with these, in sentences.
pub(crate) fn of_segments(recording: &Recording) -> Result<(Graph, Vec<String>), TooLarge> {
    let mut builder = builder(&recording.manifest().job.nodes);
    let mut calls = recording.calls();
    calls.by_ref().for_each(|batch| batch.iter().for_each(|call| builder.call(call)));
    let mut messages = recording.messages();
    messages.by_ref().for_each(|batch| batch.iter().for_each(|message| builder.message(message)));
    let mut scheduling = recording.scheduling();
    scheduling.by_ref().for_each(|batch| batch.iter().for_each(|of| builder.scheduling(*of)));
    let faults = calls.faults().iter().chain(messages.faults()).chain(scheduling.faults());
    let faults = faults.map(|fault| fault.text.clone()).collect();
    builder.finish().map(|graph| (graph, faults))
}
