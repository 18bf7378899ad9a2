//! One thread: its calls that are not settled yet, the path that led to where it stands, and the paths that led to
//! calls that others may still ask for.

use super::causes::Causes;
use super::inbox::{Inbox, Place};
use super::observation::Observed;
use super::settled_calls::{Passed, SettledCalls};
use mpiscope_model::{Activity, Collected, Effect, Function, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A thread's place among all threads.
pub(super) type ThreadId = u32;

/// A message that a call received.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Incoming {
    /// The call that sent it.
    pub(super) from: ThreadId,
    pub(super) number: u64,
    pub(super) send_ns: Nanoseconds,
    /// When its receive was posted.
    pub(super) posted_ns: Nanoseconds,
    pub(super) bytes: u64,
    pub(super) inter: bool,
    pub(super) certain: bool,
}

/// The receive that a send was waiting for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outgoing {
    pub(super) to: ThreadId,
    pub(super) post: u64,
    pub(super) posted_ns: Nanoseconds,
}

/// What became known of a call that is not settled. It is small and apart from what the call did, since messages of any
/// calls become known one after the other.
#[derive(Debug)]
struct Note {
    /// How many messages it received, how many it will, and where they are.
    received: u32,
    receives: u16,
    incoming: Place,
    /// Where the receive is that it waits for, if it is a send that may have waited for one.
    outgoing: Place,
    may_block: bool,
    /// References to it that are gone already.
    unpinned: u32,
}

/// From when to when.
pub(super) type Row = (Nanoseconds, Nanoseconds);

/// A loop of polls, or a probe: the next call shows what it waited for.
#[derive(Debug, Default)]
pub(super) struct Loop {
    pub(super) rows: Vec<Row>,
}

/// One thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) rank: Rank,
    /// Which thread of the rank.
    pub(super) thread: u16,
    /// The number of the first call of the queue.
    pub(super) number: u64,
    pub(super) queue: VecDeque<Activity>,
    /// One for each call of the queue.
    notes: VecDeque<Note>,
    incoming: Inbox<Incoming>,
    outgoing: Inbox<Option<Outgoing>>,
    /// Messages that a call received beyond its announced number, with its number.
    surplus: Vec<(u64, Incoming)>,
    /// Collectives that calls of the queue completed.
    collected: VecDeque<Collected>,
    /// What the path to `at_ns` was made of; sums to it.
    pub(super) path: Causes,
    pub(super) at_ns: Nanoseconds,
    /// Whether the first call of the queue was entered: then the path leads to its entry.
    pub(super) is_entered: bool,
    pub(super) open: Loop,
    kept: SettledCalls,
    /// Who waits for the path to which call.
    pub(super) waiters: Vec<(u64, ThreadId)>,
    /// Other shards that need the path to a call, the next call first.
    pub(super) owed: BinaryHeap<Reverse<(u64, u16)>>,
    pub(super) is_listed: bool,
    /// The first call of the queue was waited for too long.
    pub(super) is_forced: bool,
    /// The function of the last call that is settled.
    last: Function,
    /// How long the thread usually computes, from a function to another.
    usual: Vec<Usual>,
    /// What its calls showed in the window at hand.
    pub(super) observed: Observed,
    /// Where another shard settles its calls, what is known of them here.
    remote: Option<Remote>,
}

/// A thread of another shard.
#[derive(Debug, Default)]
struct Remote {
    /// Paths that nobody needs although they have not come yet, and how often.
    unpinned: FxHashMap<u64, u32>,
    /// Paths to calls before this one were given up.
    gone_below: u64,
}

/// The call that computing leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) function: Function,
    /// To whom it sends: the same function is called in several places.
    pub(super) peer: Option<Rank>,
}

impl Next {
    pub(super) fn from_call(call: &Activity) -> Self {
        let peer = if let Effect::Transfer { peer, .. } = call.effect { peer } else { None };
        Self { function: call.function, peer }
    }
}

