//! Single calls as columns, as many of them as a page can draw.

use crate::column::{F64Column, U32Column};
use mpiscope_matching::{Durations, Sample};
use mpiscope_model::{Call, Comm, Nanoseconds, Rank, Site};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Stands in a column where a call has no peer, communicator or known place, and where there is no rank.
pub const NONE: u32 = u32::MAX;
/// Stands in the column of tags where a call has none.
pub const NO_TAG: i32 = i32::MIN;

/// Calls of a range: those that are long all, of the others a share that depends on nothing but the calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Calls {
    /// The range.
    pub from_ns: u64,
    /// Its end, outside.
    pub to_ns: u64,
    /// How many calls there are.
    pub total: u64,
    /// What share of the shorter calls is here.
    pub share: f64,
    /// Every call at least so long is here; 0 when all are.
    pub all_from_ns: u64,
    /// Who called.
    pub rank: U32Column,
    /// Which of its threads.
    pub thread: U32Column,
    /// What was called.
    pub function: U32Column,
    /// When it was entered.
    pub start_ns: F64Column,
    /// How long it took.
    pub duration_ns: F64Column,
    /// The one other rank; [`NONE`] where there is none or several.
    pub peer: U32Column,
    /// The bits of the tag; [`NO_TAG`] where there is none.
    pub tag: U32Column,
    /// What the call sent, or received where it sent nothing.
    pub bytes: F64Column,
    /// The communicator; [`NONE`] where there is none.
    pub comm: U32Column,
    /// Polls folded into the row, else 1.
    pub count: F64Column,
    /// The call site; [`NONE`] where that is not known.
    pub site: U32Column,
}

impl Calls {
    /// An empty set, to which calls are added by this rule.
    #[must_use]
    pub fn empty(range_ns: &Range<Nanoseconds>, total: u64, sample: &Sample) -> Self {
        Self {
            from_ns: range_ns.start,
            to_ns: range_ns.end,
            total,
            share: sample.share,
            all_from_ns: sample.all_from_ns,
            ..Self::default()
        }
    }

    /// About `most` of these calls.
    #[must_use]
    pub fn sampled<'a>(
        range_ns: &Range<Nanoseconds>,
        calls: impl Iterator<Item = &'a Call> + Clone,
        most: u64,
    ) -> Self {
        let mut durations = Durations::default();
        calls.clone().for_each(|call| durations.add(call));
        let sample = durations.sample(most);
        let mut columns = Self::empty(range_ns, durations.total(), &sample);
        calls.filter(|call| sample.keeps(call)).for_each(|call| columns.push(call));
        columns
    }

    /// Adds a call.
    pub fn push(&mut self, call: &Call) {
        self.rank.0.push(call.rank.0);
        self.thread.0.push(u32::from(call.thread));
        self.function.0.push(u32::from(call.function));
        self.start_ns.0.push(call.start_ns as f64);
        self.duration_ns.0.push(call.duration_ns() as f64);
        self.peer.0.push(Rank::number_or_max(call.peer));
        self.tag.0.push(call.tag.unwrap_or(NO_TAG).cast_unsigned());
        self.bytes.0.push(call.bytes as f64);
        self.comm.0.push(Comm::number_or_max(call.comm));
        self.count.0.push(call.count as f64);
        self.site.0.push(Site::number_or_max(call.site));
    }

    /// How many are here.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.rank.0.len()
    }
}
