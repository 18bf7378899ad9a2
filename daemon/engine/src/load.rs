//! Reading a recording into figures: from its Parquet files when it is complete, else from its log and, when nobody
//! records any more, from what still lies in the rings.

use crate::engine::{Engine, Step, WindowCell};
use crate::hang;
use crate::live::{LIVE_FILE, Live, Records};
use crate::sums::{self, Sums};
use crate::uncounted;
use anyhow::Result;
use mpiscope_agent::{Agent, Resume};
use mpiscope_feed::{Hangs, Overview};
use mpiscope_matching::Counts;
use mpiscope_model::{Call, CommInfo, Coordinate, Losses, Message, Nanoseconds, RankInfo, SiteInfo, Totals};
use mpiscope_recording::{Clock, ClockNode, Job, Manifest, Pauses, Recording, State, Summary, Uncounted};
use mpiscope_topology as topology;
use mpiscope_verdict::{Ending, Processors};
use std::path::Path;
use std::time::Duration;

/// The figures of a recording.
pub struct Loaded {
    /// Its name.
    pub run: String,
    /// Whether the run goes on, and whether the recording is complete.
    pub state: State,
    /// Ranks, nodes, command, length.
    pub job: Job,
    /// Sums of the whole run.
    pub totals: Totals,
    pub(crate) clock: Clock,
    /// Calls that are missing, by reason.
    pub losses: Losses,
    /// Hosts with further calls that nobody counted.
    pub uncounted: Vec<Uncounted>,
    /// Sums of calls and messages.
    pub counts: Counts,
    /// Overview, traffic and windows.
    pub sums: Sums,
    /// The ranks that were seen.
    pub ranks: Vec<RankInfo>,
    /// Call sites.
    pub sites: Vec<SiteInfo>,
    /// Communicators, windows and files of MPI.
    pub communicators: Vec<CommInfo>,
    /// Where ranks are in the grids of communicators.
    pub coordinates: Vec<Coordinate>,
    /// Who waits for a CPU.
    pub processors: Processors,
    /// The CPU time that recording took from the ranks, as far as is known.
    pub recorder_ns: Nanoseconds,
    /// Whether the job hung, and what it ended in.
    pub hangs: Hangs,
    /// When recording was switched off.
    pub pauses: Option<Pauses>,
    /// What is not there or damaged, a sentence each.
    pub missing: Vec<String>,
}

impl Loaded {
    /// When the job ended, by its own account; 0 where it gave none.
    pub fn end_ns(&self) -> Nanoseconds {
        self.job.duration_s.map_or(0, |seconds| (seconds * 1e9).round() as u64)
    }

    /// How it ended, as far as that limits the verdict.
    pub fn ending(&self) -> Ending {
        let hangs = self.hangs.hangs_at_end();
        if self.state == State::Running {
            return Ending::not_yet(hangs);
        }
        Ending::finished(self.ranks.iter(), self.job.ranks, self.job.exit, hangs)
    }

    /// The clock of a node, as well as it is known.
    pub fn clock_of(&self, node: usize) -> Option<&ClockNode> {
        self.clock.versions.last()?.nodes.iter().find(|clock| clock.node as usize == node)
    }
}

/// Who talked with whom in a recording.
pub struct Traffic {
    /// Ranks, nodes, command, length.
    pub job: Job,
    /// Messages and bytes between ranks.
    pub traffic: topology::Traffic,
    /// Messages that should be there and are not, a sentence each.
    pub faults: Vec<String>,
}

/// Rows that are in no segment, as they are read.
pub struct Rows {
    /// Calls that ended.
    pub calls: Vec<Call>,
    /// Pairs of sends and receives.
    pub messages: Vec<Message>,
    /// What the calls added to the windows.
    pub windows: Vec<WindowCell>,
}

/// Who takes them in.
pub(crate) type Reader<'a> = dyn FnMut(Rows) -> Result<()> + 'a;

/// How a recording is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Sums count where the bytes of all that they sum up are those that were written.
    Checked,
    /// Sums count, and whoever shows them has that checked.
    Unchecked,
    /// What rows say counts.
    RowsAlone,
}

/// Whether the rows are read from the log, because the segments do not have them all.
pub fn is_in_log(recording: &Recording) -> bool {
    let manifest = recording.manifest();
    manifest.state != State::Complete
        && !manifest.cut.is_some_and(|cut| cut.log)
        && recording.wal().is_ok_and(|log| !log.is_empty())
}

