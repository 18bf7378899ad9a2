//! One pass over a log.

use super::regions;
use super::stretches::LogStretches;
use anyhow::{Context as _, Result};
use crossbeam_channel::{Sender, bounded};
use mpiscope_diagnosis::{BudgetOptions, Budgeter, Reference};
use mpiscope_flow::{Flow, FlowError, FlowOptions};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Batch, Call, Event, Nearby};
use mpiscope_recording::{Corrections, Latency, Manifest, WalReader};
use mpiscope_topology::Advice;
use std::time::Instant;
use std::{panic, thread};

/// What a reading of a log led to.
pub(super) struct Reading {
    pub(super) budgeter: Budgeter,
    /// Whether there was no time for all of it.
    pub(super) is_cut: bool,
}

/// Learns from a log, up to where it is read until then.
///
/// # Errors
/// When the analysis has a fault of its own.
pub(super) fn learn(
    manifest: &Manifest,
    log: &WalReader,
    workers: usize,
    stretches: Option<&mut LogStretches>,
    until: Option<Instant>,
) -> Result<Reading> {
    over(&flow(manifest, workers), manifest, log, stretches, until)
}

/// What a second reading needs to know: criteria and advice, and what the whole run was like.
pub(super) fn second(
    manifest: &Manifest,
    workers: usize,
    reference: &Reference,
    advice: Advice,
    learnt: &Budgeter,
) -> FlowOptions {
    let version = reference.with(learnt.learnt());
    let course = Some(learnt.course(&version));
    let (criteria, advice) = (Some(version), Some(advice));
    let regions = Some(regions::for_another_pass(learnt));
    FlowOptions { criteria, advice, course, regions, ..flow(manifest, workers) }
}

fn flow(manifest: &Manifest, workers: usize) -> FlowOptions {
    let budget = options(manifest.window_ns, manifest.latency);
    // As few neighbours as possible are on different workers.
    let neighbours = manifest.job.plausible_ranks().div_ceil(workers.max(1) as u32).max(1);
    FlowOptions { workers, neighbours, budget, ..FlowOptions::default() }
}

/// How a run is diagnosed.
pub(super) fn options(window_ns: u64, latency: Latency) -> BudgetOptions {
    let latency = match latency {
        Latency::Felt => mpiscope_diagnosis::Latency::Felt,
        Latency::Span => mpiscope_diagnosis::Latency::Span,
    };
    BudgetOptions { window_ns: window_ns.max(1), latency, ..BudgetOptions::default() }
}

/// Reads a log: all of it, or as much as there is time for until then. Stretches are filled beside.
///
/// # Errors
/// When the analysis has a fault of its own, or there is no thread for the stretches.
pub(super) fn over(
    options: &FlowOptions,
    manifest: &Manifest,
    log: &WalReader,
    stretches: Option<&mut LogStretches>,
    until: Option<Instant>,
) -> Result<Reading> {
    let Some(stretches) = stretches else { return read(options, manifest, log, None, until) };
    let (give, given) = bounded::<Batch>(MOST_WAITING);
    thread::scope(|scope| {
        let filling = thread::Builder::new().name("stretches".into());
        let filling =
            filling.spawn_scoped(scope, move || given.iter().for_each(|batch| stretches.add(&batch)));
        let filling = filling.context("start a thread that replays")?;
        let reading = read(options, manifest, log, Some(&give), until);
        drop(give);
        filling.join().unwrap_or_else(|fault| panic::resume_unwind(fault));
        reading
    })
}

/// Batches that wait for their stretch. One may have millions of calls.
const MOST_WAITING: usize = 1;

