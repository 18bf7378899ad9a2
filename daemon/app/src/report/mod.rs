//! `mpiscope report`: what a recording holds, in words or as JSON.

mod json;
mod sites;
mod text;

use crate::command_line::ReportOptions;
use crate::judge;
use crate::load::{is_in_log, load};
use crate::output::print;
use crate::places;
use crate::remap::place;
use crate::words::printable;
use anyhow::{Result, bail};
use mpiscope_recording::Recording;
use std::process::ExitCode;

/// The exit status when more could be avoided than is allowed.
const TOO_MUCH: u8 = 3;

pub(crate) fn report(options: &ReportOptions) -> Result<ExitCode> {
    let recording = Recording::open(&options.dir)?;
    let mut loaded = load(&options.dir, &recording)?;
    let findings = if is_in_log(&recording) {
        let unknown = places::look_up(&mut loaded.sites, places::PATIENCE);
        loaded.missing.extend(unknown);
        let mut findings = judge::judge(&recording, &recording.wal()?, 1)?;
        findings.name_places(&loaded.sites);
        Some(findings)
    } else {
        judge::read(&options.dir).unwrap_or_else(|error| {
            loaded.missing.push(format!("what was found about the run: {error:#}"));
            None
        })
    };
    // Where it is not known which rank was where, there is nothing to be advised.
    let placement = place(&loaded.job, &loaded.sums.traffic.lock()).ok();
    let text = if options.json {
        json::json(&loaded, placement.as_ref(), findings.as_ref())?
    } else {
        printable(&text::text(&loaded, placement.as_ref(), findings.as_ref()))
    };
    print(&text)?;
    match (options.fail_above, &findings) {
        (Some(most), Some(findings)) if findings.judgement.verdict.share > most => {
            Ok(ExitCode::from(TOO_MUCH))
        }
        (Some(_), None) => {
            bail!("{} was not judged, so nobody knows what could be avoided", options.dir.display())
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
