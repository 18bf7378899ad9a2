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

    /// The next window in which anything happens, by what is in; none when nothing waits.
    fn due(&self) -> Option<Window> {
        let settled = self.budgeter.next_window_end_ns().map(|end_ns| end_ns / self.window_ns - 1);
        settled.into_iter().chain(self.matched.keys().next().copied()).min()
    }

    /// Judges the next window, if all before `in_until` (or simply all) is in, or skips those in which nothing happens.
    /// Says whether it did.
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

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_analysis::BudgetOptions;
    use mpiscope_model::{Activity, CallId, Deed};

    /// Two calls a hundred years apart are two windows and two skips, whether they come together or not.
    #[test]
    fn steps_follow_calls_and_not_the_time_between_them() {
        let late_ns = 1 << 61;
        let options = BudgetOptions { window_ns: 100, ..BudgetOptions::default() };
        let call = |number, end_ns| Activity {
            rank: 0,
            call: CallId::new(0, number),
            function: 1,
            start_ns: end_ns - 10,
            end_ns,
            since_ns: end_ns - 10,
            deed: Deed::Other,
            site: None,
            after_loss: false,
        };
        let last = late_ns / options.window_ns;
        let calls = vec![call(0, 50), call(1, late_ns)];
        let at_once = vec![(0, calls.clone())];
        let apart = vec![(0, vec![calls[0]]), (5, vec![calls[1]])];
        for told in [at_once, apart] {
            let mut judge = Judge::new(Budgeter::new(options), options.window_ns);
            for (window, activities) in told {
                let news = News {
                    activities: renamed(activities),
                    last_event: Some(last),
                    complete: 5,
                    ..News::default()
                };
                judge.news.push_back((window, news));
            }
            let steps = (0..100).take_while(|_| judge.window(None)).count();
            assert!(steps <= 6, "{steps} steps");
            assert_eq!(judge.next, last + 1);
            assert_eq!(judge.budgeter.next_window_end_ns(), None);
        }
    }
}
