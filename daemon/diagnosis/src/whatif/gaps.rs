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
            let [pure_ns, _] = graph.computing_before(call);
            let places = [graph.places[call], graph.places[call - 1]];
            take(Gap { rank: thread.rank.index(), call, places, pure_ns: pure_ns as f64 });
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
pub(crate) fn means(graph: &Graph, own: &[f64], columns: usize) -> Vec<f64> {
    let classes: Vec<Option<usize>> = (0..own.len() / columns).map(|rank| class_of(graph, rank)).collect();
    means_of_groups(graph, &classes, own, columns)
}

/// Likewise the mean of the ranks of a group; ranks without calls do not count, and those of no group keep their own.
pub(crate) fn means_of_groups(
    graph: &Graph,
    groups: &[Option<usize>],
    own: &[f64],
    columns: usize,
) -> Vec<f64> {
    let count = groups.iter().flatten().max().map_or(0, |most| most + 1);
    let mut sums = vec![(0.0, 0_u32); count * columns];
    let of_ranks = || groups.iter().zip(own.chunks_exact(columns));
    let with_calls = of_ranks().zip(&graph.threads_of).filter(|(_, threads)| !threads.is_empty());
    for ((group, own), _) in with_calls {
        let Some(group) = group else { continue };
        for ((sum, count), own) in sums[group * columns..].iter_mut().zip(own) {
            (*sum, *count) = (*sum + own, *count + 1);
        }
    }
    let mut means = Vec::with_capacity(own.len());
    for (group, own) in of_ranks() {
        match group {
            Some(group) => {
                let of_group = &sums[group * columns..][..columns];
                means.extend(of_group.iter().map(|(sum, count)| sum / f64::from((*count).max(1))));
            }
            None => means.extend(own),
        }
    }
    means
}
