//! How long it takes to find a better placement.

use mpiscope_model::{Node, Rank};
use mpiscope_topology::{Flow, Traffic, advise, capacities};
use std::time::Instant;

const MESSAGE: Flow = Flow { messages: 2, bytes: 2_000 };

/// A halo exchange on a grid that is closed in no direction.
fn halo([x, y, z]: [u32; 3]) -> Traffic {
    let mut traffic = Traffic::default();
    let rank = |at: [u32; 3]| (at[0] * y + at[1]) * z + at[2];
    for at in (0..x * y * z).map(|rank| [rank / (y * z), rank / z % y, rank % z]) {
        for (axis, length) in [x, y, z].into_iter().enumerate() {
            let mut next = at;
            next[axis] += 1;
            if next[axis] < length {
                traffic.add(Rank(rank(at)), Rank(rank(next)), MESSAGE);
            }
        }
    }
    traffic
}

fn all_with_all(ranks: u32) -> Traffic {
    let mut traffic = Traffic::default();
    (0..ranks).for_each(|one| (0..one).for_each(|other| traffic.add(Rank(one), Rank(other), MESSAGE)));
    traffic
}

fn measure(name: &str, traffic: &Traffic, ranks: u32, nodes: u32) {
    let today: Vec<Node> = (0..ranks).map(|rank| Node(rank % nodes)).collect();
    let begun = Instant::now();
    let advice = advise(traffic, &today, &capacities(&today, nodes as usize));
    let took = begun.elapsed();
    let (before, after) = (advice.inter_messages_before, advice.inter_messages_after);
    println!("{name:<32} {took:>10.1?}; messages between nodes {before} -> {after}");
}

/// Jobs placed in turns, from small to great.
pub(crate) fn all() {
    measure("halo, 512 ranks on 64 nodes", &halo([8, 8, 8]), 512, 64);
    measure("halo, 2,048 on 256", &halo([8, 16, 16]), 2048, 256);
    measure("halo, 2,048 on 2", &halo([8, 16, 16]), 2048, 2);
    measure("all with all, 2,048 on 128", &all_with_all(2048), 2048, 128);
    measure("halo, 16,384 on 128", &halo([16, 32, 32]), 16384, 128);
    measure("halo, 16,384 on 2,048", &halo([16, 32, 32]), 16384, 2048);
}
