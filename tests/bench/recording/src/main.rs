//! What writing a recording costs, how large it is, and how fast it is read.
//!
//! `cargo run --release -p mpiscope-bench-recording -- write [--ranks N --pattern NAME --seconds S --rate R --rounds N
//! --only PART]` models a job and reads it before the clock starts; then its messages go into a log, its calls and messages
//! into segments, and both into the sums of the run. What counts is the CPU time of all threads.
//!
//! `... -- rows [--ranks N --seconds S --rate R --rounds N --slots N --threads 1,2]` does what the recorder's thread does between
//! rings and disk, with each number of threads where there is much to do. What counts is the time that passes.
//!
//! `... -- read PROGRAM RECORDING` opens a recording with `PROGRAM replay` and asks what a page asks, at moments drawn at
//! random: first events after a seek, timelines of any zoom, the history, and going through the run at full speed, forward
//! and backward. It says how long the answers took and how much memory the program had at the most. With `--cold` the
//! files of the recording are put out of the system's memory first.
//!
//! `... -- size RECORDING...` says what of a recording takes how many bytes a call.

#![allow(clippy::print_stdout, reason = "its figures are for whoever runs it")]

mod read;
mod rows;
mod size;
mod write;

use anyhow::{Context as _, Result, bail};
use mpiscope_wire::{Message, Slots};

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("write") => write::measure(words),
        Some("rows") => rows::measure(words),
        Some("read") => read::measure(words),
        Some("size") => size::say(words),
        _ => bail!("say write, rows, read or size; the head of this program's source says what they do"),
    }
}

/// A number behind an option.
fn number<T: std::str::FromStr>(word: Option<&String>, option: &str) -> Result<T> {
    word.and_then(|word| word.parse().ok()).with_context(|| format!("{option} needs a number"))
}

/// Slots as agents bring them.
fn packed(message: &Message) -> Option<Message> {
    let Message::Slots(Slots { process, ring, from, slots }) = message else { return None };
    Some(Message::of_slots(*process, *ring, *from, slots))
}

/// The least, the median and the greatest.
fn spread(mut figures: Vec<f64>) -> (f64, f64, f64) {
    figures.sort_by(f64::total_cmp);
    let last = figures.len().saturating_sub(1);
    let at = |at: usize| figures.get(at).copied().unwrap_or_default();
    (at(0), at(last / 2), at(last))
}
