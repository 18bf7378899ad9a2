//! Reading a recording into figures: from its Parquet files when it is complete, else from its log and, when nobody
//! records any more, from what still lies in the rings.

use crate::agent::{Agent, Resume};
use crate::daemon::Live;
use crate::engine::{Engine, replay};
use anyhow::Result;
use mpiscope_analysis::Counts;
use mpiscope_model::Totals;
use mpiscope_recording::{Job, Recording, State};
use std::path::Path;
use std::time::Duration;

/// The figures of a recording.
pub(crate) struct Loaded {
    pub(crate) run: String,
    pub(crate) state: State,
    pub(crate) job: Job,
    pub(crate) totals: Totals,
    pub(crate) lost_calls: u64,
    pub(crate) counts: Counts,
    pub(crate) missing: Vec<String>,
}

pub(crate) fn load(dir: &Path) -> Result<Loaded> {
    let recording = Recording::open(dir)?;
    match recording.manifest().state {
        State::Complete => Ok(from_segments(&recording)),
        State::Running | State::Incomplete if recording.wal().is_ok_and(|log| !log.is_empty()) => {
            from_log(dir, &recording)
        }
        State::Running | State::Incomplete => Ok(from_segments(&recording)),
    }
}

fn from_segments(recording: &Recording) -> Loaded {
    let manifest = recording.manifest();
    let mut counts = Counts::new(manifest.window_ns);
    let mut totals = Totals {
        unmatched_sends: manifest.totals.unmatched_sends,
        unmatched_receives: manifest.totals.unmatched_receives,
        uncertain_messages: manifest.totals.uncertain_messages,
        ..Totals::default()
    };
    let mut missing = manifest.missing.clone();
    let mut calls = recording.calls();
    for batch in calls.by_ref() {
        totals.calls += batch.len() as u64;
        totals.polls += batch.iter().map(|call| call.count.saturating_sub(1)).sum::<u64>();
        counts.calls(&batch);
        // Only the totals are wanted here.
        counts.take_windows(u64::MAX);
    }
    let mut messages = recording.messages();
    for batch in messages.by_ref() {
        totals.messages += batch.len() as u64;
        for message in &batch {
            totals.bytes += message.bytes;
            totals.inter_messages += u64::from(message.inter);
            totals.intra_messages += u64::from(!message.inter);
        }
        counts.messages(&batch);
    }
    for fault in calls.faults().iter().chain(messages.faults()) {
        missing.push(format!("{} rows of {}: {}", fault.missing_rows, fault.file, fault.text));
    }
    Loaded {
        run: manifest.run.clone(),
        state: manifest.state,
        job: manifest.job.clone(),
        totals,
        lost_calls: mpiscope_model::Losses::from(manifest.lost).total(),
        counts,
        missing,
    }
}

fn from_log(dir: &Path, recording: &Recording) -> Result<Loaded> {
    let manifest = recording.manifest();
    let mut engine = Engine::new(manifest.window_ns);
    let faults = replay(&recording.wal()?, |message| drop(engine.feed(message)));
    let mut state = State::Running;
    if let Some(live) = Live::of_dead(dir) {
        state = State::Incomplete;
        rest_of_rings(&live, &mut engine);
    } else if !dir.join(crate::daemon::LIVE_FILE).exists() {
        state = State::Incomplete;
    }
    engine.finish();
    let mut missing = engine.missing();
    match state {
        State::Running => missing.push("the run is not over: these are the figures until now".into()),
        _ => missing.push("the recording was not completed: these are the figures of its log".into()),
    }
    missing.extend(faults);
    let started = engine.ingest().started();
    let ended = engine.ingest().ended();
    let job = Job {
        ranks: engine.world_size(),
        nodes: engine.job_nodes(),
        mpi: engine.library(),
        command: started.map(|start| start.command.clone()).unwrap_or_default(),
        duration_s: Some(ended.map_or(engine.until_ns, |(_, end_ns)| end_ns) as f64 / 1e9),
        exit: ended.and_then(|(exit, _)| exit),
        started_unix_ns: started.map_or(0, |start| start.unix_ns),
    };
    Ok(Loaded {
        run: manifest.run.clone(),
        state,
        job,
        totals: engine.totals,
        lost_calls: engine.losses.total(),
        counts: engine.counts,
        missing,
    })
}

/// Calls that reached the rings and that nobody took: read, and left where they are.
fn rest_of_rings(live: &Live, engine: &mut Engine) {
    let resume: Resume = engine.resume();
    let mut agent = Agent::new(live.rings.clone(), resume, None);
    let mut take = |message| drop(engine.feed(message));
    agent.drain(Duration::ZERO, |agent| agent.pass(&mut take));
    agent.look(&mut take);
}
