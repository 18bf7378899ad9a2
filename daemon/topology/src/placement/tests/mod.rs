//! Patterns of traffic, placements of them, and small cases by hand.

mod properties;
mod quality;

use super::*;
use mpiscope_model::{Comm, Message, Rank};
use random::Random;

/// This number of messages of this size between each pair.
fn traffic(pairs: impl IntoIterator<Item = (u32, u32, u64, u64)>) -> Traffic {
    let mut traffic = Traffic::default();
    for (one, other, messages, bytes) in pairs {
        traffic.add(Rank(one), Rank(other), Flow { messages, bytes: messages * bytes });
    }
    traffic
}

/// A halo exchange on a grid: one message to each neighbour, of as many bytes.
fn halo(grid: [u32; 3], is_periodic: bool) -> Traffic {
    let [x, y, z] = grid;
    let rank = |at: [u32; 3]| (at[0] * y + at[1]) * z + at[2];
    let mut pairs = Vec::new();
    for at in (0..x * y * z).map(|rank| [rank / (y * z), rank / z % y, rank % z]) {
        for axis in 0..3 {
            let mut next = at;
            next[axis] = (at[axis] + 1) % grid[axis];
            if next[axis] != 0 || is_periodic {
                pairs.push((rank(at), rank(next), 2, 1000));
            }
        }
    }
    traffic(pairs)
}

/// The conjugate gradient pattern: rows of 2^ceil(l/2) of 2^l ranks; four messages with each partner at distance half a row,
/// a quarter, down to one, and one with the partner across the diagonal.
fn conjugate_gradient(log_ranks: u32) -> Traffic {
    let (ranks, columns) = (1_u32 << log_ranks, 1_u32 << log_ranks.div_ceil(2));
    let rows = ranks / columns;
    let mut pairs = Vec::new();
    for rank in 0..ranks {
        let (row, column) = (rank / columns, rank % columns);
        let mut distance = columns / 2;
        while distance > 0 {
            let partner = row * columns + (column ^ distance);
            if rank < partner {
                pairs.push((rank, partner, 4, 8));
            }
            distance /= 2;
        }
        // Where rows are twice as long as columns, pairs of columns count as one.
        let across = if rows == columns {
            column * columns + row
        } else {
            2 * ((column / 2) * rows + row) + column % 2
        };
        if rank < across {
            pairs.push((rank, across, 1, 1000));
        }
    }
    traffic(pairs)
}

fn blocks(ranks: u32, nodes: u32) -> Vec<Node> {
    (0..ranks).map(|rank| Node(rank / ranks.div_ceil(nodes))).collect()
}

fn cyclic(ranks: u32, nodes: u32) -> Vec<Node> {
    (0..ranks).map(|rank| Node(rank % nodes)).collect()
}

fn at_random(ranks: u32, nodes: u32) -> Vec<Node> {
    let mut placed = blocks(ranks, nodes);
    Random::new(7).shuffle(&mut placed);
    placed
}

/// The advice, which keeps every node's ranks and its own figures.
fn advise_soundly(traffic: &Traffic, today: &[Node], nodes: usize) -> Advice {
    let sizes = capacities(today, nodes);
    let advice = advise(traffic, today, &sizes);
    assert_eq!(capacities(&advice.node_of_rank, nodes), sizes);
    assert_eq!(advice.node_of_rank.len(), today.len());
    let (before, after) = (traffic.between_nodes(today), traffic.between_nodes(&advice.node_of_rank));
    assert_eq!((advice.inter_messages_before, advice.inter_bytes_before), (before.messages, before.bytes));
    assert_eq!((advice.inter_messages_after, advice.inter_bytes_after), (after.messages, after.bytes));
    assert!(after.messages <= before.messages);
    assert!(advice.gains() || advice.node_of_rank == today);
    advice
}

fn moved(advice: &Advice, today: &[Node]) -> usize {
    advice.node_of_rank.iter().zip(today).filter(|(new, old)| new != old).count()
}

