//! Ctrl-C for commands that write something: what is not whole is removed, and one line says so.
//!
//! Whoever works asks between two steps, gives up by itself and removes what it has begun. Where a step takes too long for
//! somebody who waits, the thread that hears the signal removes it and ends the process.

use crate::run::{bit, ignored_signals};
use anyhow::Result;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A step may take so long after the signal.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Whether somebody wants this to end.
#[derive(Clone)]
pub(crate) struct Interrupt {
    signal: Arc<AtomicI32>,
    begun: Arc<Mutex<Vec<PathBuf>>>,
    /// What is said when nothing comes of it.
    words: Arc<str>,
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
                    shared.remove_begun();
                    shared.say();
                    std::process::exit(128 + signal);
                }
            });
        }
        own
    }

    /// One that nothing interrupts.
    pub(crate) fn none(words: &str) -> Self {
        Self { signal: Arc::default(), begun: Arc::default(), words: words.into() }
    }

    /// Fails when it is time to give up.
    pub(crate) fn check(&self) -> Result<()> {
        if self.signal.load(Ordering::SeqCst) == 0 { Ok(()) } else { Err(Interrupted.into()) }
    }

    /// Something is there that must not stay when this is given up.
    pub(crate) fn begin(&self, path: &Path) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    /// Everything is in its place.
    pub(crate) fn keep(&self) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Removes what is not whole.
    pub(crate) fn remove_begun(&self) {
        for path in self.begun.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // What is gone already needs no removing, and for the rest nobody is left to ask.
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        }
    }

    fn say(&self) {
        say!("interrupted: {}", self.words);
    }

    /// The exit status of what was done, when it was given up because of a signal or for another reason.
    pub(crate) fn outcome(&self, outcome: Result<()>) -> Result<ExitCode> {
        match outcome {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                self.remove_begun();
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
