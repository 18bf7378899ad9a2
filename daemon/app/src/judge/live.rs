//! Judging while the job runs: on a thread of its own behind everything else, window by window as far as it comes.
//!
//! What it is told waits in a bounded queue. When calls come faster than they can be judged, what comes is left out until the
//! queue is empty, and judging begins anew; how many calls that were and since when is judged is told with what is
//! found. The pass at the end judges the whole run.

use super::advice;
use super::judgement::judgement;
use super::known;
use super::words::{details, headline};
use crate::criteria_file::CriteriaFile;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use mpiscope_analysis::{Advice, BudgetOptions, Reference, Windowed};
use mpiscope_feed::{Course, Found};
use mpiscope_model::{Activity, Batch, CommInfo, Event, Nanoseconds, Rank, RankInfo};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Calls that wait to be judged, and batches; some hundred megabytes.
const MOST_WAITING: usize = 1 << 20;
const MOST_BATCHES: usize = 4096;
/// Calls that wait for their other side, and paths that are kept for such calls.
const MOST_PENDING: usize = 1 << 20;
const MOST_KEPT: usize = 1 << 19;
/// The verdict is found anew so often at most, and so that it takes no more than this part of the time.
const EVERY: Duration = Duration::from_secs(1);
const SHARE: u32 = 20;
/// Before so much is judged nothing is said: what messages usually take is not known yet.
const FIRST_NS: u64 = 2_000_000_000;
/// From so many messages on a better placement is looked for, and again whenever there are twice as many.
const ENOUGH_MESSAGES: u64 = 1_000;
/// Behind the job, the agent and the recorder.
const LOW_PRIORITY: i32 = 10;

/// What the thread is told.
enum Told {
    Batch(Box<Batch>),
    /// Calls were left out until now; these ranks and communicators are known.
    Anew {
        left_out_calls: u64,
        known: Box<Batch>,
    },
}

/// The other end of the thread.
pub(crate) struct LiveJudge {
    most_waiting: usize,
    tell: Sender<Told>,
    shared: Arc<Shared>,
    /// Ranks and communicators that were told of, for those who begin anew.
    ranks: BTreeMap<Rank, RankInfo>,
    comms: Vec<CommInfo>,
    left_out_calls: u64,
    is_behind: bool,
}

#[derive(Default)]
struct Shared {
    waiting_calls: AtomicUsize,
    found: Mutex<Option<(Found, Course)>>,
}

