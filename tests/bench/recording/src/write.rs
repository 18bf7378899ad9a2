//! The way of a run's messages to the disk: log, segments, sums.

use crate::{number, packed, spread};
use anyhow::{Context as _, Result, bail};
use mpiscope_feed::Overview;
use mpiscope_ingest::Ingest;
use mpiscope_matching::{Counts, Matcher};
use mpiscope_model::{Call, Message, Nanoseconds};
use mpiscope_recording::{Manifest, RecordingOptions, RecordingWriter, WalWriter};
use mpiscope_synth::{Pattern, Spec, generate};
use mpiscope_topology::Traffic;
use mpiscope_wire as wire;
use rustix::time::{ClockId, clock_gettime};

const WINDOW_NS: u64 = 100_000_000;

/// What becomes known between two looks at the rings.
struct Piece {
    wire: Vec<wire::Message>,
    calls: Vec<Call>,
    messages: Vec<Message>,
    until_ns: Nanoseconds,
}

/// What of the way is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Log,
    Seal,
    Sums,
    All,
}

pub(crate) fn measure(mut words: impl Iterator<Item = String>) -> Result<()> {
    let mut pattern = Pattern::Halo3d;
    let (mut ranks, mut seconds, mut rate, mut rounds) = (64, 25.0, 200_000.0, 5);
    let mut parts = vec![Part::Log, Part::Seal, Part::Sums, Part::All];
    while let Some(word) = words.next() {
        match word.as_str() {
            "--pattern" => {
                let name = words.next().context("--pattern needs a name")?;
                pattern = name.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
            }
            "--ranks" => ranks = number(words.next().as_ref(), "--ranks")?,
            "--seconds" => seconds = number(words.next().as_ref(), "--seconds")?,
            "--rate" => rate = number(words.next().as_ref(), "--rate")?,
            "--rounds" => rounds = number(words.next().as_ref(), "--rounds")?,
            "--only" => {
                let name = words.next().context("--only needs the name of a part")?;
                parts.retain(|part| format!("{part:?}").eq_ignore_ascii_case(&name));
            }
            other => bail!("there is no option {other}"),
        }
    }
    let mut spec = Spec::new(pattern, ranks, seconds, rate);
    spec.nodes = (ranks / 8).max(1);
    let pieces = pieces(&spec)?;
    let calls: usize = pieces.iter().map(|piece| piece.calls.len()).sum();
    let messages: usize = pieces.iter().map(|piece| piece.messages.len()).sum();
    println!("{} of {ranks} ranks: {calls} calls, {messages} messages", pattern.name());
    let mut figures = vec![Vec::new(); parts.len()];
    for _ in 0..rounds {
        for (part, figures) in parts.iter().zip(&mut figures) {
            figures.push(calls as f64 / 1e6 / go(*part, &pieces)?);
        }
    }
    for (part, figures) in parts.iter().zip(figures) {
        let (least, median, greatest) = spread(figures);
        println!("{part:?}: {median:.2} [{least:.2}..{greatest:.2}] million calls a second of CPU time");
    }
    Ok(())
}

fn pieces(spec: &Spec) -> Result<Vec<Piece>> {
    let (mut ingest, mut matcher) = (Ingest::new(), Matcher::default());
    let (mut pieces, mut wire) = (Vec::new(), Vec::new());
    for message in generate(spec)? {
        wire.push(message.clone());
        let Some(batch) = ingest.step(message) else { continue };
        batch.ranks.iter().for_each(|info| matcher.place(info.rank, info.node));
        pieces.push(Piece {
            wire: std::mem::take(&mut wire),
            messages: matcher.feed(&batch.events).messages,
            calls: batch.calls,
            until_ns: batch.until_ns,
        });
    }
    Ok(pieces)
}

/// Goes a part of the way; says the CPU seconds.
fn go(part: Part, pieces: &[Piece]) -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let does = |of: Part| part == of || part == Part::All;
    let begun_s = processor_s();
    let mut writer = RecordingWriter::create(dir.path(), Manifest::default(), RecordingOptions::default())?;
    let mut log = WalWriter::create(dir.path())?;
    let (mut counts, mut traffic) = (Counts::new(WINDOW_NS), Traffic::default());
    let (overview, mut frame) = (Overview::default(), Vec::new());
    for piece in pieces {
        if does(Part::Log) {
            for message in &piece.wire {
                frame.clear();
                packed(message).as_ref().unwrap_or(message).encode(&mut frame);
                log.write(&frame)?;
            }
        }
        if does(Part::Seal) {
            writer.push_calls(&piece.calls)?;
            writer.push_messages(&piece.messages)?;
        }
        if does(Part::Sums) {
            counts.calls(&piece.calls);
            counts.messages(&piece.messages);
            counts.take_windows(piece.until_ns);
            traffic.feed(&piece.messages);
            overview.add(&piece.calls);
        }
    }
    log.sync()?;
    writer.seal()?;
    Ok(processor_s() - begun_s)
}

/// The time on cores of this process, all its threads.
fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
