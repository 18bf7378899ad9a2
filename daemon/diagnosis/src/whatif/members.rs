//! Members of a collective that left it long after the last entry that they are known to wait for: they are taken to have waited
//! until somebody else entered.
//!
//! Data goes from rank to rank. Who passes on what others send waits for those below it, though only the root needs the result, and
//! who gets what the root sent may get it from a rank that comes late. What was started gets on only while its members are in MPI.

use crate::whatif::call_row::NONE;
use crate::whatif::decisive::was_underway;
use crate::whatif::graph::Graph;
use crate::whatif::graph::blocked_calls::{BlockedCall, BlockedCalls};
use crate::whatif::graph::flights::{Figure, size_bin};
use crate::whatif::lack::Lack;
use crate::whatif::soon::{since_soon_before, soon_ns, usual};
use mpiscope_model::{Flow, Function};

/// Among more members, where nothing says for which each waits or their data goes over a network, one enters just before any end by
/// chance. In a larger scan, to look at all that each waits for takes too long.
pub(crate) const MOST_MEMBERS: usize = 256;

/// Likewise where it may have entered for any reason.
const FEW_MEMBERS: usize = 64;

/// A call that leaves a collective. It has waited for nobody who is known since a moment.
struct Leaving {
    call: usize,
    group: u32,
    since_ns: u64,
    end_ns: u64,
    kind: Kind,
}

/// Function and size of what a call completes.
type Kind = (Function, u32);

impl Leaving {
    fn new(graph: &Graph, call: usize, group: u32) -> Self {
        let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
        let sent_ns = graph.received_by(call).iter().map(|edge| graph.starts[edge.from as usize]);
        let last_ns = sent_ns.chain(graph.last_entry_ns(group, graph.ranks[call])).max().unwrap_or(0);
        let first = graph.groups.members(group)[0].call as usize;
        let own = if graph.groups.entered[call] == group { call } else { first };
        let kind = (graph.functions[own], size_bin(graph.groups.bytes[group as usize]));
        Self { call, group, since_ns: last_ns.clamp(start_ns, end_ns), end_ns, kind }
    }

    fn rest_ns(&self) -> u64 {
        self.end_ns - self.since_ns
    }
}

/// Whether entries may say what a call waited for that leaves a collective.
fn is_compared(graph: &Graph, call: usize, group: u32) -> bool {
    let at = group as usize;
    let (flow, members) = (graph.groups.flows[at], graph.groups.members(group).len());
    // Nobody enters after the last of all, for whom it waits.
    let knows_all = flow == Some(Flow::All) && graph.groups.entered[call] == group;
    let is_by_chance = graph.groups.is_inter[at] || flow.is_none_or(|flow| flow == Flow::FromLower);
    !graph.is_setup(call) && !knows_all && (members <= MOST_MEMBERS || !is_by_chance)
}

/// By collective and time, the calls with which members entered MPI for it: to take part in it, or to complete it.
struct Entries(Vec<(u32, u64, u32)>);

impl Entries {
    fn new(graph: &Graph, leaving: &[Leaving]) -> Self {
        let mut groups: Vec<u32> = leaving.iter().map(|leaving| leaving.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let entering = groups
            .iter()
            .flat_map(|group| graph.groups.members(*group).iter().map(|member| (*group, member.call)));
        let completing = leaving.iter().map(|leaving| (leaving.group, leaving.call as u32));
        let entry = |(group, call): (u32, u32)| (group, graph.starts[call as usize], call);
        let mut entries: Vec<_> = entering.chain(completing).map(entry).collect();
        entries.sort_unstable();
        Self(entries)
    }

    /// The last entry of another rank between two moments.
    fn last(&self, graph: &Graph, leaving: &Leaving, since_ns: u64) -> Option<u32> {
        let Leaving { call, group, end_ns, .. } = *leaving;
        let before = self.0.partition_point(|(of, start_ns, _)| (*of, *start_ns) < (group, end_ns));
        let entries = self.0[..before].iter().rev();
        let mut entries = entries.take_while(|(of, start_ns, _)| *of == group && *start_ns > since_ns);
        entries
            .find(|(.., entry)| graph.ranks[*entry as usize] != graph.ranks[call])
            .map(|(.., entry)| *entry)
    }
}

/// The last entry into MPI, between two moments, of one of few members that did not get to the collective until then. Who sends far
/// ahead of such a one waits when buffers are full, until it takes what it was sent before.
fn last_of_few(graph: &Graph, leaving: &Leaving, since_ns: u64) -> Option<u32> {
    let (rank, end_ns) = (graph.ranks[leaving.call], leaving.end_ns);
    let members = graph.groups.members(leaving.group);
    let few = if members.len() <= FEW_MEMBERS { members } else { &[] };
    let others =
        few.iter().filter(|member| member.rank != rank && graph.starts[member.call as usize] >= end_ns);
    let last = others.filter_map(|member| graph.last_entry_before(member.rank, end_ns));
    let within = last.filter(|entry| graph.starts[*entry as usize] > since_ns);
    within.max_by_key(|entry| graph.starts[*entry as usize])
}

/// Finds what such members waited for.
pub(crate) fn explain(graph: &Graph, blocked: &mut BlockedCalls) {
    let left = graph.groups.left.iter().enumerate().filter(|(_, group)| **group != NONE);
    let compared = left.filter(|(call, group)| is_compared(graph, *call, **group));
    let all: Vec<Leaving> = compared.map(|(call, group)| Leaving::new(graph, call, *group)).collect();
    let usual = usual(all.iter().map(|leaving| (leaving.kind, leaving.rest_ns())));
    let entries = Entries::new(graph, &all);
    for leaving in &all {
        let Leaving { call, group, since_ns, end_ns, kind } = *leaving;
        let usual_ns = usual.get(&kind);
        let soon_ns = soon_ns(usual_ns);
        let receives = !graph.received_by(call).is_empty();
        if leaving.rest_ns() <= soon_ns || receives && was_underway(graph, (call, true), Figure::Low) {
            continue;
        }
        // Where a network or the lack of a CPU may be why it was long, only entries soon before its end are to blame.
        let lack = Lack::during(graph, graph.ranks[call], (since_ns, end_ns));
        let only_soon = graph.groups.is_inter[group as usize] || lack.explains();
        let last = |from_ns: u64| entries.last(graph, leaving, from_ns.max(since_ns));
        let of_few = || last_of_few(graph, leaving, since_soon_before(graph, call, &lack).max(since_ns));
        let at_all = || if only_soon { None } else { last(since_ns) };
        if let Some(entry) = last(end_ns.saturating_sub(soon_ns)).or_else(of_few).or_else(at_all) {
            blocked.add(call, BlockedCall { entry, usual_ns: usual_ns.copied().unwrap_or(0) });
        }
    }
}
