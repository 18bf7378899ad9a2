//! Recordings of what nobody collects: somebody has the messages already, models them or reads them from a file. They go
//! the way of those of a real run, through the log and the recorder.

use crate::protocol::{Configuration, WINDOW_NS};
use crate::queue::{self, Item, Sending};
use crate::recorder::{Diagnose, Recorder};
use crate::start::open_page;
use anyhow::{Context as _, Result, bail};
use mpiscope_layout::SiteDescription;
use mpiscope_page::say_address;
use mpiscope_recording::{Manifest, RecordingOptions, RecordingWriter, State, WalWriter};
use mpiscope_verdict::have_diagnosed;
use mpiscope_wire::Message;
use std::net::SocketAddr;
use std::path::Path;

/// Threads that analyse what is shown.
const WORKERS: usize = 1;

/// Takes the messages of a run, in the order of its log; the end of the run is the last.
pub struct Teller {
    log: Option<WalWriter>,
    send: Sending,
    item: Item,
    encoded: Vec<u8>,
}

impl Teller {
    /// Takes a message.
    pub fn tell(&mut self, message: Message) {
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
        let settles = is_end || matches!(message, Message::ClockSample(_));
        self.item.messages.push(message);
        if settles {
            self.send.send(std::mem::take(&mut self.item));
        }
    }

    /// Says what the recording will not have: on stderr, and in its manifest.
    pub fn miss(&mut self, sentence: String) {
        self.item.faults.push(sentence);
    }
}

/// Makes a recording in a new or empty folder out of messages, and has it diagnosed. Its manifest is amended in the end, and
/// returned with what the source of the messages returned.
///
/// # Errors
/// When the recording cannot be written, or the source fails. What was recorded until then stays.
pub fn record_told<T: Send>(
    out: &Path,
    diagnose: Diagnose,
    amend: impl FnOnce(&mut Manifest),
    tell: impl FnOnce(&mut Teller) -> Result<T> + Send,
) -> Result<(Manifest, T)> {
    let recorder = recorder_into(out, diagnose)?;
    let returned = take_in(out, recorder, tell)?;
    let mut manifest = Manifest::read(out)?;
    // That of this program says nothing about a run that it did not watch.
    manifest.cost.agent_cpu_s = None;
    amend(&mut manifest);
    manifest.write(out)?;
    Ok((manifest, returned))
}

/// The same, shown on a page meanwhile, by a clock that begins now: the daemon of a run without its agent.
///
/// # Errors
/// When there can be no page, and as above.
pub fn show_told<T: Send>(
    out: &Path,
    address: SocketAddr,
    tell: impl FnOnce(&mut Teller) -> Result<T> + Send,
) -> Result<T> {
    let mut recorder = recorder_into(out, Box::new(|dir, run| have_diagnosed(dir, run, WORKERS)))?;
    let configuration =
        Configuration { listen: Some(address), ..Configuration::of_run(name_of(out)?, out.to_owned())? };
    let (page, viewers) = open_page(&recorder, &configuration, address, SiteDescription::default())?;
    recorder.tell(viewers.beginning_now(), &configuration);
    let page = page.admit();
    say_address("live page", page.url());
    let returned = take_in(out, recorder, tell);
    page.linger();
    page.close();
    returned
}

fn name_of(out: &Path) -> Result<String> {
    let name = out.file_name().context("the folder of the recording needs a name")?;
    Ok(name.to_string_lossy().into_owned())
}

fn recorder_into(out: &Path, diagnose: Diagnose) -> Result<Recorder> {
    let manifest = Manifest { run: name_of(out)?, window_ns: WINDOW_NS, ..Manifest::default() };
    let writer = RecordingWriter::create(out, manifest, RecordingOptions::default())?;
    Ok(Recorder::new(writer, WINDOW_NS, diagnose))
}

/// Records the messages, to a complete recording.
fn take_in<T: Send>(
    out: &Path,
    recorder: Recorder,
    tell: impl FnOnce(&mut Teller) -> Result<T> + Send,
) -> Result<T> {
    let log = WalWriter::create(out)?;
    let (send, receive) = queue::queue();
    let teller = Teller { log: Some(log), send, item: Item::default(), encoded: Vec::new() };
    let (returned, recorded) = std::thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let mut teller = teller;
            tell(&mut teller)
        });
        let recorded = recorder.run(&receive);
        // Whoever tells into nothing goes on to the end.
        drop(receive);
        (sender.join(), recorded)
    });
    // Why there was nothing more to be recorded says more than that there was nothing.
    let Ok(returned) = returned else { bail!("the messages could not be reported") };
    let returned = returned?;
    recorded?;
    let manifest = Manifest::read(out)?;
    if manifest.state != State::Complete {
        bail!("{} could not be completed: {}", out.display(), manifest.missing.join("; "));
    }
    Ok(returned)
}
