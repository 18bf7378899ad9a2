//! `manifest.json`: the job of the recording, its files, and what is missing.

use crate::checksum::crc32_of;
use crate::error::RecordingError;
use crate::folder::{MANIFEST, has_rows, open_plain, replace};
use crate::limits::{MOST_NS, MOST_RANKS};
use crate::schema::SCHEMA;
use mpiscope_model::{Gap, Losses, Totals};
use serde::{Deserialize, Deserializer, Serialize};
use std::fs;
use std::io::Read;
use std::path::Path;

/// This number of ranks costs little, even if nothing was recorded of them.
const FEW_RANKS: u32 = 1 << 8;

/// Manifests are no longer: a larger file is not read into memory.
const MAX_MANIFEST_BYTES: u64 = 256 << 20;

/// How far a recording is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is being written, or its writer was killed.
    #[default]
    Running,
    /// Everything that is known of the run is in its segments.
    Complete,
    /// It has an end, and something is missing; `missing` lists it.
    Incomplete,
}

/// The manifest of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of the frames in `wal/`.
    #[serde(default)]
    pub wire: u16,
    /// The name of the run.
    #[serde(default)]
    pub run: String,
    /// How far it is.
    pub state: State,
    /// The job.
    #[serde(default)]
    pub job: Job,
    /// The length of a window.
    #[serde(default)]
    pub window_ns: u64,
    /// What is taken for the latency of a message.
    #[serde(default)]
    pub latency: Latency,
    /// How the clocks of the nodes were mapped to the run's time.
    #[serde(default)]
    pub clock: Clock,
    /// The files with the rows.
    #[serde(default)]
    pub segments: Segments,
    /// The other files that figures are read from.
    #[serde(default)]
    pub files: Vec<FileMark>,
    /// The files that sum up the rows; none in recordings that were not completed, or of before there were such files.
    #[serde(default)]
    pub summary: Vec<FileMark>,
    /// What was dropped because only the newest part of the run was to be kept; none where all is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// When recording was switched off; none where it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// The totals of the run.
    #[serde(default)]
    pub totals: RunTotals,
    /// Calls that were made and not recorded.
    #[serde(default)]
    pub lost: Lost,
    /// Hosts with further calls that are neither recorded nor counted as lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<Uncounted>,
    /// What is not in here, a sentence each.
    #[serde(default)]
    pub missing: Vec<String>,
    /// What recording cost.
    #[serde(default)]
    pub cost: Cost,
}

/// Stretches of the run in which recording was switched off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// Calls that were made meanwhile: counted, and neither recorded nor lost.
    pub calls: u64,
    /// The stretches, in order.
    pub gaps: Vec<Pause>,
}

/// A stretch of the run in which recording was switched off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Since when.
    pub from_ns: u64,
    /// Until when; null for to the end of the run.
    pub until_ns: Option<u64>,
}

impl From<Gap> for Pause {
    fn from(gap: Gap) -> Self {
        Self { from_ns: gap.from_ns, until_ns: gap.until_ns }
    }
}

impl From<Pause> for Gap {
    fn from(pause: Pause) -> Self {
        Self { from_ns: pause.from_ns, until_ns: pause.until_ns }
    }
}

/// A host whose agent did not deliver everything: nobody knows how many calls its ranks made after that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uncounted {
    /// Its name.
    pub node: String,
    /// Calls until then are recorded or counted as lost; null where that is not known.
    pub after_ns: Option<u64>,
}

/// What is taken for the latency of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Latency {
    /// The time in which its receiver waited for it.
    #[default]
    #[serde(rename = "t_msg")]
    Felt,
    /// From the beginning of the call that sent it to the end of the one that received it.
    #[serde(rename = "span")]
    Span,
}

/// The job that was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Job {
    /// How many ranks it has.
    pub ranks: u32,
    /// Its nodes.
    pub nodes: Vec<JobNode>,
    /// The MPI library in one line.
    pub mpi: String,
    /// The command line.
    pub command: Vec<String>,
    /// How long it ran; null while it runs.
    pub duration_s: Option<f64>,
    /// The exit status as in a shell; null when unknown.
    pub exit: Option<i32>,
    /// Wall-clock time at the zero of the run's time, in nanoseconds since 1970.
    pub started_unix_ns: u64,
}

