//! Counting calls, each worker those of its own ranks.

use crate::parcel::{Window, keeper};
use crate::plain::{CallRow, renamed};
use crate::worker::Kept;
use std::cell::RefCell;
use std::rc::Rc;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Operator;

/// The operator. What is counted does not depend on any order, so no window has to be complete.
pub(crate) fn counting(calls: StreamVec<'_, Window, CallRow>, kept: Rc<RefCell<Kept>>) {
    let peers = calls.scope().peers();
    let to_keeper = Exchange::new(move |call: &CallRow| keeper(call.0.rank, peers) as u64);
    calls.sink(to_keeper, "count", move |(calls, _frontier)| {
        calls.for_each(|_capability, calls| {
            if let Some(counts) = &mut kept.borrow_mut().counts {
                counts.calls(&renamed(std::mem::take(calls)));
            }
        });
    });
}
