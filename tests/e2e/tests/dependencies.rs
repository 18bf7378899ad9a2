//! What led to what, asked of the page of a recording: the program is such that it is known exactly.

use crate::support::{Feed, Page, block_on};
use mpiscope_feed::{Cone, Dag};
use mpiscope_harness::{LIMIT, Mpi, Running, Signal, folder, mpiscope, processes, record, run};
use serde_json::json;
use std::path::Path;

const RANKS: u32 = 4;
const ROUNDS: u32 = 6;

/// The graph of a recording, and what led to the last event of rank 0.
fn asked(recording: &Path) -> (Dag, Dag, Cone, Cone) {
    let running = Running::start(mpiscope(&["replay"]).unwrap().arg(recording)).unwrap();
    let page = Page::open(&running, "mpiscope: replay");
    let answers = block_on(async {
        let mut feed = Feed::open(&page).await;
        let mut ask = async |more: serde_json::Value| {
            let mut question = json!({"id": 7, "from_ns": 0, "to_ns": 1e15, "most": 1_000});
            question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let answer = feed.ask(question).await;
            assert_eq!((answer.id, answer.error()), (7, None));
            answer
        };
        let all = ask(json!({"ask": "dag"})).await.dag().unwrap();
        let some = ask(json!({"ask": "dag", "ranks": [[1, 2]]})).await.dag().unwrap();
        let past = ask(json!({"ask": "past", "rank": 0, "time_ns": 1e15})).await.cone().unwrap();
        let future = ask(json!({"ask": "future", "rank": 0, "time_ns": 0})).await.cone().unwrap();
        (all, some, past, future)
    });
    processes::signal(running.process(), Signal::INT);
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
    answers
}

/// Each node as its rank, its layer, and what it took in and sent; in order.
fn nodes(dag: &Dag) -> Vec<(u32, u32, u32, u32)> {
    let nodes = &dag.nodes;
    (0..nodes.rank.0.len())
        .map(|at| (nodes.rank.0[at], nodes.layer.0[at], nodes.received.0[at], nodes.sent.0[at]))
        .collect()
}

/// Rank and layer.
type State = (u32, u32);

/// Each edge with its messages, in order.
fn edges(dag: &Dag) -> Vec<(State, State, u32)> {
    let at = |node: u32| (dag.nodes.rank.0[node as usize], dag.nodes.layer.0[node as usize]);
    let edge = |number: usize| {
        let (from, to) = (dag.edges.from.0[number], dag.edges.to.0[number]);
        (at(from), at(to), dag.edges.messages.0[number])
    };
    let mut edges: Vec<_> = (0..dag.edges.from.0.len()).map(edge).collect();
    edges.sort_unstable();
    edges
}

#[test]
fn of_a_ring_of_exchanges() {
    for mpi in Mpi::sample_or_skip("dependencies of_a_ring_of_exchanges") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let app = mpi.app("exchange").unwrap();
        let rounds = ROUNDS.to_string();
        let ended = run(&mut record(&mpi, RANKS, &app, &[&rounds], &out).unwrap(), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let (dag, some, past, future) = asked(&out);

        // A layer a round: whoever received sends again, first and last node apart.
        let of_rank = |rank: u32| {
            (0..=ROUNDS).map(move |layer| (rank, layer, u32::from(layer > 0), u32::from(layer < ROUNDS)))
        };
        assert_eq!(nodes(&dag), (0..RANKS).flat_map(of_rank).collect::<Vec<_>>());
        let to_the_right =
            |rank: u32| (0..ROUNDS).map(move |layer| ((rank, layer), ((rank + 1) % RANKS, layer + 1), 1));
        assert_eq!(edges(&dag), (0..RANKS).flat_map(to_the_right).collect::<Vec<_>>());
        let messages = u64::from(RANKS * ROUNDS);
        assert_eq!((dag.messages, dag.open, dag.contradicted, dag.left_out), (messages, 0, 0, 0));
        assert_eq!(
            (dag.layers, dag.bars.node.0.len() as u64, dag.bars_left_out),
            (ROUNDS + 1, 2 * messages, 0)
        );
        assert_eq!(dag.ranks.messages.0, vec![f64::from(2 * ROUNDS); RANKS as usize]);
        assert_eq!((dag.ranks.load.0, dag.ranks.deviation), (vec![0.0; RANKS as usize], 0.0));
        assert!(dag.nodes.host.0.iter().all(|&host| host == 0));
        assert!(dag.bars.bytes.0.iter().all(|&bytes| bytes == 8.0));
        let times = dag.bars.send_ns.0.iter().zip(&dag.bars.recv_ns.0).zip(&dag.bars.t_msg_ns.0);
        assert!(times.into_iter().all(|((send_ns, recv_ns), t_msg_ns)| recv_ns - send_ns >= *t_msg_ns));

        // Of two neighbours: what comes from or goes to others makes no edge.
        let between: Vec<_> = (0..ROUNDS).map(|round| ((1, 0), (2, round + 1), 1)).collect();
        let froms: Vec<_> = edges(&some).into_iter().map(|(from, ..)| from.0).collect();
        assert_eq!((froms, some.open), (vec![1; between.len()], 2 * u64::from(ROUNDS)));

        // Back from the last receive of rank 0, a round a rank; in the middle everyone waited for everyone.
        assert_eq!((past.event.as_str(), past.collectives, past.contradictions), ("receive", 1, 0));
        assert_eq!(past.events, u64::from(RANKS * (2 * ROUNDS + 2)));
        assert_eq!((past.ranks.rank.0, past.ranks.events.0), (vec![0, 1, 2, 3], vec![14, 9, 11, 13]));
        assert!(past.beyond_ns.is_some());
        // Forward from its first send: the first receive of rank 1, and so on; after the meeting everything.
        assert_eq!((future.event.as_str(), future.is_future), ("send", true));
        assert_eq!((future.ranks.rank.0, future.ranks.events.0), (vec![0, 1, 2, 3], vec![14, 13, 11, 9]));
        let after = future.beyond_ns.unwrap() as f64;
        assert!(past.beyond_ns.unwrap() as f64 <= after);
        assert!(future.messages.recv_ns.0.iter().zip(&future.messages.src.0).any(|(at, _)| *at > after));
    }
}