/// The first word of the command of a recording that was imported.
pub const IMPORT: &str = "import";

impl Job {
    /// Whether it was read from a file of another tool, which says nothing of how the job ended.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.exit.is_none() && self.command.first().is_some_and(|word| word == IMPORT)
    }

    /// The ranks that a reader may go through one by one. A damaged manifest may have any number of ranks: beyond a few,
    /// only those up to the last one with a node count.
    #[must_use]
    pub fn plausible_ranks(&self) -> u32 {
        let on_nodes = self.nodes.iter().flat_map(|node| &node.ranks);
        let last = on_nodes.max().map_or(0, |rank| rank.saturating_add(1));
        self.ranks.min(last.max(FEW_RANKS))
    }

    /// What no job is, in words.
    fn oddity(&self) -> Option<String> {
        let on_nodes = self.nodes.iter().flat_map(|node| &node.ranks);
        let most = on_nodes.chain([&self.ranks]).max().filter(|rank| **rank > MOST_RANKS);
        let of_ranks = most.map(|rank| format!("no job has {rank} ranks"));
        of_ranks.or_else(|| {
            let seconds =
                self.duration_s.filter(|seconds| !(0.0..=MOST_NS as f64 / 1e9).contains(seconds))?;
            Some(format!("no job runs for {seconds} seconds"))
        })
    }
}

/// One node of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobNode {
    /// Its host name.
    pub name: String,
    /// The ranks on it.
    pub ranks: Vec<u32>,
}

/// Every version of the clock map.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// In order; the last is the best.
    pub versions: Vec<ClockVersion>,
}

/// One version of the clock map.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockVersion {
    /// Its number.
    pub version: u32,
    /// The map of each node.
    pub nodes: Vec<ClockNode>,
}

/// What is taken from a node's clock to get the run's time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockNode {
    /// The node, an index into the job's nodes.
    pub node: u32,
    /// How far it is ahead at the start of the run.
    pub offset_ns: i64,
    /// How much faster it goes, in parts per billion.
    #[serde(deserialize_with = "number_or_null")]
    pub drift_ppb: f64,
    /// No time of it by this version is further than this from the clock of the node that defines the run's time.
    pub uncertainty_ns: u64,
    /// Pairs of a time of the run by the first version and the amount to add for this one; between pairs it is a
    /// straight line.
    pub corrections: Vec<(u64, i64)>,
}

/// JSON has no form for a non-number; it is written as null.
fn number_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// The files with the rows, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Segments {
    /// Those of calls.
    pub calls: Vec<Segment>,
    /// Those of messages.
    pub messages: Vec<Segment>,
    /// Those of windows.
    pub windows: Vec<Segment>,
    /// Those of what the scheduler did; none in recordings of before it was recorded.
    pub scheduling: Vec<Segment>,
}

/// One file of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Segment {
    /// Its name in the recording's folder.
    pub file: String,
    /// Its rows.
    pub rows: u64,
    /// Its rows begin no earlier.
    pub from_ns: u64,
    /// Nor of a later one.
    pub to_ns: u64,
    /// The version of the clock map that its times are by.
    pub clock_version: u32,
    /// The CRC-32 of the file; null when it is not known.
    pub crc32: Option<u32>,
    /// Its length; null when it is not known.
    pub bytes: Option<u64>,
    /// Where each of its row groups ends, and the CRC-32 of its bytes; last the end of the file, and the CRC-32 of the
    /// rest. They show which parts of a damaged file are intact. Empty when they are not known.
    pub parts: Vec<(u64, u32)>,
    /// Of a segment of calls: how many began when. None in recordings of before there was such a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<FileMark>,
}

/// What was dropped of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cut {
    /// Rows that ended before were dropped, and maybe some that ended a little after.
    pub until_ns: u64,
    /// Rows of calls.
    pub calls: u64,
    /// Rows of messages.
    pub messages: u64,
    /// Whether the beginning of the log is gone: it cannot be read without.
    pub log: bool,
}

