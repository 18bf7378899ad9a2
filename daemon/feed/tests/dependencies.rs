//! What is answered about what led to what, and what is not answered.

use crate::support::StoredMessages;
use mpiscope_diagnosis::{MessageCriterion, Scope, Version};
use mpiscope_feed::exchange::{Answer, ConeQuestion, DagQuestion, Question};
use mpiscope_feed::{CallSource, Library, Messages, NONE, encode};
use mpiscope_model::{Call, Comm, Flow, Message, Nanoseconds, Node, Rank};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
struct Calls(Vec<Call>);

impl CallSource for Calls {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let within = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start;
        self.0.iter().filter(within).for_each(visitor);
        Ok(())
    }
}

fn message(src: u32, dst: u32, send_ns: u64, recv_ns: u64) -> Message {
    Message {
        src: Rank(src),
        dst: Rank(dst),
        tag: 0,
        comm: Comm::WORLD,
        bytes: 64,
        send_ns,
        recv_ns,
        t_msg_ns: recv_ns - send_ns,
        late_sender_ns: 0,
        late_receiver_ns: None,
        inter: dst == 2,
        exact: dst != 2,
    }
}

#[test]
fn pairs_are_summed_up_each_way() {
    let exchanged =
        vec![message(0, 1, 10, 20), message(0, 1, 30, 60), message(1, 0, 40, 45), message(0, 2, 5, 50)];
    let (library, ..) = library(exchanged, Vec::new());
    let pairs = |range| library.answer(1, &Question::Pairs(range)).pairs().unwrap();
    let found = pairs(0..100);
    assert_eq!((found.src.0, found.dst.0), (vec![0, 0, 1], vec![1, 2, 0]));
    assert_eq!((found.messages.0, found.bytes.0), (vec![2.0, 1.0, 1.0], vec![128.0, 64.0, 64.0]));
    assert!(found.exact.0.iter().all(|exact| *exact == 0.0) && found.latency.0.iter().all(|of| of.is_nan()));
    let criterion = MessageCriterion::of_size(Scope::Intra, 64, 40, 10);
    library.use_criteria(Version::new(vec![criterion], Vec::new()), false);
    // Of the one between nodes nobody knows exactly how long it took.
    let found = pairs(0..100);
    assert_eq!(found.exact.0, [2.0, 0.0, 1.0]);
    assert_eq!((found.latency.0[0], found.latency.0[2]), (2.0, 0.5));
    assert!(found.latency.0[1].is_nan());
    // Those that arrive in it.
    let found = pairs(20..50);
    assert_eq!((found.src.0, found.dst.0, found.messages.0), (vec![0, 1], vec![1, 0], vec![1.0, 1.0]));
}

const BARRIER: u16 = 9;

fn flow(function: u16) -> Option<Flow> {
    (function == BARRIER).then_some(Flow::All)
}

fn library(messages: Vec<Message>, calls: Vec<Call>) -> (Library, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let source = StoredMessages { messages, ..StoredMessages::default() };
    let (asked, shown) = (Arc::clone(&source.asked), Arc::clone(&source.shown));
    let messages = Messages { source: Box::new(source), flow };
    (Library::new(Box::new(Calls(calls))).with_messages(messages), asked, shown)
}

fn dag(range_ns: Range<u64>, most: u32) -> Question {
    Question::Dag(DagQuestion { range_ns, ranks: None, most })
}

fn cone(rank: u32, at_ns: u64, is_future: bool) -> Question {
    Question::Cone(ConeQuestion { range_ns: 0..100, rank: Rank(rank), at_ns, is_future, most: 2 })
}

#[test]
fn a_graph_comes_with_all_that_its_glyphs_show() {
    let (library, ..) = library(vec![message(0, 1, 10, 30), message(1, 2, 40, 48)], Vec::new());
    library.set_rank_nodes([(Rank(0), Node(5)), (Rank(1), Node(5)), (Rank(7), Node(6))].into_iter());
    let answer = library.answer(3, &dag(0..100, 50));
    assert_eq!((answer.id, answer.error()), (3, None));
    let found = answer.dag().unwrap();
    assert_eq!((found.from_ns, found.until_ns, found.to_ns, found.layers), (0, 100, 100, 3));
    assert_eq!((found.nodes.rank.0, found.nodes.host.0), (vec![0, 1, 2], vec![5, 5, NONE]));
    assert_eq!(found.nodes.following.0, [2, 1, 0]);
    assert_eq!(
        (found.edges.from.0, found.edges.to.0, found.edges.bytes.0),
        (vec![0, 1], vec![1, 2], vec![64.0; 2])
    );
    assert_eq!(found.isolated.0, [7]);
    assert_eq!((found.ranks.messages.0, found.ranks.mean), (vec![1.0, 2.0, 1.0], 4.0 / 3.0));
    assert_eq!(found.bars.node.0, [0, 1, 1, 2]);
    assert_eq!((found.bars.is_sent.0, found.bars.other.0), (vec![1, 0, 1, 0], vec![1, 0, 2, 1]));
    assert_eq!(
        (found.bars.t_msg_ns.0, found.bars.is_exact.0),
        (vec![20.0, 20.0, 8.0, 8.0], vec![1, 1, 0, 0])
    );
    assert!(!found.has_criteria && found.bars.latency.0.iter().all(|latency| latency.is_nan()));
    assert!(found.notes.iter().any(|note| note.contains("not known yet")), "{:?}", found.notes);

    // Messages within nodes are known now, those between them still are not.
    let criterion = MessageCriterion::of_size(Scope::Intra, 64, 40, 8);
    library.use_criteria(Version::new(vec![criterion], Vec::new()), false);
    let found = library.answer(3, &dag(0..100, 50)).dag().unwrap();
    assert_eq!(found.bars.latency.0[..2], [2.5, 2.5]);
    assert!(found.has_criteria && found.bars.latency.0[2..].iter().all(|latency| latency.is_nan()));
}

