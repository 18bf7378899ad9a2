//! How long it takes to find regions, on one core.

use crate::{Took, peak_kib};
use mpiscope_model::Rank;
use mpiscope_topology::{Clustering, Cut, Method, TalkGraph, modularity};

fn graph_of(pairs: impl IntoIterator<Item = (u32, u32, f64)>) -> TalkGraph {
    let pairs = pairs.into_iter().map(|(one, other, weight)| (Rank(one), Rank(other), weight));
    TalkGraph::new([], pairs)
}

/// What a conjugate-gradient solver sends.
fn cg(ranks: u32) -> TalkGraph {
    let columns = 1_u32 << ranks.ilog2().div_ceil(2);
    let rows = ranks / columns;
    let transposed = |rank: u32| {
        if rows == columns {
            rank % rows * rows + rank / rows
        } else {
            2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2
        }
    };
    let in_row = move |rank: u32| (0..columns.ilog2()).map(move |bit| (rank, rank ^ (1 << bit), 2.0));
    let pairs = (0..ranks).flat_map(|rank| in_row(rank).chain([(rank, transposed(rank), 0.5)]));
    graph_of(pairs)
}

/// A halo exchange on a grid that is closed in no direction.
fn halo([x, y, z]: [u32; 3]) -> TalkGraph {
    let rank = |at: [u32; 3]| (at[0] * y + at[1]) * z + at[2];
    let mut pairs = Vec::new();
    for at in (0..x * y * z).map(|rank| [rank / (y * z), rank / z % y, rank % z]) {
        for (axis, length) in [x, y, z].into_iter().enumerate() {
            let mut next = at;
            next[axis] += 1;
            if next[axis] < length {
                pairs.push((rank(at), rank(next), 2.0));
            }
        }
    }
    graph_of(pairs)
}

fn all_with_all(ranks: u32) -> TalkGraph {
    graph_of((0..ranks).flat_map(|one| (0..one).map(move |other| (one, other, 2.0))))
}

fn measure(name: &str, graph: &TalkGraph, method: Method) {
    let begun = Took::begin();
    let regions = Clustering::new(graph, method).cut(Cut::Auto);
    let took = begun.end();
    let mut sizes: Vec<usize> = regions.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    println!(
        "{name:<32} {:>7.0} ms; {} regions of {} to {} ranks, modularity {:.3}; at most {} MiB until now",
        1e3 * took.processor_s,
        regions.len(),
        sizes[0],
        sizes[sizes.len() - 1],
        modularity(graph, &regions),
        peak_kib().unwrap_or_default() / 1024
    );
}

/// Jobs from small to great.
pub(crate) fn all() {
    let free = Method::FreeEnergy;
    measure("conjugate gradients, 64 ranks", &cg(64), free);
    measure("conjugate gradients, 512", &cg(512), free);
    measure("conjugate gradients, 1,024", &cg(1_024), free);
    measure("the same by hops", &cg(1_024), Method::Paper);
    measure("halo, 1,024", &halo([16, 8, 8]), free);
    measure("all with all, 1,024", &all_with_all(1_024), free);
    measure("conjugate gradients, 2,048", &cg(2_048), free);
    measure("all with all, 2,048", &all_with_all(2_048), free);
    measure("conjugate gradients, 16,384", &cg(16_384), free);
    measure("halo, 16,384", &halo([16, 32, 32]), free);
    measure("the same by hops", &halo([16, 32, 32]), Method::Paper);
}
