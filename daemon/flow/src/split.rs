//! Splits a batch by window and by who needs what of it.

use crate::gate::Fed;
use crate::parcel::{News, Place, Window};
use crate::plain::{CallRow, EventRow, renamed};
use mpiscope_analysis::by_window;
use mpiscope_model::Batch;
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
                    let mut last_event = None;
                    for (window, events) in by_window(&batch, window_ns, first) {
                        last_event = last_event.max(Some(window));
                        let later = capability.delayed(&window, 2);
                        let mut rows = events.iter().copied().map(EventRow).collect();
                        events_out.session(&later).give_container(&mut rows);
                    }
                    let Batch { ranks, comms, calls, activities, collected, scheduling, .. } = batch;
                    let places: Vec<_> = ranks.iter().map(|info| (info.rank, info.node)).collect();
                    if !places.is_empty() {
                        let to_all = (0..peers)
                            .flat_map(|worker| places.iter().map(move |(rank, node)| (worker, *rank, *node)));
                        places_out.session(&capability).give_iterator(to_all);
                    }
                    if counts && !calls.is_empty() {
                        calls_out.session(&capability).give_container(&mut renamed(calls));
                    }
                    news_out.session(&capability).give(News {
                        places,
                        comms: renamed(comms),
                        activities: renamed(activities),
                        collected: renamed(collected),
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
