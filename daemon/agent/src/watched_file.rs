//! One ring file that is watched.

use super::flight_buffer::{FlightBuffer, most_slots};
use super::proc_file;
use super::scheduling::Scheduler;
use mpiscope_ring::clock::clock_sample;
use mpiscope_ring::{Consumer, Corrupt, Reader, State};
use mpiscope_wire::{
    ClockKind, ClockSample, EndState, Flight, LastCalls, Lost, Message, Process, Skipped, Slot, Unrecorded,
};
use rustix::io::Errno;
use rustix::process::Pid;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Slots of one ring in one pass at the most: a quarter of a megabyte. Short passes give room back soon, and a writer
/// that sees its room grow waits instead of dropping.
pub(crate) const MOST_SLOTS: usize = 1 << 13;

pub(crate) struct WatchedFile {
    path: PathBuf,
    reader: Reader,
    /// The number of the file by which its writers wake an agent that rests.
    pub(crate) waker: u64,
    process: Process,
    /// The position of the next slot of each ring.
    positions: Vec<u64>,
    /// Whether anything was read and not given back; of what a predecessor read, nobody knows.
    unreleased: bool,
    /// Rings whose positions made no sense; they are not read again.
    damaged: Vec<bool>,
    /// Up to where the rings were written when it was first asked whether something is left; none before.
    left_until: Vec<u64>,
    lost_sent: Option<Lost>,
    told_unrecorded: u64,
    /// What is read and not told yet, while recording is off and the newest is wanted all the same.
    buffer: Option<FlightBuffer>,
    /// Calls that were held once and let go.
    left_out: u64,
    scheduler: Scheduler,
    unreadable: u64,
    alive: bool,
}

/// What reading a ring file once led to.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) slots: usize,
    pub(crate) busy: bool,
    pub(crate) fault: Option<String>,
}

impl WatchedFile {
    pub(crate) fn new(path: PathBuf, reader: Reader, process: Process, positions: Vec<u64>) -> Self {
        let damaged = vec![false; positions.len()];
        Self {
            path,
            waker: reader.waker(),
            reader,
            process,
            positions,
            unreleased: true,
            damaged,
            left_until: Vec::new(),
            lost_sent: None,
            told_unrecorded: 0,
            buffer: None,
            left_out: 0,
            scheduler: Scheduler::default(),
            unreadable: 0,
            alive: true,
        }
    }

