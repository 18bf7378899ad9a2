//! A second recording for programs, on the clock of the one that is replayed.

use super::spill::{OpenedRecording, Spilled};
use anyhow::{Context as _, Result, anyhow};
use mpiscope_compare::{AlignBy, Aligned, RunAnchors, choose};
use mpiscope_feed::Overview;
use mpiscope_page::inform;
use mpiscope_server::{SecondRecording, SecondRun, Sections};
use mpiscope_verdict as verdict;
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
    let opened = OpenedRecording::open(dir)?;
    let library = opened.rows.clone().into_library(dir, Overview::default());
    let library = library.with_window(opened.recording.manifest().window_ns);
    let (loaded, last_ns) = opened.load(dir, Overview::default())?;
    let findings = verdict::read(dir).with_context(|| format!("read {}", dir.display()))?;
    let end_ns = loaded.end_ns().max(last_ns);
    inform(&library, &loaded, findings.as_ref(), end_ns);
    let anchors = RunAnchors::read(&opened.rows.calls, &loaded.sites, &loaded.communicators, loaded.end_ns());
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
    Ok((SecondRecording { library: Arc::new(library), map: aligned.map, about }, opened.spilled))
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
