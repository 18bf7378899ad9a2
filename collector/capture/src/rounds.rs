//! Who exchanges messages with whom while latency criteria are measured: rounds of pairs that are far enough from each
//! other not to be felt.
//!
//! All ranks make the same rounds from the same knowledge, without communication.

/// Pairs within a node, one after the other.
const WITHIN: usize = 4;
/// Rounds between nodes.
const MOST_BETWEEN: usize = 8;
/// Pairs of nodes at a time: the network is to be as quiet as it gets.
const AT_ONCE: usize = 4;

/// Two ranks, the lower one first.
pub type Pair = (u32, u32);

/// The rounds, from the node of each rank. In a round, no rank is in two pairs and no node in two either: each node has
/// at most one pair within itself, or one rank that talks to another node.
#[must_use]
pub fn rounds(node_of_rank: &[u64]) -> Vec<Vec<Pair>> {
    let nodes = members(node_of_rank);
    let mut rounds = Vec::new();
    let within: Vec<Vec<Pair>> = nodes.iter().map(|ranks| pairs_within(ranks)).collect();
    for turn in 0..WITHIN {
        rounds.push(within.iter().filter_map(|pairs| pairs.get(turn).copied()).collect());
    }
    rounds.extend(rounds_between(&nodes));
    rounds.retain(|pairs: &Vec<Pair>| !pairs.is_empty());
    rounds
}

/// Whom a rank talks to in a round.
#[must_use]
pub fn partner(round: &[Pair], rank: u32) -> Option<u32> {
    round.iter().find_map(|&(low, high)| match rank {
        _ if rank == low => Some(high),
        _ if rank == high => Some(low),
        _ => None,
    })
}

/// The ranks of each node, in the order of the nodes' first ranks.
fn members(node_of_rank: &[u64]) -> Vec<Vec<u32>> {
    let mut names: Vec<(u64, u32)> =
        node_of_rank.iter().enumerate().map(|(rank, &node)| (node, rank as u32)).collect();
    names.sort_unstable();
    let mut nodes: Vec<Vec<u32>> = names
        .chunk_by(|left, right| left.0 == right.0)
        .map(|ranks| ranks.iter().map(|&(_, rank)| rank).collect())
        .collect();
    nodes.sort_unstable_by_key(|ranks| ranks[0]);
    nodes
}

fn pair(one: u32, other: u32) -> Option<Pair> {
    (one != other).then(|| (one.min(other), one.max(other)))
}

/// Different pairs of a node: neighbours, which may share a cache, and ranks half the node apart, which may not.
fn pairs_within(ranks: &[u32]) -> Vec<Pair> {
    let (count, half) = (ranks.len(), ranks.len() / 2);
    let mut pairs = Vec::new();
    for (first, distance) in [(0, 1), (0, half), (half, 1), (count - 1, half)] {
        let found = pair(ranks[first], ranks[(first + distance) % count]);
        pairs.extend(found.filter(|found| !pairs.contains(found)));
    }
    pairs
}

/// A tournament of the nodes, as far as it is played: in each round others meet, through other ranks.
fn rounds_between(nodes: &[Vec<u32>]) -> Vec<Vec<Pair>> {
    if nodes.len() < 2 {
        return Vec::new();
    }
    // One that meets nobody where the number is odd.
    let players = nodes.len().next_multiple_of(2);
    let (turns, games) = (players - 1, players / 2);
    let most_ranks = nodes.iter().map(Vec::len).max().unwrap_or_default();
    let needed = (turns * games.div_ceil(AT_ONCE)).max(most_ranks);
    let meeting = |turn: usize| {
        let turn_games = (0..games.min(AT_ONCE)).map(move |at| (turn * AT_ONCE + at) % games);
        let pairs = turn_games.filter_map(move |game| {
            let (one, other) = met(players, turn % turns, game);
            let (one, other) = (nodes.get(one)?, nodes.get(other)?);
            pair(one[turn % one.len()], other[turn % other.len()])
        });
        pairs.collect()
    };
    (0..needed.min(MOST_BETWEEN)).map(meeting).collect()
}

