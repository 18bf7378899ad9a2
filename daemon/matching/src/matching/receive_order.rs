//! When the turn of a receive has come, and the message that it and its send make.

use super::limits::MatchingLimits;
use super::matched::{Link, Matched};
use crate::pair::{Arrival, Pair, PairKey, PendingSend, PostedReceive, take_first};
use mpiscope_model::{CallId, Comm, Message, Nanoseconds, Node, PostId, Rank};
use rustc_hash::FxHashMap;

/// An open receive with wildcards.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wild {
    pub(super) order: u64,
    pub(super) post: PostId,
    pub(super) from: Option<Rank>,
    pub(super) tag: Option<i32>,
    pub(super) posted_ns: Nanoseconds,
    pub(super) post_call: CallId,
}

impl Wild {
    fn could_take(&self, src: Rank, tag: i32) -> bool {
        self.from.is_none_or(|from| from == src) && self.tag.is_none_or(|wanted| wanted == tag)
    }
}

/// The receives of one rank on one communicator that could take messages of several channels.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    pub(super) wild: Vec<Wild>,
    /// Channels whose next receive waits for one of them.
    pub(super) blocked: Vec<(Rank, i32)>,
}

impl Receiver {
    /// Takes the receive from any source that was posted as `post`, and the channels that may have waited for it.
    #[inline]
    pub(super) fn take_wild(&mut self, post: PostId) -> Option<(Wild, Vec<(Rank, i32)>)> {
        let at = self.wild.iter().position(|wild| wild.post == post)?;
        Some((self.wild.remove(at), std::mem::take(&mut self.blocked)))
    }
}

/// What became of a channel.
#[derive(Debug, Clone, Copy)]
pub(super) enum Release {
    /// Nobody's turn has come any more.
    Done,
    /// More waits than may; when that was seen to, this goes on.
    TooMuch,
}

/// What all pairs have to do with each other.
#[derive(Debug, Default)]
pub(super) struct Turns {
    pub(super) limits: MatchingLimits,
    /// Whether the calls of messages are wanted.
    pub(super) links: bool,
    pub(super) receivers: FxHashMap<(Comm, Rank), Receiver>,
    node_of_rank: Vec<Option<Node>>,
    pub(super) pending: usize,
    pub(super) given_up_sends: u64,
    pub(super) given_up_receives: u64,
}

impl Turns {
    pub(super) fn within(limits: MatchingLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub(super) fn place(&mut self, rank: Rank, node: Node) {
        let at = rank.index();
        if self.node_of_rank.len() <= at {
            self.node_of_rank.resize(at + 1, None);
        }
        self.node_of_rank[at] = Some(node);
    }

    pub(super) fn has_too_much(&self) -> bool {
        self.pending > self.limits.pending
    }

    /// Pairs what stands at the front of a channel as far as its turn has come.
    pub(super) fn release(&mut self, key: PairKey, pair: &mut Pair, tag: i32, out: &mut Matched) -> Release {
        loop {
            let Some(channel) = pair.channels.get_mut(tag) else { return Release::Done };
            let Some(receive) = channel.receives.front() else { return Release::Done };
            if receive.freed {
                if channel.sends.pop_front().is_none() {
                    return Release::Done;
                }
                channel.receives.pop_front();
                self.pending -= 2;
                self.given_up_sends += 1;
                continue;
            }
            let &PostedReceive { order, arrival: Some(arrival), .. } = receive else { return Release::Done };
            if self.is_held_back(key, tag, order) {
                return Release::Done;
            }
            take_first(&mut channel.receives);
            if channel.given_up > 0 {
                channel.given_up -= 1;
                self.pending -= 1;
                self.given_up_receives += 1;
                continue;
            }
            if let Some(send) = pair.send_of(tag, &arrival) {
                self.pending -= 2;
                self.emit(key, pair, tag, (&send, &arrival), out);
            } else {
                pair.channels.channel_mut(tag).ready.push_back(arrival);
                if self.has_too_much() {
                    return Release::TooMuch;
                }
            }
        }
    }

    /// Whether a receive that was posted before could still take what would be this one's; if so, the channel is
    /// remembered.
    fn is_held_back(&mut self, key: PairKey, tag: i32, order: u64) -> bool {
        let Some(receiver) = self.receivers.get_mut(&(key.comm, key.dst)) else { return false };
        let is_held_back =
            receiver.wild.iter().any(|wild| wild.order < order && wild.could_take(key.src, tag));
        if is_held_back && !receiver.blocked.contains(&(key.src, tag)) {
            receiver.blocked.push((key.src, tag));
        }
        is_held_back
    }

    pub(super) fn emit(
        &mut self,
        key: PairKey,
        pair: &mut Pair,
        tag: i32,
        sides: (&PendingSend, &Arrival),
        out: &mut Matched,
    ) {
        let certain = !pair.uncertain;
        self.message(key, tag, sides, certain, out);
        if !certain {
            self.settle(key, pair, out);
        }
    }

    /// If both sides agree again, lost messages are given up.
    pub(super) fn settle(&mut self, key: PairKey, pair: &mut Pair, out: &mut Matched) {
        let (given_up, crossed) = pair.settle();
        self.given_up_sends += given_up.sends;
        self.given_up_receives += given_up.receives;
        self.pending -= (given_up.sends + given_up.receives) as usize + 2 * crossed.len();
        for (tag, send, arrival) in &crossed {
            self.message(key, *tag, (send, arrival), false, out);
        }
    }

    fn message(
        &self,
        key: PairKey,
        tag: i32,
        (send, arrival): (&PendingSend, &Arrival),
        certain: bool,
        out: &mut Matched,
    ) {
        out.uncertain += u64::from(!certain);
        let (s0, c0, r1) = (send.begin_ns, arrival.begin_ns, arrival.end_ns);
        let node = |rank: Rank| self.node_of_rank.get(rank.index()).copied().flatten();
        let inter = match (node(key.src), node(key.dst)) {
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
