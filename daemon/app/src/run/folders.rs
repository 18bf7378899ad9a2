//! Where a run's recording and its rings go.

use super::supervisor;
use crate::command_line::RunOptions;
use crate::output_folder::refuse_occupied;
use crate::site::Paths;
use anyhow::{Context as _, Result};
use mpiscope_agent::is_running;
use mpiscope_engine::{LIVE_FILE, Live, hang};
use mpiscope_model::Losses;
use mpiscope_process::private::{self, create_private, random};
use mpiscope_recording::{Manifest, State, is_being_written, is_only_a_recording, remove_recording};
use mpiscope_ring::SERVED_BY_DAEMON;
use mpiscope_verdict as verdict;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// What lies in a recording's folder beside the files of the recording itself.
const FILES: [&str; 4] = [verdict::FILE, verdict::GIVEN, hang::FILE, LIVE_FILE];

pub(crate) struct RunFolders {
    /// The run's name.
    pub(crate) name: String,
    /// The recording's folder.
    pub(crate) out: PathBuf,
    /// It was there before, with nothing in it.
    is_out_given: bool,
    /// Where ranks make their rings: shared memory.
    pub(crate) rings: PathBuf,
    /// Where they make them when shared memory is full.
    pub(crate) spool: PathBuf,
}

/// The recording's folder: the one that was asked for, if it is not taken, or a new one here.
pub(crate) fn choose_folder(options: &RunOptions) -> Result<PathBuf> {
    let folder = std::env::current_dir().context("find the current folder")?;
    let out = match &options.out {
        Some(out) => folder.join(out),
        None => folder.join(free_name(&folder, &default_name(&options.command))),
    };
    if options.out.is_some() && holds_nothing(&out) {
        remove_recording(&out, &FILES);
    }
    refuse_occupied(&out, "--out")?;
    out.file_name().context("the folder of the recording needs a name")?;
    Ok(out)
}

impl RunFolders {
    /// Makes the folders for the rings. The recording's folder is the daemon's to make.
    pub(crate) fn make(out: PathBuf, paths: &Paths) -> Result<Self> {
        let name = out.file_name().context("the folder of the recording needs a name")?;
        let name = name.to_string_lossy().into_owned();
        let mark = format!("mpiscope-{}-{:08x}", rustix::process::getuid().as_raw(), random()? as u32);
        let beside = out.parent().unwrap_or(&out);
        // Without a folder for temporary files, what goes there is kept beside the recording.
        let usual = Path::new(USUAL_SPOOL);
        let spool = make_in_first(&[&paths.spool, usual, beside], &format!("{mark}{SPOOL}"))?;
        // Without shared memory, or where it may not be written, a file does as well, if it is one of this host.
        let rings = make_in_first(&[&paths.rings, &paths.spool, usual], &mark)
            .inspect_err(|_| remove_folder(&spool))?;
        let is_out_given = out.exists();
        let folders = Self { name, out, is_out_given, rings, spool };
        let mark = folders.rings.join(SERVED_BY_DAEMON);
        create_private(&mark)
            .with_context(|| format!("make {}", mark.display()))
            .inspect_err(|_| folders.remove_rings())?;
        Ok(folders)
    }

    /// Removes the recording of a command that could not be run, if nothing is in it.
    pub(crate) fn remove_recording(&self) {
        if holds_nothing(&self.out) {
            remove_recording(&self.out, &FILES);
            if !self.is_out_given {
                let _ = std::fs::remove_dir(&self.out);
            }
        }
    }

    /// Removes what a daemon left that ended before it recorded.
    pub(crate) fn remove_beginning(&self) {
        if is_being_written(&self.out) {
            return;
        }
        supervisor::remove_beginning(&self.out);
        let is_empty = |manifest: Manifest| manifest.totals.calls == 0 && manifest.segments.calls.is_empty();
        if is_only_a_recording(&self.out, &FILES) && Manifest::read(&self.out).map_or(true, is_empty) {
            remove_recording(&self.out, &FILES);
        }
        if !self.is_out_given {
            let _ = std::fs::remove_dir(&self.out);
        }
    }

