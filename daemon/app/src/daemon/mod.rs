//! The daemon of one run: agent, engine, recording and page in one process of its own, so that whatever becomes of
//! it, the program and `mpiscope run` live on; `run` starts it again, and it goes on from its log.
//!
//! Two threads carry the calls, with a bounded queue between them: the agent empties the rings, and what agents of other
//! hosts bring, into the log; the recorder turns it into rows, counts and the page's feed. Others serve the page and
//! listen to the agents.

mod imported;
mod postponing;
mod protocol;
mod queue;
mod recorder;
mod remotes;
mod viewers;

pub(crate) use imported::{record_told, show_told};
pub(crate) use protocol::{Configuration, FromDaemon, Link, Summary, ToDaemon};

use mpiscope_engine::Live;
pub(crate) use recorder::{Diagnose, END_UNKNOWN, Recorder, window_row};

use crate::page::{ClosedPage, LayoutFilePath, Page, RunData, copy_layouts};
use crate::remap::Placements;
use crate::switch;
use crate::topology;
use anyhow::{Context as _, Result, ensure};
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use mpiscope_agent::{Agent, LINGER, LITTLE_SLOTS, OWN, Pass, REST, Resume, SHORT_REST, run_start};
use mpiscope_feed::Job;
use mpiscope_ingest::KnownAgent;
use mpiscope_layout::SiteDescription;
use mpiscope_link::{Listener, ListenerOptions, Secret};
use mpiscope_process::output::Stdout;
use mpiscope_process::own_process::allow_files;
use mpiscope_recording::{Manifest, RecordingOptions, RecordingWriter, WalReader, WalWriter};
use mpiscope_ring::Sleeper;
use mpiscope_ring::clock::{clock_sample, monotonic_ns};
use mpiscope_verdict::{GIVEN, give, have_diagnosed};
use mpiscope_wire::{Message, RunEnd, Switched};
use queue::{Item, Sending};
use remotes::Remotes;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use viewers::Viewers;

/// What is little stays in a ring for so long at most, when somebody watches and when nobody does.
const LITTLE_WAITS: Duration = Duration::from_millis(10);
const LITTLE_WAITS_UNWATCHED: Duration = Duration::from_millis(50);
/// It is looked so often whether recording is to be switched.
const SWITCH_EVERY: Duration = Duration::from_millis(100);
/// How long ranks may take to begin once `run` is gone.
const BEGINNING: Duration = Duration::from_secs(10);

/// Two connections for each agent of the largest jobs, and files of our own.
const AGENTS_FILES: u64 = 2 * 16_384 + 1024;

/// Sealed calls that stay in memory for those who look back.
const CACHE_BYTES: usize = 96 << 20;

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

/// The recording has the layouts that its run was looked at with. Without them it is whole too.
fn keep_layouts(layout: &Path, dir: &Path) {
    if let Err(error) = copy_layouts(layout, dir) {
        say!("the layouts of {} are not kept with the recording: {error}", layout.display());
    }
}

fn answer(message: &FromDaemon) -> Result<()> {
    let line = serde_json::to_string(message)? + "\n";
    Ok(Stdout.write_all(line.as_bytes())?)
}

