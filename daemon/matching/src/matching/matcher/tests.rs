//! Matching on small cases, by hand.

use super::*;

fn send(rank: u32, to: u32, tag: i32, bytes: u64, begin_ns: u64) -> Event {
    Event::Send {
        rank: Rank(rank),
        call: CallId::default(),
        comm: Comm::WORLD,
        to: Rank(to),
        tag,
        bytes,
        begin_ns,
        blocked_until_ns: None,
    }
}

fn receive(rank: u32, from: u32, tag: i32, bytes: u64, post: Option<PostId>, end_ns: u64) -> Event {
    Event::Receive {
        rank: Rank(rank),
        call: CallId::default(),
        comm: Comm::WORLD,
        from: Rank(from),
        tag,
        bytes,
        post,
        begin_ns: 0,
        end_ns,
        alone: true,
    }
}

fn post(rank: u32, from: Option<u32>, tag: Option<i32>, post: PostId) -> Event {
    Event::Post {
        rank: Rank(rank),
        call: CallId::default(),
        comm: Comm::WORLD,
        from: from.map(Rank),
        tag,
        post,
        at_ns: 0,
    }
}

/// Records of a rank were lost; it has exchanged this number of messages with a peer all the same.
fn lost(rank: u32, peer: u32, sent: u64, received: u64) -> [Event; 2] {
    [
        Event::Lost { rank: Rank(rank) },
        Event::Numbers { rank: Rank(rank), comm: Comm::WORLD, peer: Rank(peer), sent, received },
    ]
}

fn pairs(matched: &Matched) -> Vec<(u64, u64)> {
    matched.messages.iter().map(|message| (message.send_ns, message.recv_ns)).collect()
}

#[test]
fn posting_order_counts_not_completion_order() {
    let mut matcher = Matcher::default();
    let mut events = vec![send(0, 1, 7, 8, 10), send(0, 1, 7, 8, 20)];
    events.extend([post(1, Some(0), Some(7), 0), post(1, Some(0), Some(7), 1)]);
    events.extend([receive(1, 0, 7, 8, Some(1), 100), receive(1, 0, 7, 8, Some(0), 200)]);
    assert_eq!(pairs(&matcher.feed(&events)), [(10, 200), (20, 100)]);
}

#[test]
fn an_open_wildcard_holds_back_what_it_could_have_taken() {
    let mut matcher = Matcher::default();
    let mut events = vec![send(0, 1, 7, 8, 10), send(0, 1, 7, 8, 20), send(2, 1, 7, 8, 30)];
    events.extend([post(1, None, None, 0), post(1, Some(0), Some(7), 1), post(1, Some(2), Some(7), 2)]);
    events.extend([receive(1, 0, 7, 8, Some(1), 100), receive(1, 2, 7, 8, Some(2), 150)]);
    assert_eq!(pairs(&matcher.feed(&events)), []);
    assert_eq!(pairs(&matcher.feed(&[receive(1, 0, 7, 8, Some(0), 200)])), [(10, 200), (20, 100), (30, 150)]);
    assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives(), matcher.turns.pending), (0, 0, 0));
}

#[test]
fn a_loss_never_shifts_later_pairs() {
    let mut matcher = Matcher::default();
    let first: Vec<Event> = (0..10).map(|at| send(0, 1, 7, 8, 10 + at)).collect();
    matcher.feed(&first);
    matcher.feed(&[receive(1, 0, 7, 8, None, 100)]);
    // Receives 1 to 5 of rank 1 were lost.
    let [loss, numbers] = lost(1, 0, 0, 6);
    let matched = matcher.feed(&[loss, numbers, receive(1, 0, 7, 8, None, 106)]);
    // All that was sent was seen, with one tag.
    assert_eq!((pairs(&matched), matched.uncertain), (vec![(16, 106)], 0));
    let rest: Vec<Event> = (7..10).map(|at| receive(1, 0, 7, 8, None, 100 + at)).collect();
    assert_eq!(pairs(&matcher.feed(&rest)), [(17, 107), (18, 108), (19, 109)]);
    // Ten sent, ten received: the five that nobody saw arrive are given up, the next message is certain.
    let matched = matcher.feed(&[send(0, 1, 7, 8, 50), receive(1, 0, 7, 8, None, 150)]);
    assert_eq!((pairs(&matched), matched.uncertain), (vec![(50, 150)], 0));
    assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives(), matcher.turns.pending), (5, 0, 0));
}

