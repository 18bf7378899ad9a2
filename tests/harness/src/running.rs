//! Commands under a time limit, with everything they start.

use crate::patience::Patience;
use crate::processes::{self, MARK};
use anyhow::{Context as _, Result, bail};
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use std::io::{Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a command may take before it counts as hung, on a machine of its own ([`Patience`]). This says nothing of how fast it
/// should be: what measures time is a benchmark.
pub const LIMIT: Duration = Duration::from_secs(180);

/// How long killed processes get to end.
const PATIENCE: Duration = Duration::from_secs(5);

static NUMBER: AtomicU64 = AtomicU64::new(0);
static NO_CORES: Once = Once::new();

/// How a command ended and what it said.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its exit status as a shell would say it.
    pub status: i32,
    /// All it and its children wrote to stdout.
    pub stdout: Vec<u8>,
    /// And to stderr.
    pub stderr: Vec<u8>,
}

impl Ended {
    /// What it wrote to stderr, as text.
    #[must_use]
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// What it wrote to stdout, as text.
    #[must_use]
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Seconds that the program's steps took by its own clock, where it is one that says so (`tests/apps/patterns.c`).
    ///
    /// # Panics
    ///
    /// If it did not say so.
    #[must_use]
    pub fn own_clock_s(&self) -> f64 {
        let output = self.output();
        let words = output.lines().find_map(|line| line.strip_prefix("took ")?.strip_suffix(" ns"));
        words.and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_else(|| panic!("no time in {output:?}")) / 1e9
    }
}

