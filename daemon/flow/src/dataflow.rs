//! The dataflow: batches are split by window, events go to the keepers of their receivers, everything else to the
//! budget worker.
//!
//! ```text
//! reader ─ split ┬ events ── match ┬ messages ── budget
//!                ├ places ───┘     │               │
//!                ├ news ───────────┼───────────────┘
//!                └ calls ── count ─┘ (figures stay with their worker until the end)
//! ```

use crate::budgeting::{BudgetState, budgeting};
use crate::counting::counting;
use crate::gate::{Fed, Gate};
use crate::matching::matching;
use crate::parcel::Window;
use crate::split::split;
use crate::worker_figures::WorkerFigures;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::InputHandle;
use timely::dataflow::operators::Input as _;
use timely::worker::Worker;

/// Where the reader puts batches.
pub(crate) type Input = InputHandle<Window, CapacityContainerBuilder<Vec<Fed>>>;

/// Builds one worker's part of it.
pub(crate) fn build(
    worker: &mut Worker,
    window_ns: u64,
    kept: &Rc<RefCell<WorkerFigures>>,
    budget_state: Option<Rc<RefCell<BudgetState>>>,
    gate: &Arc<Gate>,
) -> Input {
    let counts = kept.borrow().counts.is_some();
    worker.dataflow(|scope| {
        let (input, batches) = scope.new_input();
        let parts = split(scope, batches, window_ns, counts);
        counting(parts.calls, Rc::clone(kept));
        let messages = matching(parts.events, parts.places, Rc::clone(kept));
        budgeting(scope, parts.news, messages, budget_state, Arc::clone(gate));
        input
    })
}
