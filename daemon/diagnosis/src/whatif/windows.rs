//! Calls on windows that took far longer than usual: they are taken to have waited until another rank of the window entered MPI.
//!
//! A lock or a flush names its target; nothing says who exposes a window, or ends accesses to it. Libraries serve accesses while the
//! target is in MPI. So it was a rank that was not there since the call began, and came just before it ended, or one that gave back a
//! lock of the target then; or else, where no target is named, the last that called on the window just before.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::{CallRow, NO_COMM};
use crate::whatif::graph::Graph;
use crate::whatif::graph::blocked_calls::{BlockedCall, BlockedCalls};
use crate::whatif::graph::flights::size_bin;
use crate::whatif::lack::Lack;
use crate::whatif::soon::{FAR_LONGER_NS, since_soon_before, soon_ns, usual};
use mpiscope_model::{Comm, Function, Rank};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Among more ranks, one enters just before any end by chance.
const MOST_RANKS: usize = 64;

/// A call that may wait for another rank of a window.
#[derive(Debug, Clone, Copy)]
struct Access {
    call: u32,
    window: Comm,
    target: Option<Rank>,
    unlocks: bool,
    /// The size class of what its thread moved on the window since such a call before.
    size: u32,
}

/// The ranks that call on a window, and these calls in the order in which they begin.
#[derive(Debug, Default)]
struct Window {
    ranks: BTreeSet<Rank>,
    calls: Vec<u32>,
    /// Those of them that give a lock back, with its target.
    unlocks: Vec<(u32, Option<Rank>)>,
}

/// Windows, and the calls that may wait for one of their ranks.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    accesses: Vec<Access>,
    windows: FxHashMap<Comm, Window>,
}

impl Windows {
    pub(crate) fn new(graph: &Graph, rows: &[CallRow]) -> Self {
        let accesses = accesses(graph, rows);
        let mut windows: FxHashMap<Comm, Window> =
            accesses.iter().map(|access| (access.window, Window::default())).collect();
        if !windows.is_empty() {
            for (call, row) in rows.iter().enumerate() {
                if let Some(window) = windows.get_mut(&row.comm) {
                    window.ranks.insert(graph.ranks[call]);
                    window.calls.push(call as u32);
                }
            }
        }
        windows.retain(|_, window| window.ranks.len() <= MOST_RANKS);
        for Access { call, window, target, .. } in accesses.iter().filter(|access| access.unlocks) {
            if let Some(window) = windows.get_mut(window) {
                window.unlocks.push((*call, *target));
            }
        }
        for window in windows.values_mut() {
            window.calls.sort_unstable_by_key(|call| graph.starts[*call as usize]);
            window.unlocks.sort_unstable_by_key(|(call, _)| graph.starts[*call as usize]);
        }
        Self { accesses, windows }
    }

    /// What such calls take that wait for nobody.
    fn usual(&self, graph: &Graph) -> FxHashMap<(Function, u32), u64> {
        usual(self.accesses.iter().map(|access| {
            let call = access.call as usize;
            ((graph.functions[call], access.size), graph.ends[call] - graph.starts[call])
        }))
    }

    /// Finds what such calls waited for.
    pub(crate) fn explain(&self, graph: &Graph, blocked: &mut BlockedCalls) {
        let usual = self.usual(graph);
        for access in &self.accesses {
            let call = access.call as usize;
            let span = (graph.starts[call], graph.ends[call]);
            let usual_ns = usual.get(&(graph.functions[call], access.size));
            let took_ns = span.1 - span.0;
            let Some(window) = self.windows.get(&access.window).filter(|_| took_ns > soon_ns(None)) else {
                continue;
            };
            let lack = Lack::during(graph, graph.ranks[call], span);
            let since_ns = since_soon_before(graph, call, &lack);
            let usual_ns = usual_ns.copied().unwrap_or(0);
            let is_long = took_ns > soon_ns(Some(&usual_ns));
            // What a call takes that moves nothing is not known where all have to wait for a lock.
            let moves = access.size > size_bin(0);
            let unlock = if is_long || !moves { unlocked(graph, window, access, since_ns) } else { None };
            if let Some(entry) = unlock {
                let after_ns = span.1 - graph.starts[entry as usize];
                let usual_ns = if moves { usual_ns } else { usual_ns.min(after_ns) };
                blocked.add(call, BlockedCall { entry, usual_ns });
            } else if is_long && let Some(entry) = awaited(graph, window, access, since_ns) {
                blocked.add(call, BlockedCall { entry, usual_ns });
            }
        }
    }
}

/// The calls that may wait, in the order of the graph.
fn accesses(graph: &Graph, rows: &[CallRow]) -> Vec<Access> {
    let mut accesses = Vec::new();
    let mut moved: FxHashMap<Comm, u64> = FxHashMap::default();
    let unlocks = |call: usize| match graph.kind(call) {
        CallKind::Access { unlocks } => Some(unlocks),
        _ => None,
    };
    if !(0..rows.len()).any(|call| unlocks(call).is_some()) {
        return accesses;
    }
    for thread in &graph.threads {
        moved.clear();
        for call in thread.calls.clone() {
            let row = &rows[call as usize];
            if row.comm == NO_COMM {
                continue;
            }
            if let Some(unlocks) = unlocks(call as usize) {
                let bytes = moved.insert(row.comm, 0).unwrap_or(0);
                let size = size_bin(u32::try_from(bytes).unwrap_or(u32::MAX));
                let target = Some(row.peer).filter(|peer| *peer != Rank::NONE);
                accesses.push(Access { call, window: row.comm, target, unlocks, size });
            } else {
                *moved.entry(row.comm).or_default() += u64::from(row.bytes);
            }
        }
    }
    accesses
}

/// The call with which another rank gave back a lock of the target just before a call ended that had begun before.
fn unlocked(graph: &Graph, window: &Window, access: &Access, since_ns: u64) -> Option<u32> {
    let call = access.call as usize;
    access.target?;
    let unlocks = &window.unlocks;
    let before = unlocks.partition_point(|(unlock, _)| graph.starts[*unlock as usize] < graph.ends[call]);
    let mut last =
        unlocks[..before].iter().rev().take_while(|(unlock, _)| graph.starts[*unlock as usize] > since_ns);
    // One that goes on for longer waits for the lock itself: some libraries ask for it when it is given back.
    let gives_back = |unlock: usize| {
        graph.ranks[unlock] != graph.ranks[call] && graph.ends[unlock] <= graph.ends[call] + FAR_LONGER_NS
    };
    last.find(|(unlock, target)| *target == access.target && gives_back(*unlock as usize))
        .map(|(unlock, _)| *unlock)
}

/// The entry that a call waited for otherwise.
fn awaited(graph: &Graph, window: &Window, access: &Access, since_ns: u64) -> Option<u32> {
    let call = access.call as usize;
    let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
    let is_other =
        |rank: &Rank| *rank != graph.ranks[call] && access.target.is_none_or(|target| target == *rank);
    let is_within = |entry: &u32| (since_ns + 1..end_ns).contains(&graph.starts[*entry as usize]);
    let others = window.ranks.iter().copied().filter(is_other);
    let entries = others.filter_map(|rank| graph.first_entry_if_away(rank, start_ns)).filter(is_within);
    let first = entries.max_by_key(|entry| graph.starts[*entry as usize]);
    first.or_else(|| {
        let before = window.calls.partition_point(|call| graph.starts[*call as usize] < end_ns);
        let mut last = window.calls[..before].iter().rev().copied().take_while(is_within);
        last.find(|entry| is_other(&graph.ranks[*entry as usize])).filter(|_| access.target.is_none())
    })
}
