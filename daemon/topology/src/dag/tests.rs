use super::*;
use crate::flatness;
use crate::test_messages::message;
use mpiscope_model::Rank;
use proptest::prelude::*;

fn everything() -> DagScope {
    DagScope { range_ns: 0..u64::MAX, ranks: None, most_nodes: usize::MAX }
}

/// Nodes as rank, received, sent, layer; edges as the ranks and layers of both ends, and how many messages.
type NodesAndEdges = (Vec<(u32, u32, u32, u32)>, Vec<((u32, u32), (u32, u32), u32)>);

fn nodes_and_edges(dag: &Dag) -> NodesAndEdges {
    let at = |node: u32| (dag.nodes[node as usize].rank.0, dag.nodes[node as usize].layer);
    let mut edges: Vec<_> =
        dag.edges.iter().map(|edge| (at(edge.from), at(edge.to), edge.messages)).collect();
    edges.sort_unstable();
    (dag.nodes.iter().map(|node| (node.rank.0, node.received, node.sent, node.layer)).collect(), edges)
}

#[test]
fn ping_pong_goes_to_and_fro() {
    let dag =
        Dag::build(&[message(0, 1, 10, 20), message(1, 0, 30, 40), message(0, 1, 50, 60)], &everything());
    let nodes = vec![(0, 0, 1, 0), (0, 1, 1, 2), (1, 1, 1, 1), (1, 1, 0, 3)];
    let edges = vec![((0, 0), (1, 1), 1), ((0, 2), (1, 3), 1), ((1, 1), (0, 2), 1)];
    assert_eq!(nodes_and_edges(&dag), (nodes, edges));
    assert_eq!((dag.layers, dag.open, dag.left_out, dag.contradicted), (4, 0, 0, 0));
    assert_eq!(dag.following(), [3, 1, 2, 0]);
    assert_eq!(dag.hidden(&[2]), [false, true, false, true]);
}

/// More nodes than are counted at once.
#[test]
fn a_long_way_is_followed_to_its_end() {
    let there = |at: u64| message((at % 2) as u32, ((at + 1) % 2) as u32, 10 * at, 10 * at + 5);
    let dag = Dag::build(&(0..9_000).map(there).collect::<Vec<_>>(), &everything());
    assert_eq!((dag.nodes.len(), dag.layers), (9_001, 9_001));
    let following = dag.following();
    assert!(dag.nodes.iter().zip(following).all(|(node, following)| node.layer + following == 9_000));
}

#[test]
fn a_ring_of_exchanges_is_a_layer_a_round() {
    // All send at once, then all receive, twice: the round is the layer.
    let round = |round: u64| {
        (0..4).map(move |rank| message(rank, (rank + 1) % 4, 100 * round + 10, 100 * round + 50))
    };
    let dag = Dag::build(&round(0).chain(round(1)).collect::<Vec<_>>(), &everything());
    let (nodes, edges) = nodes_and_edges(&dag);
    for rank in 0..4 {
        let of_rank: Vec<_> = nodes.iter().filter(|node| node.0 == rank).collect();
        assert_eq!(of_rank, [&(rank, 0, 1, 0), &(rank, 1, 1, 1), &(rank, 1, 0, 2)]);
        for layer in 0..2 {
            assert!(edges.contains(&((rank, layer), ((rank + 1) % 4, layer + 1), 1)));
        }
    }
    assert_eq!((dag.nodes.len(), dag.edges.len(), dag.layers), (12, 8, 3));
    assert!(dag.balance.ranks.iter().all(|rank| rank.messages == 4 && rank.load == 0.0));
    assert_eq!((dag.balance.mean, dag.balance.deviation), (4.0, 0.0));
}

#[test]
fn what_many_send_to_one_is_one_node() {
    let messages = [message(1, 0, 10, 40), message(2, 0, 11, 41), message(3, 0, 5, 42), message(3, 0, 6, 43)];
    let dag = Dag::build(&messages, &everything());
    let nodes = vec![(0, 4, 0, 1), (1, 0, 1, 0), (2, 0, 1, 0), (3, 0, 2, 0)];
    let edges = vec![((1, 0), (0, 1), 1), ((2, 0), (0, 1), 1), ((3, 0), (0, 1), 2)];
    assert_eq!(nodes_and_edges(&dag), (nodes, edges));
    // mc = 4, 1, 1, 2; their mean is 2, the mean deviation (2 + 1 + 1 + 0) / 4 = 1.
    let loads: Vec<f64> = dag.balance.ranks.iter().map(|rank| rank.load).collect();
    assert_eq!((dag.balance.mean, dag.balance.deviation, loads), (2.0, 1.0, vec![2.0, 1.0, 1.0, 0.0]));
    assert_eq!((flatness(0.0), flatness(3.0)), (0.0, 0.5));
}

