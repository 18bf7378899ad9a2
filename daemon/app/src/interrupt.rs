//! Ctrl-C for commands that write something: what is not whole is removed, and one line says so.
//!
//! Whoever works asks between two steps, gives up by itself and removes what it has begun. Where a step takes too long for
//! somebody who waits, the thread that hears the signal removes it and ends the process.

use anyhow::Result;
use mpiscope_process::signals::{bit, ignored_signals};
use mpiscope_recording::RecordingError;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt;
use std::fs::{DirEntry, Permissions};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A step may take so long after the signal.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Removing is repeated this often, with this time between, while the thread that works makes files in the folder.
const REMOVE_ATTEMPTS: u32 = 100;
const REMOVE_EVERY: Duration = Duration::from_millis(2);

/// Whether somebody wants this to end.
#[derive(Clone)]
pub(crate) struct Interrupt {
    signal: Arc<AtomicI32>,
    begun: Arc<Mutex<Vec<Begun>>>,
    /// The result is whole and stays. Only changed under the lock of `begun`.
    kept: Arc<AtomicBool>,
    /// The message when nothing comes of it.
    words: Arc<str>,
}

/// What must not stay when this is given up.
#[derive(Debug)]
enum Begun {
    /// A file, or a folder with all that is in it.
    Path(PathBuf),
    /// A folder that was made on the way to another, if nobody has put anything into it.
    Way(PathBuf),
    /// What is in a folder that was there before, with those permissions.
    Contents(PathBuf, Option<Permissions>),
}

impl Begun {
    /// What is gone already needs no removing, and for the rest nobody is left to ask.
    fn remove(&self) {
        for attempt in 0..REMOVE_ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(REMOVE_EVERY);
            }
            self.try_remove();
            if self.is_removed() {
                break;
            }
        }
        if let Self::Contents(folder, Some(before)) = self {
            let _ = std::fs::set_permissions(folder, before.clone());
        }
    }

    fn try_remove(&self) {
        let remove = |path: &Path| {
            let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
        };
        match self {
            Self::Path(path) => remove(path),
            Self::Way(path) => drop(std::fs::remove_dir(path)),
            Self::Contents(folder, _) => entries(folder).for_each(|entry| remove(&entry.path())),
        }
    }

    fn is_removed(&self) -> bool {
        match self {
            Self::Path(path) => path.symlink_metadata().is_err(),
            // What another put into it stays.
            Self::Way(_) => true,
            Self::Contents(folder, _) => entries(folder).next().is_none(),
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    std::fs::read_dir(folder).into_iter().flatten().flatten()
}

/// It was given up because of a signal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was interrupted")
    }
}

impl std::error::Error for Interrupted {}

impl Interrupt {
    /// From now on a signal does not end this process at once.
    pub(crate) fn catch(words: &str) -> Self {
        let own = Self::none(words);
        let ignored = ignored_signals();
        let wanted = [SIGINT, SIGTERM].into_iter().filter(|&signal| ignored & bit(signal) == 0);
        if let Ok(mut arriving) = Signals::new(wanted) {
            let shared = own.clone();
            std::thread::spawn(move || {
                if let Some(signal) = arriving.forever().next() {
                    shared.signal.store(signal, Ordering::SeqCst);
                    std::thread::sleep(PATIENCE);
                    shared.end(128 + signal);
                }
            });
        }
        own
    }

    /// One that nothing interrupts.
    pub(crate) fn none(words: &str) -> Self {
        Self { signal: Arc::default(), begun: Arc::default(), kept: Arc::default(), words: words.into() }
    }

    /// Fails when it is time to give up.
    pub(crate) fn check(&self) -> Result<()> {
        if self.signal.load(Ordering::SeqCst) == 0 { Ok(()) } else { Err(Interrupted.into()) }
    }

    /// Something is there that must not stay when this is given up.
    pub(crate) fn begin(&self, path: &Path) {
        self.push(Begun::Path(path.to_owned()));
    }

    /// A folder will be filled that must not stay, nor those around it that are made for it; one that is there stays,
    /// as empty as it is.
    pub(crate) fn begin_folder(&self, folder: &Path) {
        if folder.exists() {
            let permissions = folder.metadata().ok().map(|found| found.permissions());
            return self.push(Begun::Contents(folder.to_owned(), permissions));
        }
        self.begin(folder);
        let on_the_way = folder.ancestors().skip(1).take_while(|path| !path.exists());
        on_the_way.for_each(|path| self.push(Begun::Way(path.to_owned())));
    }

    fn push(&self, begun: Begun) {
        self.begun().push(begun);
    }

