//! How soon before a call ended something came that it may have waited for.

use crate::whatif::graph::Graph;
use crate::whatif::lack::Lack;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// A call took far longer than usual when it took this many times as long, and this much.
const FAR_LONGER: u64 = 10;
pub(crate) const FAR_LONGER_NS: u64 = 20_000;
/// A wait goes on as soon as this after what it sent has left.
const SOON_NS: u64 = 5 * FAR_LONGER_NS;
/// What ended a call may have come as long before as it waits for a CPU this many times, on average.
const WAITS_FOR_CPU: u64 = 2;

/// What calls of each kind take that wait for nobody: nearly the least that was seen.
pub(crate) fn usual<K: Hash + Eq>(taken: impl Iterator<Item = (K, u64)>) -> FxHashMap<K, u64> {
    let mut of_kinds: FxHashMap<K, Vec<u64>> = FxHashMap::default();
    taken.for_each(|(kind, ns)| of_kinds.entry(kind).or_default().push(ns));
    let least = |(kind, mut of): (K, Vec<u64>)| {
        let at = of.len() / 100;
        (kind, *of.select_nth_unstable(at).1)
    };
    of_kinds.into_iter().map(least).collect()
}

/// Up to this a call takes no longer than such calls do.
pub(crate) fn soon_ns(usual_ns: Option<&u64>) -> u64 {
    FAR_LONGER * usual_ns.copied().unwrap_or(0) + FAR_LONGER_NS
}

/// From when on an entry was soon enough before the end of a call.
pub(crate) fn since_soon_before(graph: &Graph, call: usize, lack: &Lack<'_>) -> u64 {
    let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
    match lack.is_most() && !lack.explains() {
        // It goes on only when it has a CPU again.
        true => start_ns,
        false => end_ns.saturating_sub(SOON_NS.saturating_add(waits_ns(lack))).max(start_ns),
    }
}

/// How long before the end of a call that which ended it may have come, as its rank had to wait for a CPU.
pub(crate) fn waits_ns(lack: &Lack<'_>) -> u64 {
    lack.wait_ns().unwrap_or(0).saturating_mul(WAITS_FOR_CPU)
}