#[test]
fn a_pipeline_is_as_long_as_it_has_stages() {
    // Two items through three stages; the second item enters a stage when the first has left it.
    let item = |at: u64| [message(0, 1, at, at + 5), message(1, 2, at + 10, at + 15)];
    let dag = Dag::build(&[item(0), item(20)].concat(), &everything());
    // Whoever only sends or only receives stays one node.
    let nodes = vec![(0, 0, 2, 0), (1, 1, 1, 1), (1, 1, 1, 1), (2, 2, 0, 2)];
    let edges = vec![((0, 0), (1, 1), 1), ((0, 0), (1, 1), 1), ((1, 1), (2, 2), 1), ((1, 1), (2, 2), 1)];
    assert_eq!(nodes_and_edges(&dag), (nodes, edges));
}

/// The run of the paper's Figure 7 as far as its text gives it; see the tests of logical time.
#[test]
fn the_run_of_the_paper() {
    let messages =
        [message(3, 2, 10, 20), message(2, 1, 30, 40), message(2, 3, 50, 80), message(1, 2, 60, 70)];
    let dag = Dag::build(&messages, &everything());
    let nodes = vec![(1, 1, 1, 2), (2, 1, 2, 1), (2, 1, 0, 3), (3, 0, 1, 0), (3, 1, 0, 2)];
    let edges = vec![((1, 2), (2, 3), 1), ((2, 1), (1, 2), 1), ((2, 1), (3, 2), 1), ((3, 0), (2, 1), 1)];
    assert_eq!(nodes_and_edges(&dag), (nodes, edges));
}

#[test]
fn one_side_in_the_range_or_among_the_ranks_makes_no_edge() {
    let messages =
        [message(0, 1, 10, 20), message(1, 2, 30, 45), message(2, 3, 50, 60), message(4, 4, 31, 32)];
    let scope = DagScope {
        range_ns: 15..50,
        ranks: Some(vec![(Rank(0), Rank(2)), (Rank(7), Rank(9))]),
        most_nodes: 100,
    };
    let dag = Dag::build(&messages, &scope);
    assert_eq!(nodes_and_edges(&dag), (vec![(1, 1, 1, 0), (2, 1, 0, 1)], vec![((1, 0), (2, 1), 1)]));
    assert_eq!((dag.messages.len(), dag.open), (2, 1));
    assert_eq!(dag.isolated(&scope, Rank::all(9)).collect::<Vec<_>>(), [0, 7, 8].map(Rank));
    assert_eq!(Dag::build(&[], &scope), Dag { until_ns: 50, ..Dag::default() });
}

#[test]
fn bars_are_what_a_node_took_in_and_sent() {
    let mut slow = message(1, 2, 31, 75);
    (slow.exact, slow.bytes) = (false, 1_000);
    let dag = Dag::build(&[message(0, 1, 10, 20), message(1, 0, 30, 40), slow], &everything());
    let usually_ns = |inter: bool, _: u64| (!inter).then_some(4);
    let bars = dag.bars(9, usually_ns);
    let of_rank_1: Vec<&Bar> =
        bars.iter().filter(|bar| dag.nodes[bar.node as usize].rank == Rank(1)).collect();
    let listed: Vec<_> = of_rank_1
        .iter()
        .map(|bar| (bar.is_sent, bar.other.0, bar.bytes, bar.t_msg_ns, bar.latency, bar.is_exact))
        .collect();
    let all = [
        (false, 0, 8, 10, Some(2.5), true),
        (true, 0, 8, 10, Some(2.5), true),
        (true, 2, 1_000, 44, None, false),
    ];
    assert_eq!(listed, all);
    assert_eq!((of_rank_1[2].send_ns, of_rank_1[2].recv_ns), (31, 75));
    // Of fewer the one that took longest, and of equals the one that was sent first.
    let few: Vec<_> =
        dag.bars(2, usually_ns).into_iter().filter(|bar| bar.node == of_rank_1[0].node).collect();
    assert_eq!(
        few.iter().map(|bar| (bar.is_sent, bar.other)).collect::<Vec<_>>(),
        [(false, Rank(0)), (true, Rank(2))]
    );
}

