//! The operator: takes in events, keeps what waits for its other side, and emits a message when both are known.

use super::limits::MatchingLimits;
use super::matched::Matched;
use super::receive_order::{Release, Turns, Wild};
use crate::pair::{Arrival, Channel, Pair, PairKey, PendingSend, PostedReceive};
use mpiscope_model::{CallId, Comm, Event, Nanoseconds, Node, PostId, Rank};
use rustc_hash::FxHashMap;

/// More pairs than fit into the caches of a core.
const MANY_PAIRS: usize = 4_096;
/// Events whose pairs are fetched at once.
const AT_ONCE: usize = 32;

/// The operator.
#[derive(Debug, Default)]
pub struct Matcher {
    pub(super) pairs: FxHashMap<PairKey, Pair>,
    /// Idle ones are forgotten when there are more than this number, or than the limit.
    most_pairs: usize,
    /// Receives that completed in one thread before the posting in another was read.
    pub(super) early: FxHashMap<(Rank, PostId), (PairKey, i32, Arrival)>,
    pub(super) ranks: Vec<RankPosts>,
    pub(super) turns: Turns,
}

/// What one rank posted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RankPosts {
    /// How many receives.
    posted: u64,
    /// The first post that no loss can have taken.
    pub(super) sure_post: PostId,
    /// The post after the last that was seen.
    pub(super) next_post: PostId,
}

impl Matcher {
    /// An operator that keeps to limits.
    #[must_use]
    pub fn new(limits: MatchingLimits) -> Self {
        Self { turns: Turns::within(limits), ..Self::default() }
    }

    /// Says too which calls made each message.
    #[must_use]
    pub fn with_links(mut self) -> Self {
        self.turns.links = true;
        self
    }

    /// Says where a rank runs.
    pub fn place(&mut self, rank: Rank, node: Node) {
        self.turns.place(rank, node);
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
        waiting as u64 + self.turns.given_up_sends
    }

    /// Receives without a send so far.
    #[must_use]
    pub fn unmatched_receives(&self) -> u64 {
        let waiting: usize = self
            .pairs
            .values()
            .flat_map(|pair| pair.channels.values())
            .map(|channel| {
                channel.ready.len()
                    + channel.receives.iter().filter(|receive| receive.arrival.is_some()).count()
            })
            .sum();
        (waiting + self.early.len()) as u64 + self.turns.given_up_receives
    }

    /// Takes in events of one or several ranks, each rank's in order.
    pub fn feed(&mut self, events: &[Event]) -> Matched {
        // A message is a send and a receive.
        let mut matched = Matched { messages: Vec::with_capacity(events.len() / 2), ..Matched::default() };
        if self.turns.links {
            matched.links.reserve(events.len() / 2);
        }
        for some in events.chunks(AT_ONCE) {
            if self.pairs.len() > self.most_pairs.max(self.turns.limits.pairs) {
                self.forget_pairs();
            }
            self.fetch(some);
            for event in some {
                self.event(event, &mut matched);
            }
        }
        matched
    }

    /// Has the memory of some events' pairs fetched all at once, where there are too many pairs for it to be near.
    fn fetch(&self, events: &[Event]) {
        if self.pairs.len() < MANY_PAIRS {
            return;
        }
        let key = |event: &Event| match *event {
            Event::Send { rank, comm, to, .. } => Some(PairKey { comm, src: rank, dst: to }),
            Event::Receive { rank, comm, from, .. } => Some(PairKey { comm, src: from, dst: rank }),
            Event::Post { rank, comm, from, .. } => from.map(|src| PairKey { comm, src, dst: rank }),
            _ => None,
        };
        let pairs = events.iter().filter_map(key).filter_map(|key| self.pairs.get(&key));
        std::hint::black_box(pairs.fold(0, |all, pair| all ^ pair.fetch()));
    }

