//! The graph of a run from the rows of a recording.

use super::reference_criteria;
use crate::processors::Processors;
use anyhow::{Result, anyhow};
use mpiscope_diagnosis::Reference;
use mpiscope_diagnosis::whatif::{CallKind, Graph, GraphBuilder, TooLarge};
use mpiscope_model::{Node, Rank};
use mpiscope_recording::Recording;
use mpiscope_wire::FUNCTIONS;

/// What all functions do, by number.
pub(crate) fn kinds() -> Vec<CallKind> {
    let most = FUNCTIONS.iter().map(|entry| usize::from(entry.id)).max().unwrap_or(0);
    let mut kinds = vec![CallKind::Local; most + 1];
    for entry in FUNCTIONS {
        kinds[usize::from(entry.id)] = match entry.is_made_by_all() {
            true => CallKind::Collective { flow: None, is_barrier: true },
            false => CallKind::of_name(entry.name),
        };
    }
    kinds
}

/// Sets what messages and collectives take without network contention, where that was measured.
pub(super) fn refer(builder: &mut GraphBuilder, reference: &Reference) {
    if let Reference::Quiet(version) | Reference::Given(version) = reference {
        builder.refer_to(version);
    }
}

/// Sets how many CPUs the ranks of each node may use.
pub(super) fn share_cpus(builder: &mut GraphBuilder, processors: &Processors) {
    builder.share_cpus(processors.by_node().iter().map(|(node, cpus)| (*node, cpus.usable)));
}

/// A builder that knows where ranks run, and the criteria of the run.
///
/// # Errors
/// When the criteria cannot be read.
pub fn builder(recording: &Recording) -> Result<GraphBuilder> {
    let job = &recording.manifest().job;
    let mut builder = GraphBuilder::new(kinds());
    for (node, of) in (0_u32..).zip(&job.nodes) {
        of.ranks.iter().for_each(|rank| builder.place(Rank(*rank), Node(node)));
    }
    refer(&mut builder, &reference_criteria::reference(recording.dir(), job)?);
    builder.recorded_in(recording.manifest().recorder_ns());
    let mut processors = Processors::default();
    processors.place(&recording.tables().0.ranks);
    share_cpus(&mut builder, &processors);
    Ok(builder)
}

/// The graph of all rows.
///
/// # Errors
/// When they are too many.
pub fn finish(builder: GraphBuilder) -> Result<Graph> {
    builder.finish().map_err(|TooLarge { most_calls }| {
        anyhow!("the run has more than {most_calls} calls, which are too many for a replay")
    })
}

/// The graph of a recording whose rows are in segments; and what is wrong with these, in sentences.
pub fn of_segments(recording: &Recording) -> Result<(Graph, Vec<String>)> {
    let (builder, faults) = builder_of_segments(recording)?;
    Ok((finish(builder)?, faults))
}

/// Likewise what it is built from.
pub fn builder_of_segments(recording: &Recording) -> Result<(GraphBuilder, Vec<String>)> {
    let mut builder = builder(recording)?;
    let mut calls = recording.calls();
    calls.by_ref().for_each(|batch| batch.iter().for_each(|call| builder.call(call)));
    let mut messages = recording.messages();
    messages.by_ref().for_each(|batch| batch.iter().for_each(|message| builder.message(message)));
    let mut scheduling = recording.scheduling();
    scheduling.by_ref().for_each(|batch| batch.iter().for_each(|of| builder.scheduling(*of)));
    let faults = calls.faults().iter().chain(messages.faults()).chain(scheduling.faults());
    let faults = faults.map(|fault| fault.text.clone()).collect();
    Ok((builder, faults))
}