impl LiveJudge {
    /// Starts the thread; it ends when nobody tells it anything more.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(crate) fn start(options: BudgetOptions, criteria: Option<&CriteriaFile>) -> std::io::Result<Self> {
        Self::with_room(options, criteria.map_or(Reference::None, known::by), MOST_WAITING)
    }

    fn with_room(options: BudgetOptions, given: Reference, most_waiting: usize) -> std::io::Result<Self> {
        let (tell, told) = bounded(MOST_BATCHES);
        let shared = Arc::new(Shared::default());
        let judge = Judge::new(options, given, Arc::clone(&shared));
        std::thread::Builder::new().name("judge".into()).spawn(move || judge.run(&told))?;
        Ok(Self {
            most_waiting,
            tell,
            shared,
            ranks: BTreeMap::new(),
            comms: Vec::new(),
            left_out_calls: 0,
            is_behind: false,
        })
    }

    /// Takes in what became known. Never waits.
    pub(crate) fn take(&mut self, batch: Batch) {
        self.ranks.extend(batch.ranks.iter().map(|info| (info.rank, info.clone())));
        self.comms.extend(batch.comms.iter().cloned());
        let calls = batch.activities.len();
        let waiting = self.shared.waiting_calls.load(Ordering::Acquire);
        if self.is_behind && waiting == 0 {
            let known = Batch {
                ranks: self.ranks.values().cloned().collect(),
                comms: self.comms.clone(),
                until_ns: batch.until_ns,
                ..Batch::default()
            };
            let anew = Told::Anew { left_out_calls: self.left_out_calls, known: Box::new(known) };
            self.is_behind = self.tell.try_send(anew).is_err();
        }
        if self.is_behind || waiting + calls > self.most_waiting {
            self.is_behind = true;
            self.left_out_calls += calls as u64;
            return;
        }
        self.shared.waiting_calls.fetch_add(calls, Ordering::AcqRel);
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            self.tell.try_send(Told::Batch(Box::new(batch)))
        {
            self.shared.waiting_calls.fetch_sub(calls, Ordering::AcqRel);
            self.is_behind = true;
            self.left_out_calls += calls as u64;
        }
    }

    /// What was found since this was last asked.
    pub(crate) fn found(&self) -> Option<(Found, Course)> {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The thread.
struct Judge {
    windowed: Windowed,
    options: BudgetOptions,
    shared: Arc<Shared>,
    from_ns: Nanoseconds,
    left_out_calls: u64,
    /// After calls were left out: threads of which something was heard since.
    heard: Option<FxHashSet<(Rank, u16)>>,
    ranks: u32,
    library: String,
    /// Criteria that the run is to be judged by.
    given: Reference,
    is_referenced: bool,
    looked: Instant,
    look_every: Duration,
    /// Up to where was judged when it last looked.
    looked_ns: Nanoseconds,
    /// For how many messages a placement was last asked for, and who is being asked.
    advised_messages: u64,
    asked: Option<Receiver<Option<Advice>>>,
}

impl Judge {
    fn new(options: BudgetOptions, given: Reference, shared: Arc<Shared>) -> Self {
        let options = BudgetOptions { pending: MOST_PENDING, kept: MOST_KEPT, ..options };
        Self {
            windowed: Windowed::new(options),
            options,
            shared,
            from_ns: 0,
            left_out_calls: 0,
            heard: None,
            ranks: 0,
            library: String::new(),
            given,
            is_referenced: false,
            looked: Instant::now(),
            look_every: EVERY,
            looked_ns: 0,
            advised_messages: 0,
            asked: None,
        }
    }

    fn run(mut self, told: &Receiver<Told>) {
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOW_PRIORITY);
        loop {
            match told.recv_timeout(EVERY) {
                Ok(Told::Batch(batch)) => {
                    let calls = batch.activities.len();
                    self.take(*batch);
                    self.shared.waiting_calls.fetch_sub(calls, Ordering::AcqRel);
                }
                Ok(Told::Anew { left_out_calls, known }) => self.begin_anew(left_out_calls, *known),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.looked.elapsed() >= self.look_every {
                self.look();
            }
        }
    }

    fn take(&mut self, mut batch: Batch) {
        for info in &batch.ranks {
            self.ranks = self.ranks.max(info.world_size);
            self.library.clone_from(&info.library);
        }
        if let Some(heard) = &mut self.heard {
            let is_new = |call: &&mut Activity| heard.insert((call.rank, call.call.thread()));
            batch.activities.iter_mut().filter(is_new).for_each(|call| call.after_loss = true);
        }
        self.windowed.feed(&batch, batch.until_ns);
    }

    /// Whatever came before `until_ns` of what is known is as if it had been lost.
    fn begin_anew(&mut self, left_out_calls: u64, mut known: Batch) {
        self.windowed = Windowed::new(self.options);
        self.heard = Some(FxHashSet::default());
        self.left_out_calls = left_out_calls;
        self.from_ns = known.until_ns;
        (self.is_referenced, self.advised_messages, self.asked) = (false, 0, None);
        known.events = known.ranks.iter().map(|info| Event::Lost { rank: info.rank }).collect();
        known.events_end_ns = vec![known.until_ns; known.events.len()];
        self.take(known);
    }

    fn look(&mut self) {
        let begun = Instant::now();
        self.looked = begun;
        let until_ns = self.windowed.budgeter.settled_ns();
        if until_ns == self.looked_ns || until_ns.saturating_sub(self.from_ns) < FIRST_NS {
            return;
        }
        self.looked_ns = until_ns;
        self.refer();
        self.be_advised();
        let budgeter = &self.windowed.budgeter;
        let (judgement, course) = judgement(budgeter, self.is_referenced, self.ranks, self.from_ns);
        let found = Found {
            headline: headline(&judgement),
            details: details(&judgement),
            from_s: self.from_ns as f64 / 1e9,
            until_s: until_ns as f64 / 1e9,
            left_out_calls: self.left_out_calls,
            is_final: false,
            judgement,
        };
        *self.shared.found.lock().unwrap_or_else(PoisonError::into_inner) = Some((found, course));
        self.look_every = EVERY.max(begun.elapsed() * SHARE);
    }

    /// Once all ranks are there it is known which criteria fit.
    fn refer(&mut self) {
        let nodes = self.windowed.budgeter.node_of_rank();
        if self.is_referenced || nodes.len() < self.ranks as usize {
            return;
        }
        let mut ranks = vec![0_u32; nodes.iter().map(|node| *node as usize + 1).max().unwrap_or_default()];
        nodes.iter().for_each(|node| ranks[*node as usize] += 1);
        let reference = match &self.given {
            Reference::None => known::measured(&self.library, ranks.into_iter().max().unwrap_or_default()),
            given => given.clone(),
        };
        self.is_referenced = reference.is_some();
        if self.is_referenced {
            self.windowed.budgeter.hold_against(reference);
        }
    }

    /// Takes the advice that has come, and asks for another one when much was exchanged since.
    fn be_advised(&mut self) {
        let budgeter = &mut self.windowed.budgeter;
        if let Some(asked) = &self.asked {
            match asked.try_recv() {
                Ok(Some(advice)) => budgeter.follow(advice),
                Ok(None) | Err(crossbeam_channel::TryRecvError::Disconnected) => {}
                Err(crossbeam_channel::TryRecvError::Empty) => return,
            }
            self.asked = None;
        }
        let nodes = budgeter.node_of_rank();
        let messages: u64 = budgeter.traffic().pairs().map(|(.., flow)| flow.messages).sum();
        let has_nodes = nodes.iter().any(|node| Some(node) != nodes.first());
        if !has_nodes || messages < ENOUGH_MESSAGES.max(2 * self.advised_messages) {
            return;
        }
        self.advised_messages = messages;
        let (answer, asked) = bounded(1);
        let (traffic, nodes) = (budgeter.traffic().clone(), nodes.to_vec());
        let asking = std::thread::Builder::new().name("advice".into()).spawn(move || {
            // Without advice nothing is said of the placement; in the end it is asked for again.
            let _ = answer.send(advice::ask(&traffic, &nodes).ok());
        });
        self.asked = asking.ok().map(|_| asked);
    }
}

#[cfg(test)]
mod tests;
