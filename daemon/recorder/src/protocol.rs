//! What `mpiscope run` and its daemon say to each other: a line of JSON a message.

use crate::hosts::AnalysisHosts;
use anyhow::Result;
use mpiscope_link::Certificate;
use mpiscope_model::Losses;
use mpiscope_process::private::random;
use mpiscope_recording::{Keep, Latency, Manifest, State, Uncounted};
use mpiscope_verdict::criteria_file::CriteriaFile;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What to record; the first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Configuration {
    /// The name of the run.
    pub run: String,
    /// The folder of the recording.
    pub out: PathBuf,
    /// Where ranks make their regions: shared memory first, then a folder on disk.
    pub rings: Vec<PathBuf>,
    /// The command, word by word.
    pub command: Vec<String>,
    /// How long a window is.
    pub window_ns: u64,
    /// Threads that analyse, of each process.
    pub workers: usize,
    /// Hosts with shares of the live analysis.
    pub analysis: Option<AnalysisHosts>,
    /// What is taken for the latency of a message.
    pub latency: Latency,
    /// The criteria for the run.
    pub criteria: Option<CriteriaFile>,
    /// The file with layouts of 3D views, by its whole path.
    pub layout: Option<PathBuf>,
    /// Files that say where nodes and ranks are in the machine, by their whole paths.
    pub topology: Vec<PathBuf>,
    /// Whether it begins without recording.
    pub paused: bool,
    /// For how long calls are held back while recording is off; none where they are not.
    pub flight: Option<Duration>,
    /// How long nothing may move before a hang is reported; zero for any time.
    pub hang_after: Duration,
    /// How much of the run is kept; none for all of it.
    pub keep: Option<Keep>,
    /// Where to serve the page; none for no page.
    pub listen: Option<SocketAddr>,
    /// The page's secret, 32 hexadecimal digits.
    pub token: String,
    /// How agents of other hosts reach it; none when there are no other hosts.
    pub link: Option<Link>,
    /// A predecessor was killed: go on from its log.
    pub resume: bool,
}

/// The length of a window where nobody says it.
pub(crate) const WINDOW_NS: u64 = 100_000_000;

impl Configuration {
    /// Of a run that nobody launched: nothing but its name, and where its recording goes.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn of_run(run: String, out: PathBuf) -> Result<Self> {
        Ok(Self {
            run,
            out,
            rings: Vec::new(),
            command: Vec::new(),
            window_ns: WINDOW_NS,
            workers: 1,
            analysis: None,
            latency: Latency::default(),
            criteria: None,
            layout: None,
            topology: Vec::new(),
            paused: false,
            flight: None,
            hang_after: Duration::ZERO,
            keep: None,
            listen: None,
            token: format!("{:032x}", random()?),
            link: None,
            resume: false,
        })
    }
}

/// How agents of other hosts reach the daemon.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Link {
    /// Where to listen, the first that can be had.
    pub addresses: Vec<SocketAddr>,
    /// What agents have to know.
    pub secret: String,
    /// With what to encrypt; none for not at all.
    pub certificate: Option<Certificate>,
    /// How long the end of the run waits for an agent that is cut off.
    pub patience: Duration,
}

/// To the daemon, after that.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToDaemon {
    /// The command is over.
    End {
        /// Its exit status; none where a signal ended it.
        exit: Option<i32>,
    },
}

/// From the daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromDaemon {
    /// It records; the page is there, and there agents of other hosts are listened to.
    Ready {
        /// The address of the page, if there is one.
        url: Option<String>,
        /// Where agents of other hosts reach it.
        link: Option<SocketAddr>,
    },
    /// It cannot record.
    Failed(String),
    /// The recording is complete.
    Done(Box<Summary>),
}

/// What `run` says at the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Summary {
    /// How many ranks there were.
    pub ranks: u32,
    /// On how many nodes.
    pub nodes: u32,
    /// Which MPI they used.
    pub mpi: String,
    /// How long the run took.
    pub duration_ns: u64,
    /// Calls that were recorded.
    pub calls: u64,
    /// Tests that found nothing, which are counted only.
    pub polls: u64,
    /// Messages that were matched.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sends without a receive.
    pub unmatched_sends: u64,
    /// Receives without a send.
    pub unmatched_receives: u64,
    /// Calls that were made and not recorded.
    pub lost_calls: u64,
    /// Hosts with further calls that nobody counted.
    pub uncounted: Vec<Uncounted>,
    /// What the recording lacks, a sentence each.
    pub missing: Vec<String>,
    /// Why the run took longer than it had to, a sentence each; empty without a diagnosis.
    pub verdict: Vec<String>,
    /// Whether ranks waited for a processor, in a sentence.
    pub processors: Option<String>,
    /// Functions by time: name, calls, nanoseconds.
    pub functions: Vec<(String, u64, u64)>,
    /// The time that recording took from ranks.
    pub cost_s: f64,
    /// The same, for each call.
    pub cost_per_call_ns: f64,
    /// CPU time of the daemon, and of the processes that read calls for it.
    pub agent_cpu_s: f64,
    /// Of it, that of those processes.
    pub readers_cpu_s: f64,
    /// The most memory that the daemon used.
    pub peak_memory_bytes: u64,
    /// How long the pass over the run took at the end.
    pub pass_s: f64,
    /// How large the recording is.
    pub bytes_on_disk: u64,
}

impl Summary {
    /// What a manifest says of its run; functions, and whether ranks waited for a processor, are not in it.
    pub(crate) fn from_manifest(manifest: &Manifest) -> Self {
        let Manifest { state, job, totals, lost, uncounted, missing, cost, .. } = manifest;
        let missing = if *state == State::Complete || !missing.is_empty() {
            missing.clone()
        } else {
            vec!["the recording could not be completed".into()]
        };
        Self {
            ranks: job.ranks,
            nodes: job.nodes.len() as u32,
            mpi: job.mpi.clone(),
            duration_ns: job.duration_s.map_or(0, |seconds| (seconds * 1e9).round() as u64),
            calls: totals.calls,
            polls: totals.polls,
            messages: totals.messages,
            bytes: totals.bytes,
            unmatched_sends: totals.unmatched_sends,
            unmatched_receives: totals.unmatched_receives,
            lost_calls: Losses::from(*lost).total(),
            uncounted: uncounted.clone(),
            missing,
            cost_s: cost.seconds.unwrap_or_default(),
            cost_per_call_ns: cost.nanoseconds_per_call.unwrap_or_default(),
            agent_cpu_s: cost.agent_cpu_s.unwrap_or_default(),
            bytes_on_disk: cost.bytes_on_disk,
            ..Self::default()
        }
    }
}
