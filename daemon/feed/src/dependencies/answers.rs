//! Such answers as columns.

use crate::calls::NONE;
use crate::column::{F64Column, U32Column};
use crate::dependencies::gather::Gathered;
use crate::question::ConeQuestion;
use mpiscope_model::{Message, Nanoseconds, Node, Rank};
use mpiscope_topology as topology;
use mpiscope_topology::{Bar, DagScope, EventId, LogicalEventKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The dependency graph of a range: a node is a rank while it takes in messages and then sends some, an edge leads from the
/// node that sent to the node that received.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Dag {
    /// The range.
    pub from_ns: u64,
    /// Its end, outside.
    pub to_ns: u64,
    /// Up to where the graph goes: less than the end where it got as large as it may be. All figures are of this stretch.
    pub until_ns: u64,
    /// Layers.
    pub layers: u32,
    /// Nodes, those of one rank as they follow each other.
    pub nodes: DagNodes,
    /// Edges, by the node that sent; so what follows a node is found by going along them.
    pub edges: DagEdges,
    /// Ranks that sent or received, and how evenly.
    pub ranks: DagRanks,
    /// Ranks that were asked for and neither sent nor received.
    pub isolated: U32Column,
    /// What the glyphs show, node by node: what was taken in, then what was sent.
    pub bars: DagBars,
    /// Messages with at least one side in the graph.
    pub messages: u64,
    /// Those with only one side in it: they make no edge.
    pub open: u64,
    /// Of them, those that make no edge since by the clocks they would lead back.
    pub contradicted: u64,
    /// Messages of the range that are not in the graph, since it is as large as it may be.
    pub left_out: u64,
    /// Bars that are not here; of nodes with many those that took longest are.
    pub bars_left_out: u64,
    /// Whether expected transfer times are known.
    pub has_criteria: bool,
    /// Remarks, in sentences.
    pub notes: Vec<String>,
}

/// Nodes of a graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DagNodes {
    /// Which rank.
    pub rank: U32Column,
    /// The host where it runs; [`NONE`] where that is not known.
    pub host: U32Column,
    /// How long the longest way is that leads to it.
    pub layer: U32Column,
    /// Its place in its layer.
    pub place: U32Column,
    /// Its first event.
    pub begin_ns: F64Column,
    /// Its last.
    pub end_ns: F64Column,
    /// Messages that it took in.
    pub received: U32Column,
    /// Messages that it sent.
    pub sent: U32Column,
    /// How many nodes follow it: what folding it hides.
    pub following: U32Column,
}

/// Edges of a graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DagEdges {
    /// The node that sent.
    pub from: U32Column,
    /// The node that received.
    pub to: U32Column,
    /// How many messages.
    pub messages: U32Column,
    /// Their payload.
    pub bytes: F64Column,
}

/// How evenly ranks talked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DagRanks {
    /// Which.
    pub rank: U32Column,
    /// Messages that it sent and received.
    pub messages: F64Column,
    /// How far that is from the mean, in mean deviations; 0 where all are even.
    pub load: F64Column,
    /// How flat its glyph is, 0 to 1.
    pub flatness: F64Column,
    /// The mean of their messages.
    pub mean: f64,
    /// Their mean deviation.
    pub deviation: f64,
}

/// Messages as the nodes at their ends see them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DagBars {
    /// The node.
    pub node: U32Column,
    /// 1 where it sent the message.
    pub is_sent: U32Column,
    /// The rank at the other end.
    pub other: U32Column,
    /// The payload.
    pub bytes: F64Column,
    /// What it took, as its receiver felt it.
    pub t_msg_ns: F64Column,
    /// That divided by the expected transfer time; not a number where that is not known.
    pub latency: F64Column,
    /// 1 where the time is exact and not an upper bound.
    pub is_exact: U32Column,
    /// When the send's call began.
    pub send_ns: F64Column,
    /// When the call that completed the receive ended.
    pub recv_ns: F64Column,
}

