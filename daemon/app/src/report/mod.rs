//! `mpiscope report`: what a recording holds, in words or as JSON.

mod json;
mod text;

use crate::command_line::ReportOptions;
use crate::load::load;
use crate::words::printable;
use anyhow::Result;
use mpiscope_recording::Recording;
use std::io::Write as _;
use std::process::ExitCode;

pub(crate) fn report(options: &ReportOptions) -> Result<ExitCode> {
    let loaded = load(&options.dir, &Recording::open(&options.dir)?, &mut |_, _| Ok(()))?;
    let text = if options.json { json::json(&loaded)? } else { printable(&text::text(&loaded)) };
    // Whoever reads only the first lines, as `head` does, has what it wanted.
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
