//! What is in flight at a moment is what looking at every message finds.

use crate::support::{Plain, StoredMessages};
use mpiscope_feed::exchange::{Grouping, PendingQuestion, Question};
use mpiscope_feed::{Library, Messages, PendingMessages, Region, Regions};
use mpiscope_matching::UnreceivedSend;
use mpiscope_model::{Message, Node, Rank};
use proptest::prelude::*;
use std::collections::BTreeMap;

const RANKS: u32 = 300;

/// A library with ranks on nodes by `node`.
fn library(messages: Vec<Message>, node: impl Fn(u32) -> u32) -> Library {
    let source = Box::new(StoredMessages { messages, ..StoredMessages::default() });
    let library =
        Library::new(Box::new(Plain(Vec::new()))).with_messages(Messages { source, flow: |_| None });
    library.set_rank_nodes(Rank::all(RANKS).map(|rank| (rank, Node(node(rank.0)))));
    library
}

fn pending(library: &Library, question: PendingQuestion) -> PendingMessages {
    let answer = library.answer(5, &Question::Pending(question));
    assert_eq!(answer.error(), None);
    answer.pending().unwrap()
}

fn question(at_ns: u64) -> PendingQuestion {
    PendingQuestion { at_ns, ranks: None, by: Grouping::Node, open: Vec::new(), most: 200 }
}

fn message(src: u32, dst: u32, send_ns: u64, recv_ns: u64) -> Message {
    Message {
        src: Rank(src),
        dst: Rank(dst),
        bytes: u64::from(src) + 1,
        send_ns,
        recv_ns,
        ..Message::default()
    }
}

fn unreceived(message: &Message) -> UnreceivedSend {
    let Message { src, dst, tag, comm, bytes, send_ns, .. } = *message;
    UnreceivedSend { src, dst, tag, comm, bytes, send_ns }
}

fn some_message() -> impl Strategy<Value = Message> {
    (0..RANKS, 0..RANKS, 0..900_u64, 0..300_u64)
        .prop_map(|(src, dst, send_ns, long)| message(src, dst, send_ns, send_ns + long))
}

/// Messages, bytes and the oldest send by pair of groups.
type Pairs = BTreeMap<(u32, u32), (u64, u64, u64)>;

fn pairs_of(answer: &PendingMessages) -> Pairs {
    let edges = &answer.edges;
    (0..edges.from.0.len())
        .map(|at| {
            let of = (edges.messages.0[at] as u64, edges.bytes.0[at] as u64, edges.since_ns.0[at] as u64);
            ((edges.from.0[at], edges.to.0[at]), of)
        })
        .collect()
}

