//! Finds threads that deal work: they take one request after the other, from whoever comes first, and answer each before they
//! take the next.
//!
//! Rows do not say whether a receive took a message from anybody. A thread that takes its messages from each sender in turn
//! is taken to name them. Nor do they say whether a sender would have done the work of another: it is taken
//! to do so.

use crate::whatif::call_row::NONE;
use crate::whatif::graph::dealt::{Asker, Dealt};
use crate::whatif::graph::{Edge, Graph};
use rustc_hash::FxHashMap;

/// Fewer senders are no crowd: who comes first among two says little.
const LEAST_SENDERS: usize = 3;
/// This share of all calls that received are requests that were answered at once.
const LEAST_REQUESTS: f64 = 0.9;
/// This share of the requests came in another order than that of turns.
const LEAST_OUT_OF_TURN: f64 = 0.1;

/// Finds them.
pub(crate) fn find(graph: &Graph) -> Dealt {
    let thread_of = graph.thread_of_calls();
    let candidates = graph.threads.iter().map(|thread| is_candidate(graph, &thread_of, thread.calls.clone()));
    let candidates: Vec<bool> = candidates.collect();
    let mut dealt = Dealt::default();
    if !candidates.contains(&true) {
        return dealt;
    }
    let mut answers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (at, edge) in graph.edges.iter().enumerate() {
        let sender = thread_of[edge.from as usize];
        if candidates[sender as usize] {
            answers.entry(sender).or_default().push(at as u32);
        }
    }
    for (dealer, mut sent) in answers {
        sent.sort_unstable_by_key(|at| graph.edges[*at as usize].from);
        let requests = requests(graph, &thread_of, dealer, &sent);
        let receives = receives(graph, dealer).count();
        if requests.len() as f64 >= LEAST_REQUESTS * receives as f64 {
            dealt.dealers.insert(dealer);
            dealt.least_ns.extend(least_flights(graph, &requests));
            for Request { call, answered_in, message } in requests {
                dealt.answered_in.insert(call, answered_in);
                dealt.askers.insert(answered_in, Asker { dealer, request: message });
            }
        }
    }
    dealt
}

/// Those who deal do not do the same as those who ask, also where their calls look alike.
pub(crate) fn set_dealers_apart(graph: &mut Graph) {
    let apart = graph.classes.iter().filter(|class| **class != NONE).max().map_or(0, |most| most + 1);
    for dealer in &graph.dealt.dealers {
        let rank = graph.threads[*dealer as usize].rank;
        graph.classes[rank.index()] = apart;
    }
}

/// The calls of a thread that received something.
fn receives(graph: &Graph, thread: u32) -> impl Iterator<Item = u32> {
    let calls = graph.threads[thread as usize].calls.clone();
    calls.filter(|call| !graph.received_by(*call as usize).is_empty())
}

/// Whether a thread receives message by message, from several others and not by turns.
fn is_candidate(graph: &Graph, thread_of: &[u32], calls: std::ops::Range<u32>) -> bool {
    let (mut receives, mut singles, mut out_of_turn) = (0_usize, 0_usize, 0_usize);
    let mut last_of: FxHashMap<u32, usize> = FxHashMap::default();
    for call in calls {
        let received = graph.received_by(call as usize);
        receives += usize::from(!received.is_empty());
        if let [edge] = received {
            let sender = thread_of[edge.from as usize];
            let senders = last_of.len();
            if let Some(last) = last_of.insert(sender, singles) {
                out_of_turn += usize::from(singles - last != senders);
            }
            singles += 1;
        }
    }
    last_of.len() >= LEAST_SENDERS
        && singles as f64 >= LEAST_REQUESTS * receives as f64
        && out_of_turn as f64 >= LEAST_OUT_OF_TURN * singles as f64
}

/// A request and its answer.
struct Request {
    /// The call that took it.
    call: u32,
    /// The call of its sender that received the answer.
    answered_in: u32,
    message: u32,
}

/// Of requests that were there when they were taken, what their flights took at least: when the thread last had to wait, it
/// would have taken them instead, had they been there.
fn least_flights(graph: &Graph, requests: &[Request]) -> Vec<(u32, u64)> {
    let (mut waited_ns, mut least) = (0, Vec::new());
    for request in requests {
        let edge = &graph.edges[request.message as usize];
        if edge.is_felt() {
            waited_ns = graph.ends[request.call as usize];
        } else {
            let since_ns = waited_ns.saturating_sub(graph.starts[edge.from as usize]);
            least.push((request.message, since_ns.min(graph.span_ns(edge))));
        }
    }
    least
}

/// The requests that a thread took and answered before it took another; `sent` are its messages in their order.
fn requests(graph: &Graph, thread_of: &[u32], dealer: u32, sent: &[u32]) -> Vec<Request> {
    let edge = |at: u32| -> &Edge { &graph.edges[at as usize] };
    let receives: Vec<u32> = receives(graph, dealer).collect();
    let end = graph.threads[dealer as usize].calls.end;
    let mut requests = Vec::new();
    // By sender, where it received its last answer.
    let mut answered: FxHashMap<u32, u32> = FxHashMap::default();
    for (number, &call) in receives.iter().enumerate() {
        let message = graph.received[call as usize];
        let [request] = graph.received_by(call as usize) else { continue };
        let next = receives.get(number + 1).copied().unwrap_or(end);
        let sender = thread_of[request.from as usize];
        let first = sent.partition_point(|at| edge(*at).from < call);
        let until_next = sent[first..].iter().take_while(|at| edge(**at).from < next);
        let to = until_next.map(|at| edge(*at).to).find(|to| thread_of[*to as usize] == sender);
        // It asks for nothing more until it has its answer.
        let Some(answered_in) = to.filter(|to| *to > request.from) else { continue };
        if answered.insert(sender, answered_in).is_none_or(|before| before <= request.from) {
            requests.push(Request { call, answered_in, message });
        }
    }
    requests
}
