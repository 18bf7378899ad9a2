//! Who sent to whom, by groups of ranks and by iterations of the main loop: a dependency graph that can be read at any size.

use super::gather::visit;
use crate::call_source::CallSource;
use crate::calls::NONE;
use crate::column::{F64Column, U32Column};
use crate::message_source::MessageSource;
use crate::question::{GroupGraphQuestion, Grouping, is_among, wanted};
use crate::regions::Regions;
use mpiscope_diagnosis::Version;
use mpiscope_matching::{LoopFinder, MainLoop};
use mpiscope_model::{Function, Message, Nanoseconds, Node, Rank, Site};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// Groups and iterations of an answer; with more, neighbours are taken together.
const MOST_GROUPS: usize = 12;
const MOST_COLUMNS: usize = 16;

/// States are groups of ranks in a column of time; edges are the messages between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GroupGraph {
    /// Where each column begins, and where the last one ends.
    pub edges_ns: F64Column,
    /// Turns of the main loop in each column; 0 where no loop was found and columns are equally long.
    pub turns: U32Column,
    /// How often the loop turned in all.
    pub loop_turns: u32,
    /// The call that marks a turn; [`NONE`] where there is none.
    pub loop_function: u32,
    /// Its call site.
    pub loop_site: u32,
    /// By rank that is shown, its group.
    pub rank: U32Column,
    /// The group.
    pub group: U32Column,
    /// How many groups.
    pub groups: u32,
    /// Nodes or regions of each group, as their numbers: the first and the last.
    pub first_key: U32Column,
    /// The last.
    pub last_key: U32Column,
    /// Messages by sender's group, receiver's group and the column in which they were sent.
    pub from: U32Column,
    /// The receiver's group.
    pub to: U32Column,
    /// The column in which they were sent.
    pub column: U32Column,
    /// How many.
    pub messages: F64Column,
    /// Their payload.
    pub bytes: F64Column,
    /// What receivers waited for senders.
    pub waited_ns: F64Column,
    /// The highest latency; not a number where none is known.
    pub worst: F64Column,
    /// The message with that latency, or the longest: sender, receiver, times.
    pub worst_src: U32Column,
    /// Its receiver.
    pub worst_dst: U32Column,
    /// When it was sent.
    pub worst_send_ns: F64Column,
    /// When it was received.
    pub worst_recv_ns: F64Column,
    /// Messages with one side outside of the ranks that are shown.
    pub outside: u64,
}

/// Messages of an edge.
#[derive(Debug, Clone, Copy, Default)]
struct Bundle {
    messages: u64,
    bytes: u64,
    waited_ns: u64,
    worst: Option<(f64, Message)>,
}

impl Bundle {
    fn add(&mut self, message: &Message, latency: f64) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(message.bytes);
        self.waited_ns = self.waited_ns.saturating_add(message.late_sender_ns);
        let key = |latency: f64, of: &Message| {
            (if latency.is_nan() { -1.0 } else { latency }, of.t_msg_ns, of.send_ns)
        };
        if self.worst.as_ref().is_none_or(|(other, of)| key(latency, message) > key(*other, of)) {
            self.worst = Some((latency, *message));
        }
    }
}

/// The columns of time, and the loop that they follow.
#[derive(Debug, Clone, PartialEq)]
struct Columns {
    edges_ns: Vec<Nanoseconds>,
    turns: Vec<u32>,
    marker: Option<(Function, Option<Site>, u32)>,
}

