//! Finds the calls of each message by its times, and joins loops of polls with the call that ends them.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::CallRow;
use crate::whatif::graph::{Edge, Graph};
use mpiscope_model::{Message, Rank};

/// A message, as it waits for its calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageRow {
    send_ns: u64,
    recv_ns: u64,
    /// When the receiver began to wait.
    wait_ns: u64,
    src: Rank,
    dst: Rank,
    bytes: u32,
}

impl From<&Message> for MessageRow {
    fn from(message: &Message) -> Self {
        let wait_ns = if message.late_sender_ns > 0 {
            message.send_ns.saturating_sub(message.late_sender_ns)
        } else {
            message.recv_ns.saturating_sub(message.t_msg_ns)
        };
        Self {
            send_ns: message.send_ns,
            recv_ns: message.recv_ns,
            wait_ns,
            src: message.src,
            dst: message.dst,
            bytes: u32::try_from(message.bytes).unwrap_or(u32::MAX),
        }
    }
}

/// Which end of a call is looked for.
#[derive(Clone, Copy)]
enum End {
    Start,
    Return,
}

/// Links messages with calls.
pub(crate) fn link(graph: &mut Graph, mut messages: Vec<MessageRow>, rows: &[CallRow]) {
    // Calls of one moment take their messages in turn.
    messages.sort_by_key(|row| (row.dst, row.recv_ns, row.send_ns, row.src));
    let mut taken = vec![[0_u8; 2]; rows.len()];
    let mut since: Vec<(u32, u64)> = Vec::new();
    graph.edges.reserve_exact(messages.len());
    for row in &messages {
        let from = find(graph, rows, &mut taken, (row.src, row.send_ns, row.dst), End::Start);
        let to = find(graph, rows, &mut taken, (row.dst, row.recv_ns, row.src), End::Return);
        let (Some(from), Some(to)) = (from, to) else {
            graph.quality.unlinked += 1;
            continue;
        };
        if row.wait_ns < rows[to as usize].start_ns {
            since.push((to, row.wait_ns));
        }
        graph.edges.push(Edge { from, to, bytes: row.bytes, is_felt: false, likely_ns: 0.0 });
    }
    drop(messages);
    graph.edges.sort_by_key(|edge| (edge.to, edge.from));
    let mut received = vec![0_u32; rows.len() + 1];
    for edge in &graph.edges {
        received[edge.to as usize + 1] += 1;
    }
    for at in 1..received.len() {
        received[at] += received[at - 1];
    }
    graph.received = received;
    join_polls(graph, &since);
}

/// The call of a rank that begins or returns at a time. Of several the one that names the peer, and that has the fewest
/// messages so far.
fn find(
    graph: &Graph,
    rows: &[CallRow],
    taken: &mut [[u8; 2]],
    (rank, at_ns, peer): (Rank, u64, Rank),
    end: End,
) -> Option<u32> {
    let mut best: Option<((bool, u8), u32)> = None;
    let side = end as usize;
    let time = |call: usize| match end {
        End::Start => rows[call].start_ns,
        End::Return => rows[call].end_ns,
    };
    for thread in graph.threads_of(rank) {
        let first = thread.calls.start as usize;
        let calls = &rows[first..thread.calls.end as usize];
        let mut at = first
            + match end {
                End::Start => calls.partition_point(|row| row.start_ns < at_ns),
                End::Return => calls.partition_point(|row| row.end_ns < at_ns),
            };
        while at < thread.calls.end as usize && time(at) == at_ns {
            let kind = graph.kinds.get(usize::from(rows[at].function)).copied().unwrap_or_default();
            let is_transfer = !matches!(kind, CallKind::Collective { .. } | CallKind::Setup);
            let is_peer = rows[at].peer == peer || rows[at].peer == Rank::NONE;
            let rank_of = (!(is_peer && is_transfer), taken[at][side]);
            if best.is_none_or(|(before, _)| rank_of < before) {
                best = Some((rank_of, at as u32));
            }
            at += 1;
        }
    }
    let (_, call) = best?;
    let count = &mut taken[call as usize][side];
    *count = count.saturating_add(1);
    Some(call)
}

/// A loop of polls that ends with a receive is one call from its first poll.
fn join_polls(graph: &mut Graph, since: &[(u32, u64)]) {
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
        let from_ns = graph.starts[call as usize].min(graph.starts[to as usize]);
        for joined in call as usize..to as usize {
            (graph.starts[joined], graph.ends[joined]) = (from_ns, from_ns);
        }
        graph.starts[to as usize] = from_ns;
    }
}