/// Who meets in a game of a turn: the last stays, the others go round.
fn met(players: usize, turn: usize, game: usize) -> (usize, usize) {
    let circle = players - 1;
    if game == 0 {
        (circle, turn % circle)
    } else {
        ((turn + game) % circle, (turn + circle - game) % circle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn block(nodes: u64, each: u64) -> Vec<u64> {
        (0..nodes * each).map(|rank| 1000 - rank / each).collect()
    }

    fn cyclic(nodes: u64, each: u64) -> Vec<u64> {
        (0..nodes * each).map(|rank| rank % nodes * 77).collect()
    }

    fn is_inter(nodes: &[u64], &(low, high): &Pair) -> bool {
        nodes[low as usize] != nodes[high as usize]
    }

    #[test]
    fn pairs_of_a_round_share_neither_rank_nor_node() {
        for count in 1..=9 {
            for each in 1..=9 {
                for nodes in [block(count, each), cyclic(count, each)] {
                    let rounds = rounds(&nodes);
                    assert!(rounds.len() <= WITHIN + MOST_BETWEEN);
                    for round in &rounds {
                        assert!(!round.is_empty());
                        let ranks: BTreeSet<u32> =
                            round.iter().flat_map(|&(low, high)| [low, high]).collect();
                        assert_eq!(ranks.len(), 2 * round.len(), "{round:?}");
                        assert!(round.iter().all(|&(low, high)| low < high && (high as usize) < nodes.len()));
                        let of = |rank: u32| nodes[rank as usize];
                        let busy: Vec<u64> = round
                            .iter()
                            .flat_map(|&(low, high)| BTreeSet::from([of(low), of(high)]))
                            .collect();
                        assert_eq!(busy.iter().collect::<BTreeSet<_>>().len(), busy.len(), "{round:?}");
                        let inter = round.iter().filter(|pair| is_inter(&nodes, pair)).count();
                        assert!(inter == 0 || inter == round.len() && inter <= AT_ONCE, "{round:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn both_scopes_are_met_where_there_are_both() {
        for count in [1, 2, 3, 8, 40] {
            for each in [1, 2, 3, 16] {
                for nodes in [block(count, each), cyclic(count, each)] {
                    let rounds = rounds(&nodes);
                    let all: Vec<Pair> = rounds.into_iter().flatten().collect();
                    let inter = all.iter().filter(|pair| is_inter(&nodes, pair)).count();
                    assert_eq!(inter > 0, count > 1, "{count} {each}");
                    assert_eq!(all.len() > inter, each > 1, "{count} {each}");
                }
            }
        }
    }

    #[test]
    fn all_few_nodes_meet() {
        for count in 2..=8_u64 {
            let nodes = block(count, 2);
            let met: BTreeSet<(u64, u64)> = rounds(&nodes)
                .into_iter()
                .flatten()
                .filter(|pair| is_inter(&nodes, pair))
                .map(|(low, high)| (nodes[low as usize], nodes[high as usize]))
                .collect();
            assert_eq!(met.len() as u64, count * (count - 1) / 2, "{count}");
        }
    }

    #[test]
    fn a_pair_is_measured_once() {
        assert_eq!(rounds(&[5, 5]), [[(0, 1)]]);
        assert_eq!(rounds(&[5, 6]), [[(0, 1)]]);
        assert_eq!(rounds(&[5]), Vec::<Vec<Pair>>::new());
        assert_eq!(rounds(&[]), Vec::<Vec<Pair>>::new());
        assert_eq!(rounds(&[5, 5, 6, 6]), [vec![(0, 1), (2, 3)], vec![(0, 2)], vec![(1, 3)]]);
    }

    #[test]
    fn partners_agree() {
        let nodes = cyclic(5, 3);
        for round in rounds(&nodes) {
            for rank in 0..15 {
                let other = partner(&round, rank);
                assert!(other.is_none_or(|other| partner(&round, other) == Some(rank)));
                assert_eq!(other.is_some(), round.iter().any(|&(low, high)| rank == low || rank == high));
            }
        }
    }
}
