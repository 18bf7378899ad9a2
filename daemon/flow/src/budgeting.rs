//! The budget, on one worker: waits may lead from any rank to any other.

use crate::gate::{Gate, Question};
use crate::parcel::{Messages, News, Window, to_budget_worker};
use crate::plain::renamed;
use mpiscope_diagnosis::Budgeter;
use mpiscope_matching::Matched;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::{Scope, StreamVec};
use timely::progress::frontier::MutableAntichain;

/// What is known until all of a window is in.
pub(crate) struct BudgetState {
    window_ns: u64,
    budgeter: Budgeter,
    /// The next window to analyse.
    next: Window,
    /// By the window that was next when it was read: it comes before that one.
    news: VecDeque<(Window, News)>,
    matched: BTreeMap<Window, Vec<Matched>>,
    last_event: Option<Window>,
    complete: Window,
}

impl BudgetState {
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

    /// Answers questions; returns whether there were any.
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
            news.places.iter().for_each(|(rank, node)| self.budgeter.place(rank.0, node.0));
            news.comms.iter().for_each(|comm| self.budgeter.comm(&comm.0));
            self.budgeter.feed(&renamed(news.activities), &Matched::default(), &renamed(news.scheduling));
            self.budgeter.collect(&renamed(news.collected));
            self.last_event = self.last_event.max(news.last_event);
            self.complete = news.complete;
        }
    }

    /// The next window with any events; none when nothing waits.
    fn due(&self) -> Option<Window> {
        let settled = self.budgeter.next_window_end_ns().map(|end_ns| end_ns / self.window_ns - 1);
        settled.into_iter().chain(self.matched.keys().next().copied()).min()
    }

    /// Analyses the next window, if all before `in_until` (or simply all) is in, or skips windows without events.
    /// Returns whether it did.
    fn window(&mut self, in_until: Option<Window>) -> bool {
        self.tell();
        let due = self.due();
        let until = match in_until {
            Some(until) => until.min(self.complete),
            // All is in: the windows of the last events, and of the last calls that wait, are complete too.
            None => self.last_event.into_iter().chain(due).fold(self.complete, |until, at| until.max(at + 1)),
        };
        if self.next >= until {
            return false;
        }
        let news = self.news.front().map(|(window, _)| *window);
        let next = due.into_iter().chain(news).fold(until, Window::min);
        if next > self.next {
            self.next = next;
            self.budgeter.skip(self.next.saturating_mul(self.window_ns));
            return true;
        }
        // No receiver is in two of them, and which receiver's messages come first does not matter.
        for matched in self.matched.remove(&self.next).unwrap_or_default() {
            self.budgeter.feed(&[], &matched, &[]);
        }
        self.next += 1;
        self.budgeter.settle(self.next.saturating_mul(self.window_ns));
        true
    }
}

/// The operator. It analyses one window each time it is scheduled, to answer questions between windows, and asks to be
/// scheduled again.
pub(crate) fn budgeting<'scope>(
    scope: Scope<'scope, Window>,
    news: StreamVec<'scope, Window, News>,
    messages: StreamVec<'scope, Window, Messages>,
    budget_state: Option<Rc<RefCell<BudgetState>>>,
    gate: Arc<Gate>,
) {
    let mut builder = OperatorBuilder::new("budget".to_owned(), scope);
    let mut news = builder.new_input(news, to_budget_worker());
    let mut messages = builder.new_input(messages, to_budget_worker());
    let activator = scope.activator_for(builder.operator_info().address);
    builder.build_reschedule(move |_capabilities| {
        move |frontiers| {
            // Nothing comes to the others.
            let Some(budget_state) = &budget_state else { return false };
            let mut budget_state = budget_state.borrow_mut();
            news.for_each(|capability, news| {
                budget_state.news.extend(news.drain(..).map(|news| (*capability.time(), news)));
            });
            messages.for_each(|capability, messages| {
                let of = budget_state.matched.entry(*capability.time()).or_default();
                of.extend(messages.drain(..).map(Matched::from));
            });
            let goes_on = budget_state.window(in_until(frontiers));
            if goes_on {
                gate.budgeted(budget_state.next);
                activator.activate();
            }
            goes_on
        }
    });
}

/// The first window that may still get input.
fn in_until(frontiers: &[MutableAntichain<Window>]) -> Option<Window> {
    frontiers.iter().filter_map(|frontier| frontier.frontier().iter().copied().min()).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_diagnosis::BudgetOptions;
    use mpiscope_model::{Activity, CallId, Effect, Rank};

    /// Two calls a hundred years apart are two windows and two skips, whether they come together or not.
    #[test]
    fn steps_follow_calls_and_not_the_time_between_them() {
        let late_ns = 1 << 61;
        let options = BudgetOptions { window_ns: 100, ..BudgetOptions::default() };
        let call = |number, end_ns| Activity {
            rank: Rank(0),
            call: CallId::new(0, number),
            function: 1,
            start_ns: end_ns - 10,
            end_ns,
            since_ns: end_ns - 10,
            effect: Effect::Other,
            site: None,
            after_loss: false,
        };
        let last = late_ns / options.window_ns;
        let calls = vec![call(0, 50), call(1, late_ns)];
        let at_once = vec![(0, calls.clone())];
        let apart = vec![(0, vec![calls[0]]), (5, vec![calls[1]])];
        for fed in [at_once, apart] {
            let mut budget_state = BudgetState::new(Budgeter::new(options), options.window_ns);
            for (window, activities) in fed {
                let news = News {
                    activities: renamed(activities),
                    last_event: Some(last),
                    complete: 5,
                    ..News::default()
                };
                budget_state.news.push_back((window, news));
            }
            let steps = (0..100).take_while(|_| budget_state.window(None)).count();
            assert!(steps <= 6, "{steps} steps");
            assert_eq!(budget_state.next, last + 1);
            assert_eq!(budget_state.budgeter.next_window_end_ns(), None);
        }
    }
}
