//! Where a run's recording and its rings go.

use crate::command_line::RunOptions;
use crate::daemon::LIVE_FILE;
use crate::private::{create_private, random};
use crate::site::Paths;
use crate::{judge, standing};
use anyhow::{Context as _, Result, bail};
use mpiscope_recording::{Manifest, State, is_being_written, remove_recording};
use mpiscope_ring::SERVED_BY_DAEMON;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// What lies in a recording's folder beside the files of the recording itself.
const FILES: [&str; 3] = [judge::FILE, standing::FILE, LIVE_FILE];

pub(crate) struct Place {
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
    let here = std::env::current_dir().context("find the current folder")?;
    let out = match &options.out {
        Some(out) => here.join(out),
        None => here.join(free_name(&here, &default_name(&options.command))),
    };
    if options.out.is_some() && holds_nothing(&out) {
        remove_recording(&out, &FILES);
    }
    refuse_occupied(&out, "--out")?;
    out.file_name().context("the folder of the recording needs a name")?;
    Ok(out)
}

impl Place {
    /// Makes the folders for the rings. The recording's folder is the daemon's to make.
    pub(crate) fn make(out: PathBuf, paths: &Paths) -> Result<Self> {
        let name = out.file_name().context("the folder of the recording needs a name")?;
        let name = name.to_string_lossy().into_owned();
        let mark = format!("mpiscope-{}-{:08x}", rustix::process::getuid().as_raw(), random()? as u32);
        let beside = out.parent().unwrap_or(&out);
        // Without a folder for temporary files, they are kept beside the recording.
        let spool = make_private(paths.spool.join(format!("{mark}{SPOOL}")))
            .or_else(|error| make_private(beside.join(format!("{mark}{SPOOL}"))).map_err(|_| error))?;
        // Without shared memory, or where it may not be written, a file does as well.
        let rings = make_private(paths.rings.join(&mark))
            .or_else(|_| make_private(spool.with_file_name(&mark)))
            .inspect_err(|_| remove_folder(&spool))?;
        let is_out_given = out.exists();
        let place = Self { name, out, is_out_given, rings, spool };
        let mark = place.rings.join(SERVED_BY_DAEMON);
        create_private(&mark)
            .with_context(|| format!("make {}", mark.display()))
            .inspect_err(|_| place.remove_rings())?;
        Ok(place)
    }

    /// Removes the recording of a command that never ran.
    pub(crate) fn remove_recording(&self) {
        remove_recording(&self.out, &FILES);
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
    let _ = std::fs::remove_dir_all(folder);
}

/// Removes the folders of rings that a recording names. A recording may come from anywhere, so only what is certainly such a
/// folder of this user goes; those that went.
pub(crate) fn remove_rings_of(folders: &[PathBuf]) -> Vec<&Path> {
    let own = rustix::process::getuid().as_raw();
    let is_ours = |folder: &&Path| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let is_marked = name.ends_with(SPOOL) || folder.join(SERVED_BY_DAEMON).is_file();
        let metadata = std::fs::symlink_metadata(folder);
        name.starts_with(&format!("mpiscope-{own}-"))
            && is_marked
            && metadata.is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == own)
    };
    folders.iter().map(PathBuf::as_path).filter(is_ours).inspect(|folder| remove_folder(folder)).collect()
}

/// Whether there is a recording in which nothing is: its command did not come to call MPI.
fn holds_nothing(out: &Path) -> bool {
    !is_being_written(out)
        && Manifest::read(out).is_ok_and(|manifest| {
            manifest.state == State::Complete
                && (manifest.job.ranks, manifest.totals.calls) == (0, 0)
                && manifest.segments.calls.is_empty()
        })
}

/// What is behind the name of a run's rings in that of the folder that takes what has no room there.
const SPOOL: &str = "-spool";

fn make_private(path: PathBuf) -> Result<PathBuf> {
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&path)
        .with_context(|| format!("make {} for the rings of the ranks", path.display()))?;
    Ok(path)
}