    /// Removes the rings: by now they were read, or there is nobody to read them.
    pub(crate) fn remove_rings(&self) {
        [&self.rings, &self.spool].into_iter().for_each(|folder| remove_folder(folder));
    }
}

fn remove_folder(folder: &Path) {
    // What cannot be removed costs shared memory until somebody does; `mpiscope doctor` names it.
    let _ = private::remove_folder(folder);
}

/// Whether a folder is called as those of rings of this user are, and is this user's.
fn is_own(folder: &Path) -> bool {
    let own = rustix::process::getuid().as_raw();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(&format!("mpiscope-{own}-"))
        && std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == own)
}

/// Removes the rings that the recorder of a recording read, once they are saved; their folder, if it went. A recording may
/// come from anywhere, so only what is certainly such a folder of this user on this host goes, and of the spool only an
/// empty folder: agents of other hosts may keep there what nobody has yet.
pub(crate) fn remove_rings_of(live: &Live) -> Option<&Path> {
    // The recorder that this is a copy of may still be there.
    if is_running(live.pid) {
        return None;
    }
    let (rings, spools) = live.rings.split_first()?;
    for spool in spools.iter().filter(|folder| is_own(folder)) {
        let _ = std::fs::remove_dir(spool);
    }
    let is_local = |folder: &&PathBuf| {
        folder.join(SERVED_BY_DAEMON).is_file()
            && rustix::fs::statfs(folder.as_path()).is_ok_and(|found| found.f_type == TMPFS)
    };
    let rings = Some(rings).filter(|folder| is_own(folder)).filter(is_local)?;
    remove_folder(rings);
    Some(rings)
}

/// The number of file systems in memory, which no other host sees.
const TMPFS: rustix::fs::FsWord = 0x0102_1994;

/// Whether there is a recording in which nothing is, and nothing beside it: its command did not come to call MPI.
fn holds_nothing(out: &Path) -> bool {
    let is_empty = |manifest: Manifest| {
        let totals = manifest.totals;
        manifest.state == State::Complete
            && (manifest.job.ranks, totals.calls, totals.messages) == (0, 0, 0)
            && Losses::from(manifest.lost).total() == 0
            && manifest.segments.calls.is_empty()
    };
    !is_being_written(out) && Manifest::read(out).is_ok_and(is_empty) && is_only_a_recording(out, &FILES)
}

/// What is behind the name of a run's rings in that of the folder that takes what has no room there.
const SPOOL: &str = "-spool";
/// Where temporary files go if the folder for them cannot be used.
const USUAL_SPOOL: &str = "/tmp";

/// Makes a folder in the first of these that can be used.
fn make_in_first(folders: &[&Path], name: &str) -> Result<PathBuf> {
    let mut made = folders.iter().map(|folder| make_private(folder.join(name)));
    let first = made.next().context("there is no folder for the rings of the ranks")?;
    // Where none can be used, the one that was meant is named.
    first.or_else(|error| made.find_map(Result::ok).ok_or(error))
}

fn make_private(path: PathBuf) -> Result<PathBuf> {
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&path)
        .with_context(|| format!("make {} for the rings of the ranks", path.display()))?;
    Ok(path)
}

/// "mpiscope-PROGRAM-DATE-TIME": the first word that is no launcher and no option of one, as a name.
fn default_name(command: &[std::ffi::OsString]) -> String {
    let launchers = ["mpirun", "mpiexec", "srun", "orterun", "prterun"];
    let is_launcher = |name: &str| launchers.iter().any(|launcher| name.starts_with(launcher));
    let names: Vec<String> = command
        .iter()
        .map(|word| Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned())
        .collect();
    let program = match names.first() {
        Some(first) if is_launcher(first) => {
            // Options of launchers come with values; a word that is a file is most likely the program.
            let file = command[1..].iter().position(|word| Path::new(word).is_file());
            file.map_or("job", |at| names[at + 1].as_str())
        }
        Some(first) => first.as_str(),
        None => "job",
    };
    let safe: String = program
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-'))
        .take(40)
        .collect();
    format!("mpiscope-{safe}-{}", timestamp())
}

/// The current time in UTC, as in a file's name.
fn timestamp() -> String {
    let now = OffsetDateTime::now_utc();
    let (date, time) = (now.date(), now.time());
    format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}",
        date.year(),
        u8::from(date.month()),
        date.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

