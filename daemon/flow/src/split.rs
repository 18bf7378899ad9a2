//! Splits a batch by window and by operator.

use crate::gate::Fed;
use crate::parcel::{Events, News, Places, To, Window, owner};
use crate::sent::{Rows, Sent};
use mpiscope_diagnosis::Owners;
use mpiscope_matching::{by_window, receivers};
use mpiscope_model::{Batch, Call, Event};
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::{Scope, StreamVec};

/// What batches are made of.
pub(crate) struct Parts<'scope> {
    pub(crate) news: StreamVec<'scope, Window, To<News>>,
    pub(crate) places: StreamVec<'scope, Window, To<Places>>,
    pub(crate) events: StreamVec<'scope, Window, To<Events>>,
    pub(crate) calls: StreamVec<'scope, Window, To<Rows<Call>>>,
}

/// The operator.
pub(crate) fn split<'scope>(
    scope: Scope<'scope, Window>,
    batches: StreamVec<'scope, Window, Fed>,
    (process, window_ns): (usize, u64),
    owners: Owners,
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
                for Fed { mut batch, complete } in batches.drain(..) {
                    let mut last_event = None;
                    for (window, events) in by_window(&batch, window_ns, first) {
                        last_event = last_event.max(Some(window));
                        let later = capability.delayed(&window, 2);
                        let mut parts = events_of(events, process, owners, peers);
                        events_out.session(&later).give_container(&mut parts);
                    }
                    let calls = std::mem::take(&mut batch.calls);
                    let mut news = collect_news(batch, owners, peers, last_event, complete);
                    news.iter_mut().for_each(|(_, news)| news.value.process = process);
                    let places = &news[0].1.value.places;
                    if !places.is_empty() {
                        let for_all = (0..peers).map(|worker| (worker, Sent::new(places.clone())));
                        places_out.session(&capability).give_iterator(for_all);
                    }
                    if counts && !calls.is_empty() {
                        let mut parts = calls_of(calls, owners, peers);
                        calls_out.session(&capability).give_container(&mut parts);
                    }
                    news_out.session(&capability).give_container(&mut news);
                }
            });
        }
    });
    Parts { news, places, events, calls }
}

/// What each worker gets of a batch whose calls were taken: what concerns its ranks, and what concerns all.
fn collect_news(
    batch: Batch,
    owners: Owners,
    peers: usize,
    last_event: Option<Window>,
    complete: Window,
) -> Vec<To<News>> {
    let places: Places = batch.ranks.iter().map(|info| (info.rank, info.node)).collect();
    let Batch { activities, collected, scheduling, comms, .. } = batch;
    let of_all =
        || News { places: places.clone(), comms: comms.clone(), last_event, complete, ..News::default() };
    if peers == 1 {
        let (activities, collected, scheduling) = (Rows(activities), Rows(collected), Rows(scheduling));
        return vec![(0, Sent::new(News { activities, collected, scheduling, ..of_all() }))];
    }
    let mut news: Vec<News> = (0..peers).map(|_| of_all()).collect();
    for part in &mut news {
        part.activities.0.reserve(activities.len() / peers);
    }
    for activity in activities {
        news[owner(activity.rank, owners)].activities.0.push(activity);
    }
    for collected in collected {
        news[owner(collected.rank, owners)].collected.0.push(collected);
    }
    for figures in scheduling {
        news[owner(figures.rank, owners)].scheduling.0.push(figures);
    }
    news.into_iter().map(Sent::new).enumerate().collect()
}

/// Rows for each of several workers that any concern, in their order. Each goes to one worker, or also to another.
fn rows_of<T: Copy>(
    rows: &[T],
    peers: usize,
    workers_of: impl Fn(&T) -> (usize, Option<usize>),
) -> Vec<(usize, Vec<T>)> {
    // Most workers get about as many, and some more than that.
    let share = rows.len() / peers;
    let mut parts: Vec<Vec<T>> = (0..peers).map(|_| Vec::with_capacity(share + share / 4)).collect();
    for row in rows {
        let (worker, other) = workers_of(row);
        parts[worker].push(*row);
        if let Some(other) = other {
            parts[other].push(*row);
        }
    }
    parts.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).collect()
}

/// Calls for the owners of their ranks.
fn calls_of(calls: Vec<Call>, owners: Owners, peers: usize) -> Vec<To<Rows<Call>>> {
    if peers == 1 {
        return vec![(0, Sent::new(Rows(calls)))];
    }
    let of_each = rows_of(&calls, peers, |call| (owner(call.rank, owners), None));
    of_each.into_iter().map(|(worker, rows)| (worker, Sent::new(Rows(rows)))).collect()
}

/// Events for the owners of channels: each goes to one, or to two where it concerns the channels of receivers of both.
fn events_of(events: &[Event], process: usize, owners: Owners, peers: usize) -> Vec<To<Events>> {
    let rows = if peers == 1 {
        vec![(0, events.to_vec())]
    } else {
        rows_of(events, peers, |event| {
            let (rank, other) = receivers(event);
            let first = owner(rank, owners);
            (first, other.map(|other| owner(other, owners)).filter(|other| *other != first))
        })
    };
    let sent = |(to, rows)| (to, Sent::new(Events { process, rows: Rows(rows) }));
    rows.into_iter().map(sent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_diagnosis::Neighbours;
    use mpiscope_model::{Comm, Rank};

    #[test]
    fn an_event_goes_to_each_owner_that_it_concerns_once() {
        let owners = Owners { shards: 4, first: 0, neighbours: Neighbours::Blocks(1) };
        for (rank, peer) in Rank::all(6).flat_map(|rank| Rank::all(6).map(move |peer| (rank, peer))) {
            let numbers = Event::Numbers { rank, comm: Comm::WORLD, peer, sent: 1, received: 1 };
            let found: Vec<usize> = events_of(&[numbers], 0, owners, 4).iter().map(|(to, _)| *to).collect();
            let mut expected = vec![owner(rank, owners), owner(peer, owners)];
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(found, expected);
            assert_eq!(events_of(&[Event::Lost { rank }], 0, owners, 4).len(), 1);
        }
    }
}
