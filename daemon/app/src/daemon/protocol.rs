//! What `mpiscope run` and its daemon say to each other: a line of JSON a message.

use anyhow::Result;
use mpiscope_link::Certificate;
use mpiscope_process::private::random;
use mpiscope_recording::{Keep, Latency, Uncounted};
use mpiscope_verdict::criteria_file::CriteriaFile;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What to record; the first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Configuration {
    pub(crate) run: String,
    pub(crate) out: PathBuf,
    /// Where ranks make their regions: shared memory first, then a folder on disk.
    pub(crate) rings: Vec<PathBuf>,
    pub(crate) command: Vec<String>,
    pub(crate) window_ns: u64,
    /// Threads that analyse.
    pub(crate) workers: usize,
    /// What is taken for the latency of a message.
    pub(crate) latency: Latency,
    /// What the run is to be judged by.
    pub(crate) criteria: Option<CriteriaFile>,
    /// The file with layouts of 3D views, by its whole path.
    pub(crate) layout: Option<PathBuf>,
    /// Files that say where nodes and ranks are in the machine, by their whole paths.
    pub(crate) topology: Vec<PathBuf>,
    /// Whether it begins without recording.
    pub(crate) paused: bool,
    /// For how long calls are held back while recording is off; none where they are not.
    pub(crate) flight: Option<Duration>,
    /// How long nothing may move before it is said; zero for any time.
    pub(crate) hang_after: Duration,
    /// How much of the run is kept; none for all of it.
    pub(crate) keep: Option<Keep>,
    /// Where to serve the page; none for no page.
    pub(crate) listen: Option<SocketAddr>,
    /// The page's secret, 32 hexadecimal digits.
    pub(crate) token: String,
    /// How agents of other hosts reach it; none when there are no other hosts.
    pub(crate) link: Option<Link>,
    /// A predecessor was killed: go on from its log.
    pub(crate) resume: bool,
}

/// The length of a window where nobody says it.
pub(crate) const WINDOW_NS: u64 = 100_000_000;

impl Configuration {
    /// Of a run that nobody launched: nothing but its name, and where its recording goes.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn of_run(run: String, out: PathBuf) -> Result<Self> {
        Ok(Self {
            run,
            out,
            rings: Vec::new(),
            command: Vec::new(),
            window_ns: WINDOW_NS,
            workers: 1,
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
pub(crate) struct Link {
    /// Where to listen, the first that can be had.
    pub(crate) addresses: Vec<SocketAddr>,
    /// What agents have to know.
    pub(crate) secret: String,
    /// With what to encrypt; none for not at all.
    pub(crate) certificate: Option<Certificate>,
    /// How long the end of the run waits for an agent that is cut off.
    pub(crate) patience: Duration,
}

/// To the daemon, after that.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToDaemon {
    /// The command is over.
    End { exit: Option<i32> },
}

/// From the daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromDaemon {
    /// It records; the page is there, and there agents of other hosts are listened to.
    Ready { url: Option<String>, link: Option<SocketAddr> },
    /// It cannot record.
    Failed(String),
    /// The recording is complete.
    Done(Box<Summary>),
}

/// What `run` says at the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) ranks: u32,
    pub(crate) nodes: u32,
    pub(crate) mpi: String,
    pub(crate) duration_ns: u64,
    pub(crate) calls: u64,
    pub(crate) polls: u64,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) unmatched_sends: u64,
    pub(crate) unmatched_receives: u64,
    pub(crate) lost_calls: u64,
    /// Hosts with further calls that nobody counted.
    pub(crate) uncounted: Vec<Uncounted>,
    pub(crate) missing: Vec<String>,
    /// Why the run took longer than it had to, a sentence each; nothing where that was not judged.
    pub(crate) verdict: Vec<String>,
    /// Whether ranks waited for a processor, in a sentence.
    pub(crate) processors: Option<String>,
    /// Functions by time: name, calls, nanoseconds.
    pub(crate) functions: Vec<(String, u64, u64)>,
    pub(crate) cost_s: f64,
    pub(crate) cost_per_call_ns: f64,
    pub(crate) agent_cpu_s: f64,
    /// The most memory that the daemon used.
    pub(crate) peak_memory_bytes: u64,
    /// How long the pass over the run took at the end.
    pub(crate) pass_s: f64,
    pub(crate) bytes_on_disk: u64,
}
