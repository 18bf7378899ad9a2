//! Recordings of what nobody collects: somebody has the messages already, models them or reads them from a file. They go
//! the way of those of a real run, through the log and the recorder.

use super::queue::{self, Item, Sending};
use super::recorder::{Judge, Recorder};
use anyhow::{Context as _, Result, bail};
use mpiscope_recording::{Manifest, RecordingOptions, RecordingWriter, State, WalWriter};
use mpiscope_wire::Message;
use std::path::Path;

/// The length of a window.
const WINDOW_NS: u64 = 100_000_000;

/// Takes the messages of a run, in the order of its log; the end of the run is the last.
pub(crate) struct Teller {
    log: Option<WalWriter>,
    send: Sending,
    item: Item,
    encoded: Vec<u8>,
}

impl Teller {
    /// Takes a message.
    pub(crate) fn tell(&mut self, message: Message) {
        self.encoded.clear();
        message.encode(&mut self.encoded);
        let is_end = matches!(message, Message::RunEnd(_));
        let written = self.log.as_mut().map_or(Ok(()), |log| {
            log.write(&self.encoded)?;
            if is_end { log.flush() } else { Ok(()) }
        });
        self.item.faults.extend(written.err().map(|error| error.to_string()));
        if is_end {
            // The recorder removes the log when the recording is complete.
            self.log = None;
        }
        let settles = is_end || matches!(message, Message::Knot(_));
        self.item.messages.push(message);
        if settles {
            self.send.send(std::mem::take(&mut self.item));
        }
    }

    /// Says what the recording will not have: on stderr, and in its manifest.
    pub(crate) fn miss(&mut self, sentence: String) {
        self.item.faults.push(sentence);
    }
}

/// Makes a recording in a new or empty folder out of what is told, and has it judged. Its manifest is amended in the end, and given with
/// what the teller returned.
///
/// # Errors
/// When the recording cannot be written, or the teller fails. What was told until then is left.
pub(crate) fn record_told<T: Send>(
    out: &Path,
    judge: Judge,
    amend: impl FnOnce(&mut Manifest),
    tell: impl FnOnce(&mut Teller) -> Result<T> + Send,
) -> Result<(Manifest, T)> {
    let name = out.file_name().context("the folder of the recording needs a name")?;
    let manifest =
        Manifest { run: name.to_string_lossy().into_owned(), window_ns: WINDOW_NS, ..Manifest::default() };
    let writer = RecordingWriter::create(out, manifest, RecordingOptions::default())?;
    let recorder = Recorder::new(writer, WINDOW_NS, judge);
    let log = WalWriter::create(out)?;
    let (send, receive) = queue::queue();
    let teller = Teller { log: Some(log), send, item: Item::default(), encoded: Vec::new() };
    let (told, recorded) = std::thread::scope(|scope| {
        let telling = scope.spawn(move || {
            let mut teller = teller;
            tell(&mut teller)
        });
        let recorded = recorder.run(&receive);
        // Whoever tells into nothing goes on to the end.
        drop(receive);
        (telling.join(), recorded)
    });
    // Why there was nothing more to be recorded says more than that there was nothing.
    let Ok(told) = told else { bail!("the messages could not be told") };
    let told = told?;
    recorded?;
    let mut manifest = Manifest::read(out)?;
    if manifest.state != State::Complete {
        bail!("{} could not be completed: {}", out.display(), manifest.missing.join("; "));
    }
    // That of this program says nothing about a run that it did not watch.
    manifest.cost.agent_cpu_s = None;
    amend(&mut manifest);
    manifest.write(out)?;
    Ok((manifest, told))
}