/// The graph of groups, as somebody asks for it.
pub(super) fn group_graph(
    question: &GroupGraphQuestion,
    messages: &dyn MessageSource,
    hosts: &BTreeMap<Rank, Node>,
    criteria: Option<&Version>,
    (source, regions): (&dyn CallSource, &Regions),
    is_wanted: &dyn Fn() -> bool,
) -> Result<GroupGraph, String> {
    let shown = hosts.keys().copied().filter(|rank| is_among(question.ranks.as_deref(), *rank));
    let key = |rank: Rank| match question.by {
        Grouping::Node => hosts.get(&rank).copied().unwrap_or_default().0,
        Grouping::Rank => rank.0,
        Grouping::Region => {
            regions.regions.iter().find(|region| region.has(rank)).map_or(NONE, |region| region.id)
        }
    };
    let keys: BTreeMap<Rank, u32> = shown.map(|rank| (rank, key(rank))).collect();
    let (groups, bounds) = grouped(&keys);
    let first = keys.keys().next().copied().ok_or("no rank of this selection is known")?;
    let main_loop = main_loop(source, first, &question.range_ns)?;
    wanted(is_wanted)?;
    let columns = columns(&question.range_ns, main_loop);
    let (mut bundles, mut outside) = (BTreeMap::<(u32, u32, u32), Bundle>::new(), 0);
    visit(messages, &question.range_ns, is_wanted, &mut |messages| {
        for message in messages.iter().filter(|of| question.range_ns.contains(&of.send_ns)) {
            match (groups.get(&message.src), groups.get(&message.dst)) {
                (Some(&from), Some(&to)) => {
                    let column = columns.edges_ns.partition_point(|edge| *edge <= message.send_ns) - 1;
                    let column = column.min(columns.turns.len() - 1) as u32;
                    let bundle = bundles.entry((column, from, to)).or_default();
                    bundle.add(message, latency(criteria, message));
                }
                (Some(_), None) | (None, Some(_)) => outside += 1,
                (None, None) => {}
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(GroupGraph::new(&columns, &groups, &bounds, &bundles, outside))
}

/// The loop that a rank turns in during a range.
fn main_loop(
    source: &dyn CallSource,
    rank: Rank,
    range_ns: &Range<Nanoseconds>,
) -> Result<Option<MainLoop>, String> {
    let mut finder = LoopFinder::default();
    source.visit_of(range_ns, &Some(vec![(rank, rank)]), &mut |call| {
        if range_ns.contains(&call.start_ns) {
            finder.add(call);
        }
    })?;
    Ok(finder.find(range_ns))
}

fn latency(criteria: Option<&Version>, message: &Message) -> f64 {
    criteria.and_then(|criteria| criteria.exact_latency(message)).unwrap_or(f64::NAN)
}

/// The group of each rank, and the first and last key of each group. With too many keys neighbours share a group.
fn grouped(keys: &BTreeMap<Rank, u32>) -> (BTreeMap<Rank, u32>, Vec<(u32, u32)>) {
    let mut all: Vec<u32> = keys.values().copied().collect();
    all.sort_unstable();
    all.dedup();
    let groups = all.len().clamp(1, MOST_GROUPS);
    let group_of = |at: usize| (at * groups / all.len().max(1)) as u32;
    let mut bounds = vec![(u32::MAX, 0); groups];
    for (at, &key) in all.iter().enumerate() {
        let (first, last) = &mut bounds[group_of(at) as usize];
        (*first, *last) = ((*first).min(key), (*last).max(key));
    }
    let group = |key: &u32| all.binary_search(key).map_or(0, group_of);
    (keys.iter().map(|(&rank, key)| (rank, group(key))).collect(), bounds)
}

/// Turns of the main loop, or equal parts of the range where there is none.
fn columns(range_ns: &Range<Nanoseconds>, main_loop: Option<MainLoop>) -> Columns {
    let Some(MainLoop { marker: (function, site), starts_ns: starts }) = main_loop else {
        let length_ns = range_ns.end.saturating_sub(range_ns.start) as f64;
        let edge = |at: usize| range_ns.start + (length_ns * at as f64 / MOST_COLUMNS as f64) as u64;
        let mut edges_ns: Vec<_> = (0..MOST_COLUMNS).map(edge).collect();
        edges_ns.push(range_ns.end);
        return Columns { edges_ns, turns: vec![0; MOST_COLUMNS], marker: None };
    };
    let step = starts.len().div_ceil(MOST_COLUMNS);
    let (mut edges_ns, turns): (Vec<_>, Vec<_>) =
        starts.chunks(step).map(|turns| (turns[0], turns.len() as u32)).unzip();
    // What comes before the first turn belongs to it.
    edges_ns[0] = range_ns.start;
    edges_ns.push(range_ns.end);
    Columns { edges_ns, turns, marker: Some((function, site, starts.len() as u32)) }
}

impl GroupGraph {
    fn new(
        columns: &Columns,
        groups: &BTreeMap<Rank, u32>,
        bounds: &[(u32, u32)],
        bundles: &BTreeMap<(u32, u32, u32), Bundle>,
        outside: u64,
    ) -> Self {
        let worst = |bundle: &Bundle| bundle.worst.unwrap_or((f64::NAN, Message::default()));
        Self {
            edges_ns: columns.edges_ns.iter().copied().collect(),
            turns: columns.turns.iter().copied().collect(),
            loop_turns: columns.marker.map_or(0, |(.., turns)| turns),
            loop_function: columns.marker.map_or(NONE, |(function, ..)| function.into()),
            loop_site: Site::number_or_max(columns.marker.and_then(|(_, site, _)| site)),
            rank: groups.keys().map(|rank| rank.0).collect(),
            group: groups.values().copied().collect(),
            groups: bounds.len() as u32,
            first_key: bounds.iter().map(|(first, _)| *first).collect(),
            last_key: bounds.iter().map(|(_, last)| *last).collect(),
            from: bundles.keys().map(|(_, from, _)| *from).collect(),
            to: bundles.keys().map(|(.., to)| *to).collect(),
            column: bundles.keys().map(|(column, ..)| *column).collect(),
            messages: bundles.values().map(|bundle| bundle.messages).collect(),
            bytes: bundles.values().map(|bundle| bundle.bytes).collect(),
            waited_ns: bundles.values().map(|bundle| bundle.waited_ns).collect(),
            worst: bundles.values().map(|bundle| worst(bundle).0).collect(),
            worst_src: bundles.values().map(|bundle| worst(bundle).1.src.0).collect(),
            worst_dst: bundles.values().map(|bundle| worst(bundle).1.dst.0).collect(),
            worst_send_ns: bundles.values().map(|bundle| worst(bundle).1.send_ns).collect(),
            worst_recv_ns: bundles.values().map(|bundle| worst(bundle).1.recv_ns).collect(),
            outside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_the_main_loop_share_columns() {
        let starts_ns: Vec<u64> = (1..=40).map(|turn| 100 * turn).collect();
        let found = columns(&(0..4_200), Some(MainLoop { marker: (2, Some(Site(7))), starts_ns }));
        assert_eq!(found.marker, Some((2, Some(Site(7)), 40)));
        assert_eq!((found.turns.iter().sum::<u32>(), found.turns.len() <= MOST_COLUMNS), (40, true));
        assert_eq!((found.edges_ns[0], found.edges_ns[found.edges_ns.len() - 1]), (0, 4_200));
        assert!(found.edges_ns.is_sorted() && found.edges_ns.len() == found.turns.len() + 1);
    }

    #[test]
    fn without_a_loop_columns_are_equally_long() {
        let found = columns(&(100..1_700), None);
        assert_eq!((found.marker, found.edges_ns[1], found.edges_ns.len()), (None, 200, MOST_COLUMNS + 1));
    }

    #[test]
    fn too_many_keys_share_groups() {
        let keys = |count: u32| Rank::all(count).map(|rank| (rank, rank.0 / 2)).collect::<BTreeMap<_, _>>();
        let (groups, bounds) = grouped(&keys(8));
        assert_eq!((groups[&Rank(5)], bounds.len(), bounds[2]), (2, 4, (2, 2)));
        let (groups, bounds) = grouped(&keys(2_000));
        assert_eq!((bounds.len(), bounds[0].0, bounds[MOST_GROUPS - 1].1), (MOST_GROUPS, 0, 999));
        assert!(groups.values().copied().collect::<Vec<_>>().is_sorted());
    }

    #[test]
    fn the_worst_message_is_the_one_with_the_highest_latency() {
        let mut bundle = Bundle::default();
        let message = |t_msg_ns| Message { t_msg_ns, late_sender_ns: 3, bytes: 10, ..Message::default() };
        bundle.add(&message(900), f64::NAN);
        bundle.add(&message(5), 2.0);
        bundle.add(&message(4), 7.5);
        bundle.add(&message(800), 1.0);
        assert_eq!((bundle.messages, bundle.bytes, bundle.waited_ns), (4, 40, 12));
        assert_eq!(bundle.worst.map(|(latency, of)| (latency, of.t_msg_ns)), Some((7.5, 4)));
    }
}
