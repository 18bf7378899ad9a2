//! One pair of ranks on one communicator: its channels, one a tag, in the order of posting.

use mpiscope_model::{CallId, Comm, Event, Nanoseconds, PostId, Rank};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Which pair: messages on a communicator from one rank to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct PairKey {
    pub(crate) comm: Comm,
    pub(crate) src: Rank,
    pub(crate) dst: Rank,
}

/// Takes the first. An empty queue begins anew at the front of its memory, to use little of it.
pub(crate) fn take_first<T>(queue: &mut VecDeque<T>) -> Option<T> {
    let first = queue.pop_front();
    if queue.is_empty() {
        queue.clear();
    }
    first
}

/// A send that waits for its receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingSend {
    pub(crate) call: CallId,
    /// Its number among all messages of the pair, whatever their tag.
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    pub(crate) begin_ns: Nanoseconds,
    pub(crate) blocked_until_ns: Option<Nanoseconds>,
}

/// A receive that completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) call: CallId,
    /// The call that posted it.
    pub(crate) post_call: CallId,
    /// Its number among all receives of the pair, in the order of completion.
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    pub(crate) posted_ns: Nanoseconds,
    pub(crate) begin_ns: Nanoseconds,
    pub(crate) end_ns: Nanoseconds,
    pub(crate) alone: bool,
}

/// A receive in the order of posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PostedReceive {
    /// Its place in the order in which its rank posted receives.
    pub(crate) order: u64,
    /// The number of its post; none when it was posted by the call that completed it.
    pub(crate) post: Option<PostId>,
    pub(crate) posted_ns: Nanoseconds,
    pub(crate) post_call: CallId,
    /// It was freed: the next send is its own, unseen.
    pub(crate) freed: bool,
    /// What arrived, once it has.
    pub(crate) arrival: Option<Arrival>,
}

/// One tag of a pair.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    /// Sends given up at the front: a receive that would have been theirs stays without one.
    pub(crate) given_up: u64,
    pub(crate) sends: VecDeque<PendingSend>,
    /// Receives whose turn has come and whose send is not known yet.
    pub(crate) ready: VecDeque<Arrival>,
    /// Receives in the order of posting, open ones and such that completed before their turn.
    pub(crate) receives: VecDeque<PostedReceive>,
}

/// Tags beside the first that a pair may have used before those that nothing waits for are forgotten.
const FEW_TAGS: usize = 64;

/// The channels of a pair. Most pairs use one tag, which needs no search.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    first: Option<(i32, Channel)>,
    others: FxHashMap<i32, Channel>,
    /// Idle ones are forgotten when there are more than this number, or than a few.
    most: usize,
}

impl Channels {
    /// That of a tag, if there is any.
    #[inline]
    pub(crate) fn get_mut(&mut self, tag: i32) -> Option<&mut Channel> {
        match &mut self.first {
            Some((of, channel)) if *of == tag => Some(channel),
            _ => self.others.get_mut(&tag),
        }
    }

    /// That of a tag.
    #[inline]
    pub(crate) fn channel_mut(&mut self, tag: i32) -> &mut Channel {
        if self.others.len() > self.most.max(FEW_TAGS) {
            self.forget_idle();
        }
        let (of, channel) = self.first.get_or_insert_with(|| (tag, Channel::default()));
        if *of == tag { channel } else { self.others.entry(tag).or_default() }
    }

    /// Programs that number their messages by tags use each tag once. The next look comes after twice as many, which
    /// keeps the looks cheap overall.
    #[cold]
    fn forget_idle(&mut self) {
        self.others.retain(|_, channel| !channel.is_idle());
        self.most = 2 * self.others.len() + 1;
    }

    /// Whether there never was a second.
    fn is_one(&self) -> bool {
        self.others.is_empty() && self.most == 0
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i32, &Channel)> {
        let first = self.first.iter().map(|(tag, channel)| (*tag, channel));
        first.chain(self.others.iter().map(|(&tag, channel)| (tag, channel)))
    }

    /// Likewise.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (i32, &mut Channel)> {
        let first = self.first.iter_mut().map(|(tag, channel)| (*tag, channel));
        first.chain(self.others.iter_mut().map(|(&tag, channel)| (tag, channel)))
    }

    /// Likewise, without their tags.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Channel> {
        self.iter().map(|(_, channel)| channel)
    }
}

