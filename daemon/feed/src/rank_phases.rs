//! When ranks were in a phase that the program named with `MPI_Pcontrol`.

use crate::call_source::CallSource;
use crate::overlap::inside_ns;
use mpiscope_model::{Call, Comm, Nanoseconds};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A phase that figures can be of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Phase {
    /// Its number among communicators.
    pub id: u32,
    /// What the program calls it.
    pub name: String,
}

/// A call that begins or ends a phase: a positive level begins it.
#[derive(Debug, Clone, Copy)]
pub struct PhaseMark {
    /// When the call was entered.
    pub start_ns: Nanoseconds,
    /// When it returned.
    pub end_ns: Nanoseconds,
    /// Whether it begins the phase.
    pub is_begin: bool,
}

/// When each rank was in a phase, as far as a range says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PhaseSpans {
    /// By rank, in order, none over another.
    spans: Vec<Vec<Range<Nanoseconds>>>,
    range_ns: Range<Nanoseconds>,
}

impl PhaseSpans {
    /// Of this phase in a range. Reads what was before the range only where the range does not say who was in the phase
    /// when it began.
    pub(crate) fn read(
        source: &dyn CallSource,
        range_ns: &Range<Nanoseconds>,
        phase: Comm,
        ranks: usize,
    ) -> Result<Self, String> {
        let marks = marks(source, range_ns, phase, ranks)?;
        let marks = if range_ns.start > 0 && marks.iter().any(Vec::is_empty) {
            self::marks(source, &(0..range_ns.end), phase, ranks)?
        } else {
            marks
        };
        Ok(Self { spans: marks.into_iter().map(phase_spans).collect(), range_ns: range_ns.clone() })
    }

    /// Whether a rank was in the phase at a time; a call of the range may have begun before it.
    pub(crate) fn contains(&self, rank: usize, at_ns: Nanoseconds) -> bool {
        let Some(spans) = self.spans.get(rank) else { return false };
        let after = spans.partition_point(|span| span.start <= at_ns);
        after > 0 && spans[after - 1].contains(&at_ns)
    }

    /// How long a rank was in the phase within the range.
    pub(crate) fn seconds(&self, rank: usize) -> f64 {
        let spans = self.spans.get(rank).map_or(&[][..], Vec::as_slice);
        spans.iter().map(|span| inside_ns(&self.range_ns, span.start, span.end)).sum::<u64>() as f64 / 1e9
    }
}

fn marks(
    source: &dyn CallSource,
    range_ns: &Range<Nanoseconds>,
    phase: Comm,
    ranks: usize,
) -> Result<Vec<Vec<PhaseMark>>, String> {
    let mut marks = vec![Vec::new(); ranks];
    source.visit(range_ns, &mut |call: &Call| {
        let level = call.tag.filter(|level| *level != 0 && call.comm == Some(phase));
        if let (Some(level), Some(of)) = (level, marks.get_mut(call.rank.index())) {
            of.push(PhaseMark { start_ns: call.start_ns, end_ns: call.end_ns, is_begin: level > 0 });
        }
    })?;
    Ok(marks)
}

/// When one rank was in a phase: from the end of the call that begins it to the start of the one that ends it. A phase that
/// does not end lasts until [`Nanoseconds::MAX`].
#[must_use]
pub fn phase_spans(mut marks: Vec<PhaseMark>) -> Vec<Range<Nanoseconds>> {
    marks.sort_unstable_by_key(|mark| mark.start_ns);
    // A phase may be begun within itself. One whose beginning was not recorded began before.
    let mut depth = usize::from(marks.first().is_some_and(|mark| !mark.is_begin));
    let mut since_ns = 0;
    let mut found = Vec::new();
    for mark in marks {
        if mark.is_begin {
            if depth == 0 {
                since_ns = mark.end_ns;
            }
            depth += 1;
        } else {
            if depth == 1 {
                found.push(since_ns..mark.start_ns.max(since_ns));
            }
            depth = depth.saturating_sub(1);
        }
    }
    if depth > 0 {
        found.push(since_ns..Nanoseconds::MAX);
    }
    found
}
