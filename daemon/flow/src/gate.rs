//! What the thread that feeds and the workers share: batches that wait, questions, and whether anything went wrong.

use crate::error::{FlowError, TryFeedError};
use crate::parcel::{CENTER, Window, reader};
use mpiscope_diagnosis::Budgeter;
use mpiscope_model::Batch;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

/// Runs between two windows.
pub(crate) type Question = Box<dyn FnOnce(&mut Budgeter) + Send>;

/// Complete windows that may be pending before more batches are read. A batch that was read is no longer in the queue,
/// and soon analysed while in the cache.
const MOST_AHEAD: Window = 2;

/// A batch, and which windows are complete after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fed {
    pub(crate) batch: Batch,
    pub(crate) complete: Window,
}

/// What the reader does next.
pub(crate) enum Next {
    Read(Box<Fed>),
    Wait,
    /// Nothing comes any more.
    End,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Fed>,
    is_closed: bool,
    /// Windows before it are complete by what was fed, by what was read, and analysed.
    complete: Window,
    read: Window,
    budgeted: Window,
    /// Calls that were fed since a window was completed last.
    unmarked: u64,
    /// The window until which all is analysed once this number of further calls is.
    marks: VecDeque<(Window, u64)>,
    /// Their sum.
    waiting: u64,
    questions: VecDeque<Question>,
    failed: Option<FlowError>,
    is_abandoned: bool,
}

/// Shared by all threads.
pub(crate) struct Gate {
    window_ns: u64,
    most_calls: u64,
    state: Mutex<State>,
    moved: Condvar,
    /// The workers.
    threads: OnceLock<Vec<Thread>>,
}

impl Gate {
    pub(crate) fn new(window_ns: u64, most_calls: usize) -> Self {
        Self {
            window_ns,
            most_calls: most_calls.max(1) as u64,
            state: Mutex::default(),
            moved: Condvar::new(),
            threads: OnceLock::new(),
        }
    }

    /// Nothing panics that holds it, but for memory.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who the workers are, before anything is fed.
    pub(crate) fn workers(&self, threads: Vec<Thread>) {
        let _ = self.threads.set(threads);
        // Others may have had something for them already.
        self.wake_all();
    }

    /// Wakes a worker of this process that waits for anything to do, by its place there.
    pub(crate) fn wake(&self, worker: usize) {
        if let Some(thread) = self.threads.get().and_then(|threads| threads.get(worker)) {
            thread.unpark();
        }
    }

    fn wake_reader(&self) {
        self.wake(reader(self.threads.get().map_or(1, Vec::len)));
    }

    fn wake_all(&self) {
        self.threads.get().into_iter().flatten().for_each(Thread::unpark);
        self.moved.notify_all();
    }

    /// Takes in a batch, as soon as there is room where it may wait. `elsewhere` calls are fed by other processes at the same place.
    pub(crate) fn feed(&self, batch: Batch, elsewhere: u64, may_wait: bool) -> Result<(), TryFeedError> {
        if batch.events.len() != batch.events_end_ns.len() {
            return Err(FlowError::NotForDiagnosis.into());
        }
        let calls = batch.activities.len() as u64 + elsewhere;
        let mut state = self.state();
        while state.failed.is_none() && state.waiting >= self.most_calls {
            if !may_wait {
                return Err(TryFeedError::Full(Box::new(batch)));
            }
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(error) = &state.failed {
            return Err(error.clone().into());
        }
        // The scheduler's figures for a window come within the next one.
        let complete = (batch.until_ns / self.window_ns).saturating_sub(1);
        state.unmarked += calls;
        if complete > state.complete {
            let unmarked = std::mem::take(&mut state.unmarked);
            state.complete = complete;
            state.marks.push_back((complete, unmarked));
            state.waiting += unmarked;
        }
        let complete = state.complete;
        state.queue.push_back(Fed { batch, complete });
        drop(state);
        self.wake_reader();
        Ok(())
    }

    /// What the reader reads.
    pub(crate) fn next(&self) -> Next {
        let mut state = self.state();
        if state.read > state.budgeted + MOST_AHEAD {
            return Next::Wait;
        }
        match state.queue.pop_front() {
            Some(fed) => {
                state.read = fed.complete;
                Next::Read(Box::new(fed))
            }
            None if state.is_closed => Next::End,
            None => Next::Wait,
        }
    }

    /// All windows before one are analysed.
    pub(crate) fn budgeted(&self, until: Window) {
        let mut state = self.state();
        // The first worker of the process says it.
        if until <= state.budgeted {
            return;
        }
        state.budgeted = until;
        let mut gone = 0;
        while let Some((_, calls)) = state.marks.pop_front_if(|(window, _)| *window <= until) {
            gone += calls;
        }
        state.waiting -= gone;
        drop(state);
        self.moved.notify_all();
        self.wake_reader();
    }

    /// Nothing will be fed any more.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.wake_all();
    }

    /// Nobody wants to know any more.
    pub(crate) fn abandon(&self) {
        self.state().is_abandoned = true;
        self.wake_all();
    }

    /// A worker panicked, or a process is gone. The first has the reason.
    pub(crate) fn fail(&self, error: FlowError) {
        let mut state = self.state();
        state.failed.get_or_insert(error);
        let unanswered = std::mem::take(&mut state.questions);
        drop(state);
        drop(unanswered);
        self.wake_all();
    }

    pub(crate) fn failure(&self) -> Option<FlowError> {
        self.state().failed.clone()
    }

    /// Whether workers have to leave everything as it is.
    pub(crate) fn is_over(&self) -> bool {
        let state = self.state();
        state.failed.is_some() || state.is_abandoned
    }

    pub(crate) fn ask(&self, question: Question) -> Result<(), FlowError> {
        let mut state = self.state();
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        state.questions.push_back(question);
        drop(state);
        self.wake(CENTER);
        Ok(())
    }

    pub(crate) fn questions(&self) -> VecDeque<Question> {
        std::mem::take(&mut self.state().questions)
    }
}
