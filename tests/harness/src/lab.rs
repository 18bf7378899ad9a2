//! Several hosts on this machine, as `deploy/lab/lab` makes them, for one test.

use crate::mpi::Mpi;
use crate::running::{Ended, run};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// What a test wants of its hosts.
#[derive(Debug, Clone, Default)]
pub struct LabOptions {
    words: Vec<OsString>,
    features: Vec<OsString>,
}

impl LabOptions {
    /// This number of hosts, and nothing special.
    #[must_use]
    pub fn hosts(hosts: u32) -> Self {
        Self { words: vec![hosts.to_string().into()], features: Vec::new() }
    }

    fn with(mut self, feature: &[&str]) -> Self {
        self.features.extend(feature.iter().map(OsString::from));
        self
    }

    /// In this number of racks.
    #[must_use]
    pub fn racks(mut self, racks: u32) -> Self {
        self.words.extend(["--racks".into(), racks.to_string().into()]);
        self
    }

    /// With a switch that delays and loses frames.
    #[must_use]
    pub fn shaped(self) -> Self {
        self.with(&["--shaped"])
    }

    /// Each with a monotonic clock of its own.
    #[must_use]
    pub fn skewed_clocks(self) -> Self {
        self.with(&["--clocks", "skewed"])
    }

    /// With Slurm.
    #[must_use]
    pub fn slurm(self) -> Self {
        self.with(&["--slurm"])
    }

    /// With sshd.
    #[must_use]
    pub fn sshd(self) -> Self {
        self.with(&["--sshd"])
    }

    /// Each with process numbers of its own.
    #[must_use]
    pub fn own_pids(self) -> Self {
        self.with(&["--pids", "own"])
    }
}

/// Where the ranks of a job go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement<'a> {
    /// A host is filled before the next.
    Block,
    /// In turn.
    Cyclic,
    /// As a file says: a rankfile of Open MPI, a machinefile of MPICH, a list of hosts of Slurm.
    File(&'a Path),
}

/// How a launcher reaches the other hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// By the lab's own agent.
    Agent,
    /// By a real ssh.
    Ssh,
    /// By Slurm's srun.
    Slurm,
}

/// Hosts that are up. When it is dropped they are gone, and all that ran on them.
#[derive(Debug)]
pub struct Lab {
    name: String,
    shared: tempfile::TempDir,
    /// The hosts, each with what tells its processes from all others; known from the first time they were asked for.
    spaces: OnceLock<BTreeMap<PathBuf, String>>,
}

