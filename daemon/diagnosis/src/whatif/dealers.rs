//! Finds threads that deal work: they take one request after the other, from whoever comes first, and answer each before they
//! take the next.
//!
//! Rows do not say whether a receive took a message from anybody. A thread is taken to name its senders if it takes its messages
//! from each in turn, or if others must have come long before those that it waited for. Nor do rows say whether a sender
//! would have done the work of another: it is taken to do so.

use crate::whatif::graph::requests::{Request, Requests};
use crate::whatif::graph::{Edge, Graph};
use crate::whatif::rule::Rule;
use mpiscope_model::Rank;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Fewer senders are no crowd: who comes first among two says little.
const LEAST_SENDERS: usize = 3;
/// Fewer requests say little of their order.
const LEAST_REQUESTS: usize = 30;
/// This share of all calls that received are requests that were answered at once.
const LEAST_SHARE: f64 = 0.9;
/// This share of the requests came in another order than that of turns.
const LEAST_OUT_OF_TURN: f64 = 0.1;
/// This share of a sender's requests may have been on their way for far longer than what was felt.
const MOST_UNLIKELY: f64 = 0.25;

/// Finds their requests.
pub(crate) fn requests(graph: &Graph) -> Requests {
    let thread_of = graph.thread_of_calls();
    let deals = |thread: &u32| may_deal(graph, &thread_of, graph.threads[*thread as usize].calls.clone());
    let candidates: Vec<u32> = (0..graph.threads.len() as u32).filter(deals).collect();
    if candidates.is_empty() || !graph.follows(Rule::Dealers) {
        return Requests::default();
    }
    let mut sent: FxHashMap<u32, Vec<u32>> = candidates.iter().map(|thread| (*thread, Vec::new())).collect();
    for (at, edge) in graph.edges.iter().enumerate() {
        if let Some(sent) = sent.get_mut(&thread_of[edge.from as usize]) {
            sent.push(at as u32);
        }
    }
    let mut found = Vec::new();
    for dealer in candidates {
        let mut sent = sent.remove(&dealer).unwrap_or_default();
        sent.sort_unstable_by_key(|at| graph.edges[*at as usize].from);
        let receives: Vec<u32> = receives(graph, dealer).collect();
        let requests = answered(graph, &thread_of, (dealer, &receives), &sent);
        if requests.len() as f64 >= LEAST_SHARE * receives.len() as f64 && are_likely(graph, &requests) {
            found.extend(requests);
        }
    }
    Requests::new(graph.call_count(), found)
}

/// Those who deal do not do the same as those who ask, also where their calls look alike.
pub(crate) fn set_apart(graph: &mut Graph) {
    let of_dealers = |dealer: &u32| graph.threads[*dealer as usize].rank.index();
    let dealers: FxHashSet<usize> = graph.requests.dealers.iter().map(of_dealers).collect();
    let others = graph.classes.iter().enumerate().filter(|(rank, _)| !dealers.contains(rank));
    let of_others: FxHashSet<u32> = others.map(|(_, class)| *class).collect();
    let classes = graph.classes.iter().max().map_or(0, |most| most + 1);
    let mut apart: FxHashMap<u32, u32> = FxHashMap::default();
    for (rank, class) in graph.classes.iter_mut().enumerate() {
        if dealers.contains(&rank) && of_others.contains(class) {
            let next = classes + apart.len() as u32;
            *class = *apart.entry(*class).or_insert(next);
        }
    }
}

/// The calls of a thread that received something.
fn receives(graph: &Graph, thread: u32) -> impl Iterator<Item = u32> {
    let calls = graph.threads[thread as usize].calls.clone();
    calls.filter(|call| !graph.received_by(*call as usize).is_empty())
}

