//! The agent of one host: it finds the rings that ranks make, drains them, and hands on what it reads as messages.
//!
//! In: the files of rings, and where an earlier agent stopped. Out: messages, first into the journal and then to whoever
//! takes them. It never gives a slot back to its writer before the journal has it. Nothing is lost when this
//! process dies: a successor goes on where the journal stops. In the daemon the journal is the log of the run; on other
//! hosts it is a spool from which everything is brought to the daemon.

mod cpus;
mod finder;
mod flight_buffer;
mod journal;
mod outbox;
mod pace;
mod proc_file;
mod resume;
mod scheduling;
#[cfg(test)]
mod tests;
mod timer;
mod unread;
mod watched_file;

use finder::Finder;
use mpiscope_process::local_host::host_name;
use mpiscope_ring::Sleeper;
use mpiscope_ring::clock::{clock_sample, monotonic_ns};
use mpiscope_wire::{Flight, Message, Origin, Process, Slot, Slots};
use outbox::Outbox;
use pace::Pace;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use timer::Timers;
use watched_file::WatchedFile;

const LOOK_EVERY: Duration = Duration::from_millis(200);
const SCHEDULING_EVERY: Duration = Duration::from_millis(100);
const IDLE_CLOCK_SAMPLE_EVERY: Duration = Duration::from_millis(50);
const IN_FLIGHT_EVERY: Duration = Duration::from_millis(50);

pub use journal::Journal;
pub use outbox::OWN;
pub use resume::{Census, Resume};
pub use watched_file::is_running;

/// Between two looks at the rings, when they had little and some of their writers cannot wake who rests.
pub const REST: Duration = Duration::from_millis(2);
/// Between two looks at the rings when they fill quickly, and after each rest. A rank's first ring holds more than can be
/// written in either.
pub const SHORT_REST: Duration = Duration::from_micros(500);
/// So little (or an eighth of a small ring) may stay in a ring for a while: to take it out costs what hundreds of calls
/// do, and the job may need the processor.
pub const LITTLE_SLOTS: usize = 2048;
/// Files that a process may have open that reads the rings of a host: its rings have one each, and some more stay open.
pub const FILES: u64 = 8192;
/// How long ranks may linger after the command returned.
pub const LINGER: Duration = Duration::from_secs(2);

/// What a pass over all rings found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pass {
    /// How many slots were read.
    pub slots: usize,
    /// Some ring had more than half of what a pass takes.
    pub busy: bool,
}

/// Watches all rings of a host.
pub struct Agent {
    finder: Finder,
    ring_files: Vec<WatchedFile>,
    /// Of all processes the one with the greatest number.
    newest: Option<Process>,
    outbox: Outbox,
    pace: Pace,
    timers: Timers,
    /// Whether there was a pass since calls in flight were last asked for.
    has_passed: bool,
    recording: Recording,
    notices: Vec<String>,
    /// Memory for the slots of a ring.
    read_slots: Vec<Slot>,
    /// For how long calls are held back while recording is off; none where they are not written at all then.
    pub hold: Option<Duration>,
    /// Which ranks were seen.
    pub census: Census,
    /// With what it is woken, where it can be.
    pub sleeper: Option<Arc<Sleeper>>,
}

/// What becomes of the calls that ranks make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recording {
    On,
    /// They are counted and no more.
    Off,
    /// They are held back for so long.
    Buffered(Duration),
}

impl Recording {
    /// Lets it be so for a process. Says for how long calls could be held at the least, where there was no room for all.
    fn apply(self, ring_file: &mut WatchedFile, tell: &mut dyn FnMut(Message)) -> Option<Duration> {
        ring_file.pause(self == Recording::Off);
        match self {
            Recording::Buffered(span) => ring_file.hold(span),
            Recording::On | Recording::Off => return ring_file.hand_out(tell),
        }
        None
    }
}

