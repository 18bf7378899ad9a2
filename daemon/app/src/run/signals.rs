//! Signals: passed on to the command, unless the command got them from the terminal as well.

use mpiscope_process::signals::{bit, ignored_signals};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin, Sent};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The process to pass them to; 0 while there is none, with the signals that arrived meanwhile, a bit each.
#[derive(Default)]
struct Target {
    process: AtomicU32,
    early: AtomicU64,
}

pub(crate) struct Signals {
    target: Arc<Target>,
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
    /// From now on these signals do not end this process. Those that are ignored, as under `nohup`, stay ignored, here
    /// and in the command.
    pub(crate) fn catch() -> Self {
        let target = Arc::<Target>::default();
        let shared = Arc::clone(&target);
        let ignored = ignored_signals();
        let wanted = PASSED_ON.iter().map(|(number, _)| *number).filter(|number| ignored & bit(*number) == 0);
        // A system that does not let us catch them ends us instead of the command; that is no reason not to run it.
        if let Ok(mut arriving) = SignalsInfo::<WithOrigin>::new(wanted) {
            let listen = move || arriving.forever().for_each(|origin| pass_on(&origin, &shared));
            let _ = std::thread::Builder::new().name("signals".into()).spawn(listen);
        }
        Self { target }
    }

    /// The command runs: it gets what arrives from now on, and what arrived before it was there.
    pub(crate) fn pass_on_to(&self, process: u32) {
        self.target.process.store(process, Ordering::SeqCst);
        let early = self.target.early.swap(0, Ordering::SeqCst);
        for (number, signal) in PASSED_ON {
            if early & bit(number) != 0 {
                send(process, signal);
            }
        }
    }

    /// The process is over and its number may be another's.
    pub(crate) fn stop(&self) {
        self.target.process.store(0, Ordering::SeqCst);
    }
}

fn pass_on(origin: &Origin, target: &Target) {
    // A terminal signals the whole group: the command, which is of ours, has got it.
    let by_someone = matches!(origin.cause, Cause::Sent(Sent::User | Sent::Queue | Sent::TKill));
    let Some((number, signal)) = PASSED_ON.iter().find(|(number, _)| *number == origin.signal) else {
        return;
    };
    if !by_someone {
        return;
    }
    match target.process.load(Ordering::SeqCst) {
        0 => {
            target.early.fetch_or(bit(*number), Ordering::SeqCst);
        }
        process => send(process, *signal),
    }
}

fn send(process: u32, signal: Signal) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        // A process that is gone meanwhile needs no signal.
        let _ = kill_process(process, signal);
    }
}
