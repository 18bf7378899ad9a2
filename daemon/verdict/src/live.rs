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
//! what the analysis lacks. Where they read the calls of their ranks themselves, they feed these: this thread gets all else.

mod analysis;
mod helpers;
mod outlook;
mod shared;

use super::live_findings::LiveFindings;
use super::pass::options;
use super::reference_criteria;
use crate::criteria_file::CriteriaFile;
use analysis::Analysis;
use crossbeam_channel::{Sender, TrySendError, bounded};
use helpers::FlowStarter;
use mpiscope_diagnosis::{BudgetOptions, Reference};
use mpiscope_flow::FlowOptions;
use mpiscope_model::{Batch, Call, CommInfo, Message, NodeInfo, Rank, RankInfo, SiteInfo};
use mpiscope_recording::Latency;
use shared::{Given, Report, Shared};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

pub use helpers::Helpers;

/// Calls that wait for the diagnosis, and batches; some hundred megabytes.
const MOST_WAITING: usize = 1 << 20;
const MOST_BATCHES: usize = 4096;
/// Calls that wait for their other side, and paths that are kept for such calls.
const MOST_PENDING: usize = 1 << 20;
const MOST_KEPT: usize = 1 << 19;
/// How often it is looked whether the thread has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Behind the job, the agent and the recorder.
const LOW_PRIORITY: i32 = 10;

/// Where the calls of a batch are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// In the batch.
    InBatch,
    /// Other processes have fed them.
    Fed {
        /// How many.
        calls: u64,
        /// Whether they are here as well.
        are_here: bool,
    },
    /// In the log alone.
    InLog {
        /// How many.
        calls: u64,
        /// Whether some of those who were to feed them did.
        are_partly_fed: bool,
    },
}