    /// Its file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whose it is.
    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Up to where everything of each ring was sent.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.positions.iter().enumerate().map(|(ring, &position)| {
            (ring as u32, self.buffer.as_ref().map_or(position, |buffer| buffer.from(ring)))
        })
    }

    /// Whether it is of this process, known by its number and when it made its rings.
    pub(crate) fn is_of(&self, pid: u32, made_ns: u64) -> bool {
        (self.process.pid, self.process.made_ns) == (pid, made_ns)
    }

    /// Where a position makes no sense for the ring, for instance because the log could not be written, reading goes on
    /// where the writer's side says; what lies between is reported as missing.
    pub(crate) fn sound_position(reader: &Reader, ring: usize, position: u64) -> u64 {
        let sound = reader.consumer(ring, Some(position)).read(0, &mut Vec::new()).is_ok();
        if sound { position } else { reader.consumer(ring, None).position() }
    }

    /// The rings as what stands in their heads needs them: nothing is read from a position.
    fn heads(&self) -> impl Iterator<Item = Consumer<'_>> {
        (0..self.positions.len()).map(|ring| self.reader.consumer(ring, Some(0)))
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive
    }

    /// Whether this number of slots waits in one of its rings, or enough for the ring to become full soon.
    pub(crate) fn holds(&self, slots: usize) -> bool {
        let mut sound = self.positions.iter().enumerate().filter(|(ring, _)| !self.damaged[*ring]);
        // Where it was cut off, reading says so.
        let is_whole = self.reader.is_whole();
        sound.any(|(ring, &position)| !is_whole || self.reader.consumer(ring, Some(position)).holds(slots))
    }

    /// Reads what is in the rings, by way of `read_slots`; nothing is given back yet.
    pub(crate) fn read(&mut self, read_slots: &mut Vec<Slot>, tell: &mut dyn FnMut(Message)) -> Read {
        let mut read = Read::default();
        if !self.reader.is_whole() {
            if self.damaged.iter().any(|damaged| !damaged) {
                self.damaged.fill(true);
                self.unreadable += 1;
                read.fault =
                    Some(format!("the ring of process {} was cut off by somebody", self.process.pid));
            }
            return read;
        }
        for ring in 0..self.positions.len() {
            if self.damaged[ring] {
                continue;
            }
            match self.read_ring(ring, read_slots, tell) {
                Ok(count) => {
                    read.slots += count;
                    read.busy |= count >= MOST_SLOTS / 2;
                }
                Err(corrupt) => {
                    self.damaged[ring] = true;
                    self.unreadable += 1;
                    read.fault = Some(format!(
                        "ring {ring} of process {} says that it wrote {} slots when {} were read: not read again",
                        self.process.pid, corrupt.head, corrupt.tail
                    ));
                }
            }
        }
        read
    }

    /// Buffers the next slots of a ring or hands them on. Returns how many they are.
    fn read_ring(
        &mut self,
        ring: usize,
        slots: &mut Vec<Slot>,
        tell: &mut dyn FnMut(Message),
    ) -> Result<usize, Corrupt> {
        let mut consumer = self.reader.consumer(ring, Some(self.positions[ring]));
        slots.clear();
        let count = consumer.read(MOST_SLOTS, slots)?;
        if count > 0 {
            self.unreleased = true;
            let from = self.positions[ring];
            self.positions[ring] = consumer.position();
            let (process, number) = (self.process.process, ring as u32);
            match &mut self.buffer {
                Some(buffer) => buffer.take(ring, slots, &consumer),
                None => tell(Message::of_slots(process, number, from, slots)),
            }
        }
        Ok(count)
    }

    /// Gives back what was read.
    pub(crate) fn release(&mut self) {
        if !std::mem::take(&mut self.unreleased) || !self.reader.is_whole() {
            return;
        }
        for (ring, &position) in self.positions.iter().enumerate() {
            if !self.damaged[ring] {
                self.reader.consumer(ring, Some(position)).release();
            }
        }
    }

    /// Looks how the process stands and what it lost; tells when that changed.
    pub(crate) fn look(&mut self, tell: &mut dyn FnMut(Message)) {
        let is_alive = self.is_running();
        let lived = std::mem::replace(&mut self.alive, is_alive);
        if !self.reader.is_whole() {
            return;
        }
        self.tell_unrecorded(tell);
        if lived && !self.alive {
            // Its end is something that happened.
            self.hand_out(tell);
            self.tell_last_calls(tell);
        }
        let ring_full = self.heads().map(|head| head.dropped_calls()).fold(0, u64::saturating_add);
        let state = match (self.reader.state(), self.alive) {
            (State::Finalized, _) => EndState::Finalized,
            (State::Aborted, _) => EndState::Aborted,
            (State::Running, true) => EndState::Running,
            (State::Running, false) => EndState::Vanished,
        };
        let lost = Lost {
            process: self.process.process,
            ring_full,
            no_ring: self.reader.unrecorded_calls(),
            unreadable: self.unreadable,
            state,
        };
        if self.lost_sent != Some(lost) {
            self.lost_sent = Some(lost);
            tell(Message::Lost(lost));
        }
    }

    fn is_running(&mut self) -> bool {
        let pid = self.process.pid;
        match self.scheduler.stat(pid) {
            // While its first thread runs the others need not be asked.
            Ok(stat) if says_running(&stat) => true,
            // It is gone with all its threads, and its number may be another's by now.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => false,
            _ => has_running_thread(pid),
        }
    }

    /// Lets the threads of the process write nothing more, or again.
    pub(crate) fn pause(&self, paused: bool) {
        if self.reader.is_whole() {
            self.heads().for_each(|head| head.pause(paused));
        }
    }

    /// From here on slots are held back, each for so long.
    pub(crate) fn hold(&mut self, span: Duration) {
        if self.alive && self.buffer.is_none() && self.reader.is_whole() {
            let generations = self.heads().map(|head| head.told_anew().0);
            self.buffer = Some(FlightBuffer::new(span, self.positions.iter().copied().zip(generations)));
        }
    }

    /// Lets go what was held for long enough, where there are this many processes.
    pub(crate) fn thin(&mut self, processes: usize, tell: &mut dyn FnMut(Message)) {
        let Some(buffer) = self.buffer.as_mut().filter(|_| self.reader.is_whole()) else { return };
        let most_slots = most_slots(processes);
        for ring in buffer.thin(most_slots) {
            let (process, to) = (self.process.process, buffer.from(ring as usize));
            tell(Message::Skipped(Skipped { process, ring, to }));
        }
        if buffer.asks(most_slots) {
            self.heads().for_each(|head| head.ask_anew());
        }
    }

    /// Tells what was held back. Says for how long slots could be held at the least, where there was no room for them all.
    pub(crate) fn hand_out(&mut self, tell: &mut dyn FnMut(Message)) -> Option<Duration> {
        let mut buffer = self.buffer.take()?;
        let process = self.process.process;
        buffer.hand_out(MOST_SLOTS, |ring, from, slots| {
            tell(Message::of_slots(process, ring, from, &slots));
        });
        self.left_out += buffer.left_out;
        self.tell_unrecorded(tell);
        buffer.shortest
    }

    /// Tells how many calls were made while recording was off, when these are more.
    fn tell_unrecorded(&mut self, tell: &mut dyn FnMut(Message)) {
        let left_out = self.left_out + self.buffer.as_ref().map_or(0, |buffer| buffer.left_out);
        let calls = self.heads().map(|head| head.paused_calls()).fold(left_out, u64::saturating_add);
        if std::mem::replace(&mut self.told_unrecorded, calls) != calls {
            tell(Message::Unrecorded(Unrecorded { process: self.process.process, calls }));
        }
    }

    /// Tells what the scheduler did to the process, when that changed.
    pub(crate) fn schedule(&mut self, tell: &mut dyn FnMut(Message)) {
        if !self.alive {
            return;
        }
        if let Some(figures) = self.scheduler.look(self.process.pid, self.process.process) {
            tell(Message::Scheduling(figures));
        }
        if let Some(cpus) = self.scheduler.take_cpus() {
            tell(Message::Cpus(cpus));
        }
    }

    /// Tells which CPUs the process may use.
    pub(crate) fn tell_cpus(&mut self, tell: &mut dyn FnMut(Message)) {
        if let Some(cpus) = self.scheduler.cpus(self.process.pid, self.process.process) {
            tell(Message::Cpus(cpus));
        }
    }

    /// The process is gone: its rings still say which calls its threads were in.
    fn tell_last_calls(&self, tell: &mut dyn FnMut(Message)) {
        let calls: Vec<Flight> = self.entered(clock_sample()).collect();
        if !calls.is_empty() {
            tell(Message::LastCalls(LastCalls { process: self.process.process, calls }));
        }
    }

    /// The calls that the threads of the process are in, if it lives. `now` is of both clocks.
    pub(crate) fn in_flight(&self, now: ClockSample) -> impl Iterator<Item = Flight> + '_ {
        self.entered(now).filter(|_| self.alive)
    }

    /// The calls that its threads have entered and not left.
    fn entered(&self, now: ClockSample) -> impl Iterator<Item = Flight> + '_ {
        let rings = if self.reader.is_whole() { self.positions.len() } else { 0 };
        let now = match self.process.clock {
            ClockKind::TimeStampCounter => now.ticks,
            ClockKind::Monotonic => now.monotonic_ns,
        };
        (0..rings).filter(|&ring| !self.damaged[ring]).filter_map(move |ring| {
            let seen = self.reader.in_flight(ring, now)?;
            Some(Flight {
                process: self.process.process,
                rank: self.process.rank,
                thread: seen.thread,
                function: seen.function,
                site: seen.site,
                since_ticks: seen.since_ticks,
                asked: seen.asked,
            })
        })
    }

    /// How many slots of each ring were not read; none of one that is not read again.
    fn unread(&self) -> impl Iterator<Item = u64> + '_ {
        let is_whole = self.reader.is_whole();
        self.positions.iter().enumerate().map(move |(ring, &position)| {
            if is_whole && !self.damaged[ring] {
                self.reader.consumer(ring, Some(position)).waiting()
            } else {
                0
            }
        })
    }

    /// Whether something was not read that was in its rings when this was first asked. What comes later does not count: it may
    /// come without end.
    pub(crate) fn has_left(&mut self) -> bool {
        if self.left_until.is_empty() {
            let unread = self.unread().zip(&self.positions);
            self.left_until = unread.map(|(unread, position)| position.saturating_add(unread)).collect();
        }
        let rings = self.unread().zip(self.positions.iter().zip(&self.left_until));
        rings.into_iter().any(|(unread, (position, until))| unread > 0 && position < until)
    }

    /// The process is gone and everything was read: its file is removed. Otherwise many programs in a row would fill
    /// shared memory.
    pub(crate) fn is_over(&mut self) -> bool {
        if self.alive {
            return false;
        }
        if self.unread().any(|unread| unread > 0) {
            return false;
        }
        // One that cannot be removed goes with its folder.
        let _ = std::fs::remove_file(&self.path);
        true
    }
}