fn free_name(folder: &Path, name: &str) -> String {
    let taken = |name: &str| folder.join(name).exists();
    if !taken(name) {
        return name.to_owned();
    }
    (2..).map(|turn| format!("{name}-{turn}")).find(|name| !taken(name)).unwrap_or_default()
}

/// Folders of rings that nobody uses any more, for the doctor: those of this user whose processes are all gone.
pub(crate) fn left_over_rings(rings: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(rings) else { return Vec::new() };
    let folders = entries.flatten().map(|entry| entry.path());
    folders
        .filter(|folder| is_own(folder))
        .filter(|folder| {
            let Ok(files) = std::fs::read_dir(folder) else { return false };
            // One without any is of a run that is just beginning, and costs nothing.
            let mut files = files.flatten().peekable();
            files.peek().is_some()
                && files.all(|file| {
                    let pid = file
                        .path()
                        .file_stem()
                        .and_then(|stem| stem.to_str()?.split('-').next()?.parse::<u32>().ok());
                    !pid.is_some_and(is_running)
                })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_program() {
        let name =
            |words: &[&str]| default_name(&words.iter().map(std::ffi::OsString::from).collect::<Vec<_>>());
        assert!(name(&["./si m/halo;rm"]).starts_with("mpiscope-halorm-2"));
        assert!(name(&["mpirun", "-n", "4", "/bin/true", "x"]).starts_with("mpiscope-true-2"));
        assert!(name(&["mpirun.openmpi", "-n", "4", "nothing"]).starts_with("mpiscope-job-2"));
    }

    #[test]
    fn of_the_folders_that_a_recording_names_only_those_of_rings_are_removed() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let own = rustix::process::getuid().as_raw();
        let make = |name: &str, is_marked: bool| {
            let made = folder.path().join(name);
            std::fs::create_dir(&made).unwrap();
            std::fs::write(made.join("1-2.ring"), "").unwrap();
            if is_marked {
                std::fs::write(made.join(SERVED_BY_DAEMON), "").unwrap();
            }
            made
        };
        let others = [
            make(&format!("mpiscope-{}-1", own + 1), true),
            make(&format!("mpiscope-{own}-2"), false),
            make("work", true),
            folder.path().join(format!("mpiscope-{own}-3")),
        ];
        std::os::unix::fs::symlink(&others[2], &others[3]).unwrap();
        // No process has this number.
        let live = |pid, rings: &[&PathBuf]| {
            let mut live = Live::of_this_process(rings.iter().copied().cloned().collect());
            live.pid = pid;
            live
        };
        for other in &others {
            assert_eq!(remove_rings_of(&live(u32::MAX, &[other])), None);
            assert!(other.exists(), "{}", other.display());
        }
        let rings = make(&format!("mpiscope-{own}-1"), true);
        let spool = make(&format!("mpiscope-{own}-1{SPOOL}"), false);
        // Somebody may still record there.
        assert_eq!(remove_rings_of(&live(std::process::id(), &[&rings, &spool])), None);
        let whole = live(u32::MAX, &[&rings, &spool]);
        assert_eq!(remove_rings_of(&whole), Some(&*rings));
        assert!(!rings.exists() && spool.exists());
        std::fs::remove_file(spool.join("1-2.ring")).unwrap();
        assert_eq!(remove_rings_of(&whole), None);
        assert!(!spool.exists());
    }

    #[test]
    fn without_a_folder_for_temporary_files_rings_have_theirs_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("shared");
        std::fs::create_dir(&shared).unwrap();
        let nowhere = folder.path().join("nowhere");
        let paths = |rings: &Path| Paths { rings: rings.into(), spool: nowhere.clone() };
        for (rings, expected) in [(&shared, &*shared), (&nowhere, Path::new(USUAL_SPOOL))] {
            let made = RunFolders::make(folder.path().join("recording"), &paths(rings)).unwrap();
            assert_eq!(made.rings.parent(), Some(expected));
            assert_eq!(made.spool.parent(), Some(Path::new(USUAL_SPOOL)));
            made.remove_rings();
            assert!(!made.rings.exists() && !made.spool.exists());
        }
    }
}
