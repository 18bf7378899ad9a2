//! The recorder: what the agent read becomes rows of the recording and figures of the page.

use crate::completion::complete;
use crate::functions::functions_by_time;
use crate::helpers::{Notices, OnHosts};
use crate::postponing::Postponing;
use crate::protocol::{Configuration, Summary};
use crate::queue::{Item, Receiving};
use crate::switch;
use crate::viewers::{Due, Viewers};
use anyhow::{Result, bail};
use crossbeam_channel::RecvTimeoutError;
use mpiscope_agent::Resume;
use mpiscope_engine::hang::{self, HangWatcher};
use mpiscope_engine::uncounted;
use mpiscope_engine::{Engine, Step, Sums, WindowCell};
use mpiscope_ingest::{Ingest, KnownAgent};
use mpiscope_model::words::printable;
use mpiscope_model::{Call, Fault, InFlight, SiteInfo, Totals};
use mpiscope_process::at_once::both;
use mpiscope_process::own_process;
use mpiscope_recording::{
    Cost, FunctionName, Manifest, RecordingWriter, SHARES_FILE, Tables, WalReader, WindowRow,
};
use mpiscope_verdict::Crowding;
use mpiscope_verdict::Ending;
use mpiscope_verdict::{self as verdict, Findings, Helpers, LiveDiagnosis, LiveFindings};
use mpiscope_wire::Message;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest wait for something from the agent: the page is updated at least this often, when somebody watches and when
/// nobody does.
const MOST_PATIENCE: Duration = Duration::from_millis(15);
const MOST_PATIENCE_UNWATCHED: Duration = Duration::from_millis(150);
const MOST_FAULTS: usize = 100;
const LOW_PRIORITY: i32 = 5;
/// How long the end of a run waits for the live diagnosis.
const LIVE_DIAGNOSIS_WAIT: Duration = Duration::from_secs(20);
const MANIFEST_EVERY: Duration = Duration::from_secs(2);

/// What is missing where nobody was there at the end.
pub const END_UNKNOWN: &str = "how the command ended is not known: mpiscope itself was killed";

/// How a recording of a run of some length is diagnosed before its log goes.
pub type Diagnose = Box<dyn Fn(&Path, Duration) -> Result<()> + Send>;