fn read(
    options: &FlowOptions,
    manifest: &Manifest,
    log: &WalReader,
    stretches: Option<&Sender<Batch>>,
    until: Option<Instant>,
) -> Result<Reading> {
    let flow = Flow::start(options)?;
    let corrections = Corrections::from_manifest(manifest);
    // By the last clocks calls may end by so much sooner or later than the log says.
    let furthest_ns = manifest.clock.versions.last().map_or(0, |last| {
        let adds = last
            .nodes
            .iter()
            .flat_map(|node| node.corrections.iter().map(|(_, add_ns)| add_ns.unsigned_abs()));
        adds.max().unwrap_or(0)
    });
    let all = Ingest::for_diagnosis();
    // The flow needs effects alone.
    let mut ingest = if stretches.is_some() { all } else { all.without_rows() };
    let mut fed = Ok(());
    let (mut is_late, mut is_cut) = (false, false);
    log.for_each_message_while(|message| {
        if is_late {
            // There is more.
            is_cut = true;
        } else if let Some(batch) = ingest.step(message) {
            fed = feed(&flow, batch, (&corrections, furthest_ns), stretches);
            is_late = until.is_some_and(|until| Instant::now() >= until);
        }
        !is_cut && fed.is_ok()
    });
    fed?;
    ingest.settle_rest();
    feed(&flow, ingest.take(), (&corrections, furthest_ns), stretches)?;
    Ok(Reading { budgeter: flow.finish()?.budgeter, is_cut })
}

fn feed(
    flow: &Flow,
    mut batch: Batch,
    (corrections, furthest_ns): (&Corrections, u64),
    stretches: Option<&Sender<Batch>>,
) -> Result<(), FlowError> {
    if furthest_ns > 0 {
        batch.until_ns = batch.until_ns.saturating_sub(furthest_ns);
        correct(&mut batch, corrections);
    }
    if let Some(stretches) = stretches {
        let sent = stretches.send(for_stretches(&mut batch));
        // Whoever fills them panicked.
        sent.map_err(|_| FlowError::Failed("the replays have ended".to_owned()))?;
    }
    flow.feed(batch)
}

/// What a stretch needs of a batch. The rows of calls are taken from it: the flow does without.
fn for_stretches(batch: &mut Batch) -> Batch {
    let is_of_thread =
        |one: &Activity, other: &Activity| one.rank == other.rank && one.call.thread() == other.call.thread();
    Batch {
        ranks: batch.ranks.clone(),
        calls: std::mem::take(&mut batch.calls),
        // A stretch begins with the first of each thread.
        activities: batch.activities.chunk_by(is_of_thread).map(|of_thread| of_thread[0]).collect(),
        collected: batch.collected.clone(),
        undiagnosed: batch.undiagnosed.clone(),
        events: batch.events.clone(),
        scheduling: batch.scheduling.clone(),
        until_ns: batch.until_ns,
        ..Batch::default()
    }
}

/// Moves all times to those of the last clocks. What a rank did is together, within little time.
fn correct(batch: &mut Batch, corrections: &Corrections) {
    for of_rank in batch.activities.chunk_by_mut(|one, other| one.rank == other.rank) {
        let mut correction = corrections.of_rank(of_rank[0].rank).nearby();
        for Activity { start_ns, end_ns, since_ns, .. } in of_rank {
            for time_ns in [start_ns, end_ns, since_ns] {
                *time_ns = correction.apply(*time_ns);
            }
        }
    }
    for of_rank in batch.calls.chunk_by_mut(|one, other| one.rank == other.rank) {
        let mut correction = corrections.of_rank(of_rank[0].rank).nearby();
        for Call { start_ns, end_ns, .. } in of_rank {
            for time_ns in [start_ns, end_ns] {
                *time_ns = correction.apply(*time_ns);
            }
        }
    }
    let mut ends_ns = batch.events_end_ns.iter_mut();
    for of_rank in batch.events.chunk_by_mut(|one, other| one.rank() == other.rank()) {
        let mut correction = corrections.of_rank(of_rank[0].rank()).nearby();
        for (event, end_ns) in of_rank.iter_mut().zip(&mut ends_ns) {
            *end_ns = correction.apply(*end_ns);
            correct_event(event, &mut correction);
        }
    }
}

fn correct_event(event: &mut Event, correction: &mut Nearby<'_>) {
    let mut correct = |time_ns: &mut u64| *time_ns = correction.apply(*time_ns);
    match event {
        Event::Send { begin_ns, blocked_until_ns, .. } => {
            correct(begin_ns);
            blocked_until_ns.iter_mut().for_each(correct);
        }
        Event::Post { at_ns, .. } => correct(at_ns),
        Event::Receive { begin_ns, end_ns, .. } => {
            correct(begin_ns);
            correct(end_ns);
        }
        Event::Freed { .. } | Event::Cancelled { .. } | Event::Lost { .. } | Event::Numbers { .. } => {}
    }
}
