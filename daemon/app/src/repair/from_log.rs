//! A recording whose recorder was killed, or could not write its segments: made once more from its log, and from what
//! still lies in the rings.

use super::parts::copy_layouts;
use crate::interrupt::Interrupt;
use anyhow::{Context as _, Result};
use mpiscope_agent::{Agent, Resume};
use mpiscope_engine::load::calls_in_log;
use mpiscope_engine::uncounted;
use mpiscope_engine::{LIVE_FILE, Live, Records, hang};
use mpiscope_feed::Hangs;
use mpiscope_model::Losses;
use mpiscope_page::topology_files;
use mpiscope_recorder::{END_UNKNOWN, Recorder};
use mpiscope_recording::{
    FileState, Job, Lost, Manifest, Recording, RecordingOptions, RecordingWriter, State, WalReader,
    WalWriter, file_state,
};
use mpiscope_verdict::{GIVEN, diagnose_into};
use mpiscope_wire::Message;
use std::path::Path;
use std::time::Duration;

/// Whether the log has as much as the segments. It has all that they have, unless it is damaged.
pub(super) fn has_more(recording: &Recording) -> Result<bool> {
    let sealed: u64 = recording.manifest().segments.calls.iter().map(|segment| segment.rows).sum();
    if sealed == 0 {
        return Ok(true);
    }
    let log = calls_in_log(recording)?;
    Ok(log.is_whole || log.rows >= sealed)
}

/// Records once more what the log tells, into `out`. The rings that nobody needs any more are given as well: they may be
/// removed when `out` is sure to stay.
pub(super) fn repair(
    recording: &Recording,
    out: &Path,
    interrupt: &Interrupt,
) -> Result<(Manifest, Option<Live>)> {
    let old = recording.manifest();
    let manifest = Manifest {
        run: old.run.clone(),
        window_ns: old.window_ns,
        latency: old.latency,
        job: Job { command: old.job.command.clone(), ..Job::default() },
        ..Manifest::default()
    };
    let mut missing: Vec<String> = recording.damage().map(str::to_owned).into_iter().collect();
    let mut writer = RecordingWriter::create(out, manifest, RecordingOptions::default())?;
    // The diagnosis reads the log that lies beside the recording.
    recording.wal()?.link_into(out)?;
    missing.extend(copy_files(recording, out, &mut writer)?);
    let mut recorder = Recorder::new(writer, old.window_ns, Box::new(|dir, _| diagnose_into(dir, 1)));
    recorder.watch_for(Duration::ZERO, None)?;
    if old.state == State::Incomplete {
        recorder.expect(old.cost.calls);
    }
    let resume = recorder.take_log(&WalReader::open(out)?);
    interrupt.check()?;
    let (rest, read_rings) = left_in_rings(recording, resume, out, &mut missing)?;
    interrupt.check()?;
    recorder.complete(rest, missing)?;
    interrupt.check()?;
    let mut manifest = Manifest::read(out)?;
    complete(&mut manifest, old);
    manifest.write(out)?;
    Ok((manifest, read_rings))
}

/// The messages that still lie in the rings of the run; the rings too, if all in them could be read.
fn left_in_rings(
    recording: &Recording,
    resume: Resume,
    out: &Path,
    missing: &mut Vec<String>,
) -> Result<(Vec<Message>, Option<Live>)> {
    match Live::read(recording.dir()) {
        Records::Nobody(Some(live)) => {
            let rest = rest_of_rings(&live, resume, out, missing)?;
            Ok((rest.messages, Some(live).filter(|_| rest.is_whole)))
        }
        Records::Unreadable => {
            missing.push(format!("what still lay in the rings of the run: {LIVE_FILE} is damaged"));
            Ok((Vec::new(), None))
        }
        Records::Nobody(None) | Records::Somebody(_) => Ok((Vec::new(), None)),
    }
}

