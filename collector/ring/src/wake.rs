//! How a writer wakes an agent that rests: a word in a file beside the rings, which both map.
//!
//! The agent sleeps while little arrives, instead of polling at the expense of the job; a writer that fills its ring
//! wakes it. A missed wake only costs time: the agent never sleeps without a bound.
#![expect(unsafe_code, reason = "sleeping and waking by a word of memory has no other name")]

use crate::layout::PAGE_BYTES;
use crate::map::{Mapping, above_standard, reserve};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::time::Duration;

/// The name of the file.
pub const WAKE_FILE: &str = "agent.wake";

const AWAKE: u32 = 0;
const RESTING: u32 = 1;
/// Woken by a writer, which has something to be read.
const CALLED: u32 = 2;

/// The side of those who wake. Keeps no file open in a program that is not ours.
#[derive(Debug)]
pub struct Waker {
    mapping: Mapping,
    number: u64,
}

/// The agent's side.
#[derive(Debug)]
pub struct Sleeper {
    waker: Waker,
    file: File,
    /// Woken by its own process, perhaps while it did not rest.
    is_woken: AtomicBool,
}

/// Creates the file, or opens the existing one.
fn open(folder: &Path) -> io::Result<(Waker, File)> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
        .open(folder.join(WAKE_FILE))
        .and_then(above_standard)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    reserve(&file, PAGE_BYTES)?;
    let mapping = Mapping::new(&file, PAGE_BYTES, true)?;
    Ok((Waker { mapping, number: metadata.ino() }, file))
}

impl Waker {
    /// Whoever serves the rings of this folder is woken.
    ///
    /// # Errors
    /// When there is no room or no right.
    pub fn open(folder: &Path) -> io::Result<Self> {
        open(folder).map(|(waker, _)| waker)
    }

    /// Which file it is: those who have the same wake each other.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Wakes the sleeper. Returns whether there was one.
    pub fn call(&self) -> bool {
        self.wake(CALLED)
    }

    fn wake(&self, how: u32) -> bool {
        // What was written before is seen by one who only now goes to rest, or the rest is seen here.
        fence(Ordering::SeqCst);
        let word = self.mapping.word();
        let rests = word.load(Ordering::Relaxed) == RESTING
            && word.compare_exchange(RESTING, how, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if rests {
            wake_all(word);
        }
        rests
    }
}

impl Sleeper {
    /// Rests beside the rings of this folder.
    ///
    /// # Errors
    /// When there is no room or no right.
    pub fn open(folder: &Path) -> io::Result<Self> {
        open(folder).map(|(waker, file)| Self { waker, file, is_woken: AtomicBool::new(false) })
    }

    /// Which file it is.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.waker.number
    }

    /// A file that was cut off must not be touched.
    fn is_whole(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.len() >= PAGE_BYTES as u64)
    }

    /// Rests until it is woken, for so long at the most, and not at all where there is something to do already. Says
    /// whether a writer called; `None` where the file is not what it was.
    pub fn rest(&self, most: Duration, is_needed: impl FnOnce() -> bool) -> Option<bool> {
        self.is_whole().then_some(())?;
        let word = self.waker.mapping.word();
        word.store(RESTING, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !self.is_woken.swap(false, Ordering::Relaxed) && !is_needed() {
            wait(word, most);
            self.is_whole().then_some(())?;
        }
        Some(word.swap(AWAKE, Ordering::Relaxed) == CALLED)
    }

    /// Wakes the one that rests, from another thread of its process.
    pub fn wake(&self) {
        self.is_woken.store(true, Ordering::Relaxed);
        // When it rests it is woken now, and when it goes to rest it sees that it is not to.
        if self.is_whole() && self.waker.wake(AWAKE) {
            self.is_woken.store(false, Ordering::Relaxed);
        }
    }
}

/// Sleeps while the word is set, at most for this time; it may return early for no reason.
fn wait(word: &AtomicU32, most: Duration) {
    let most = libc::timespec {
        tv_sec: most.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(most.subsec_nanos()),
    };
    // SAFETY: the word lives in a mapping that is ours for the time of the call, and so does the timespec.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, RESTING, &raw const most) };
}

fn wake_all(word: &AtomicU32) {
    // SAFETY: as above. The error number belongs to the program, and stays what it was.
    unsafe {
        let number = *libc::__errno_location();
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX);
        *libc::__errno_location() = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn one_that_rests_is_woken_by_others_and_by_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let sleeper = Sleeper::open(folder.path()).unwrap();
        let waker = Waker::open(folder.path()).unwrap();
        assert!(!waker.call(), "nobody rests");
        let (call, wake) = (|| assert!(waker.call()), || sleeper.wake());
        for (wake, is_called) in [(&call as &(dyn Fn() + Sync), true), (&wake, false)] {
            let (resting, rests) = channel();
            std::thread::scope(|scope| {
                let rest = scope.spawn(|| {
                    sleeper.rest(LONG, || {
                        resting.send(()).unwrap();
                        false
                    })
                });
                rests.recv().unwrap();
                wake();
                assert_eq!(rest.join().unwrap(), Some(is_called));
            });
        }
        assert!(!waker.call(), "once is enough");
        sleeper.wake();
        assert_eq!(sleeper.rest(LONG, || false), Some(false), "also when it is woken before");
        assert_eq!(waker.number(), sleeper.number());
    }

    #[test]
    fn one_that_has_something_to_do_or_waited_long_enough_rests_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let sleeper = Sleeper::open(folder.path()).unwrap();
        assert_eq!(sleeper.rest(LONG, || true), Some(false));
        assert_eq!(sleeper.rest(Duration::from_millis(1), || false), Some(false));
    }

    #[test]
    fn a_file_that_was_cut_off_or_is_none_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let sleeper = Sleeper::open(folder.path()).unwrap();
        let path = folder.path().join(WAKE_FILE);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        assert_eq!(sleeper.rest(LONG, || false), None);
        sleeper.wake();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert!(Sleeper::open(folder.path()).is_err());
        assert!(Waker::open(&folder.path().join("none")).is_err());
    }
}
