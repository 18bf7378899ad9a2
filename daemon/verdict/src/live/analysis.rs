//! The thread of the live diagnosis: what it receives goes through a flow and, as time allows, through replays.

use super::helpers::FlowStarter;
use super::outlook::Outlook;
use super::shared::{Given, Report, Shared};
use crate::findings::name_places;
use crate::hosts::Hosts;
use crate::stretches::{LogMatching, Stretches};
use crate::words::say;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use mpiscope_diagnosis::Reference;
use mpiscope_feed::Diagnosis;
use mpiscope_flow::{Flow, FlowError, FlowOptions};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Batch, Event, Message, Rank, SiteInfo};
use mpiscope_process::own_process;
use mpiscope_recording::WalReader;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The verdict is computed this often at most, and takes no more than this part of the time.
const EVERY: Duration = Duration::from_secs(1);
const SHARE: u32 = 20;
/// Finding out where new calls are made takes no longer at once.
const MOST_LOOKING_UP: Duration = Duration::from_secs(2);

/// The thread.
pub(super) struct Analysis {
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
    pub(super) fn start(
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

    pub(super) fn run(mut self, reports: &Receiver<Report>) -> Result<(), FlowError> {
        loop {
            match self.work(reports) {
                Err(FlowError::Lost(number)) => self.lose(Some(number))?,
                ended => return ended,
            }
        }
    }

    /// The process of this number is gone, or what others feed begins where the log does not end: all begins again.
    fn lose(&mut self, number: Option<usize>) -> Result<(), FlowError> {
        (self.is_lost, self.is_fresh) = (true, false);
        // What asked may have had it.
        self.outlook = Outlook::new(self.given.clone());
        self.starter.lost(number, &self.shared.gathering);
        self.restart()
    }

    /// A flow is there for what comes later, instead of the one of this number: whoever asks may not know of a later one.
    fn prepare(&mut self, flow: u64, after_loss: bool, is_torn: bool) -> Result<(), FlowError> {
        // A later one was started because a process was found lost, and nothing was given to it.
        if self.shared.gathering.flow() == flow {
            if after_loss {
                (self.is_lost, self.is_fresh) = (false, false);
                self.restart()?;
            } else {
                self.is_fresh &= !is_torn;
                self.begin()?;
            }
        }
        self.shared.gathering.settle();
        Ok(())
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
                Ok(Report::Batch(given)) => {
                    let calls = given.calls;
                    let is_of_use = !self.is_skipping() && !self.is_lost;
                    let taken = if is_of_use { self.take_given(*given) } else { Ok(()) };
                    self.shared.waiting_calls.fetch_sub(calls, Ordering::AcqRel);
                    taken?;
                }
                Ok(Report::Prepare { flow, after_loss, is_torn }) => {
                    self.prepare(flow, after_loss, is_torn)?;
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

    fn take_given(&mut self, given: Given) -> Result<(), FlowError> {
        let Given { mut batch, messages, calls, are_fed, has_rows } = given;
        if !has_rows {
            self.stretches.pause(true);
        }
        self.collect(&batch, &messages);
        if !are_fed {
            return self.take(batch);
        }
        batch.leave_out_rows();
        self.see(&batch);
        self.flow.feed_beside(batch, calls as u64)
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

    fn see(&mut self, batch: &Batch) {
        self.outlook.see(batch);
        self.places.see(&batch.sites);
        self.hosts.see(&batch.nodes, &batch.ranks);
        self.is_fresh = false;
    }

    fn take(&mut self, mut batch: Batch) -> Result<(), FlowError> {
        self.see(&batch);
        if let Some(heard) = &mut self.heard {
            let is_new = |call: &&mut Activity| heard.insert((call.rank, call.call.thread()));
            batch.activities.iter_mut().filter(is_new).for_each(|call| call.after_loss = true);
        }
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
        if is_whole || self.is_skipping() {
            return Ok(());
        }
        if self.shared.gathering.are_feeding() {
            self.shared.lacks_log.store(true, Ordering::Release);
            return self.lose(None);
        }
        self.begin_anew(calls, known)
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
