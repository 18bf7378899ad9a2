//! The dataflow: batches are split by window and worker, each worker gets what concerns its ranks.
//!
//! ```text
//! reader ─ split ┬ events ── match ┬ messages ── budget ── settling (see there)
//!                ├ places ───┘     │               │
//!                ├ news ───────────┼───────────────┘
//!                └ calls ── count ─┘ (figures stay with their worker until the end)
//! ```

use crate::budgeting::budgeting;
use crate::counting::counting;
use crate::gate::Fed;
use crate::matching::matching;
use crate::parcel::Window;
use crate::settling::Settling;
use crate::split::split;
use crate::worker_figures::WorkerFigures;
use mpiscope_diagnosis::Owners;
use std::cell::RefCell;
use std::rc::Rc;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::InputHandle;
use timely::dataflow::operators::Input as _;
use timely::worker::Worker;

/// Where the reader puts batches.
pub(crate) type Input = InputHandle<Window, CapacityContainerBuilder<Vec<Fed>>>;

/// Builds one worker's part of it.
pub(crate) fn build(
    worker: &mut Worker,
    (process, window_ns): (usize, u64),
    owners: Owners,
    kept: &Rc<RefCell<WorkerFigures>>,
    settling: &Rc<RefCell<Settling>>,
) -> Input {
    let counts = kept.borrow().counts.is_some();
    worker.dataflow(|scope| {
        let (input, batches) = scope.new_input();
        let parts = split(scope, batches, (process, window_ns), owners, counts);
        counting(parts.calls, Rc::clone(kept));
        let messages = matching(parts.events, parts.places, owners, Rc::clone(kept));
        budgeting(scope, parts.news, messages, Rc::clone(settling));
        input
    })
}
