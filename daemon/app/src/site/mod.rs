//! What holds for a whole site: read from files that an administrator or a user has, key by key the later over the
//! earlier: `/etc/mpiscope.toml`, the user's own, and one that is named.

mod file;
mod values;

pub(crate) use values::{Listen, Ports, Start};

use anyhow::{Context as _, Result};
use file::File;
use mpiscope_ring::Capacities;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EVERYBODY_S: &str = "/etc/mpiscope.toml";
const NAME: &str = "mpiscope.toml";
/// The variable that names a file.
const NAMED_BY: &str = "MPISCOPE_SITE";

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Site {
    pub(crate) agents: Agents,
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

/// A file to be read.
struct Candidate {
    path: PathBuf,
    /// Somebody named it, so it has to be there.
    named: bool,
}

impl Site {
    /// The settings that hold here.
    ///
    /// # Errors
    /// When a file cannot be read or does not say what it should, in one line that names it.
    pub(crate) fn load(explicit: Option<&Path>) -> Result<Self> {
        let mut site = Self::default();
        // What the system knows as its place for such files stands for the default.
        site.paths.spool = std::env::temp_dir();
        for candidate in candidates(explicit, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
        {
            site.read(&candidate)?;
        }
        Ok(site)
    }

    fn read(&mut self, candidate: &Candidate) -> Result<()> {
        let text = match std::fs::read_to_string(&candidate.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !candidate.named => return Ok(()),
            Err(error) => {
                return Err(error).with_context(|| format!("the site file {}", candidate.path.display()));
            }
        };
        File::parse(&text, &candidate.path)?.apply(self);
        self.files.push(candidate.path.clone());
        Ok(())
    }

    /// What differs from the defaults, as a file would say it.
    pub(crate) fn changes(&self) -> Vec<String> {
        let plain = Self::default();
        let both = self.settings().into_iter().zip(plain.settings());
        both.filter(|(own, plain)| own != plain).map(|((key, value), _)| format!("{key} = {value}")).collect()
    }

    fn settings(&self) -> [(&'static str, String); 10] {
        let Self { agents, paths, limits, .. } = self;
        let addresses: Vec<String> =
            agents.addresses.iter().map(|address| format!("\"{address}\"")).collect();
        [
            ("agents.start", format!("\"{}\"", agents.start)),
            ("agents.listen", format!("\"{}\"", agents.listen)),
            ("agents.addresses", format!("[{}]", addresses.join(", "))),
            ("agents.ports", format!("\"{}\"", agents.ports)),
            ("agents.tls", agents.tls.to_string()),
            ("paths.rings", format!("{:?}", paths.rings)),
            ("paths.spool", format!("{:?}", paths.spool)),
            ("limits.spool", format!("\"{}\"", crate::words::bytes(limits.spool_bytes))),
            ("limits.patience_s", limits.patience.as_secs().to_string()),
            ("limits.ring_slots", limits.ring_slots.to_string()),
        ]
    }
}

/// The files, the one that counts most last.
fn candidates(explicit: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Vec<Candidate> {
    let own = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")))
        .map(|folder| folder.join(NAME));
    let found = |path| Candidate { path, named: false };
    let named = explicit.map(Path::to_path_buf).or_else(|| variable(NAMED_BY).map(PathBuf::from));
    [Some(PathBuf::from(EVERYBODY_S)), own]
        .into_iter()
        .flatten()
        .map(found)
        .chain(named.map(|path| Candidate { path, named: true }))
        .collect()
}

#[cfg(test)]
mod tests;
