//! What the scheduler did to a process: a rank that waits for a processor must not look like a slow network.

use super::cpus::CpuWatch;
use super::proc_file::KeptFile;
use mpiscope_ring::clock::monotonic_ns;
use mpiscope_wire::{Cpus, Scheduling};
use std::fs;
use std::io;

/// One of this many looks reads the status too, with switches and CPUs: the system takes long to write it.
const STATUS_EVERY: u32 = 10;

/// Looks at the first thread of a process, the one that most programs call MPI from, again and again.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    times: KeptFile,
    stat: KeptFile,
    looks: u32,
    looked_ns: Option<u64>,
    state: Halt,
    last_sent: Option<Scheduling>,
    cpus: CpuWatch,
    new_cpus: Option<Cpus>,
}

impl Scheduler {
    /// The CPUs of the process, if the last looks found that they changed.
    pub(crate) fn take_cpus(&mut self) -> Option<Cpus> {
        self.new_cpus.take()
    }

    /// The CPUs of the process as they were reported last, or as they are if they never were.
    pub(crate) fn cpus(&mut self, pid: u32, process: u32) -> Option<Cpus> {
        if let Some(reported) = self.cpus.reported() {
            return Some(reported.clone());
        }
        self.cpus.changed(pid, process, &status(pid)?)
    }

    /// The figures, when they have changed; `None` also when the process is gone or the system does not tell.
    pub(crate) fn look(&mut self, pid: u32, process: u32) -> Option<Scheduling> {
        let monotonic_ns = monotonic_ns();
        let (run_ns, wait_ns) = self.times(pid)?;
        // Before the first look it did nothing that counts.
        let last = self.last_sent.unwrap_or(Scheduling { run_ns, wait_ns, ..Scheduling::default() });
        let mut switches = (last.voluntary, last.involuntary);
        let looks_closer = self.looks.is_multiple_of(STATUS_EVERY);
        if looks_closer && let Some(status) = status(pid) {
            switches = self::switches(&status).unwrap_or(switches);
            self.new_cpus = self.cpus.changed(pid, process, &status).or(self.new_cpus.take());
        }
        self.looks += 1;
        let (voluntary, involuntary) = switches;
        let looked_ns = self.looked_ns.replace(monotonic_ns).unwrap_or(monotonic_ns);
        let since_ns = monotonic_ns.saturating_sub(looked_ns);
        // It neither ran nor waited for a processor for so long.
        let moved_ns = run_ns.saturating_sub(last.run_ns) + wait_ns.saturating_sub(last.wait_ns);
        let idle_ns = since_ns.saturating_sub(moved_ns);
        // A process that ran all the time need not be asked.
        let is_idle = 4 * idle_ns > since_ns;
        let stat = if looks_closer || is_idle {
            Stat::parse(&self.stat(pid).unwrap_or_default())
        } else {
            Stat::default()
        };
        let [stopped_ns, blocked_ns] = self.halted_ns(if is_idle { stat.halt } else { Halt::Free }, idle_ns);
        let figures = Scheduling {
            process,
            monotonic_ns,
            run_ns,
            wait_ns,
            voluntary,
            involuntary,
            stopped_ns: last.stopped_ns + stopped_ns,
            blocked_ns: last.blocked_ns + blocked_ns,
            major_faults: stat.major_faults.unwrap_or(last.major_faults),
        };
        let same =
            self.last_sent.is_some_and(|last_sent| Scheduling { monotonic_ns, ..last_sent } == figures);
        if same {
            return None;
        }
        self.last_sent = Some(figures);
        self.last_sent
    }