impl Dag {
    pub(super) fn from_graph(
        scope: &DagScope,
        dag: &topology::Dag,
        bars: &[Bar],
        hosts: &BTreeMap<Rank, Node>,
        unread: u64,
        has_criteria: bool,
    ) -> Self {
        let left_out = dag.left_out + unread;
        let sides: u64 = dag.nodes.iter().map(|node| u64::from(node.received) + u64::from(node.sent)).sum();
        let mut answer = Self {
            from_ns: scope.range_ns.start,
            to_ns: scope.range_ns.end,
            until_ns: dag.until_ns,
            layers: dag.layers,
            isolated: dag.isolated(scope, hosts.keys().copied()).map(|rank| rank.0).collect(),
            messages: dag.messages.len() as u64,
            open: dag.open,
            contradicted: dag.contradicted,
            left_out,
            bars_left_out: sides.saturating_sub(bars.len() as u64),
            has_criteria,
            ..Self::default()
        };
        for (node, following) in dag.nodes.iter().zip(dag.following()) {
            answer.nodes.push(node, hosts.get(&node.rank).copied(), following);
        }
        for edge in &dag.edges {
            answer.edges.from.0.push(edge.from);
            answer.edges.to.0.push(edge.to);
            answer.edges.messages.0.push(edge.messages);
            answer.edges.bytes.0.push(edge.bytes as f64);
        }
        (answer.ranks.mean, answer.ranks.deviation) = (dag.balance.mean, dag.balance.deviation);
        dag.balance.ranks.iter().for_each(|rank| answer.ranks.push(rank));
        bars.iter().for_each(|bar| answer.bars.push(bar));
        answer.notes = answer.in_words();
        answer
    }

    fn in_words(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.left_out > 0 {
            notes.push(format!(
                "the graph ends {:.6} s into the run, where it is as large as it may be; {} messages of the range are \
                 not in it: choose a shorter range or fewer ranks",
                self.until_ns as f64 / 1e9,
                self.left_out
            ));
        }
        if self.bars_left_out > 0 {
            notes.push(format!(
                "{} bars are left out: of each glyph those that took longest are shown",
                self.bars_left_out
            ));
        }
        if self.contradicted > 0 {
            notes.push(format!(
                "{} messages are in no edge, since by the clocks what led to them would have come from them",
                self.contradicted
            ));
        }
        if !self.has_criteria {
            notes.push("expected transfer times are not known yet, so no latency is shown".to_owned());
        }
        notes
    }
}

impl DagNodes {
    fn push(&mut self, node: &topology::DagNode, host: Option<Node>, following: u32) {
        self.rank.0.push(node.rank.0);
        self.host.0.push(host.map_or(NONE, |node| node.0));
        self.layer.0.push(node.layer);
        self.place.0.push(node.place);
        self.begin_ns.0.push(node.begin_ns as f64);
        self.end_ns.0.push(node.end_ns as f64);
        self.received.0.push(node.received);
        self.sent.0.push(node.sent);
        self.following.0.push(following);
    }
}

impl DagRanks {
    fn push(&mut self, rank: &topology::RankBalance) {
        self.rank.0.push(rank.rank.0);
        self.messages.0.push(rank.messages as f64);
        self.load.0.push(rank.load);
        self.flatness.0.push(topology::flatness(rank.load));
    }
}

impl DagBars {
    fn push(&mut self, bar: &Bar) {
        self.node.0.push(bar.node);
        self.is_sent.0.push(u32::from(bar.is_sent));
        self.other.0.push(bar.other.0);
        self.bytes.0.push(bar.bytes as f64);
        self.t_msg_ns.0.push(bar.t_msg_ns as f64);
        self.latency.0.push(bar.latency.unwrap_or(f64::NAN));
        self.is_exact.0.push(u32::from(bar.is_exact));
        self.send_ns.0.push(bar.send_ns as f64);
        self.recv_ns.0.push(bar.recv_ns as f64);
    }
}

