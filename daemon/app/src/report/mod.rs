//! `mpiscope report`: what a recording holds, in words or as JSON.

mod json;
mod message_sizes;
mod selection;
mod sites;
mod text;

use crate::command_line::ReportOptions;
use anyhow::{Result, bail};
use mpiscope_engine::load::{Loaded, is_in_log, load};
use mpiscope_model::words::printable;
use mpiscope_placement::{Placement, place};
use mpiscope_process::output::print;
use mpiscope_recording::Recording;
use mpiscope_verdict::{self as verdict, Findings, Limits};
use selection::Selection;
use std::path::Path;
use std::process::ExitCode;

/// The exit status when more could be avoided than is allowed.
const TOO_MUCH: u8 = 3;

/// What a report is made of.
pub(crate) struct Contents {
    loaded: Loaded,
    findings: Option<Findings>,
}

impl Contents {
    /// Reads a recording.
    ///
    /// # Errors
    /// When there is none, or none that can be understood.
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let recording = Recording::open(dir)?;
        let mut loaded = load(dir, &recording)?;
        let mut findings = if is_in_log(&recording) {
            let unknown = mpiscope_symbols::look_up(&mut loaded.sites, mpiscope_symbols::PATIENCE);
            loaded.missing.extend(unknown);
            let mut findings = verdict::diagnose(&recording, &recording.wal()?, &Limits::new(1), None)?;
            findings.name_places(&loaded.sites);
            Some(findings)
        } else {
            verdict::read(dir).unwrap_or_else(|error| {
                loaded.missing.push(format!("what was found about the run: {error:#}"));
                None
            })
        };
        findings.iter_mut().for_each(|findings| findings.limit(&loaded.ending()));
        Ok(Self { loaded, findings })
    }

    /// Where it is not known which rank was where, there is nothing to be advised.
    fn placement(&self) -> Option<Placement<'_>> {
        place(&self.loaded.job, &self.loaded.sums.traffic.lock()).ok()
    }

    pub(crate) fn json(&self) -> Result<String> {
        json::json(&self.loaded, self.placement().as_ref(), self.findings.as_ref(), None)
    }

    fn selected(&self, selection: &Selection, is_json: bool) -> Result<String> {
        if is_json {
            json::json(&self.loaded, None, self.findings.as_ref(), Some(selection))
        } else {
            Ok(printable(&selection.text(&self.loaded)))
        }
    }

    fn text(&self) -> String {
        printable(&text::text(&self.loaded, self.placement().as_ref(), self.findings.as_ref()))
    }
}

pub(crate) fn report(options: &ReportOptions) -> Result<ExitCode> {
    let contents = Contents::read(&options.dir)?;
    let selection = Selection::read(options, &contents.loaded, contents.findings.as_ref())?;
    let text = match &selection {
        Some(selection) => contents.selected(selection, options.json)?,
        None if options.json => contents.json()?,
        None => contents.text(),
    };
    print(&text)?;
    let verdict = contents.findings.as_ref().map(|findings| &findings.diagnosis.verdict);
    match (options.fail_above, verdict.filter(|verdict| !verdict.is_withheld())) {
        (None, _) => Ok(ExitCode::SUCCESS),
        (Some(most), Some(verdict)) if verdict.share > most => Ok(ExitCode::from(TOO_MUCH)),
        (Some(_), Some(_)) => Ok(ExitCode::SUCCESS),
        (Some(_), None) => {
            bail!("{} has no verdict, so the avoidable time is unknown", options.dir.display())
        }
    }
}
