//! One pass over a log.

use crate::engine::replay;
use mpiscope_analysis::{Advice, BudgetOptions, Budgeter, Version, Windowed};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Batch, Correction, Event};
use mpiscope_recording::{Corrections, Latency, Manifest, WalReader};
use mpiscope_wire::Message;

/// Learns from a log.
pub(super) fn learn(manifest: &Manifest, log: &WalReader) -> Windowed {
    over(Windowed::new(options(manifest.window_ns, manifest.latency)), manifest, log)
}

/// Judges a log by criteria and advice, and by what the whole run was like.
pub(super) fn by(
    manifest: &Manifest,
    log: &WalReader,
    version: Version,
    advice: Advice,
    learnt: &Budgeter,
) -> Windowed {
    let course = learnt.course(&version);
    let mut windowed = Windowed::new(options(manifest.window_ns, manifest.latency)).with_criteria(version);
    windowed.budgeter = windowed.budgeter.with_advice(advice).with_course(course);
    over(windowed, manifest, log)
}

/// How a run is judged.
pub(crate) fn options(window_ns: u64, latency: Latency) -> BudgetOptions {
    let latency = match latency {
        Latency::Felt => mpiscope_analysis::Latency::Felt,
        Latency::Span => mpiscope_analysis::Latency::Span,
    };
    BudgetOptions { window_ns: window_ns.max(1), latency, ..BudgetOptions::default() }
}

fn over(mut windowed: Windowed, manifest: &Manifest, log: &WalReader) -> Windowed {
    let corrections = Corrections::of(manifest);
    // By the last clocks calls may end by so much sooner or later than the log says.
    let furthest_ns = manifest.clock.versions.last().map_or(0, |last| {
        let adds = last
            .nodes
            .iter()
            .flat_map(|node| node.corrections.iter().map(|(_, add_ns)| add_ns.unsigned_abs()));
        adds.max().unwrap_or(0)
    });
    let mut ingest = Ingest::to_be_judged();
    replay(log, |message| {
        let settles = matches!(message, Message::Knot(_) | Message::RunEnd(_));
        ingest.feed(message);
        if settles {
            take(&mut windowed, ingest.take(), &corrections, furthest_ns);
        }
    });
    ingest.settle_rest();
    take(&mut windowed, ingest.take(), &corrections, furthest_ns);
    windowed.finish();
    windowed
}

fn take(windowed: &mut Windowed, mut batch: Batch, corrections: &Corrections, furthest_ns: u64) {
    if furthest_ns > 0 {
        batch.activities.iter_mut().for_each(|activity| {
            *activity = corrected_activity(activity, corrections.of_rank(activity.rank));
        });
        for (event, end_ns) in batch.events.iter_mut().zip(&mut batch.events_end_ns) {
            let correction = corrections.of_rank(event.rank());
            *end_ns = correction.apply(*end_ns);
            correct_event(event, correction);
        }
    }
    windowed.feed(&batch, batch.until_ns.saturating_sub(furthest_ns));
}

fn corrected_activity(activity: &Activity, correction: &Correction) -> Activity {
    Activity {
        start_ns: correction.apply(activity.start_ns),
        end_ns: correction.apply(activity.end_ns),
        since_ns: correction.apply(activity.since_ns),
        ..*activity
    }
}

fn correct_event(event: &mut Event, correction: &Correction) {
    let correct = |time_ns: &mut u64| *time_ns = correction.apply(*time_ns);
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
