//! Reading a recording into figures: from its Parquet files when it is complete, else from its log and, when nobody
//! records any more, from what still lies in the rings.

use crate::agent::{Agent, Resume};
use crate::daemon::{LIVE_FILE, Live, Records};
use crate::engine::{Engine, Step, WindowCell, replay};
use crate::processors::Processors;
use anyhow::Result;
use mpiscope_analysis::{self as analysis, Counts};
use mpiscope_model::{Call, Losses, Message, RankInfo, SiteInfo, Totals};
use mpiscope_recording::{Clock, ClockNode, Job, Recording, State};
use std::path::Path;
use std::time::Duration;

/// The figures of a recording.
pub(crate) struct Loaded {
    pub(crate) run: String,
    pub(crate) state: State,
    pub(crate) job: Job,
    pub(crate) totals: Totals,
    pub(crate) clock: Clock,
    pub(crate) losses: Losses,
    pub(crate) counts: Counts,
    pub(crate) traffic: analysis::Traffic,
    pub(crate) ranks: Vec<RankInfo>,
    pub(crate) sites: Vec<SiteInfo>,
    pub(crate) processors: Processors,
    pub(crate) missing: Vec<String>,
}

impl Loaded {
    /// The clock of a node, as well as it is known.
    pub(crate) fn clock_of(&self, node: usize) -> Option<&ClockNode> {
        self.clock.versions.last()?.nodes.iter().find(|clock| clock.node as usize == node)
    }
}

/// Who talked with whom in a recording.
pub(crate) struct Traffic {
    pub(crate) job: Job,
    pub(crate) traffic: analysis::Traffic,
    /// Messages that should be there and are not, a sentence each.
    pub(crate) faults: Vec<String>,
}

/// Rows of a recording as they are read.
pub(crate) struct Rows {
    pub(crate) calls: Vec<Call>,
    /// What the calls added to the windows.
    pub(crate) windows: Vec<WindowCell>,
    /// Messages that are in no segment.
    pub(crate) messages: Vec<Message>,
}

/// What the rows of a recording are shown to.
pub(crate) type Reader<'a> = dyn FnMut(Rows) -> Result<()> + 'a;

/// Whether the rows are read from the log, because the segments do not have them all.
pub(crate) fn is_in_log(recording: &Recording) -> bool {
    recording.manifest().state != State::Complete && recording.wal().is_ok_and(|log| !log.is_empty())
}

/// Reads a recording to its end.
pub(crate) fn load(dir: &Path, recording: &Recording, reader: &mut Reader<'_>) -> Result<Loaded> {
    if is_in_log(recording) { from_log(dir, recording, reader) } else { from_segments(recording, reader) }
}

/// Reads the messages of a recording, and nothing else where they are in files of their own.
pub(crate) fn load_traffic(dir: &Path, recording: &Recording) -> Result<Traffic> {
    if is_in_log(recording) {
        let Loaded { job, traffic, .. } = load(dir, recording, &mut |_| Ok(()))?;
        return Ok(Traffic { job, traffic, faults: Vec::new() });
    }
    let mut traffic = analysis::Traffic::default();
    let mut messages = recording.messages();
    messages.by_ref().for_each(|batch| traffic.feed(&batch));
    let faults = messages.faults().iter().map(|fault| fault.text.clone()).collect();
    Ok(Traffic { job: recording.manifest().job.clone(), traffic, faults })
}

