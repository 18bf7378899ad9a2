//! A reader: frames of the log in; sums, events and segments out.

use super::folder::Folder;
use super::packets::{
    ANSWER, Answer, BATCH, END, FRAMES, LAST_ANSWER, Plan, SHOWN_BATCH, SHOWN_END, Shown, read_packet,
    write_answer, write_segment,
};
use anyhow::{Context as _, Result, bail};
use mpiscope_engine::{Counted, Counter};
use mpiscope_flow::Rows;
use mpiscope_model::{Batch, Call};
use mpiscope_process::own_process;
use mpiscope_recording::{EncodedSegment, RecordingError, SegmentWriter};
use mpiscope_wire::{Decoder, Message};
use std::io::{BufReader, BufWriter, Write as _};
use std::os::unix::net::UnixStream;

struct Reader {
    counter: Counter,
    segments: SegmentWriter<Call>,
    folder: Folder,
    to: BufWriter<UnixStream>,
    /// Whether the last batch was shown.
    is_shown: bool,
}

/// Reads what the daemon hands out on a stream, until the run is over or nobody hands out any more.
///
/// # Errors
/// When nothing can be written for a while to be handed over, or what comes makes no sense.
pub(crate) fn read_calls(plan: &[u8], stream: UnixStream) -> Result<()> {
    let Plan { window_ns, threads, calls_per_segment, zstd_level } =
        serde_json::from_slice(plan).context("the daemon has another version")?;
    let folder = Folder::new()?;
    let mut reader = Reader {
        counter: Counter::new(window_ns, threads),
        segments: SegmentWriter::open(&folder.path(), calls_per_segment, zstd_level)?.beside(),
        folder,
        to: BufWriter::new(stream.try_clone()?),
        is_shown: false,
    };
    let mut from = BufReader::new(stream);
    while let Some((kind, bytes)) = read_packet(&mut from)? {
        if reader.take(kind, &bytes)? {
            break;
        }
    }
    Ok(())
}

impl Reader {
    /// Takes in a packet; says whether it was the last one.
    fn take(&mut self, kind: u8, bytes: &[u8]) -> Result<bool> {
        let mut decoder = Decoder::new();
        decoder.feed(bytes);
        while let Ok(Some(frame)) = decoder.next_frame() {
            let message = Message::decode(frame.kind, frame.payload);
            self.counter.feed(message.ok().context("the daemon sent a frame that makes no sense")?);
        }
        let is_over = matches!(kind, END | SHOWN_END);
        match kind {
            FRAMES => return Ok(false),
            BATCH | SHOWN_BATCH | END | SHOWN_END => {}
            other => bail!("the daemon sent a packet of kind {other}"),
        }
        let is_shown = matches!(kind, SHOWN_BATCH | SHOWN_END);
        // Those that wait, and that nobody was shown.
        let earlier = if is_shown && !self.is_shown { self.segments.waiting().concat() } else { Vec::new() };
        self.is_shown = is_shown;
        let (counted, batch) = if is_over { self.counter.finish() } else { self.counter.take() };
        let (mut sealed, mut faults) = (Vec::new(), Vec::new());
        let mut note = |outcome: Result<(), RecordingError>| {
            faults.extend(outcome.err().map(|error| format!("a reader of calls: {error}")));
        };
        note(self.segments.push(&batch.calls, &mut sealed));
        if is_over {
            note(self.segments.seal(&mut sealed));
        }
        for segment in sealed {
            write_segment(&mut self.to, &EncodedSegment::take(&self.folder.path(), segment)?)?;
        }
        self.answer((counted, batch), earlier, faults, if is_over { LAST_ANSWER } else { ANSWER })?;
        Ok(is_over)
    }

    fn answer(
        &mut self,
        (counted, mut batch): (Counted, Batch),
        earlier: Vec<Call>,
        faults: Vec<String>,
        kind: u8,
    ) -> Result<()> {
        let events = Rows(std::mem::take(&mut batch.events));
        let answer = Answer {
            counted,
            events,
            shown: self.is_shown.then(|| Shown::of_batch(batch, earlier)),
            waiting_calls: self.segments.waiting_rows() as u64,
            given_up_calls: self.segments.unwritten_rows(),
            faults,
            cpu_s: own_process::cpu_s(),
        };
        write_answer(&mut self.to, kind, &answer)?;
        Ok(self.to.flush()?)
    }
}