    fn begun(&self) -> MutexGuard<'_, Vec<Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything is in its place: from now on nothing is removed.
    ///
    /// # Errors
    /// When a signal came before.
    pub(crate) fn keep(&self) -> Result<()> {
        let mut begun = self.begun();
        self.check()?;
        begun.clear();
        self.kept.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// What was begun belongs to somebody else.
    fn forget(&self) {
        self.begun().clear();
    }

    /// Removes what is not whole.
    pub(crate) fn remove_begun(&self) {
        self.begun().drain(..).for_each(|begun| begun.remove());
    }

    /// Ends the process. The thread that works can keep nothing any more, for the lock is held until then.
    fn end(&self, status: i32) -> ! {
        let mut begun = self.begun();
        if !self.kept.load(Ordering::SeqCst) {
            begun.drain(..).for_each(|begun| begun.remove());
            self.say();
        }
        std::process::exit(status)
    }

    fn say(&self) {
        say!("interrupted: {}", self.words);
    }

    /// The exit status of what was done, when it was given up because of a signal or for another reason.
    pub(crate) fn outcome(&self, outcome: Result<()>) -> Result<ExitCode> {
        match outcome {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                if is_of_others(&error) {
                    self.forget();
                } else {
                    self.remove_begun();
                }
                let signal = self.signal.load(Ordering::SeqCst);
                if signal == 0 {
                    return Err(error);
                }
                self.say();
                Ok(ExitCode::from(128 + signal as u8))
            }
        }
    }
}

/// Whether another process was faster, and owns what is in the folder.
pub(crate) fn is_of_others(error: &anyhow::Error) -> bool {
    use RecordingError::{AlreadyRecorded, BeingWritten, NotAFolder, NotEmpty};
    matches!(
        error.downcast_ref(),
        Some(AlreadyRecorded { .. } | BeingWritten { .. } | NotAFolder { .. } | NotEmpty { .. })
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// Gives up after something was written to a folder.
    fn given_up(folder: &Path) {
        let interrupt = Interrupt::none("");
        interrupt.begin_folder(folder);
        std::fs::create_dir_all(folder.join("calls")).unwrap();
        std::fs::write(folder.join("manifest.json"), "{}").unwrap();
        let _ = std::fs::set_permissions(folder, Permissions::from_mode(0o700));
        assert!(interrupt.outcome(Err(anyhow::anyhow!("no"))).is_err());
    }

    #[test]
    fn nothing_is_left_of_what_was_begun() {
        let folder = tempfile::tempdir().unwrap();
        let count = |path: &Path| std::fs::read_dir(path).unwrap().count();
        given_up(&folder.path().join("new"));
        given_up(&folder.path().join("made/on/the/way"));
        assert_eq!(count(folder.path()), 0);
        // What another put there meanwhile is not lost with it.
        let (one, other) = (folder.path().join("results/one"), folder.path().join("results/other"));
        let interrupt = Interrupt::none("");
        interrupt.begin_folder(&one);
        std::fs::create_dir_all(&one).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        interrupt.remove_begun();
        assert!(!one.exists() && other.exists());
        // A folder that was there stays as it was, also behind a link.
        let own = folder.path().join("own");
        std::fs::create_dir(&own).unwrap();
        std::fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
        symlink(&own, folder.path().join("link")).unwrap();
        for path in [own.clone(), folder.path().join("link")] {
            given_up(&path);
            assert_eq!(count(&path), 0);
            assert_eq!(own.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        }
        assert!(folder.path().join("link").is_symlink());
    }

    #[test]
    fn nothing_is_kept_after_a_signal_and_nothing_is_removed_after_keeping() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let begin = || {
            let interrupt = Interrupt::none("");
            interrupt.begin_folder(&out);
            std::fs::create_dir(&out).unwrap();
            interrupt
        };
        let interrupt = begin();
        interrupt.signal.store(SIGINT, Ordering::SeqCst);
        let late = interrupt.keep();
        assert!(late.is_err());
        assert_eq!(interrupt.outcome(late).unwrap(), ExitCode::from(130));
        assert!(!out.exists());
        let interrupt = begin();
        interrupt.keep().unwrap();
        interrupt.signal.store(SIGINT, Ordering::SeqCst);
        interrupt.remove_begun();
        assert!(out.exists());
        // Another process made the folder meanwhile.
        let interrupt = Interrupt::none("");
        interrupt.begin_folder(&out);
        std::fs::write(out.join("manifest.json"), "{}").unwrap();
        let error = RecordingError::NotEmpty { path: out.clone() };
        assert!(interrupt.outcome(Err(error.into())).is_err());
        assert!(out.join("manifest.json").exists());
    }

    #[test]
    fn what_is_made_while_it_is_removed_is_removed_too() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let interrupt = Interrupt::none("");
        interrupt.begin_folder(&out);
        std::fs::create_dir(&out).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0.. {
                    if std::fs::write(out.join(format!("{number}")), "x").is_err()
                        || is_over.load(Ordering::SeqCst)
                    {
                        break;
                    }
                }
            });
            interrupt.remove_begun();
            is_over.store(true, Ordering::SeqCst);
        });
        assert!(!out.exists());
    }
}
