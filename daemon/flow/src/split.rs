//! Splits a batch by window and by who needs what of it.

use crate::gate::Fed;
use crate::parcel::{News, Place, Window};
use crate::plain::{CallRow, EventRow, renamed};
use mpiscope_analysis::ToReceiver;
use mpiscope_model::{Batch, Event, Nanoseconds};
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::{Scope, StreamVec};

/// What batches are made of.
pub(crate) struct Parts<'scope> {
    pub(crate) news: StreamVec<'scope, Window, News>,
    pub(crate) places: StreamVec<'scope, Window, Place>,
    pub(crate) events: StreamVec<'scope, Window, EventRow>,
    pub(crate) calls: StreamVec<'scope, Window, CallRow>,
}

/// Events of one window.
struct OfWindow {
    window: Window,
    events: Vec<EventRow>,
}

/// Events by window, in their order. What ended in a window that is over counts in the first that is not.
fn by_window(events: Vec<Event>, ends_ns: &[Nanoseconds], first: Window, window_ns: u64) -> Vec<OfWindow> {
    let mut windows: Vec<OfWindow> = Vec::new();
    // Mostly an event is in the window of the one before it.
    let mut at = 0;
    for (event, end_ns) in events.into_iter().zip(ends_ns) {
        let window = (end_ns / window_ns).max(first);
        if windows.get(at).is_none_or(|of| of.window != window) {
            at = windows.iter().position(|of| of.window == window).unwrap_or_else(|| {
                windows.push(OfWindow { window, events: Vec::new() });
                windows.len() - 1
            });
        }
        let (of, other) = ToReceiver::of(event);
        let events = &mut windows[at].events;
        events.push(EventRow(of));
        events.extend(other.map(EventRow));
    }
    windows
}

/// The operator.
pub(crate) fn split<'scope>(
    scope: Scope<'scope, Window>,
    batches: StreamVec<'scope, Window, Fed>,
    window_ns: u64,
    counts: bool,
) -> Parts<'scope> {
    let mut builder = OperatorBuilder::new("split".to_owned(), scope);
    let mut input = builder.new_input(batches, Pipeline);
    let (news_out, news) = builder.new_output();
    let (places_out, places) = builder.new_output();
    let (events_out, events) = builder.new_output();
    let (calls_out, calls) = builder.new_output();
    let mut news_out = OutputBuilder::from(news_out);
    let mut places_out = OutputBuilder::from(places_out);
    let mut events_out = OutputBuilder::from(events_out);
    let mut calls_out = OutputBuilder::from(calls_out);
    let peers = scope.peers();
    builder.build(move |capabilities| {
        drop(capabilities);
        move |_frontiers| {
            let mut news_out = news_out.activate();
            let mut places_out = places_out.activate();
            let mut events_out = events_out.activate();
            let mut calls_out = calls_out.activate();
            input.for_each(|capability, batches| {
                let first = *capability.time();
                for Fed { batch, complete } in batches.drain(..) {
                    let Batch { ranks, comms, calls, activities, events, events_end_ns, scheduling, .. } =
                        batch;
                    let places: Vec<_> = ranks.iter().map(|info| (info.rank, info.node)).collect();
                    if !places.is_empty() {
                        let to_all = (0..peers)
                            .flat_map(|worker| places.iter().map(move |(rank, node)| (worker, *rank, *node)));
                        places_out.session(&capability).give_iterator(to_all);
                    }
                    if counts && !calls.is_empty() {
                        calls_out.session(&capability).give_container(&mut renamed(calls));
                    }
                    let mut last_event = None;
                    for mut of in by_window(events, &events_end_ns, first, window_ns) {
                        last_event = last_event.max(Some(of.window));
                        let later = capability.delayed(&of.window, 2);
                        events_out.session(&later).give_container(&mut of.events);
                    }
                    news_out.session(&capability).give(News {
                        places,
                        comms: renamed(comms),
                        activities: renamed(activities),
                        scheduling: renamed(scheduling),
                        last_event,
                        complete,
                    });
                }
            });
        }
    });
    Parts { news, places, events, calls }
}