/// When the last call ends that is in a segment.
pub fn last_call_ns(recording: &Recording) -> Nanoseconds {
    recording.call_segments().iter().map(|segment| segment.to_ns).max().unwrap_or_default()
}

/// Reads a recording to its end.
pub fn load(dir: &Path, recording: &Recording) -> Result<Loaded> {
    load_with(dir, recording, Trust::Checked, Overview::default(), &mut |_| Ok(()))
}

/// Likewise, for those who show it: into an overview that they have, and with all that is in no segment.
pub fn load_with(
    dir: &Path,
    recording: &Recording,
    trust: Trust,
    overview: Overview,
    reader: &mut Reader<'_>,
) -> Result<Loaded> {
    if is_in_log(recording) {
        return from_log(dir, recording, overview, reader);
    }
    match recording.summary().filter(|summary| is_to_be_believed(recording, summary, trust)) {
        Some(summary) => Ok(from_summary(recording, &summary, overview)),
        None => Ok(from_segments(recording, overview)),
    }
}

fn is_to_be_believed(recording: &Recording, summary: &Summary, trust: Trust) -> bool {
    let manifest = recording.manifest();
    trust != Trust::RowsAlone
        && manifest.state == State::Complete
        && adds_up(manifest, summary)
        && (trust == Trust::Unchecked || recording.damaged_segments().is_empty())
}

/// Whether the sums of a run are those of as many calls as the run has.
pub fn adds_up(manifest: &Manifest, summary: &Summary) -> bool {
    let sum = |calls: &mut dyn Iterator<Item = u64>| calls.fold(0, u64::saturating_add);
    let rows = sum(&mut manifest.segments.calls.iter().map(|segment| segment.rows));
    rows == manifest.totals.calls
        && rows == sum(&mut summary.functions.iter().map(|row| row.calls))
        && rows == sum(&mut summary.ranks.iter().map(|row| row.calls))
}

/// Reads the messages of a recording, and nothing else where they are in files of their own.
pub fn load_traffic(dir: &Path, recording: &Recording) -> Result<Traffic> {
    if is_in_log(recording) {
        let Loaded { job, sums, .. } = load(dir, recording)?;
        return Ok(Traffic { job, traffic: std::mem::take(&mut *sums.traffic.lock()), faults: Vec::new() });
    }
    let mut traffic = topology::Traffic::default();
    let mut messages = recording.messages();
    messages.by_ref().for_each(|batch| traffic.feed(&batch));
    let faults = messages.faults().iter().map(|fault| fault.text.clone()).collect();
    Ok(Traffic { job: recording.manifest().job.clone(), traffic, faults })
}

fn from_summary(recording: &Recording, summary: &Summary, overview: Overview) -> Loaded {
    let manifest = recording.manifest();
    let loaded = nothing_of(recording);
    let mut processors = loaded.processors;
    processors.see(&summary.scheduling);
    Loaded {
        totals: manifest.totals.into(),
        counts: sums::counts(summary, manifest.window_ns),
        sums: Sums::restored(summary, manifest.window_ns, overview),
        processors,
        ..loaded
    }
}

fn from_segments(recording: &Recording, overview: Overview) -> Loaded {
    let mut loaded = nothing_of(recording);
    loaded.sums = Sums::sharing(overview);
    let mut calls = recording.calls();
    for batch in calls.by_ref() {
        loaded.totals.add_calls(&batch);
        loaded.counts.calls(&batch);
        loaded.sums.add(&batch, &[], &loaded.counts.take_windows(u64::MAX));
    }
    let mut messages = recording.messages();
    for batch in messages.by_ref() {
        loaded.totals.add_messages(&batch);
        loaded.counts.messages(&batch);
        loaded.sums.add(&[], &batch, &[]);
    }
    let mut scheduling = recording.scheduling();
    scheduling.by_ref().for_each(|batch| loaded.processors.see(&batch));
    for fault in calls.faults().iter().chain(messages.faults()).chain(scheduling.faults()) {
        loaded.missing.push(format!("{} rows of {}: {}", fault.missing_rows, fault.file, fault.text));
    }
    if recording.manifest().cut.is_none() {
        let saved = loaded.totals.calls + loaded.totals.polls;
        loaded.losses.unsaved = recording.manifest().unsaved_calls(saved);
    }
    loaded
}

