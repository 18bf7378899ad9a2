//! The daemon of one run: agent, engine, recording and page in one process of its own, so that whatever becomes of
//! it, the program and `mpiscope run` live on; `run` starts it again, and it goes on from its log.
//!
//! Two threads carry the calls, with a bounded queue between them: the agent empties the rings into the log; the
//! recorder turns what was read into rows, counts and the page's feed. A third serves the page.

mod protocol;
mod queue;
mod recorder;
mod viewers;

pub(crate) use protocol::{Configuration, FromDaemon, LIVE_FILE, Live, Summary, ToDaemon};

use crate::agent::{Agent, Pass, Resume, run_start};
use crate::page::{Page, Shelf};
use anyhow::{Context as _, Result};
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use mpiscope_feed::Job;
use mpiscope_recording::{Manifest, RecordingOptions, RecordingWriter, WalReader, WalWriter};
use mpiscope_ring::clock::{knot, monotonic_ns};
use mpiscope_wire::{Message, RunEnd};
use queue::{Item, Sending};
use recorder::Recorder;
use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use viewers::Viewers;

/// Between two looks at the rings, when they fill quickly and when they had little. A rank's first ring holds more than
/// can be written in the longer of the two.
const SHORT_REST: Duration = Duration::from_micros(500);
const REST: Duration = Duration::from_millis(2);
/// So little (or an eighth of a small ring) is left in a ring for so long at most, when somebody watches and when nobody does: to take it out costs
/// what hundreds of calls do, and the job may need the processor.
const LITTLE_SLOTS: usize = 2048;
const LITTLE_WAITS: Duration = Duration::from_millis(5);
const LITTLE_WAITS_UNWATCHED: Duration = Duration::from_millis(25);
/// How long ranks may take to begin once `run` is gone.
const BEGINNING: Duration = Duration::from_secs(10);
/// How long ranks may linger after the command returned.
const LINGER: Duration = Duration::from_secs(2);

/// Sealed calls that stay in memory for those who look back.
const SHELF_BYTES: usize = 256 << 20;

/// How the command ended, as far as this process was told.
#[derive(Debug, Clone, Copy)]
struct Ended {
    exit: Option<i32>,
}

/// The whole life of the process: told what to do on standard input, answering on standard output.
pub(crate) fn record() -> Result<ExitCode> {
    let mut first = String::new();
    // Without its lock, which the thread that waits for orders will hold.
    std::io::stdin().read_line(&mut first).context("nobody said what to record")?;
    let configuration: Configuration = serde_json::from_str(&first).context("read what to record")?;
    match serve(&configuration) {
        Ok(summary) => answer(&FromDaemon::Done(Box::new(summary)))?,
        Err(error) => answer(&FromDaemon::Failed(format!("{error:#}")))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(message: &FromDaemon) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, message)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

fn serve(configuration: &Configuration) -> Result<Summary> {
    let options = RecordingOptions::default();
    let shelf = Shelf::new(configuration.out.clone(), Vec::new(), SHELF_BYTES);
    let mut page = None;
    let mut recorder;
    let mut with_page = |recorder: &mut Recorder| -> Result<()> {
        let Some(address) = configuration.listen else { return Ok(()) };
        let job = Job {
            run: configuration.run.clone(),
            command: configuration.command.join(" "),
            ..Job::default()
        };
        let window_ns = recorder.window_ns();
        let (opened, feeding) =
            Page::open(address, &configuration.token, job.clone(), window_ns, Box::new(shelf.clone()))?;
        page = Some(opened);
        recorder.tell(Viewers::new(feeding, shelf.clone(), job, window_ns));
        Ok(())
    };
    let (resume, log);
    if configuration.resume {
        let writer = RecordingWriter::rebuild(&configuration.out, options)?;
        recorder = Recorder::new(writer, configuration.window_ns);
        with_page(&mut recorder)?;
        resume = recorder.replay(&WalReader::open(&configuration.out)?);
        log = WalWriter::append_to(&configuration.out)?;
    } else {
        let manifest = Manifest {
            run: configuration.run.clone(),
            window_ns: configuration.window_ns,
            job: mpiscope_recording::Job { command: configuration.command.clone(), ..Default::default() },
            ..Manifest::default()
        };
        let writer = RecordingWriter::create(&configuration.out, manifest, options)?;
        recorder = Recorder::new(writer, configuration.window_ns);
        with_page(&mut recorder)?;
        resume = Resume::default();
        log = WalWriter::create(&configuration.out)?;
    }
    let live = Live { rings: configuration.rings.clone(), pid: std::process::id() };
    // Held while this process lives: whoever can lock it knows that nobody records.
    let _lock = live.write(&configuration.out)?;
    answer(&FromDaemon::Ready { url: page.as_ref().map(|page| page.url().to_owned()) })?;

    let (send, receive) = queue::queue();
    let (tell_end, ended) = bounded(1);
    std::thread::Builder::new().name("orders".into()).spawn(move || listen(&tell_end))?;
    let agent = Agent::new(configuration.rings.clone(), resume, Some(log));
    let fresh = !configuration.resume;
    let (run, command) = (configuration.run.clone(), configuration.command.clone());
    let watched = page.as_ref().map(Page::watched);
    let agent = std::thread::Builder::new().name("agent".into()).spawn(move || {
        let watched = || watched.as_ref().is_some_and(|watched| watched());
        watch(agent, fresh.then(|| run_start(&run, &command)), &send, &ended, watched);
    })?;
    let summary = recorder.run(&receive);
    drop(receive);
    // The agent's thread can only have ended by itself or by a fault that the recorder has already seen.
    let _ = agent.join();
    if let Some(page) = page {
        page.linger();
        page.close();
    }
    let summary = summary?;
    // Everything that was in them is in the recording.
    for folder in &configuration.rings {
        let _ = std::fs::remove_dir_all(folder);
    }
    Live::remove(&configuration.out);
    Ok(summary)
}

/// Waits for the word that the command is over. When `run` is gone, nobody will say it.
fn listen(tell: &Sender<Ended>) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Ok(ToDaemon::End { exit }) = serde_json::from_str(&line) {
            let _ = tell.send(Ended { exit });
            return;
        }
    }
}