/// What a pipe has brought until now.
#[derive(Debug)]
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Collected {
    /// What is no pipe brings nothing.
    fn start(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut chunk = vec![0; 64 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                shared.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..count]);
            }
        });
        Self { bytes, reader }
    }

    fn now(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Signals are as in a fresh login, whatever whoever started the tests ignores or blocks: under `nohup`, or in the
/// background of a script, a command would inherit that SIGHUP or SIGINT is ignored, and from a profiler SIGUSR2.
#[expect(unsafe_code, reason = "signals can only be set between fork and exec")]
fn reset_signals(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    const RESET: [i32; 7] = [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGPIPE,
        libc::SIGUSR1,
        libc::SIGUSR2,
    ];
    // SAFETY: these functions may be called between fork and exec, and only the new process is changed.
    unsafe {
        command.pre_exec(|| {
            for signal in RESET {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            Ok(())
        });
    }
}

/// A command that runs. When it is dropped, it and everything it started is killed.
#[derive(Debug)]
pub struct Running {
    child: Child,
    mark: String,
    stdout: Collected,
    stderr: Collected,
}

impl Running {
    /// Starts a command; it finds nothing on its standard input.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> Result<Self> {
        Self::start_with_input(command, Vec::new())
    }

    /// Starts a command that finds these bytes on its standard input, and then its end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_with_input(command: &mut Command, input: Vec<u8>) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::start_as_it_is(command, input)
    }

    /// Starts a command with the standard descriptors that it was given. Where these are pipes it finds the bytes on its
    /// input, and what it writes is kept.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_as_it_is(command: &mut Command, input: Vec<u8>) -> Result<Self> {
        // Some test programs are meant to crash. A limit that cannot be set costs a few files, no test.
        NO_CORES.call_once(|| {
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        });
        let mark = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        reset_signals(command);
        let mut child = command.env(MARK, &mark).spawn().with_context(|| format!("start {command:?}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            std::thread::spawn(move || {
                // A command that does not read its input to the end breaks the pipe.
                let _ = stdin.write_all(&input);
            });
        }
        let stdout = Collected::start(child.stdout.take());
        let stderr = Collected::start(child.stderr.take());
        Ok(Self { child, mark, stdout, stderr })
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Everything it started that still runs, itself included.
    #[must_use]
    pub fn family(&self) -> Vec<u32> {
        processes::marked(&self.mark)
    }

    /// What it has written to stdout until now.
    #[must_use]
    pub fn output_until_now(&self) -> String {
        String::from_utf8_lossy(&self.stdout.now()).into_owned()
    }

    /// What it has written to stderr until now.
    #[must_use]
    pub fn errors_until_now(&self) -> String {
        String::from_utf8_lossy(&self.stderr.now()).into_owned()
    }

    /// Waits until it and everything that writes where it writes is over.
    ///
    /// # Errors
    /// When that takes longer than the limit; all of it is killed then.
    pub fn wait(mut self, limit: Duration) -> Result<Ended> {
        let mut patience = Patience::new(limit);
        let mut status = None;
        while status.is_none() || !self.stdout.reader.is_finished() || !self.stderr.reader.is_finished() {
            if patience.is_over() {
                self.kill_all();
                bail!(
                    "not over after {limit:?} ({}); stdout:\n{}\nstderr:\n{}",
                    if status.is_some() { "something it started still runs" } else { "it still runs" },
                    self.output_until_now(),
                    self.errors_until_now()
                );
            }
            status = status.or(self.child.try_wait()?);
            std::thread::sleep(Duration::from_millis(2));
        }
        let status = status.context("a process that ended has a status")?;
        let status = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        Ok(Ended {
            status: status.context("neither a status nor a signal")?,
            stdout: self.stdout.now(),
            stderr: self.stderr.now(),
        })
    }

    fn kill_all(&mut self) {
        // Again and again, for what was being started meanwhile; a killed process takes a moment to end.
        processes::until(PATIENCE, || {
            let family = self.family();
            family.iter().for_each(|&process| processes::signal(process, Signal::KILL));
            family.is_empty().then_some(())
        });
        // Otherwise a dead child stays in the table of processes.
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started, or is not over within the limit.
pub fn run(command: &mut Command, limit: Duration) -> Result<Ended> {
    Running::start(command)?.wait(limit)
}

/// Runs a command that finds these bytes on its standard input.
///
/// # Errors
/// When it cannot be started, or is not over within the limit.
pub fn run_with_input(command: &mut Command, input: Vec<u8>, limit: Duration) -> Result<Ended> {
    Running::start_with_input(command, input)?.wait(limit)
}

/// Cases that [`all_of`] works on at a time.
const AT_ONCE: usize = 4;

/// Works on all cases, several at a time.
///
/// # Panics
/// When the work on one does.
pub fn all_of<T: Send>(cases: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter().collect::<Vec<_>>());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let case = cases.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    let Some(case) = case else { return };
                    work(case);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn input_output_and_status_come_through() {
        let ended =
            run_with_input(&mut shell("cat; echo no >&2; exit 3"), b"yes".to_vec(), Duration::from_secs(10))
                .unwrap();
        assert_eq!((ended.status, ended.output().as_str(), ended.errors().as_str()), (3, "yes", "no\n"));
        let killed = run(&mut shell("kill -SEGV $$"), Duration::from_secs(10)).unwrap();
        assert_eq!(killed.status, 139);
    }

    #[test]
    fn the_time_limit_kills_everything_that_was_started() {
        let mut command = shell("echo begun; setsid sleep 1000 & (sleep 1000; true)");
        let running = Running::start(&mut command).unwrap();
        let mark = running.mark.clone();
        let found = || (processes::marked(&mark).len() >= 4).then_some(());
        processes::until(Duration::from_secs(10), found).unwrap();
        let error = running.wait(Duration::from_millis(100)).unwrap_err().to_string();
        assert!(error.contains("it still runs") && error.contains("begun"), "{error}");
        assert_eq!(processes::marked(&mark), Vec::<u32>::new());
    }

    #[test]
    fn what_lingers_behind_the_command_counts_as_not_over() {
        let error = run(&mut shell("sleep 1000 &"), Duration::from_millis(300)).unwrap_err().to_string();
        assert!(error.contains("something it started still runs"), "{error}");
    }

    #[test]
    fn a_missing_command_is_reported() {
        let error = run(&mut Command::new("/does/not/exist"), Duration::from_secs(1)).unwrap_err();
        assert!(format!("{error:#}").contains("/does/not/exist"));
    }
}
