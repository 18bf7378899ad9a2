//! Nodes and edges.

use super::graph::{Dag, DagEdge, DagNode};
use super::scope::DagScope;
use crate::balance::Balance;
use crate::logical::{Endpoint, Events, in_order};
use mpiscope_model::{Message, Nanoseconds};

/// A node while it is made.
struct UnfinishedNode {
    place: u32,
    events: std::ops::Range<u32>,
    received: u32,
    sent: u32,
}

fn node_without_place(made: &UnfinishedNode, events: &Events) -> DagNode {
    DagNode {
        rank: events.ranks[made.place as usize],
        begin_ns: events.at_ns[made.events.start as usize],
        end_ns: events.at_ns[made.events.end as usize - 1],
        received: made.received,
        sent: made.sent,
        layer: 0,
        place: 0,
    }
}

/// The graph without its layout.
pub(super) fn build(messages: &[Message], scope: &DagScope) -> Dag {
    let meant: Vec<Message> =
        messages.iter().filter(|message| scope.first_ns(message).is_some()).copied().collect();
    let mut messages = in_order(&meant);
    let mut range_ns = scope.range_ns.clone();
    let mut events = Events::collect(&messages, &[], &range_ns, |rank| scope.has(rank));
    let mut made = nodes(&events);
    let mut left_out = 0;
    if made.len() > scope.most_nodes {
        range_ns.end = no_room_at(&events, &made, scope.most_nodes);
        let shorter = DagScope { range_ns: range_ns.clone(), ..scope.clone() };
        let all = messages.len();
        messages.retain(|message| shorter.first_ns(message).is_some());
        left_out = (all - messages.len()) as u64;
        events = Events::collect(&messages, &[], &range_ns, |rank| scope.has(rank));
        made = nodes(&events);
    }
    let ends = ends(&events, &made, messages.len());
    let is_open = |&&(from, to): &&(u32, u32)| from == Dag::OUTSIDE || to == Dag::OUTSIDE;
    let nodes: Vec<DagNode> = made.iter().map(|made| node_without_place(made, &events)).collect();
    Dag {
        until_ns: range_ns.end,
        balance: balance(&nodes),
        edges: edges(&messages, &ends),
        open: ends.iter().filter(is_open).count() as u64,
        nodes,
        messages,
        ends,
        left_out,
        ..Dag::default()
    }
}

/// Cuts the events of each rank into nodes: one that is taken in after one that was sent begins a new node.
fn nodes(events: &Events) -> Vec<UnfinishedNode> {
    let mut nodes = Vec::new();
    for place in 0..events.ranks.len() {
        let of_rank = events.of_place(place);
        let empty = |at: u32| UnfinishedNode { place: place as u32, events: at..at, received: 0, sent: 0 };
        let mut node = empty(of_rank.start);
        for event in of_rank {
            let is_send = matches!(events.endpoint(event), Endpoint::Send(_));
            if !is_send && node.sent > 0 {
                nodes.push(std::mem::replace(&mut node, empty(event)));
            }
            node.events.end = event + 1;
            if is_send { node.sent += 1 } else { node.received += 1 }
        }
        nodes.push(node);
    }
    nodes
}

/// When the first node begins for which there is no room.
fn no_room_at(events: &Events, nodes: &[UnfinishedNode], most: usize) -> Nanoseconds {
    let mut begins: Vec<Nanoseconds> =
        nodes.iter().map(|node| events.at_ns[node.events.start as usize]).collect();
    *begins.select_nth_unstable(most).1
}

fn ends(events: &Events, nodes: &[UnfinishedNode], messages: usize) -> Vec<(u32, u32)> {
    let mut ends = vec![(Dag::OUTSIDE, Dag::OUTSIDE); messages];
    for (node, number) in nodes.iter().zip(0..) {
        for event in node.events.clone() {
            match events.endpoint(event) {
                Endpoint::Send(id) => ends[id as usize].0 = number,
                Endpoint::Receive(id) => ends[id as usize].1 = number,
                Endpoint::Enter(_) | Endpoint::Exit(_) => {}
            }
        }
    }
    ends
}

/// Joins messages between the same two nodes.
pub(super) fn edges(messages: &[Message], ends: &[(u32, u32)]) -> Vec<DagEdge> {
    let both =
        messages.iter().zip(ends).filter(|(_, (from, to))| *from != Dag::OUTSIDE && *to != Dag::OUTSIDE);
    let mut single: Vec<(u32, u32, u64)> =
        both.map(|(message, &(from, to))| (from, to, message.bytes)).collect();
    single.sort_unstable();
    let mut edges: Vec<DagEdge> = Vec::new();
    for (from, to, bytes) in single {
        match edges.last_mut().filter(|edge| edge.from == from && edge.to == to) {
            Some(edge) => {
                edge.messages += 1;
                edge.bytes = edge.bytes.saturating_add(bytes);
            }
            None => edges.push(DagEdge { from, to, messages: 1, bytes }),
        }
    }
    edges
}

/// Of nodes that are in the order of their ranks.
fn balance(nodes: &[DagNode]) -> Balance {
    let messages = |of_rank: &[DagNode]| {
        let of_node = |node: &DagNode| u64::from(node.received) + u64::from(node.sent);
        (of_rank[0].rank, of_rank.iter().map(of_node).sum())
    };
    Balance::from_messages(nodes.chunk_by(|one, other| one.rank == other.rank).map(messages))
}