/// The agent's thread.
fn watch(
    mut agent: Agent,
    start: Option<Message>,
    send: &Sending,
    ended: &Receiver<Ended>,
    watched: impl Fn() -> bool,
) {
    if let Some(start) = start {
        hand_on(&mut agent, send, |agent, sink| {
            agent.tell(start, sink);
            agent.tell(Message::Knot(knot()), sink);
        });
    }
    let (mut seen, mut alone_since) = (false, None);
    let exit = loop {
        let waits = if watched() { LITTLE_WAITS } else { LITTLE_WAITS_UNWATCHED };
        let pass = if agent.is_worth_a_pass(LITTLE_SLOTS, waits) {
            hand_on(&mut agent, send, Agent::pass)
        } else {
            Pass::default()
        };
        seen |= agent.has_regions();
        match ended.try_recv() {
            Ok(Ended { exit }) => break exit,
            Err(TryRecvError::Empty) => {}
            // `run` is gone: the run is over when its ranks are.
            Err(TryRecvError::Disconnected) => {
                // Ranks may not have begun yet.
                let alone = alone_since.get_or_insert_with(Instant::now).elapsed();
                if !agent.has_living() && (seen || alone > BEGINNING) {
                    break None;
                }
            }
        }
        if !pass.busy {
            std::thread::sleep(if pass.slots < LITTLE_SLOTS { REST } else { SHORT_REST });
        }
    };
    agent.drain(LINGER, |agent| hand_on(agent, send, Agent::pass));
    hand_on(&mut agent, send, |agent, sink| {
        agent.look(sink);
        agent.tell(Message::Knot(knot()), sink);
        agent.tell(Message::RunEnd(RunEnd { exit, monotonic_ns: monotonic_ns() }), sink);
        agent.close();
    });
}

/// Collects what some work has to say, and hands it on as one item.
fn hand_on<T>(
    agent: &mut Agent,
    send: &Sending,
    work: impl FnOnce(&mut Agent, &mut dyn FnMut(Message)) -> T,
) -> T {
    let mut messages = Vec::new();
    let done = work(agent, &mut |message| messages.push(message));
    let faults = std::mem::take(&mut agent.faults);
    let in_flight = agent.in_flight_if_due();
    if !messages.is_empty() || !faults.is_empty() || in_flight.is_some() {
        send.send(Item { messages, faults, in_flight });
    }
    done
}