#[test]
fn clocks_that_contradict_make_no_loop() {
    // Each received before the other had sent.
    let messages = [message(0, 1, 50, 20), message(1, 0, 60, 10), message(0, 2, 70, 80)];
    let dag = Dag::build(&messages, &everything());
    assert_eq!((dag.contradicted, dag.open), (1, 0));
    assert_eq!(dag.edges.iter().map(|edge| edge.messages).sum::<u32>(), 2);
    assert!(
        dag.edges.iter().all(|edge| dag.nodes[edge.from as usize].layer < dag.nodes[edge.to as usize].layer)
    );
}

#[test]
fn lines_that_need_not_cross_do_not() {
    // Rank r sends to rank 7 - r.
    let messages: Vec<Message> = (0..4).map(|rank| message(rank, 7 - rank, 10, 20)).collect();
    let dag = Dag::build(&messages, &everything());
    for edge in &dag.edges {
        assert_eq!(dag.nodes[edge.from as usize].place, dag.nodes[edge.to as usize].place);
    }
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let one = (0..6_u32, 0..6_u32, 0..200_u64, 0..60_u64)
        .prop_map(|(src, dst, send_ns, takes_ns)| message(src, dst, send_ns, send_ns + takes_ns));
    prop::collection::vec(one, 0..120)
}

fn scope() -> impl Strategy<Value = DagScope> {
    let ranks =
        prop::option::of(prop::collection::vec(((0..6_u32).prop_map(Rank), (0..6_u32).prop_map(Rank)), 0..3));
    (0..100_u64, 0..250_u64, ranks, 0..200_usize).prop_map(|(from_ns, span_ns, ranks, most_nodes)| DagScope {
        range_ns: from_ns..from_ns + span_ns,
        ranks,
        most_nodes,
    })
}

/// Nodes as rank, received and sent; edges as both nodes and how many messages.
type Plain = (Vec<(u32, u32, u32)>, Vec<(usize, usize, u32)>);

/// The graph of Algorithm 2, event by event in one order of all events: rank, received and sent of each node, and the edges
/// between them with their messages.
fn by_the_paper(messages: &[Message], scope: &DagScope) -> Plain {
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (id, message) in messages.iter().enumerate() {
        let is_in = |rank, at_ns| scope.has(rank) && scope.range_ns.contains(&at_ns);
        events.extend(is_in(message.src, message.send_ns).then_some((message.send_ns, false, id)));
        events.extend(is_in(message.dst, message.recv_ns).then_some((message.recv_ns, true, id)));
    }
    events.sort_unstable();
    let mut nodes: Vec<(u32, u32, u32)> = Vec::new();
    let mut sent_by = vec![None; messages.len()];
    let mut edges: std::collections::BTreeMap<(usize, usize), u32> = Default::default();
    for (_, is_receive, id) in events {
        let Rank(rank) = if is_receive { messages[id].dst } else { messages[id].src };
        let newest = nodes.iter().rposition(|node| node.0 == rank);
        let newest = newest.filter(|&newest| !is_receive || nodes[newest].2 == 0).unwrap_or_else(|| {
            nodes.push((rank, 0, 0));
            nodes.len() - 1
        });
        if is_receive {
            nodes[newest].1 += 1;
            if let Some(sender) = sent_by[id] {
                *edges.entry((sender, newest)).or_default() += 1;
            }
        } else {
            nodes[newest].2 += 1;
            sent_by[id] = Some(newest);
        }
    }
    // By rank, as ours are.
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&node| nodes[node].0);
    let mut number = vec![0; nodes.len()];
    order.iter().enumerate().for_each(|(at, &node)| number[node] = at);
    let mut edges: Vec<_> =
        edges.into_iter().map(|((from, to), count)| (number[from], number[to], count)).collect();
    edges.sort_unstable();
    (order.into_iter().map(|node| nodes[node]).collect(), edges)
}