fn from_segments(recording: &Recording, reader: &mut Reader<'_>) -> Result<Loaded> {
    let manifest = recording.manifest();
    let mut counts = Counts::new(manifest.window_ns);
    let mut totals = Totals {
        unmatched_sends: manifest.totals.unmatched_sends,
        unmatched_receives: manifest.totals.unmatched_receives,
        uncertain_messages: manifest.totals.uncertain_messages,
        clock_violations_before: manifest.totals.clock_violations_before,
        clock_violations_after: manifest.totals.clock_violations_after,
        ..Totals::default()
    };
    let mut missing = manifest.missing.clone();
    let is_broken_off =
        manifest.state == State::Running && !matches!(Live::of(recording.dir()), Records::Somebody(_));
    if is_broken_off {
        missing.push(
            "the recording was not completed, and its log is gone: these are the figures of what was sealed"
                .into(),
        );
    }
    let mut calls = recording.calls();
    for batch in calls.by_ref() {
        totals.add_calls(&batch);
        counts.calls(&batch);
        reader(Rows { calls: batch, windows: counts.take_windows(u64::MAX), messages: Vec::new() })?;
    }
    let mut messages = recording.messages();
    let mut traffic = analysis::Traffic::default();
    for batch in messages.by_ref() {
        totals.add_messages(&batch);
        counts.messages(&batch);
        traffic.feed(&batch);
    }
    let mut processors = Processors::default();
    let mut scheduling = recording.scheduling();
    scheduling.by_ref().for_each(|batch| processors.see(&batch));
    let (tables, faults) = recording.tables();
    missing.extend(faults.into_iter().map(|fault| fault.text));
    for fault in calls.faults().iter().chain(messages.faults()).chain(scheduling.faults()) {
        missing.push(format!("{} rows of {}: {}", fault.missing_rows, fault.file, fault.text));
    }
    Ok(Loaded {
        run: manifest.run.clone(),
        state: if is_broken_off { State::Incomplete } else { manifest.state },
        job: manifest.job.clone(),
        totals,
        clock: manifest.clock.clone(),
        losses: manifest.lost.into(),
        counts,
        traffic,
        ranks: tables.ranks,
        sites: tables.sites,
        processors,
        missing,
    })
}

fn from_log(dir: &Path, recording: &Recording, reader: &mut Reader<'_>) -> Result<Loaded> {
    let manifest = recording.manifest();
    let mut engine = Engine::new(manifest.window_ns);
    let mut outcome = Ok(());
    let mut traffic = analysis::Traffic::default();
    let mut take = |step: Option<Step>| {
        if let Some(step) = step {
            traffic.feed(&step.messages);
            hand_on(step, reader, &mut outcome);
        }
    };
    let faults = replay(&recording.wal()?, |message| take(engine.feed(message)));
    let records = Live::of(dir);
    if let Records::Nobody(Some(live)) = &records {
        rest_of_rings(live, &mut engine, &mut take);
    }
    let state = if matches!(records, Records::Somebody(_)) { State::Running } else { State::Incomplete };
    take(Some(engine.finish()));
    outcome?;
    let mut missing = engine.missing();
    match state {
        State::Running => missing.push("the run is not over: these are the figures until now".into()),
        _ => missing.push("the recording was not completed: these are the figures of its log".into()),
    }
    if matches!(records, Records::Unreadable) {
        missing.push(format!("{LIVE_FILE} is damaged: what still lies in the rings of the run is not here"));
    }
    missing.extend(recording.damage().map(str::to_owned));
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
        // Times are as they were told: what was wrong then is not corrected.
        totals: Totals { clock_violations_after: engine.totals.clock_violations_before, ..engine.totals },
        clock: engine.solve_clocks().0,
        losses: engine.losses,
        counts: engine.counts,
        traffic,
        ranks: engine.ranks.into_values().collect(),
        sites: engine.sites,
        processors: engine.processors,
        missing,
    })
}

fn hand_on(step: Step, reader: &mut Reader<'_>, outcome: &mut Result<()>) {
    if outcome.is_ok() {
        *outcome = reader(Rows { calls: step.calls, windows: step.windows, messages: step.messages });
    }
}

/// Calls that reached the rings and that nobody took: read, and left where they are.
fn rest_of_rings(live: &Live, engine: &mut Engine, take: &mut impl FnMut(Option<Step>)) {
    let resume: Resume = engine.resume();
    let mut agent = Agent::new(live.rings.clone(), resume, None);
    let mut take = |message| take(engine.feed_rest(message));
    agent.drain(Duration::ZERO, &mut take);
    agent.look(&mut take);
}
