//! The feed between its one owner and the pages, and the clock that they share.

use crate::programs::board::Board;
use crate::programs::findings::findings;
use crate::programs::panels::Panels;
use crate::programs::second::SecondRecording;
use crate::stage::Stage;
use mpiscope_feed::{
    EncodeError, FeedState, FunctionName, JobState, Library, RunEdge, RunSource, Step, Update, runs,
};
use mpiscope_protocol::{Finding, Function, Node, Verdict};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::watch;

/// The owner's end. One task or thread has it.
#[derive(Debug)]
pub struct Publisher {
    state: Arc<Mutex<FeedState>>,
    number: watch::Sender<u64>,
    stage: Arc<Stage>,
    board: Arc<Board>,
    second: Arc<OnceLock<SecondRecording>>,
}

/// The pages' end.
#[derive(Debug, Clone)]
pub struct Source {
    state: Arc<Mutex<FeedState>>,
    number: watch::Receiver<u64>,
    pub(crate) library: Arc<Library>,
    pub(crate) stage: Arc<Stage>,
    pub(crate) board: Arc<Board>,
    pub(crate) panels: Arc<Panels>,
    findings: Arc<Mutex<KeptFindings>>,
    second: Arc<OnceLock<SecondRecording>>,
}

/// What was found about the run, and the number of the state it was found in.
#[derive(Debug, Default)]
struct KeptFindings {
    number: Option<u64>,
    findings: Arc<Vec<Finding>>,
}

/// What programs learn of the run when they connect.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) command: String,
    pub(crate) ranks: u32,
    pub(crate) nodes: Vec<Node>,
    pub(crate) functions: Vec<Function>,
    pub(crate) is_live: bool,
    /// How long it took, where it has ended.
    pub(crate) run_ns: Option<f64>,
}

/// Shares a feed, and what can be asked about its run, between one owner and any number of pages.
#[must_use]
pub fn live(state: FeedState, library: Arc<Library>) -> (Publisher, Source) {
    let (sender, receiver) = watch::channel(state.number());
    let stage = Arc::new(Stage::new(known(&state)));
    let state = Arc::new(Mutex::new(state));
    let board = Arc::new(Board::default());
    let publisher = Publisher {
        state: Arc::clone(&state),
        number: sender,
        stage: Arc::clone(&stage),
        board: Arc::clone(&board),
        second: Arc::default(),
    };
    let second = Arc::clone(&publisher.second);
    let (panels, findings) = (Arc::default(), Arc::default());
    (publisher, Source { state, number: receiver, library, stage, board, panels, findings, second })
}

impl Publisher {
    /// Takes an update and wakes the pages. Never waits for one of them: the lock is held by them only while they take
    /// a reference, and once for each number while a snapshot is written into memory. Works from any thread.
    pub fn publish(&mut self, update: &Update<'_>) -> u64 {
        let number = lock(&self.state).apply(update);
        self.number.send_if_modified(|current| std::mem::replace(current, number) != number);
        number
    }

    /// Adds a second recording for programs, once, before anybody is let in.
    pub fn add_second(&mut self, second: SecondRecording) {
        // There is one second recording.
        let _ = self.second.set(second);
    }

    /// Whether any page is open, or a program connected.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.stage.pages() > 0 || self.board.clients() > 0
    }

    /// Whether a page wants calls recorded from now on; none where none said so since this was asked last.
    #[must_use]
    pub fn wanted(&self) -> Option<bool> {
        self.stage.take_wanted()
    }
}

impl Source {
    /// The number of the current state.
    #[must_use]
    pub fn number(&self) -> u64 {
        *self.number.borrow()
    }

    /// Whether any page is open, or a program connected.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.stage.pages() > 0 || self.board.clients() > 0
    }

    /// What a page needs next that has `last`; nothing when it is up to date.
    pub(crate) fn next_after(&self, last: Option<u64>) -> Result<Option<Step>, EncodeError> {
        lock(&self.state).next_after(last)
    }

    /// What there is to be shown.
    pub(crate) fn known(&self) -> RunEdge {
        known(&lock(&self.state))
    }

    /// The recording that is on the clock of this one, if there is one.
    pub(crate) fn second(&self) -> Option<&SecondRecording> {
        self.second.get()
    }

    /// What programs learn of the run.
    pub(crate) fn about(&self) -> About {
        let state = lock(&self.state);
        let mut of_node: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        state.ranks().for_each(|rank| of_node.entry(rank.node).or_default().push(rank.rank.0));
        let nodes = state.nodes().map(|node| {
            let ranks = of_node.remove(&node.node).unwrap_or_default();
            Node { node: node.node.0, name: node.name.clone(), ranks: runs(ranks) }
        });
        let (known, job) = (known(&state), state.job());
        let function = |function: &FunctionName| Function {
            id: function.id.into(),
            name: function.name.to_owned(),
            family: function.family.to_owned(),
        };
        About {
            command: job.command.clone(),
            ranks: job.ranks,
            nodes: nodes.collect(),
            functions: self.library.functions().iter().map(function).collect(),
            is_live: known.live,
            run_ns: Some(known.until_ns).filter(|_| !known.live),
        }
    }

    /// Grows with what [`Self::about`] has of ranks and hosts.
    pub(crate) fn outline(&self) -> (u32, usize, usize) {
        let state = lock(&self.state);
        (state.job().ranks, state.rank_count(), state.node_count())
    }

    /// What there is to be shown, and whether that is all of a run that has ended: both of one state.
    pub(crate) fn known_or_over(&self) -> (RunEdge, bool) {
        let state = lock(&self.state);
        let known = known(&state);
        (known, state.number() > 0 && !known.live)
    }

    /// Why time was lost, for subscription 0.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        let state = lock(&self.state);
        let (verdict, is_final) = state.verdict()?;
        let mpiscope_feed::Verdict { cause, avoidable_s, avoidable_wall_s, share, confidence, basis, .. } =
            verdict.clone();
        let basis = basis.state.word().into();
        Some(Verdict { id: 0, cause, avoidable_s, avoidable_wall_s, share, confidence, basis, is_final })
    }

    /// What was found about the run, in the order of when it begins. Written once for each number of the state.
    pub(crate) fn findings(&self) -> Arc<Vec<Finding>> {
        let mut kept = lock(&self.findings);
        let state = lock(&self.state);
        if kept.number != Some(state.number()) {
            let (found, hangs) = state.findings();
            *kept = KeptFindings { number: Some(state.number()), findings: Arc::new(findings(found, hangs)) };
        }
        Arc::clone(&kept.findings)
    }

    /// Returns when there is a newer number than at the last call, or never again once the owner is gone.
    pub(crate) async fn changed(&mut self) {
        if self.number.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn known(state: &FeedState) -> RunEdge {
    let (clock, job) = (state.clock(), state.job());
    let moves = matches!(job.state, JobState::Waiting | JobState::Running);
    RunEdge {
        until_ns: clock.now_ns.saturating_sub(clock.lag_ns) as f64,
        live: moves && job.source == RunSource::Live,
    }
}

/// Returns when the server is to end, or is gone.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender, and with it the server, is gone.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// A panic elsewhere while the lock was held leaves values that are still fine to show.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
