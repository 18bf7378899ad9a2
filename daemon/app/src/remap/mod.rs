//! `mpiscope remap`: a better placement of a recording's ranks on its nodes, as a file for a launcher.

mod asked;
mod formats;
mod placement;
#[cfg(test)]
mod tests;

pub(crate) use asked::Placements;
pub(crate) use placement::{Placement, place};

use crate::command_line::RemapOptions;
use crate::words::{bytes, count, plural, printable};
use anyhow::{Context as _, Result, ensure};
use mpiscope_engine::load::{Traffic, load_traffic};
use mpiscope_process::output::print;
use mpiscope_recording::Recording;
use std::path::Path;
use std::process::ExitCode;

pub(crate) use formats::Format;

pub(crate) fn remap(options: &RemapOptions) -> Result<ExitCode> {
    let recording = Recording::open(&options.dir)?;
    let traffic = load_traffic(&options.dir, &recording)?;
    let placement = checked(&traffic)?;
    let text = options.format.text(&placement);
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
        say!("next   {}", options.format.command(&placement, file));
    }
    Ok(ExitCode::SUCCESS)
}

/// The placement, if all that it takes is there.
fn checked(traffic: &Traffic) -> Result<Placement<'_>> {
    checked_by(traffic, || place(&traffic.job, &traffic.traffic))
}

/// Likewise, as somebody places its ranks.
fn checked_by<'a>(traffic: &Traffic, place: impl FnOnce() -> Result<Placement<'a>>) -> Result<Placement<'a>> {
    ensure!(
        traffic.faults.is_empty(),
        "no placement can be advised without all messages: {}",
        traffic.faults.join("; ")
    );
    let placement = place()?;
    placement.check_names()?;
    Ok(placement)
}

/// What changes, in sentences.
fn summary(placement: &Placement<'_>, traffic: &Traffic) -> Vec<String> {
    let advice = &placement.advice;
    let mut sentences = Vec::new();
    let now = format!(
        "{} with {} go between nodes as ranks are placed",
        plural(advice.inter_messages_before, "message"),
        bytes(advice.inter_bytes_before)
    );
    if advice.gains() {
        sentences.push(format!(
            "{now}; with this placement {} with {}",
            count(advice.inter_messages_after),
            bytes(advice.inter_bytes_after)
        ));
        sentences.push(format!(
            "{} of {} move to another node, and every node has as many as now",
            count(placement.moved() as u64),
            plural(placement.ranks() as u64, "rank")
        ));
    } else {
        sentences.push(format!("nothing can be gained: {now}, and no better placement was found"));
        sentences.push("this is the placement as it is".into());
    }
    let left_out = traffic.traffic.left_out().messages;
    if left_out > 0 {
        sentences.push(format!(
            "{} between ranks that seldom talk are left out of this",
            plural(left_out, "message")
        ));
    }
    sentences
}
