//! Sends and receives without an end: lost, cancelled, too many, or still open at the end of the run.

use super::matched::Matched;
use super::matcher::Matcher;
use super::receive_order::Receiver;
use crate::pair::{Channel, PairKey, PostedReceive};
use mpiscope_model::{PostId, Rank};

/// When the fullest channel has less than this part of all that waits, no channel has much.
const FEW: usize = 1024;

impl Matcher {
    /// A posted receive (or, after a loss, all of a rank's) will not be seen to complete as it was posted.
    pub(super) fn unobserved(&mut self, rank: Rank, post: Option<PostId>, out: &mut Matched) {
        let gone = |other: PostId| post.is_none_or(|post| post == other);
        let (mut freed, mut doubtful) = (Vec::new(), Vec::new());
        for (&(comm, _), receiver) in self.turns.receivers.iter_mut().filter(|((_, dst), _)| *dst == rank) {
            let before = receiver.wild.len();
            receiver.wild.retain(|wild| !gone(wild.post));
            let removed = before - receiver.wild.len();
            self.turns.pending -= removed;
            if removed > 0 && post.is_none() {
                doubtful.push(comm);
            }
            freed
                .extend(std::mem::take(&mut receiver.blocked).into_iter().map(|(src, tag)| (comm, src, tag)));
        }
        for (key, pair) in self.pairs.iter_mut().filter(|(key, _)| key.dst == rank) {
            // It is unknown which of its senders a lost wildcard receive took.
            pair.uncertain |= doubtful.contains(&key.comm);
            for (tag, channel) in pair.channels.iter_mut() {
                let before = channel.receives.len();
                channel
                    .receives
                    .retain(|receive| receive.arrival.is_some() || !receive.post.is_some_and(gone));
                let removed = before - channel.receives.len();
                self.turns.pending -= removed;
                if removed > 0 {
                    // After a loss it is unknown whether a receive took a message, until the numbers arrive that come
                    // first afterwards. A cancelled one did not.
                    if post.is_none() && !std::mem::replace(&mut pair.uncertain, true) {
                        pair.seen_from = Some(0);
                    }
                    freed.push((key.comm, key.src, tag));
                }
            }
        }
        for (comm, src, tag) in freed {
            self.release(PairKey { comm, src, dst: rank }, tag, out);
        }
    }

    /// A posted receive was freed. One for a certain channel stays in its place and takes its own send; the channel of
    /// one with wildcards is unknown.
    pub(super) fn freed(&mut self, rank: Rank, post: PostId, out: &mut Matched) {
        let mine = self.pairs.iter_mut().filter(|(key, _)| key.dst == rank);
        let found = mine
            .flat_map(|(&key, pair)| pair.channels.iter_mut().map(move |(tag, channel)| (key, tag, channel)))
            .find_map(|(key, tag, channel)| channel.open(post).map(|receive| (key, tag, receive)));
        if let Some((key, tag, receive)) = found {
            receive.freed = true;
            self.release(key, tag, out);
            return;
        }
        let wild = |receiver: &Receiver| receiver.wild.iter().any(|wild| wild.post == post);
        let comm = self.turns.receivers.iter().find(|((_, dst), receiver)| *dst == rank && wild(receiver));
        if let Some((&(comm, _), _)) = comm {
            for (_, pair) in self.pairs.iter_mut().filter(|(key, _)| (key.comm, key.dst) == (comm, rank)) {
                pair.uncertain = true;
            }
            self.unobserved(rank, Some(post), out);
        }
    }

    /// One side reports the true number of messages of the pair.
    pub(super) fn numbers(&mut self, key: PairKey, sends: bool, really: u64, out: &mut Matched) {
        let pair = self.pairs.entry(key).or_default();
        let (seen, lost) = if sends {
            (&mut pair.sent, &mut pair.lost_sends)
        } else {
            (&mut pair.received, &mut pair.lost_receives)
        };
        if really > *seen {
            // A job may report any number.
            *lost = lost.saturating_add(really - *seen);
            *seen = really;
            // Where it was doubtful already, numbers alone do not show from where on it is not.
            let known = pair.seen_from.or((!pair.uncertain).then_some(0));
            pair.seen_from = known.map(|from| from.max(really));
            pair.uncertain = true;
        }
        self.turns.settle(key, pair, out);
    }

