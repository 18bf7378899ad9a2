//! A second recording for programs, on the clock of the one that is replayed.

use super::CACHE_BYTES;
use super::spill::{Spill, Spilled};
use crate::align::{AlignBy, Aligned, RunAnchors, choose};
// words: allow the name of a module
use crate::judge;
use crate::load::{self, Rows, Trust, load_with};
use crate::page::{Shelves, inform}; // words: allow the name of a type
use crate::remap::Placements;
use anyhow::{Context as _, Result, anyhow};
use mpiscope_feed::Overview;
use mpiscope_recording::Recording;
use mpiscope_server::{SecondRecording, SecondRun, Sections};
use std::path::Path;
use std::sync::Arc;

/// Turns or phases that clients learn about; with more, those at the end are left out.
const MOST_SECTIONS: usize = 65_536;

/// Opens a recording and aligns it with the anchors of the first. What is spilled has to be kept as long as it is served.
pub(super) fn open(
    dir: &Path,
    first: &RunAnchors,
    by: AlignBy,
) -> Result<(SecondRecording, Option<Spilled>)> {
    let recording = Recording::open(dir)?;
    let spilled = if load::is_in_log(&recording) { Some(Spilled::make()?) } else { None };
    let placements = Placements::of_recording(dir);
    let rows = match &spilled {
        // words: allow the name of a type
        Some(spilled) => Shelves::new(&spilled.0, CACHE_BYTES, placements),
        // words: allow the name of a type
        None => Shelves::of_recording(&recording, CACHE_BYTES, placements),
    };
    let (calls, sites) = (rows.calls.clone(), rows.sites.clone());
    let library = rows.clone().into_library(dir, Overview::default());
    let library = library.with_window(recording.manifest().window_ns);
    let mut spill = match &spilled {
        Some(Spilled(dir)) => Some(Spill::into(dir, rows)?),
        None => None,
    };
    let mut last_ns = load::last_call_ns(&recording);
    let mut keep = |Rows { calls, messages, .. }| {
        last_ns = calls.iter().map(|call| call.end_ns).fold(last_ns, u64::max);
        spill.as_mut().map_or(Ok(()), |spill| spill.add(calls, messages))
    };
    let loaded = load_with(dir, &recording, Trust::Unchecked, Overview::default(), &mut keep)?;
    sites.see(&loaded.sites);
    // words: allow the name of a module
    let findings = judge::read(dir).with_context(|| format!("read {}", dir.display()))?;
    let end_ns = loaded.end_ns().max(last_ns);
    inform(&library, &loaded, findings.as_ref(), end_ns);
    let anchors = RunAnchors::read(&calls, &loaded.sites, &loaded.communicators, loaded.end_ns());
    let anchors = anchors.map_err(|error| anyhow!("read {}: {error}", dir.display()))?;
    let aligned = choose(first, &anchors, by);
    let about = SecondRun {
        command: loaded.job.command.join(" "),
        ranks: loaded.job.ranks,
        run_ns: end_ns as f64,
        aligned_by: aligned.by.word().into(),
        reason: aligned.reason.clone(),
        sections: sections(&aligned),
    };
    Ok((SecondRecording { library: Arc::new(library), map: aligned.map, about }, spilled))
}

fn sections(aligned: &Aligned) -> Sections {
    let mut sections = Sections::default();
    for section in aligned.sections.iter().take(MOST_SECTIONS) {
        sections.name.push(section.name.clone());
        sections.number.push(section.number);
        sections.a_from_ns.push(section.a_ns.start as f64);
        sections.a_to_ns.push(section.a_ns.end as f64);
        sections.b_from_ns.push(section.b_ns.start as f64);
        sections.b_to_ns.push(section.b_ns.end as f64);
    }
    sections
}
