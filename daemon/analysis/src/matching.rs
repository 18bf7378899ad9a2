//! Matching: sends and receives of one (communicator, source, destination, tag) pair up in the order of posting.
//!
//! A receive that completed waits for its turn: every receive that its rank posted before and that could have taken
//! the same message must be resolved first. Those of the same channel stand before it in the channel; those with
//! wildcards stand in a list of their own.

use crate::pair::{Arrival, Pair, PendingSend, Slot};
use mpiscope_model::{Comm, Event, Message, Nanoseconds, Node, PostId, Rank};
use rustc_hash::FxHashMap;

/// What the operator may keep.
#[derive(Debug, Clone, Copy)]
pub struct MatchingLimits {
    /// Sends and receives without their other side; beyond it the oldest of a channel are given up and counted.
    pub pending: usize,
}

impl Default for MatchingLimits {
    /// Some 256 MiB.
    fn default() -> Self {
        Self { pending: 4 << 20 }
    }
}

/// What a batch of events led to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matched {
    /// Messages whose two sides are now known.
    pub messages: Vec<Message>,
    /// Of them, those paired by best fit.
    pub uncertain: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PairKey {
    comm: Comm,
    src: Rank,
    dst: Rank,
}

#[derive(Debug, Clone, Copy)]
struct Wild {
    order: u64,
    post: PostId,
    from: Option<Rank>,
    tag: Option<i32>,
    posted_ns: Nanoseconds,
}

impl Wild {
    fn could_take(&self, src: Rank, tag: i32) -> bool {
        self.from.is_none_or(|from| from == src) && self.tag.is_none_or(|wanted| wanted == tag)
    }
}

/// The receives of one rank on one communicator that could take messages of several channels.
#[derive(Debug, Default)]
struct Receiver {
    wild: Vec<Wild>,
    /// Channels whose next receive waits for one of them.
    blocked: Vec<(Rank, i32)>,
}

/// The operator.
#[derive(Debug, Default)]
pub struct Matcher {
    limits: MatchingLimits,
    pairs: FxHashMap<PairKey, Pair>,
    receivers: FxHashMap<(Comm, Rank), Receiver>,
    /// The order in which each rank posted receives.
    orders: FxHashMap<Rank, u64>,
    nodes: FxHashMap<Rank, Node>,
    pending: usize,
    given_up_sends: u64,
    given_up_receives: u64,
}