/// Takes in what the agent read, until the run has ended and all is written.
pub struct Recorder {
    diagnose: Diagnose,
    engine: Engine,
    sums: Sums,
    writer: RecordingWriter,
    viewers: Option<Viewers>,
    /// While somebody may watch.
    live: Option<LiveDiagnosis>,
    /// Of those who have shares of the diagnosis.
    notices: Notices,
    crowding: Crowding,
    postponing: Postponing,
    /// The final findings, until the page has them.
    found: Option<LiveFindings>,
    manifest_written: Instant,
    /// What the page was not told yet.
    faults: Vec<Fault>,
    /// The calls that had not returned at the agent's last look.
    in_flight: Vec<InFlight>,
    watcher: HangWatcher,
    /// For how long calls are held back while recording is off.
    flight: Option<Duration>,
    /// Recording was switched on since the job seems to hang.
    is_suspected: bool,
    /// What went wrong in reading rings and in writing, each once.
    write_faults: Vec<String>,
    /// What a predecessor recorded.
    expected_calls: u64,
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
        let helpers = configuration
            .analysis
            .as_ref()
            .map(|how| -> Box<dyn Helpers> { Box::new(OnHosts::new(how, self.notices.clone())) });
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
        loop {
            let is_watched = self.viewers.as_ref().is_some_and(Viewers::is_watched);
            match input.receive(if is_watched { MOST_PATIENCE } else { MOST_PATIENCE_UNWATCHED }) {
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
    fn take_all(&mut self, messages: Vec<Message>) {
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
    fn write_all(&mut self, mut steps: Vec<Step>) {
        self.analyse(&mut steps);
        steps.into_iter().for_each(|step| self.write(step));
    }

    /// Hands it to the live diagnosis, as one batch: what is replayed together has to be together.
    fn analyse(&mut self, steps: &mut [Step]) {
        let batches = steps.iter_mut().map(|step| std::mem::take(&mut step.batch));
        let batch = batches.reduce(|mut batch, behind| {
            batch.append(behind);
            batch
        });
        let (Some(live), Some(batch)) = (&mut self.live, batch) else { return };
        let Totals { calls, polls, .. } = self.engine.totals;
        live.count_losses(self.engine.losses.total(), calls + polls);
        let is_crowded = self.crowding.is_crowded(&self.engine.processors, self.engine.until_ns);
        let is_watched = self.viewers.as_ref().is_none_or(Viewers::is_watched);
        live.postpone(self.postponing.is_postponed(is_watched, is_crowded));
        live.take(batch, || {
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
        let window_ns = self.window_ns();
        let Self { sums, writer, engine, .. } = self;
        let add = || sums.add(&step.calls, &step.messages, &step.windows);
        let push = || [writer.push_calls(&step.calls), writer.push_messages(&step.messages)];
        let ((), pushed) = both(engine.is_shared_out(step.calls.len()), add, push);
        pushed.into_iter().for_each(|pushed| self.note(pushed));
        let rows: Vec<WindowRow> = step.windows.iter().map(|cell| window_row(cell, window_ns)).collect();
        let windows = self.writer.push_windows(&rows);
        self.note(windows);
        let scheduling = self.writer.push_scheduling(&step.scheduling);
        self.note(scheduling);
        self.notices.take().iter().for_each(|text| self.notice(text));
        if let Some(viewers) = &mut self.viewers {
            viewers.take(step.calls, step.messages, &step.windows, &self.writer);
        }
        self.faults.extend(step.faults);
    }

    fn note<E: std::fmt::Display>(&mut self, result: Result<(), E>) {
        if let Err(error) = result {
            self.complain(&error.to_string());
        }
    }

    /// Something of ours went wrong: said at once, and again in the recording.
    fn complain(&mut self, text: &str) {
        let text = printable(text);
        if !self.write_faults.contains(&text) && self.write_faults.len() < MOST_FAULTS {
            say!("{text}");
            self.faults.push(Fault { rank: None, text: text.clone() });
            self.write_faults.push(text);
        }
    }

    /// Something that concerns those who watch, and no more.
    fn notice(&mut self, text: &str) {
        let text = printable(text);
        say!("{text}");
        self.faults.push(Fault { rank: None, text });
    }

    fn publish_all(&mut self) {
        self.engine.count_unmatched();
        self.publish(true);
    }

    fn publish(&mut self, everything: bool) {
        if let Some(viewers) = &mut self.viewers {
            let faults = std::mem::take(&mut self.faults);
            let found = self.found.take().or_else(|| self.live.as_ref()?.found());
            viewers.tell(&self.engine, (&self.in_flight, self.watcher.hangs()), &faults, found, everything);
        }
    }

    /// The calls of the program, and those that a predecessor recorded and that are lost.
    fn made_calls(&self) -> u64 {
        let Totals { calls, polls, .. } = self.engine.totals;
        calls + polls + self.engine.losses.unsaved
    }

    fn fill_manifest(&mut self) {
        let made_calls = self.made_calls();
        let engine = &self.engine;
        let (cost_s, per_call_ns) = engine.cost();
        let ended = engine.ingest().ended();
        let manifest: &mut Manifest = self.writer.manifest_mut();
        if let Some(start) = engine.ingest().started() {
            manifest.job.started_unix_ns = start.unix_ns;
            manifest.job.command = start.command.clone();
        }
        manifest.job.ranks = engine.world_size();
        manifest.job.mpi = engine.library();
        manifest.job.nodes = engine.job_nodes();
        manifest.job.exit = ended.and_then(|(exit, _)| exit);
        manifest.job.duration_s = ended.map(|(_, end_ns)| end_ns as f64 / 1e9);
        manifest.totals = engine.totals.into();
        manifest.lost = engine.losses.into();
        manifest.pauses = engine.pauses();
        manifest.missing = engine.missing();
        manifest.missing.extend(self.write_faults.iter().cloned());
        manifest.cost = Cost {
            calls: made_calls,
            nanoseconds_per_call: Some(per_call_ns),
            seconds: Some(cost_s),
            agent_cpu_s: Some(own_process::cpu_s()),
            bytes_on_disk: manifest.cost.bytes_on_disk,
        };
    }

    fn finish(mut self) -> Result<Summary> {
        let last = self.engine.finish();
        self.write_all(last);
        let settled = self.writer.settle();
        self.note(settled);
        let Totals { calls, polls, .. } = self.engine.totals;
        self.engine.losses.unsaved = self.expected_calls.saturating_sub(calls + polls);
        self.finish_hangs();
        let uncounted = self.engine.uncounted();
        uncounted.iter().for_each(|host| self.complain(&uncounted::sentence(host)));
        self.publish(true);
        self.fill_manifest();
        self.writer.manifest_mut().uncounted = uncounted;
        if self.engine.ingest().ended().is_none_or(|(exit, _)| exit.is_none()) {
            let manifest = self.writer.manifest_mut();
            manifest.missing.push(END_UNKNOWN.into());
        }
        let (clock, is_free_of_violations) = self.engine.solve_clocks();
        self.writer.manifest_mut().clock = clock;
        let mut sites = std::mem::take(&mut self.engine.sites);
        let unknown = mpiscope_symbols::look_up(&mut sites, mpiscope_symbols::PATIENCE);
        self.writer.manifest_mut().missing.extend(unknown);
        let pass_begun = Instant::now();
        let mut findings = self.diagnose();
        let pass_s = pass_begun.elapsed().as_secs_f64();
        if let Some(findings) = &mut findings {
            findings.name_places(&sites);
            findings.limit(&self.ending());
            self.write_findings(findings);
        }
        self.found = findings.as_ref().map(Findings::found);
        self.publish(false);
        let tables = self.tables(sites);
        let sums = self.sums.summary(&self.engine.counts, &self.engine.processors);
        let made_calls = self.made_calls();
        let manifest = complete(self.writer, &tables, &sums, (made_calls, is_free_of_violations))?;
        let verdict =
            findings.map(|findings| verdict::verdict_sentences(&findings.diagnosis)).unwrap_or_default();
        Ok(Summary { verdict, pass_s, ..summary(&self.engine, &manifest) })
    }

    fn write_findings(&mut self, findings: &Findings) {
        let written = verdict::write(self.writer.dir(), findings);
        self.note(written);
        let listed = self.writer.list_file(verdict::FILE);
        self.note(listed);
        if verdict::shares::are_kept(self.writer.dir()) {
            let listed = self.writer.list_file(SHARES_FILE);
            self.note(listed);
        }
    }

    fn tables(&mut self, sites: Vec<SiteInfo>) -> Tables {
        Tables {
            functions: mpiscope_wire::FUNCTIONS
                .iter()
                .map(|entry| FunctionName { function: entry.id, name: entry.name.to_owned() })
                .collect(),
            communicators: self.engine.comms.clone(),
            coordinates: std::mem::take(&mut self.engine.coordinates),
            nodes: self.engine.nodes.clone(),
            sites,
            ranks: self.engine.ranks.values().cloned().collect(),
        }
    }

    fn ending(&self) -> Ending {
        let engine = &self.engine;
        let exit = engine.ingest().ended().and_then(|(exit, _)| exit);
        Ending::finished(
            engine.ranks.values(),
            engine.world_size(),
            exit,
            self.watcher.hangs().hangs_at_end(),
        )
    }

    /// Leaves in the recording whether the job hung, and what it ended in.
    fn finish_hangs(&mut self) {
        say(&self.watcher.end(&self.engine));
        let hangs = self.watcher.hangs();
        if hangs.count > 0 || hangs.ended_in_count > 0 {
            let written = hang::write(self.writer.dir(), hangs);
            self.note(written);
            let listed = self.writer.list_file(hang::FILE);
            self.note(listed);
        }
    }

    /// Where time went and why is found while the log is still there.
    fn diagnose(&mut self) -> Option<Findings> {
        let written = self.writer.write_manifest();
        self.note(written);
        if self.writer.manifest_mut().cut.is_some_and(|cut| cut.log) {
            let found = self.live.take().and_then(|live| live.finish(LIVE_DIAGNOSIS_WAIT));
            return found.map(Findings::of_found);
        }
        // The pass over the log finds more than what still waits would.
        self.live = None;
        let run = Duration::from_nanos(self.engine.ingest().ended().map_or(0, |(_, end_ns)| end_ns));
        let dir = self.writer.dir().to_owned();
        // A predecessor may have left some.
        let _ = verdict::remove(&dir);
        let error = (self.diagnose)(&dir, run).err();
        // Where there was little time, there may be what the first of two readings found.
        let (found, error) = match verdict::read(&dir) {
            Ok(found) => (found, error),
            Err(unreadable) => (None, error.or(Some(unreadable))),
        };
        let missing = match (&found, error) {
            (None, Some(error)) => Some(format!("there is no diagnosis: {error:#}")),
            (Some(found), error) if found.is_first_reading => {
                let why = error.map_or("there was no time".into(), |error| format!("{error:#}"));
                Some(format!("the second of two readings for the verdict: {why}"))
            }
            _ => None,
        };
        self.writer.manifest_mut().missing.extend(missing);
        found
    }
}

/// On the terminal.
fn say(lines: &[String]) {
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

/// What the manifest says, with the totals of the whole run: those of the manifest leave out what `--keep` dropped.
fn summary(engine: &Engine, manifest: &Manifest) -> Summary {
    Summary {
        calls: engine.totals.calls,
        polls: engine.totals.polls,
        messages: engine.totals.messages,
        bytes: engine.totals.bytes,
        unmatched_sends: engine.totals.unmatched_sends,
        unmatched_receives: engine.totals.unmatched_receives,
        processors: engine.processors.sentence(),
        functions: functions_by_time(&engine.counts),
        agent_cpu_s: own_process::cpu_s(),
        peak_memory_bytes: own_process::peak_memory_bytes(),
        ..Summary::from_manifest(manifest)
    }
}
