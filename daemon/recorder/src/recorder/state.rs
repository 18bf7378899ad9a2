//! The recorder: what the agent read becomes rows of the recording and figures of the page.

use crate::helpers::OnHosts;
use crate::hosts::Notices;
use crate::postponing::Postponing;
use crate::protocol::{Configuration, Summary};
use crate::queue::{Item, Receiving};
use crate::readers::OnReaders;
use crate::reading::Reading;
use crate::switch;
use crate::task::Task;
use crate::viewers::{Due, Viewers};
use anyhow::{Result, bail};
use crossbeam_channel::RecvTimeoutError;
use mpiscope_agent::Resume;
use mpiscope_engine::hang::{self, HangWatcher};
use mpiscope_engine::{Engine, Step, Sums, WindowCell};
use mpiscope_ingest::{Ingest, KnownAgent};
use mpiscope_model::words::printable;
use mpiscope_model::{Call, Fault, InFlight};
use mpiscope_process::at_once::both;
use mpiscope_recording::{RecordingWriter, WalReader, WindowRow};
use mpiscope_verdict::Crowding;
use mpiscope_verdict::{Calls, Helpers, LiveDiagnosis, LiveFindings};
use mpiscope_wire::Message;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest wait for something from the agent: the page is updated at least this often, when somebody watches and when
/// nobody does.
const MOST_PATIENCE: Duration = Duration::from_millis(15);
const MOST_PATIENCE_UNWATCHED: Duration = Duration::from_millis(150);
const MOST_FAULTS: usize = 100;
const LOW_PRIORITY: i32 = 5;
const MANIFEST_EVERY: Duration = Duration::from_secs(2);

/// What is missing where nobody was there at the end.
pub const END_UNKNOWN: &str = "how the command ended is not known: mpiscope itself was killed";

/// How a recording of a run of some length is diagnosed before its log goes.
pub type Diagnose = Box<dyn Fn(&Path, Duration) -> Result<()> + Send>;

/// Takes in what the agent read, until the run has ended and all is written.
pub struct Recorder {
    pub(super) diagnose: Diagnose,
    pub(super) engine: Engine,
    pub(super) sums: Sums,
    pub(super) writer: RecordingWriter,
    pub(super) viewers: Option<Viewers>,
    /// While somebody may watch.
    pub(super) live: Option<LiveDiagnosis>,
    /// Of those who have shares of the diagnosis.
    pub(super) notices: Notices,
    pub(super) crowding: Crowding,
    pub(super) postponing: Postponing,
    /// The final findings, until the page has them.
    pub(super) found: Option<LiveFindings>,
    pub(super) manifest_written: Instant,
    /// What the page was not told yet.
    pub(super) faults: Vec<Fault>,
    /// The calls that had not returned at the agent's last look.
    pub(super) in_flight: Vec<InFlight>,
    pub(super) watcher: HangWatcher,
    /// For how long calls are held back while recording is off.
    pub(super) flight: Option<Duration>,
    /// Recording was switched on since the job seems to hang.
    pub(super) is_suspected: bool,
    /// What went wrong in reading rings and in writing, each once.
    pub(super) write_faults: Vec<String>,
    /// What a predecessor recorded.
    pub(super) expected_calls: u64,
    pub(super) reading: Reading,
}

impl Recorder {
    /// Of a recording that nothing was added to by this process.
    #[must_use]
    pub fn new(writer: RecordingWriter, window_ns: u64, diagnose: Diagnose) -> Self {
        Self {
            diagnose,
            engine: Engine::new(window_ns),
            sums: Sums::default(),
            writer,
            viewers: None,
            live: None,
            notices: Notices::default(),
            crowding: Crowding::default(),
            postponing: Postponing::default(),
            found: None,
            manifest_written: Instant::now(),
            faults: Vec::new(),
            in_flight: Vec::new(),
            watcher: HangWatcher::new(None),
            flight: None,
            is_suspected: false,
            write_faults: Vec::new(),
            expected_calls: 0,
            reading: Reading::default(),
        }
    }

    /// Lets this number of threads turn frames into rows where there is much. To be called before anything is taken in.
    pub(crate) fn share_out(&mut self, threads: usize) {
        self.engine.share_out(threads);
    }

