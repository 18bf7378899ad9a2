//! The agent of a node that is not the daemon's: started by the first rank there, it reads the rings of its host, keeps
//! what it read in a spool, and brings it to the daemon, now or when there is a way again.
//!
//! Two processes: one works, the other starts it again when it dies. They hold a lock on the folder of the rings, by
//! which ranks see that they need not start an agent.

mod settings;
mod spool;

use crate::agent::{Agent, Pass};
use crate::command_line::AgentOptions;
use anyhow::{Context as _, Result};
use mpiscope_link::{CallerOptions, Flight, Outbox, Parcel, call};
use mpiscope_ring::clock::{knot, monotonic_ns};
use mpiscope_wire::Message;
pub(crate) use settings::LEFT_FILE;
use settings::{Lock, Settings};
use spool::Spool;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tells the working process from the one that starts it.
const WORKER: &str = "MPISCOPE_AGENT_WORKER";
/// Says that no rank started it: ranks may take their time.
const BY_HAND: &str = "MPISCOPE_AGENT_BY_HAND";
/// An agent that dies so often has a fault that another start does not mend.
const MOST_STARTS: u32 = 50;
const REST_AFTER_DEATH: Duration = Duration::from_millis(50);

/// Between two looks at the rings, and how little is worth leaving there for how long.
const REST: Duration = Duration::from_millis(2);
const LITTLE_SLOTS: usize = 2048;
const LITTLE_WAITS: Duration = Duration::from_millis(10);
/// An agent without ranks goes after so long: others may come, as from the next line of a script.
const IDLE: Duration = Duration::from_secs(5);
/// How long ranks may linger after the command returned.
const LINGER: Duration = Duration::from_secs(2);
/// No rank lives, and for so long the daemon has taken nothing: it is gone for good.
const GIVE_UP: Duration = Duration::from_secs(600);

/// `mpiscope agent`: everything it needs is in its environment, or in the recording that is named.
pub(crate) fn agent(options: &AgentOptions) -> Result<ExitCode> {
    if let Some(recording) = &options.recording {
        return by_hand(recording);
    }
    if std::env::var_os(WORKER).is_some() {
        let settings = Settings::from_environment()?;
        return match work(&settings) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                note(&settings, &format!("{error:#}"));
                Err(error)
            }
        };
    }
    let settings = Settings::from_environment()?;
    // Taken over from the rank that started us, or taken now; gone with the last of both processes.
    let lock = settings.lock()?;
    if matches!(lock, Lock::Anothers) {
        return Ok(ExitCode::SUCCESS);
    }
    for _ in 0..MOST_STARTS {
        match start()? {
            status if status.success() => break,
            // It said what is wrong: another start would say it again.
            status if status.code() == Some(2) => return Ok(ExitCode::from(2)),
            _ => std::thread::sleep(REST_AFTER_DEATH),
        }
    }
    drop(lock);
    Ok(ExitCode::SUCCESS)
}