/// A file, with the size and checksum that identify it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileMark {
    /// Its name in the recording's folder.
    pub file: String,
    /// Its CRC-32.
    pub crc32: u32,
    /// Its length.
    pub bytes: u64,
}

/// The totals of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of the same name in the model")]
pub struct RunTotals {
    pub calls: u64,
    pub polls: u64,
    pub messages: u64,
    pub bytes: u64,
    pub intra_messages: u64,
    pub inter_messages: u64,
    pub unmatched_sends: u64,
    pub unmatched_receives: u64,
    pub uncertain_messages: u64,
    pub clock_violations_before: u64,
    pub clock_violations_after: u64,
}

impl From<Totals> for RunTotals {
    fn from(totals: Totals) -> Self {
        Self {
            calls: totals.calls,
            polls: totals.polls,
            messages: totals.messages,
            bytes: totals.bytes,
            intra_messages: totals.intra_messages,
            inter_messages: totals.inter_messages,
            unmatched_sends: totals.unmatched_sends,
            unmatched_receives: totals.unmatched_receives,
            uncertain_messages: totals.uncertain_messages,
            clock_violations_before: totals.clock_violations_before,
            clock_violations_after: totals.clock_violations_after,
        }
    }
}

impl From<RunTotals> for Totals {
    fn from(totals: RunTotals) -> Self {
        Self {
            calls: totals.calls,
            polls: totals.polls,
            messages: totals.messages,
            bytes: totals.bytes,
            intra_messages: totals.intra_messages,
            inter_messages: totals.inter_messages,
            unmatched_sends: totals.unmatched_sends,
            unmatched_receives: totals.unmatched_receives,
            uncertain_messages: totals.uncertain_messages,
            clock_violations_before: totals.clock_violations_before,
            clock_violations_after: totals.clock_violations_after,
        }
    }
}

/// Calls that were made and not recorded, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of the same name in the model")]
pub struct Lost {
    pub ring_full: u64,
    pub no_ring: u64,
    pub unreadable: u64,
    pub unsaved: u64,
}

impl From<Losses> for Lost {
    fn from(Losses { ring_full, no_ring, unreadable, unsaved }: Losses) -> Self {
        Self { ring_full, no_ring, unreadable, unsaved }
    }
}

impl From<Lost> for Losses {
    fn from(Lost { ring_full, no_ring, unreadable, unsaved }: Lost) -> Self {
        Self { ring_full, no_ring, unreadable, unsaved }
    }
}

/// The cost of recording; null where unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Calls that were recorded.
    pub calls: u64,
    /// What one of them cost its rank.
    pub nanoseconds_per_call: Option<f64>,
    /// What all of them cost all ranks.
    pub seconds: Option<f64>,
    /// The processor time of the agents.
    pub agent_cpu_s: Option<f64>,
    /// The size of the recording.
    pub bytes_on_disk: u64,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            wire: mpiscope_wire::WIRE_VERSION,
            run: String::new(),
            state: State::Running,
            job: Job::default(),
            window_ns: 0,
            latency: Latency::default(),
            clock: Clock::default(),
            segments: Segments::default(),
            files: Vec::new(),
            summary: Vec::new(),
            cut: None,
            pauses: None,
            totals: RunTotals::default(),
            lost: Lost::default(),
            uncounted: Vec::new(),
            missing: Vec::new(),
            cost: Cost::default(),
        }
    }
}

impl Manifest {
    /// How many of the recorded calls are in no file. `saved` are in files.
    #[must_use]
    pub fn unsaved_calls(&self, saved: u64) -> u64 {
        self.cost.calls.saturating_sub(saved)
    }

    /// The CPU time of recording, where it is known and was taken from the ranks: with several nodes it may be that of another
    /// one.
    #[must_use]
    pub fn recorder_ns(&self) -> u64 {
        let is_beside_ranks = self.job.nodes.len() == 1;
        let cpu_s = self.cost.agent_cpu_s.filter(|_| is_beside_ranks).unwrap_or(0.0);
        (cpu_s * 1e9) as u64
    }

