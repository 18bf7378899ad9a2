//! What holds for any traffic and any placement.

use super::*;
use proptest::prelude::*;

/// Two ranks, their messages, and the bytes of each.
type Pair = (u32, u32, u64, u64);

fn any_job() -> impl Strategy<Value = (Vec<Pair>, Vec<Node>)> {
    (1..60_u32, 1..12_u32).prop_flat_map(|(ranks, nodes)| {
        let pair = (0..ranks, 0..ranks, 1..100_u64, 0..10_000_u64);
        (
            prop::collection::vec(pair, 0..200),
            prop::collection::vec((0..nodes).prop_map(Node), ranks as usize),
        )
    })
}

/// The fewest messages between two nodes of all placements with these sizes.
fn fewest(traffic: &Traffic, today: &[Node]) -> u64 {
    let on_first = capacities(today, 2)[0];
    let placements =
        (0..1_u32 << today.len()).filter(|bits| bits.count_ones() as usize == today.len() - on_first);
    let place = |bits: u32| (0..today.len()).map(|rank| Node(bits >> rank & 1)).collect::<Vec<Node>>();
    placements.map(|bits| traffic.between_nodes(&place(bits)).messages).min().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sizes_hold_and_nothing_gets_worse((pairs, today) in any_job()) {
        let nodes = today.iter().max().map_or(0, |&node| node.index() + 1);
        advise_soundly(&traffic(pairs), &today, nodes);
    }

    #[test]
    fn the_same_traffic_gives_the_same_advice((mut pairs, today) in any_job()) {
        let first = advise_soundly(&traffic(pairs.clone()), &today, 12);
        pairs.reverse();
        let again = advise_soundly(&traffic(pairs), &today, 12);
        prop_assert_eq!(first, again);
    }

    #[test]
    fn what_was_advised_is_not_worse_when_advised_again((pairs, today) in any_job()) {
        let traffic = traffic(pairs);
        let first = advise_soundly(&traffic, &today, 12);
        let second = advise_soundly(&traffic, &first.node_of_rank, 12);
        prop_assert!(second.inter_messages_after <= first.inter_messages_after);
    }

    #[test]
    fn small_jobs_are_placed_as_well_as_can_be(
        pairs in prop::collection::vec((0..10_u32, 0..10_u32, 1..9_u64, 0..100_u64), 0..40),
        today in prop::collection::vec((0..2_u32).prop_map(Node), 10),
    ) {
        let traffic = traffic(pairs);
        let advice = advise_soundly(&traffic, &today, 2);
        prop_assert_eq!(advice.inter_messages_after, fewest(&traffic, &today));
    }

    #[test]
    fn as_few_ranks_move_as_can_be(parts in Just(vec![0, 0, 1, 1, 2, 2, 3, 3, 4, 4]).prop_shuffle(),
                                   today in Just(vec![0, 0, 1, 1, 2, 2, 3, 3, 4, 4]).prop_shuffle()) {
        let stays = |named: &[u32]| named.iter().zip(&today).filter(|(new, old)| new == old).count();
        let named = labels::label(&parts, &today, &[2; 5]);
        let mut most = 0;
        let mut names: Vec<u32> = (0..5).collect();
        permutations(&mut names, 0, &mut |names| {
            let by_names: Vec<u32> = parts.iter().map(|&part: &u32| names[part as usize]).collect();
            most = most.max(stays(&by_names));
        });
        prop_assert_eq!(stays(&named), most);
    }
}

fn permutations(names: &mut [u32], from: usize, see: &mut impl FnMut(&[u32])) {
    if from == names.len() {
        see(names);
    }
    for at in from..names.len() {
        names.swap(from, at);
        permutations(names, from + 1, see);
        names.swap(from, at);
    }
}