    fn event(&mut self, event: &Event, out: &mut Matched) {
        match *event {
            Event::Send { rank, call, comm, to, tag, bytes, begin_ns, blocked_until_ns } => {
                let key = PairKey { comm, src: rank, dst: to };
                self.send(key, tag, PendingSend { call, number: 0, bytes, begin_ns, blocked_until_ns }, out);
            }
            Event::Post { rank, call, comm, from, tag, post, at_ns } => {
                let of_rank = self.of_rank(rank);
                of_rank.next_post = of_rank.next_post.max(post.saturating_add(1));
                match self.early.remove(&(rank, post)) {
                    Some(early) => self.post_arrived(early, (post, call, at_ns), out),
                    None => self.post(rank, comm, from, tag, (post, call, at_ns)),
                }
            }
            Event::Receive { rank, call, comm, from, tag, bytes, post, begin_ns, end_ns, alone } => {
                let key = PairKey { comm, src: from, dst: rank };
                let arrival = Arrival {
                    call,
                    post_call: call,
                    number: 0,
                    bytes,
                    posted_ns: begin_ns,
                    begin_ns,
                    end_ns,
                    alone,
                };
                self.receive(key, tag, post, arrival, out);
            }
            Event::Cancelled { rank, post } => self.unobserved(rank, Some(post), out),
            Event::Freed { rank, post } => self.freed(rank, post, out),
            Event::Lost { rank } => self.lost(rank, out),
            Event::Numbers { rank, comm, peer, sent, received } => {
                self.numbers(PairKey { comm, src: rank, dst: peer }, true, sent, out);
                self.numbers(PairKey { comm, src: peer, dst: rank }, false, received, out);
            }
        }
    }

    #[cold]
    fn forget_pairs(&mut self) {
        self.pairs.retain(|_, pair| pair.has_waiting());
        self.most_pairs = 2 * self.pairs.len();
    }

    fn of_rank(&mut self, rank: Rank) -> &mut RankPosts {
        let at = rank.index();
        if self.ranks.len() <= at {
            self.ranks.resize(at + 1, RankPosts::default());
        }
        &mut self.ranks[at]
    }

    fn send(&mut self, key: PairKey, tag: i32, mut send: PendingSend, out: &mut Matched) {
        let pair = self.pairs.entry(key).or_default();
        send.number = pair.sent;
        pair.sent = pair.sent.wrapping_add(1);
        if let Some(arrival) = pair.arrival_of(tag, &send) {
            self.turns.pending -= 1;
            self.turns.emit(key, pair, tag, (&send, &arrival), out);
            return;
        }
        let channel = pair.channels.channel_mut(tag);
        channel.sends.push_back(send);
        self.turns.pending += 1;
        if channel.receives.front().is_some_and(|receive| receive.freed) {
            self.release(key, tag, out);
        }
        self.keep_to_limits();
    }

    pub(super) fn next_order(&mut self, rank: Rank) -> u64 {
        let of_rank = self.of_rank(rank);
        of_rank.posted += 1;
        of_rank.posted
    }

    /// Records of a rank are missing: none of its posts so far is sure.
    fn lost(&mut self, rank: Rank, out: &mut Matched) {
        let of_rank = self.of_rank(rank);
        of_rank.sure_post = of_rank.next_post;
        self.unobserved(rank, None, out);
    }

    /// Takes in the post of a receive that has already arrived.
    #[inline]
    fn post_arrived(
        &mut self,
        (key, tag, mut arrival): (PairKey, i32, Arrival),
        (post, call, at_ns): (PostId, CallId, Nanoseconds),
        out: &mut Matched,
    ) {
        let order = self.next_order(key.dst);
        (arrival.posted_ns, arrival.post_call) = (at_ns, call);
        let receive = PostedReceive {
            order,
            post: Some(post),
            posted_ns: at_ns,
            post_call: call,
            freed: false,
            arrival: Some(arrival),
        };
        self.channel(key, tag).receives.push_back(receive);
        self.release(key, tag, out);
    }

