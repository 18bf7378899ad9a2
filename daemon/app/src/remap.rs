//! `mpiscope remap`: a better placement of a recording's ranks on its nodes, as a file for a launcher.

use crate::command_line::RemapOptions;
use anyhow::{Context as _, Result};
use mpiscope_engine::load::load_traffic;
use mpiscope_model::words::printable;
use mpiscope_placement::{checked, summary};
use mpiscope_process::output::print;
use mpiscope_recording::Recording;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn remap(options: &RemapOptions) -> Result<ExitCode> {
    let recording = Recording::open(&options.dir)?;
    let traffic = load_traffic(&options.dir, &recording)?;
    let placement = checked(&traffic)?;
    let format = options.format.into();
    let text = placement.text(format);
    match &options.output {
        Some(file) => {
            std::fs::write(file, text).with_context(|| format!("write {}", file.display()))?;
        }
        None => print(&text)?,
    }
    let file = options.output.as_deref().unwrap_or(Path::new("FILE"));
    for sentence in summary(&placement, &traffic) {
        say!("{}", printable(&sentence));
    }
    if placement.advice.gains() {
        say!("next   {}", placement.command(format, file));
    }
    Ok(ExitCode::SUCCESS)
}