    /// Counts calls as lost that a predecessor recorded and that are neither in its log nor in the rings.
    pub fn expect(&mut self, calls: u64) {
        self.expected_calls = calls;
    }

    pub(crate) fn window_ns(&self) -> u64 {
        self.engine.counts.window_ns()
    }

    /// What is known of its calls and messages as a whole, some of it shared with whoever shows it.
    pub(crate) fn sums(&self) -> &Sums {
        &self.sums
    }

    /// From now on hangs that last long enough are reported. To be called before anything is taken in.
    ///
    /// # Errors
    /// When what a predecessor left in the recording cannot be read.
    pub fn watch_for(&mut self, patience: Duration, flight: Option<Duration>) -> Result<()> {
        let before = hang::read(self.writer.dir())?;
        self.watcher = HangWatcher::going_on(Some(patience).filter(|patience| !patience.is_zero()), before);
        self.flight = flight;
        Ok(())
    }

    /// From now on viewers receive updates. To be called before anything is taken in.
    pub(crate) fn tell(&mut self, viewers: Viewers, configuration: &Configuration) {
        self.viewers = Some(viewers);
        self.diagnose_live(configuration);
    }

    /// From now on the run is diagnosed live. To be called before anything is taken in.
    pub(crate) fn diagnose_live(&mut self, configuration: &Configuration) {
        let window_ns = self.window_ns();
        let Configuration { workers, latency, ref criteria, .. } = *configuration;
        // Those who read calls analyse them. Where --keep cuts the log, nobody else reads any.
        let helpers = configuration.analysis.as_ref().map(|how| -> Box<dyn Helpers> {
            let notices = self.notices.clone();
            if configuration.keep.is_some() {
                Box::new(OnHosts::new(Task::Analyse, how, notices))
            } else {
                Box::new(OnReaders::new(self.reading.invitations.clone(), how, notices))
            }
        });
        let window = (configuration.window_ns, latency);
        match LiveDiagnosis::start(workers, window, criteria.as_ref(), helpers) {
            Ok(live) => {
                // What is dropped from the log as --keep asks cannot be read later.
                let has_whole_log = configuration.keep.is_none();
                let live = if has_whole_log { live.with_log(self.writer.dir()) } else { live };
                (self.live, self.engine) = (Some(live), Engine::for_diagnosis(window_ns));
            }
            Err(error) => self.complain(&format!("no diagnosis while the job runs: {error}")),
        }
    }

    /// The agents of other hosts that a predecessor knew.
    pub(crate) fn agents(&self) -> Vec<KnownAgent> {
        self.engine.agents()
    }

    /// Whether the log of a predecessor has anything of the run.
    pub(crate) fn has_begun(&self) -> bool {
        self.engine.ingest().started().is_some()
    }

    /// Takes in the log of a predecessor; says where it stopped.
    pub fn take_log(&mut self, log: &WalReader) -> Resume {
        self.gather_readers();
        if self.reading.is_shared() {
            return self.share_log(log);
        }
        let faults = log.for_each_message(|message| self.take(message));
        self.write_faults.extend(faults);
        self.publish_all();
        self.engine.resume()
    }