/// Whether a thread of this process runs: its first may have ended before the others. One that is dead and not yet
/// buried does not run.
pub fn is_running(pid: u32) -> bool {
    // While its first thread runs the others need not be asked.
    proc_file::read(&format!("/proc/{pid}/stat")).is_ok_and(|stat| says_running(&stat))
        || has_running_thread(pid)
}

fn has_running_thread(pid: u32) -> bool {
    match std::fs::read_dir(format!("/proc/{pid}/task")) {
        Ok(threads) => threads.flatten().any(|thread| is_thread_running(&thread.path())),
        Err(error) => !says_gone(&error) && exists(pid),
    }
}

/// Whether the system says that a process or thread is gone. Anything else, such as too many open files, says nothing.
fn says_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || Errno::from_io_error(error) == Some(Errno::SRCH)
}

fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(Errno::SRCH))
}

fn is_thread_running(thread: &Path) -> bool {
    match std::fs::read_to_string(thread.join("stat")) {
        Ok(stat) => says_running(&stat),
        Err(error) => !says_gone(&error),
    }
}

fn says_running(stat: &str) -> bool {
    // The name of the program, in parentheses, may hold anything.
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_gone_only_if_the_system_says_so() {
        for (error, gone) in
            [(Errno::NOENT, true), (Errno::SRCH, true), (Errno::MFILE, false), (Errno::NOMEM, false)]
        {
            assert_eq!(says_gone(&error.into()), gone, "{error}");
        }
        assert!(exists(std::process::id()) && is_running(std::process::id()));
        assert!(!exists(u32::MAX) && !is_running(u32::MAX));
    }
}
