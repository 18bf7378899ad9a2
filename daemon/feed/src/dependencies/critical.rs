//! The critical path of a range, as columns.

use super::gather::{meetings, visit};
use crate::call_source::CallSource;
use crate::calls::NONE;
use crate::column::{F64Column, U32Column};
use crate::message_source::Messages;
use crate::question::REPLACED;
use mpiscope_diagnosis::{self as diagnosis, PathKind};
use mpiscope_model::{Nanoseconds, Site};
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};

/// Calls of a chunk, about, and of the range at most.
const CHUNK_CALLS: u64 = 300_000;
const MOST_CALLS: u64 = 8_000_000;
/// What is read before a chunk, in its length: members of a collective may have left it sooner than others.
const BEFORE: u64 = 8;

/// What ended each wait, from the last event of a range backwards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CriticalPath {
    /// Where the path begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// The rank of each step, by time.
    pub rank: U32Column,
    /// 0 computing, 1 in a call, 2 transfer, 3 collective.
    pub kind: U32Column,
    /// When it begins; it ends where the next begins.
    pub start_ns: F64Column,
    /// The function, of computing the one called next; [`NONE`] where there is none.
    pub function: U32Column,
    /// The call site; [`NONE`] where it is not known.
    pub site: U32Column,
    /// The rank where the path came from, of a transfer or a collective.
    pub other: U32Column,
    /// Whether steps stand for others beside them that are too short to be seen.
    pub is_joined: bool,
    /// What the path is made of, the most first: kind, function, call site, time, steps. Exact.
    pub part_kind: U32Column,
    /// The function.
    pub part_function: U32Column,
    /// The call site.
    pub part_site: U32Column,
    /// The time.
    pub part_ns: F64Column,
    /// The steps.
    pub part_steps: F64Column,
}

/// The critical path of a range, read in stretches from its end.
pub(super) fn critical_path(
    messages: &Messages,
    range_ns: &Range<Nanoseconds>,
    (source, calls_in_range): (&dyn CallSource, u64),
    is_wanted: &dyn Fn() -> bool,
) -> Result<CriticalPath, String> {
    if calls_in_range > MOST_CALLS {
        return Err(format!("more than {MOST_CALLS} calls lie in this range: choose a shorter one"));
    }
    let mut path = diagnosis::CriticalPath::new(range_ns.clone());
    let chunks = calls_in_range.div_ceil(CHUNK_CALLS).max(1);
    let chunk_ns = (range_ns.end.saturating_sub(range_ns.start)).div_ceil(chunks).max(1);
    let mut until_ns = range_ns.end;
    while until_ns > range_ns.start {
        if !is_wanted() {
            return Err(REPLACED.to_owned());
        }
        let from_ns = until_ns.saturating_sub(chunk_ns).max(range_ns.start);
        let read = from_ns.saturating_sub(chunk_ns / BEFORE)..until_ns;
        let mut calls = Vec::new();
        source.visit(&read, &mut |call| calls.push(*call))?;
        let mut some = Vec::new();
        visit(messages.source.as_ref(), &read, is_wanted, &mut |of| {
            some.extend(of.iter().filter(|of| of.send_ns < read.end && of.recv_ns > read.start));
            ControlFlow::Continue(())
        })?;
        let met = meetings(source, messages.flow, &read, usize::MAX)?;
        path.back(from_ns, &calls, &some, &met);
        until_ns = from_ns;
    }
    Ok(CriticalPath::new(&path))
}

impl CriticalPath {
    fn new(path: &diagnosis::CriticalPath) -> Self {
        let ((steps, is_joined), parts) = (path.steps(), path.parts());
        let kind = |kind: PathKind| match kind {
            PathKind::Compute => 0_u32,
            PathKind::Call => 1,
            PathKind::Transfer => 2,
            PathKind::Collective => 3,
        };
        let function = |function: Option<u16>| function.map_or(NONE, u32::from);
        Self {
            from_ns: steps.first().map_or(0, |step| step.from_ns),
            to_ns: steps.last().map_or(0, |step| step.to_ns),
            rank: steps.iter().map(|step| step.rank.0).collect(),
            kind: steps.iter().map(|step| kind(step.kind)).collect(),
            start_ns: steps.iter().map(|step| step.from_ns).collect(),
            function: steps.iter().map(|step| function(step.function)).collect(),
            site: steps.iter().map(|step| Site::number_or_max(step.site)).collect(),
            other: steps.iter().map(|step| step.other.0).collect(),
            is_joined,
            part_kind: parts.iter().map(|part| kind(part.kind)).collect(),
            part_function: parts.iter().map(|part| function(part.function)).collect(),
            part_site: parts.iter().map(|part| Site::number_or_max(part.site)).collect(),
            part_ns: parts.iter().map(|part| part.ns).collect(),
            part_steps: parts.iter().map(|part| part.steps).collect(),
        }
    }
}