#[test]
fn what_is_left_out_is_counted_and_said() {
    let there = |at: u64| message((at % 2) as u32, ((at + 1) % 2) as u32, 10 * at, 10 * at + 5);
    let (library, ..) = library((0..200).map(there).collect(), Vec::new());
    let found = library.answer(1, &dag(0..5_000, 21)).dag().unwrap();
    assert_eq!((found.nodes.rank.0.len(), found.layers), (21, 21));
    assert_eq!(found.messages + found.left_out, 200);
    assert!(found.until_ns < found.to_ns && found.left_out > 150);
    assert!(found.notes[0].contains(&found.left_out.to_string()), "{:?}", found.notes);
}

#[test]
fn what_was_answered_is_kept_until_something_is_added() {
    let (library, asked, _) = library(vec![message(0, 1, 10, 30)], Vec::new());
    let first = library.answer(1, &dag(0..100, 50));
    // As bytes, since what is not a number equals nothing.
    let bytes = |answer: &Answer| encode(answer).unwrap();
    assert_eq!(bytes(&library.answer(2, &dag(0..100, 50))), bytes(&Answer { id: 2, ..first }));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert!(library.answer(3, &dag(0..99, 50)).dag().is_some());
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    library.arrive(&[], &[], || ());
    assert!(library.answer(4, &dag(0..100, 50)).dag().is_some());
    assert_eq!(asked.load(Ordering::Relaxed), 3);
    // The past and the future of one stretch need it read once.
    assert!(library.answer(5, &cone(0, 90, false)).cone().is_some());
    assert!(library.answer(6, &cone(1, 0, true)).cone().is_some());
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[test]
fn an_answer_that_nobody_wants_any_more_is_given_up_while_it_reads() {
    let (library, _, shown) = library((0..1_000).map(|at| message(0, 1, at, at + 5)).collect(), Vec::new());
    let looks = AtomicUsize::new(0);
    let is_wanted = || looks.fetch_add(1, Ordering::Relaxed) < 3;
    let answer = library.answer_while(1, &dag(0..5_000, 50), &is_wanted);
    assert_eq!(answer.error(), Some("a newer question took its place"));
    assert!(answer.dag().is_none() && shown.load(Ordering::Relaxed) <= 40);
    // And is not kept.
    assert!(library.answer(2, &dag(0..5_000, 50)).dag().is_some());
}

#[test]
fn the_past_goes_back_to_where_all_waited_for_all() {
    let barrier = |rank: u32, start_ns: u64| Call {
        rank: Rank(rank),
        function: BARRIER,
        start_ns,
        end_ns: 50,
        comm: Some(Comm::WORLD),
        instance: Some(4),
        ..Call::default()
    };
    let messages =
        vec![message(0, 1, 10, 20), message(1, 2, 60, 70), message(2, 0, 80, 90), message(0, 1, 85, 95)];
    let (library, ..) = library(messages, vec![barrier(0, 40), barrier(1, 30), barrier(2, 35)]);
    let found = library.answer(1, &cone(2, 75, false)).cone().unwrap();
    assert_eq!((found.rank, found.at_ns, found.event.as_str()), (2, 70, "receive"));
    assert_eq!((found.beyond_ns, found.collectives, found.events), (Some(30), 1, 14));
    assert_eq!((found.ranks.rank.0, found.ranks.events.0), (vec![0, 1, 2], vec![2, 4, 3]));
    assert_eq!(found.ranks.edge_ns.0, [40.0, 60.0, 70.0]);
    assert_eq!(
        (found.messages.src.0, found.messages.dst.0, found.messages_total),
        (vec![1, 0], vec![2, 1], 2)
    );

    let found = library.answer(1, &cone(1, 0, true)).cone().unwrap();
    assert_eq!((found.at_ns, found.event.as_str(), found.beyond_ns), (20, "receive", Some(50)));
    // The nearest two of the three that follow.
    assert_eq!((found.messages.send_ns.0, found.messages_total), (vec![60.0, 80.0], 3));
    let nothing = library.answer(1, &cone(3, 0, true));
    assert_eq!(nothing.error(), Some("rank 3 sends and receives nothing from then on in this range"));
}

#[test]
fn without_messages_it_says_so() {
    let library = Library::new(Box::new(Calls(Vec::new())));
    let answer = library.answer(1, &dag(0..5, 5));
    assert_eq!(answer.error(), Some("the messages of this run cannot be read here"));
}
