//! Processes as `/proc` shows them.

use crate::patience::Patience;
use rustix::process::{Pid, Signal, getpriority_process, kill_process, setpriority_process};
use std::time::Duration;

/// The environment variable that marks everything that one command of a test started, however it is related to it now.
pub(crate) const MARK: &str = "MPISCOPE_TEST_MARK";

/// The process of the test that started this one, directly or not.
#[must_use]
pub fn test_of(process: u32) -> Option<u32> {
    variable(process, MARK)?.split_once('-')?.0.parse().ok()
}

/// All processes that run.
#[must_use]
pub fn all() -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether a thread of a process runs: of a killed one the first may be dead before the others. One that is dead and not yet
/// buried does not run.
#[must_use]
pub fn is_running(process: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return false };
    let mut numbers = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse().ok());
    numbers.any(|thread| status(thread).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X')))
}

/// The letter for what a process does, such as `R` where it runs and `S` where it sleeps.
#[must_use]
pub fn state(process: u32) -> Option<char> {
    status(process).map(|(state, _)| state)
}

/// Whether a process is in a system call that sleeps for a while, also where it was stopped in it.
#[must_use]
pub fn was_asleep(process: u32) -> Option<bool> {
    let call = std::fs::read_to_string(format!("/proc/{process}/syscall")).ok()?;
    let number: i64 = call.split_whitespace().next()?.parse().ok()?;
    Some([libc::SYS_clock_nanosleep, libc::SYS_nanosleep, libc::SYS_restart_syscall].contains(&number))
}

/// State and parent.
fn status(process: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let mut words = text.rsplit(')').next()?.split_whitespace();
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// The words of its command line.
#[must_use]
pub fn command_line(process: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    bytes
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// A variable of the environment that a process began with; `None` also when the process is gone.
#[must_use]
pub fn variable(process: u32, name: &str) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{process}/environ")).ok()?;
    let found = environment
        .split(|byte| *byte == 0)
        .find_map(|one| one.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(found).into_owned())
}

/// Whether a process has a file of this name mapped, such as a library.
#[must_use]
pub fn has_loaded(process: u32, name: &str) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    maps.lines().any(|line| line.ends_with(name))
}

/// The running children of a process.
#[must_use]
pub fn children(process: u32) -> Vec<u32> {
    all()
        .into_iter()
        .filter(|&child| {
            status(child).is_some_and(|(state, parent)| parent == process && !matches!(state, 'Z' | 'X'))
        })
        .collect()
}

/// The running processes that carry a mark.
#[must_use]
pub fn marked(mark: &str) -> Vec<u32> {
    let variable = format!("{MARK}={mark}");
    all()
        .into_iter()
        .filter(|&process| {
            let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes()) && is_running(process)
        })
        .collect()
}

/// Sends a signal; one that is gone needs none.
pub fn signal(process: u32, signal: Signal) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = kill_process(process, signal);
    }
}

/// While it lives, this thread and its children have precedence, where the system allows it: to interfere with a job
/// of many ranks that wait by spinning.
#[derive(Debug)]
pub struct GoesFirst(i32);

impl GoesFirst {
    /// From now on.
    #[must_use]
    pub fn new() -> Self {
        let before = getpriority_process(None).unwrap_or_default();
        let _ = setpriority_process(None, -10);
        Self(before)
    }
}

impl Default for GoesFirst {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for GoesFirst {
    fn drop(&mut self) {
        let _ = setpriority_process(None, self.0);
    }
}

/// Looks again and again until there is something, or the patience is over.
pub fn until<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let mut patience = Patience::new(limit);
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if patience.is_over() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