#[test]
fn records_after_a_loss_are_certain_whichever_side_comes_first() {
    // Rank 0 is seen from its 20th message on, rank 1 from the 18th or the 22nd that it received.
    for (from, paired) in [(18, 10), (22, 8)] {
        let sends = (20..30).map(|at| send(0, 1, 7, 8, 1000 + at));
        let sends: Vec<Event> = lost(0, 1, 20, 0).into_iter().chain(sends).collect();
        let receives = (from..30).map(|at| receive(1, 0, 7, 8, None, 2000 + at));
        let receives: Vec<Event> = lost(1, 0, 0, from).into_iter().chain(receives).collect();
        for sides in [[&sends, &receives], [&receives, &sends]] {
            let mut matcher = Matcher::default();
            let matched: Vec<Matched> = sides.into_iter().map(|side| matcher.feed(side)).collect();
            let all: Vec<_> = matched.iter().flat_map(pairs).collect();
            assert!(all.iter().all(|(sent, received)| sent + 1000 == *received), "{all:?}");
            let uncertain: u64 = matched.iter().map(|matched| matched.uncertain).sum();
            assert_eq!((all.len(), uncertain <= 1), (paired, true), "{from}: {uncertain}");
            assert_eq!(matcher.unmatched_sends() + matcher.unmatched_receives(), 2);
        }
    }
}

#[test]
fn an_open_receive_does_not_keep_a_pair_ambiguous() {
    let mut matcher = Matcher::default();
    let mut receiver: Vec<Event> = lost(1, 0, 0, 7).into();
    receiver.extend([receive(1, 0, 7, 8, None, 107), post(1, Some(0), Some(7), 5)]);
    receiver.extend([receive(1, 0, 7, 8, Some(5), 108), post(1, Some(0), Some(7), 6)]);
    assert_eq!(pairs(&matcher.feed(&receiver)), []);
    let sends = (7..9).map(|at| send(0, 1, 7, 8, at));
    let sends: Vec<Event> = lost(0, 1, 7, 0).into_iter().chain(sends).collect();
    let matched = matcher.feed(&sends);
    assert_eq!((pairs(&matched), matched.uncertain <= 1), (vec![(7, 107), (8, 108)], true));
    let matched = matcher.feed(&[receive(1, 0, 7, 8, Some(6), 109), send(0, 1, 7, 8, 9)]);
    assert_eq!((pairs(&matched), matched.uncertain), (vec![(9, 109)], 0));
}

#[test]
fn a_send_whose_receive_was_lost_is_not_given_to_a_later_one() {
    let mut matcher = Matcher::default();
    matcher.feed(&[send(0, 1, 7, 8, 10), post(1, Some(0), Some(7), 0), receive(1, 0, 7, 8, Some(0), 110)]);
    matcher.feed(&[send(0, 1, 7, 8, 11), post(1, Some(0), Some(7), 1)]);
    let after = [post(1, Some(0), Some(7), 5), receive(1, 0, 7, 8, Some(5), 115)];
    let receiver: Vec<Event> = lost(1, 0, 0, 5).into_iter().chain(after).collect();
    assert_eq!(pairs(&matcher.feed(&receiver)), []);
    let sender: Vec<Event> = lost(0, 1, 5, 0).into_iter().chain([send(0, 1, 7, 8, 15)]).collect();
    assert_eq!(pairs(&matcher.feed(&sender)), [(15, 115)]);
    let matched = matcher.feed(&[send(0, 1, 7, 8, 16), receive(1, 0, 7, 8, None, 116)]);
    assert_eq!((pairs(&matched), matched.uncertain), (vec![(16, 116)], 0));
}

#[test]
fn a_pair_of_several_tags_is_ambiguous_until_both_sides_agree() {
    let mut matcher = Matcher::default();
    matcher.feed(&[send(0, 1, 7, 8, 10), send(0, 1, 9, 8, 11), send(0, 1, 7, 8, 12)]);
    let [loss, numbers] = lost(1, 0, 0, 1);
    // The first that it received may have been any of two.
    let matched = matcher.feed(&[loss, numbers, receive(1, 0, 7, 8, None, 112)]);
    assert_eq!(matched.uncertain, 1);
}