/// The past or the future of an event within a range: all that can have led to it, or that it can have led to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cone {
    /// The range.
    pub from_ns: u64,
    /// Its end, outside.
    pub to_ns: u64,
    /// Whether it is what follows.
    pub is_future: bool,
    /// Whose event.
    pub rank: u32,
    /// When it is.
    pub at_ns: u64,
    /// What it is: `send`, `receive`, `enter` or `exit`.
    pub event: String,
    /// Where everybody waited for everybody: in the past all before this moment, in the future all from it on.
    pub beyond_ns: Option<u64>,
    /// Events of the range.
    pub events: u64,
    /// Those that are part of it.
    pub found: u64,
    /// Collectives of the range.
    pub collectives: u64,
    /// Receives and returns from collectives that by the clocks would have led to themselves; they are taken as led to by
    /// nothing but their own rank.
    pub contradictions: u64,
    /// The ranks that have events in the range.
    pub ranks: ConeRanks,
    /// Messages that are part of it, the nearest in time where there are too many.
    pub messages: ConeMessages,
    /// How many there are.
    pub messages_total: u64,
}

/// How much of each rank is part of a past or a future.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConeRanks {
    /// Which.
    pub rank: U32Column,
    /// How many of its events.
    pub events: U32Column,
    /// The last of them in a past, the first in a future; not a number where there are none.
    pub edge_ns: F64Column,
}

/// Messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConeMessages {
    /// Who sent.
    pub src: U32Column,
    /// Who received.
    pub dst: U32Column,
    /// The payload.
    pub bytes: F64Column,
    /// When the send's call began.
    pub send_ns: F64Column,
    /// When the call that completed the receive ended.
    pub recv_ns: F64Column,
}

impl Cone {
    pub(super) fn from_event(question: &ConeQuestion, gathered: &Gathered, event: EventId) -> Self {
        let time = &gathered.time;
        let found = if question.is_future { time.future(event) } else { time.past(event) };
        let of = time.event(event);
        let mut answer = Self {
            from_ns: question.range_ns.start,
            to_ns: question.range_ns.end,
            is_future: question.is_future,
            rank: of.rank.0,
            at_ns: of.at_ns,
            event: word(of.kind).to_owned(),
            beyond_ns: found.beyond_ns,
            events: time.count() as u64,
            found: found.count() as u64,
            collectives: gathered.collectives as u64,
            contradictions: time.contradictions() as u64,
            ..Self::default()
        };
        let mut messages: Vec<u32> = Vec::new();
        for (&rank, events) in time.ranks().iter().zip(&found.events) {
            answer.ranks.rank.0.push(rank.0);
            answer.ranks.events.0.push(events.len() as u32);
            let edge = if question.is_future { events.start } else { events.end.wrapping_sub(1) };
            let edge_ns = (!events.is_empty()).then(|| time.event(EventId(edge)).at_ns as f64);
            answer.ranks.edge_ns.0.push(edge_ns.unwrap_or(f64::NAN));
            // In a past the receives have their sends in it too, in a future the sends their receives.
            messages.extend(events.clone().filter_map(|event| match time.event(EventId(event)).kind {
                LogicalEventKind::Receive(id) if !question.is_future => Some(id),
                LogicalEventKind::Send(id) if question.is_future => Some(id),
                _ => None,
            }));
        }
        let message = |id: u32| &time.messages()[id as usize];
        answer.messages_total = messages.len() as u64;
        messages.sort_unstable_by_key(|&id| (away_ns(message(id), question.is_future, of.at_ns), id));
        messages.truncate(question.most as usize);
        messages.into_iter().map(message).for_each(|message| answer.messages.push(message));
        answer
    }
}

/// How far a message of the future or the past is from a time.
fn away_ns(message: &Message, is_future: bool, at_ns: Nanoseconds) -> u64 {
    if is_future { message.send_ns.abs_diff(at_ns) } else { message.recv_ns.abs_diff(at_ns) }
}

fn word(kind: LogicalEventKind) -> &'static str {
    match kind {
        LogicalEventKind::Send(_) => "send",
        LogicalEventKind::Receive(_) => "receive",
        LogicalEventKind::Enter(_) => "enter",
        LogicalEventKind::Exit(_) => "exit",
    }
}

impl ConeMessages {
    fn push(&mut self, message: &Message) {
        self.src.0.push(message.src.0);
        self.dst.0.push(message.dst.0);
        self.bytes.0.push(message.bytes as f64);
        self.send_ns.0.push(message.send_ns as f64);
        self.recv_ns.0.push(message.recv_ns as f64);
    }
}
