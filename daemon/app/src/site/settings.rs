//! The settings of a site, and what holds where no file says otherwise.

use super::values::{Listen, Ports, Start};
use mpiscope_ring::Capacities;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Site {
    pub(crate) agents: Agents,
    pub(crate) analysis: Analysis,
    pub(crate) paths: Paths,
    pub(crate) limits: Limits,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
}

/// The agents of the nodes, and how they reach the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agents {
    pub(crate) start: Start,
    pub(crate) listen: Listen,
    /// What agents connect to; all addresses of the daemon's host when there are none.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) ports: Ports,
    pub(crate) tls: bool,
}

/// The analysis on other hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Analysis {
    /// What starts a command on another host: its words, before the host's name.
    pub(crate) shell: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// Where ranks make their rings.
    pub(crate) rings: PathBuf,
    /// Where they make them when there is no room, and where agents keep what the daemon cannot take.
    pub(crate) spool: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limits {
    /// How much an agent keeps on disk while the daemon is away.
    pub(crate) spool_bytes: u64,
    /// How long the end of a run waits for an agent that is cut off.
    pub(crate) patience: Duration,
    /// The slots of a rank's first ring.
    pub(crate) ring_slots: u32,
}

impl Default for Agents {
    fn default() -> Self {
        Self {
            start: Start::default(),
            listen: Listen::default(),
            addresses: Vec::new(),
            ports: Ports::default(),
            tls: true,
        }
    }
}

impl Default for Analysis {
    fn default() -> Self {
        let words = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"];
        Self { shell: words.map(str::to_owned).to_vec() }
    }
}

impl Default for Paths {
    fn default() -> Self {
        Self { rings: "/dev/shm".into(), spool: "/tmp".into() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            spool_bytes: 4 << 30,
            patience: Duration::from_secs(45),
            ring_slots: Capacities::default().first_slots,
        }
    }
}

impl Site {
    /// What differs from the defaults, as a file would say it.
    pub(crate) fn changes(&self) -> Vec<String> {
        let plain = Self::default();
        let both = self.settings().into_iter().zip(plain.settings());
        both.filter(|(own, plain)| own != plain).map(|((key, value), _)| format!("{key} = {value}")).collect()
    }

    pub(super) fn settings(&self) -> [(&'static str, String); 11] {
        let Self { agents, analysis, paths, limits, .. } = self;
        let addresses: Vec<String> =
            agents.addresses.iter().map(|address| format!("\"{address}\"")).collect();
        [
            ("agents.start", format!("\"{}\"", agents.start)),
            ("agents.listen", format!("\"{}\"", agents.listen)),
            ("agents.addresses", format!("[{}]", addresses.join(", "))),
            ("agents.ports", format!("\"{}\"", agents.ports)),
            ("agents.tls", agents.tls.to_string()),
            ("analysis.shell", format!("{:?}", analysis.shell)),
            ("paths.rings", format!("{:?}", paths.rings)),
            ("paths.spool", format!("{:?}", paths.spool)),
            ("limits.spool", format!("\"{}\"", mpiscope_model::words::bytes(limits.spool_bytes))),
            ("limits.patience_s", limits.patience.as_secs().to_string()),
            ("limits.ring_slots", limits.ring_slots.to_string()),
        ]
    }
}