/// Starts itself with what the recording says in its environment, and stays until it has ended.
fn by_hand(recording: &Path) -> Result<ExitCode> {
    let program = std::env::current_exe().context("find this program's own file")?;
    let status = Command::new(program)
        .arg("agent")
        .envs(settings::left_in(recording)?)
        .env(BY_HAND, "1")
        .stdin(Stdio::null())
        .status()
        .context("start the agent")?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

fn start() -> Result<ExitStatus> {
    let program = std::env::current_exe().context("find this program's own file")?;
    let mut worker = Command::new(program);
    worker.arg("agent").env(WORKER, "1").stdin(Stdio::null());
    worker.status().context("start the working process")
}

/// Nobody sees what an agent writes to a terminal: it goes into a file of its spool.
fn note(settings: &Settings, text: &str) {
    let path = settings.spool.join("agent.log");
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    // Where even this cannot be written there is nobody left to be told.
    let _ = file.and_then(|mut file| writeln!(file, "{text}"));
}

/// What the thread that brings frames shares with the one that reads rings.
struct Shared {
    spool: Spool,
    flights: Mutex<Option<Vec<Flight>>>,
    is_over: AtomicBool,
    /// The number after the last frame, once there is one; `u64::MAX` before.
    last: AtomicU64,
}

impl Outbox for Shared {
    fn take(&self, from: u64, most_bytes: usize) -> std::io::Result<Option<Parcel>> {
        self.spool.take(from, most_bytes)
    }

    fn acknowledged(&self, next: u64) {
        self.spool.acknowledged(next);
    }

    fn flights(&self) -> Option<Vec<Flight>> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    fn last(&self) -> Option<u64> {
        Some(self.last.load(Ordering::Acquire)).filter(|&last| last != u64::MAX)
    }
}

fn work(settings: &Settings) -> Result<()> {
    std::fs::create_dir_all(&settings.spool).with_context(|| format!("make {}", settings.spool.display()))?;
    let (spool, resume) = Spool::open(&settings.spool, settings.spool_bytes)?;
    let shared = Arc::new(Shared {
        spool: spool.clone(),
        flights: Mutex::new(None),
        is_over: AtomicBool::new(false),
        last: AtomicU64::new(u64::MAX),
    });
    let wake = Arc::<tokio::sync::Notify>::default();
    let options = CallerOptions {
        addresses: settings.daemon.clone(),
        secret: settings.secret.clone(),
        certificate: settings.certificate.clone(),
        identity: settings.identity()?,
        node: settings.node.clone(),
        now: monotonic_ns,
        wake: Arc::clone(&wake),
    };
    let (tell, brought) = channel();
    let bringing = Arc::clone(&shared);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("caller".into()).spawn(move || {
        // Nobody listens any more only when this process is about to end.
        let _ = tell.send(runtime.block_on(call(&options, &*bringing)));
    })?;
    let folders = vec![settings.rings.clone(), settings.spools.clone()];
    let mut agent = Agent::new(folders, resume, Some(Box::new(spool)));
    agent.read_only_those_of(settings.node.clone());
    // Ranks have called already: with the knot of the first pass there is a line to tell by when.
    agent.tell(Message::Knot(knot()), &mut |_| {});
    watch(&mut agent, &shared, &wake, &brought)?;
    settings.clean_up(shared.is_over.load(Ordering::Acquire));
    Ok(())
}

type Brought = Receiver<Result<(), mpiscope_link::LinkError>>;

fn watch(agent: &mut Agent, shared: &Shared, wake: &tokio::sync::Notify, brought: &Brought) -> Result<()> {
    // One that was started by hand waits for its ranks as long as it takes.
    let mut patient = std::env::var_os(BY_HAND).is_some();
    let mut alone_since = Instant::now();
    loop {
        let mut pass = Pass::default();
        if agent.has_room() && agent.is_worth_a_pass(LITTLE_SLOTS, LITTLE_WAITS) {
            pass = agent.pass(&mut |_| {});
            wake.notify_one();
        } else if !agent.has_room() {
            // A disk that took nothing may do so now.
            agent.flush();
        }
        tell_flights(agent, shared, wake);
        patient &= !agent.has_regions();
        if agent.has_living() || patient {
            alone_since = Instant::now();
        }
        match brought.try_recv() {
            Ok(Err(error)) => return Err(error.into()),
            Ok(Ok(())) | Err(TryRecvError::Disconnected) => {
                anyhow::bail!("the connection ended before anything was over")
            }
            Err(TryRecvError::Empty) => {}
        }
        if shared.is_over.load(Ordering::Acquire) || alone_since.elapsed() > IDLE {
            break;
        }
        if !pass.busy {
            std::thread::sleep(REST);
        }
    }
    agent.drain(LINGER, &mut |_| {});
    agent.look(&mut |_| {});
    agent.tell(Message::Knot(knot()), &mut |_| {});
    agent.flush();
    finish(agent, shared, wake, brought)
}

/// Nothing more comes: waits until the daemon has everything.
fn finish(agent: &mut Agent, shared: &Shared, wake: &tokio::sync::Notify, brought: &Brought) -> Result<()> {
    let (mut moved, mut since) = (shared.spool.next(), Instant::now());
    shared.last.store(moved, Ordering::Release);
    wake.notify_one();
    loop {
        match brought.recv_timeout(Duration::from_millis(100)) {
            Ok(result) => return Ok(result?),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                anyhow::bail!("what is in the spool was not brought")
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
        }
        // A disk that was full kept the last words from being written.
        agent.flush();
        let next = shared.spool.next();
        if next != moved || shared.spool.is_empty() {
            (moved, since) = (next, Instant::now());
            shared.last.store(next, Ordering::Release);
        }
        anyhow::ensure!(
            since.elapsed() < GIVE_UP,
            "the daemon was not found again; what it lacks is in the spool"
        );
    }
}

fn tell_flights(agent: &mut Agent, shared: &Shared, wake: &tokio::sync::Notify) {
    let Some(report) = agent.in_flight_if_due() else { return };
    let calls = report.calls.iter();
    let flights: Vec<Flight> = calls
        .map(|call| Flight {
            process: call.process,
            rank: call.rank,
            thread: call.thread,
            function: call.function,
            since_ticks: call.since_ticks,
        })
        .collect();
    *shared.flights.lock().unwrap_or_else(PoisonError::into_inner) = Some(flights);
    wake.notify_one();
}
