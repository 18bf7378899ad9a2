//! Counting calls, each worker those of its own ranks.

use crate::parcel::{To, Window, addressed};
use crate::sent::Rows;
use crate::worker_figures::WorkerFigures;
use mpiscope_model::Call;
use std::cell::RefCell;
use std::rc::Rc;
use timely::dataflow::StreamVec;
use timely::dataflow::operators::Operator;

/// The operator. What is counted does not depend on any order, so no window has to be complete.
pub(crate) fn counting(calls: StreamVec<'_, Window, To<Rows<Call>>>, kept: Rc<RefCell<WorkerFigures>>) {
    calls.sink(addressed(), "count", move |(calls, _frontier)| {
        calls.for_each(|_capability, calls| {
            if let Some(counts) = &mut kept.borrow_mut().counts {
                calls.drain(..).for_each(|(_, calls)| counts.calls(&calls.value.0));
            }
        });
    });
}