impl Agent {
    /// An agent over the folders where ranks put their ring files: shared memory first; the others may be shared with other
    /// hosts, and only ring files of ranks on this one are read there. Without a journal it only reads: nothing is given back.
    pub fn new(folders: Vec<PathBuf>, mut resume: Resume, journal: Option<Box<dyn Journal>>) -> Self {
        let census = std::mem::take(&mut resume.census);
        Self {
            outbox: Outbox::new(journal, resume.origin),
            finder: Finder::new(folders, resume),
            ring_files: Vec::new(),
            newest: None,
            pace: Pace::default(),
            timers: Timers::default(),
            has_passed: false,
            recording: Recording::On,
            notices: Vec::new(),
            read_slots: Vec::new(),
            hold: None,
            census,
            sleeper: None,
        }
    }

    /// Something went wrong: a sentence for whoever asks next.
    pub fn add_fault(&mut self, fault: String) {
        self.outbox.faults.push(fault);
    }

    /// What went wrong and was not handed on yet, in sentences.
    pub fn take_faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.outbox.faults)
    }

    /// Those who watch should know this, though nothing is missing for it.
    pub fn add_notice(&mut self, notice: String) {
        self.notices.push(notice);
    }

    /// What those who watch should know, and what is not missing for all that.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Switches recording on or off, for ranks that are there and those that come. What was held back is sent.
    pub fn switch(&mut self, is_on: bool, sink: &mut dyn FnMut(Message)) {
        let recording = match (is_on, self.hold) {
            (true, _) => Recording::On,
            (false, None) => Recording::Off,
            (false, Some(span)) => Recording::Buffered(span),
        };
        if std::mem::replace(&mut self.recording, recording) == recording {
            return;
        }
        let mut shortest = None;
        for ring_file in &mut self.ring_files {
            let short = recording.apply(ring_file, &mut |message| self.outbox.tell(message, sink));
            shortest = [shortest, short].into_iter().flatten().min();
        }
        if let Some(shortest) = shortest {
            let seconds = shortest.as_secs_f64();
            self.notices.push(format!(
                "of some ranks only the last {seconds:.1} s could be held back: for more there was no room"
            ));
        }
    }

    /// Writes a message of this agent to the journal and hands it on.
    pub fn tell(&mut self, message: Message, sink: &mut dyn FnMut(Message)) {
        self.outbox.tell(message, sink);
    }

    /// Writes what an agent of another host told, the first with this number, and hands it on.
    pub fn relay(
        &mut self,
        from: Origin,
        frames: Vec<(Range<usize>, Message)>,
        bytes: &[u8],
        sink: &mut dyn FnMut(Message),
    ) {
        self.outbox.relay_from(from, sink);
        for (place, message) in frames {
            if let Message::Process(process) = &message {
                self.census.count(process);
            }
            self.outbox.write(&bytes[place]);
            sink(message);
        }
    }

    /// Rests until so much time has passed since the last pass, or until it is woken: by those whose rings fill, and by
    /// whoever has it.
    pub fn rest(&mut self, most: Duration) {
        let left = self.pace.left(most);
        let begun = Instant::now();
        let wake = |sleeper: &&Arc<Sleeper>| {
            self.ring_files.iter().all(|ring_file| ring_file.waker == sleeper.number())
        };
        let rest = self.sleeper.as_ref().filter(wake).and_then(|sleeper| {
            sleeper.rest(left, || self.ring_files.iter().any(|ring_file| ring_file.holds(LITTLE_SLOTS)))
        });
        match rest {
            Some(true) => self.pace.call(),
            Some(false) => {}
            None => std::thread::sleep(left.min(REST)),
        }
        // Whoever calls again and again does not keep it from resting.
        std::thread::sleep(SHORT_REST.min(left).saturating_sub(begun.elapsed()));
    }

    /// Whether enough slots wait in a ring, or enough time has passed since the last pass.
    pub fn is_worth_a_pass(&self, slots: usize, rest: Duration) -> bool {
        self.pace.is_called()
            || self.pace.is_over(rest)
            || self.ring_files.iter().any(|ring_file| ring_file.holds(slots))
    }

    /// Reads everything that is in the rings now.
    pub fn pass(&mut self, sink: &mut dyn FnMut(Message)) -> Pass {
        self.has_passed = true;
        let scan_every = self.pace.begin_pass();
        if self.timers.scan.is_due(scan_every) {
            self.pace.begin_scan();
            self.scan(sink);
        }
        let pass = self.read(sink);
        if pass.slots > 0 {
            self.timers.clock_sample.expire();
        }
        if self.timers.clock_sample.is_due(IDLE_CLOCK_SAMPLE_EVERY) {
            self.tell(Message::ClockSample(clock_sample()), sink);
        }
        if self.timers.scheduling.is_due(SCHEDULING_EVERY) {
            for ring_file in &mut self.ring_files {
                ring_file.schedule(&mut |message| self.outbox.tell(message, sink));
            }
        }
        self.flush();
        if self.outbox.is_safe() {
            self.ring_files.iter_mut().for_each(WatchedFile::release);
        }
        if self.outbox.wants_checkpoint() {
            self.checkpoint(sink);
        }
        if self.timers.look.is_due(LOOK_EVERY) {
            for ring_file in &mut self.ring_files {
                ring_file.look(&mut |message| self.outbox.tell(message, sink));
            }
            self.remove_finished();
        }
        pass
    }

    /// Hands on what is in the rings. Buffered slots that are too old are dropped.
    fn read(&mut self, sink: &mut dyn FnMut(Message)) -> Pass {
        let mut pass = Pass::default();
        for ring_file in &mut self.ring_files {
            let read = ring_file.read(&mut self.read_slots, &mut |message| self.outbox.tell(message, sink));
            pass.slots += read.slots;
            pass.busy |= read.busy;
            self.outbox.faults.extend(read.fault);
        }
        if matches!(self.recording, Recording::Buffered(_)) {
            let processes = self.ring_files.len();
            for ring_file in &mut self.ring_files {
                ring_file.thin(processes, &mut |message| self.outbox.tell(message, sink));
            }
        }
        pass
    }

    /// Removes the ring files of processes that have ended and are read to the end, if the journal is safe.
    fn remove_finished(&mut self) {
        let is_safe = self.outbox.is_safe();
        self.ring_files.retain_mut(|ring_file| {
            let is_over = is_safe && ring_file.is_over();
            if is_over && !ring_file.path().exists() {
                self.finder.forget(ring_file.path());
            }
            !is_over
        });
    }

    /// Writes again who is there and how far each ring was read. Older records can then go.
    fn checkpoint(&mut self, sink: &mut dyn FnMut(Message)) {
        // Numbers are not given out twice, also when all that had them are gone.
        if let Some(newest) = self.newest.clone() {
            self.outbox.tell(Message::Process(newest), sink);
        }
        for ring_file in &mut self.ring_files {
            self.outbox.tell(Message::Process(ring_file.process().clone()), sink);
            ring_file.tell_cpus(&mut |message| self.outbox.tell(message, sink));
            for (ring, from) in ring_file.positions() {
                let nothing = Slots { process: ring_file.process().process, ring, from, slots: Vec::new() };
                self.outbox.tell(Message::Slots(nothing), sink);
            }
        }
        self.flush();
    }

    /// A pass that looks for new ring files and at all processes first.
    pub fn pass_all(&mut self, sink: &mut dyn FnMut(Message)) -> Pass {
        self.timers.scan.expire();
        self.timers.look.expire();
        self.pass(sink)
    }

    /// Passes until nothing more comes, waiting a moment for ranks that linger. What ranks have left that are gone is read to its
    /// end; so is, where nothing is given back, what the others have written by now.
    pub fn drain(&mut self, patience: Duration, sink: &mut dyn FnMut(Message)) {
        let begun = Instant::now();
        let only_reads = !self.outbox.has_journal();
        loop {
            let found = self.pass_all(sink);
            if found.slots == 0 && !self.has_living() {
                return;
            }
            if !self.has_left(only_reads) && begun.elapsed() > patience {
                return;
            }
            if !found.busy {
                std::thread::sleep(REST);
            }
        }
    }

    /// Whether something is left to be read of processes that are gone, or of all, that was there when this was first asked.
    fn has_left(&mut self, of_all: bool) -> bool {
        self.ring_files.iter_mut().any(|ring_file| (of_all || !ring_file.is_alive()) && ring_file.has_left())
    }

    /// The same as [`Agent::look`], when the last look is old.
    pub fn look_if_due(&mut self, sink: &mut dyn FnMut(Message)) {
        if self.timers.look.is_due(LOOK_EVERY) {
            self.look(sink);
        }
    }

    /// Looks how the processes stand and what they lost.
    pub fn look(&mut self, sink: &mut dyn FnMut(Message)) {
        for ring_file in &mut self.ring_files {
            ring_file.look(&mut |message| self.outbox.tell(message, sink));
        }
        // Some that were in a call may be gone.
        self.timers.in_flight.expire();
        self.flush();
    }

    /// The calls that the living processes are in. After a pass, a call is either in what was read or here.
    pub(crate) fn in_flight(&self) -> Vec<Flight> {
        let now = clock_sample();
        self.ring_files.iter().flat_map(|ring_file| ring_file.in_flight(now)).collect()
    }

    /// The same, right after a pass, when the last such look is old.
    pub fn in_flight_if_due(&mut self) -> Option<Vec<Flight>> {
        std::mem::take(&mut self.has_passed).then_some(())?;
        self.timers.in_flight.is_due(IN_FLIGHT_EVERY).then(|| self.in_flight())
    }

    /// Whether the journal takes more now. When it does not, what is in the rings stays there.
    pub fn has_room(&self) -> bool {
        self.outbox.has_room()
    }

    /// Whether any ring file is being read.
    pub fn has_ring_files(&self) -> bool {
        !self.ring_files.is_empty()
    }

    /// Whether any of their processes lives.
    pub fn has_living(&self) -> bool {
        self.ring_files.iter().any(WatchedFile::is_alive)
    }

    /// The last word is written: hands it to the system, and says what a full disk has cost the log.
    pub fn close(&mut self) {
        self.flush();
        self.outbox.faults.extend(self.finder.take_unopened());
        self.outbox.report_dropped();
    }

    /// Whether something is left to be read of processes that are gone. Whatever they do, not without end.
    pub fn has_rest_of_gone(&mut self) -> bool {
        self.has_left(false)
    }

    /// Hands what was written to the system; whether that took it.
    pub fn flush(&mut self) -> bool {
        self.outbox.flush()
    }

    fn scan(&mut self, sink: &mut dyn FnMut(Message)) {
        for path in self.finder.new_paths(&mut self.outbox.faults) {
            let opened = self.finder.open_new(path, &self.ring_files, &mut self.outbox.faults);
            if let Some(ring_file) = opened {
                self.add(ring_file, sink);
            }
        }
    }

    /// Reads this ring file too from now on, and reports its process.
    fn add(&mut self, mut ring_file: WatchedFile, sink: &mut dyn FnMut(Message)) {
        self.recording.apply(&mut ring_file, sink);
        self.census.count(ring_file.process());
        let number = ring_file.process().process;
        if self.newest.as_ref().is_none_or(|newest| newest.process <= number) {
            self.newest = Some(ring_file.process().clone());
        }
        self.tell(Message::Process(ring_file.process().clone()), sink);
        ring_file.tell_cpus(&mut |message| self.outbox.tell(message, sink));
        self.ring_files.push(ring_file);
        self.pace.find(Instant::now());
    }
}

/// The first messages of a run.
pub fn run_start(run: &str, command: &[String]) -> Message {
    let unix = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Message::RunStart(mpiscope_wire::RunStart {
        run: run.to_owned(),
        node: host_name(),
        unix_ns: unix.as_nanos() as u64,
        monotonic_ns: monotonic_ns(),
        command: command.to_vec(),
    })
}