#[test]
fn traffic_is_the_same_however_it_comes() {
    let message = |src, dst, bytes| Message {
        src,
        dst,
        tag: 0,
        comm: Comm::WORLD,
        bytes,
        send_ns: 0,
        recv_ns: 1,
        t_msg_ns: 1,
        late_sender_ns: 0,
        late_receiver_ns: None,
        inter: false,
        exact: true,
    };
    let messages = [
        message(Rank(0), Rank(1), 8),
        message(Rank(1), Rank(0), 4),
        message(Rank(2), Rank(2), 9),
        message(Rank(1), Rank(2), 1),
    ];
    let mut whole = Traffic::default();
    whole.feed(&messages);
    let (mut first, mut second) = (Traffic::default(), Traffic::default());
    first.feed(&messages[..1]);
    second.feed(&messages[1..]);
    first.merge(&second);
    for traffic in [&whole, &first] {
        let mut pairs: Vec<_> = traffic.pairs().collect();
        pairs.sort_by_key(|&(one, other, _)| (one, other));
        let flow = |messages, bytes| Flow { messages, bytes };
        assert_eq!(pairs, [(Rank(0), Rank(1), flow(2, 12)), (Rank(1), Rank(2), flow(1, 1))]);
    }
    assert_eq!(whole.between_nodes(&[0, 1, 1].map(Node)), Flow { messages: 2, bytes: 12 });
    // Whoever has no place is not counted.
    assert_eq!(whole.between_nodes(&[0, 0].map(Node)), Flow::default());
}

#[test]
fn the_pairs_with_most_messages_stay_when_there_are_too_many() {
    let mut traffic = Traffic::with_most_pairs(8);
    for rank in 0..100 {
        let messages = if rank % 25 == 0 { 1000 } else { 1 };
        traffic.add(Rank(rank), Rank(rank + 1), Flow { messages, bytes: 2 * messages });
        assert!(traffic.pairs().count() <= 8);
    }
    let heavy: Vec<u32> = (0..100).step_by(25).collect();
    assert!(heavy.iter().all(|&rank| traffic.pairs().any(|(one, ..)| one.0 == rank)));
    let kept: u64 = traffic.pairs().map(|(.., flow)| flow.messages).sum();
    assert_eq!(kept + traffic.left_out().messages, 4 * 1000 + 96);
    assert_eq!(traffic.left_out().bytes, 2 * traffic.left_out().messages);
}

#[test]
fn two_pairs_that_are_apart_come_together() {
    let traffic = traffic([(0, 2, 10, 1), (1, 3, 10, 1), (0, 1, 1, 1)]);
    let advice = advise_soundly(&traffic, &[0, 0, 1, 1].map(Node), 2);
    assert_eq!((advice.inter_messages_before, advice.inter_messages_after), (20, 1));
    assert_eq!(moved(&advice, &[0, 0, 1, 1].map(Node)), 2);
}

#[test]
fn bytes_decide_between_placements_with_as_many_messages() {
    // A square of four pairs with one message each: two of them carry more.
    let traffic = traffic([(0, 1, 1, 1), (1, 2, 1, 900), (2, 3, 1, 1), (3, 0, 1, 900)]);
    let advice = advise_soundly(&traffic, &[0, 0, 1, 1].map(Node), 2);
    assert_eq!((advice.inter_messages_before, advice.inter_messages_after), (2, 2));
    assert_eq!((advice.inter_bytes_before, advice.inter_bytes_after), (1800, 2));
}