/// What a recording says beside its rows.
fn nothing_of(recording: &Recording) -> Loaded {
    let manifest = recording.manifest();
    let (tables, faults) = recording.tables();
    let is_broken_off =
        manifest.state == State::Running && !matches!(Live::read(recording.dir()), Records::Somebody(_));
    let mut missing = missing_without_log(manifest, is_broken_off);
    missing.extend(faults.into_iter().map(|fault| fault.text));
    let hangs = read_hangs(recording.dir(), &mut missing);
    let mut processors = Processors::default();
    processors.place(&tables.ranks);
    Loaded {
        run: manifest.run.clone(),
        state: if is_broken_off { State::Incomplete } else { manifest.state },
        job: manifest.job.clone(),
        totals: Totals {
            unmatched_sends: manifest.totals.unmatched_sends,
            unmatched_receives: manifest.totals.unmatched_receives,
            uncertain_messages: manifest.totals.uncertain_messages,
            clock_violations_before: manifest.totals.clock_violations_before,
            clock_violations_after: manifest.totals.clock_violations_after,
            ..Totals::default()
        },
        clock: manifest.clock.clone(),
        losses: manifest.lost.into(),
        uncounted: manifest.uncounted.clone(),
        counts: Counts::new(manifest.window_ns),
        sums: Sums::default(),
        ranks: tables.ranks,
        sites: tables.sites,
        communicators: tables.communicators,
        coordinates: tables.coordinates,
        processors,
        recorder_ns: manifest.recorder_ns(),
        pauses: manifest.pauses.clone(),
        hangs,
        missing,
    }
}

fn missing_without_log(manifest: &Manifest, is_broken_off: bool) -> Vec<String> {
    let mut missing = manifest.missing.clone();
    if manifest.state != State::Complete && manifest.cut.is_some_and(|cut| cut.log) {
        missing.push("what was not in a segment yet cannot be read: the beginning of the log is gone".into());
    } else if is_broken_off {
        missing
            .push("the recording was not completed, and its log is gone: what was not sealed is lost".into());
    }
    missing
}

fn from_log(
    dir: &Path,
    recording: &Recording,
    overview: Overview,
    reader: &mut Reader<'_>,
) -> Result<Loaded> {
    let manifest = recording.manifest();
    let ReplayedLog { mut engine, sums, records, faults } = replay_log(dir, recording, overview, reader)?;
    let is_running = matches!(records, Records::Somebody(_));
    engine.losses = losses_of_log(&engine, manifest);
    let mut missing = engine.missing();
    let uncounted = if is_running { Vec::new() } else { engine.uncounted() };
    missing.extend(uncounted.iter().map(uncounted::sentence));
    let mut hangs = read_hangs(dir, &mut missing);
    hang::last_calls(&engine, &mut hangs);
    add_limits_of_log(&mut missing, recording, &records);
    missing.extend(faults);
    Ok(Loaded {
        run: manifest.run.clone(),
        state: if is_running { State::Running } else { State::Incomplete },
        job: job_in_log(&engine, &manifest.job),
        // Times are as they were recorded: errors of then are not corrected.
        totals: Totals { clock_violations_after: engine.totals.clock_violations_before, ..engine.totals },
        clock: engine.solve_clocks().0,
        losses: engine.losses,
        uncounted,
        recorder_ns: manifest.recorder_ns(),
        pauses: engine.pauses(),
        counts: engine.counts,
        sums,
        ranks: engine.ranks.into_values().collect(),
        sites: engine.sites,
        communicators: engine.comms,
        coordinates: engine.coordinates,
        processors: engine.processors,
        hangs,
        missing,
    })
}

/// What a log contains.
struct ReplayedLog {
    engine: Engine,
    sums: Sums,
    /// Who writes it.
    records: Records,
    /// What cannot be read of it, a sentence each.
    faults: Vec<String>,
}

