//! Everything the program prints: results on stdout, messages on stderr.
//!
//! No write panics. A result that cannot be written is an error, which ends in one sentence and exit status 2; but a reader
//! that went away has seen enough, and the command exits quietly with its own status. A message that cannot be written is
//! dropped. Processes that a job depends on never wait for stderr: a thread writes their messages, and what nobody reads
//! stays behind. The descriptors are shared with the user's program, so they are never made non-blocking.

use crate::os;
use crate::signals::{bit, ignored_signals};
use anyhow::Result;
use crossbeam_channel::{Sender, bounded};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use signal_hook::consts::SIGXFSZ;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Messages that wait to be written; further ones are dropped.
const MOST_WAITING: usize = 256;
/// How long the start of the program, and the end of a process, wait for a message to be taken.
const WAIT_AT_START: Duration = Duration::from_millis(200);
const WAIT_AT_END: Duration = Duration::from_secs(2);

static WRITER: OnceLock<Writer> = OnceLock::new();
static COLOR: OnceLock<bool> = OnceLock::new();

/// A message on stderr, after the program's name.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::output::write_message(&format!($($words)*)) };
}

/// The thread that writes messages, as others see it.
struct Writer {
    waiting: Sender<Vec<u8>>,
    accepted: AtomicU64,
    written: Mutex<u64>,
    progress: Condvar,
}

impl Writer {
    fn start() -> Self {
        let (waiting, messages) = bounded::<Vec<u8>>(MOST_WAITING);
        let write = move || {
            os::allow_background_output();
            for message in messages {
                // Nobody is left to report to.
                let _ = write_all(rustix::stdio::stderr(), &message);
                if let Some(writer) = WRITER.get() {
                    *writer.written.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                    writer.progress.notify_all();
                }
            }
        };
        // Without the thread messages are dropped.
        let _ = std::thread::Builder::new().name("messages".into()).spawn(write);
        Self { waiting, accepted: AtomicU64::new(0), written: Mutex::new(0), progress: Condvar::new() }
    }

    fn take(&self, message: Vec<u8>) {
        if self.waiting.try_send(message).is_ok() {
            self.accepted.fetch_add(1, Ordering::Release);
        }
    }

    /// Waits until all messages are written, or none was for so long.
    fn settle(&self, limit: Duration) {
        let accepted = self.accepted.load(Ordering::Acquire);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        while *written < accepted {
            let before = *written;
            let waited = self.progress.wait_timeout_while(written, limit, |written| *written == before);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                return;
            }
            written = now;
        }
    }
}

/// From now on no write of this process can end it or hold it up: a job depends on it.
pub fn never_block() {
    WRITER.get_or_init(Writer::start);
    // A write beyond the limit of file sizes (`ulimit -f`) then fails, instead of ending the process. The program does not
    // inherit a handler, as it would an ignored signal.
    if ignored_signals() & bit(SIGXFSZ) == 0 {
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    }
}

/// Messages of panics go the way of all messages.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = Backtrace::capture();
        match backtrace.status() {
            BacktraceStatus::Captured => say!("internal error: {panic}\n{backtrace}"),
            _ => say!("internal error: {panic}"),
        }
    }));
}

/// An error with its causes. Some libraries repeat the cause in their own text: it is named once.
pub fn error_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.ends_with(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    line
}

/// Writes a message to stderr; see [`say!`].
pub fn write_message(text: &str) {
    write_line(&format!("mpiscope: {text}"));
}

/// Writes a line to stderr as it is.
pub fn write_line(text: &str) {
    let line = format!("{text}\n").into_bytes();
    match WRITER.get() {
        Some(writer) => writer.take(line),
        None => {
            let _ = write_all(rustix::stdio::stderr(), &line);
        }
    }
}

/// Before the program starts: its first words come after what was printed until now, unless nobody reads that.
pub fn settle() {
    if let Some(writer) = WRITER.get() {
        writer.settle(WAIT_AT_START);
    }
}

/// The end of the process: what is left is written, unless nobody reads it.
pub fn finish() {
    if let Some(writer) = WRITER.get() {
        writer.settle(WAIT_AT_END);
    }
    // The partitioning library may keep words of its own until now. They must not get among the results.
    let _ = rustix::stdio::dup2_stdout(rustix::stdio::stderr());
}

/// Prints a result on stdout.
///
/// # Errors
/// When it cannot be written though somebody may read it.
pub fn print(text: &str) -> Result<()> {
    match Stdout.write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Prints help or the version on stdout, or help that nobody asked for on stderr.
///
/// # Errors
/// When stdout cannot be written to.
pub fn print_help(plain: &str, colored: &str, is_asked_for: bool) -> Result<()> {
    let to = if is_asked_for { rustix::stdio::stdout() } else { rustix::stdio::stderr() };
    let text = if is_colored(to) { colored } else { plain };
    if is_asked_for {
        return print(text);
    }
    let _ = write_all(to, text.as_bytes());
    Ok(())
}

/// Sets that text is always colored, or never. Without it, the terminal decides.
pub fn color(is_always: bool) {
    let _ = COLOR.set(is_always);
}

fn is_colored(to: BorrowedFd<'_>) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    COLOR.get().copied().unwrap_or_else(|| {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        to.is_terminal() && !is_set("NO_COLOR") && !is_dumb
    })
}

/// A part of a result that stands out where there are colors.
pub fn bold(text: &str) -> String {
    if is_colored(rustix::stdio::stdout()) { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// The standard output, without a buffer.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        write_all(rustix::stdio::stdout(), bytes).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot write to the standard output: {error}"))
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            // Somebody who shares the descriptor made it non-blocking.
            Err(Errno::AGAIN) => match poll(&mut [PollFd::from_borrowed_fd(to, PollFlags::OUT)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            },
            // It was closed when the program was started: nobody wants to read.
            Err(Errno::BADF) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::error_line;
    use anyhow::{Context as _, anyhow};

    #[derive(Debug)]
    struct Repeating(std::io::Error);

    impl std::fmt::Display for Repeating {
        fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(to, "External: {}", self.0)
        }
    }

    impl std::error::Error for Repeating {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_cause_is_named_once() {
        let full = || std::io::Error::from_raw_os_error(28);
        let error = anyhow!(Repeating(full())).context("write the table");
        assert_eq!(error_line(&error), format!("write the table: External: {}", full()));
        let error = Err::<(), _>(full()).context("write a").context("export").unwrap_err();
        assert_eq!(error_line(&error), format!("export: write a: {}", full()));
    }
}
