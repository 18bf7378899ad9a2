//! The agent of one host: it finds the rings that ranks make, drains them, and hands on what it reads as messages.
//!
//! In: the files of rings, and where an earlier agent stopped. Out: messages, first into the journal and then to whoever
//! takes them. It never gives a slot back to its writer before the journal has it. Nothing is lost when this
//! process dies: a successor goes on where the journal stops. In the daemon the journal is the log of the run; on other
//! hosts it is a spool from which everything is brought to the daemon.

mod cpus;
mod flight_buffer;
mod journal;
mod proc_file;
mod resume;
mod ring_paths;
mod scheduling;
#[cfg(test)]
mod tests;
mod unread;
mod watched_file;

use mpiscope_process::local_host::host_name;
use mpiscope_ring::Sleeper;
use mpiscope_ring::clock::{clock_sample, monotonic_ns};
use mpiscope_wire::{Flight, Message, Origin, Process, Slots};
use ring_paths::new_ring_paths;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unread::{Unread, unread_because};
use watched_file::WatchedFile;

/// New ring files are looked for so often while ranks gather, and when none has come for a while.
const SCAN_EVERY: Duration = Duration::from_millis(10);
const SCAN_FOR_MORE_EVERY: Duration = Duration::from_millis(25);
const GATHERING: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(200);
const SYNC_EVERY: Duration = Duration::from_millis(900);
const SCHEDULING_EVERY: Duration = Duration::from_millis(100);
const IDLE_KNOT_EVERY: Duration = Duration::from_millis(50);
const IN_FLIGHT_EVERY: Duration = Duration::from_millis(50);

/// The most files of rings that are looked at; while that many are there, further ones are not.
const MOST_FILES: usize = 1 << 16;

pub use journal::Journal;
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
/// How long ranks may linger after the command returned.
pub const LINGER: Duration = Duration::from_secs(2);

/// The number of the daemon's own agent.
pub const OWN: u32 = 0;
/// The number of none.
const NOBODY: u32 = u32::MAX;

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
    folders: Vec<PathBuf>,
    /// This host.
    node: String,
    /// Of all processes the one with the greatest number.
    newest: Option<Process>,
    ring_files: Vec<WatchedFile>,
    seen: std::collections::HashSet<PathBuf>,
    /// Ring files that the system could not open or map, with the reason: the next scan tries again.
    unopened: std::collections::BTreeMap<PathBuf, String>,
    /// Whether it was reported that there are too many.
    has_too_many: bool,
    resume: Resume,
    next_process: u32,
    log: Option<Log>,
    /// Whose messages the journal holds last.
    origin: u32,
    recording: Recording,
    /// For how long calls are held back while recording is off; none where they are not written at all then.
    pub hold: Option<Duration>,
    /// Which ranks were seen.
    pub census: Census,
    /// With what it is woken, where it can be.
    pub sleeper: Option<Arc<Sleeper>>,
    /// Whether a writer has called since the last pass.
    is_called: bool,
    /// Whether one has that may not be known yet.
    is_expecting: bool,
    passed: Option<Instant>,
    /// Whether there was a pass since calls in flight were last asked for.
    has_passed: bool,
    scanned: Option<Instant>,
    /// When the last ring file was found.
    found: Option<Instant>,
    looked: Option<Instant>,
    knotted: Option<Instant>,
    reported: Option<Instant>,
    scheduled: Option<Instant>,
    encoded: Vec<u8>,
    /// What went wrong and was not handed on yet, in sentences.
    pub faults: Vec<String>,
    /// What those who watch should know, and what is not missing for all that.
    pub notices: Vec<String>,
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

struct Log {
    journal: Box<dyn Journal>,
    synced: Instant,
    failed: bool,
}

impl Agent {
    /// An agent over the folders where ranks put their ring files: shared memory first; the others may be shared with other
    /// hosts, and only ring files of ranks on this one are read there. Without a journal it only reads: nothing is given back.
    pub fn new(folders: Vec<PathBuf>, mut resume: Resume, journal: Option<Box<dyn Journal>>) -> Self {
        let census = std::mem::take(&mut resume.census);
        let known =
            resume.processes.values().copied().chain(resume.positions.keys().map(|(process, _)| *process));
        let next_process = known.max().map_or(0, |last| last + 1);
        Self {
            folders,
            node: host_name(),
            newest: None,
            ring_files: Vec::new(),
            seen: std::collections::HashSet::new(),
            unopened: std::collections::BTreeMap::new(),
            has_too_many: false,
            origin: resume.origin,
            recording: Recording::On,
            hold: None,
            resume,
            next_process,
            log: journal.map(|journal| Log { journal, synced: Instant::now(), failed: false }),
            census,
            sleeper: None,
            is_called: false,
            is_expecting: false,
            passed: None,
            has_passed: false,
            scanned: None,
            found: None,
            looked: None,
            knotted: None,
            reported: None,
            scheduled: None,
            encoded: Vec::new(),
            faults: Vec::new(),
            notices: Vec::new(),
        }
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
        let mut ring_files = std::mem::take(&mut self.ring_files);
        let mut shortest = None;
        for ring_file in &mut ring_files {
            let short = recording.apply(ring_file, &mut |message| self.tell(message, sink));
            shortest = [shortest, short].into_iter().flatten().min();
        }
        self.ring_files = ring_files;
        if let Some(shortest) = shortest {
            let seconds = shortest.as_secs_f64();
            self.notices.push(format!(
                "of some ranks only the last {seconds:.1} s could be held back: for more there was no room"
            ));
        }
    }

