//! The graph of a run from the rows of a recording.

use mpiscope_diagnosis::{CallKind, Graph, GraphBuilder, TooLarge};
use mpiscope_recording::{JobNode, Recording};
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
