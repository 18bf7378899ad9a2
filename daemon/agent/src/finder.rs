//! Finds the ring files of a host's ranks, opens them, and numbers their processes.

use crate::resume::Resume;
use crate::unread::{Unread, unread_because};
use crate::watched_file::WatchedFile;
use mpiscope_process::local_host::host_name;
use mpiscope_wire::Process;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// The most files of rings that are looked at; while that many are there, further ones are not.
const MOST_FILES: usize = 1 << 16;

/// Knows which ring files were found.
pub(super) struct Finder {
    folders: Vec<PathBuf>,
    /// This host.
    node: String,
    pub(super) known: HashSet<PathBuf>,
    /// Ring files that the system could not open or map, with the reason: the next scan tries again.
    unopened: BTreeMap<PathBuf, String>,
    /// Whether it was reported that there are too many.
    has_too_many: bool,
    resume: Resume,
    next_process: u32,
}

impl Finder {
    pub(super) fn new(folders: Vec<PathBuf>, resume: Resume) -> Self {
        let known =
            resume.processes.values().copied().chain(resume.positions.keys().map(|(process, _)| *process));
        let next_process = known.max().map_or(0, |last| last + 1);
        Self {
            folders,
            node: host_name(),
            known: HashSet::new(),
            unopened: BTreeMap::new(),
            has_too_many: false,
            resume,
            next_process,
        }
    }

    /// The ring files that are new, in order of their paths.
    pub(super) fn new_paths(&mut self, faults: &mut Vec<String>) -> Vec<PathBuf> {
        let mut found = new_ring_paths(&self.folders, &self.known);
        if self.known.len() + found.len() > MOST_FILES {
            found.truncate(MOST_FILES.saturating_sub(self.known.len()));
            let fault = "there are more rings than can be looked at: some ranks are not recorded";
            if !std::mem::replace(&mut self.has_too_many, true) {
                faults.push(fault.to_owned());
            }
        }
        found
    }

    /// Opens one of them, if it can be read and is of this host.
    pub(super) fn open_new(
        &mut self,
        path: PathBuf,
        others: &[WatchedFile],
        faults: &mut Vec<String>,
    ) -> Option<WatchedFile> {
        self.known.insert(path.clone());
        self.unopened.remove(&path);
        match self.open(path.clone(), others) {
            Ok(ring_file) => return Some(ring_file),
            Err(Unread::Elsewhere) => {}
            Err(Unread::Fault(fault)) => faults.push(fault),
            Err(Unread::NotNow(fault)) => {
                self.known.remove(&path);
                self.unopened.insert(path, fault);
            }
        }
        None
    }

    /// A ring file that is gone: another may have its path.
    pub(super) fn forget(&mut self, path: &Path) {
        self.known.remove(path);
    }

    /// Why ring files could not be opened to the last.
    pub(super) fn take_unopened(&mut self) -> impl Iterator<Item = String> + use<> {
        std::mem::take(&mut self.unopened).into_values()
    }

    fn open(&mut self, path: PathBuf, others: &[WatchedFile]) -> Result<WatchedFile, Unread> {
        let fault = |reason: String| format!("{} is not read: {reason}", path.display());
        let refuse = |reason: String| Unread::Fault(fault(reason));
        let reader = mpiscope_ring::Reader::open(&path)
            .map_err(|error| unread_because(&error, fault(error.to_string())))?;
        let identity = reader.identity().map_err(|error| refuse(error.to_string()))?;
        let is_shared = self.folders.iter().skip(1).any(|folder| path.starts_with(folder));
        if is_shared && identity.node != self.node {
            return Err(Unread::Elsewhere);
        }
        if others.iter().any(|other| other.is_of(identity.pid, identity.made_ns)) {
            return Err(refuse(format!("it says that it is of process {}, which has another", identity.pid)));
        }
        let resumed = self.resume.processes.get(&(identity.pid, identity.made_ns)).copied();
        let process = Process {
            process: resumed.unwrap_or(self.next_process),
            pid: identity.pid,
            made_ns: identity.made_ns,
            rank: identity.rank,
            world_size: identity.world_size,
            clock: identity.clock,
            cost_per_call_ns: identity.cost_per_call_ns,
            library: identity.library,
            node: identity.node,
        };
        self.next_process = self.next_process.max(process.process + 1);
        let positions = self.positions(&reader, resumed);
        Ok(WatchedFile::new(path, reader, process, positions))
    }

    /// From where each ring is read.
    fn positions(&self, reader: &mpiscope_ring::Reader, resumed: Option<u32>) -> Vec<u64> {
        let position = |ring: usize| {
            // The log says how far was read; the writer's side may know less.
            let Some(number) = resumed else { return reader.consumer(ring, None).position() };
            let known = self.resume.positions.get(&(number, ring as u32)).copied();
            WatchedFile::sound_position(reader, ring, known.unwrap_or_default())
        };
        (0..reader.rings()).map(position).collect()
    }
}

/// The ring files in these folders that are not known yet, in order of their paths.
fn new_ring_paths(folders: &[PathBuf], known: &HashSet<PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders {
        // A folder that is not there yet, or no more, holds no ring file.
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "ring") && !known.contains(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