    /// Writes a message of this agent to the journal and hands it on.
    pub fn tell(&mut self, message: Message, sink: &mut dyn FnMut(Message)) {
        if std::mem::replace(&mut self.origin, OWN) != OWN
            && self.log.as_ref().is_none_or(|log| log.journal.has_origins())
        {
            self.put(Message::Origin(Origin { agent: OWN, sequence: 0 }), sink);
        }
        self.put(message, sink);
    }

    fn put(&mut self, message: Message, sink: &mut dyn FnMut(Message)) {
        self.encoded.clear();
        message.encode(&mut self.encoded);
        let encoded = std::mem::take(&mut self.encoded);
        self.write(&encoded);
        self.encoded = encoded;
        sink(message);
    }

    fn write(&mut self, frame: &[u8]) {
        let Some(log) = &mut self.log else { return };
        if let Err(error) = log.journal.write(frame) {
            self.journal_failed(&error);
        }
    }

    fn journal_failed(&mut self, error: &anyhow::Error) {
        // Whose messages follow may be among what is lost: said again.
        self.origin = NOBODY;
        if let Some(log) = &mut self.log
            && !std::mem::replace(&mut log.failed, true)
        {
            self.faults.push(format!("the log could not be written, so a crash would lose calls: {error}"));
        }
    }

    /// Writes what an agent of another host told, the first with this number, and hands it on.
    pub fn relay(
        &mut self,
        from: Origin,
        frames: Vec<(Range<usize>, Message)>,
        bytes: &[u8],
        sink: &mut dyn FnMut(Message),
    ) {
        self.origin = from.agent;
        self.put(Message::Origin(from), sink);
        for (place, message) in frames {
            if let Message::Process(process) = &message {
                self.census.count(process);
            }
            self.write(&bytes[place]);
            sink(message);
        }
    }

    /// Rests until so much time has passed since the last pass, or until it is woken: by those whose rings fill, and by
    /// whoever has it.
    pub fn rest(&mut self, most: Duration) {
        let left =
            self.passed.map_or(Duration::ZERO, |passed| self.wait(most).saturating_sub(passed.elapsed()));
        let begun = Instant::now();
        let wake = |sleeper: &&Arc<Sleeper>| {
            self.ring_files.iter().all(|ring_file| ring_file.waker == sleeper.number())
        };
        let rest = self.sleeper.as_ref().filter(wake).and_then(|sleeper| {
            sleeper.rest(left, || self.ring_files.iter().any(|ring_file| ring_file.holds(LITTLE_SLOTS)))
        });
        match rest {
            // Perhaps by one that is not known yet.
            Some(is_called) => self.is_called |= is_called,
            None => std::thread::sleep(left.min(REST)),
        }
        // Whoever calls again and again does not keep it from resting.
        std::thread::sleep(SHORT_REST.min(left).saturating_sub(begun.elapsed()));
    }

    /// For how long what is little may wait: not longer than new ring files are to be looked for.
    fn wait(&self, most: Duration) -> Duration {
        if self.is_expecting || self.is_gathering() { most.min(SCAN_EVERY) } else { most }
    }

    /// Whether ranks are still to come, or came just now.
    fn is_gathering(&self) -> bool {
        self.found.is_none_or(|found| found.elapsed() < GATHERING)
    }

    /// Whether enough slots wait in a ring, or enough time has passed since the last pass.
    pub fn is_worth_a_pass(&self, slots: usize, rest: Duration) -> bool {
        self.is_called
            || self.passed.is_none_or(|passed| passed.elapsed() >= self.wait(rest))
            || self.ring_files.iter().any(|ring_file| ring_file.holds(slots))
    }

