//! How good the advice is, beside what METIS alone proposes.

use super::*;
use metis::Graph as MetisGraph;
use metis::option::UFactor;
use std::collections::BTreeMap;

/// METIS with equal parts, no more helped than by moving single ranks where parts are not as large as the nodes: the
/// better of its two ways.
fn metis_alone(traffic: &Traffic, sizes: &[usize]) -> u64 {
    let ranks: usize = sizes.iter().sum();
    let mut edges: BTreeMap<u32, BTreeMap<u32, i32>> = BTreeMap::new();
    for (one, other, flow) in traffic.pairs() {
        let weight = i32::try_from(flow.messages).unwrap();
        edges.entry(one.0).or_default().insert(other.0, weight);
        edges.entry(other.0).or_default().insert(one.0, weight);
    }
    let (mut offsets, mut ends, mut weights) = (vec![0], Vec::new(), Vec::new());
    for rank in 0..ranks as u32 {
        for (&other, &weight) in edges.get(&rank).into_iter().flatten() {
            ends.push(other as i32);
            weights.push(weight);
        }
        offsets.push(ends.len() as i32);
    }
    let shares: Vec<f32> = sizes.iter().map(|&size| size as f32 / ranks as f32).collect();
    let graph = || {
        let graph = MetisGraph::new(1, sizes.len() as i32, &offsets, &ends).unwrap();
        graph.set_adjwgt(&weights).set_tpwgts(&shares).set_option(UFactor(1))
    };
    let (mut halved, mut at_once) = (vec![0; ranks], vec![0; ranks]);
    {
        let _alone = library::alone();
        graph().part_recursive(&mut halved).unwrap();
        graph().part_kway(&mut at_once).unwrap();
    }
    let whole = Graph::build(traffic, ranks);
    let messages = [halved, at_once].map(|parts| {
        let mut parts: Vec<u32> = parts.into_iter().map(|part| part as u32).collect();
        capacities::repair(&whole, &mut parts, sizes);
        let placed: Vec<Node> = parts.into_iter().map(Node).collect();
        assert_eq!(capacities(&placed, sizes.len()), sizes);
        traffic.between_nodes(&placed).messages
    });
    messages[0].min(messages[1])
}

#[track_caller]
fn as_good_as_metis(name: &str, traffic: &Traffic, placements: &[Vec<Node>], nodes: usize) {
    for today in placements {
        let alone = metis_alone(traffic, &capacities(today, nodes));
        let advice = advise_soundly(traffic, today, nodes);
        let (before, after) = (advice.inter_messages_before, advice.inter_messages_after);
        println!(
            "{name}: today {before}, METIS alone {alone}, advice {after}, {} moved",
            moved(&advice, today)
        );
        assert!(after <= alone, "{name}: {after} and METIS alone {alone}");
    }
}

fn placements(ranks: u32, nodes: u32) -> [Vec<Node>; 3] {
    [cyclic(ranks, nodes), at_random(ranks, nodes), blocks(ranks, nodes)]
}

#[test]
fn a_halo_on_a_grid() {
    for (name, is_periodic) in [("halo 8x8x8", false), ("halo 8x8x8, periodic", true)] {
        as_good_as_metis(name, &halo([8, 8, 8], is_periodic), &placements(512, 64), 64);
    }
    as_good_as_metis("halo 4x6x10", &halo([4, 6, 10], false), &placements(240, 20), 20);
}

#[test]
fn cubes_are_found() {
    // No box of eight has less surface than a cube: 64 nodes cut 3 planes of 64 links in each direction, twice a message.
    let advice = advise_soundly(&halo([8, 8, 8], false), &cyclic(512, 64), 64);
    assert_eq!(advice.inter_messages_after, 3 * 3 * 64 * 2);
}

#[test]
fn conjugate_gradients() {
    as_good_as_metis("CG 256", &conjugate_gradient(8), &placements(256, 32), 32);
    as_good_as_metis("CG 512", &conjugate_gradient(9), &placements(512, 64), 64);
    as_good_as_metis("CG 512 on 32", &conjugate_gradient(9), &placements(512, 32), 32);
    as_good_as_metis("CG 256 on 16", &conjugate_gradient(8), &placements(256, 16), 16);
}

#[test]
fn nodes_of_different_sizes() {
    // 4, 8 and 20 ranks, again and again.
    let mut today: Vec<Node> = Vec::new();
    for node in 0..48 {
        today.extend(std::iter::repeat_n(Node(node), [4, 8, 20][node as usize % 3]));
    }
    Random::new(5).shuffle(&mut today);
    as_good_as_metis("halo 8x8x8 on 4, 8, 20", &halo([8, 8, 8], false), &[today], 48);
}

#[test]
fn traffic_without_order() {
    let mut random = Random::new(11);
    let mut pair = || (random.below(300) as u32, random.below(300) as u32, 1 + random.below(50) as u64, 8);
    let pairs: Vec<_> = (0..1200).map(|_| pair()).collect();
    as_good_as_metis("random graph", &traffic(pairs), &placements(300, 25), 25);
}
