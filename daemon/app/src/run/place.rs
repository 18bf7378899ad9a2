//! Where a run's recording and its rings go.

use crate::command_line::RunOptions;
use crate::private::create_private;
use crate::site::Paths;
use anyhow::{Context as _, Result, bail};
use mpiscope_recording::is_being_written;
use mpiscope_ring::SERVED_BY_DAEMON;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

pub(crate) struct Place {
    /// The run's name.
    pub(crate) name: String,
    /// The recording's folder.
    pub(crate) out: PathBuf,
    /// Where ranks make their rings: shared memory.
    pub(crate) rings: PathBuf,
    /// Where they make them when shared memory is full.
    pub(crate) spool: PathBuf,
}

/// 128 random bits.
pub(crate) fn random() -> Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("no random numbers from the system: {error}"))?;
    Ok(u128::from_le_bytes(bytes))
}

/// The recording's folder: the one that was asked for, if it is not taken, or a new one here.
pub(crate) fn choose_folder(options: &RunOptions) -> Result<PathBuf> {
    let here = std::env::current_dir().context("find the current folder")?;
    let out = match &options.out {
        Some(out) => here.join(out),
        None => here.join(free_name(&here, &default_name(&options.command))),
    };
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
        // Without shared memory, or where it may not be written, a file does as well.
        let rings =
            make_private(paths.rings.join(&mark)).or_else(|_| make_private(paths.spool.join(&mark)))?;
        let spool = make_private(paths.spool.join(format!("{mark}-spool")))?;
        let mark = rings.join(SERVED_BY_DAEMON);
        create_private(&mark).with_context(|| format!("make {}", mark.display()))?;
        Ok(Self { name, out, rings, spool })
    }

    /// Removes the rings: by now they were read, or there is nobody to read them.
    pub(crate) fn remove_rings(&self) {
        for folder in [&self.rings, &self.spool] {
            // What cannot be removed costs shared memory until somebody does; `mpiscope doctor` names it.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

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
}