/// Copies what lies beside the log; returns what of it is missing.
fn copy_files(recording: &Recording, out: &Path, writer: &mut RecordingWriter) -> Result<Vec<String>> {
    let dir = recording.dir();
    let mut missing = Vec::new();
    match file_state(dir, recording.manifest(), GIVEN) {
        FileState::Whole => {
            std::fs::copy(dir.join(GIVEN), out.join(GIVEN)).context("copy the criteria")?;
            writer.list_file(GIVEN)?;
            writer.write_manifest()?;
        }
        FileState::NotListed => {}
        FileState::Damaged(why) => {
            missing.push(format!("the criteria that the run was given, in {GIVEN}: {why}"));
        }
    }
    missing.extend(topology_files::copy(recording, out, writer)?);
    missing.extend(copy_layouts(dir, out));
    match hang::read(dir) {
        Ok(hangs) if hangs == Hangs::default() => {}
        Ok(hangs) => hang::write(out, &hangs)?,
        Err(error) => missing.push(format!("whether the job hung: {error:#}")),
    }
    Ok(missing)
}

/// Adds to the new manifest what the old one knows and the log does not.
fn complete(manifest: &mut Manifest, old: &Manifest) {
    // That of this program says nothing about a run that it did not watch.
    manifest.cost.agent_cpu_s = None;
    if old.state == State::Incomplete {
        // It came to its end, and knew how the run ended also where its log does not.
        let is_end_in_log = manifest.job.duration_s.is_some();
        manifest.job.duration_s = manifest.job.duration_s.or(old.job.duration_s);
        manifest.job.exit = manifest.job.exit.or(old.job.exit);
        if !is_end_in_log && manifest.job.exit.is_some() {
            manifest.missing.retain(|text| text != END_UNKNOWN);
        }
        let unsaved = manifest.lost.unsaved;
        manifest.lost = Lost { unsaved, ..Losses::from(manifest.lost).max(old.lost.into()).into() };
        if manifest.uncounted.is_empty() {
            // A full disk may have kept them out of the log.
            manifest.missing.extend(old.uncounted.iter().map(uncounted::sentence));
            manifest.uncounted.clone_from(&old.uncounted);
        }
        manifest.state = if manifest.lost.unsaved > 0 { State::Incomplete } else { manifest.state };
    }
    if manifest.job.duration_s.is_none() {
        let end_ns = manifest.segments.calls.iter().map(|segment| segment.to_ns).max();
        manifest.job.duration_s = end_ns.map(|end_ns| end_ns as f64 / 1e9);
        manifest.state = State::Incomplete;
    }
}

/// What lay in the rings of a run.
#[derive(Default)]
struct RingContents {
    messages: Vec<Message>,
    /// All that lay there was read, and nobody writes there any more.
    is_whole: bool,
}

/// Calls that reached the rings and that nobody took: read, and put into the new log.
fn rest_of_rings(live: &Live, resume: Resume, out: &Path, missing: &mut Vec<String>) -> Result<RingContents> {
    if !live.rings.iter().any(|folder| folder.is_dir()) {
        missing.push("what lay in the rings of the run when its recorder was killed: they are gone".into());
        return Ok(RingContents::default());
    }
    let mut agent = Agent::new(live.rings.clone(), resume, None);
    let mut messages = Vec::new();
    // Times follow the log's own clock samples: those of now say nothing about then, nor does what the scheduler did since.
    let mut take = |message: Message| {
        if !matches!(message, Message::ClockSample(_) | Message::Scheduling(_) | Message::Cpus(_)) {
            messages.push(message);
        }
    };
    agent.drain(Duration::ZERO, &mut take);
    agent.look(&mut take);
    let is_running = agent.has_living();
    missing.extend(is_running.then(|| {
        "the program was still running when its recording was repaired: what it did later is not here"
            .to_owned()
    }));
    let mut faults = agent.take_faults();
    let is_whole = !is_running && faults.is_empty();
    missing.append(&mut faults);
    let mut log = WalWriter::append_to(out)?;
    let mut encoded = Vec::new();
    for message in &messages {
        encoded.clear();
        message.encode(&mut encoded);
        log.write(&encoded)?;
    }
    log.sync()?;
    Ok(RingContents { messages, is_whole })
}