    /// Nanoseconds on a processor, and waiting for one.
    fn times(&mut self, pid: u32) -> Option<(u64, u64)> {
        let text = self.times.read(|| format!("/proc/{pid}/schedstat")).ok()?;
        let mut numbers = text.split_whitespace().map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    /// What the system says of the process in one line.
    pub(crate) fn stat(&mut self, pid: u32) -> io::Result<String> {
        self.stat.read(|| format!("/proc/{pid}/stat"))
    }

    /// How long the process was stopped, and blocked, since the last look, by its state now. It neither ran nor waited for a
    /// processor for `idle_ns` of that time.
    fn halted_ns(&mut self, state: Halt, idle_ns: u64) -> [u64; 2] {
        let states = [std::mem::replace(&mut self.state, state), state];
        // It was stopped or blocked, or went on, about halfway between two looks.
        [Halt::Stopped, Halt::Blocked]
            .map(|kind| states.iter().filter(|state| **state == kind).count() as u64 * (idle_ns / 2))
    }
}

fn status(pid: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/status")).ok()
}

/// Switches by its own will, and against it.
fn switches(status: &str) -> Option<(u64, u64)> {
    let figure = |name: &str| status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
    Some((figure("voluntary_ctxt_switches:")?, figure("nonvoluntary_ctxt_switches:")?))
}

/// How the kernel has a process that does not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Halt {
    /// It runs, or may go on whenever something happens.
    #[default]
    Free,
    /// A signal or a debugger has stopped it.
    Stopped,
    /// It sleeps in the kernel and cannot be interrupted.
    Blocked,
}

/// What the system says of a process in one line.
#[derive(Debug, Default)]
struct Stat {
    halt: Halt,
    /// Major page faults; `None` where they cannot be read.
    major_faults: Option<u64>,
}

impl Stat {
    fn parse(text: &str) -> Self {
        // The name of the program is in parentheses and may contain some.
        let Some((_, rest)) = text.rsplit_once(')') else { return Self::default() };
        let mut words = rest.split_whitespace();
        let halt = match words.next() {
            Some("T" | "t") => Halt::Stopped,
            Some("D") => Halt::Blocked,
            _ => Halt::Free,
        };
        Self { halt, major_faults: words.nth(8).and_then(|number| number.parse().ok()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Halt, Scheduler, Stat};
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    #[test]
    fn a_process_that_works_is_seen_working_and_one_that_is_gone_is_not() {
        let mut busy =
            Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap();
        let mut scheduler = Scheduler::default();
        let before = scheduler.look(busy.id(), 7).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let after = scheduler.look(busy.id(), 7).unwrap();
        busy.kill().unwrap();
        busy.wait().unwrap();
        assert_eq!(after.process, 7);
        assert!(after.run_ns > before.run_ns, "{before:?} {after:?}");
        assert!(scheduler.look(busy.id(), 7).is_none());
    }

    #[test]
    fn the_name_of_a_program_may_be_anything() {
        let stat = Stat::parse("7 (a) D 1 (b) T 1 7 7 0 -1 4194304 20 21 22 23 24 25");
        assert_eq!((stat.halt, stat.major_faults), (Halt::Stopped, Some(22)));
        let stat = Stat::parse("7 (a) D");
        assert_eq!((stat.halt, stat.major_faults), (Halt::Blocked, None));
    }

    #[test]
    fn a_stopped_process_is_seen_stopped_and_one_that_sleeps_is_not() {
        let [mut stopped, mut asleep] =
            [(), ()].map(|()| Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap());
        let [mut of_stopped, mut of_asleep] = [Scheduler::default(), Scheduler::default()];
        of_stopped.look(stopped.id(), 1).unwrap();
        of_asleep.look(asleep.id(), 2).unwrap();
        kill_process(Pid::from_child(&stopped), Signal::STOP).unwrap();
        // A signal may take a moment to arrive.
        let mut stopped_ns = [0; 2];
        for _ in 0..500 {
            std::thread::sleep(Duration::from_millis(20));
            let looks = [of_stopped.look(stopped.id(), 1), of_asleep.look(asleep.id(), 2)];
            for (most_ns, figures) in stopped_ns.iter_mut().zip(looks) {
                *most_ns = figures.map_or(*most_ns, |figures| figures.stopped_ns);
            }
            if stopped_ns[0] >= 50_000_000 {
                break;
            }
        }
        for child in [&mut stopped, &mut asleep] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(stopped_ns[0] >= 50_000_000, "{stopped_ns:?}");
        assert_eq!(stopped_ns[1], 0);
    }
}
