//! The flow as its users see it.

use crate::error::{FlowError, TryFeedError};
use crate::gate::Gate;
use crate::options::FlowOptions;
use crate::peers::Peers;
use crate::settling::Role;
use crate::worker::{Left, Plan, fenced, text_of, work};
use crate::worker_figures::WorkerFigures;
use mpiscope_diagnosis::{BudgetOptions, Budgeter, Owners, Shard};
use mpiscope_matching::Counts;
use mpiscope_model::Batch;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use timely::communication::WorkerGuards;
use timely::{CommunicationConfig, Config, WorkerConfig};

/// What a flow led to.
#[derive(Debug)]
pub struct Outcome {
    /// Where time went.
    pub budgeter: Budgeter,
    /// What was counted, if it was to be.
    pub counts: Option<Counts>,
    /// Messages whose two sides are known.
    pub messages: u64,
    /// Of them, those paired by best fit.
    pub uncertain: u64,
    /// Sends without a receive.
    pub unmatched_sends: u64,
    /// Receives without a send.
    pub unmatched_receives: u64,
}

/// Analyses a run in threads of its own.
pub struct Flow {
    gate: Arc<Gate>,
    workers: Mutex<Option<WorkerGuards<Option<Left>>>>,
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flow").finish_non_exhaustive()
    }
}

impl Flow {
    /// Starts the workers.
    ///
    /// # Errors
    /// When there are no threads for them.
    pub fn start(options: FlowOptions) -> Result<Self, FlowError> {
        let window_ns = options.budget.window_ns.max(1);
        let options = FlowOptions { budget: BudgetOptions { window_ns, ..options.budget }, ..options };
        let gate = Arc::new(Gate::new(window_ns, options.most_calls));
        let workers = options.workers.clamp(1, usize::from(u16::MAX));
        let owners = Owners { shards: workers as u16, block: options.neighbours.max(1) };
        let plan = Plan {
            window_ns,
            counts_window_ns: options.counts_window_ns,
            owners,
            settling: Mutex::new(settling(&options, owners, &gate)),
            gate: Arc::clone(&gate),
        };
        let communication = match (workers, options.as_bytes) {
            (0 | 1, _) => CommunicationConfig::Thread,
            (workers, false) => CommunicationConfig::Process(workers),
            (workers, true) => CommunicationConfig::ProcessBinary(workers),
        };
        let config = Config { communication, worker: WorkerConfig::default() };
        let guards =
            timely::execute(config, move |worker| fenced(worker, &plan.gate, |worker| work(worker, &plan)));
        let guards = guards.map_err(FlowError::NoWorkers)?;
        gate.workers(guards.guards().iter().map(|guard| guard.thread().clone()).collect());
        Ok(Self { gate, workers: Mutex::new(Some(guards)) })
    }

    /// Takes in a batch, and waits while too much is pending. Its `until_ns` shows which windows are complete: whoever
    /// moves times of calls has to leave a margin. Batches are taken in the order of one thread.
    ///
    /// # Errors
    /// When a worker has panicked, or the batch was not made for diagnosis.
    pub fn feed(&self, batch: Batch) -> Result<(), FlowError> {
        match self.gate.feed(batch, true) {
            Ok(()) => Ok(()),
            Err(TryFeedError::Flow(error)) => Err(error),
            Err(TryFeedError::Full(_)) => unreachable!("it waits for room"),
        }
    }

    /// Takes in a batch, or gives it back when too much is pending.
    ///
    /// # Errors
    /// When there is no room for it, and when `feed` fails.
    pub fn try_feed(&self, batch: Batch) -> Result<(), TryFeedError> {
        self.gate.feed(batch, false)
    }

    /// Asks about the present state, or changes how later windows are analysed. The center answers between two
    /// windows; meanwhile it does nothing else.
    ///
    /// # Errors
    /// When a worker has panicked, or the question does.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Budgeter) -> T + Send + 'static,
    ) -> Result<T, FlowError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.gate.ask(Box::new(move |budgeter| {
            let answer = catch_unwind(AssertUnwindSafe(|| question(budgeter)));
            // Whoever asked waits for it.
            let _ = sender.send(answer.map_err(|payload| FlowError::Question(text_of(&*payload))));
        }))?;
        receiver.recv().unwrap_or_else(|_| Err(self.failure()))
    }

    /// The input has ended: analyses what is left.
    ///
    /// # Errors
    /// When a worker has panicked.
    pub fn finish(self) -> Result<Outcome, FlowError> {
        self.gate.close();
        let mut budgeter = None;
        let mut kept = WorkerFigures::default();
        for left in self.join() {
            let Ok(Some(left)) = left else { return Err(self.failure()) };
            budgeter = budgeter.or(left.budgeter);
            kept.merge(left.kept);
        }
        let WorkerFigures { counts, messages, uncertain, unmatched_sends, unmatched_receives } = kept;
        let budgeter = budgeter.ok_or_else(|| self.failure())?;
        Ok(Outcome { budgeter, counts, messages, uncertain, unmatched_sends, unmatched_receives })
    }

    fn join(&self) -> Vec<Result<Option<Left>, String>> {
        let guards = self.workers.lock().unwrap_or_else(PoisonError::into_inner).take();
        guards.map_or_else(Vec::new, WorkerGuards::join)
    }

    fn failure(&self) -> FlowError {
        self.gate.failure().unwrap_or_else(|| FlowError::Failed("a worker is gone".to_owned()))
    }
}

/// What each worker settles with.
fn settling(options: &FlowOptions, owners: Owners, gate: &Arc<Gate>) -> Vec<Option<(Role, Peers)>> {
    let role = |peers: Peers| {
        let number = peers.number();
        let role = if peers.is_center() {
            Role::Center(Box::new(options.budgeter().with_owners(owners)))
        } else {
            Role::Other(Box::new(Shard::new(options.budget, owners, number as u16)))
        };
        Some((role, peers))
    };
    Peers::all(usize::from(owners.shards), gate).into_iter().map(role).collect()
}

impl Drop for Flow {
    /// Nobody will ask: the workers leave everything as it is.
    fn drop(&mut self) {
        self.gate.abandon();
        self.join();
    }
}