    /// Reads everything that is in the rings now.
    pub fn pass(&mut self, sink: &mut dyn FnMut(Message)) -> Pass {
        self.passed = Some(Instant::now());
        self.has_passed = true;
        self.is_expecting |= std::mem::take(&mut self.is_called);
        let often = self.is_expecting || self.is_gathering();
        if due(&mut self.scanned, if often { SCAN_EVERY } else { SCAN_FOR_MORE_EVERY }) {
            self.is_expecting = false;
            self.scan(sink);
        }
        let mut ring_files = std::mem::take(&mut self.ring_files);
        let pass = self.read(&mut ring_files, sink);
        if pass.slots > 0 || due(&mut self.knotted, IDLE_KNOT_EVERY) {
            self.knotted = Some(Instant::now());
            self.tell(Message::ClockSample(clock_sample()), sink);
        }
        if due(&mut self.scheduled, SCHEDULING_EVERY) {
            for ring_file in &mut ring_files {
                ring_file.schedule(&mut |message| self.tell(message, sink));
            }
        }
        self.flush();
        if self.log.as_ref().is_some_and(|log| log.journal.is_safe()) {
            for ring_file in &mut ring_files {
                ring_file.release();
            }
        }
        if self.log.as_mut().is_some_and(|log| log.journal.wants_checkpoint()) {
            self.checkpoint(&mut ring_files, sink);
        }
        if due(&mut self.looked, LOOK_EVERY) {
            for ring_file in &mut ring_files {
                ring_file.look(&mut |message| self.tell(message, sink));
            }
            self.remove_finished(&mut ring_files);
        }
        self.ring_files = ring_files;
        pass
    }

    /// Hands on what is in these rings. Buffered slots that are too old are dropped.
    fn read(&mut self, ring_files: &mut [WatchedFile], sink: &mut dyn FnMut(Message)) -> Pass {
        let mut pass = Pass::default();
        for ring_file in &mut *ring_files {
            let read = ring_file.read(&mut |message| self.tell(message, sink));
            pass.slots += read.slots;
            pass.busy |= read.busy;
            self.faults.extend(read.fault);
        }
        if matches!(self.recording, Recording::Buffered(_)) {
            let processes = ring_files.len();
            for ring_file in ring_files {
                ring_file.thin(processes, &mut |message| self.tell(message, sink));
            }
        }
        pass
    }

    /// Removes the ring files of processes that have ended and are read to the end, if the journal is safe.
    fn remove_finished(&mut self, ring_files: &mut Vec<WatchedFile>) {
        let is_safe = self.log.as_ref().is_some_and(|log| log.journal.is_safe());
        ring_files.retain_mut(|ring_file| {
            let is_over = is_safe && ring_file.is_over();
            if is_over && !ring_file.path().exists() {
                self.seen.remove(ring_file.path());
            }
            !is_over
        });
    }

    /// Writes again who is there and how far each ring was read. Older records can then go.
    fn checkpoint(&mut self, ring_files: &mut [WatchedFile], sink: &mut dyn FnMut(Message)) {
        // Numbers are not given out twice, also when all that had them are gone.
        if let Some(newest) = self.newest.clone() {
            self.tell(Message::Process(newest), sink);
        }
        for ring_file in ring_files {
            self.tell(Message::Process(ring_file.process().clone()), sink);
            ring_file.tell_cpus(&mut |message| self.tell(message, sink));
            for (ring, from) in ring_file.positions() {
                let nothing = Slots { process: ring_file.process().process, ring, from, slots: Vec::new() };
                self.tell(Message::Slots(nothing), sink);
            }
        }
        self.flush();
    }

    /// A pass that looks for new ring files and at all processes first.
    pub fn pass_all(&mut self, sink: &mut dyn FnMut(Message)) -> Pass {
        (self.scanned, self.looked) = (None, None);
        self.pass(sink)
    }

