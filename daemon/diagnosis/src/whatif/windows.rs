//! Calls on windows that took far longer than usual: they waited until another rank of the window entered MPI.
//!
//! Nothing says whom they waited for: the target of an access, who exposes its window, or who ends its accesses. Libraries serve
//! accesses while the target is in MPI. So it was a rank that was not there since the call began, and came just before it ended; or
//! else the last that called on the window just before.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::{CallRow, NO_COMM};
use crate::whatif::graph::Graph;
use crate::whatif::graph::blocked_calls::{BlockedCall, BlockedCalls};
use crate::whatif::lack::Lack;
use crate::whatif::soon::{since_soon_before, soon_ns};
use mpiscope_model::{Comm, Function, Rank};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Among more ranks, one enters just before any end by chance.
const MOST_RANKS: usize = 64;

/// The ranks that call on a window, and these calls in the order in which they begin.
#[derive(Debug, Default)]
struct Window {
    ranks: BTreeSet<Rank>,
    calls: Vec<u32>,
}

/// Windows, and the calls that may wait for one of their ranks.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    calls: Vec<(u32, Comm)>,
    windows: FxHashMap<Comm, Window>,
}

impl Windows {
    pub(crate) fn new(graph: &Graph, rows: &[CallRow]) -> Self {
        let comms = || rows.iter().enumerate().filter(|(_, row)| row.comm != NO_COMM);
        let waiting = comms().filter(|(call, _)| graph.kind(*call) == CallKind::Access);
        let calls: Vec<(u32, Comm)> = waiting.map(|(call, row)| (call as u32, row.comm)).collect();
        let mut windows: FxHashMap<Comm, Window> =
            calls.iter().map(|(_, window)| (*window, Window::default())).collect();
        if !windows.is_empty() {
            for (call, row) in comms() {
                if let Some(window) = windows.get_mut(&row.comm) {
                    window.ranks.insert(graph.ranks[call]);
                    window.calls.push(call as u32);
                }
            }
        }
        windows.retain(|_, window| window.ranks.len() <= MOST_RANKS);
        for window in windows.values_mut() {
            window.calls.sort_unstable_by_key(|call| graph.starts[*call as usize]);
        }
        Self { calls, windows }
    }

    /// What calls of each function take that wait for nobody: nearly the least that was seen.
    fn usual(&self, graph: &Graph) -> FxHashMap<Function, u64> {
        let mut taken: FxHashMap<Function, Vec<u64>> = FxHashMap::default();
        for call in self.calls.iter().map(|(call, _)| *call as usize) {
            taken.entry(graph.functions[call]).or_default().push(graph.ends[call] - graph.starts[call]);
        }
        let least = |(function, mut of): (Function, Vec<u64>)| {
            let at = of.len() / 100;
            (function, *of.select_nth_unstable(at).1)
        };
        taken.into_iter().map(least).collect()
    }

    /// Finds what such calls waited for.
    pub(crate) fn explain(&self, graph: &Graph, blocked: &mut BlockedCalls) {
        let usual = self.usual(graph);
        for &(call, window) in &self.calls {
            let call = call as usize;
            let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
            let usual_ns = usual.get(&graph.functions[call]);
            let is_long = end_ns - start_ns > soon_ns(usual_ns);
            let Some(window) = self.windows.get(&window).filter(|_| is_long) else { continue };
            let lack = Lack::during(graph, graph.ranks[call], (start_ns, end_ns));
            let since_ns = since_soon_before(graph, call, &lack);
            let is_other = |rank: &Rank| *rank != graph.ranks[call];
            let others = window.ranks.iter().copied().filter(is_other);
            let entries = others.filter_map(|rank| graph.first_entry_if_away(rank, start_ns));
            let is_within = |entry: &u32| (since_ns + 1..end_ns).contains(&graph.starts[*entry as usize]);
            let first = entries.filter(is_within).max_by_key(|entry| graph.starts[*entry as usize]);
            let last = || {
                let before = window.calls.partition_point(|call| graph.starts[*call as usize] < end_ns);
                let mut last = window.calls[..before].iter().rev().copied().take_while(is_within);
                last.find(|entry| is_other(&graph.ranks[*entry as usize]))
            };
            if let Some(entry) = first.or_else(last) {
                blocked.add(call, BlockedCall { entry, usual_ns: usual_ns.copied().unwrap_or(0) });
            }
        }
    }
}
