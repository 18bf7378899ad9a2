//! The flow as its users see it.

use crate::cluster::Cluster;
use crate::crew::Crew;
use crate::error::{FlowError, TryFeedError};
use crate::gate::Gate;
use crate::options::FlowOptions;
use crate::share::Share;
use crate::worker::text_of;
use crate::worker_figures::WorkerFigures;
use mpiscope_diagnosis::Budgeter;
use mpiscope_matching::Counts;
use mpiscope_model::Batch;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};

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

/// Analyses a run in threads of its own, and perhaps in other processes.
pub struct Flow(Crew);

impl std::fmt::Debug for Flow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flow").finish_non_exhaustive()
    }
}

impl Flow {
    /// Starts the workers, all in this process.
    ///
    /// # Errors
    /// When there are no threads for them.
    pub fn start(options: &FlowOptions) -> Result<Self, FlowError> {
        Self::start_over(options, Cluster { number: 0, peers: vec![None] })
    }

    /// Starts the workers of this process, the first of several that share the flow. The others work on their shares meanwhile
    /// ([`work_on_share`](crate::work_on_share)).
    ///
    /// # Errors
    /// When there are no threads for them.
    pub fn start_over(options: &FlowOptions, cluster: Cluster) -> Result<Self, FlowError> {
        let share = Share::new(options);
        let budgeter = options.budgeter(share.budget);
        let gate = Arc::new(Gate::new(share.budget.window_ns, options.most_calls));
        Ok(Self(Crew::start(&share, Some(budgeter), cluster, gate)?))
    }

    /// Takes in a batch, and waits while too much is pending. Its `until_ns` shows which windows are complete: whoever
    /// moves times of calls has to leave a margin. Batches are taken in the order of one thread.
    ///
    /// # Errors
    /// When a worker has panicked or a process is gone, or the batch was not made for diagnosis.
    pub fn feed(&self, batch: Batch) -> Result<(), FlowError> {
        self.feed_beside(batch, 0)
    }

    /// Likewise, where other processes feed this number of calls at the same place ([`Feeder`]): they take room, too.
    ///
    /// # Errors
    /// As of [`Flow::feed`].
    pub fn feed_beside(&self, batch: Batch, calls: u64) -> Result<(), FlowError> {
        match self.0.gate.feed(batch, calls, true) {
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
        self.0.gate.feed(batch, 0, false)
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
        self.0.gate.ask(Box::new(move |budgeter| {
            let answer = catch_unwind(AssertUnwindSafe(|| question(budgeter)));
            // Whoever asked waits for it.
            let _ = sender.send(answer.map_err(|payload| FlowError::Question(text_of(&*payload))));
        }))?;
        receiver.recv().unwrap_or_else(|_| Err(self.0.failure()))
    }

    /// The input has ended: analyses what is left.
    ///
    /// # Errors
    /// When a worker has panicked, or a process is gone.
    pub fn finish(self) -> Result<Outcome, FlowError> {
        self.0.gate.close();
        let found = self.0.finish()?;
        let (budgeter, figures) =
            found.ok_or_else(|| FlowError::Failed("this process is not the first".to_owned()))?;
        let WorkerFigures { counts, messages, uncertain, unmatched_sends, unmatched_receives } = figures;
        Ok(Outcome { budgeter, counts, messages, uncertain, unmatched_sends, unmatched_receives })
    }
}

/// What a process with a share of a flow feeds: the calls of its ranks, and no more. The center's process feeds all else at the same
/// places, with the same `until_ns`.
#[derive(Clone)]
pub struct Feeder(Arc<Gate>);

impl Feeder {
    /// Of a share that is not worked on yet; what it takes in waits for that.
    ///
    /// # Errors
    /// When the share cannot be read.
    pub fn new(share: &[u8]) -> Result<Self, FlowError> {
        Ok(Self(Arc::new(Share::of_another(share)?.gate())))
    }

    /// Takes in a batch, or gives it back when too much is pending.
    ///
    /// # Errors
    /// When there is no room for it, and when the flow is over.
    pub fn try_feed(&self, batch: Batch) -> Result<(), TryFeedError> {
        self.0.feed(batch, 0, false)
    }

    /// Nothing more comes.
    pub fn close(&self) {
        self.0.close();
    }
}

impl std::fmt::Debug for Feeder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Feeder").finish_non_exhaustive()
    }
}

/// Works on the share of a flow of another process, until that ends. `share` is what [`FlowOptions::for_others`] has there, and
/// `feeder` what this process feeds, where others feed.
///
/// # Errors
/// When any process fails or is gone, when the flow was given up, and when the share cannot be read.
pub fn work_on_share(share: &[u8], cluster: Cluster, feeder: Option<Feeder>) -> Result<(), FlowError> {
    let share = Share::of_another(share)?;
    let feeder = match feeder {
        Some(feeder) => feeder,
        None => {
            let feeds_nothing = Feeder(Arc::new(share.gate()));
            feeds_nothing.close();
            feeds_nothing
        }
    };
    Crew::start(&share, None, cluster, feeder.0)?.finish().map(|_| ())
}