/// How long a thread usually computes between two calls.
#[derive(Debug)]
struct Usual {
    place: (Function, Next),
    times: u64,
    usual_ns: u64,
}

/// Call sites that are counted separately.
const MOST_PLACES: usize = 64;
/// Samples that make an average; each further one counts as one of this number.
const FEWEST_TIMES: u64 = 8;
const MOST_TIMES: u64 = 100;

impl Thread {
    pub(super) fn new(rank: Rank, thread: u16, number: u64) -> Self {
        Self {
            rank,
            thread,
            number,
            queue: VecDeque::new(),
            notes: VecDeque::new(),
            incoming: Inbox::default(),
            outgoing: Inbox::default(),
            surplus: Vec::new(),
            collected: VecDeque::new(),
            path: Causes::default(),
            at_ns: 0,
            is_entered: false,
            open: Loop::default(),
            kept: SettledCalls::default(),
            waiters: Vec::new(),
            owed: BinaryHeap::new(),
            is_listed: false,
            is_forced: false,
            last: 0,
            usual: Vec::new(),
            observed: Observed { rank, thread, all: Vec::new() },
            remote: None,
        }
    }

    /// A thread whose calls another shard settles.
    pub(super) fn remote(rank: Rank, thread: u16) -> Self {
        Self { remote: Some(Remote::default()), ..Self::new(rank, thread, 0) }
    }

    /// Whether another shard settles its calls.
    pub(super) fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// The path to a call came from the shard that settles it.
    pub(super) fn arrive(&mut self, call: Passed) {
        let Some(remote) = &mut self.remote else { return };
        if call.number < remote.gone_below {
            return;
        }
        match remote.unpinned.get_mut(&call.number) {
            None => self.kept.insert(call),
            Some(1) => drop(remote.unpinned.remove(&call.number)),
            Some(times) => *times -= 1,
        }
    }

    /// How long the thread computes at such a place when nothing holds it up; learns from this time.
    pub(super) fn usual_ns(&mut self, next: Next, time_ns: u64) -> Option<u64> {
        let place = (self.last, next);
        let Some(usual) = self.usual.iter_mut().find(|usual| usual.place == place) else {
            if self.usual.len() < MOST_PLACES {
                self.usual.push(Usual { place, times: 1, usual_ns: time_ns });
            }
            return None;
        };
        // Three of ten times are shorter once it has settled: those that something holds up may be many.
        let known_ns = usual.usual_ns;
        let step_ns = (known_ns / (usual.times + 8)).max(1);
        usual.usual_ns = if time_ns > known_ns {
            known_ns + step_ns * 3 / 10
        } else {
            known_ns - (step_ns * 7 / 10).min(known_ns)
        };
        usual.times = (usual.times + 1).min(MOST_TIMES);
        (usual.times > FEWEST_TIMES).then_some(known_ns)
    }

    pub(super) fn push(&mut self, activity: Activity) {
        let number = activity.call.number();
        if self.queue.is_empty() && number > self.number {
            self.number = number;
        }
        let receives = if let Effect::Transfer { receives, .. } = activity.effect { receives } else { 0 };
        let may_block = activity.effect.may_block();
        self.notes.push_back(Note {
            received: 0,
            receives,
            incoming: self.incoming.add(usize::from(receives)),
            outgoing: self.outgoing.add(usize::from(may_block)),
            may_block,
            unpinned: 0,
        });
        self.queue.push_back(activity);
    }

    /// A call completed a collective.
    pub(super) fn collects(&mut self, collected: Collected) {
        if collected.call.number() >= self.number {
            self.collected.push_back(collected);
        }
    }

    /// The collectives that the first call of the queue completed.
    pub(super) fn collected(&self) -> impl Iterator<Item = &Collected> {
        self.collected.iter().take_while(|of| of.call.number() == self.number)
    }