impl Matcher {
    /// An operator that keeps to limits.
    #[must_use]
    pub fn new(limits: MatchingLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Says where a rank runs.
    pub fn place(&mut self, rank: Rank, node: Node) {
        self.nodes.insert(rank, node);
    }

    /// Sends without a receive so far: waiting, or given up.
    #[must_use]
    pub fn unmatched_sends(&self) -> u64 {
        let waiting: usize = self
            .pairs
            .values()
            .flat_map(|pair| pair.channels.values())
            .map(|channel| channel.sends.len())
            .sum();
        waiting as u64 + self.given_up_sends
    }

    /// Receives without a send so far.
    #[must_use]
    pub fn unmatched_receives(&self) -> u64 {
        let waiting: usize = self
            .pairs
            .values()
            .flat_map(|pair| pair.channels.values())
            .map(|channel| {
                channel.ready.len() + channel.slots.iter().filter(|slot| slot.arrival.is_some()).count()
            })
            .sum();
        waiting as u64 + self.given_up_receives
    }

    /// Takes in events of one or several ranks, each rank's in order.
    pub fn feed(&mut self, events: &[Event]) -> Matched {
        let mut matched = Matched::default();
        for event in events {
            self.event(event, &mut matched);
        }
        matched
    }

    fn event(&mut self, event: &Event, out: &mut Matched) {
        match *event {
            Event::Send { rank, comm, to, tag, bytes, begin_ns, blocked_until_ns } => {
                let key = PairKey { comm, src: rank, dst: to };
                self.send(key, tag, PendingSend { number: 0, bytes, begin_ns, blocked_until_ns }, out);
            }
            Event::Post { rank, comm, from, tag, post, at_ns } => {
                self.post(rank, comm, from, tag, post, at_ns);
            }
            Event::Receive { rank, comm, from, tag, bytes, post, begin_ns, end_ns, alone } => {
                let key = PairKey { comm, src: from, dst: rank };
                let arrival = Arrival { number: 0, bytes, posted_ns: begin_ns, begin_ns, end_ns, alone };
                self.receive(key, tag, post, arrival, out);
            }
            Event::Unobserved { rank, post } => self.unobserved(rank, Some(post), out),
            Event::Lost { rank } => self.unobserved(rank, None, out),
            Event::Numbers { rank, comm, peer, sent, received } => {
                self.numbers(PairKey { comm, src: rank, dst: peer }, true, sent, out);
                self.numbers(PairKey { comm, src: peer, dst: rank }, false, received, out);
            }
        }
    }

    fn send(&mut self, key: PairKey, tag: i32, mut send: PendingSend, out: &mut Matched) {
        let pair = self.pairs.entry(key).or_default();
        send.number = pair.sent;
        pair.sent = pair.sent.wrapping_add(1);
        if pair.uncertain {
            if let Some(arrival) = pair.best_arrival(tag, &send) {
                self.pending -= 1;
                self.emit(key, tag, &send, &arrival, out);
                return;
            }
        } else if let Some(channel) = pair.channels.get_mut(&tag)
            && let Some(arrival) = channel.ready.pop_front()
        {
            self.pending -= 1;
            self.emit(key, tag, &send, &arrival, out);
            return;
        }
        pair.channels.entry(tag).or_default().sends.push_back(send);
        self.pending += 1;
        self.keep_to_limits(key, tag);
    }

    fn next_order(&mut self, rank: Rank) -> u64 {
        let order = self.orders.entry(rank).or_default();
        *order += 1;
        *order
    }

    fn post(
        &mut self,
        rank: Rank,
        comm: Comm,
        from: Option<Rank>,
        tag: Option<i32>,
        post: PostId,
        posted_ns: Nanoseconds,
    ) {
        let order = self.next_order(rank);
        if let (Some(src), Some(tag)) = (from, tag) {
            let slot = Slot { order, post: Some(post), posted_ns, arrival: None };
            let pair = self.pairs.entry(PairKey { comm, src, dst: rank }).or_default();
            pair.channels.entry(tag).or_default().slots.push_back(slot);
        } else {
            let wild = Wild { order, post, from, tag, posted_ns };
            self.receivers.entry((comm, rank)).or_default().wild.push(wild);
        }
        self.pending += 1;
    }

    fn receive(
        &mut self,
        key: PairKey,
        tag: i32,
        post: Option<PostId>,
        mut arrival: Arrival,
        out: &mut Matched,
    ) {
        let pair = self.pairs.entry(key).or_default();
        arrival.number = pair.received;
        pair.received = pair.received.wrapping_add(1);
        let known = post.and_then(|post| pair.channels.get_mut(&tag)?.open(post));
        if let Some(slot) = known {
            arrival.posted_ns = slot.posted_ns;
            slot.arrival = Some(arrival);
            self.release(key, tag, out);
            return;
        }
        let receiver = self.receivers.get_mut(&(key.comm, key.dst));
        let wild = post.zip(receiver).and_then(|(post, receiver)| {
            let at = receiver.wild.iter().position(|wild| wild.post == post)?;
            Some((receiver.wild.remove(at), std::mem::take(&mut receiver.blocked)))
        });
        let Some((wild, blocked)) = wild else {
            // Posted by this same call, or by one whose record was lost.
            let slot = Slot {
                order: self.next_order(key.dst),
                post: None,
                posted_ns: arrival.posted_ns,
                arrival: Some(arrival),
            };
            self.pending += 1;
            self.channel(key, tag).slots.push_back(slot);
            self.release(key, tag, out);
            return;
        };
        arrival.posted_ns = wild.posted_ns;
        let slot = Slot {
            order: wild.order,
            post: Some(wild.post),
            posted_ns: wild.posted_ns,
            arrival: Some(arrival),
        };
        self.channel(key, tag).insert(slot);
        self.release(key, tag, out);
        self.retry(key.comm, key.dst, blocked, out);
    }

    fn channel(&mut self, key: PairKey, tag: i32) -> &mut crate::pair::Channel {
        self.pairs.entry(key).or_default().channels.entry(tag).or_default()
    }

    fn retry(&mut self, comm: Comm, dst: Rank, blocked: Vec<(Rank, i32)>, out: &mut Matched) {
        for (src, tag) in blocked {
            self.release(PairKey { comm, src, dst }, tag, out);
        }
    }

    /// Pairs what stands at the front of a channel as far as its turn has come.
    fn release(&mut self, key: PairKey, tag: i32, out: &mut Matched) {
        loop {
            let Some(pair) = self.pairs.get_mut(&key) else { return };
            let Some(channel) = pair.channels.get_mut(&tag) else { return };
            let Some(&Slot { order, arrival: Some(arrival), .. }) = channel.slots.front() else { return };
            if let Some(receiver) = self.receivers.get_mut(&(key.comm, key.dst))
                && receiver.wild.iter().any(|wild| wild.order < order && wild.could_take(key.src, tag))
            {
                if !receiver.blocked.contains(&(key.src, tag)) {
                    receiver.blocked.push((key.src, tag));
                }
                return;
            }
            channel.slots.pop_front();
            if channel.given_up > 0 {
                channel.given_up -= 1;
                self.pending -= 1;
                self.given_up_receives += 1;
                continue;
            }
            let send = if pair.uncertain { pair.best_send(tag, &arrival) } else { channel.sends.pop_front() };
            if let Some(send) = send {
                self.pending -= 2;
                self.emit(key, tag, &send, &arrival, out);
            } else {
                self.channel(key, tag).ready.push_back(arrival);
                self.keep_to_limits(key, tag);
            }
        }
    }

    /// A posted receive (or, after a loss, all of a rank's) will not be seen to complete as it was posted.
    fn unobserved(&mut self, rank: Rank, post: Option<PostId>, out: &mut Matched) {
        let gone = |other: PostId| post.is_none_or(|post| post == other);
        let mut freed = Vec::new();
        for (&(comm, _), receiver) in self.receivers.iter_mut().filter(|((_, dst), _)| *dst == rank) {
            let before = receiver.wild.len();
            receiver.wild.retain(|wild| !gone(wild.post));
            self.pending -= before - receiver.wild.len();
            freed
                .extend(std::mem::take(&mut receiver.blocked).into_iter().map(|(src, tag)| (comm, src, tag)));
        }
        for (key, pair) in self.pairs.iter_mut().filter(|(key, _)| key.dst == rank) {
            for (&tag, channel) in &mut pair.channels {
                let before = channel.slots.len();
                channel.slots.retain(|slot| slot.arrival.is_some() || !slot.post.is_some_and(gone));
                let removed = before - channel.slots.len();
                self.pending -= removed;
                if removed > 0 {
                    // After a loss nobody knows whether it took a message; a cancelled one did not.
                    pair.uncertain |= post.is_none();
                    freed.push((key.comm, key.src, tag));
                }
            }
        }
        for (comm, src, tag) in freed {
            self.release(PairKey { comm, src, dst: rank }, tag, out);
        }
    }

    /// One side says how much really went over the pair.
    fn numbers(&mut self, key: PairKey, sends: bool, really: u64, out: &mut Matched) {
        let pair = self.pairs.entry(key).or_default();
        let (seen, lost) = if sends {
            (&mut pair.sent, &mut pair.lost_sends)
        } else {
            (&mut pair.received, &mut pair.lost_receives)
        };
        if really > *seen {
            // What a job says of itself may be any number.
            *lost = lost.saturating_add(really - *seen);
            *seen = really;
            pair.uncertain = true;
        }
        self.settle(key, out);
    }

    fn settle(&mut self, key: PairKey, out: &mut Matched) {
        let Some(pair) = self.pairs.get_mut(&key) else { return };
        let (given_up, crossed) = pair.settle();
        self.given_up_sends += given_up.sends;
        self.given_up_receives += given_up.receives;
        self.pending -= (given_up.sends + given_up.receives) as usize + 2 * crossed.len();
        for (tag, send, arrival) in crossed {
            self.message(key, tag, &send, &arrival, false, out);
        }
    }

    /// The run is over: posts that are still open will not complete. Those before a completed receive of the same
    /// channel took a message each, or that message would have been theirs.
    pub fn finish(&mut self) -> Matched {
        let mut out = Matched::default();
        let mut blocked = Vec::new();
        for (&(comm, dst), receiver) in &mut self.receivers {
            self.pending -= receiver.wild.len();
            receiver.wild.clear();
            blocked.extend(receiver.blocked.drain(..).map(|(src, tag)| (PairKey { comm, src, dst }, tag)));
        }
        for (key, _) in &blocked {
            // Which channel the open wildcard drew from is not known.
            if let Some(pair) = self.pairs.get_mut(key) {
                pair.uncertain = true;
            }
        }
        let keys: Vec<(PairKey, i32)> = self
            .pairs
            .iter()
            .flat_map(|(&key, pair)| pair.channels.keys().map(move |&tag| (key, tag)))
            .collect();
        for (key, tag) in keys {
            self.finish_channel(key, tag, &mut out);
        }
        out
    }

    fn finish_channel(&mut self, key: PairKey, tag: i32, out: &mut Matched) {
        loop {
            self.release(key, tag, out);
            let channel = self.channel(key, tag);
            let Some(slot) = channel.slots.pop_front() else { return };
            self.pending -= 1;
            // The release above stopped at it, so it is open.
            debug_assert!(slot.arrival.is_none());
            let channel = self.channel(key, tag);
            if channel.slots.iter().any(|later| later.arrival.is_some())
                && channel.sends.pop_front().is_some()
            {
                self.given_up_sends += 1;
                self.pending -= 1;
            }
        }
    }

    /// Too much waits: the oldest of this channel are given up, and what would have been theirs with them.
    fn keep_to_limits(&mut self, key: PairKey, tag: i32) {
        if self.pending <= self.limits.pending {
            return;
        }
        let channel = self.channel(key, tag);
        if channel.sends.pop_front().is_some() {
            channel.given_up += 1;
            self.given_up_sends += 1;
            self.pending -= 1;
        } else if channel.ready.pop_front().is_some() {
            // Its send, should it still come, would take the next receive: the pair is in doubt from here on.
            self.given_up_receives += 1;
            self.pending -= 1;
            if let Some(pair) = self.pairs.get_mut(&key) {
                pair.uncertain = true;
            }
        }
    }

    fn emit(&mut self, key: PairKey, tag: i32, send: &PendingSend, arrival: &Arrival, out: &mut Matched) {
        let Some(pair) = self.pairs.get_mut(&key) else { return };
        let differ = send.bytes != arrival.bytes;
        // Sizes that differ prove a wrong pairing.
        pair.uncertain |= differ;
        let certain = !pair.uncertain;
        self.message(key, tag, send, arrival, certain, out);
        if !certain {
            self.settle(key, out);
        }
    }

    fn message(
        &self,
        key: PairKey,
        tag: i32,
        send: &PendingSend,
        arrival: &Arrival,
        certain: bool,
        out: &mut Matched,
    ) {
        out.uncertain += u64::from(!certain);
        let (s0, c0, r1) = (send.begin_ns, arrival.begin_ns, arrival.end_ns);
        let inter = match (self.nodes.get(&key.src), self.nodes.get(&key.dst)) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        out.messages.push(Message {
            src: key.src,
            dst: key.dst,
            tag,
            comm: key.comm,
            bytes: send.bytes,
            send_ns: s0,
            recv_ns: r1,
            t_msg_ns: r1.saturating_sub(s0.max(c0)),
            late_sender_ns: r1.min(s0).saturating_sub(c0),
            late_receiver_ns: send.blocked_until_ns.map(|s1| s1.min(arrival.posted_ns).saturating_sub(s0)),
            inter,
            exact: certain && arrival.alone && c0 <= s0,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(rank: Rank, to: Rank, tag: i32, bytes: u64, begin_ns: u64) -> Event {
        Event::Send { rank, comm: 0, to, tag, bytes, begin_ns, blocked_until_ns: None }
    }

    fn receive(rank: Rank, from: Rank, tag: i32, bytes: u64, post: Option<PostId>, end_ns: u64) -> Event {
        Event::Receive { rank, comm: 0, from, tag, bytes, post, begin_ns: 0, end_ns, alone: true }
    }

    fn post(rank: Rank, from: Option<Rank>, tag: Option<i32>, post: PostId) -> Event {
        Event::Post { rank, comm: 0, from, tag, post, at_ns: 0 }
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
        assert_eq!(
            pairs(&matcher.feed(&[receive(1, 0, 7, 8, Some(0), 200)])),
            [(10, 200), (20, 100), (30, 150)]
        );
        assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives(), matcher.pending), (0, 0, 0));
    }

    #[test]
    fn a_loss_never_shifts_later_pairs() {
        let mut matcher = Matcher::default();
        let first: Vec<Event> = (0..10).map(|at| send(0, 1, 7, 8, 10 + at)).collect();
        matcher.feed(&first);
        matcher.feed(&[receive(1, 0, 7, 8, None, 100)]);
        // Receives 1 to 5 of rank 1 were lost.
        let numbers = Event::Numbers { rank: 1, comm: 0, peer: 0, sent: 0, received: 6 };
        let events = [Event::Lost { rank: 1 }, numbers, receive(1, 0, 7, 8, None, 106)];
        let matched = matcher.feed(&events);
        assert_eq!((pairs(&matched), matched.uncertain), (vec![(16, 106)], 1));
        let rest: Vec<Event> = (7..10).map(|at| receive(1, 0, 7, 8, None, 100 + at)).collect();
        assert_eq!(pairs(&matcher.feed(&rest)), [(17, 107), (18, 108), (19, 109)]);
        // Ten sent, ten received: the five that nobody saw arrive are given up, the next message is certain.
        let matched = matcher.feed(&[send(0, 1, 7, 8, 50), receive(1, 0, 7, 8, None, 150)]);
        assert_eq!((pairs(&matched), matched.uncertain), (vec![(50, 150)], 0));
        assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives(), matcher.pending), (5, 0, 0));
    }

