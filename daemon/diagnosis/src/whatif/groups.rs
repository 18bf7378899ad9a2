//! Finds which calls take part in each collective.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::{CallRow, NO_COMM, NONE, STARTUP_COMM};
use crate::whatif::decisive::waited_for_collective;
use crate::whatif::graph::Graph;
use crate::whatif::graph::groups::{Groups, Member};
use crate::whatif::members::MOST_MEMBERS;
use mpiscope_model::{Collected, Comm, Flow, Rank};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// By rank, thread and number of a call, the communicators and instances of the collectives that it completed.
type Completed = FxHashMap<(Rank, u16, u64), Vec<(Comm, u32)>>;

/// Communicator, instance, root and bytes of a call.
type MemberRow = (Comm, u32, Rank, u32);

/// What rows say of collectives, before calls are grouped.
#[derive(Debug, Default)]
pub(crate) struct Memberships {
    rows: Vec<MemberRow>,
    /// Collectives that calls completed, by rank, thread and number of the call.
    completed: Completed,
}

impl Memberships {
    pub(crate) fn new(
        rows: &[CallRow],
        collected: &[Collected],
        first_numbers: &FxHashMap<(Rank, u16), u64>,
    ) -> Self {
        let mut completed: Completed = FxHashMap::default();
        for of in collected {
            let first = first_numbers.get(&(of.rank, of.call.thread())).copied().unwrap_or(0);
            let Some(number) = of.call.number().checked_sub(first) else { continue };
            let call = (of.rank, of.call.thread(), number);
            completed.entry(call).or_default().push((of.comm, of.number));
        }
        let rows = rows.iter().map(|row| (row.comm, row.instance, row.peer, row.bytes)).collect();
        Self { rows, completed }
    }
}

/// Who left so long before the last one came did not wait for it; clocks do not differ as much: of one node, and of several.
const EARLY_NS: u64 = 20_000;
const EARLY_ELSEWHERE_NS: u64 = 1_000_000;

/// One part of a collective: communicator and instance, and who.
struct Part {
    key: (Comm, u32),
    rank: Rank,
    call: u32,
    flow: Option<Flow>,
    is_barrier: bool,
}

/// Groups calls into collectives.
pub(crate) fn group(graph: &mut Graph, memberships: Memberships) {
    let Memberships { rows, completed } = memberships;
    let parts = collect_parts(graph, &rows);
    let mut groups =
        Groups { entered: vec![NONE; rows.len()], left: vec![NONE; rows.len()], ..Groups::default() };
    let mut by_key: FxHashMap<(Comm, u32), u32> = FxHashMap::default();
    for of_group in parts.chunk_by(|one, other| one.key == other.key) {
        by_key.insert(of_group[0].key, groups.flows.len() as u32);
        add_group(graph, &rows, &mut groups, of_group);
    }
    groups.first.push(groups.members.len() as u32);
    drop(parts);
    if completed.is_empty() {
        complete_in_order(graph, &mut groups);
    } else {
        complete(graph, &mut groups, &completed, &by_key);
    }
    graph.groups = groups;
}

/// The calls that take part in collectives, by collective and rank.
fn collect_parts(graph: &Graph, rows: &[MemberRow]) -> Vec<Part> {
    let mut parts = Vec::new();
    for thread in &graph.threads {
        let mut setups = 0;
        for call in thread.calls.clone() {
            let (comm, instance, ..) = rows[call as usize];
            let (flow, is_barrier) = match graph.kind(call as usize) {
                CallKind::Setup => (Some(Flow::All), true),
                CallKind::Collective { flow, is_barrier } | CallKind::Start { flow, is_barrier } => {
                    (flow, is_barrier)
                }
                _ => continue,
            };
            let key = match graph.kind(call as usize) {
                CallKind::Setup => {
                    setups += 1;
                    (STARTUP_COMM, setups)
                }
                _ if instance == NONE || comm == NO_COMM => continue,
                _ => (comm, instance),
            };
            parts.push(Part { key, rank: thread.rank, call, flow, is_barrier });
        }
    }
    parts.sort_by_key(|part| (part.key, part.rank));
    parts
}