    /// Passes until nothing more comes, waiting a moment for ranks that linger.
    pub fn drain(&mut self, patience: Duration, sink: &mut dyn FnMut(Message)) {
        let begun = Instant::now();
        loop {
            let found = self.pass_all(sink);
            let over = found.slots == 0 && !self.has_living();
            if over || begun.elapsed() > patience {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The same as [`Agent::look`], when the last look is old.
    pub fn look_if_due(&mut self, sink: &mut dyn FnMut(Message)) {
        if due(&mut self.looked, LOOK_EVERY) {
            self.look(sink);
        }
    }

    /// Looks how the processes stand and what they lost.
    pub fn look(&mut self, sink: &mut dyn FnMut(Message)) {
        let mut ring_files = std::mem::take(&mut self.ring_files);
        for ring_file in &mut ring_files {
            ring_file.look(&mut |message| self.tell(message, sink));
        }
        self.ring_files = ring_files;
        // Some that were in a call may be gone.
        self.reported = None;
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
        due(&mut self.reported, IN_FLIGHT_EVERY).then(|| self.in_flight())
    }

    /// Whether the journal takes more now. When it does not, what is in the rings stays there.
    pub fn has_room(&self) -> bool {
        self.log.as_ref().is_none_or(|log| log.journal.has_room())
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
        self.faults.extend(std::mem::take(&mut self.unopened).into_values());
        let dropped = self.log.as_ref().map_or(0, |log| log.journal.dropped_bytes());
        if dropped > 0 {
            self.faults.push(format!("{dropped} bytes of the log could not be written"));
        }
    }

    /// Hands what was written to the system; whether that took it.
    pub fn flush(&mut self) -> bool {
        let Some(log) = &mut self.log else { return false };
        let mut result = log.journal.flush();
        if log.synced.elapsed() > SYNC_EVERY {
            log.synced = Instant::now();
            result = result.and_then(|()| log.journal.sync_soon());
        }
        if let Err(error) = &result {
            self.journal_failed(error);
        }
        result.is_ok()
    }

    fn scan(&mut self, sink: &mut dyn FnMut(Message)) {
        let mut found = new_ring_paths(&self.folders, &self.seen);
        if self.seen.len() + found.len() > MOST_FILES {
            found.truncate(MOST_FILES.saturating_sub(self.seen.len()));
            let fault = "there are more rings than can be looked at: some ranks are not recorded";
            if !std::mem::replace(&mut self.has_too_many, true) {
                self.faults.push(fault.to_owned());
            }
        }
        for path in found {
            self.seen.insert(path.clone());
            self.unopened.remove(&path);
            match self.open(path.clone()) {
                Ok(ring_file) => self.add(ring_file, sink),
                Err(Unread::Elsewhere) => {}
                Err(Unread::Fault(fault)) => self.faults.push(fault),
                Err(Unread::NotNow(fault)) => {
                    self.seen.remove(&path);
                    self.unopened.insert(path, fault);
                }
            }
        }
    }

    /// Reads this ring file too from now on, and reports its process.
    fn add(&mut self, mut ring_file: WatchedFile, sink: &mut dyn FnMut(Message)) {
        self.recording.apply(&mut ring_file, &mut |message| sink(message));
        self.census.count(ring_file.process());
        let number = ring_file.process().process;
        if self.newest.as_ref().is_none_or(|newest| newest.process <= number) {
            self.newest = Some(ring_file.process().clone());
        }
        self.tell(Message::Process(ring_file.process().clone()), sink);
        ring_file.tell_cpus(&mut |message| self.tell(message, sink));
        self.ring_files.push(ring_file);
        self.found = Some(Instant::now());
    }

    fn open(&mut self, path: PathBuf) -> Result<WatchedFile, Unread> {
        let fault = |reason: String| format!("{} is not read: {reason}", path.display());
        let refuse = |reason: String| Unread::Fault(fault(reason));
        let reader = mpiscope_ring::Reader::open(&path)
            .map_err(|error| unread_because(&error, fault(error.to_string())))?;
        let identity = reader.identity().map_err(|error| refuse(error.to_string()))?;
        let is_shared = self.folders.iter().skip(1).any(|folder| path.starts_with(folder));
        if is_shared && identity.node != self.node {
            return Err(Unread::Elsewhere);
        }
        let same = |ring_file: &WatchedFile| ring_file.is_of(identity.pid, identity.made_ns);
        if self.ring_files.iter().any(same) {
            return Err(refuse(format!("it says that it is of process {}, which has another", identity.pid)));
        }
        let known = self.resume.processes.get(&(identity.pid, identity.made_ns)).copied();
        let number = known.unwrap_or(self.next_process);
        self.next_process = self.next_process.max(number + 1);
        let positions = (0..reader.rings())
            .map(|ring| match known {
                // The log says how far was read; the writer's side may know less.
                Some(number) => {
                    let known = self.resume.positions.get(&(number, ring as u32)).copied();
                    WatchedFile::sound_position(&reader, ring, known.unwrap_or_default())
                }
                None => reader.consumer(ring, None).position(),
            })
            .collect();
        let process = Process {
            process: number,
            pid: identity.pid,
            made_ns: identity.made_ns,
            rank: identity.rank,
            world_size: identity.world_size,
            clock: identity.clock,
            cost_per_call_ns: identity.cost_per_call_ns,
            library: identity.library,
            node: identity.node,
        };
        Ok(WatchedFile::new(path, reader, process, positions))
    }
}

/// Whether so much time has passed since the last time this was due.
fn due(last: &mut Option<Instant>, every: Duration) -> bool {
    let now = Instant::now();
    let due = last.is_none_or(|last| now.duration_since(last) >= every);
    if due {
        *last = Some(now);
    }
    due
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