/// A folder that holds something is not ours to fill; `option` names another.
pub(crate) fn refuse_occupied(out: &Path, option: &str) -> Result<()> {
    if is_being_written(out) {
        bail!(
            "{} is being recorded into by another mpiscope: choose another folder with {option}",
            out.display()
        );
    }
    match std::fs::read_dir(out) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                bail!("{} is not empty: choose another folder with {option}, or remove it", out.display());
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => {
            bail!("{} cannot hold a recording: {error}; choose another folder with {option}", out.display())
        }
    }
    Ok(())
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
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs());
    let (year, month, day) = civil_date(seconds / 86_400);
    let second = seconds % 86_400;
    format!("{year:04}{month:02}{day:02}-{:02}{:02}{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// The date of a day since 1970, by the calendar's cycle of 400 years that begins in March.
fn civil_date(day: u64) -> (u64, u64, u64) {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

fn free_name(here: &Path, name: &str) -> String {
    let taken = |name: &str| here.join(name).exists();
    if !taken(name) {
        return name.to_owned();
    }
    (2..).map(|turn| format!("{name}-{turn}")).find(|name| !taken(name)).unwrap_or_default()
}

/// Folders of rings that nobody uses any more, for the doctor: those of this user whose processes are all gone.
pub(crate) fn left_over_rings(rings: &Path) -> Vec<PathBuf> {
    let own = rustix::process::getuid().as_raw();
    let prefix = format!("mpiscope-{own}-");
    let Ok(entries) = std::fs::read_dir(rings) else { return Vec::new() };
    let ours = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    ours.filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == own))
        .map(|entry| entry.path())
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
                    pid.is_none_or(|pid| !Path::new(&format!("/proc/{pid}")).exists())
                })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(civil_date(0), (1970, 1, 1));
        assert_eq!(civil_date(11_016), (2000, 2, 29));
        assert_eq!(civil_date(20_454), (2026, 1, 1));
        assert_eq!(civil_date(20_453), (2025, 12, 31));
    }

    #[test]
    fn names_come_from_the_program() {
        let name =
            |words: &[&str]| default_name(&words.iter().map(std::ffi::OsString::from).collect::<Vec<_>>());
        assert!(name(&["./si m/halo;rm"]).starts_with("mpiscope-halorm-2"));
        assert!(name(&["mpirun", "-n", "4", "/bin/true", "x"]).starts_with("mpiscope-true-2"));
        assert!(name(&["mpirun.openmpi", "-n", "4", "nothing"]).starts_with("mpiscope-job-2"));
    }

    fn folder_of_rings(of: &Path, name: &str, is_marked: bool) -> PathBuf {
        let folder = of.join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("1-2.ring"), "").unwrap();
        if is_marked {
            std::fs::write(folder.join(SERVED_BY_DAEMON), "").unwrap();
        }
        folder
    }

    #[test]
    fn of_the_folders_that_a_recording_names_only_those_of_rings_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let own = rustix::process::getuid().as_raw();
        let make = |name: &str, is_marked| folder_of_rings(folder.path(), name, is_marked);
        let rings = make(&format!("mpiscope-{own}-1"), true);
        let spool = make(&format!("mpiscope-{own}-1{SPOOL}"), false);
        let others = [
            make(&format!("mpiscope-{}-1", own + 1), true),
            make(&format!("mpiscope-{own}-2"), false),
            make("work", true),
            folder.path().join(format!("mpiscope-{own}-3")),
        ];
        std::os::unix::fs::symlink(&others[2], &others[3]).unwrap();
        let all = [&[rings.clone(), spool.clone()][..], &others].concat();
        assert_eq!(remove_rings_of(&all), [&rings, &spool]);
        assert!(!rings.exists() && !spool.exists() && others.iter().all(|folder| folder.exists()));
    }

    #[test]
    fn without_a_folder_for_temporary_files_rings_have_theirs_beside_the_recording() {
        let folder = tempfile::tempdir().unwrap();
        let [shared, beside] = ["shared", "beside"].map(|name| folder.path().join(name));
        std::fs::create_dir(&shared).unwrap();
        std::fs::create_dir(&beside).unwrap();
        let (nowhere, out) = (folder.path().join("nowhere"), beside.join("recording"));
        let place = |rings: &Path, out: &Path| {
            Place::make(out.into(), &Paths { rings: rings.into(), spool: nowhere.clone() })
        };
        let made = place(&shared, &out).unwrap();
        assert_eq!((made.rings.parent(), made.spool.parent()), (Some(&*shared), Some(&*beside)));
        made.remove_rings();
        let made = place(&nowhere, &out).unwrap();
        assert_eq!((made.rings.parent(), made.spool.parent()), (Some(&*beside), Some(&*beside)));
        made.remove_rings();
        // Where nothing can be made, nothing stays.
        assert!(place(&shared, &nowhere.join("recording")).is_err());
        assert!([&shared, &beside].iter().all(|folder| std::fs::read_dir(folder).unwrap().next().is_none()));
    }
}