    /// Reads part of what settling the first call needs, to bring it into the cache. The value means nothing.
    pub(super) fn fetch(&self) -> u64 {
        let first = self.queue.front().map_or(0, |call| call.end_ns);
        let note = self.notes.front().map_or(0, |note| u64::from(note.unpinned));
        let last = self.kept.last().map_or(0, |call| call.number);
        let usual = self.usual.first().map_or(0, |usual| usual.usual_ns);
        first ^ note ^ last ^ usual ^ self.incoming.first().map_or(0, |incoming| incoming.bytes)
    }

    /// The place in the queue of a call that is not settled.
    fn place(&self, number: u64) -> Option<usize> {
        let at = usize::try_from(number.checked_sub(self.number)?).ok()?;
        (at < self.notes.len()).then_some(at)
    }

    /// A call received a message; returns whether it is not settled yet.
    pub(super) fn receive(&mut self, number: u64, incoming: Incoming) -> bool {
        let Some(at) = self.place(number) else { return false };
        let note = &mut self.notes[at];
        if note.received < u32::from(note.receives) {
            if let Some(slot) = self.incoming.item_mut(note.incoming, note.received as usize) {
                *slot = incoming;
            }
        } else {
            self.surplus.push((number, incoming));
        }
        note.received += 1;
        true
    }

    /// Which receive a send was waiting for, if it may have and is not settled yet; else notes that no call needs it.
    pub(super) fn waits_for(&mut self, number: u64, outgoing: Outgoing) -> bool {
        let Some(note) = self.place(number).map(|at| &self.notes[at]).filter(|note| note.may_block) else {
            return false;
        };
        if let Some(slot) = self.outgoing.item_mut(note.outgoing, 0) {
            *slot = Some(outgoing);
        }
        true
    }

    /// How many messages are known that the first call of the queue received.
    pub(super) fn received(&self) -> usize {
        self.notes.front().map_or(0, |note| note.received as usize)
    }

    /// Since when a call waits. The loop of polls that it ends began where the thread stands.
    #[inline]
    pub(super) fn waits_since(&self, call: &Activity) -> Nanoseconds {
        let has_polled = !self.open.rows.is_empty();
        if has_polled { self.at_ns } else { call.start_ns.max(self.at_ns) }
    }

    /// The messages that the first call of the queue received, as far as they are known, in the order of becoming so.
    pub(super) fn incoming(&self) -> impl Iterator<Item = &Incoming> + Clone {
        let of = self.notes.front().map(|note| (note.incoming, note.received.min(u32::from(note.receives))));
        let (place, count) = of.unwrap_or_default();
        let surplus = self.surplus.iter().filter(|(number, _)| *number == self.number);
        self.incoming.items(place, count as usize).chain(surplus.map(|(_, incoming)| incoming))
    }

    /// The receive that the first call of the queue was waiting for.
    pub(super) fn outgoing(&self) -> Option<Outgoing> {
        let note = self.notes.front().filter(|note| note.may_block)?;
        self.outgoing.items(note.outgoing, 1).next().copied().flatten()
    }

    /// Whether the path that led to the entry of a call is known, or gone.
    pub(super) fn has_come_to(&self, number: u64) -> bool {
        if let Some(remote) = &self.remote {
            return number < remote.gone_below || self.kept.call(number).is_some();
        }
        let is_here = number == self.number && self.is_entered && self.open.rows.is_empty();
        number < self.number || is_here
    }

    /// The path that led to the entry of a call, unless it is gone or the thread has not come to it.
    pub(super) fn path_to(&self, number: u64) -> Option<&Causes> {
        if number < self.number || self.is_remote() {
            self.kept.call(number)?.path.as_ref()
        } else {
            Some(&self.path).filter(|_| self.has_come_to(number))
        }
    }

    /// When a send returned that may have waited for its receive.
    pub(super) fn blocked_until(&self, number: u64) -> Option<Nanoseconds> {
        if number >= self.number && !self.is_remote() {
            if !self.has_come_to(number) {
                return None;
            }
            let at = usize::try_from(number - self.number).ok()?;
            return self.notes.get(at)?.may_block.then(|| self.queue[at].end_ns);
        }
        let call = self.kept.call(number)?;
        call.may_block.then_some(call.end_ns)
    }