impl Channel {
    /// Whether it is as one that was never used.
    fn is_idle(&self) -> bool {
        self.given_up == 0 && !self.has_waiting()
    }

    fn has_waiting(&self) -> bool {
        !(self.sends.is_empty() && self.ready.is_empty() && self.receives.is_empty())
    }

    /// Puts a receive where its place in the order is.
    pub(crate) fn insert(&mut self, receive: PostedReceive) {
        let behind = self.receives.iter().rev().take_while(|other| other.order > receive.order).count();
        self.receives.insert(self.receives.len() - behind, receive);
    }

    /// The open receive of a post.
    pub(crate) fn open(&mut self, post: PostId) -> Option<&mut PostedReceive> {
        self.receives.iter_mut().find(|receive| receive.post == Some(post) && receive.arrival.is_none())
    }
}

/// What went from one rank to another on one communicator.
#[derive(Debug, Default)]
pub(crate) struct Pair {
    pub(crate) channels: Channels,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Calls of this pair were lost: sends and receives are paired by number until both sides agree again.
    pub(crate) uncertain: bool,
    /// Sends of this pair that were never seen, since both sides last agreed.
    pub(crate) lost_sends: u64,
    /// Receives, likewise.
    pub(crate) lost_receives: u64,
    /// From this number on everything of both sides is seen, where nothing else than numbers makes it doubtful.
    pub(crate) seen_from: Option<u64>,
}

/// What was given up when both sides agreed again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GivenUp {
    pub(crate) sends: u64,
    pub(crate) receives: u64,
}

impl Pair {
    /// Whether something of it waits for its other side.
    pub(crate) fn has_waiting(&self) -> bool {
        self.channels.values().any(Channel::has_waiting)
    }

    /// Both sides have the same numbers and no receive is open: waiting entries are then no more than what the other
    /// side lost. They are given up, and later ones are paired with certainty. Further entries came in another order
    /// than they were sent; they are handed out as pairs first.
    pub(crate) fn settle(&mut self) -> (GivenUp, Vec<(i32, PendingSend, Arrival)>) {
        let open = self.channels.values().any(|channel| !channel.receives.is_empty());
        if !self.uncertain {
            return Default::default();
        }
        if open || self.sent != self.received {
            return (self.settle_behind().unwrap_or_default(), Vec::new());
        }
        let mut left = self.waiting();
        let mut crossed = Vec::new();
        if left.sends > self.lost_receives || left.receives > self.lost_sends {
            for (tag, channel) in self.channels.iter_mut() {
                channel.sends.retain(|send| {
                    let fits = |arrival: &Arrival| may_be_as_long(arrival.bytes, send.bytes);
                    let arrival = channel.ready.iter().position(fits).and_then(|at| channel.ready.remove(at));
                    crossed.extend(arrival.map(|arrival| (tag, *send, arrival)));
                    arrival.is_none()
                });
            }
            left = self.waiting();
        }
        if left.sends <= self.lost_receives && left.receives <= self.lost_sends {
            self.channels = Channels::default();
            self.is_certain();
            return (left, crossed);
        }
        (GivenUp::default(), crossed)
    }

    fn is_certain(&mut self) {
        (self.uncertain, self.lost_sends, self.lost_receives, self.seen_from) = (false, 0, 0, None);
    }

    /// One side is ahead of the other, as when events arrive rank by rank: both had the same numbers where the slower
    /// one is. Messages of one tag arrive in the order of their sends: lower numbers are given up, as above.
    fn settle_behind(&mut self) -> Option<GivenUp> {
        let agreed = self.sent.min(self.received);
        self.seen_from.filter(|&from| from <= agreed && self.is_numbered())?;
        let mut before = GivenUp::default();
        for channel in self.channels.values() {
            // Receives that are open take what comes; one that is complete behind them came in another order.
            if channel.receives.iter().any(|receive| receive.arrival.is_some() || receive.freed) {
                return None;
            }
            // Receives wait in the order in which they were posted, and have the numbers in which they were complete.
            before.sends += channel.sends.partition_point(|send| send.number < agreed) as u64;
            before.receives += channel.ready.iter().filter(|arrival| arrival.number < agreed).count() as u64;
        }
        if before.sends > self.lost_receives || before.receives > self.lost_sends {
            return None;
        }
        for (_, channel) in self.channels.iter_mut() {
            channel.sends.drain(..channel.sends.partition_point(|send| send.number < agreed));
            channel.ready.retain(|arrival| arrival.number >= agreed);
        }
        self.is_certain();
        Some(before)
    }

