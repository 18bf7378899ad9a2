//! Simulated agents: each node of a simulated job has an agent that speaks the real protocol to a real daemon.
//!
//! In: a job, encoded before it starts. Out: the recording of the daemon, and what it cost. The daemon is a process of its
//! own, as in `mpiscope run`; agents are tasks of this one, with the spool and the connection of a real agent.

mod agent;
mod figures;
mod frames;

use crate::command_line::Hostfile;
use crate::run::{RunFolders, Supervisor, analysis_hosts};
use crate::site::Site;
use agent::{Job, Pace, Progress, SimulatedAgent, Target};
use anyhow::{Context as _, Result, bail};
pub(super) use figures::Figures;
use frames::NodeFrames;
use mpiscope_link::{Certificate, Secret};
use mpiscope_model::words::count;
use mpiscope_process::own_process;
use mpiscope_recorder::{Configuration, Link, Summary};
use mpiscope_synth::{Spec, Truth, generate};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// As a shell says that Ctrl-C ended a program.
const INTERRUPTED: i32 = 130;
/// An agent has two connections and a file of its spool; this process has others.
const FILES_PER_AGENT: u64 = 3;
const OTHER_FILES: u64 = 256;
/// Agents report this often, one after the other.
const SLICE: Duration = Duration::from_millis(50);
/// How long all agents may take to connect.
const START_PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What is asked for.
pub(super) struct Agents<'a> {
    pub(super) out: &'a Path,
    /// Where to show the job.
    pub(super) live: Option<SocketAddr>,
    /// How many agents are killed halfway through the job.
    pub(super) killed: u32,
    /// Whether the job goes on at its own pace.
    pub(super) are_paced: bool,
    /// Who else records.
    pub(super) hostfile: Option<&'a Hostfile>,
}

/// What came of it.
pub(super) struct Brought {
    /// None for a job that was broken off.
    pub(super) truth: Option<Truth>,
    pub(super) figures: Figures,
}

/// Has a daemon record a job that agents bring, one for each node.
pub(super) fn bring(spec: &Spec, agents: &Agents<'_>) -> Result<Brought> {
    let mut run = generate(spec)?;
    allow_files(spec.nodes)?;
    let site = Site::load(None)?;
    let is_to_end = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&is_to_end)).context("wait for Ctrl-C")?;
    }
    let (frames, frame_bytes) = frames::encode(&mut run, spec.nodes, || {
        if is_to_end.load(Ordering::Relaxed) {
            bail!("interrupted; nothing was recorded");
        }
        Ok(())
    })?;
    let truth = run.truth();
    let daemon = Daemon::start(spec, agents, &site)?;
    // Not among the rings, which the daemon looks through.
    let spools = tempfile::Builder::new().prefix("mpiscope-agents-").tempdir_in(&site.paths.spool)?;
    let half = Duration::from_secs_f64(truth.duration_s / 2.0);
    let phase = |node: usize| SLICE.mul_f64(node as f64 / f64::from(spec.nodes));
    let survivors = (spec.nodes - agents.killed) as usize;
    let made = frames.into_iter().enumerate().map(|(node, frames): (usize, NodeFrames)| {
        let pace = Pace {
            phase: phase(node),
            dies_after: (node >= survivors).then_some(half),
            is_kept: agents.are_paced,
        };
        SimulatedAgent::new(frames, &daemon.target, spools.path(), site.limits.spool_bytes, pace)
    });
    let made = made.collect::<Result<Vec<_>>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let load = Load::new(&runtime, made, &is_to_end);
    let outcome = runtime.block_on(load.carry_out(daemon));
    let (summary, mut figures) = outcome?;
    figures.frame_bytes = frame_bytes as u64;
    let is_whole = !is_to_end.load(Ordering::Relaxed);
    let truth = is_whole.then_some(truth);
    figures.count(&summary, truth.as_ref());
    Ok(Brought { truth, figures })
}

/// Raises the limit of open files to what the agents of that many nodes need.
fn allow_files(nodes: u32) -> Result<()> {
    let files = FILES_PER_AGENT * u64::from(nodes) + OTHER_FILES;
    if own_process::allow_files(files) < files {
        bail!("{nodes} agents need {files} open files: raise the limit (ulimit -Hn), or simulate fewer");
    }
    Ok(())
}

/// The daemon under test.
struct Daemon {
    folders: RunFolders,
    supervisor: Option<Supervisor>,
    target: Target,
}

