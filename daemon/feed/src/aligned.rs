//! Two recordings on the clock of A: by what they are aligned, and where B loses time.

use crate::column::F64Column;
use crate::compared_course::ComparedCourse;
use serde::{Deserialize, Serialize};

/// By what two recordings are aligned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Alignment {
    /// `start`, `phase` or `turn`.
    pub by: String,
    /// What was asked for: one of these, or `auto`.
    pub asked: String,
    /// Why, and what was matched, in a sentence.
    pub reason: String,
    /// Turns or phases that both have.
    pub matched: u32,
    /// How many A has.
    pub a_count: u32,
    /// How many B has.
    pub b_count: u32,
    /// Those that are in another order in B; they are not matched.
    pub crossed: u32,
    /// The call that marks a turn; null where runs are not aligned by turn.
    pub marker: Option<String>,
    /// Matched turns or phases that B took longer for, the largest difference first; then those that it took less for.
    pub stretches: Vec<Stretch>,
    /// All matched turns or phases, in the order of time. A turn ends where the next one begins; the last one has no end.
    pub sections: Vec<AlignedSection>,
}

/// A turn or a phase that both runs have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AlignedSection {
    /// The name of the phase; empty for a turn.
    pub name: String,
    /// Which turn, or which phase of that name, from 1 on.
    pub number: u32,
    /// Where it begins in A.
    pub a_from_ns: u64,
    /// Where it ends in A.
    pub a_to_ns: u64,
    /// Where it begins in B, in B's own time.
    pub b_from_ns: u64,
    /// Where it ends in B, in B's own time.
    pub b_to_ns: u64,
}

/// Turns in a row, or phases of one name in a row, that took another time in B.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stretch {
    /// The name of the phase; empty for turns.
    pub name: String,
    /// The first of them, from 1 on.
    pub first: u32,
    /// The last of them.
    pub last: u32,
    /// Where the first begins in A.
    pub a_from_ns: u64,
    /// Where the last ends in A.
    pub a_to_ns: u64,
    /// Where the first begins in B, in B's own time.
    pub b_from_ns: u64,
    /// Where the last ends in B, in B's own time.
    pub b_to_ns: u64,
    /// How long they took in A.
    pub a_s: f64,
    /// How long they took in B.
    pub b_s: f64,
    /// B less A.
    pub difference_s: f64,
    /// In what the difference was spent, the most first.
    pub parts: Vec<StretchPart>,
    /// All of it in a sentence.
    pub sentence: String,
}

/// In what ranks spent the difference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StretchPart {
    /// The function; null is time outside of MPI.
    pub function: Option<String>,
    /// B less A, the mean of these ranks.
    pub difference_s: f64,
    /// Ranges of ranks, both ends included; empty where it is on all, or not known.
    pub ranks: Vec<(u32, u32)>,
}

/// What the page shows of one way to align.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AlignedCourse {
    /// `start`, `phase` or `turn`.
    pub by: String,
    /// Whether it is possible.
    pub is_possible: bool,
    /// What was matched, or why it is not possible, in a sentence.
    pub reason: String,
    /// B on the clock of A; null where it is that of its own, or not possible.
    pub b: Option<ComparedCourse>,
    /// The edges of the slots of both in B's own time; empty where that is the same.
    pub b_own_ns: F64Column,
    /// Where turns or phases begin in A.
    pub mark_ns: F64Column,
    /// The number or the name of each.
    pub mark_name: Vec<String>,
    /// As of [`Alignment::stretches`].
    pub stretches: Vec<Stretch>,
}