    fn post(
        &mut self,
        rank: Rank,
        comm: Comm,
        from: Option<Rank>,
        tag: Option<i32>,
        (post, post_call, posted_ns): (PostId, CallId, Nanoseconds),
    ) {
        let order = self.next_order(rank);
        if let (Some(src), Some(tag)) = (from, tag) {
            let receive =
                PostedReceive { order, post: Some(post), posted_ns, post_call, freed: false, arrival: None };
            let pair = self.pairs.entry(PairKey { comm, src, dst: rank }).or_default();
            pair.channels.channel_mut(tag).receives.push_back(receive);
        } else {
            let wild = Wild { order, post, from, tag, posted_ns, post_call };
            self.turns.receivers.entry((comm, rank)).or_default().wild.push(wild);
        }
        self.turns.pending += 1;
        self.keep_to_limits();
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
        let known = post.and_then(|post| pair.channels.get_mut(tag)?.open(post));
        if let Some(receive) = known {
            (arrival.posted_ns, arrival.post_call) = (receive.posted_ns, receive.post_call);
            receive.arrival = Some(arrival);
            if matches!(self.turns.release(key, pair, tag, out), Release::TooMuch) {
                self.keep_to_limits();
                self.release(key, tag, out);
            }
            return;
        }
        let receiver = self.turns.receivers.get_mut(&(key.comm, key.dst));
        let wild = post.zip(receiver).and_then(|(post, receiver)| receiver.take_wild(post));
        let Some((wild, blocked)) = wild else {
            return self.receive_unposted(key, tag, post, arrival, out);
        };
        (arrival.posted_ns, arrival.post_call) = (wild.posted_ns, wild.post_call);
        let receive = PostedReceive {
            order: wild.order,
            post: Some(wild.post),
            posted_ns: wild.posted_ns,
            post_call: wild.post_call,
            freed: false,
            arrival: Some(arrival),
        };
        self.channel(key, tag).insert(receive);
        self.release(key, tag, out);
        self.retry(key.comm, key.dst, blocked, out);
    }

    /// Takes in a receive that no known post belongs to.
    #[inline]
    fn receive_unposted(
        &mut self,
        key: PairKey,
        tag: i32,
        post: Option<PostId>,
        arrival: Arrival,
        out: &mut Matched,
    ) {
        let sure = self.of_rank(key.dst).sure_post;
        if let Some(post) = post.filter(|&post| post >= sure) {
            self.turns.pending += 1;
            self.early.insert((key.dst, post), (key, tag, arrival));
            self.keep_to_limits();
            return;
        }
        // Posted by this same call, or by one whose record was lost: that was before all that are seen.
        let receive = PostedReceive {
            order: if post.is_some() { 0 } else { self.next_order(key.dst) },
            post: None,
            posted_ns: arrival.posted_ns,
            post_call: arrival.post_call,
            freed: false,
            arrival: Some(arrival),
        };
        self.turns.pending += 1;
        self.channel(key, tag).insert(receive);
        self.release(key, tag, out);
    }

    pub(super) fn channel(&mut self, key: PairKey, tag: i32) -> &mut Channel {
        self.pairs.entry(key).or_default().channels.channel_mut(tag)
    }

    /// Pairs what stands at the front of a channel as far as its turn has come.
    pub(super) fn release(&mut self, key: PairKey, tag: i32, out: &mut Matched) {
        while let Some(pair) = self.pairs.get_mut(&key) {
            match self.turns.release(key, pair, tag, out) {
                Release::Done => return,
                Release::TooMuch => self.keep_to_limits(),
            }
        }
    }

    fn retry(&mut self, comm: Comm, dst: Rank, blocked: Vec<(Rank, i32)>, out: &mut Matched) {
        for (src, tag) in blocked {
            self.release(PairKey { comm, src, dst }, tag, out);
        }
    }
}

#[cfg(test)]
mod tests;
