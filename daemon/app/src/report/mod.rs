//! `mpiscope report`: what a recording holds, in words or as JSON.

mod json;
mod text;

use crate::command_line::ReportOptions;
use crate::load::load;
use crate::remap::{place, say};
use crate::words::printable;
use anyhow::Result;
use mpiscope_recording::Recording;
use std::process::ExitCode;

pub(crate) fn report(options: &ReportOptions) -> Result<ExitCode> {
    let loaded = load(&options.dir, &Recording::open(&options.dir)?, &mut |_, _| Ok(()))?;
    // Where it is not known which rank was where, there is nothing to be advised.
    let placement = place(&loaded.job, &loaded.traffic).ok();
    let text = if options.json {
        json::json(&loaded, placement.as_ref())?
    } else {
        printable(&text::text(&loaded, placement.as_ref()))
    };
    say(&text)?;
    Ok(ExitCode::SUCCESS)
}
