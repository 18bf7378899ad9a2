//! One worker: a thread that steps its part of the dataflow until nothing comes any more. Panics do not leave it.

use crate::dataflow::{Input, build};
use crate::error::FlowError;
use crate::gate::{Gate, Next};
use crate::packet::Packet;
use crate::parcel::{CENTER, reader};
use crate::peers::Peers;
use crate::settling::{Role, Settling};
use crate::worker_figures::WorkerFigures;
use mpiscope_diagnosis::{Budgeter, Owners};
use mpiscope_matching::Counts;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use timely::worker::Worker;

/// What a worker leaves: nothing but at the center, which has the figures of all.
#[derive(Debug)]
pub(crate) struct Left(pub(crate) Option<(Budgeter, WorkerFigures)>);

/// What all workers are started with.
pub(crate) struct Plan {
    pub(crate) window_ns: u64,
    pub(crate) counts_window_ns: Option<u64>,
    pub(crate) owners: Owners,
    /// Workers of each process, and the first of this one.
    pub(crate) threads: usize,
    pub(crate) first: usize,
    /// By worker of this process.
    pub(crate) settling: Mutex<Vec<Option<(Role, Peers)>>>,
    pub(crate) gate: Arc<Gate>,
}

/// Runs a worker; when it panics, here or in another thread, all leave everything as it is.
pub(crate) fn fenced<T>(
    worker: &mut Worker,
    gate: &Gate,
    work: impl FnOnce(&mut Worker) -> Option<T>,
) -> Option<T> {
    let left = catch_unwind(AssertUnwindSafe(|| work(worker)));
    // What was not finished is not stepped any more, or those who wait for it would wait for ever.
    let cleared = catch_unwind(AssertUnwindSafe(|| {
        worker.installed_dataflows().into_iter().for_each(|dataflow| worker.drop_dataflow(dataflow));
    }));
    match (left, cleared) {
        (Ok(left), Ok(())) => left,
        (Err(payload), _) | (_, Err(payload)) => {
            gate.fail(FlowError::Failed(text_of(&*payload)));
            None
        }
    }
}

/// The text of a panic.
pub(crate) fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

/// Works until nothing comes any more; leaves nothing when it has to stop before.
pub(crate) fn work(worker: &mut Worker, plan: &Plan) -> Option<Left> {
    let counts = plan.counts_window_ns.map(Counts::new);
    let kept = Rc::new(RefCell::new(WorkerFigures { counts, ..WorkerFigures::default() }));
    let at = worker.index().checked_sub(plan.first)?;
    let own = plan.settling.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at)?.take();
    let (role, peers) = own?;
    let settling = Settling::new(role, peers, Arc::clone(&plan.gate), plan.window_ns);
    let settling = Rc::new(RefCell::new(settling));
    let input = build(worker, (plan.first / plan.threads, plan.window_ns), plan.owners, &kept, &settling);
    let mut input = Some(input).filter(|_| at == reader(plan.threads));
    while !plan.gate.is_over() {
        let has_read = read(&mut input, &plan.gate);
        let goes_on = {
            let mut settling = settling.borrow_mut();
            let has_answered = worker.index() == CENTER && settling.answer(plan.gate.questions());
            settling.step().ok()? | has_answered
        };
        // A question, or another worker that was waited for, may have taken the wake-up that was meant for the worker: it
        // looks again.
        let is_active = worker.step_or_park((has_read || goes_on).then_some(Duration::ZERO));
        if !is_active && settling.borrow().is_finished {
            return leave(Rc::into_inner(settling)?.into_inner(), Rc::into_inner(kept)?.into_inner());
        }
    }
    None
}

/// The center takes in what all others counted.
fn leave(settling: Settling, mut figures: WorkerFigures) -> Option<Left> {
    let (budgeter, mut peers) = settling.into_parts();
    let Some(budgeter) = budgeter else {
        peers.send(CENTER, Packet::Figures(Box::new(figures)));
        return Some(Left(None));
    };
    let all = peers.wait_for_all(|_, packet| match packet {
        Packet::Figures(figures) => Ok(*figures),
        packet => Err(packet),
    });
    all.ok()?.into_iter().for_each(|of_worker| figures.merge(of_worker));
    Some(Left(Some((budgeter, figures))))
}

/// Puts the next batch into the dataflow; returns whether there was one.
fn read(input: &mut Option<Input>, gate: &Gate) -> bool {
    let Some(open) = input else { return false };
    match gate.next() {
        Next::Read(fed) => {
            let complete = fed.complete;
            open.send(*fed);
            // Later input belongs to the first window that is not complete.
            open.advance_to(complete.max(*open.time()));
            open.flush();
            true
        }
        Next::Wait => false,
        Next::End => {
            *input = None;
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Batch;
    use timely::dataflow::operators::{Exchange, Input, Inspect};
    use timely::{CommunicationConfig, Config, WorkerConfig};

    /// Three workers send each other numbers for ever, until one of them panics.
    #[test]
    fn one_that_panics_ends_all() {
        let gate = Arc::new(Gate::new(100, 10));
        let of_workers = Arc::clone(&gate);
        let config =
            Config { communication: CommunicationConfig::Process(3), worker: WorkerConfig::default() };
        let guards = timely::execute(config, move |worker| {
            fenced(worker, &of_workers, |worker| {
                let index = worker.index();
                let mut input = worker.dataflow::<u64, _, _>(|scope| {
                    let (input, numbers) = scope.new_input::<Vec<u64>>();
                    numbers.exchange(|number| *number).inspect(move |number| {
                        assert!(index != 1 || *number < 3_000, "{number} is too much");
                    });
                    input
                });
                for number in 0.. {
                    if of_workers.is_over() {
                        return None;
                    }
                    input.send(number);
                    input.advance_to(number + 1);
                    worker.step();
                }
                Some(())
            })
        });
        let left = guards.unwrap().join();
        assert_eq!(left, [Ok(None), Ok(None), Ok(None)]);
        let Some(FlowError::Failed(text)) = gate.failure() else { panic!("nothing failed") };
        assert!(text.ends_with("is too much"), "{text}");
        // Whoever feeds or asks learns of it.
        assert!(gate.feed(Batch::default(), 0, true).is_err());
        assert!(gate.ask(Box::new(|_| {})).is_err());
    }
}
