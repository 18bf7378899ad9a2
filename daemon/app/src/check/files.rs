//! What is no segment: the manifest itself, small tables, findings, the log, and what else lies in the folder.

use super::report::{CheckReport, Fault, Kind, RecordingCondition};
use crate::remote_agent::LEFT_FILE;
use anyhow::Result;
use mpiscope_engine::load::adds_up;
use mpiscope_engine::{LIVE_FILE, Records};
use mpiscope_model::words::{bytes, plural};
use mpiscope_page::LAYOUTS;
use mpiscope_recording::{FileState, Recording, Segment, State, WalSummary, file_state};
use mpiscope_verdict as verdict;
use mpiscope_wire::Message;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const MANIFEST: &str = "manifest.json";
/// Folders whose files other programs read all together.
const OF_ROWS: [&str; 4] = ["calls", "messages", "windows", "scheduling"];
/// Folders of what rows add up to.
const OF_SUMS: [&str; 2] = ["summary/", "starts/"];
const TABLES: &str = "tables";
const LOG: &str = "wal";

pub(super) fn manifest(recording: &Recording, found: &mut CheckReport) {
    let manifest = recording.manifest();
    let faults: Vec<Fault> = recording
        .damage()
        .map(|_| Fault::new(MANIFEST, "it is not as it was written: what it says may be wrong"))
        .into_iter()
        .collect();
    let job = &manifest.job;
    let words =
        format!("{} on {}, whole", plural(job.ranks.into(), "rank"), plural(job.nodes.len() as u64, "node"));
    found.kinds.push(Kind { name: "manifest", files: 1, rows: 0, words, faults });
}

/// The small tables; while a run is recorded there are none.
pub(super) fn tables(recording: &Recording, found: &mut CheckReport) {
    let is_over = matches!(found.condition, RecordingCondition::Complete | RecordingCondition::Incomplete);
    let (tables, faults) = recording.tables();
    let rows = tables.functions.len()
        + tables.communicators.len()
        + tables.nodes.len()
        + tables.sites.len()
        + tables.ranks.len();
    if !is_over && rows == 0 {
        return;
    }
    let prefix = |file: &str| format!("{file} cannot be read: ");
    let faults = faults.into_iter().map(|fault| {
        let what = fault.text.strip_prefix(&prefix(&fault.file)).unwrap_or(&fault.text).to_owned();
        Fault::new(fault.file, what)
    });
    let faults: Vec<Fault> = faults.collect();
    let words = format!("{}, whole", plural(rows as u64, "row"));
    found.kinds.push(Kind { name: TABLES, files: 5, rows: rows as u64, words, faults });
}

/// What rows add up to, kept to avoid reading them all.
pub(super) fn sums(recording: &Recording, found: &mut CheckReport) {
    let (dir, manifest) = (recording.dir(), recording.manifest());
    let marks = manifest.marks().filter(|mark| OF_SUMS.iter().any(|folder| mark.file.starts_with(folder)));
    let mut faults = Vec::new();
    let mut files = 0;
    for mark in marks {
        files += 1;
        if let FileState::Damaged(why) = file_state(dir, manifest, &mark.file) {
            faults.push(Fault::new(mark.file.clone(), why));
        }
    }
    if faults.is_empty() && !manifest.summary.is_empty() {
        // If a part of the run was dropped or lost, they may well be of another number of calls.
        let has_all = manifest.state == State::Complete && manifest.cut.is_none();
        let what = match recording.summary() {
            None => Some("it cannot be read"),
            Some(summary) => (has_all && !adds_up(manifest, &summary))
                .then_some("it is not of as many calls as the run has"),
        };
        faults.extend(what.map(|what| Fault::new("summary", what)));
    }
    if files > 0 {
        let words = format!("{}, whole", plural(files, "file"));
        found.kinds.push(Kind { name: "sums", files, rows: 0, words, faults });
    }
}

/// What was found about the run, and all other files that are listed.
pub(super) fn findings(recording: &Recording, found: &mut CheckReport) {
    let (dir, manifest) = (recording.dir(), recording.manifest());
    let listed = manifest.files.iter().filter(|listed| !listed.file.starts_with("tables/"));
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for listed in listed {
        names.insert(listed.file.as_str());
        if let FileState::Damaged(why) = file_state(dir, manifest, &listed.file) {
            faults.push(Fault::new(listed.file.clone(), why));
        }
    }
    if faults.is_empty() {
        match verdict::read(dir) {
            Ok(Some(_)) => {
                names.insert(verdict::FILE);
            }
            Ok(None) if found.condition == RecordingCondition::Complete => {
                found.notes.push("there is no diagnosis, or it is not kept".into());
            }
            Ok(None) => {}
            Err(error) => faults.push(Fault::new(verdict::FILE, format!("{error:#}"))),
        }
    }
    if names.is_empty() && faults.is_empty() {
        return;
    }
    let words = format!("{}, whole", names.iter().copied().collect::<Vec<_>>().join(", "));
    found.kinds.push(Kind { name: "findings", files: names.len() as u64, rows: 0, words, faults });
}

