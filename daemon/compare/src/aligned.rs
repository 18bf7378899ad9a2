//! Both runs on one clock, as the report and the page have it.

use crate::align::{AlignBy, Aligned, RunAnchors, align, choose};
use crate::digest::Digest;
use crate::stretches::{BothCalls, stretches};
use anyhow::{Result, anyhow};
use mpiscope_feed::{AlignedSection, Alignment, Stretch};

/// A run that was read without its calls has no anchors.
fn anchors<'a>(a: &'a Digest, b: &'a Digest) -> Option<(&'a RunAnchors, &'a RunAnchors)> {
    Some((&a.calls.as_ref()?.1, &b.calls.as_ref()?.1))
}

/// Aligned as asked, with all that took another time.
pub(crate) fn alignment(a: &Digest, b: &Digest, asked: AlignBy) -> Result<Alignment> {
    let none = RunAnchors::default();
    let (of_a, of_b) = anchors(a, b).unwrap_or((&none, &none));
    let aligned = choose(of_a, of_b, asked);
    let stretches = differences(a, b, &aligned)?;
    let sections = aligned.sections.into_iter().map(|section| AlignedSection {
        name: section.name,
        number: section.number,
        a_from_ns: section.a_ns.start,
        a_to_ns: section.a_ns.end,
        b_from_ns: section.b_ns.start,
        b_to_ns: section.b_ns.end,
    });
    Ok(Alignment {
        by: aligned.by.word().into(),
        asked: asked.word().into(),
        reason: aligned.reason,
        matched: aligned.matched,
        a_count: aligned.of_a,
        b_count: aligned.of_b,
        crossed: aligned.crossed,
        marker: aligned.marker,
        stretches,
        sections: sections.collect(),
    })
}

/// Turns or phases that took another time.
pub(crate) fn differences(a: &Digest, b: &Digest, aligned: &Aligned) -> Result<Vec<Stretch>> {
    let (Some((calls_a, _)), Some((calls_b, _))) = (&a.calls, &b.calls) else { return Ok(Vec::new()) };
    let ranks = (a.job.ranks, b.job.ranks);
    let calls = BothCalls { a: calls_a.as_ref(), b: calls_b.as_ref(), ranks };
    let lengths = [a, b].into_iter().filter_map(Digest::duration_s);
    let shorter_s = lengths.min_by(f64::total_cmp).unwrap_or(1.0);
    stretches(aligned, &calls, shorter_s).map_err(|error| anyhow!("cannot read calls: {error}"))
}

/// Each way to align the two, or why it is not possible.
pub(crate) fn all_alignments(a: &Digest, b: &Digest) -> Vec<(AlignBy, Result<Aligned, String>)> {
    let none = RunAnchors::default();
    let (of_a, of_b) = anchors(a, b).unwrap_or((&none, &none));
    let by = |by| (by, align(of_a, of_b, by));
    vec![(AlignBy::Start, Ok(choose(of_a, of_b, AlignBy::Start))), by(AlignBy::Phase), by(AlignBy::Turn)]
}
