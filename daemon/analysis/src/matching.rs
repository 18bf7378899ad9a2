//! Matching: sends and receives of one (communicator, source, destination, tag) pair up in the order of posting.
//!
//! A receive that completed waits for its turn: every receive that its rank posted before and that could have taken
//! the same message must be resolved first. Those of the same channel stand before it in the channel; those with
//! wildcards stand in a list of their own.

mod doubt;
mod receiver;

pub use receiver::ToReceiver;

use crate::pair::{Arrival, Pair, PendingSend, Slot};
use mpiscope_model::{CallId, Comm, Event, Message, Nanoseconds, Node, PostId, Rank};
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
    /// Which calls made each of them, one for one; nothing where nobody asks.
    pub links: Vec<Link>,
    /// Of them, those paired by best fit.
    pub uncertain: u64,
}

impl Matched {
    /// Adds what came later.
    pub fn append(&mut self, mut later: Self) {
        self.messages.append(&mut later.messages);
        self.links.append(&mut later.links);
        self.uncertain += later.uncertain;
    }
}

/// The calls behind a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The sender's call.
    pub send: CallId,
    /// The receiver's call that completed the receive.
    pub receive: CallId,
    /// The receiver's call that posted it.
    pub post: CallId,
    /// When it was posted (`p0`).
    pub posted_ns: Nanoseconds,
    /// When the call that completed it began to wait (`c0`).
    pub waiting_ns: Nanoseconds,
    /// Whether the two certainly belong together.
    pub certain: bool,
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
    post_call: CallId,
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
    /// Whether somebody asks which calls made a message.
    links: bool,
    pairs: FxHashMap<PairKey, Pair>,
    receivers: FxHashMap<(Comm, Rank), Receiver>,
    /// The order in which each rank posted receives.
    orders: FxHashMap<Rank, u64>,
    /// Receives that completed in one thread before the posting in another was read.
    early: FxHashMap<(Rank, PostId), (PairKey, i32, Arrival)>,
    /// By rank, the first post that no loss can have taken.
    sure_posts: FxHashMap<Rank, PostId>,
    /// By rank, the post after the last that was seen.
    next_posts: FxHashMap<Rank, PostId>,
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

    /// Says too which calls made each message.
    #[must_use]
    pub fn with_links(self) -> Self {
        Self { links: true, ..self }
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
        (waiting + self.early.len()) as u64 + self.given_up_receives
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
            Event::Send { rank, call, comm, to, tag, bytes, begin_ns, blocked_until_ns } => {
                let key = PairKey { comm, src: rank, dst: to };
                self.send(key, tag, PendingSend { call, number: 0, bytes, begin_ns, blocked_until_ns }, out);
            }
            Event::Post { rank, call, comm, from, tag, post, at_ns } => {
                let next = self.next_posts.entry(rank).or_default();
                *next = (*next).max(post.saturating_add(1));
                if let Some((key, tag, mut arrival)) = self.early.remove(&(rank, post)) {
                    let order = self.next_order(rank);
                    (arrival.posted_ns, arrival.post_call) = (at_ns, call);
                    let slot = Slot {
                        order,
                        post: Some(post),
                        posted_ns: at_ns,
                        post_call: call,
                        freed: false,
                        arrival: Some(arrival),
                    };
                    self.channel(key, tag).slots.push_back(slot);
                    self.release(key, tag, out);
                } else {
                    self.post(rank, comm, from, tag, (post, call, at_ns));
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
            Event::Lost { rank } => {
                let next = self.next_posts.get(&rank).copied().unwrap_or_default();
                self.sure_posts.insert(rank, next);
                self.unobserved(rank, None, out);
            }
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
        if let Some(arrival) = pair.arrival_of(tag, &send) {
            self.pending -= 1;
            self.emit(key, tag, &send, &arrival, out);
            return;
        }
        let channel = pair.channels.entry(tag).or_default();
        channel.sends.push_back(send);
        self.pending += 1;
        if channel.slots.front().is_some_and(|slot| slot.freed) {
            self.release(key, tag, out);
        }
        self.keep_to_limits();
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
        (post, post_call, posted_ns): (PostId, CallId, Nanoseconds),
    ) {
        let order = self.next_order(rank);
        if let (Some(src), Some(tag)) = (from, tag) {
            let slot = Slot { order, post: Some(post), posted_ns, post_call, freed: false, arrival: None };
            let pair = self.pairs.entry(PairKey { comm, src, dst: rank }).or_default();
            pair.channels.entry(tag).or_default().slots.push_back(slot);
        } else {
            let wild = Wild { order, post, from, tag, posted_ns, post_call };
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
            (arrival.posted_ns, arrival.post_call) = (slot.posted_ns, slot.post_call);
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
            let sure = self.sure_posts.get(&key.dst).copied().unwrap_or_default();
            if let Some(post) = post.filter(|&post| post >= sure) {
                self.pending += 1;
                self.early.insert((key.dst, post), (key, tag, arrival));
                return;
            }
            // Posted by this same call, or by one whose record was lost.
            let slot = Slot {
                order: self.next_order(key.dst),
                post: None,
                posted_ns: arrival.posted_ns,
                post_call: arrival.post_call,
                freed: false,
                arrival: Some(arrival),
            };
            self.pending += 1;
            self.channel(key, tag).slots.push_back(slot);
            self.release(key, tag, out);
            return;
        };
        (arrival.posted_ns, arrival.post_call) = (wild.posted_ns, wild.post_call);
        let slot = Slot {
            order: wild.order,
            post: Some(wild.post),
            posted_ns: wild.posted_ns,
            post_call: wild.post_call,
            freed: false,
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
            if channel.slots.front().is_some_and(|slot| slot.freed) {
                if channel.sends.pop_front().is_none() {
                    return;
                }
                channel.slots.pop_front();
                self.pending -= 2;
                self.given_up_sends += 1;
                continue;
            }
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
            if let Some(send) = pair.send_of(tag, &arrival) {
                self.pending -= 2;
                self.emit(key, tag, &send, &arrival, out);
            } else {
                self.channel(key, tag).ready.push_back(arrival);
                self.keep_to_limits();
            }
        }
    }

    fn emit(&mut self, key: PairKey, tag: i32, send: &PendingSend, arrival: &Arrival, out: &mut Matched) {
        let certain = self.pairs.get(&key).is_some_and(|pair| !pair.uncertain);
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
        if self.links {
            out.links.push(Link {
                send: send.call,
                receive: arrival.call,
                post: arrival.post_call,
                posted_ns: arrival.posted_ns,
                waiting_ns: c0,
                certain,
            });
        }
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
mod tests;
