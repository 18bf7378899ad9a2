//! The diagnosis while the job runs: on a thread of its own behind everything else, window by window as far as it comes.
//!
//! Its input waits in a bounded queue. When calls come faster than they can be analysed, they are left out until the queue
//! is empty, and the analysis begins anew. The findings name how many calls that were, and since when they hold. The pass
//! at the end analyses the whole run.
//!
//! While nobody looks and CPUs are short, all this is postponed: nothing waits in memory, because the log has it. For
//! whoever looks then, the thread reads the log up to the present, and goes on from there as if it had never stopped.
//!
//! Other processes may have shares of it. Until they are there, and when one of them is lost, the same is done: the log has
//! what the analysis lacks.

mod helpers;
mod outlook;

use super::findings::name_places;
use super::hosts::Hosts;
use super::live_findings::LiveFindings;
use super::pass::options;
use super::reference_criteria;
use super::stretches::{LogMatching, Stretches};
use super::words::say;
use crate::criteria_file::CriteriaFile;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use helpers::{FlowStarter, Gathering};
use mpiscope_diagnosis::{BudgetOptions, Reference};
use mpiscope_feed::Diagnosis;
use mpiscope_flow::{Flow, FlowError, FlowOptions};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Batch, Call, CommInfo, Event, Message, NodeInfo, Rank, RankInfo, SiteInfo};
use mpiscope_process::own_process;
use mpiscope_recording::{Latency, WalReader};
use outlook::Outlook;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use helpers::Helpers;

/// Calls that wait for the diagnosis, and batches; some hundred megabytes.
const MOST_WAITING: usize = 1 << 20;
const MOST_BATCHES: usize = 4096;
/// Calls that wait for their other side, and paths that are kept for such calls.
const MOST_PENDING: usize = 1 << 20;
const MOST_KEPT: usize = 1 << 19;
/// The verdict is computed this often at most, and takes no more than this part of the time.
const EVERY: Duration = Duration::from_secs(1);
const SHARE: u32 = 20;
/// How often it is looked whether the thread has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Finding out where new calls are made takes no longer at once.
const MOST_LOOKING_UP: Duration = Duration::from_secs(2);
/// Behind the job, the agent and the recorder.
const LOW_PRIORITY: i32 = 10;

/// What the thread receives.
enum Report {
    Batch(Box<(Batch, Vec<Message>)>),
    /// Calls were left out until now; these ranks and communicators are known.
    Anew {
        left_out_calls: u64,
        known: Box<Batch>,
    },
    /// Batches were left to the log: its messages up to this one come first.
    Log {
        dir: PathBuf,
        messages: u64,
        /// How many calls that leaves out where the log cannot be read.
        calls: u64,
        known: Box<Batch>,
    },
}

/// The other end of the thread.
pub struct LiveDiagnosis {
    most_waiting: usize,
    tell: Sender<Report>,
    shared: Arc<Shared>,
    /// Nodes, ranks and communicators until now, for an analysis that begins anew.
    nodes: Vec<NodeInfo>,
    ranks: BTreeMap<Rank, RankInfo>,
    comms: Vec<CommInfo>,
    sites: Vec<SiteInfo>,
    left_out_calls: u64,
    is_behind: bool,
    /// The recording whose log has everything from the beginning.
    log: Option<PathBuf>,
    is_postponed: bool,
    /// Messages of the log until now.
    messages: u64,
    /// Of them those until the last batch, with their calls, and up to where it was.
    batched_messages: u64,
    calls: u64,
    until_ns: u64,
    /// How often it was seen that a process was lost.
    losses: u64,
}

#[derive(Default)]
struct Shared {
    gathering: Gathering,
    waiting_calls: AtomicUsize,
    /// Replays have no time left for more calls.
    is_replay_paused: AtomicBool,
    found: Mutex<Option<LiveFindings>>,
    /// Of the calls that were made until now, those that were lost, and those that were not.
    lost: AtomicU64,
    recorded: AtomicU64,
    /// Whether what waits is to be let go.
    is_skipping: AtomicBool,
    /// Whether the thread has ended.
    is_over: AtomicBool,
    /// Why the diagnosis ended early, until somebody asks.
    fault: Mutex<Option<String>>,
}

