//! The settings of an agent: in its environment, by the rank that started it, or in a file of the recording, when it was
//! started by hand.

use anyhow::{Context as _, Result, bail};
use mpiscope_link::Secret;
use mpiscope_process::local_host::host_name;
use mpiscope_process::private::{remove_folder, write_private};
use mpiscope_recorder::switch;
use mpiscope_ring::{AGENT_LOCK, AGENT_LOCK_VARIABLE, WAKE_FILE, own_folder};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) struct Settings {
    /// The host's name.
    pub(crate) node: String,
    pub(crate) rings: PathBuf,
    /// Where rings are: that folder, and the run's folder for those that found no room in shared memory.
    pub(crate) ring_folders: Vec<PathBuf>,
    /// Folders for its spool: its own in the run's folder for spools, and one beside the rings where that takes nothing.
    pub(crate) spool: Vec<PathBuf>,
    pub(crate) spool_bytes: u64,
    pub(crate) daemon: Vec<String>,
    pub(crate) secret: Secret,
    pub(crate) certificate: Option<String>,
    /// Whether ranks begin without being recorded.
    pub(crate) paused: bool,
    /// For how long calls are held back while recording is off; none where they are not, and recording begins at once.
    pub(crate) flight: Option<Duration>,
}

/// The right to serve the rings of this host.
pub(crate) enum Lock {
    /// Taken by this process, for itself and those it starts.
    Taken(#[expect(dead_code, reason = "held, not read")] File),
    /// Held by an open file that came with this process.
    HandedOver,
    /// There is another agent.
    Anothers,
}

/// The file in a recording that says what agents have to know, when they are started by hand.
pub(crate) const LEFT_FILE: &str = "agents.env";

/// The spool in the folder of the rings.
const SPOOL_IN_RINGS: &str = "spool";

/// What that file says.
pub(crate) fn left_in(recording: &Path) -> Result<Vec<(String, String)>> {
    let path = recording.join(LEFT_FILE);
    let mut file =
        OpenOptions::new().read(true).custom_flags(OFlags::NOFOLLOW.bits() as i32).open(&path).with_context(
            || format!("{}: agents are started by hand only where a settings file says so", path.display()),
        )?;
    // What stands in it is trusted with folders of this user and with the name of a host.
    let found = file.metadata()?;
    if found.uid() != rustix::process::getuid().as_raw() || found.mode() & 0o077 != 0 {
        bail!("{} is not this user's alone: it is not used", path.display());
    }
    let mut text = String::new();
    file.read_to_string(&mut text).with_context(|| format!("read {}", path.display()))?;
    let ours = text.lines().filter_map(|line| line.split_once('='));
    let ours = ours.filter(|(name, _)| name.starts_with("MPISCOPE_"));
    Ok(ours.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

impl Settings {
    /// From variables, wherever they are looked up.
    pub(crate) fn from_variables(look_up: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let variable = |name: &str| {
            look_up(name).with_context(|| format!("{name} is not set: `mpiscope run` sets it for the ranks"))
        };
        let rings = PathBuf::from(variable("MPISCOPE_RINGS")?);
        let spools = PathBuf::from(variable("MPISCOPE_SPOOL")?);
        own_folder(&rings).with_context(|| format!("{} is not used", rings.display()))?;
        // Hosts may share the disk of the spool, and containers of one host its name.
        let metadata = std::fs::metadata(&rings).with_context(|| format!("look at {}", rings.display()))?;
        let node = host_name();
        let plain = node.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '-');
        let name = format!("{}-{:x}-{:x}", plain.collect::<String>(), metadata.dev(), metadata.ino());
        let made = own_folder(&spools).with_context(|| format!("{} is not used", spools.display()));
        // Other hosts may have a place for it, and this one none. What is there may hold the spool of a predecessor.
        if spools.symlink_metadata().is_ok() {
            made?;
        }
        let spool = vec![spools.join(name), rings.join(SPOOL_IN_RINGS)];
        let ring_folders = vec![rings.clone(), spools];
        Ok(Self {
            node,
            rings,
            ring_folders,
            spool,
            spool_bytes: variable("MPISCOPE_SPOOL_BYTES")?.parse().context("read MPISCOPE_SPOOL_BYTES")?,
            daemon: variable("MPISCOPE_DAEMON")?.split(',').map(str::to_owned).collect(),
            secret: Secret::from_text(&variable("MPISCOPE_SECRET")?)?,
            certificate: look_up("MPISCOPE_CERTIFICATE"),
            paused: look_up(switch::PAUSED).is_some(),
            flight: look_up(switch::FLIGHT)
                .map(|seconds| seconds.parse().map(Duration::from_secs))
                .transpose()
                .with_context(|| format!("read {}", switch::FLIGHT))?,
        })
    }

    /// Takes the lock that says that an agent serves the rings, unless the rank that started us has handed it over: then
    /// it is open in this process, and in those it starts. Says whether we have it.
    pub(crate) fn lock(&self) -> Result<Lock> {
        let path = self.rings.join(AGENT_LOCK);
        if let Ok(number) = std::env::var(AGENT_LOCK_VARIABLE) {
            // An agent that was just ending may have removed the file before the rank locked it.
            let place = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
            let inherited = place(&Path::new("/proc/self/fd").join(number));
            let valid = inherited.is_some() && inherited == place(&path);
            return Ok(if valid { Lock::HandedOver } else { Lock::Anothers });
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
        if file.try_lock().is_err() {
            return Ok(Lock::Anothers);
        }
        // The working process keeps it too, should this one die alone.
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty())?;
        Ok(Lock::Taken(file))
    }

    /// Nobody sees what an agent writes to a terminal: it goes into a file of its spool.
    pub(crate) fn note(&self, text: &str) {
        let note = |folder: &PathBuf| {
            own_folder(folder)?;
            let path = folder.join("agent.log");
            let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
            writeln!(file, "{text}")
        };
        // Where even this cannot be written nobody is left to report to.
        let _ = self.spool.iter().any(|folder| note(folder).is_ok());
    }

    /// The daemon has everything. When the run has ended its folders go; when it has not, other ranks may come, and only
    /// empty folders go.
    pub(crate) fn clean_up(&self, is_over: bool) {
        // What cannot be removed is in use again, or costs a little room.
        for folder in &self.spool {
            let _ = remove_folder(folder);
        }
        // A folder that `mpiscope run` made has such a name, and no other goes with all that is in it.
        let mark = format!("mpiscope-{}-", rustix::process::getuid().as_raw());
        let is_ours = self.rings.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&mark));
        if is_over && is_ours {
            let _ = remove_folder(&self.rings);
        } else {
            let _ = std::fs::remove_file(self.rings.join(WAKE_FILE));
            let _ = std::fs::remove_file(self.rings.join(AGENT_LOCK));
            let _ = std::fs::remove_dir(&self.rings);
        }
        for folder in self.ring_folders.iter().skip(1) {
            let _ = std::fs::remove_dir(folder);
        }
    }

    /// What the agent calls itself: drawn once, and kept with the spool for those that take over.
    pub(crate) fn identity(&self) -> Result<u128> {
        let files = || self.spool.iter().map(|folder| folder.join("identity"));
        let known = |path: PathBuf| {
            // On a full disk there may be a part of it.
            let text = std::fs::read_to_string(path).ok().filter(|text| text.trim_end().len() == 32)?;
            u128::from_str_radix(text.trim_end(), 16).ok()
        };
        if let Some(known) = files().find_map(known) {
            return Ok(known);
        }
        let drawn = mpiscope_process::private::random()?;
        let mut fault = None;
        for (folder, path) in self.spool.iter().zip(files()) {
            let written = own_folder(folder)
                .and_then(|()| write_private(&path, format!("{drawn:032x}\n").as_bytes()))
                .with_context(|| format!("write {}", path.display()));
            match written {
                Ok(()) => return Ok(drawn),
                Err(error) => fault = Some(error),
            }
        }
        Err(fault.context("there is no folder for the spool")?)
    }
}
