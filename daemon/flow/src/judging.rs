//! The budget, on one worker: who waited for whom may lead from any rank to any other.

use crate::gate::{Gate, Question};
use crate::parcel::{Messages, News, Window, to_judge};
use crate::plain::renamed;
use mpiscope_analysis::{Budgeter, Matched};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::{Scope, StreamVec};
use timely::progress::frontier::MutableAntichain;

/// What is known until all of a window is in.
pub(crate) struct Judge {
    window_ns: u64,
    budgeter: Budgeter,
    /// The window that is judged next.
    next: Window,
    /// By the window that was to be judged next when it was read: it is told before that one.
    news: VecDeque<(Window, News)>,
    matched: BTreeMap<Window, Vec<Matched>>,
    last_event: Option<Window>,
    complete: Window,
}

impl Judge {
    pub(crate) fn new(budgeter: Budgeter, window_ns: u64) -> Self {
        Self {
            window_ns,
            budgeter,
            next: 0,
            news: VecDeque::new(),
            matched: BTreeMap::new(),
            last_event: None,
            complete: 0,
        }
    }

    /// Answers questions; says whether there were any.
    pub(crate) fn answer(&mut self, questions: VecDeque<Question>) -> bool {
        let were_any = !questions.is_empty();
        questions.into_iter().for_each(|question| question(&mut self.budgeter));
        were_any
    }

    pub(crate) fn into_budgeter(self) -> Budgeter {
        self.budgeter
    }

    fn tell(&mut self) {
        while let Some((_, news)) = self.news.pop_front_if(|(window, _)| *window <= self.next) {
            news.places.iter().for_each(|(rank, node)| self.budgeter.place(*rank, *node));
            news.comms.iter().for_each(|comm| self.budgeter.comm(&comm.0));
            self.budgeter.feed(&renamed(news.activities), &Matched::default(), &renamed(news.scheduling));
            self.budgeter.collect(&renamed(news.collected));
            self.last_event = self.last_event.max(news.last_event);
            self.complete = news.complete;
        }
    }

    /// Judges the next window, if all before `in_until` (or simply all) is in. Says whether it did.
    fn window(&mut self, in_until: Option<Window>) -> bool {
        self.tell();
        let until = in_until.map_or(self.complete, |until| until.min(self.complete));
        let nothing_waits = self.last_event.is_none_or(|last| last < self.next)
            && self.budgeter.next_window_end_ns().is_none();
        if self.next >= until && (in_until.is_some() || nothing_waits) {
            return false;
        }
        if nothing_waits {
            self.next = self.news.front().map_or(until, |(window, _)| until.min(*window));
            self.budgeter.skip(self.next * self.window_ns);
            return true;
        }
        // No receiver is in two of them, and which receiver's messages come first does not matter.
        for matched in self.matched.remove(&self.next).unwrap_or_default() {
            self.budgeter.feed(&[], &matched, &[]);
        }
        self.next += 1;
        self.budgeter.settle(self.next * self.window_ns);
        true
    }
}

/// The operator. It judges one window when it is scheduled, so that questions are answered between windows, and asks to
/// be scheduled again.
pub(crate) fn judging<'scope>(
    scope: Scope<'scope, Window>,
    news: StreamVec<'scope, Window, News>,
    messages: StreamVec<'scope, Window, Messages>,
    judge: Option<Rc<RefCell<Judge>>>,
    gate: Arc<Gate>,
) {
    let mut builder = OperatorBuilder::new("judge".to_owned(), scope);
    let mut news = builder.new_input(news, to_judge());
    let mut messages = builder.new_input(messages, to_judge());
    let activator = scope.activator_for(builder.operator_info().address);
    builder.build_reschedule(move |_capabilities| {
        move |frontiers| {
            // Nothing comes to the others.
            let Some(judge) = &judge else { return false };
            let mut judge = judge.borrow_mut();
            news.for_each(|capability, news| {
                judge.news.extend(news.drain(..).map(|news| (*capability.time(), news)));
            });
            messages.for_each(|capability, messages| {
                let of = judge.matched.entry(*capability.time()).or_default();
                of.extend(messages.drain(..).map(Matched::from));
            });
            let goes_on = judge.window(in_until(frontiers));
            if goes_on {
                gate.judged(judge.next);
                activator.activate();
            }
            goes_on
        }
    });
}

/// The first window of which something may still come.
fn in_until(frontiers: &[MutableAntichain<Window>]) -> Option<Window> {
    frontiers.iter().filter_map(|frontier| frontier.frontier().iter().copied().min()).min()
}