#[test]
fn lost_sends_leave_their_receives_alone() {
    let mut matcher = Matcher::default();
    matcher.feed(&[send(0, 1, 7, 8, 10)]);
    let [loss, numbers] = lost(0, 1, 3, 0);
    matcher.feed(&[loss, numbers, send(0, 1, 7, 8, 13)]);
    let events: Vec<Event> = (0..4).map(|at| receive(1, 0, 7, 8, None, 100 + at)).collect();
    assert_eq!(pairs(&matcher.feed(&events)), [(10, 100), (13, 103)]);
    assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives()), (0, 2));
    let matched = matcher.feed(&[send(0, 1, 7, 8, 50), receive(1, 0, 7, 8, None, 150)]);
    assert_eq!((pairs(&matched), matched.uncertain, matcher.turns.pending), (vec![(50, 150)], 0, 0));
}

#[test]
fn sizes_that_differ_prove_a_doubt_and_are_never_a_pair() {
    let mut matcher = Matcher::default();
    // The receive of the first send was lost, and nobody has said so yet.
    let events = [send(0, 1, 7, 8, 10), send(0, 1, 7, 16, 20), receive(1, 0, 7, 16, None, 100)];
    assert_eq!(pairs(&matcher.feed(&events)), []);
    let numbers = [
        Event::Numbers { rank: Rank(1), comm: Comm::WORLD, peer: Rank(0), sent: 0, received: 2 },
        Event::Numbers { rank: Rank(0), comm: Comm::WORLD, peer: Rank(1), sent: 2, received: 0 },
    ];
    let matched = matcher.feed(&numbers);
    assert_eq!((pairs(&matched), matched.uncertain), (vec![(20, 100)], 1));
    assert!(!matched.messages[0].exact);
    assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives(), matcher.turns.pending), (1, 0, 0));
}

#[test]
fn what_waits_is_bounded_and_given_up_in_order() {
    let mut matcher = Matcher::new(MatchingLimits { pending: 10, ..MatchingLimits::default() });
    matcher.feed(&[send(2, 1, 7, 8, 1000)]);
    let events: Vec<Event> = (0..25).map(|at| send(0, 1, 7, 8, at)).collect();
    matcher.feed(&events);
    assert!(matcher.turns.pending <= 10);
    assert_eq!(matcher.unmatched_sends(), 26);
    let events: Vec<Event> = (0..25).map(|at| receive(1, 0, 7, 8, None, 100 + at)).collect();
    let found = pairs(&matcher.feed(&events));
    assert!(found.len() >= 4 && found.iter().all(|(sent, received)| received - sent == 100), "{found:?}");
    assert_eq!(matcher.unmatched_receives(), 25 - found.len() as u64);
    // The quiet channel beside it lost nothing.
    assert_eq!(pairs(&matcher.feed(&[receive(1, 2, 7, 8, None, 2000)])), [(1000, 2000)]);
    assert_eq!(matcher.turns.pending, 0);
}

#[test]
fn many_that_wait_for_little_each_are_bounded_and_counted() {
    let limits = MatchingLimits { pending: 10_000, pairs: 1000 };
    let never = |at: u64| send(0, at as u32 % 5000, (at / 5000) as i32, 8, at);
    let open = |at: u64| post(1, Some(at as u32 % 5000), Some((at / 5000) as i32), at);
    let wild = |at: u64| post(1, None, None, at);
    let unposted = |at: u64| receive(1, 0, 7, 8, Some(at), 100 + at);
    let kinds: [(&dyn Fn(u64) -> Event, bool); 4] =
        [(&never, true), (&open, false), (&wild, false), (&unposted, true)];
    for (of, is_counted) in kinds {
        let mut matcher = Matcher::new(limits);
        for at in 0..100_000 {
            matcher.feed(&[of(at)]);
            assert!(matcher.turns.pending <= limits.pending);
        }
        assert!(matcher.pairs.len() <= 2 * limits.pending + limits.pairs, "{}", matcher.pairs.len());
        let unmatched = matcher.unmatched_sends() + matcher.unmatched_receives();
        assert_eq!(unmatched, if is_counted { 100_000 } else { 0 });
        // What comes later finds its other side.
        let events = [send(2, 3, 7, 8, 10), receive(3, 2, 7, 8, None, 20)];
        assert_eq!(pairs(&matcher.feed(&events)), [(10, 20)]);
    }
}

#[test]
fn a_completion_that_is_read_before_its_posting_waits_for_it() {
    let mut matcher = Matcher::default();
    let events = [send(0, 1, 7, 8, 10), send(0, 1, 7, 8, 20), receive(1, 0, 7, 8, Some(1), 100)];
    assert_eq!(pairs(&matcher.feed(&events)), []);
    assert_eq!(matcher.unmatched_receives(), 1);
    let events = [post(1, Some(0), Some(7), 0), post(1, None, Some(7), 1), receive(1, 0, 7, 8, Some(0), 200)];
    assert_eq!(pairs(&matcher.feed(&events)), [(10, 200), (20, 100)]);
    assert_eq!((matcher.unmatched_receives(), matcher.turns.pending), (0, 0));
}