/// Who should have the calls of what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nobody: the log has them.
    Nothing,
    /// This process.
    Calls,
    /// Other processes are to feed them.
    Fed {
        /// Whether this process wants them, too.
        with_calls: bool,
        /// Whether what came before is left out.
        is_anew: bool,
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
    /// While it is postponed: a flow waits for what others feed, and they have fed nothing.
    is_prepared: bool,
    /// Others that the flow has are gone, or have fed it what it does not begin with, and the thread may not know.
    has_lost_others: bool,
    is_torn: bool,
    /// Messages of the log until now.
    messages: u64,
    /// Of them those until the last batch, with their calls, and up to where it was.
    batched_messages: u64,
    calls: u64,
    until_ns: u64,
    /// How often it was seen that a process was lost.
    losses: u64,
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
            is_prepared: true,
            has_lost_others: false,
            is_torn: false,
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

    /// Who should have the calls of what comes next, if the analysis is not postponed.
    pub fn wanted(&self) -> Wanted {
        if self.shared.gathering.is_going_on() {
            Wanted::Nothing
        } else if !self.shared.gathering.are_feeding() {
            Wanted::Calls
        } else if self.is_postponed && !self.is_prepared {
            Wanted::Nothing
        } else {
            let with_calls = !self.shared.is_replay_paused.load(Ordering::Acquire);
            Wanted::Fed { with_calls, is_anew: self.is_behind }
        }
    }

    /// Whether the next batch is left to the log. Without a log none is.
    fn postpone(&mut self, is_postponed: bool, calls: Calls) {
        let losses = self.shared.gathering.losses();
        if self.losses != losses {
            self.losses = losses;
            (self.is_prepared, self.has_lost_others, self.is_torn) = (true, false, false);
            self.begin_again();
        }
        if self.log.is_none() {
            return;
        }
        let (are_fed, is_in_log, are_partly_fed) = match calls {
            Calls::InBatch => (false, false, false),
            Calls::Fed { .. } => (true, false, true),
            Calls::InLog { are_partly_fed, .. } => (false, true, are_partly_fed),
        };
        let gathering = &self.shared.gathering;
        let is_of_use = !is_in_log && are_fed == gathering.are_feeding();
        // Whoever begins with what is fed begins with the first of it.
        let may_begin = !are_fed || self.is_prepared;
        let must_wait = is_postponed || gathering.is_going_on() || !is_of_use;
        if must_wait && !self.is_postponed {
            (self.is_postponed, self.is_prepared, self.is_behind) = (true, false, false);
            self.shared.is_skipping.store(true, Ordering::Release);
        } else if self.is_postponed && !must_wait && may_begin {
            self.resume();
        }
        if self.is_postponed && are_partly_fed {
            (self.is_prepared, self.is_torn) = (false, true);
        }
        if self.is_postponed && !is_postponed {
            self.prepare();
        }
    }

    /// Has others ready to feed, from a batch on that is handed out later, once nothing waits any more.
    fn prepare(&mut self) {
        let gathering = &self.shared.gathering;
        let is_due = gathering.are_feeding() && !self.is_prepared && !gathering.is_going_on();
        if is_due && self.shared.waiting_calls.load(Ordering::Acquire) == 0 {
            gathering.expect();
            let (after_loss, is_torn) = (self.has_lost_others, self.is_torn);
            let flow = gathering.flow();
            self.is_prepared = self.tell.try_send(Report::Prepare { flow, after_loss, is_torn }).is_ok();
            if self.is_prepared {
                (self.has_lost_others, self.is_torn) = (false, false);
            } else {
                gathering.settle();
            }
        }
    }

    /// The thread has lost what it knew: the log has it, or all calls until now are left out.
    fn begin_again(&mut self) {
        self.is_behind = self.log.is_none() || self.shared.lacks_log.load(Ordering::Acquire);
        self.left_out_calls = if self.is_behind { self.calls } else { 0 };
        if self.log.is_some() {
            self.is_postponed = true;
            self.shared.is_skipping.store(true, Ordering::Release);
        }
    }

    /// Goes on with the next batch: has the log read up to the last, or leaves out what is in it. Where earlier batches still wait, the
    /// next one tries again.
    fn resume(&mut self) {
        let Some(dir) = self.log.clone() else { return };
        if self.shared.waiting_calls.load(Ordering::Acquire) > 0 {
            return;
        }
        self.shared.is_skipping.store(false, Ordering::Release);
        let (messages, calls, known) = (self.batched_messages, self.calls, Box::new(self.definitions()));
        let sent = if std::mem::take(&mut self.is_behind) {
            self.left_out_calls = calls;
            self.tell.try_send(Report::Anew { left_out_calls: calls, known })
        } else {
            self.left_out_calls = 0;
            self.tell.try_send(Report::Log { dir, messages, calls, known })
        };
        self.is_postponed = sent.is_err();
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
        (self.is_prepared, self.has_lost_others, self.is_torn) = (false, true, false);
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
    /// made only where they are replayed. It may be postponed, where there is a log. Never waits.
    pub fn take(
        &mut self,
        mut batch: Batch,
        calls: Calls,
        is_postponed: bool,
        copy: impl FnOnce() -> (Vec<Call>, Vec<Message>),
    ) {
        self.postpone(is_postponed, calls);
        self.nodes.extend(batch.nodes.iter().cloned());
        self.ranks.extend(batch.ranks.iter().map(|info| (info.rank, info.clone())));
        self.comms.extend(batch.comms.iter().cloned());
        self.sites.extend(batch.sites.iter().cloned());
        let (count, has_rows) = match calls {
            Calls::InBatch => (batch.activities.len() as u64, true),
            Calls::Fed { calls, are_here } => (calls, are_here),
            Calls::InLog { calls, .. } => (calls, false),
        };
        (self.batched_messages, self.until_ns) = (self.messages, batch.until_ns);
        self.calls += count;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if self.is_postponed {
            return;
        }
        let waiting = self.shared.waiting_calls.load(Ordering::Acquire);
        if self.is_behind && waiting == 0 {
            let known = self.definitions();
            let anew = Report::Anew { left_out_calls: self.left_out_calls, known: Box::new(known) };
            self.is_behind = self.tell.try_send(anew).is_err();
        }
        if self.is_behind || waiting.saturating_add(count) > self.most_waiting {
            return self.leave_out(count, calls);
        }
        let are_fed = calls != Calls::InBatch;
        let is_replayed = has_rows && !self.shared.is_replay_paused.load(Ordering::Acquire);
        let mut messages = Vec::new();
        if is_replayed {
            (batch.calls, messages) = copy();
        } else if are_fed {
            batch.leave_out_rows();
        }
        let has_rows = is_replayed || !are_fed;
        let given = Given { batch, messages, calls: count, are_fed, has_rows };
        self.shared.waiting_calls.fetch_add(count, Ordering::AcqRel);
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            self.tell.try_send(Report::Batch(Box::new(given)))
        {
            self.shared.waiting_calls.fetch_sub(count, Ordering::AcqRel);
            self.leave_out(count, calls);
        }
    }

    /// There is no room for a batch.
    fn leave_out(&mut self, count: usize, calls: Calls) {
        self.is_behind = true;
        self.left_out_calls += count as u64;
        // Others go on feeding: what comes behind a gap is of no use.
        if calls != Calls::InBatch {
            (self.is_postponed, self.is_prepared) = (true, false);
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

#[cfg(test)]
mod tests;
