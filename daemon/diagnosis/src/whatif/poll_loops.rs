//! Loops of polls, each joined with the call that ends it: what they wait for is what that completes.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::NONE;
use crate::whatif::graph::Graph;
use mpiscope_model::MOST_BETWEEN_POLLS_NS;

/// A loop of polls that ends with a receive is one call from its first poll.
pub(crate) fn join_received(graph: &mut Graph, since: &[(u32, u64)]) {
    for &(to, since_ns) in since {
        let at = graph.threads.partition_point(|thread| thread.calls.end <= to);
        let first = graph.threads[at].calls.start;
        let mut call = to;
        while call > first {
            let before = call as usize - 1;
            let is_poll = matches!(graph.kind(before), CallKind::Poll | CallKind::Receive);
            let has_messages = graph.received[before + 1] > graph.received[before];
            if !is_poll || has_messages || graph.starts[before] < since_ns {
                break;
            }
            call -= 1;
        }
        join(graph, call as usize, to as usize);
    }
}

/// All calls from the first to the last begin with the first, and only the last one takes time.
fn join(graph: &mut Graph, first: usize, last: usize) {
    let from_ns = graph.starts[first].min(graph.starts[last]);
    for joined in first..last {
        (graph.starts[joined], graph.ends[joined]) = (from_ns, from_ns);
    }
    graph.starts[last] = from_ns;
}

/// Other loops of polls end where a collective is completed, or with their last poll: then what was sent may have left.
pub(crate) fn join_others(graph: &mut Graph) {
    for thread in 0..graph.threads.len() {
        let calls = graph.threads[thread].calls.clone();
        let mut first = None;
        for call in calls.start as usize..calls.end as usize {
            if graph.kind(call) != CallKind::Poll {
                first = None;
                continue;
            }
            let from = *first.get_or_insert(call);
            let completes = !graph.received_by(call).is_empty() || graph.groups.left[call] != NONE;
            let next = call + 1;
            let goes_on = next < calls.end as usize
                && graph.kind(next) == CallKind::Poll
                && graph.starts[next] - graph.ends[call] <= MOST_BETWEEN_POLLS_NS;
            if completes || !goes_on {
                join(graph, from, call);
                first = None;
            }
        }
    }
}
