//! The computing between the calls of a rank, and tables of figures by rank, in which those that do the same are compared.

use crate::whatif::call_row::NONE;
use crate::whatif::graph::Graph;

/// The computing before a call.
pub(crate) struct Gap {
    pub(crate) rank: usize,
    pub(crate) call: usize,
    /// Of the call, and of the one before it.
    pub(crate) places: [u16; 2],
    pub(crate) pure_ns: f64,
}

/// The computing before each call but the first of a thread.
pub(crate) fn each_gap(graph: &Graph, mut take: impl FnMut(Gap)) {
    for thread in &graph.threads {
        let calls = thread.calls.start as usize..thread.calls.end as usize;
        for call in calls.clone().skip(1) {
            let gap_ns = graph.starts[call] - graph.ends[call - 1];
            let pure_ns = gap_ns.saturating_sub(graph.delay_before(call)) as f64;
            let places = [graph.places[call], graph.places[call - 1]];
            take(Gap { rank: thread.rank.index(), call, places, pure_ns });
        }
    }
}

pub(crate) fn class_of(graph: &Graph, rank: usize) -> Option<usize> {
    graph.classes.get(rank).copied().filter(|class| *class != NONE).map(|class| class as usize)
}

pub(crate) fn class_count(graph: &Graph) -> usize {
    (0..graph.classes.len()).filter_map(|rank| class_of(graph, rank)).max().map_or(0, |most| most + 1)
}

/// For each column of a table by rank and column, and for all ranks that do the same, takes where their cells are.
pub(crate) fn each_of_class(graph: &Graph, (cells, columns): (usize, usize), mut take: impl FnMut(&[usize])) {
    let mut members = vec![Vec::new(); class_count(graph)];
    let ranks = 0..cells / columns;
    ranks.for_each(|rank| class_of(graph, rank).into_iter().for_each(|class| members[class].push(rank)));
    let mut at: Vec<usize> = Vec::new();
    for (column, ranks) in (0..columns).flat_map(|column| members.iter().map(move |ranks| (column, ranks))) {
        at.clear();
        at.extend(ranks.iter().map(|rank| rank * columns + column));
        take(&at);
    }
}

/// In each of some columns of every rank, the mean of the ranks that do the same.
pub(crate) fn means(graph: &Graph, own_ns: &[f64], columns: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u32); class_count(graph) * columns];
    for rank in (0..graph.threads_of.len()).filter(|rank| !graph.threads_of[*rank].is_empty()) {
        let Some(class) = class_of(graph, rank) else { continue };
        for column in 0..columns {
            let (sum, count) = &mut sums[class * columns + column];
            (*sum, *count) = (*sum + own_ns[rank * columns + column], *count + 1);
        }
    }
    let mut means = own_ns.to_vec();
    for (at, mean) in means.iter_mut().enumerate() {
        if let Some(class) = class_of(graph, at / columns) {
            let (sum, count) = sums[class * columns + at % columns];
            *mean = sum / f64::from(count.max(1));
        }
    }
    means
}
