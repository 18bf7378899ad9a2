//! The process that works: rings into the spool, the spool to the daemon, until nothing more comes.

use super::outbox::Shared;
use super::settings::Settings;
use super::spool::Spool;
use anyhow::{Result, bail};
use mpiscope_agent::{Agent, FILES, LINGER, LITTLE_SLOTS, Pass, REST};
use mpiscope_link::{CallerOptions, LinkError, call};
use mpiscope_process::own_process::allow_files;
use mpiscope_ring::Sleeper;
use mpiscope_ring::clock::{clock_sample, monotonic_ns};
use mpiscope_wire::Message;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Says that no rank started it: ranks may take their time.
pub(super) const BY_HAND: &str = "MPISCOPE_AGENT_BY_HAND";

/// How long what is little stays in a ring.
const LITTLE_WAITS: Duration = Duration::from_millis(10);
/// An agent without ranks goes after so long: others may come, as from the next line of a script.
const IDLE: Duration = Duration::from_secs(5);
/// No rank lives, and for so long nothing was heard of the daemon: it is gone for good.
const GIVE_UP: Duration = Duration::from_secs(600);

struct Worker<'a> {
    settings: &'a Settings,
    agent: Agent,
    shared: Arc<Shared>,
    wake: Arc<Notify>,
}

/// How an agent ends that has no fault.
enum Ending {
    /// The daemon has everything.
    Brought,
    /// The daemon did not answer for so long that nobody needs the agent any more.
    GaveUp,
}

pub(crate) fn work(settings: &Settings) -> Result<()> {
    allow_files(FILES);
    let (spool, resume) = Spool::open(&settings.spool, settings.spool_bytes)?;
    let folders = settings.ring_folders.clone();
    let mut agent = Agent::new(folders, resume, Some(Box::new(spool.clone())));
    agent.hold = settings.flight;
    // Where it cannot be had, the agent looks more often.
    agent.sleeper = Sleeper::open(&settings.rings).ok().map(Arc::new);
    // Ranks have called already: with the clock sample of the first cycle their times are known.
    agent.tell(Message::ClockSample(clock_sample()), &mut |_| {});
    // Until the daemon says otherwise.
    let is_on = !settings.paused && settings.flight.is_none();
    let shared = Arc::new(Shared::new(spool, is_on));
    let mut worker = Worker { settings, agent, shared, wake: Arc::default() };
    match worker.live()? {
        Ending::Brought => settings.clean_up(worker.shared.is_over()),
        Ending::GaveUp => settings.note("the daemon was not found again; what it lacks is in the spool"),
    }
    Ok(())
}

/// For how long an agent stays.
struct Patience {
    /// One that was started by hand waits for its ranks as long as the daemon is there.
    is_waiting: bool,
    alone_since: Instant,
    over_since: Option<Instant>,
}

impl Patience {
    fn new() -> Self {
        Self {
            is_waiting: std::env::var_os(BY_HAND).is_some(),
            alone_since: Instant::now(),
            over_since: None,
        }
    }

    /// Whether it is to end now: the command is over, or ranks have been gone for long.
    fn ends(&mut self, is_any_living: bool, has_ring_files: bool, is_command_over: bool) -> bool {
        self.is_waiting &= !has_ring_files;
        if is_any_living || self.is_waiting {
            self.alone_since = Instant::now();
        }
        let lingered = is_command_over && {
            let since = *self.over_since.get_or_insert_with(Instant::now);
            !is_any_living || since.elapsed() > LINGER
        };
        lingered || !is_any_living && self.alone_since.elapsed() > IDLE
    }
}

impl Worker<'_> {
    /// Begins to bring what is in the spool; the answer comes when the daemon has all of it.
    fn call(&self) -> Result<Receiver<Result<(), LinkError>>> {
        let options = CallerOptions {
            addresses: self.settings.daemon.clone(),
            secret: self.settings.secret.clone(),
            certificate: self.settings.certificate.clone(),
            identity: self.settings.identity()?,
            node: self.settings.node.clone(),
            now: Arc::new(monotonic_ns),
            wake: Arc::clone(&self.wake),
        };
        let (tell, brought) = channel();
        let shared = Arc::clone(&self.shared);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("caller".into()).spawn(move || {
            // Nobody listens any more only when this process is about to end.
            let _ = tell.send(runtime.block_on(call(&options, &*shared)));
        })?;
        Ok(brought)
    }

    fn live(&mut self) -> Result<Ending> {
        let mut brought = self.call()?;
        let mut patience = Patience::new();
        let mut closed = false;
        loop {
            let pass = self.pass();
            let living = self.agent.has_living();
            let ends = patience.ends(living, self.agent.has_ring_files(), self.shared.is_over());
            if closed && !ends {
                // Other ranks have come.
                closed = false;
                self.shared.reopen();
            }
            if ends && !closed && pass.slots == 0 {
                closed = self.close();
            }
            match brought.try_recv() {
                Ok(Ok(())) if closed && self.is_all() => return Ok(Ending::Brought),
                Ok(Ok(())) => {
                    closed = false;
                    self.shared.reopen();
                    brought = self.call()?;
                }
                Ok(Err(error)) => return Err(error.into()),
                Err(TryRecvError::Disconnected) => {
                    bail!("the thread that calls the daemon had a fault of its own")
                }
                Err(TryRecvError::Empty) => {}
            }
            if !living && self.shared.silence() > GIVE_UP {
                return Ok(Ending::GaveUp);
            }
            if !self.agent.has_room() {
                std::thread::sleep(REST);
            } else if !pass.busy {
                self.agent.rest(LITTLE_WAITS);
            }
        }
    }

    fn pass(&mut self) -> Pass {
        let mut pass = Pass::default();
        self.agent.switch(self.shared.is_on(), &mut |_| {});
        if !self.agent.has_room() {
            // A disk that took nothing may do so now; and ranks may end meanwhile.
            self.agent.flush();
            self.agent.look_if_due(&mut |_| {});
        } else if self.agent.is_worth_a_pass(LITTLE_SLOTS, LITTLE_WAITS) {
            pass = self.agent.pass(&mut |_| {});
            if pass.slots > 0 {
                self.wake.notify_one();
            }
        }
        for fault in self.agent.take_faults() {
            self.settings.note(&fault);
        }
        if let Some(calls) = self.agent.in_flight_if_due() {
            self.shared.tell_flights(calls);
            self.wake.notify_one();
        }
        pass
    }

    /// Sends the final messages. Returns whether they are safe; then nothing has to follow.
    fn close(&mut self) -> bool {
        // What was written before its process was found dead may not have been read.
        let found = self.agent.pass_all(&mut |_| {});
        self.agent.look(&mut |_| {});
        self.agent.tell(Message::ClockSample(clock_sample()), &mut |_| {});
        if !self.agent.flush()
            && let Err(error) = self.shared.keep_in_memory()
        {
            self.settings.note(&format!("what is left cannot be kept: {error:#}"));
        }
        if found.slots > 0 && !self.agent.has_living() {
            return false;
        }
        self.agent.flush();
        let is_closed = self.shared.close();
        if is_closed {
            self.wake.notify_one();
        }
        is_closed
    }

    /// Whether nothing has come since the last words: no rank, and nothing in a ring. What ranks do that linger after the
    /// end of the command is not waited for.
    fn is_all(&mut self) -> bool {
        let found = self.agent.pass_all(&mut |_| {});
        if self.agent.has_living() { self.shared.is_over() } else { found.slots == 0 }
    }
}