proptest! {
    #[test]
    fn it_is_what_a_plain_look_finds(
        messages in prop::collection::vec(some_message(), 0..400),
        waiting in prop::collection::vec(some_message(), 0..40),
        late in 0_usize..20,
        (asked_ns, until_ns) in (0..1_300_u64, 300..1_200_u64),
        (nodes, is_cyclic, opened) in (1..20_u32, any::<bool>(), 0_usize..40),
        ranks in prop::option::of((0..RANKS, 0..RANKS)),
        most in 1..60_u32,
        is_live in any::<bool>(),
    ) {
        let node = |rank: u32| if is_cyclic { rank % nodes } else { rank * nodes / RANKS };
        let library = library(messages.clone(), node);
        // Some had no receive when the library heard of them, and have one by now.
        let late = &messages[..late.min(messages.len())];
        let sends: Vec<UnreceivedSend> = waiting.iter().chain(late).map(unreceived).collect();
        if is_live {
            library.set_unreceived_sends(sends, 7, until_ns);
        }
        let at_ns = if is_live { asked_ns.min(until_ns) } else { asked_ns };
        let ranks = ranks.map(|(one, other)| vec![(Rank(one.min(other)), Rank(one.max(other)))]);
        let ask = |open| PendingQuestion { at_ns: asked_ns, ranks: ranks.clone(), by: Grouping::Node, open, most };
        let closed = pending(&library, ask(Vec::new())).groups;
        let group = opened % closed.place.0.len();
        let answer = pending(&library, ask(vec![(closed.place.0[group], closed.ranks.0[group])]));

        let group_of = |rank: u32| {
            let groups = &answer.groups;
            let within = |first: &[u32], last: &[u32], at: usize, of: u32| (first[at]..=last[at]).contains(&of);
            (0..groups.place.0.len() as u32).find(|&at| {
                within(&groups.first_key.0, &groups.last_key.0, at as usize, node(rank))
                    && within(&groups.first_rank.0, &groups.last_rank.0, at as usize, rank)
            }).unwrap()
        };
        let concerns = |message: &&Message| ranks.as_ref().is_none_or(|ranks| {
            let (first, last) = ranks[0];
            (first..=last).contains(&message.src) || (first..=last).contains(&message.dst)
        });
        let is_known = |message: &&Message| message.send_ns <= at_ns && at_ns < message.recv_ns;
        let in_flight = messages.iter().filter(is_known).filter(concerns);
        // What was late and is in flight was counted with the messages; the others still count as unreceived.
        let unmatched = waiting.iter().chain(late.iter().filter(|message| !is_known(message)));
        let is_sent = |message: &&Message| is_live && message.send_ns <= at_ns;
        let without: Vec<&Message> = unmatched.filter(is_sent).filter(concerns).collect();
        let (mut plain, mut total, mut bytes) = (Pairs::new(), 0, 0);
        for message in in_flight.chain(without.iter().copied()) {
            let sum = plain.entry((group_of(message.src.0), group_of(message.dst.0))).or_insert((0, 0, u64::MAX));
            *sum = (sum.0 + 1, sum.1 + message.bytes, sum.2.min(message.send_ns));
            (total, bytes) = (total + 1, bytes + message.bytes);
        }

        prop_assert_eq!((answer.at_ns, answer.messages, answer.bytes), (at_ns, total, bytes));
        prop_assert_eq!(answer.left_out_sends, is_live.then_some(7));
        prop_assert_eq!(answer.unreceived, without.len() as u64);
        prop_assert!(!answer.is_partial);
        let shown = pairs_of(&answer);
        prop_assert_eq!(shown.len(), plain.len().min(most as usize));
        prop_assert_eq!(answer.edges_left_out as usize, plain.len() - shown.len());
        for (pair, sum) in &shown {
            prop_assert_eq!(Some(sum), plain.get(pair));
        }
        prop_assert_eq!(answer.messages_left_out, total - shown.values().map(|sum| sum.0).sum::<u64>());
        let oldest = answer.oldest.map(|at| answer.edges.since_ns.0[at as usize] as u64);
        prop_assert_eq!(oldest, plain.values().map(|sum| sum.2).min());
        // Of all but the oldest none has less of a claim than one that is left out: to be of the open group, then messages.
        let place = closed.place.0[group];
        let is_open = |of: u32| (place..place + closed.ranks.0[group]).contains(&answer.groups.place.0[of as usize]);
        let claim = |&(from, to): &(u32, u32)| (is_open(from) || is_open(to), plain[&(from, to)].0);
        let least = plain.keys().filter(|pair| !shown.contains_key(pair)).map(claim).max();
        let (from, to) = (&answer.edges.from.0, &answer.edges.to.0);
        let kept = (0..from.len()).filter(|at| answer.oldest != Some(*at as u32)).map(|at| claim(&(from[at], to[at])));
        prop_assert!(kept.into_iter().all(|claim| least.is_none_or(|least| claim >= least)));
        let sums = |column: &[f64]| column.iter().sum::<f64>() as u64;
        prop_assert_eq!((sums(&answer.groups.sent.0), sums(&answer.groups.received.0)), (total, total));
    }
}

#[test]
fn a_moment_has_the_messages_that_were_sent_and_not_received() {
    let library = library(vec![message(0, 1, 10, 20), message(2, 3, 15, 40), message(5, 4, 20, 21)], |_| 0);
    let found = |at_ns| {
        let answer = pending(&library, question(at_ns));
        (answer.messages, answer.oldest.map(|at| answer.edges.src.0[at as usize]))
    };
    assert_eq!(
        [9, 10, 15, 19, 20, 21, 39, 40].map(found),
        [
            (0, None),
            (1, Some(0)),
            (2, Some(0)),
            (2, Some(0)),
            (2, Some(2)),
            (1, Some(2)),
            (1, Some(2)),
            (0, None)
        ]
    );
}

#[test]
fn groups_are_nodes_regions_or_ranks_that_follow_each_other() {
    let library = library(vec![message(0, 299, 10, 20)], |rank| rank % 3);
    let region = |id, ranks: &[(u32, u32)]| Region { id, ranks: ranks.to_vec(), ..Region::default() };
    let regions = vec![region(4, &[(0, 9), (200, 249)]), region(2, &[(10, 199)])];
    library.set_regions(&Regions { regions, ..Regions::default() });
    let sizes = |by| pending(&library, PendingQuestion { by, ..question(15) }).groups.ranks.0;
    assert_eq!(sizes(Grouping::Node), [100, 100, 100]);
    assert_eq!(sizes(Grouping::Region), [190, 60, 50]);
    assert_eq!(sizes(Grouping::Rank), [vec![8; 37], vec![4]].concat());
    let answer = pending(&library, PendingQuestion { by: Grouping::Region, ..question(15) });
    assert_eq!(pairs_of(&answer), Pairs::from([((1, 2), (1, 1, 10))]));
    assert_eq!(answer.groups.first_key.0, [2, 4, u32::MAX]);
}
