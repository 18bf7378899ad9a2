//! A simulated agent: the spool, the outbox and the connection of a real one, and in place of rings the frames of a
//! simulated node.

use super::frames::NodeFrames;
use crate::remote_agent::{Shared, Spool};
use anyhow::{Context as _, Result};
use mpiscope_agent::Journal as _;
use mpiscope_link::{CallerOptions, Outbox, Parcel, Secret, call};
use mpiscope_process::private::random;
use mpiscope_ring::clock::monotonic_ns;
use mpiscope_wire::Flight;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// How agents find the daemon.
pub(super) struct Target {
    pub(super) address: String,
    pub(super) secret: Secret,
    pub(super) certificate: Option<String>,
}

/// How the job goes on, for all agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    /// Agents connect.
    Waits,
    /// It started then.
    Runs(Instant),
    /// It is broken off.
    Broken,
}

/// How far an agent is.
pub(super) struct Progress {
    begun: Instant,
    pub(super) connections: AtomicU32,
    pub(super) has_compared: AtomicBool,
    /// Everything of the job is in its spool, or it was killed.
    pub(super) has_job: AtomicBool,
    /// When the daemon acknowledged something last, in nanoseconds since `begun`.
    acknowledged_ns: AtomicU64,
}

impl Progress {
    fn new() -> Self {
        Self {
            begun: Instant::now(),
            connections: AtomicU32::new(0),
            has_compared: AtomicBool::new(false),
            has_job: AtomicBool::new(false),
            acknowledged_ns: AtomicU64::new(0),
        }
    }

    /// Whether it has both connections, and clocks were compared.
    pub(super) fn is_ready(&self) -> bool {
        self.connections.load(Ordering::Relaxed) >= 2 && self.has_compared.load(Ordering::Relaxed)
    }

    /// When the daemon acknowledged something last.
    pub(super) fn acknowledged(&self) -> Instant {
        self.begun + Duration::from_nanos(self.acknowledged_ns.load(Ordering::Relaxed))
    }
}

/// The outbox of a real agent, observed.
struct Observed {
    shared: Shared,
    progress: Arc<Progress>,
    over: Notify,
}

impl Outbox for Observed {
    fn take(&self, from: u64, most_bytes: usize) -> std::io::Result<Option<Parcel>> {
        self.shared.take(from, most_bytes)
    }

    fn acknowledged(&self, next: u64) {
        let since = self.progress.begun.elapsed().as_nanos() as u64;
        self.progress.acknowledged_ns.store(since, Ordering::Relaxed);
        self.shared.acknowledged(next);
    }

    fn connected(&self) {
        self.progress.connections.fetch_add(1, Ordering::Relaxed);
    }

    fn compared(&self) {
        self.progress.has_compared.store(true, Ordering::Relaxed);
    }

    fn heard(&self) {
        self.shared.heard();
    }

    fn flights(&self) -> Option<Vec<Flight>> {
        self.shared.flights()
    }

    fn end(&self) {
        self.shared.end();
        self.over.notify_one();
    }

    fn switch(&self, is_on: bool) {
        self.shared.switch(is_on);
    }

    fn last(&self) -> Option<u64> {
        self.shared.last()
    }
}

/// When an agent reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// How much later than others: not all do at once.
    pub(super) phase: Duration,
    /// When it is killed, in the time of the job.
    pub(super) dies_after: Option<Duration>,
    /// Whether the pace is that of the job; otherwise all is there from the start.
    pub(super) is_kept: bool,
}

/// An agent before it runs.
pub(super) struct SimulatedAgent {
    frames: NodeFrames,
    spool: Spool,
    outbox: Observed,
    options: CallerOptions,
    /// When its clock began to go on.
    begun_ns: u64,
    pace: Pace,
}

impl SimulatedAgent {
    /// With a spool in a folder of its own.
    pub(super) fn new(
        frames: NodeFrames,
        target: &Target,
        spools: &Path,
        spool_bytes: u64,
        pace: Pace,
    ) -> Result<Self> {
        let folder = spools.join(&frames.node);
        std::fs::create_dir(&folder).with_context(|| format!("make {}", folder.display()))?;
        let (spool, _) = Spool::open(&[folder], spool_bytes)?;
        let shared = Shared::new(spool.clone(), true);
        let outbox = Observed { shared, progress: Arc::new(Progress::new()), over: Notify::new() };
        let (begun_ns, clock) = (monotonic_ns(), frames.clock);
        let options = CallerOptions {
            addresses: vec![target.address.clone()],
            secret: target.secret.clone(),
            certificate: target.certificate.clone(),
            identity: random()?,
            node: frames.node.clone(),
            now: Arc::new(move || clock.shown_ns(monotonic_ns().saturating_sub(begun_ns))),
            wake: Arc::default(),
        };
        Ok(Self { frames, spool, outbox, options, begun_ns, pace })
    }

    pub(super) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.outbox.progress)
    }

    /// Its whole life: returns when the daemon has everything, or when it was killed.
    pub(super) async fn live(self, job: watch::Receiver<Job>) -> Result<()> {
        let Self { frames, spool, outbox, options, begun_ns, pace } = self;
        let report = async {
            report(frames, spool, &options.wake, job, (begun_ns, pace)).await?;
            outbox.progress.has_job.store(true, Ordering::Relaxed);
            if pace.dies_after.is_some() {
                return Ok(());
            }
            outbox.over.notified().await;
            outbox.shared.close();
            options.wake.notify_one();
            std::future::pending().await
        };
        tokio::select! {
            called = call(&options, &outbox) => Ok(called?),
            killed = report => killed,
        }
    }
}

/// Writes what a node reports into the spool of its agent.
async fn report(
    frames: NodeFrames,
    mut spool: Spool,
    wake: &Notify,
    mut job: watch::Receiver<Job>,
    (begun_ns, pace): (u64, Pace),
) -> Result<()> {
    let Ok(Job::Runs(started)) = job.wait_for(|job| *job != Job::Waits).await.as_deref().copied() else {
        return Ok(());
    };
    let clock = frames.clock;
    let before_ns =
        monotonic_ns().saturating_sub(begun_ns).saturating_sub(started.elapsed().as_nanos() as u64);
    let shift_ns = clock.shown_ns(before_ns) - clock.shown_ns(0);
    for part in frames.parts {
        let due = Duration::from_nanos(part.until_ns);
        if pace.dies_after.is_some_and(|after| due > after) {
            return Ok(());
        }
        let when = if pace.is_kept { started + due + pace.phase } else { started };
        tokio::select! {
            () = tokio::time::sleep_until(when.into()) => {}
            _ = job.wait_for(|job| *job == Job::Broken) => return Ok(()),
        }
        part.encode(shift_ns, |frame| spool.write(frame))?;
        spool.flush()?;
        wake.notify_one();
    }
    Ok(())
}