    /// What another shard needs of a call that this thread has come to.
    pub(super) fn passed(&self, number: u64) -> Passed {
        let path = self.path_to(number).copied();
        let end_ns = self.blocked_until(number);
        Passed { number, pins: 1, may_block: end_ns.is_some(), end_ns: end_ns.unwrap_or_default(), path }
    }

    /// Somebody does not need the path to a call any more.
    pub(super) fn unpin(&mut self, number: u64) {
        if let Some(remote) = &mut self.remote {
            if self.kept.call(number).is_some() {
                self.kept.unpin(number);
            } else if number >= remote.gone_below {
                *remote.unpinned.entry(number).or_default() += 1;
            }
            return;
        }
        if number >= self.number {
            if let Some(at) = self.place(number) {
                self.notes[at].unpinned += 1;
            }
            return;
        }
        self.kept.unpin(number);
    }

    /// Paths that are kept.
    pub(super) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Gives up the older half; returns how many.
    pub(super) fn give_up_half(&mut self) -> usize {
        if let (Some(remote), Some(end)) = (&mut self.remote, self.kept.half_ends()) {
            remote.gone_below = end;
            remote.unpinned.retain(|number, _| *number >= end);
        }
        self.kept.give_up_half()
    }

    /// The first call of the queue is settled. `entry` is the path to its entry, kept for those who may ask.
    pub(super) fn settle(&mut self, entry: Causes) {
        let (Some(activity), Some(note)) = (self.queue.pop_front(), self.notes.pop_front()) else { return };
        self.incoming.remove_first(usize::from(note.receives));
        self.outgoing.remove_first(usize::from(note.may_block));
        if note.received > u32::from(note.receives) {
            self.surplus.retain(|(number, _)| *number != self.number);
        }
        while self.collected.pop_front_if(|of| of.call.number() <= self.number).is_some() {}
        self.last = activity.function;
        if let Effect::Transfer { sends, posts, .. } = activity.effect {
            let pins = (u32::from(sends) + u32::from(posts)).saturating_sub(note.unpinned);
            if pins > 0 {
                let (may_block, end_ns) = (note.may_block, activity.end_ns);
                self.kept.push(Passed { number: self.number, pins, may_block, end_ns, path: Some(entry) });
            }
        }
        self.number += 1;
        (self.is_entered, self.is_forced) = (false, false);
        // Numbers are not always consecutive: a ring may have been handed to another thread.
        if let Some(next) = self.queue.front() {
            self.number = self.number.max(next.call.number());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::{Blocking, CallId};

    #[test]
    fn a_call_may_receive_more_than_it_said() {
        let mut thread = Thread::new(Rank(0), 0, 0);
        for number in 0..3 {
            let (start_ns, end_ns) = (number * 10, number * 10 + 5);
            let effect = Effect::Transfer {
                sends: 0,
                posts: 0,
                receives: number as u16,
                send: Blocking::Never,
                peer: None,
                bytes: 0,
            };
            let call = CallId::new(0, number);
            let after_loss = false;
            thread.push(Activity {
                rank: Rank(0),
                call,
                function: 1,
                start_ns,
                end_ns,
                since_ns: start_ns,
                effect,
                site: None,
                after_loss,
            });
        }
        let message = |bytes| Incoming { bytes, ..Incoming::default() };
        for (number, bytes) in [(2, 20), (1, 10), (1, 11), (2, 21), (1, 12)] {
            assert!(thread.receive(number, message(bytes)));
        }
        assert!(!thread.receive(3, message(30)));
        let of_first = |thread: &Thread| thread.incoming().map(|of| of.bytes).collect::<Vec<u64>>();
        for expected in [&[][..], &[10, 11, 12], &[20, 21]] {
            assert_eq!((of_first(&thread), thread.received()), (expected.to_vec(), expected.len()));
            thread.settle(Causes::default());
        }
        assert!(thread.surplus.is_empty() && !thread.receive(2, message(22)));
    }
}