fn serve(configuration: &Configuration) -> Result<Summary> {
    let options = RecordingOptions::default();
    let mut page = None;
    let mut recorder;
    let mut with_page = |recorder: &mut Recorder, site: SiteDescription| -> Result<()> {
        let Some(address) = configuration.listen else { return Ok(()) };
        let job = Job {
            run: configuration.run.clone(),
            command: configuration.command.join(" "),
            ..Job::default()
        };
        let window_ns = recorder.window_ns();
        let placements = Placements::of_run(recorder.sums().traffic.clone());
        let layout = configuration.layout.clone().map(LayoutFilePath::from_whole_path);
        let data =
            RunData::new(&configuration.out, CACHE_BYTES, placements).with_layout(layout).with_site(site);
        let opened = Page::open(
            &configuration.out,
            address,
            &configuration.token,
            job.clone(),
            window_ns,
            data.clone(),
            recorder.sums().overview.clone(),
        );
        let (opened, feeding) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                say!("{error:#}; the run is recorded without a page");
                return Ok(());
            }
        };
        page = Some(opened);
        let viewers = Viewers::new(feeding, data, job, window_ns).holding(configuration.flight);
        recorder.tell(viewers, configuration);
        Ok(())
    };
    let workers = configuration.workers;
    let diagnose: Diagnose = Box::new(move |dir, run| have_diagnosed(dir, run, workers));
    let (resume, log);
    if configuration.resume {
        let before = Manifest::read(&configuration.out)?;
        ensure!(
            !before.cut.is_some_and(|cut| cut.log),
            "the beginning of the log is gone, as --keep asked, so that the recording cannot go on"
        );
        let mut writer = RecordingWriter::rebuild(&configuration.out, options)?;
        // A predecessor may have died before it was given them.
        if let Some(criteria) = &configuration.criteria {
            give(criteria, &configuration.out)?;
            writer.list_file(GIVEN)?;
        }
        recorder = Recorder::new(writer, configuration.window_ns, diagnose);
        recorder.expect(before.cost.calls);
        recorder.watch_for(configuration.hang_after, configuration.flight)?;
        with_page(&mut recorder, topology::of_recording(&configuration.out).0)?;
        resume = recorder.take_log(&WalReader::open(&configuration.out)?);
        log = WalWriter::append_to(&configuration.out)?;
    } else {
        let manifest = Manifest {
            run: configuration.run.clone(),
            window_ns: configuration.window_ns,
            latency: configuration.latency,
            job: mpiscope_recording::Job { command: configuration.command.clone(), ..Default::default() },
            ..Manifest::default()
        };
        let mut writer = RecordingWriter::create(&configuration.out, manifest, options)?;
        if let Some(keep) = configuration.keep {
            writer = writer.keeping(keep)?;
        }
        if let Some(criteria) = &configuration.criteria {
            give(criteria, &configuration.out)?;
            writer.list_file(GIVEN)?;
            writer.write_manifest()?;
        }
        let site = topology::store(&configuration.topology, &configuration.out, &mut writer)?;
        if let Some(layout) = &configuration.layout {
            keep_layouts(layout, &configuration.out);
        }
        recorder = Recorder::new(writer, configuration.window_ns, diagnose);
        recorder.watch_for(configuration.hang_after, configuration.flight)?;
        if configuration.keep.is_some() && configuration.listen.is_none() {
            // What is found at the end may be all that can be found.
            recorder.diagnose_live(configuration);
        }
        with_page(&mut recorder, site)?;
        resume = Resume::default();
        let all = WalWriter::create(&configuration.out)?;
        log = match configuration.keep {
            Some(keep) => all.keeping(keep),
            None => all,
        };
    }
    // Of a run that goes on, those who look see first what was recorded before.
    let page = page.map(ClosedPage::admit);
    let live = Live::here(configuration.rings.clone());
    if configuration.paused && !configuration.resume {
        switch::set(&configuration.out, false)?;
    }
    // Held while this process lives: whoever can lock it knows that nobody records.
    let _lock = live.write(&configuration.out)?;
    let known = recorder.agents();
    // Where it cannot be had, the agent looks more often.
    let sleeper = configuration.rings.first().and_then(|folder| Sleeper::open(folder).ok()).map(Arc::new);
    let arrived: Arc<dyn Fn() + Send + Sync> = {
        let sleeper = sleeper.clone();
        Arc::new(move || sleeper.iter().for_each(|sleeper| sleeper.wake()))
    };
    let listen_to = |link| listen_to_agents(link, &known, &arrived);
    if configuration.link.is_some() {
        allow_files(AGENTS_FILES);
    }
    let listener = configuration.link.as_ref().map(listen_to).transpose()?;
    answer(&FromDaemon::Ready {
        url: page.as_ref().map(|page| page.url().to_owned()),
        link: listener.as_ref().map(Listener::address),
    })?;
    let patience = configuration.link.as_ref().map(|link| link.patience).unwrap_or_default();
    let remotes = listener.map(|listener| Remotes::new(listener, patience));

    let (send, receive) = queue::queue();
    let (tell_end, ended) = bounded(1);
    std::thread::Builder::new().name("orders".into()).spawn(move || {
        listen(&tell_end);
        // Also that nobody will say it any more is something to see.
        drop(tell_end);
        arrived();
    })?;
    let mut agent = Agent::new(configuration.rings.clone(), resume, Some(Box::new(log)));
    let flight = configuration.flight;
    agent.hold = flight;
    agent.sleeper = sleeper;
    // A predecessor may have died before it said so.
    let fresh = !recorder.has_begun();
    let (run, command) = (configuration.run.clone(), configuration.command.clone());
    let dir = configuration.out.clone();
    let watched = page.as_ref().map(Page::watched);
    let agent = std::thread::Builder::new().name("agent".into()).spawn(move || {
        let watched = || watched.as_ref().is_some_and(|watched| watched());
        let start = fresh.then(|| run_start(&run, &command));
        let switch_seen = Instant::now();
        let from = Watch { agent, remotes, send, dir, is_on: true, switch_seen, flight };
        watch(from, start, &ended, watched);
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
    switch::forget(&configuration.out);
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

fn listen_to_agents(
    link: &Link,
    known: &[KnownAgent],
    arrived: &Arc<dyn Fn() + Send + Sync>,
) -> Result<Listener> {
    let mut fault = None;
    for &address in &link.addresses {
        let options = ListenerOptions {
            address,
            secret: Secret::from_text(&link.secret)?,
            certificate: link.certificate.clone(),
            now: monotonic_ns,
            known: known.iter().map(known_agent).collect(),
            arrived: Arc::clone(arrived),
        };
        match Listener::open(options) {
            Ok(listener) => return Ok(listener),
            Err(error) => fault = Some(error),
        }
    }
    let fault = fault.map_or_else(|| "no port is allowed".to_owned(), |fault| fault.to_string());
    anyhow::bail!("agents of other hosts cannot be listened to: {fault}")
}

fn known_agent(agent: &mpiscope_ingest::KnownAgent) -> mpiscope_link::KnownAgent {
    mpiscope_link::KnownAgent {
        identity: agent.identity,
        node: agent.node.clone(),
        next: agent.next_sequence,
        is_finished: agent.is_finished,
    }
}

/// What the agent's thread works with.
struct Watch {
    agent: Agent,
    remotes: Option<Remotes>,
    send: Sending,
    /// The recording's folder, which says whether calls are to be recorded.
    dir: PathBuf,
    is_on: bool,
    switch_seen: Instant,
    /// For how long calls are held back while recording is off.
    flight: Option<Duration>,
}

impl Watch {
    /// Collects what some work has to say, and hands it on as one item.
    fn hand_on<T>(
        &mut self,
        work: impl FnOnce(&mut Agent, &mut Option<Remotes>, &mut dyn FnMut(Message)) -> T,
    ) -> T {
        let mut messages = Vec::new();
        let done = work(&mut self.agent, &mut self.remotes, &mut |message| messages.push(message));
        let faults = std::mem::take(&mut self.agent.faults);
        let notices = std::mem::take(&mut self.agent.notices);
        let in_flight = self.agent.in_flight_if_due().map(|own| {
            let others = self.remotes.iter().flat_map(Remotes::in_flight);
            own.into_iter().map(|call| (OWN, call)).chain(others).collect()
        });
        if !messages.is_empty() || !faults.is_empty() || !notices.is_empty() || in_flight.is_some() {
            self.send.send(Item { messages, faults, notices, in_flight });
        }
        done
    }

    /// Switches recording on or off where the folder says so.
    fn look_at_switch(&mut self) {
        let is_on = switch::is_on(&self.dir);
        self.switch_seen = Instant::now();
        if std::mem::replace(&mut self.is_on, is_on) == is_on {
            return;
        }
        if let Some(remotes) = &self.remotes {
            remotes.switch(is_on);
        }
        let flight = self.flight;
        self.hand_on(|agent, _, sink| {
            if !is_on {
                // What was made until now is recorded.
                agent.pass(sink);
            }
            agent.switch(is_on, sink);
            agent.tell(switched(is_on, flight), sink);
            agent.notices.push(match (is_on, flight.map(|span| span.as_secs())) {
                (true, None) => "recording is switched on".to_owned(),
                (true, Some(held)) => format!("recording is switched on, with the last {held} s"),
                (false, None) => {
                    "recording is switched off: calls are not recorded until it is on again".to_owned()
                }
                (false, Some(held)) => {
                    format!("recording is off: calls of the last {held} s are held back until it is on")
                }
            });
        });
    }

    fn pass(&mut self) -> Pass {
        self.hand_on(|agent, _, sink| agent.pass(sink))
    }

    /// Takes in what other hosts bring; says whether there was much.
    fn listen(&mut self) -> bool {
        // While the recorder is behind, what agents bring can wait in their spools; the rings here cannot.
        self.remotes.is_some()
            && !self.send.is_half_full()
            && self.hand_on(|agent, remotes, sink| {
                remotes.as_mut().is_some_and(|remotes| remotes.work(agent, sink))
            })
    }

    /// The command is over: takes in what is left, here and elsewhere.
    fn finish(&mut self, exit: Option<i32>) {
        let begun = Instant::now();
        loop {
            // Also tells the agents that it is over.
            let wait =
                self.remotes.as_mut().is_some_and(|remotes| remotes.is_worth_waiting(&self.agent, exit));
            let busy = self.listen();
            let found = self.hand_on(|agent, _, sink| agent.pass_all(sink));
            let here = (found.slots > 0 || self.agent.has_living()) && begun.elapsed() < LINGER;
            if !wait && !busy && !here {
                break;
            }
            std::thread::sleep(REST);
        }
        let (flight, is_on) = (self.flight, self.is_on);
        self.hand_on(|agent, remotes, sink| {
            agent.look(sink);
            agent.tell(Message::ClockSample(clock_sample()), sink);
            if flight.is_some() && !is_on {
                // The end of a job is told in any case.
                agent.switch(true, sink);
                agent.tell(switched(true, flight), sink);
            }
            remotes.iter_mut().for_each(|remotes| remotes.look(agent, sink));
            agent.tell(Message::RunEnd(RunEnd { exit, monotonic_ns: monotonic_ns() }), sink);
            agent.close();
        });
    }
}

/// Recording is switched now; what was held back until then counts as recorded.
fn switched(is_on: bool, flight: Option<Duration>) -> Message {
    let held = flight.filter(|_| is_on).unwrap_or_default();
    let monotonic_ns = monotonic_ns().saturating_sub(held.as_nanos() as u64);
    Message::Switched(Switched { is_on, monotonic_ns })
}

/// The agent's thread.
fn watch(mut watch: Watch, start: Option<Message>, ended: &Receiver<Ended>, watched: impl Fn() -> bool) {
    if let Some(start) = start {
        watch.hand_on(|agent, _, sink| {
            agent.tell(start, sink);
            agent.tell(Message::ClockSample(clock_sample()), sink);
        });
    }
    let mut alone_since = None;
    watch.look_at_switch();
    let exit = loop {
        if watch.switch_seen.elapsed() >= SWITCH_EVERY {
            watch.look_at_switch();
        }
        let waits = if watched() { LITTLE_WAITS } else { LITTLE_WAITS_UNWATCHED };
        let mut busy = watch.listen();
        let mut slots = 0;
        if watch.agent.is_worth_a_pass(LITTLE_SLOTS, waits) {
            let pass = watch.pass();
            busy |= pass.busy;
            slots = pass.slots;
        }
        match ended.try_recv() {
            Ok(Ended { exit }) => break exit,
            Err(TryRecvError::Empty) => {}
            // `run` is gone: the run is over when its ranks are.
            Err(TryRecvError::Disconnected) => {
                // Ranks may not have begun yet.
                let alone = alone_since.get_or_insert_with(Instant::now).elapsed();
                let begun = watch.agent.census.world_size > 0 || alone > BEGINNING;
                let others = || watch.remotes.as_ref().is_some_and(Remotes::any_at_work);
                if begun && !watch.agent.has_living() && !others() {
                    break None;
                }
            }
        }
        if !busy {
            if slots < LITTLE_SLOTS {
                watch.agent.rest(waits);
            } else {
                std::thread::sleep(SHORT_REST);
            }
        }
    };
    watch.finish(exit);
}