    /// Reads the manifest of the recording in `dir`. A readable one that was changed lists that among the missing
    /// parts.
    ///
    /// # Errors
    /// When there is none, or none that this program understands.
    pub fn read(dir: &Path) -> Result<Self, RecordingError> {
        let (mut manifest, damage) = Self::read_and_check(dir)?;
        manifest.missing.extend(damage);
        Ok(manifest)
    }

    /// Reads it, and returns a sentence if it was changed.
    ///
    /// # Errors
    /// As of [`Manifest::read`].
    pub fn read_and_check(dir: &Path) -> Result<(Self, Option<String>), RecordingError> {
        let path = dir.join(MANIFEST);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let path = dir.to_path_buf();
                return Err(if has_rows(dir) {
                    RecordingError::ManifestGone { path }
                } else {
                    RecordingError::NoRecording { path }
                });
            }
            _ => {}
        }
        let mut bytes = Vec::new();
        let mut file = open_plain(&path)?.take(MAX_MANIFEST_BYTES);
        file.read_to_end(&mut bytes).map_err(RecordingError::io("read", &path))?;
        let manifest = Self::parse(&bytes).map_err(|fault| match fault {
            ParseFault::Schema(schema) => RecordingError::Schema { path, schema },
            ParseFault::Text(reason) => RecordingError::Manifest { path, reason },
        })?;
        let is_sealed = match unseal(&bytes) {
            Some((text, crc32)) => crc32_of(text) == crc32,
            // Those of before there were seals list no other files either.
            None => manifest.files.is_empty(),
        };
        let damage = (!is_sealed)
            .then(|| format!("{MANIFEST} is not as it was written: what it says of the run may be wrong"));
        Ok((manifest, damage))
    }

    fn parse(bytes: &[u8]) -> Result<Self, ParseFault> {
        /// Enough to see whether the rest can be understood.
        #[derive(Deserialize)]
        struct Header {
            schema: String,
        }
        let text = |error: serde_json::Error| ParseFault::Text(error.to_string());
        let header: Header = serde_json::from_slice(bytes).map_err(text)?;
        if header.schema != SCHEMA {
            // It goes into a sentence for people, and comes from who knows where.
            return Err(ParseFault::Schema(header.schema.escape_debug().take(60).collect()));
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(text)?;
        match manifest.job.oddity() {
            Some(oddity) => Err(ParseFault::Text(oddity)),
            None => Ok(manifest),
        }
    }

    /// Puts the manifest into `dir` in one step: a reader sees the old one or the new one.
    ///
    /// # Errors
    /// When it cannot be written; the old one is still there then.
    pub fn write(&self, dir: &Path) -> Result<(), RecordingError> {
        replace(&dir.join(MANIFEST), &self.to_bytes())
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Only maps with odd keys fail to serialize, and there are none.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        seal(&mut bytes);
        bytes
    }
}

/// What the last line of a manifest begins with.
const SEAL: &[u8] = b",\n  \"seal\": \"";
/// And ends with, behind the eight digits of the CRC-32 of all before it.
const SEAL_END: &[u8] = b"\"\n}\n";

/// Puts the checksum of the text into its own last line.
fn seal(text: &mut Vec<u8>) {
    text.truncate(text.strip_suffix(b"\n}").map_or(text.len(), <[u8]>::len));
    let crc32 = crc32_of(text);
    text.extend_from_slice(SEAL);
    text.extend_from_slice(format!("{crc32:08x}").as_bytes());
    text.extend_from_slice(SEAL_END);
}

/// The text that a checksum was made of, and the checksum; none where there is none.
fn unseal(text: &[u8]) -> Option<(&[u8], u32)> {
    let (text, digits) = text.strip_suffix(SEAL_END)?.split_last_chunk::<8>()?;
    let crc32 = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((text.strip_suffix(SEAL)?, crc32))
}

enum ParseFault {
    Schema(String),
    Text(String),
}