    /// The run has ended: open posts will not complete. Those before a completed receive of the same channel took a
    /// message each, or that message would have been theirs.
    pub fn finish(&mut self) -> Matched {
        let mut out = Matched::default();
        for ((rank, _), (key, tag, arrival)) in std::mem::take(&mut self.early) {
            // Its posting never came.
            let receive = PostedReceive {
                order: self.next_order(rank),
                post: None,
                posted_ns: arrival.begin_ns,
                post_call: arrival.post_call,
                freed: false,
                arrival: Some(arrival),
            };
            self.pairs.entry(key).or_default().uncertain = true;
            self.channel(key, tag).receives.push_back(receive);
        }
        let mut blocked = Vec::new();
        for (&(comm, dst), receiver) in &mut self.turns.receivers {
            self.turns.pending -= receiver.wild.len();
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
            .flat_map(|(&key, pair)| pair.channels.iter().map(move |(tag, _)| (key, tag)))
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
            let Some(receive) = channel.receives.pop_front() else { return };
            self.turns.pending -= 1;
            // The release above stopped at it, so it is open.
            debug_assert!(receive.arrival.is_none());
            let channel = self.channel(key, tag);
            if channel.receives.iter().any(|later| later.arrival.is_some())
                && channel.sends.pop_front().is_some()
            {
                self.turns.given_up_sends += 1;
                self.turns.pending -= 1;
            }
        }
    }

    /// Too much waits: gives up the older half of the fullest channel, and its partners. Half, to make the next time
    /// rare.
    pub(super) fn keep_to_limits(&mut self) {
        if !self.turns.has_too_much() {
            return;
        }
        let weight = |channel: &Channel| channel.sends.len().max(channel.ready.len());
        let fullest = self
            .pairs
            .iter()
            .flat_map(|(&key, pair)| {
                pair.channels.iter().map(move |(tag, channel)| (weight(channel), key, tag))
            })
            .max_by_key(|(waiting, ..)| *waiting);
        let (waiting, key, tag) = fullest.unwrap_or_default();
        if waiting < self.turns.pending / FEW {
            self.give_up_all();
            return;
        }
        let count = waiting.div_ceil(2);
        let channel = self.channel(key, tag);
        if channel.sends.len() >= channel.ready.len() {
            channel.sends.drain(..count);
            channel.given_up += count as u64;
            self.turns.given_up_sends += count as u64;
        } else {
            channel.ready.drain(..count);
            self.turns.given_up_receives += count as u64;
            // Their sends, should they still come, would take the next receives: from here on the match is ambiguous.
            if let Some(pair) = self.pairs.get_mut(&key) {
                pair.uncertain = true;
            }
        }
        self.turns.pending -= count;
    }

    /// Too much waits, spread over many channels: looking for a little again and again would take all the time. All
    /// that waits is given up, open receives too; the pairs are then as after a loss.
    fn give_up_all(&mut self) {
        for of_rank in &mut self.ranks {
            of_rank.sure_post = of_rank.next_post;
        }
        self.turns.given_up_receives += self.early.len() as u64;
        self.early.clear();
        self.turns.receivers.clear();
        for pair in self.pairs.values_mut().filter(|pair| pair.has_waiting()) {
            pair.uncertain = true;
            for (_, channel) in pair.channels.iter_mut() {
                let arrived = channel.receives.iter().filter(|receive| receive.arrival.is_some()).count();
                self.turns.given_up_sends += channel.sends.len() as u64;
                self.turns.given_up_receives += (channel.ready.len() + arrived) as u64;
                *channel = Channel::default();
            }
        }
        self.turns.pending = 0;
    }
}