impl Lab {
    /// Starts hosts. They see the sources, what is built, and [`Self::shared`].
    ///
    /// # Errors
    /// When they do not start.
    pub fn up(options: &LabOptions) -> Result<Self> {
        let name = format!("test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let shared = crate::folder()?;
        let mut command = program();
        command.args(["up", "--name", &name]).args(&options.words).args(&options.features);
        for folder in [&crate::root(), &crate::target(), shared.path()] {
            command.arg("--share").arg(folder);
        }
        done(&mut command)?;
        Ok(Self { name, shared, spaces: OnceLock::new() })
    }

    /// The same; where this machine cannot run such a lab the test counts as skipped.
    ///
    /// # Errors
    /// When they do not start though everything that they need is there.
    pub fn up_or_skip(options: &LabOptions, test: &str) -> Result<Option<Self>> {
        let check = run(program().arg("check").args(&options.features), LIMIT)?;
        if check.status != 0 {
            crate::skip(test, &format!("no lab runs here: {}", check.output().trim().replace('\n', " ")));
            return Ok(None);
        }
        Self::up(options).map(Some)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An empty folder that all hosts see.
    #[must_use]
    pub fn shared(&self) -> &Path {
        self.shared.path()
    }

    /// The names of its hosts.
    ///
    /// # Errors
    /// When it is gone.
    pub fn hosts(&self) -> Result<Vec<String>> {
        Ok(self.clock_offsets_ns()?.into_keys().collect())
    }

    /// The processes that run on each host.
    ///
    /// # Errors
    /// When a host is gone.
    pub fn processes(&self) -> Result<BTreeMap<String, Vec<u32>>> {
        let hosts = self.spaces()?;
        let mut found: BTreeMap<String, Vec<u32>> =
            hosts.values().map(|host| (host.clone(), vec![])).collect();
        for process in crate::processes::all() {
            if let Some(on_it) =
                space(process).and_then(|space| hosts.get(&space)).and_then(|host| found.get_mut(host))
            {
                on_it.push(process);
            }
        }
        let gone = found.iter().find(|(_, on_it)| on_it.is_empty());
        ensure!(gone.is_none(), "nothing runs on {gone:?}");
        Ok(found)
    }

    fn spaces(&self) -> Result<&BTreeMap<PathBuf, String>> {
        if let Some(known) = self.spaces.get() {
            return Ok(known);
        }
        let report: serde_json::Value =
            serde_json::from_slice(&done(self.command("status").arg("--json"))?.stdout)?;
        let of_host = |host: &serde_json::Value| {
            let keeper = u32::try_from(host["process"].as_u64()?).ok()?;
            Some((space(keeper)?, host["name"].as_str()?.to_owned()))
        };
        let hosts = report["hosts"].as_array().context("a lab has hosts")?;
        let spaces: Result<_> =
            hosts.iter().map(|host| of_host(host).context("a host has a name and a process")).collect();
        let spaces = spaces?;
        Ok(self.spaces.get_or_init(|| spaces))
    }

    /// A word of `lab` for this one.
    #[must_use]
    pub fn command(&self, word: &str) -> Command {
        let mut command = program();
        command.args([word, "--name", &self.name]);
        command
    }

    /// A command that runs on a host.
    #[must_use]
    pub fn exec(&self, host: &str, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = self.command("exec");
        command.arg(host).args(words);
        command
    }

    /// The words that start a program over all hosts; the program follows. They are for a command on a host. `slots`
    /// is the number of ranks that fill a host; with `only` all are on that one.
    ///
    /// # Errors
    /// When this lab cannot start programs so.
    pub fn launcher(
        &self,
        mpi: &Mpi,
        ranks: u32,
        placement: Placement<'_>,
        start: Start,
        slots: Option<u32>,
        only: Option<&str>,
    ) -> Result<Vec<OsString>> {
        let mut command = self.command("launcher");
        command.args([mpi.family.word(), "-n", &ranks.to_string()]);
        if let Some(slots) = slots {
            command.args(["--slots", &slots.to_string()]);
        }
        if let Some(host) = only {
            command.args(["--hosts", host]);
        }
        command.arg("--program").arg(&mpi.launcher);
        command.arg("--placement").arg(match placement {
            Placement::Block => OsStr::new("block"),
            Placement::Cyclic => OsStr::new("cyclic"),
            Placement::File(file) => file.as_os_str(),
        });
        match start {
            Start::Agent => &mut command,
            Start::Ssh => command.arg("--ssh"),
            Start::Slurm => command.arg("--slurm"),
        };
        Ok(done(&mut command)?.output().lines().map(OsString::from).collect())
    }

    /// A command on the first host that runs a program over all hosts, unrecorded.
    ///
    /// # Errors
    /// When this lab cannot start programs so, or the helper library for MPICH does not compile.
    pub fn plain(
        &self,
        mpi: &Mpi,
        ranks: u32,
        placement: Placement<'_>,
        start: Start,
        program: &Path,
    ) -> Result<Command> {
        let mut words = self.launcher(mpi, ranks, placement, start, None, None)?;
        words.push(program.into());
        let mut command = self.exec("node1", &words);
        mpi.prepare(&mut command)?;
        Ok(command)
    }

    /// Changes what links do, in the words of `lab link`.
    ///
    /// # Errors
    /// When this lab's links cannot do it.
    pub fn link(&self, words: &[&str]) -> Result<()> {
        done(self.command("link").args(words)).map(drop)
    }

    /// Cuts a host off from all others, for so long; returns when it is cut.
    ///
    /// # Errors
    /// When there is no such host.
    pub fn cut(&self, host: &str, during: Duration) -> Result<()> {
        let during = format!("{}ms", during.as_millis());
        self.link(&[host, "all", "--both", "--cut", "--for", &during])
    }

    /// How far each host's monotonic clock is ahead of this machine's, in nanoseconds.
    ///
    /// # Errors
    /// When a host is gone.
    pub fn clock_offsets_ns(&self) -> Result<BTreeMap<String, i64>> {
        let report: BTreeMap<String, BTreeMap<String, i64>> =
            serde_json::from_slice(&done(&mut self.command("clocks"))?.stdout)?;
        report
            .into_iter()
            .map(|(host, clocks)| {
                Ok((host, *clocks.get("monotonic_ns").context("a host has a monotonic clock")?))
            })
            .collect()
    }

    /// A figure of the switch about the frames from one host to another, such as `lost`; 0 where there were none.
    ///
    /// # Errors
    /// When the lab is not shaped.
    pub fn counted(&self, from: &str, to: &str, figure: &str) -> Result<u64> {
        let report: serde_json::Value = serde_json::from_slice(&done(&mut self.command("counters"))?.stdout)?;
        Ok(report[from][to][figure].as_u64().unwrap_or(0))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let down = done(&mut self.command("down"));
        // A test that fails already says why.
        assert!(std::thread::panicking() || down.is_ok(), "the lab does not end: {down:?}");
    }
}

/// What the processes of a host share, and those of others do not.
fn space(process: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{process}/ns/uts")).ok()
}

fn program() -> Command {
    let mut command = Command::new(crate::root().join("deploy/lab/lab"));
    command.env("CARGO_TARGET_DIR", crate::target());
    command
}

fn done(command: &mut Command) -> Result<Ended> {
    let ended = run(command, LIMIT)?;
    ensure!(ended.status == 0, "{command:?}: {}", ended.errors());
    Ok(ended)
}