impl Daemon {
    fn start(spec: &Spec, agents: &Agents<'_>, site: &Site) -> Result<Self> {
        let folders = RunFolders::make(agents.out.to_owned(), &site.paths)?;
        let secret = Secret::draw()?;
        let certificate = site.agents.tls.then(Certificate::make).transpose()?;
        let link = Link {
            addresses: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
            secret: secret.to_text(),
            certificate: certificate.clone(),
            patience: site.limits.patience,
        };
        let configuration = Configuration {
            rings: vec![folders.rings.clone(), folders.spool.clone()],
            command: vec!["synth".into(), spec.pattern.name().into(), spec.ranks.to_string()],
            listen: agents.live,
            link: Some(link),
            analysis: analysis_hosts(agents.hostfile, site),
            ..Configuration::of_run(folders.name.clone(), folders.out.clone())?
        };
        let supervisor = Supervisor::start(configuration).inspect_err(|_| {
            folders.remove_rings();
            folders.remove_beginning();
        })?;
        if let Some(url) = supervisor.url() {
            mpiscope_page::say_address("live page", url);
        }
        let address = supervisor.link().context("the daemon does not listen")?.to_string();
        let certificate = certificate.map(|certificate| certificate.public().to_owned());
        let target = Target { address, secret, certificate };
        Ok(Self { folders, supervisor: Some(supervisor), target })
    }

    /// Ends the run, and waits for the recording.
    async fn finish(mut self, exit: i32) -> Result<Summary> {
        let supervisor = self.supervisor.take().context("the daemon was ended twice")?;
        let finished = tokio::task::spawn_blocking(move || supervisor.finish(Some(exit))).await?;
        finished.with_context(|| format!("the recording was not completed: {}", self.folders.out.display()))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.finish(None);
        }
        self.folders.remove_rings();
    }
}

/// The agents at work.
struct Load<'a> {
    tasks: JoinSet<Result<()>>,
    progress: Vec<Arc<Progress>>,
    job: watch::Sender<Job>,
    is_to_end: &'a AtomicBool,
    begun: Instant,
    begun_cpu_s: f64,
    peak_memory_bytes: u64,
}

impl<'a> Load<'a> {
    fn new(runtime: &Runtime, agents: Vec<SimulatedAgent>, is_to_end: &'a AtomicBool) -> Self {
        let progress = agents.iter().map(SimulatedAgent::progress).collect();
        let (job, waiting) = watch::channel(Job::Waits);
        let (begun, begun_cpu_s) = (Instant::now(), own_process::cpu_s());
        let mut tasks = JoinSet::new();
        for agent in agents {
            tasks.spawn_on(agent.live(waiting.clone()), runtime.handle());
        }
        Self { tasks, progress, job, is_to_end, begun, begun_cpu_s, peak_memory_bytes: 0 }
    }

    async fn carry_out(mut self, daemon: Daemon) -> Result<(Summary, Figures)> {
        self.wait_for_all(Progress::is_ready).await?;
        let connections = self.connections();
        let start = self.begun.elapsed();
        let started = Instant::now();
        self.job.send_if_modified(|job| {
            *job == Job::Waits && {
                *job = Job::Runs(started);
                true
            }
        });
        self.wait_for_all(|agent| agent.has_job.load(Ordering::Relaxed)).await?;
        let job = started.elapsed();
        let exit = if self.is_to_end.load(Ordering::Relaxed) { INTERRUPTED } else { 0 };
        let ending = Instant::now();
        let finishing = tokio::spawn(daemon.finish(exit));
        while let Some(ended) = self.tasks.join_next().await {
            self.look();
            ended??;
        }
        let agents_end = ending.elapsed();
        let summary = finishing.await??;
        self.look();
        let acknowledged = self.progress.iter().map(|agent| agent.acknowledged()).max();
        let figures = Figures {
            agents: self.progress.len() as u64,
            connections,
            reconnections: self.connections() - connections,
            start,
            job,
            acknowledged: acknowledged.map_or(job, |last| last.saturating_duration_since(started)),
            agents_end,
            end: ending.elapsed(),
            whole: started.elapsed(),
            agents_cpu_s: own_process::cpu_s() - self.begun_cpu_s,
            agents_memory_bytes: self.peak_memory_bytes,
            ..Figures::default()
        };
        Ok((summary, figures))
    }

    /// Waits until all agents have come so far, or somebody breaks the job off.
    async fn wait_for_all(&mut self, is_there: impl Fn(&Progress) -> bool) -> Result<()> {
        let waits_for_start = *self.job.borrow() == Job::Waits;
        loop {
            let there = self.progress.iter().filter(|agent| is_there(agent)).count();
            if there == self.progress.len() {
                return Ok(());
            }
            if self.is_to_end.load(Ordering::Relaxed) {
                self.job.send_replace(Job::Broken);
                if waits_for_start {
                    return Ok(());
                }
            }
            while let Some(ended) = self.tasks.try_join_next() {
                ended??;
            }
            if waits_for_start && self.begun.elapsed() > START_PATIENCE {
                let all = count(self.progress.len() as u64);
                bail!(
                    "{} of {all} agents connected within {} s",
                    count(there as u64),
                    START_PATIENCE.as_secs()
                );
            }
            self.look();
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn look(&mut self) {
        self.peak_memory_bytes = self.peak_memory_bytes.max(own_process::memory_bytes());
    }

    fn connections(&self) -> u64 {
        self.progress.iter().map(|agent| u64::from(agent.connections.load(Ordering::Relaxed))).sum()
    }
}