/// Feeds the log to an engine and, if nobody records any more, the rest of the rings.
fn replay_log(
    dir: &Path,
    recording: &Recording,
    overview: Overview,
    reader: &mut Reader<'_>,
) -> Result<ReplayedLog> {
    let mut engine = Engine::new(recording.manifest().window_ns);
    let mut outcome = Ok(());
    let mut sums = Sums::sharing(overview);
    let mut take = |steps: Vec<Step>| {
        for step in steps {
            sums.add(&step.calls, &step.messages, &step.windows);
            if outcome.is_ok() {
                let Step { calls, messages, windows, .. } = step;
                outcome = reader(Rows { calls, messages, windows });
            }
        }
    };
    let faults = recording.wal()?.for_each_message(|message| take(engine.feed(message)));
    let records = Live::read(dir);
    if let Records::Nobody(Some(live)) = &records {
        rest_of_rings(live, &mut engine, &mut take);
    }
    take(engine.finish());
    outcome?;
    Ok(ReplayedLog { engine, sums, records, faults })
}

fn losses_of_log(engine: &Engine, manifest: &Manifest) -> Losses {
    if manifest.state != State::Incomplete {
        return engine.losses;
    }
    // The end of the run came to pass, and knew what did not get into the log.
    let unsaved = manifest.unsaved_calls(engine.totals.calls + engine.totals.polls);
    Losses { unsaved, ..engine.losses.max(manifest.lost.into()) }
}

/// Adds why the figures of a log may not be those of the whole run.
fn add_limits_of_log(missing: &mut Vec<String>, recording: &Recording, records: &Records) {
    let manifest = recording.manifest();
    match records {
        Records::Somebody(_) => missing.push("the run is not over: these are the figures until now".into()),
        _ => missing.push("the recording was not completed: these are the figures of its log".into()),
    }
    if manifest.state == State::Incomplete {
        for text in &manifest.missing {
            if !missing.contains(text) {
                missing.push(text.clone());
            }
        }
    }
    if matches!(records, Records::Unreadable) {
        missing.push(format!("{LIVE_FILE} is damaged: what still lies in the rings of the run is not here"));
    }
    missing.extend(recording.damage().map(str::to_owned).filter(|text| !missing.contains(text)));
}

/// The job as the log describes it. The manifest knows the rest.
fn job_in_log(engine: &Engine, in_manifest: &Job) -> Job {
    let started = engine.ingest().started();
    let ended = engine.ingest().ended();
    Job {
        ranks: engine.world_size(),
        nodes: engine.job_nodes(),
        mpi: engine.library(),
        command: started.map(|start| start.command.clone()).unwrap_or_default(),
        duration_s: match ended {
            Some((_, end_ns)) => Some(end_ns as f64 / 1e9),
            None => in_manifest.duration_s.or(Some(engine.until_ns as f64 / 1e9)),
        },
        exit: ended.map_or(in_manifest.exit, |(exit, _)| exit),
        started_unix_ns: started.map_or(0, |start| start.unix_ns),
    }
}

/// Whether the job hung, as the recording says.
fn read_hangs(dir: &Path, missing: &mut Vec<String>) -> Hangs {
    hang::read(dir).unwrap_or_else(|error| {
        missing.push(format!("whether the job hung: {error:#}"));
        Hangs::default()
    })
}

/// How many calls the log of a recording has; none where it is damaged and does not say how the run began.
pub fn calls_in_log(recording: &Recording) -> Result<CallsInLog> {
    let mut engine = Engine::new(recording.manifest().window_ns);
    let faults = recording.wal()?.for_each_message(|message| drop(engine.feed(message)));
    engine.finish();
    let is_whole = faults.is_empty() && engine.ingest().started().is_some();
    let Totals { calls, polls, .. } = engine.totals;
    Ok(CallsInLog { rows: calls, calls: calls + polls, is_whole })
}

/// What the log of a recording has.
pub struct CallsInLog {
    /// Rows that they make.
    pub rows: u64,
    /// Calls and polls.
    pub calls: u64,
    /// Nothing of it is damaged.
    pub is_whole: bool,
}

/// Calls that reached the rings and that nobody took: read, and left where they are.
fn rest_of_rings(live: &Live, engine: &mut Engine, take: &mut impl FnMut(Vec<Step>)) {
    let resume: Resume = engine.resume();
    let mut agent = Agent::new(live.rings.clone(), resume, None);
    let mut take = |message| take(engine.feed_rest(message));
    agent.drain(Duration::ZERO, &mut take);
    agent.look(&mut take);
}