/// Whether a thread receives message by message, from several others and not by turns. Several in a row of one sender are one
/// turn.
fn may_deal(graph: &Graph, thread_of: &[u32], calls: Range<u32>) -> bool {
    let (mut receives, mut singles, mut turns, mut out_of_turn) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut last_turns: FxHashMap<u32, usize> = FxHashMap::default();
    for call in calls {
        let received = graph.received_by(call as usize);
        receives += usize::from(!received.is_empty());
        let [edge] = received else { continue };
        singles += 1;
        let sender = thread_of[edge.from as usize];
        if turns > 0 && last_turns.get(&sender) == Some(&(turns - 1)) {
            continue;
        }
        let senders = last_turns.len();
        if let Some(last) = last_turns.insert(sender, turns) {
            out_of_turn += usize::from(turns - last != senders);
        }
        turns += 1;
    }
    last_turns.len() >= LEAST_SENDERS
        && singles >= LEAST_REQUESTS
        && singles as f64 >= LEAST_SHARE * receives as f64
        && out_of_turn as f64 >= LEAST_OUT_OF_TURN * singles as f64
}

/// Whether flights that were not felt are as long as those that were, for half of the senders at least: others may have
/// slow links. A thread that names its senders lets most of them wait that came long ago.
fn are_likely(graph: &Graph, requests: &[Request]) -> bool {
    let edge = |request: &Request| &graph.edges[request.message as usize];
    let felt = requests.iter().map(edge).filter(|edge| edge.is_felt);
    let mut felt_ns: Vec<u64> = felt.map(|edge| graph.span_ns(edge)).collect();
    felt_ns.sort_unstable();
    let rare = felt_ns.len() / 100;
    let Some(most_ns) = felt_ns.iter().rev().nth(rare) else { return true };
    // By sender, its requests, and how many of them must have been on their way for far longer.
    let mut senders: FxHashMap<Rank, [usize; 2]> = FxHashMap::default();
    for request in requests {
        let [all, longer] = senders.entry(graph.rank_of(edge(request).from)).or_default();
        *all += 1;
        *longer += usize::from(request.least_ns > 2 * most_ns);
    }
    let is_unlikely = |[all, longer]: &&[usize; 2]| *longer as f64 > MOST_UNLIKELY * *all as f64;
    2 * senders.values().filter(is_unlikely).count() <= senders.len()
}

/// The requests that a thread took and answered before it took another; `sent` are its messages in their order. Those that were
/// there when they were taken came after the thread last had to wait: it would have taken them instead.
fn answered(
    graph: &Graph,
    thread_of: &[u32],
    (dealer, receives): (u32, &[u32]),
    sent: &[u32],
) -> Vec<Request> {
    let edge = |at: u32| -> &Edge { &graph.edges[at as usize] };
    let end = graph.threads[dealer as usize].calls.end;
    let (mut requests, mut waited_ns) = (Vec::new(), 0_u64);
    // By sender, where it received its last answer.
    let mut last_answers: FxHashMap<u32, u32> = FxHashMap::default();
    for (number, &taken_in) in receives.iter().enumerate() {
        let message = graph.received[taken_in as usize];
        let [request] = graph.received_by(taken_in as usize) else { continue };
        let next = receives.get(number + 1).copied().unwrap_or(end);
        let sender = thread_of[request.from as usize];
        // What is sent in the same call cannot be the answer.
        let first = sent.partition_point(|at| edge(*at).from <= taken_in);
        let until_next = sent[first..].iter().take_while(|at| edge(**at).from < next);
        let to = until_next.map(|at| edge(*at).to).find(|to| thread_of[*to as usize] == sender);
        let Some(answered_in) = to.filter(|to| *to >= request.from) else { continue };
        // It asks for nothing more until it has its answer.
        if last_answers.insert(sender, answered_in).is_none_or(|before| before <= request.from) {
            let since_ns = waited_ns.saturating_sub(graph.starts[request.from as usize]);
            let least_ns = if request.is_felt { 0 } else { since_ns.min(graph.span_ns(request)) };
            requests.push(Request { dealer, taken_in, answered_in, message, least_ns });
            if request.is_felt {
                waited_ns = graph.ends[taken_in as usize];
            }
        }
    }
    requests
}