proptest! {
    #[test]
    fn it_is_what_the_algorithm_makes(messages in messages(), scope in scope()) {
        let scope = DagScope { most_nodes: usize::MAX, ..scope };
        let dag = Dag::build(&messages, &scope);
        let (nodes, edges) = by_the_paper(&messages, &scope);
        prop_assert_eq!(dag.nodes.iter().map(|node| (node.rank.0, node.received, node.sent)).collect::<Vec<_>>(), nodes);
        let ours = dag.edges.iter().map(|edge| (edge.from as usize, edge.to as usize, edge.messages));
        prop_assert_eq!(ours.collect::<Vec<_>>(), edges);
        prop_assert_eq!((dag.left_out, dag.contradicted, dag.until_ns), (0, 0, scope.range_ns.end));
    }

    /// Each message is in one edge or said to be in none; layers grow along edges and are no deeper than they must be;
    /// places are each taken once; what follows is what can be reached.
    #[test]
    fn every_message_is_there_and_everything_leads_forward(messages in messages(), scope in scope(), folded in 0..50_u32) {
        let dag = Dag::build(&messages, &scope);
        prop_assert!(dag.nodes.len() <= scope.most_nodes);
        let in_edges: u64 = dag.edges.iter().map(|edge| u64::from(edge.messages)).sum();
        prop_assert_eq!(in_edges + dag.open, dag.messages.len() as u64);
        let meant = messages.iter().filter(|message| scope.first_ns(message).is_some()).count();
        prop_assert_eq!(dag.messages.len() as u64 + dag.left_out, meant as u64);
        let mut deepest = vec![0; dag.nodes.len()];
        for edge in &dag.edges {
            let from = dag.nodes[edge.from as usize].layer;
            prop_assert!(from < dag.nodes[edge.to as usize].layer);
            deepest[edge.to as usize] = deepest[edge.to as usize].max(from + 1);
        }
        prop_assert_eq!(dag.nodes.iter().map(|node| node.layer).collect::<Vec<_>>(), deepest);
        let mut places: Vec<(u32, u32)> = dag.nodes.iter().map(|node| (node.layer, node.place)).collect();
        places.sort_unstable();
        for (at, &(layer, place)) in places.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| places[at]).filter(|before| before.0 == layer);
            prop_assert_eq!(place, before.map_or(0, |before| before.1 + 1));
        }
        for (node, &count) in (0..).zip(&dag.following()) {
            prop_assert_eq!(dag.hidden(&[node]).iter().filter(|hidden| **hidden).count(), count as usize);
        }
        if (folded as usize) < dag.nodes.len() {
            let hidden = dag.hidden(&[folded]);
            prop_assert!(!hidden[folded as usize]);
            prop_assert!(dag.edges.iter().all(|edge| !hidden[edge.from as usize] || hidden[edge.to as usize]));
        }
    }

    /// A graph that had no room is the graph of the shorter stretch, whatever the order of the messages.
    #[test]
    fn a_graph_without_room_is_one_of_a_shorter_stretch(messages in messages(), scope in scope()) {
        let dag = Dag::build(&messages, &scope);
        let shorter = DagScope { range_ns: scope.range_ns.start..dag.until_ns, ranks: scope.ranks.clone(), most_nodes: usize::MAX };
        prop_assert_eq!(&Dag { left_out: dag.left_out, ..Dag::build(&messages, &shorter) }, &dag);
        let reversed: Vec<Message> = messages.iter().rev().copied().collect();
        let other = Dag::build(&reversed, &scope);
        prop_assert_eq!(&other, &dag);
        let usually_ns = |_, bytes| Some(bytes);
        prop_assert_eq!(other.bars(3, usually_ns), dag.bars(3, usually_ns));
    }

    /// Also where clocks make no sense.
    #[test]
    fn whatever_the_clocks_say_edges_lead_forward(messages in messages(), late in prop::collection::vec(0..200_u64, 6)) {
        let mut messages = messages;
        messages.iter_mut().for_each(|message| message.recv_ns = late[message.dst.index()] + message.recv_ns % 50);
        let dag = Dag::build(&messages, &everything());
        let in_edges: u64 = dag.edges.iter().map(|edge| u64::from(edge.messages)).sum();
        prop_assert_eq!(in_edges + dag.contradicted, messages.len() as u64);
        prop_assert!(dag.edges.iter().all(|edge| dag.nodes[edge.from as usize].layer < dag.nodes[edge.to as usize].layer));
    }
}