    /// Takes in messages until the run has ended and all is written.
    pub(crate) fn run(mut self, input: &Receiving) -> Result<Summary> {
        // The job and the agent go first; what waits here only comes a little later to the page. A system that does not
        // allow it changes nothing but that.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOW_PRIORITY);
        self.share_input(input);
        loop {
            let is_watched = self.viewers.as_ref().is_some_and(Viewers::is_watched);
            let patience = if is_watched { MOST_PATIENCE } else { MOST_PATIENCE_UNWATCHED };
            // Before anything is received: where all begins again, what was received must have been taken in.
            self.take_read();
            if self.reading.is_over {
                break;
            }
            match input.receive(patience, &|| self.reading.has_news()) {
                Ok(item) => {
                    let over = matches!(item.messages.last(), Some(Message::RunEnd(_)));
                    self.take_item(item);
                    if over {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("the agent had a fault of its own and stopped"),
            }
            if let Some(is_on) = self.viewers.as_ref().and_then(Viewers::wanted) {
                let switched = switch::set(self.writer.dir(), is_on);
                self.note(switched);
            }
            match self.viewers.as_ref().map_or(Due::Nothing, Viewers::due) {
                Due::Nothing => {}
                Due::Calls => self.publish(false),
                Due::Everything => self.publish_all(),
            }
            if self.manifest_written.elapsed() >= MANIFEST_EVERY {
                self.manifest_written = Instant::now();
                self.fill_manifest();
                let written = self.writer.write_manifest().and_then(|()| self.writer.trim());
                self.note(written);
            }
        }
        self.finish()
    }

    /// Takes in what the agent found in one pass.
    fn take_item(&mut self, item: Item) {
        self.take_all(item.messages);
        if let Some(calls) = item.in_flight {
            self.in_flight = self.engine.in_flight(&calls);
            self.watch();
        }
        item.faults.into_iter().for_each(|text| self.complain(&text));
        item.notices.into_iter().for_each(|text| self.notice(&text));
    }

    /// Reports whether the job hangs, or moves again.
    fn watch(&mut self) {
        if self.engine.ingest().gaps().last().is_some_and(|gap| gap.until_ns.is_none()) {
            // Of a job that is not recorded it is known only which calls it is in.
            let suspects = self.flight.is_some() && !self.is_suspected;
            if suspects && self.watcher.suspects(&self.engine, &self.in_flight) {
                self.is_suspected = true;
                self.notice("the job seems to hang");
                let switched = switch::set(self.writer.dir(), true);
                self.note(switched);
            }
            return;
        }
        if std::mem::take(&mut self.is_suspected) {
            // What the calls ask for was not known before; it is for those that come next.
            self.in_flight.clear();
        }
        let Some(lines) = self.watcher.see(&self.engine, &self.in_flight) else { return };
        // Every message is in the recording, whatever happens next.
        let written = hang::write(self.writer.dir(), self.watcher.hangs());
        self.note(written);
        say(&lines);
    }

    /// Takes in what came behind the log of a predecessor, and completes the recording, which will say that this is missing.
    ///
    /// # Errors
    /// When a panic of ours ended the diagnosis.
    pub fn complete(mut self, rest: Vec<Message>, missing: Vec<String>) -> Result<Summary> {
        rest.into_iter().for_each(|message| self.take(message));
        self.write_faults.extend(missing);
        self.finish()
    }

    /// Takes in what a pass found, or several agents brought, as one batch: each costs what a thousand calls do.
    pub(super) fn take_all(&mut self, messages: Vec<Message>) {
        if self.reading.is_shared() { self.hand_out(messages) } else { self.take_alone(messages) }
    }

    pub(super) fn take_alone(&mut self, messages: Vec<Message>) {
        let last = messages.iter().rposition(Ingest::settles);
        for (at, message) in messages.into_iter().enumerate() {
            self.take_of_batch(message, last.is_some_and(|last| at < last));
        }
    }

    fn take(&mut self, message: Message) {
        self.take_of_batch(message, false);
    }

    fn take_of_batch(&mut self, message: Message, goes_on: bool) {
        if let Some(live) = &mut self.live {
            live.count_message();
        }
        if goes_on {
            self.engine.feed_on(message);
        } else {
            let steps = self.engine.feed(message);
            self.write_all(steps);
        }
    }

    /// Takes in what became known by one message.
    pub(super) fn write_all(&mut self, mut steps: Vec<Step>) {
        self.analyse(&mut steps, Calls::InBatch);
        steps.into_iter().for_each(|step| self.write(step));
    }

    /// Hands it to the live diagnosis, as one batch: what is replayed together has to be together.
    pub(super) fn analyse(&mut self, steps: &mut [Step], calls: Calls) {
        let batches = steps.iter_mut().map(|step| std::mem::take(&mut step.batch));
        let batch = batches.reduce(|mut batch, behind| {
            batch.append(behind);
            batch
        });
        let (Some(live), Some(batch)) = (&mut self.live, batch) else { return };
        let totals = &self.engine.totals;
        live.count_losses(self.engine.losses.total(), totals.calls + totals.polls);
        let is_crowded = self.crowding.is_crowded(&self.engine.processors, self.engine.until_ns);
        let is_watched = self.viewers.as_ref().is_none_or(Viewers::is_watched);
        let is_postponed = self.postponing.is_postponed(is_watched, is_crowded);
        let calls = match calls {
            Calls::InBatch if self.reading.is_repeating => {
                Calls::InLog { calls: batch.activities.len() as u64, are_partly_fed: false }
            }
            calls => calls,
        };
        self.reading.is_postponed = is_postponed;
        live.take(batch, calls, is_postponed, || {
            let calls: Vec<&[Call]> = steps.iter().map(|step| &*step.calls).collect();
            let messages: Vec<&[_]> = steps.iter().map(|step| &*step.messages).collect();
            (calls.concat(), messages.concat())
        });
        if let Some(fault) = live.fault() {
            self.live = None;
            self.complain(&format!("no further diagnosis while the job runs: {fault}"));
        }
    }

    fn write(&mut self, step: Step) {
        let Self { sums, writer, engine, .. } = self;
        let add = || sums.add(&step.calls, &step.messages, &step.windows);
        let push = || [writer.push_calls(&step.calls), writer.push_messages(&step.messages)];
        let ((), pushed) = both(engine.is_shared_out(step.calls.len()), add, push);
        pushed.into_iter().for_each(|pushed| self.note(pushed));
        self.write_others(&step);
        if let Some(viewers) = &mut self.viewers {
            viewers.take(step.calls, step.messages, &step.windows, &self.writer);
        }
        self.add_faults(step.faults);
    }

    /// Those that were not shown before.
    pub(super) fn add_faults(&mut self, faults: Vec<Fault>) {
        if !self.reading.is_known {
            self.faults.extend(faults);
        }
    }

    /// Windows and what the scheduler did.
    pub(super) fn write_others(&mut self, step: &Step) {
        let window_ns = self.window_ns();
        let rows: Vec<WindowRow> = step.windows.iter().map(|cell| window_row(cell, window_ns)).collect();
        let windows = self.writer.push_windows(&rows);
        self.note(windows);
        let scheduling = self.writer.push_scheduling(&step.scheduling);
        self.note(scheduling);
        self.notices.take().iter().for_each(|text| self.notice(text));
    }

    pub(super) fn note<E: std::fmt::Display>(&mut self, result: Result<(), E>) {
        if let Err(error) = result {
            self.complain(&error.to_string());
        }
    }

    /// Something of ours went wrong: said at once, and again in the recording.
    pub(super) fn complain(&mut self, text: &str) {
        let text = printable(text);
        if !self.write_faults.contains(&text) && self.write_faults.len() < MOST_FAULTS {
            say!("{text}");
            self.faults.push(Fault { rank: None, text: text.clone() });
            self.write_faults.push(text);
        }
    }

    /// Something that concerns those who watch, and no more.
    pub(super) fn notice(&mut self, text: &str) {
        let text = printable(text);
        say!("{text}");
        self.faults.push(Fault { rank: None, text });
    }

    pub(super) fn publish_all(&mut self) {
        self.engine.count_unmatched();
        self.publish(true);
    }

    pub(super) fn publish(&mut self, everything: bool) {
        if let Some(viewers) = &mut self.viewers {
            let faults = std::mem::take(&mut self.faults);
            let found = self.found.take().or_else(|| self.live.as_ref()?.found());
            viewers.tell(&self.engine, (&self.in_flight, self.watcher.hangs()), &faults, found, everything);
        }
    }
}

/// On the terminal.
pub(super) fn say(lines: &[String]) {
    lines.iter().for_each(|line| say!("{}", printable(line)));
}

/// The row of a cell of the windows.
pub fn window_row(((window, rank, function), totals): &WindowCell, window_ns: u64) -> WindowRow {
    WindowRow {
        from_ns: window * window_ns,
        to_ns: (window + 1) * window_ns,
        region: None,
        rank: *rank,
        function: *function,
        calls: totals.calls,
        polls: totals.polls,
        bytes: totals.bytes,
        time_ns: totals.time_ns,
    }
}