/// Adds a collective with these parts.
fn add_group(graph: &Graph, rows: &[MemberRow], groups: &mut Groups, parts: &[Part]) {
    let group = groups.flows.len() as u32;
    let first = groups.members.len() as u32;
    groups.first.push(first);
    let (mut root, mut bytes) = (NONE, 0);
    for part in parts {
        let (_, _, peer, sent) = rows[part.call as usize];
        if peer == part.rank {
            root = groups.members.len() as u32;
        }
        bytes = bytes.max(sent);
        groups.entered[part.call as usize] = group;
        let is_start = matches!(graph.kind(part.call as usize), CallKind::Start { .. });
        // What moves nothing holds nobody up, but for barriers, and who only receives from neighbours.
        let moves = part.is_barrier || sent > 0 || part.flow.is_none();
        if !is_start && (moves || part.flow == Some(Flow::FromRoot)) {
            groups.left[part.call as usize] = group;
        }
        let is_awaited = moves || part.flow == Some(Flow::FromRoot);
        if !is_awaited {
            groups.unawaited.insert(part.call);
        }
        groups.members.push(Member { rank: part.rank, call: part.call, is_awaited });
    }
    let node = |member: &Member| graph.nodes.get(member.rank.index());
    let members = &groups.members[first as usize..];
    groups.is_inter.push(members.iter().any(|member| node(member) != node(&members[0])));
    let awaited = members.iter().filter(|member| member.is_awaited);
    let last_ns = awaited.map(|member| graph.starts[member.call as usize]).max().unwrap_or(0);
    groups.last_ns.push(last_ns);
    let flow = parts[0].flow;
    let early_ns = if groups.is_inter[group as usize] { EARLY_ELSEWHERE_NS } else { EARLY_NS };
    let is_early = |part: &&Part| {
        let call = part.call as usize;
        groups.left[call] == group && graph.ends[call] + early_ns < last_ns
    };
    // Who sends nothing to others and receives nothing of them need not wait for them: it is not known who waits for whom.
    let is_partial =
        flow == Some(Flow::All) && !parts[0].is_barrier && parts.iter().any(|part| is_early(&part));
    let is_compared = parts.len() <= MOST_MEMBERS;
    if is_partial && !is_compared {
        let early: Vec<u32> = parts.iter().filter(is_early).map(|part| part.call).collect();
        early.into_iter().for_each(|call| groups.left[call as usize] = NONE);
    }
    groups.flows.push(flow.filter(|_| !is_partial || !is_compared));
    groups.roots.push(root);
    groups.bytes.push(bytes);
}

/// When the last of those was entered that a member waits for.
fn last_entry_ns(graph: &Graph, groups: &Groups, group: u32, rank: Rank) -> u64 {
    let awaited = groups.awaited(group, rank).iter().filter(|member| member.is_awaited);
    awaited.map(|member| graph.starts[member.call as usize]).max().unwrap_or(0)
}

/// Finds how long after the last awaited entry the data of collectives was there: when the first member left that had waited.
pub(crate) fn find_arrivals(graph: &mut Graph) {
    let mut there_ns = vec![None; graph.groups.flows.len()];
    for call in 0..graph.call_count() {
        let group = graph.groups.left[call];
        if group == NONE {
            continue;
        }
        let waited_ns = graph.last_entry_ns(group, graph.rank_of(call as u32));
        let waited_ns = waited_ns.and_then(|last_ns| waited_for_collective(graph, call, last_ns));
        let of_group: &mut Option<u64> = &mut there_ns[group as usize];
        *of_group = waited_ns.into_iter().chain(*of_group).min();
    }
    graph.groups.there_ns = there_ns;
}

/// Calls leave the collectives that they are known to complete; of several the one entered last decided.
fn complete(graph: &Graph, groups: &mut Groups, completed: &Completed, by_key: &FxHashMap<(Comm, u32), u32>) {
    for thread in &graph.threads {
        for (number, call) in (0_u64..).zip(thread.calls.clone()) {
            let Some(keys) = completed.get(&(thread.rank, thread.number, number)) else { continue };
            let found = keys.iter().filter_map(|key| by_key.get(key).copied());
            let last = found.max_by_key(|group| last_entry_ns(graph, groups, *group, thread.rank));
            if let Some(group) = last {
                groups.left[call as usize] = group;
            }
        }
    }
}

/// Likewise where nobody says which: waits that received nothing complete what was started, in order.
fn complete_in_order(graph: &Graph, groups: &mut Groups) {
    for thread in &graph.threads {
        let mut started: VecDeque<u32> = VecDeque::new();
        for call in thread.calls.clone() {
            let at = call as usize;
            match graph.kind(at) {
                CallKind::Start { .. } if groups.entered[at] != NONE => started.push_back(groups.entered[at]),
                CallKind::Wait if graph.received_by(at).is_empty() => {
                    if let Some(group) = started.pop_front() {
                        groups.left[at] = group;
                    }
                }
                _ => {}
            }
        }
    }
}