/// The log: what is not in segments for good.
pub(super) fn log(recording: &Recording, records: &Records, found: &mut CheckReport) -> Result<()> {
    let log = recording.wal()?;
    if log.is_empty() {
        if found.condition == RecordingCondition::BrokenOff {
            let fault = Fault::new(LOG, "it is missing: what was not sealed yet is lost");
            found.kinds.push(Kind {
                name: "log",
                files: 0,
                rows: 0,
                words: String::new(),
                faults: vec![fault],
            });
        }
        return Ok(());
    }
    let mut senseless = 0;
    let read = log.for_each_frame(|frame| {
        let message = Message::decode(frame.kind, frame.payload);
        senseless += u64::from(!message.is_ok_and(|message| message.unpacks()));
    });
    let mut faults = log_faults(recording, &read, senseless);
    if read.torn_tail_bytes > 0 && !matches!(found.condition, RecordingCondition::BeingWritten(_)) {
        let torn = bytes(read.torn_tail_bytes);
        found.notes.push(format!("the log breaks off within a frame; {torn} of it are there"));
    }
    match (found.condition, records) {
        (RecordingCondition::BrokenOff, Records::Unreadable) => faults
            .push(Fault::new(LIVE_FILE, "is damaged: what still lies in the rings of the run is not found")),
        (RecordingCondition::Incomplete, _) => {
            faults.push(Fault::new(LOG, "it has rows that could not be written to segments"));
        }
        (RecordingCondition::Complete, _) => {
            found.notes.push("there is a log that nobody needs any more".into());
        }
        _ => {}
    }
    let words = format!("{}, {}, whole", plural(read.files, "file"), plural(read.frames, "frame"));
    found.kinds.push(Kind { name: "log", files: read.files, rows: 0, words, faults });
    Ok(())
}

/// What is wrong with the files and frames of the log. `senseless`: the number of frames that do not decode.
fn log_faults(recording: &Recording, read: &WalSummary, senseless: u64) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |what: String| faults.push(Fault::new(LOG, what));
    if read.damaged_bytes > 0 {
        fault(format!("{} are damaged: their content is lost", bytes(read.damaged_bytes)));
    }
    if senseless > 0 {
        fault(format!("{} make no sense", plural(senseless, "frame")));
    }
    for version in &read.other_versions {
        fault(format!("frames of version {version}, which this mpiscope does not know"));
    }
    read.unreadable.iter().cloned().for_each(&mut fault);
    for gap in gaps(recording.dir()) {
        fault(format!("{gap:06}.wal is missing with all its records"));
    }
    faults
}

/// The numbers of files that are missing between others of the log.
fn gaps(dir: &Path) -> Vec<u32> {
    let files = fs::read_dir(dir.join(LOG)).into_iter().flatten().flatten();
    let number = |name: std::ffi::OsString| {
        let name = name.to_str()?;
        name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".wal")?.parse::<u32>().ok()
    };
    let numbers: BTreeSet<u32> = files.filter_map(|file| number(file.file_name())).collect();
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return Vec::new() };
    // A number out of all proportion is somebody's file, and no gap of millions.
    (*first..*last).filter(|number| !numbers.contains(number)).take(numbers.len()).collect()
}

/// What else is there, and who may read it.
pub(super) fn folder(recording: &Recording, found: &mut CheckReport) {
    let dir = recording.dir();
    let listed = listed(recording);
    let mut faults = Vec::new();
    for name in names(dir) {
        if !dir.join(&name).is_dir() || dir.join(&name).is_symlink() {
            other(&name, &listed, found, &mut faults);
        } else if name != LOG {
            for inside in names(&dir.join(&name)) {
                other(&format!("{name}/{inside}"), &listed, found, &mut faults);
            }
        }
    }
    if let Ok(metadata) = fs::metadata(dir)
        && metadata.permissions().mode() & 0o077 != 0
    {
        found.notes.push("others than its owner may enter the folder (chmod go= closes it)".into());
    }
    if !faults.is_empty() {
        found.kinds.push(Kind { name: "folder", files: 0, rows: 0, words: String::new(), faults });
    }
}

fn other(name: &str, listed: &BTreeSet<String>, found: &mut CheckReport, faults: &mut Vec<Fault>) {
    let is_ours =
        listed.contains(name) || [MANIFEST, LIVE_FILE, LEFT_FILE, verdict::FILE, LAYOUTS].contains(&name);
    if is_ours || matches!(found.condition, RecordingCondition::BeingWritten(_)) {
        return;
    }
    let folder = name.split_once('/').map(|(folder, _)| folder);
    if name.ends_with(".unfinished") || name.ends_with(".new") {
        if found.condition == RecordingCondition::BrokenOff {
            return;
        }
        found.notes.push(format!("{} was not finished, and may be removed", name.escape_debug()));
    } else if folder.is_some_and(|folder| OF_ROWS.contains(&folder)) && name.ends_with(".parquet") {
        if found.condition == RecordingCondition::BrokenOff {
            return;
        }
        faults.push(Fault::new(
            name,
            "it is not listed: programs that read the whole folder take its rows for the run's",
        ));
    } else {
        found.notes.push(format!("{} is not listed", name.escape_debug()));
    }
}

/// All files that the manifest names.
fn listed(recording: &Recording) -> BTreeSet<String> {
    let manifest = recording.manifest();
    let segments = &manifest.segments;
    let of_rows =
        [&segments.calls, &segments.messages, &segments.windows, &segments.scheduling].into_iter().flatten();
    let of_rows = of_rows.map(|segment: &Segment| segment.file.clone());
    let mut all: BTreeSet<String> = of_rows.chain(manifest.marks().map(|mark| mark.file.clone())).collect();
    if manifest.files.is_empty() {
        // Before other files were listed there were these.
        let tables = ["functions", "communicators", "nodes", "sites", "ranks"];
        all.extend(tables.map(|name| format!("{TABLES}/{name}.parquet")));
    }
    all
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
