//! What a check found, in words and as JSON.

use anyhow::Result;
use mpiscope_engine::uncounted;
use mpiscope_model::words::{count, plural};
use mpiscope_recording::Uncounted;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

const SCHEMA: &str = "mpiscope.check/1";
/// The most faults of one kind that are listed.
const MOST_REPORTED: usize = 20;

/// The condition of a recording, by its manifest and the processes of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordingCondition {
    Complete,
    Incomplete,
    /// By a process of this number, where it is known.
    BeingWritten(Option<u32>),
    /// Whoever wrote it was killed.
    BrokenOff,
}

impl RecordingCondition {
    fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::BeingWritten(_) => "running",
            Self::BrokenOff => "killed",
        }
    }
}

/// One kind of what a recording is made of.
#[derive(Debug, Serialize)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) files: u64,
    /// Those that are there.
    pub(crate) rows: u64,
    /// What there is of it, in words.
    #[serde(skip)]
    pub(crate) words: String,
    pub(crate) faults: Vec<Fault>,
}

/// Something that is missing or damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    pub(crate) file: String,
    /// In words that follow the name of the file.
    pub(crate) what: String,
    /// The rows that are lost by it.
    pub(crate) lost_rows: u64,
}

impl Fault {
    pub(crate) fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.into(), what: what.into(), lost_rows: 0 }
    }
}

/// All of it.
#[derive(Debug)]
pub(crate) struct CheckReport {
    pub(crate) condition: RecordingCondition,
    pub(crate) kinds: Vec<Kind>,
    /// What is no fault and worth knowing.
    pub(crate) notes: Vec<String>,
    /// What the recording itself says that is not in it.
    pub(crate) missing: Vec<String>,
    /// Calls that were made and are not in it.
    pub(crate) lost_calls: u64,
    /// Hosts with further calls that nobody counted.
    pub(crate) uncounted: Vec<Uncounted>,
}

#[derive(Serialize)]
struct Json<'a> {
    schema: &'static str,
    state: &'static str,
    is_whole: bool,
    kinds: &'a [Kind],
    lost_rows: u64,
    lost_calls: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    uncounted: &'a [Uncounted],
    notes: &'a [String],
    missing: &'a [String],
    verdict: String,
}

impl CheckReport {
    pub(crate) fn new(condition: RecordingCondition) -> Self {
        let (kinds, notes, missing) = (Vec::new(), Vec::new(), Vec::new());
        Self { condition, kinds, notes, missing, lost_calls: 0, uncounted: Vec::new() }
    }

    /// Whether nothing is missing but what the recording itself says.
    pub(crate) fn is_whole(&self) -> bool {
        self.condition != RecordingCondition::BrokenOff && self.faults() == 0
    }

    fn faults(&self) -> usize {
        self.kinds.iter().map(|kind| kind.faults.len()).sum()
    }

    fn lost_rows(&self) -> u64 {
        self.kinds.iter().flat_map(|kind| &kind.faults).map(|fault| fault.lost_rows).sum()
    }

    pub(crate) fn json(&self) -> Result<String> {
        let json = Json {
            schema: SCHEMA,
            state: self.condition.word(),
            is_whole: self.is_whole(),
            kinds: &self.kinds,
            lost_rows: self.lost_rows(),
            lost_calls: self.lost_calls,
            uncounted: &self.uncounted,
            notes: &self.notes,
            missing: &self.missing,
            verdict: self.verdict(Path::new("DIR")),
        };
        Ok(serde_json::to_string_pretty(&json)? + "\n")
    }

    /// A line for each kind that is whole and for each fault, and a sentence.
    pub(crate) fn text(&self, dir: &Path) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(dir, &mut out);
        out
    }

    fn write(&self, dir: &Path, out: &mut String) -> std::fmt::Result {
        for kind in &self.kinds {
            if kind.faults.is_empty() {
                writeln!(out, "{}: {}", kind.name, kind.words)?;
            }
            for fault in kind.faults.iter().take(MOST_REPORTED) {
                let cost = match fault.lost_rows {
                    0 => String::new(),
                    rows => format!("; costs {}", plural(rows, "row")),
                };
                writeln!(out, "{}: {}: {}{cost}", kind.name, fault.file.escape_debug(), fault.what)?;
            }
            if kind.faults.len() > MOST_REPORTED {
                let more = (kind.faults.len() - MOST_REPORTED) as u64;
                writeln!(out, "{}: {} (--json has them)", kind.name, plural(more, "more fault"))?;
            }
        }
        for sentence in &self.notes {
            writeln!(out, "note: {sentence}")?;
        }
        for sentence in &self.missing {
            writeln!(out, "missing: {sentence}")?;
        }
        writeln!(out, "{}", self.verdict(dir))
    }

    /// All in one sentence.
    fn verdict(&self, dir: &Path) -> String {
        let dir = dir.display();
        let lost = match (self.lost_calls, self.uncounted.is_empty()) {
            (0, true) => String::new(),
            (calls, _) => format!("; {} lost{}", plural(calls, "call"), uncounted::note(&self.uncounted)),
        };
        let damage = match (self.faults() as u64, self.lost_rows()) {
            (0, _) => None,
            (faults, 0) => {
                let cost = if self.lost_calls == 0 { ", which cost no rows" } else { "" };
                Some(format!("damaged: {}{cost}{lost}", plural(faults, "fault")))
            }
            (faults, rows) => {
                Some(format!("damaged: {} cost {} rows{lost}", plural(faults, "fault"), count(rows)))
            }
        };
        match (self.condition, damage) {
            (RecordingCondition::BeingWritten(process), damage) => {
                let who = process.map_or_else(String::new, |process| format!(" by process {process}"));
                let state = damage.unwrap_or_else(|| "what is there is whole".into());
                format!("being recorded{who}; {state}")
            }
            (RecordingCondition::BrokenOff, damage) => format!(
                "broken off: whoever recorded it was killed, or found no room on the disk{}; `mpiscope repair {dir}` makes a complete one of what is there",
                damage.map(|damage| format!("; {damage}")).unwrap_or_default()
            ),
            (_, Some(damage)) => format!("{damage}; `mpiscope repair {dir}` saves the rest"),
            (RecordingCondition::Complete, None) if self.missing.is_empty() => format!("whole{lost}"),
            (_, None) => {
                let sentences = plural(self.missing.len() as u64, "sentence");
                format!("whole as far as it goes: what it lacks it says itself, in {sentences}{lost}")
            }
        }
    }
}