    #[test]
    fn lost_sends_leave_their_receives_alone() {
        let mut matcher = Matcher::default();
        matcher.feed(&[send(0, 1, 7, 8, 10)]);
        let numbers = Event::Numbers { rank: 0, comm: 0, peer: 1, sent: 3, received: 0 };
        matcher.feed(&[Event::Lost { rank: 0 }, numbers, send(0, 1, 7, 8, 13)]);
        let events: Vec<Event> = (0..4).map(|at| receive(1, 0, 7, 8, None, 100 + at)).collect();
        assert_eq!(pairs(&matcher.feed(&events)), [(10, 100), (13, 103)]);
        assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives()), (0, 2));
        let matched = matcher.feed(&[send(0, 1, 7, 8, 50), receive(1, 0, 7, 8, None, 150)]);
        assert_eq!((pairs(&matched), matched.uncertain, matcher.pending), (vec![(50, 150)], 0, 0));
    }

    #[test]
    fn sizes_that_differ_prove_a_doubt() {
        let mut matcher = Matcher::default();
        let matched = matcher.feed(&[send(0, 1, 7, 8, 10), receive(1, 0, 7, 16, None, 100)]);
        assert_eq!((matched.messages.len(), matched.uncertain), (1, 1));
        assert!(!matched.messages[0].exact);
    }

    #[test]
    fn what_waits_is_bounded_and_given_up_in_order() {
        let mut matcher = Matcher::new(MatchingLimits { pending: 10 });
        let events: Vec<Event> = (0..25).map(|at| send(0, 1, 7, 8, at)).collect();
        matcher.feed(&events);
        assert_eq!((matcher.pending, matcher.unmatched_sends()), (10, 25));
        let events: Vec<Event> = (0..25).map(|at| receive(1, 0, 7, 8, None, 100 + at)).collect();
        let expected: Vec<(u64, u64)> = (15..25).map(|at| (at, 100 + at)).collect();
        assert_eq!(pairs(&matcher.feed(&events)), expected);
        assert_eq!((matcher.unmatched_sends(), matcher.unmatched_receives(), matcher.pending), (15, 15, 0));
    }

    #[test]
    fn times_are_those_of_the_definition() {
        let mut matcher = Matcher::default();
        matcher.place(0, 0);
        matcher.place(1, 1);
        let sent = Event::Send {
            rank: 0,
            comm: 0,
            to: 1,
            tag: 7,
            bytes: 8,
            begin_ns: 50,
            blocked_until_ns: Some(90),
        };
        let early = Event::Receive {
            rank: 1,
            comm: 0,
            from: 0,
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
            rank: 1,
            comm: 0,
            from: 0,
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
}