#[test]
fn times_are_those_of_the_definition() {
    let mut matcher = Matcher::default();
    matcher.place(Rank(0), Node(0));
    matcher.place(Rank(1), Node(1));
    let sent = Event::Send {
        rank: Rank(0),
        call: CallId::default(),
        comm: Comm::WORLD,
        to: Rank(1),
        tag: 7,
        bytes: 8,
        begin_ns: 50,
        blocked_until_ns: Some(90),
    };
    let early = Event::Receive {
        rank: Rank(1),
        call: CallId::default(),
        comm: Comm::WORLD,
        from: Rank(0),
        tag: 7,
        bytes: 8,
        post: None,
        begin_ns: 20,
        end_ns: 80,
        alone: true,
    };
    let message = matcher.feed(&[sent, early]).messages[0];
    assert_eq!((message.t_msg_ns, message.late_sender_ns, message.late_receiver_ns), (30, 30, Some(0)));
    assert!(message.inter && message.exact);
    let late = Event::Receive {
        rank: Rank(1),
        call: CallId::default(),
        comm: Comm::WORLD,
        from: Rank(0),
        tag: 7,
        bytes: 8,
        post: None,
        begin_ns: 70,
        end_ns: 100,
        alone: true,
    };
    let message = matcher.feed(&[sent, late]).messages[0];
    assert_eq!((message.t_msg_ns, message.late_sender_ns, message.late_receiver_ns), (30, 0, Some(20)));
    assert!(!message.exact);
}

#[test]
fn a_receive_that_does_not_know_its_size_is_that_of_its_send() {
    let mut matcher = Matcher::default();
    let unknown = Event::UNKNOWN_BYTES;
    let mut events = vec![post(1, Some(0), Some(7), 0), post(1, Some(0), Some(7), 1)];
    events.extend([receive(1, 0, 7, unknown, Some(0), 100), receive(1, 0, 7, 16, Some(1), 200)]);
    events.extend([send(0, 1, 7, 8, 10), send(0, 1, 7, 16, 20)]);
    let matched = matcher.feed(&events);
    assert_eq!((pairs(&matched), matched.uncertain), (vec![(10, 100), (20, 200)], 0));
    assert_eq!(matched.messages.iter().map(|message| message.bytes).sum::<u64>(), 24);
}

#[test]
fn a_freed_receive_takes_its_message_unseen() {
    let mut matcher = Matcher::default();
    let mut events: Vec<Event> = (0..3).map(|number| post(1, Some(0), Some(7), number)).collect();
    events.push(Event::Freed { rank: Rank(1), post: 1 });
    events.extend([receive(1, 0, 7, 8, Some(0), 100), receive(1, 0, 7, 24, Some(2), 300)]);
    events.extend([send(0, 1, 7, 8, 10), send(0, 1, 7, 16, 20), send(0, 1, 7, 24, 30)]);
    let matched = matcher.feed(&events);
    assert_eq!((pairs(&matched), matched.uncertain), (vec![(10, 100), (30, 300)], 0));
    assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives(), matcher.turns.pending), (1, 0, 0));
}

#[test]
fn a_send_is_unreceived_until_its_receive_is_known() {
    let unreceived = |matcher: &Matcher| {
        let mut sends: Vec<_> = matcher
            .unreceived_sends()
            .map(|send| (send.src, send.dst, send.tag, send.bytes, send.send_ns))
            .collect();
        sends.sort_unstable();
        sends
    };
    let mut matcher = Matcher::default();
    matcher.feed(&[send(0, 1, 7, 8, 10), send(0, 1, 9, 16, 20), send(0, 1, 7, 32, 30)]);
    assert_eq!(
        unreceived(&matcher),
        [(Rank(0), Rank(1), 7, 8, 10), (Rank(0), Rank(1), 7, 32, 30), (Rank(0), Rank(1), 9, 16, 20)]
    );
    matcher.feed(&[receive(1, 0, 7, 8, None, 100)]);
    assert_eq!(unreceived(&matcher), [(Rank(0), Rank(1), 7, 32, 30), (Rank(0), Rank(1), 9, 16, 20)]);
    matcher.feed(&[receive(1, 0, 9, 16, None, 110), receive(1, 0, 7, 32, None, 120)]);
    assert_eq!(unreceived(&matcher), []);
}