    /// Reads part of the first waiting tag, to bring it into the cache. The value means nothing.
    pub(crate) fn fetch(&self) -> u64 {
        self.channels.first.as_ref().map_or(0, |(_, channel)| {
            let send = channel.sends.front().map_or(0, |send| send.bytes);
            let arrival = channel.ready.front().map_or(0, |arrival| arrival.bytes);
            send ^ arrival ^ channel.receives.front().map_or(0, |receive| receive.order)
        })
    }

    fn waiting(&self) -> GivenUp {
        let mut waiting = GivenUp::default();
        for channel in self.channels.values() {
            waiting.sends += channel.sends.len() as u64;
            waiting.receives += channel.ready.len() as u64;
        }
        waiting
    }

    /// Both sides have true numbers, and one tag: those of a message are the same.
    fn is_numbered(&self) -> bool {
        self.seen_from.is_some() && self.channels.is_one()
    }

    /// The send of a receive whose turn has come. If ambiguous, one that is no later: a receive may have been lost,
    /// but none comes before its send.
    pub(crate) fn send_of(&mut self, tag: i32, arrival: &Arrival) -> Option<PendingSend> {
        let is_numbered = self.is_numbered();
        let sends = &mut self.channels.get_mut(tag)?.sends;
        take_side(sends, arrival, &mut self.uncertain, |send| !is_numbered && send.number < arrival.number)
    }

    /// The receive of a send, likewise.
    pub(crate) fn arrival_of(&mut self, tag: i32, send: &PendingSend) -> Option<Arrival> {
        let is_numbered = self.is_numbered();
        let ready = &mut self.channels.get_mut(tag)?.ready;
        take_side(ready, send, &mut self.uncertain, |arrival| !is_numbered && arrival.number > send.number)
    }
}

/// One side of a message that waits for the other.
trait Side {
    /// Its number among those of the pair.
    fn number(&self) -> u64;
    fn bytes(&self) -> u64;
}

impl Side for PendingSend {
    fn number(&self) -> u64 {
        self.number
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Side for Arrival {
    fn number(&self) -> u64 {
        self.number
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Whether two sides may have the same size; a receive may not know its own.
fn may_be_as_long(one: u64, other: u64) -> bool {
    one == other || one == Event::UNKNOWN_BYTES || other == Event::UNKNOWN_BYTES
}

/// Takes the oldest entry of the other side. Different sizes prove lost calls before anyone reports them. From there
/// on the match is ambiguous: it is the one with the same number if its size agrees, else the oldest possible one of
/// this size.
fn take_side<T: Side>(
    waiting: &mut VecDeque<T>,
    other: &impl Side,
    uncertain: &mut bool,
    may_be: impl Fn(&T) -> bool,
) -> Option<T> {
    let same = |side: &T| may_be_as_long(side.bytes(), other.bytes());
    if !*uncertain {
        if same(waiting.front()?) {
            return take_first(waiting);
        }
        *uncertain = true;
    }
    // Numbers grow along the queue.
    let exact = waiting.binary_search_by_key(&other.number(), Side::number).ok();
    let exact = exact.filter(|&at| same(&waiting[at]));
    let at = exact.or_else(|| waiting.iter().position(|side| may_be(side) && same(side)))?;
    waiting.remove(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(number: u64) -> PendingSend {
        PendingSend { call: CallId::new(0, 0), number, bytes: 1, begin_ns: 0, blocked_until_ns: None }
    }

    #[test]
    fn tags_that_nothing_waits_for_are_forgotten_and_others_are_not() {
        let mut channels = Channels::default();
        for tag in 0..10_000 {
            let channel = channels.channel_mut(tag);
            channel.sends.push_back(send(tag as u64));
            // Of every tenth nothing comes; of one more was given up.
            if tag % 10 != 0 {
                take_first(&mut channel.sends);
            }
            channel.given_up = u64::from(tag == 77);
        }
        assert!(channels.iter().count() < 2500, "{}", channels.iter().count());
        let waiting = |channels: &mut Channels, tag| channels.get_mut(tag).map(|channel| channel.sends.len());
        assert!((0..10_000).step_by(10).all(|tag| waiting(&mut channels, tag) == Some(1)));
        assert_eq!(channels.get_mut(77).map(|channel| channel.given_up), Some(1));
        assert_eq!(waiting(&mut channels, 78), None);
    }
}