#[test]
fn what_cannot_be_better_stays() {
    let ring = traffic((0..16).map(|rank| (rank, (rank + 1) % 16, 3, 8)));
    for today in [blocks(16, 4), blocks(16, 1), (0..16).map(Node).collect(), blocks(16, 2)] {
        let nodes = today.iter().max().unwrap().index() + 1;
        let advice = advise_soundly(&ring, &today, nodes);
        assert!(!advice.gains());
        assert_eq!(advice.node_of_rank, today);
    }
    assert_eq!(advise_soundly(&Traffic::default(), &cyclic(8, 2), 2).node_of_rank, cyclic(8, 2));
    assert_eq!(advise_soundly(&Traffic::default(), &[], 0).node_of_rank, []);
    // All talk with all alike: no placement is better than another.
    let all = (0..24).flat_map(|one| (0..one).map(move |other| (one, other, 5, 8)));
    assert!(!advise_soundly(&traffic(all), &cyclic(24, 3), 3).gains());
}

#[test]
fn capacities_that_are_not_those_of_today_change_nothing() {
    let traffic = traffic([(0, 2, 10, 1), (1, 3, 10, 1)]);
    for wrong in [&[1, 3][..], &[2], &[2, 2, 1], &[]] {
        let advice = advise(&traffic, &[0, 0, 1, 1].map(Node), wrong);
        assert_eq!(advice.node_of_rank, [0, 0, 1, 1].map(Node));
        assert!(!advice.gains());
    }
}

#[test]
fn nodes_of_different_sizes_are_filled_with_groups_of_their_size() {
    // Groups of 4, 8 and 20 ranks that talk among themselves, all mixed; node 1 has no rank at all.
    let group_of = |rank: u32| [4, 12, 32].iter().position(|&end| rank < end).unwrap() as u32;
    let mut pairs = Vec::new();
    for one in 0..32 {
        pairs.extend(
            (0..one).filter(|&other| group_of(one) == group_of(other)).map(|other| (one, other, 2, 8)),
        );
    }
    pairs.extend([(0, 4, 1, 8), (5, 12, 1, 8), (3, 31, 1, 8)]);
    let mut today: Vec<Node> = [vec![Node(0); 8], vec![Node(2); 20], vec![Node(3); 4]].concat();
    Random::new(3).shuffle(&mut today);
    let advice = advise_soundly(&traffic(pairs), &today, 4);
    assert_eq!(advice.inter_messages_after, 3);
    let expected: Vec<Node> = (0..32).map(|rank| Node([3, 0, 2][group_of(rank) as usize])).collect();
    assert_eq!(advice.node_of_rank, expected);
}

#[test]
fn ranks_without_traffic_fill_what_is_left() {
    // Eight pairs among 40 ranks; most ranks send nothing.
    let traffic = traffic((0..8).map(|pair| (pair, pair + 20, 7, 8)));
    let today = cyclic(40, 8);
    let advice = advise_soundly(&traffic, &today, 8);
    assert_eq!((advice.inter_messages_before, advice.inter_messages_after), (56, 0));
    assert!(moved(&advice, &today) <= 16, "{} moved", moved(&advice, &today));
}

#[test]
fn groups_that_do_not_talk_with_each_other_each_get_a_node() {
    let rings = (0..64).map(|rank| (rank, rank / 8 * 8 + (rank + 1) % 8, 1, 8));
    for today in [cyclic(64, 8), at_random(64, 8)] {
        assert_eq!(advise_soundly(&traffic(rings.clone()), &today, 8).inter_messages_after, 0);
    }
}

#[test]
fn the_least_number_of_ranks_moves() {
    // Parts are today's nodes under other names, but for one exchange.
    let today: Vec<u32> = (0..24).map(|rank| rank / 4).collect();
    let mut parts: Vec<u32> = today.iter().map(|part| (part + 2) % 6).collect();
    parts.swap(0, 23);
    let named = labels::label(&parts, &today, &[4; 6]);
    let mut expected = today.clone();
    expected.swap(0, 23);
    assert_eq!(named, expected);
    // A node keeps its size, whatever it shares with another.
    let named = labels::label(&[0, 0, 0, 1, 1], &[1, 0, 0, 0, 1], &[3, 2]);
    assert_eq!(named, [0, 0, 0, 1, 1]);
}
