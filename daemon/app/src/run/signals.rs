//! Signals: passed on to the command, unless the command got them from the terminal as well.

use anyhow::Result;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin, Sent};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The process to pass them to; 0 while there is none.
type Target = Arc<AtomicU32>;

pub(crate) struct Signals {
    target: Target,
}

const PASSED_ON: [(i32, Signal); 6] = [
    (SIGHUP, Signal::HUP),
    (SIGINT, Signal::INT),
    (SIGQUIT, Signal::QUIT),
    (SIGTERM, Signal::TERM),
    (SIGUSR1, Signal::USR1),
    (SIGUSR2, Signal::USR2),
];

impl Signals {
    /// From now on these signals do not end this process.
    pub(crate) fn catch() -> Result<Self> {
        let mut arriving = SignalsInfo::<WithOrigin>::new(PASSED_ON.map(|(number, _)| number))?;
        let target = Target::default();
        let shared = Arc::clone(&target);
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            for origin in arriving.forever() {
                pass_on(&origin, &shared);
            }
        })?;
        Ok(Self { target })
    }

    pub(crate) fn pass_on_to(&self, process: u32) {
        self.target.store(process, Ordering::Release);
    }

    /// The process is over and its number may be another's.
    pub(crate) fn stop(&self) {
        self.target.store(0, Ordering::Release);
    }
}

fn pass_on(origin: &Origin, target: &Target) {
    // A terminal signals the whole group: the command, which is of ours, has got it.
    let by_someone = matches!(origin.cause, Cause::Sent(Sent::User | Sent::Queue | Sent::TKill));
    let known = PASSED_ON.iter().find(|(number, _)| *number == origin.signal);
    let process = i32::try_from(target.load(Ordering::Acquire)).ok().and_then(Pid::from_raw);
    if let (true, Some((_, signal)), Some(process)) = (by_someone, known, process) {
        // A process that is gone meanwhile needs no signal.
        let _ = kill_process(process, *signal);
    }
}
