//! Counting calls, each worker those of its own ranks.

use crate::parcel::{Window, to_owners};
use crate::plain::{CallRow, renamed};
use crate::worker_figures::WorkerFigures;
use mpiscope_diagnosis::Owners;
use std::cell::RefCell;
use std::rc::Rc;
use timely::dataflow::StreamVec;
use timely::dataflow::operators::Operator;

/// The operator. What is counted does not depend on any order, so no window has to be complete.
pub(crate) fn counting(
    calls: StreamVec<'_, Window, CallRow>,
    owners: Owners,
    kept: Rc<RefCell<WorkerFigures>>,
) {
    calls.sink(to_owners(owners, |call: &CallRow| call.0.rank), "count", move |(calls, _frontier)| {
        calls.for_each(|_capability, calls| {
            if let Some(counts) = &mut kept.borrow_mut().counts {
                counts.calls(&renamed(std::mem::take(calls)));
            }
        });
    });
}