impl LiveDiagnosis {
    /// Starts the thread; it ends when nobody tells it anything more.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start(
        workers: usize,
        (window_ns, latency): (u64, Latency),
        criteria: Option<&CriteriaFile>,
        helpers: Option<Box<dyn Helpers>>,
    ) -> std::io::Result<Self> {
        let given = criteria.map_or(Reference::None, reference_criteria::by);
        Self::with_room(workers, options(window_ns, latency), given, MOST_WAITING, helpers)
    }

    fn with_room(
        workers: usize,
        budget: BudgetOptions,
        given: Reference,
        most_waiting: usize,
        helpers: Option<Box<dyn Helpers>>,
    ) -> std::io::Result<Self> {
        let (tell, reports) = bounded(MOST_BATCHES);
        let shared = Arc::new(Shared::default());
        let budget = BudgetOptions { pending: MOST_PENDING, kept: MOST_KEPT, ..budget };
        let options = FlowOptions { workers, budget, most_calls: most_waiting, ..FlowOptions::default() };
        if helpers.is_some() {
            shared.gathering.expect();
        }
        let of_thread = Arc::clone(&shared);
        std::thread::Builder::new().name("diagnosis".into()).spawn(move || {
            // Inherited by the workers.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOW_PRIORITY);
            let ended = Analysis::start(options, given, FlowStarter::new(helpers), Arc::clone(&of_thread))
                .and_then(|analysis| analysis.run(&reports));
            if let Err(error) = ended {
                *of_thread.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
            of_thread.is_over.store(true, Ordering::Release);
        })?;
        Ok(Self {
            most_waiting,
            tell,
            shared,
            nodes: Vec::new(),
            ranks: BTreeMap::new(),
            comms: Vec::new(),
            sites: Vec::new(),
            left_out_calls: 0,
            is_behind: false,
            log: None,
            is_postponed: false,
            messages: 0,
            batched_messages: 0,
            calls: 0,
            until_ns: 0,
            losses: 0,
        })
    }

    /// The log of the recording in `dir` has all messages from the first on.
    pub fn with_log(mut self, dir: &Path) -> Self {
        self.log = Some(dir.to_owned());
        self
    }

    /// Lets it be postponed, or not, from the next batch on; without a log it never is.
    pub fn postpone(&mut self, is_postponed: bool) {
        let losses = self.shared.gathering.losses();
        if self.losses != losses {
            self.losses = losses;
            self.begin_again();
        }
        let is_postponed = is_postponed || self.shared.gathering.is_going_on();
        if self.log.is_some() && is_postponed && !self.is_postponed {
            self.is_postponed = true;
            self.shared.is_skipping.store(true, Ordering::Release);
        } else if self.is_postponed && !is_postponed {
            self.resume();
        }
    }

    /// The thread has lost what it knew: the log has it, or all calls until now are left out.
    fn begin_again(&mut self) {
        if self.log.is_some() {
            self.is_postponed = true;
            self.shared.is_skipping.store(true, Ordering::Release);
        } else {
            (self.is_behind, self.left_out_calls) = (true, self.calls);
        }
    }

    /// Has the log read up to the last batch. Where earlier batches still wait, the next one tries again.
    fn resume(&mut self) {
        let Some(dir) = self.log.clone() else { return };
        if self.shared.waiting_calls.load(Ordering::Acquire) > 0 {
            return;
        }
        self.shared.is_skipping.store(false, Ordering::Release);
        let (messages, calls, known) = (self.batched_messages, self.calls, Box::new(self.definitions()));
        let sent = self.tell.try_send(Report::Log { dir, messages, calls, known });
        self.is_postponed = sent.is_err();
        (self.is_behind, self.left_out_calls) = (false, 0);
    }

    /// What everybody has to know who begins now.
    fn definitions(&self) -> Batch {
        Batch {
            nodes: self.nodes.clone(),
            ranks: self.ranks.values().cloned().collect(),
            comms: self.comms.clone(),
            sites: self.sites.clone(),
            until_ns: self.until_ns,
            ..Batch::default()
        }
    }

    /// Counts a message of the log.
    pub fn count_message(&mut self) {
        self.messages += 1;
    }

    /// All batches come again, from the first.
    pub fn restart(&mut self) {
        (self.nodes, self.comms, self.sites) = (Vec::new(), Vec::new(), Vec::new());
        self.ranks.clear();
        (self.messages, self.batched_messages, self.calls, self.until_ns) = (0, 0, 0, 0);
        self.begin_again();
    }

    /// The next batch ends behind this number of messages of the log.
    pub fn come_to(&mut self, messages: u64) {
        self.messages = messages;
    }

    /// Takes in how many calls were lost until now, and how many were recorded.
    pub fn count_losses(&self, lost: u64, recorded: u64) {
        self.shared.lost.store(lost, Ordering::Relaxed);
        self.shared.recorded.store(recorded, Ordering::Relaxed);
    }

    /// Takes in what became known: activities with all that belongs to them, and copies of the calls and messages, which are
    /// made only where they are replayed. Never waits.
    pub fn take(&mut self, mut batch: Batch, copy: impl FnOnce() -> (Vec<Call>, Vec<Message>)) {
        self.nodes.extend(batch.nodes.iter().cloned());
        self.ranks.extend(batch.ranks.iter().map(|info| (info.rank, info.clone())));
        self.comms.extend(batch.comms.iter().cloned());
        self.sites.extend(batch.sites.iter().cloned());
        let calls = batch.activities.len();
        (self.batched_messages, self.until_ns) = (self.messages, batch.until_ns);
        self.calls += calls as u64;
        if self.is_postponed {
            return;
        }
        let waiting = self.shared.waiting_calls.load(Ordering::Acquire);
        if self.is_behind && waiting == 0 {
            let known = self.definitions();
            let anew = Report::Anew { left_out_calls: self.left_out_calls, known: Box::new(known) };
            self.is_behind = self.tell.try_send(anew).is_err();
        }
        if self.is_behind || waiting + calls > self.most_waiting {
            self.is_behind = true;
            self.left_out_calls += calls as u64;
            return;
        }
        let mut to_replay = Vec::new();
        if !self.shared.is_replay_paused.load(Ordering::Acquire) {
            (batch.calls, to_replay) = copy();
        }
        self.shared.waiting_calls.fetch_add(calls, Ordering::AcqRel);
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            self.tell.try_send(Report::Batch(Box::new((batch, to_replay))))
        {
            self.shared.waiting_calls.fetch_sub(calls, Ordering::AcqRel);
            self.is_behind = true;
            self.left_out_calls += calls as u64;
        }
    }

    /// What was found since this was last asked.
    pub fn found(&self) -> Option<LiveFindings> {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Analyses the rest of its input, for as long as that is worth waiting for, and returns the last findings.
    pub fn finish(mut self, patience: Duration) -> Option<LiveFindings> {
        self.shared.gathering.end();
        drop(std::mem::replace(&mut self.tell, bounded(0).0));
        let shared = &self.shared;
        let until = Instant::now() + patience;
        while !shared.is_over.load(Ordering::Acquire) && Instant::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
        shared.found.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Why the diagnosis ended early; returned only once.
    pub fn fault(&self) -> Option<String> {
        self.shared.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for LiveDiagnosis {
    /// Nobody wants to know any more: what waits would only take the processor from others.
    fn drop(&mut self) {
        self.shared.is_skipping.store(true, Ordering::Release);
        self.shared.gathering.end();
    }
}

/// The thread.
struct Analysis {
    flow: Flow,
    starter: FlowStarter,
    /// Nothing was given to the flow yet.
    is_fresh: bool,
    /// A process was lost. What comes is of no use until all begins again.
    is_lost: bool,
    options: FlowOptions,
    shared: Arc<Shared>,
    outlook: Outlook,
    /// Criteria that the run was given.
    given: Reference,
    stretches: Stretches,
    /// The CPU time of replays of full stretches since the start.
    replaying: Duration,
    started: Instant,
    places: Places,
    hosts: Hosts,
    /// After calls were left out: threads that were heard since.
    heard: Option<FxHashSet<(Rank, u16)>>,
    looked: Instant,
    look_every: Duration,
}

impl Analysis {
    fn start(
        options: FlowOptions,
        given: Reference,
        mut starter: FlowStarter,
        shared: Arc<Shared>,
    ) -> Result<Self, FlowError> {
        Ok(Self {
            flow: starter.start(&options, &shared.gathering)?,
            starter,
            is_fresh: true,
            is_lost: false,
            options,
            shared,
            stretches: Stretches::live(),
            replaying: Duration::ZERO,
            started: Instant::now(),
            outlook: Outlook::new(given.clone()),
            given,
            places: Places::default(),
            hosts: Hosts::default(),
            heard: None,
            looked: Instant::now(),
            look_every: EVERY,
        })
    }

    fn run(mut self, reports: &Receiver<Report>) -> Result<(), FlowError> {
        loop {
            match self.work(reports) {
                Err(FlowError::Lost(number)) => {
                    (self.is_lost, self.is_fresh) = (true, false);
                    // What asked may have had it.
                    self.outlook = Outlook::new(self.given.clone());
                    self.starter.lost(number, &self.shared.gathering);
                    self.restart()?;
                }
                ended => return ended,
            }
        }
    }

    /// Begins with what comes from now on.
    fn begin(&mut self) -> Result<(), FlowError> {
        if !self.is_fresh {
            self.starter.begin_anew();
        }
        self.is_lost = false;
        self.restart()
    }

    /// A flow that knows nothing yet.
    fn restart(&mut self) -> Result<(), FlowError> {
        if self.is_fresh {
            return Ok(());
        }
        if !self.starter.is_alone() {
            // The processes of the old one end before they are started again.
            self.flow = Flow::start(&FlowOptions { workers: 1, ..self.options.clone() })?;
        }
        self.flow = self.starter.start(&self.options, &self.shared.gathering)?;
        self.is_fresh = true;
        Ok(())
    }

    fn work(&mut self, reports: &Receiver<Report>) -> Result<(), FlowError> {
        loop {
            match reports.recv_timeout(EVERY) {
                Ok(Report::Batch(batch)) => {
                    let (batch, messages) = *batch;
                    let calls = batch.activities.len();
                    let taken = if self.is_skipping() || self.is_lost {
                        Ok(())
                    } else {
                        self.collect(&batch, &messages);
                        self.take(batch)
                    };
                    self.shared.waiting_calls.fetch_sub(calls, Ordering::AcqRel);
                    taken?;
                }
                Ok(_) if self.is_skipping() => {}
                Ok(Report::Anew { left_out_calls, known }) => self.begin_anew(left_out_calls, *known)?,
                Ok(Report::Log { dir, messages, calls, known }) => {
                    self.read_log(&dir, messages, (calls, *known))?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.is_skipping() || self.is_lost => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return self.look(),
            }
            self.look_if_due()?;
        }
    }

    fn look_if_due(&mut self) -> Result<(), FlowError> {
        let is_due = !self.is_skipping() && !self.is_lost && self.looked.elapsed() >= self.look_every;
        if is_due { self.look() } else { Ok(()) }
    }

    fn is_skipping(&self) -> bool {
        self.shared.is_skipping.load(Ordering::Acquire)
    }

    /// Keeps calls for a replay, unless replays took more than their share of the time.
    fn collect(&mut self, batch: &Batch, messages: &[Message]) {
        let begun = own_time();
        if self.stretches.add(batch, &batch.calls, messages) {
            self.replaying += own_time().saturating_sub(begun);
        }
        let is_paused = self.replaying * SHARE > self.started.elapsed();
        self.stretches.pause(is_paused);
        self.shared.is_replay_paused.store(is_paused, Ordering::Release);
    }

    fn take(&mut self, mut batch: Batch) -> Result<(), FlowError> {
        self.outlook.see(&batch);
        self.places.see(&batch.sites);
        self.hosts.see(&batch.nodes, &batch.ranks);
        if let Some(heard) = &mut self.heard {
            let is_new = |call: &&mut Activity| heard.insert((call.rank, call.call.thread()));
            batch.activities.iter_mut().filter(is_new).for_each(|call| call.after_loss = true);
        }
        self.is_fresh = false;
        self.flow.feed(batch)
    }

    /// Whatever came before `until_ns` of what is known is as if it had been lost.
    fn begin_anew(&mut self, left_out_calls: u64, mut known: Batch) -> Result<(), FlowError> {
        self.begin()?;
        self.stretches = Stretches::live();
        self.stretches.add(&known, &[], &[]);
        self.heard = Some(FxHashSet::default());
        self.outlook.begin_anew(known.until_ns, left_out_calls);
        known.events = known.ranks.iter().map(|info| Event::Lost { rank: info.rank }).collect();
        known.events_end_ns = vec![known.until_ns; known.events.len()];
        self.take(known)
    }

    /// Begins with this number of messages from a log, as if they had come all the time. Where the log does not have them,
    /// the calls until now are left out.
    fn read_log(&mut self, dir: &Path, messages: u64, (calls, known): (u64, Batch)) -> Result<(), FlowError> {
        self.begin()?;
        (self.stretches, self.heard) = (Stretches::live(), None);
        self.stretches.add(&known, &[], &[]);
        self.outlook.begin_anew(0, 0);
        let (mut ingest, mut matching) = (Ingest::for_diagnosis(), LogMatching::default());
        let (mut read, mut until_ns, mut fed) = (0, 0, Ok(()));
        if let Ok(log) = WalReader::open(dir) {
            log.for_each_message_while(|message| {
                if read == messages || self.is_skipping() {
                    return false;
                }
                read += 1;
                if let Some(batch) = ingest.step(message) {
                    until_ns = batch.until_ns;
                    self.collect(&batch, &matching.messages(&batch));
                    fed = self.take(batch).and_then(|()| self.look_if_due());
                }
                fed.is_ok()
            });
        }
        fed?;
        let is_whole = read == messages && until_ns == known.until_ns;
        if is_whole || self.is_skipping() { Ok(()) } else { self.begin_anew(calls, known) }
    }

    fn look(&mut self) -> Result<(), FlowError> {
        self.looked = Instant::now();
        let outlook = std::mem::take(&mut self.outlook);
        let (mut outlook, is_due) = self.flow.ask(move |budgeter| {
            let is_due = outlook.is_due(budgeter);
            (outlook, is_due)
        })?;
        if !is_due {
            self.outlook = outlook;
            return Ok(());
        }
        let begun = own_time();
        let lost = self.shared.lost.load(Ordering::Relaxed);
        outlook.count_losses(lost, self.shared.recorded.load(Ordering::Relaxed));
        // With several nodes, who records in this process may be on another one than the ranks.
        if self.stretches.nodes() == 1 {
            self.stretches.recorded_in((own_process::cpu_s() * 1e9) as u64);
        }
        let replayed = self.stretches.result();
        let replaying = own_time().saturating_sub(begun);
        let begun = Instant::now();
        let (outlook, advised, mut found) = self.flow.ask(move |budgeter| {
            let found = outlook.look(budgeter, &replayed);
            (outlook, budgeter.advised().map(<[_]>::to_vec), found)
        })?;
        self.outlook = outlook;
        if let Some(reference) = self.outlook.new_reference() {
            self.stretches.refer(&reference);
        }
        self.stretches.advise(&advised.unwrap_or_default());
        self.places.name(&mut found.report.diagnosis);
        self.hosts.name(&mut found.report.diagnosis);
        say(&mut found.report);
        *self.shared.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        self.look_every = EVERY.max((replaying + begun.elapsed()) * SHARE);
        Ok(())
    }
}

/// The time for which this thread had a CPU: it waits for one behind everything else.
fn own_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Where calls are made, looked up behind everything else as it is needed.
#[derive(Default)]
struct Places {
    sites: Vec<SiteInfo>,
    /// The number of them that were looked up, with or without success.
    looked_up: usize,
}

impl Places {
    /// Takes in what is new: after a loss, the whole state comes again.
    fn see(&mut self, sites: &[SiteInfo]) {
        let known = self.sites.len();
        self.sites.extend(sites.iter().filter(|site| site.site.index() >= known).cloned());
    }

    fn name(&mut self, diagnosis: &mut Diagnosis) {
        // What is wrong with a file is reported at the end of the run.
        mpiscope_symbols::look_up(&mut self.sites[self.looked_up..], MOST_LOOKING_UP);
        self.looked_up = self.sites.len();
        name_places(diagnosis, &self.sites);
    }
}

#[cfg(test)]
mod tests;
