//! Where the input of the delay budget comes in, at each worker what concerns its ranks.

use crate::parcel::{Messages, News, To, Window, addressed};
use crate::settling::Settling;
use mpiscope_matching::Matched;
use std::cell::RefCell;
use std::rc::Rc;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::{Scope, StreamVec};
use timely::progress::frontier::MutableAntichain;

/// The operator. It takes in what comes, and how far all is in; the worker settles windows between its steps.
pub(crate) fn budgeting<'scope>(
    scope: Scope<'scope, Window>,
    news: StreamVec<'scope, Window, To<News>>,
    messages: StreamVec<'scope, Window, To<Messages>>,
    settling: Rc<RefCell<Settling>>,
) {
    let mut builder = OperatorBuilder::new("budget".to_owned(), scope);
    let mut news = builder.new_input(news, addressed());
    let mut messages = builder.new_input(messages, addressed());
    builder.build(move |_capabilities| {
        move |frontiers| {
            let mut settling = settling.borrow_mut();
            news.for_each(|capability, news| {
                let of = settling.news.entry(*capability.time()).or_default();
                of.extend(news.drain(..).map(|(_, news)| news.value));
            });
            messages.for_each(|capability, messages| {
                let of = settling.matched.entry(*capability.time()).or_default();
                of.extend(messages.drain(..).map(|(_, messages)| Matched::from(messages.value)));
            });
            settling.in_until = in_until(frontiers);
        }
    });
}

/// The first window that may still get input.
fn in_until(frontiers: &[MutableAntichain<Window>]) -> Option<Window> {
    frontiers.iter().filter_map(|frontier| frontier.frontier().iter().copied().min()).min()
}
