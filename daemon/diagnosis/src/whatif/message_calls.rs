//! Finds the calls of each message by its times.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::CallRow;
use crate::whatif::graph::{Edge, Graph, Thread};
use crate::whatif::poll_loops;
use mpiscope_model::{Message, Rank, deal_out};

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
pub(crate) fn link(graph: &mut Graph, messages: Vec<MessageRow>, rows: &[CallRow]) {
    let in_turn = in_turn(&messages, graph.threads_of.len());
    let mut calls = Calls::new(graph, rows);
    let mut since: Vec<(u32, u64)> = Vec::new();
    let mut edges = Vec::with_capacity(messages.len());
    let mut unlinked = 0;
    for row in in_turn.iter().map(|number| &messages[*number as usize]) {
        let from = calls.find((row.src, row.send_ns, row.dst), End::Start);
        let to = calls.find((row.dst, row.recv_ns, row.src), End::Return);
        let (Some(from), Some(to)) = (from, to) else {
            unlinked += 1;
            continue;
        };
        if row.wait_ns < rows[to as usize].start_ns {
            since.push((to, row.wait_ns));
        }
        let edge = Edge { from, to, bytes: row.bytes, is_inter: false, is_felt: false, likely_ns: 0.0 };
        edges.push(Edge { is_inter: graph.link_of(&edge).is_some(), ..edge });
    }
    drop((messages, in_turn));
    if !edges.is_sorted_by_key(|edge| edge.to) {
        edges.sort_by_key(|edge| edge.to);
    }
    edges
        .chunk_by_mut(|one, other| one.to == other.to)
        .for_each(|of_call| of_call.sort_by_key(|edge| edge.from));
    let mut received = vec![0_u32; rows.len() + 1];
    for edge in &edges {
        received[edge.to as usize + 1] += 1;
    }
    for at in 1..received.len() {
        received[at] += received[at - 1];
    }
    (graph.edges, graph.received) = (edges, received);
    graph.quality.unlinked += unlinked;
    poll_loops::join_received(graph, &since);
}

/// The numbers of messages by receiver: calls of one moment take theirs in turn. Those of each come nearly in order.
fn in_turn(messages: &[MessageRow], ranks: usize) -> Vec<u32> {
    let (mut numbers, ends) =
        deal_out(messages.len(), ranks + 1, |number| messages[number].dst.index().min(ranks));
    let mut begin = 0;
    for end in ends {
        numbers[begin..end].sort_by_key(|number| {
            let MessageRow { dst, recv_ns, send_ns, src, .. } = messages[*number as usize];
            (dst, recv_ns, send_ns, src)
        });
        begin = end;
    }
    numbers
}

/// The calls among which those of messages are looked for.
struct Calls<'a> {
    graph: &'a Graph,
    rows: &'a [CallRow],
    /// By call and end, the messages that it has so far.
    taken: Vec<[u8; 2]>,
    /// By thread and end, where the last message was found: the next one of its peers is mostly near.
    found: Vec<[usize; 2]>,
    /// By thread, whether its calls end in their order.
    end_in_order: Vec<bool>,
}

impl<'a> Calls<'a> {
    fn new(graph: &'a Graph, rows: &'a [CallRow]) -> Self {
        let found = vec![[0; 2]; graph.threads.len()];
        let are_in_order =
            |thread: &Thread| graph.ends[thread.calls.start as usize..thread.calls.end as usize].is_sorted();
        let end_in_order = graph.threads.iter().map(are_in_order).collect();
        Self { graph, rows, taken: vec![[0; 2]; rows.len()], found, end_in_order }
    }

    /// The call of a rank that begins or returns at a time. Of several the one that names the peer, and that has the fewest
    /// messages so far.
    fn find(&mut self, (rank, at_ns, peer): (Rank, u64, Rank), end: End) -> Option<u32> {
        let Self { graph, rows, .. } = *self;
        let mut best: Option<((bool, u8), u32)> = None;
        let side = end as usize;
        let times = match end {
            End::Start => &graph.starts,
            End::Return => &graph.ends,
        };
        let of_rank = graph.threads_of.get(rank.index()).cloned().unwrap_or_default();
        for thread in of_rank.start as usize..of_rank.end as usize {
            let Thread { calls, .. } = &graph.threads[thread];
            let first = calls.start as usize;
            let of_thread = &times[first..calls.end as usize];
            let near = &mut self.found[thread][side];
            *near = if matches!(end, End::Start) || self.end_in_order[thread] {
                position_near(of_thread, at_ns, *near)
            } else {
                of_thread.partition_point(|time_ns| *time_ns < at_ns)
            };
            let mut at = first + *near;
            while at < calls.end as usize && times[at] == at_ns {
                let kind = graph.kinds.get(usize::from(rows[at].function)).copied().unwrap_or_default();
                let is_transfer = !matches!(kind, CallKind::Collective { .. } | CallKind::Setup);
                let is_peer = rows[at].peer == peer || rows[at].peer == Rank::NONE;
                let rank_of = (!(is_peer && is_transfer), self.taken[at][side]);
                if best.is_none_or(|(before, _)| rank_of < before) {
                    best = Some((rank_of, at as u32));
                }
                at += 1;
            }
        }
        let (_, call) = best?;
        let count = &mut self.taken[call as usize][side];
        *count = count.saturating_add(1);
        Some(call)
    }
}

/// Where the times from this one on begin among times in order, looked for from a place on in steps that double.
fn position_near(times: &[u64], at_ns: u64, near: usize) -> usize {
    let near = near.min(times.len());
    let mut step = 1;
    if times[..near].last().is_some_and(|before| *before >= at_ns) {
        let mut end = near;
        loop {
            let begin = end.saturating_sub(step);
            if begin == 0 || times[begin - 1] < at_ns {
                return begin + times[begin..end].partition_point(|time_ns| *time_ns < at_ns);
            }
            (end, step) = (begin, 2 * step);
        }
    }
    let mut begin = near;
    loop {
        let end = (begin + step).min(times.len());
        if end == times.len() || times[end] >= at_ns {
            return begin + times[begin..end].partition_point(|time_ns| *time_ns < at_ns);
        }
        (begin, step) = (end, 2 * step);
    }
}

#[cfg(test)]
mod tests {
    use super::position_near;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_position_is_the_same_from_wherever_it_is_looked_for(
            mut times in proptest::collection::vec(0_u64..60, 0..80),
            at_ns in 0_u64..62,
            near in 0_usize..100,
        ) {
            times.sort_unstable();
            let expected = times.partition_point(|time_ns| *time_ns < at_ns);
            prop_assert_eq!(position_near(&times, at_ns, near), expected);
        }
    }
}
