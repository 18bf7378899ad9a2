//! Splits a batch by window and by operator.

use crate::gate::Fed;
use crate::parcel::{News, Place, ToOwner, Window, owner};
use crate::plain::{CallRow, EventRow, NodeRow, RankRow, renamed};
use mpiscope_diagnosis::Owners;
use mpiscope_matching::{by_window, receivers};
use mpiscope_model::{Batch, Event};
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::{Scope, StreamVec};

/// What batches are made of.
pub(crate) struct Parts<'scope> {
    pub(crate) news: StreamVec<'scope, Window, (usize, News)>,
    pub(crate) places: StreamVec<'scope, Window, Place>,
    pub(crate) events: StreamVec<'scope, Window, ToOwner>,
    pub(crate) calls: StreamVec<'scope, Window, CallRow>,
}

/// The operator.
pub(crate) fn split<'scope>(
    scope: Scope<'scope, Window>,
    batches: StreamVec<'scope, Window, Fed>,
    window_ns: u64,
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
                        let mut rows = Vec::with_capacity(events.len());
                        events.iter().for_each(|event| address(*event, owners, &mut rows));
                        events_out.session(&later).give_container(&mut rows);
                    }
                    let calls = std::mem::take(&mut batch.calls);
                    let mut news = collect_news(batch, owners, peers, last_event, complete);
                    let places = &news[0].1.places;
                    if !places.is_empty() {
                        places_out.session(&capability).give_iterator(places_for_all(places, peers));
                    }
                    if counts && !calls.is_empty() {
                        calls_out.session(&capability).give_container(&mut renamed(calls));
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
) -> Vec<(usize, News)> {
    let places: Vec<_> = batch.ranks.iter().map(|info| (info.rank.into(), info.node.into())).collect();
    let comms: Vec<_> = renamed(batch.comms);
    let of_all =
        || News { places: places.clone(), comms: comms.clone(), last_event, complete, ..News::default() };
    let mut news: Vec<(usize, News)> = (0..peers).map(|worker| (worker, of_all())).collect();
    if let [(_, news)] = &mut news[..] {
        (news.activities, news.collected) = (renamed(batch.activities), renamed(batch.collected));
        news.scheduling = renamed(batch.scheduling);
        return vec![(0, std::mem::take(news))];
    }
    for activity in batch.activities {
        news[owner(activity.rank, owners)].1.activities.push(activity.into());
    }
    for collected in batch.collected {
        news[owner(collected.rank, owners)].1.collected.push(collected.into());
    }
    for figures in batch.scheduling {
        news[owner(figures.rank, owners)].1.scheduling.push(figures.into());
    }
    news
}

/// The places of ranks, once for each worker.
fn places_for_all(places: &[(RankRow, NodeRow)], peers: usize) -> impl Iterator<Item = Place> {
    let to_worker = |worker| places.iter().map(move |(rank, node)| (worker, rank.clone(), node.clone()));
    (0..peers).flat_map(to_worker)
}

/// Puts an event on its way: to one owner, or to two where it concerns the channels of receivers of both.
fn address(event: Event, owners: Owners, rows: &mut Vec<ToOwner>) {
    let (rank, other) = receivers(&event);
    rows.push((rank.into(), EventRow(event)));
    let other = other.filter(|other| owner(*other, owners) != owner(rank, owners));
    rows.extend(other.map(|other| (other.into(), EventRow(event))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::{Comm, Rank};

    #[test]
    fn an_event_goes_to_each_owner_that_it_concerns_once() {
        let owners = Owners { shards: 4, block: 1 };
        for (rank, peer) in Rank::all(6).flat_map(|rank| Rank::all(6).map(move |peer| (rank, peer))) {
            let mut rows = Vec::new();
            address(
                Event::Numbers { rank, comm: Comm::WORLD, peer, sent: 1, received: 1 },
                owners,
                &mut rows,
            );
            let mut found: Vec<usize> = rows.iter().map(|(to, _)| owner(to.0, owners)).collect();
            found.sort_unstable();
            let mut expected = vec![owner(rank, owners), owner(peer, owners)];
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(found, expected);
            rows.clear();
            address(Event::Lost { rank }, owners, &mut rows);
            assert_eq!(rows.len(), 1);
        }
    }
}
