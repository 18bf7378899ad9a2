//! One thread: its calls that are not settled yet, the path that led to where it stands, and the paths that led to
//! calls that others may still ask for.

use super::serving::Serving;
use super::settle::Next;
use super::whatif::Way;
use mpiscope_model::{Activity, Deed, Function, Nanoseconds, Node, Rank};
use std::collections::VecDeque;

/// A thread's place among all threads.
pub(super) type ThreadId = u32;

/// A message that a call received.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming {
    /// Whose call sent it, and which.
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
#[derive(Debug, Clone, Copy)]
pub(super) struct Outgoing {
    pub(super) to: ThreadId,
    pub(super) post: u64,
    pub(super) posted_ns: Nanoseconds,
}

/// A call that is not settled.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) activity: Activity,
    pub(super) first: Option<Incoming>,
    pub(super) more: Vec<Incoming>,
    pub(super) outgoing: Option<Outgoing>,
    /// References to it that are gone already.
    pub(super) unpinned: u32,
}

impl Record {
    pub(super) fn received(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    pub(super) fn receive(&mut self, incoming: Incoming) {
        if self.first.is_none() {
            self.first = Some(incoming);
        } else {
            self.more.push(incoming);
        }
    }
}

/// A loop of polls, or a probe, of which the next call says what it waited for.
#[derive(Debug, Default)]
pub(super) struct Loop {
    pub(super) rows: Vec<(Nanoseconds, Nanoseconds)>,
}

/// The path that led to a settled call.
#[derive(Debug, Clone, Copy)]
struct Kept {
    number: u64,
    pins: u32,
    /// Whether it is a send that may have waited for its receive.
    may_block: bool,
    end_ns: Nanoseconds,
    path: Way,
}

/// What is known of the path that led to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    Known(Way),
    NotYet,
    Gone,
}

/// One thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) rank: Rank,
    pub(super) node: Node,
    /// The number of the first call of the queue.
    pub(super) number: u64,
    pub(super) queue: VecDeque<Record>,
    /// What the path to `at_ns` was made of; sums to it.
    pub(super) path: Way,
    pub(super) at_ns: Nanoseconds,
    /// Whether the first call of the queue was entered: then the path leads to its entry.
    pub(super) is_entered: bool,
    pub(super) open: Loop,
    /// What it computed last was work that others would do where it is even.
    pub(super) works_for_others: bool,
    pub(super) serving: Serving,
    /// It is dealt its work: who is done gets more.
    pub(super) is_dealt: bool,
    kept: VecDeque<Kept>,
    /// Of those kept, such that nobody asks for any more.
    unpinned: usize,
    /// Who waits for the path to which call.
    pub(super) waiters: Vec<(u64, ThreadId)>,
    pub(super) is_listed: bool,
    /// The first call of the queue was waited for too long.
    pub(super) is_forced: bool,
    /// The function of the last call that is settled.
    last: Function,
    /// How long the thread usually computes, from a function to another.
    usual: Vec<Usual>,
}

/// How long a thread usually computes between two calls.
#[derive(Debug)]
struct Usual {
    place: (Function, Next),
    times: u64,
    usual_ns: u64,
}

/// Places that are told apart.
const MOST_PLACES: usize = 64;
/// So many times say what is usual, and what comes weighs as one of so many.
const FEWEST_TIMES: u64 = 8;
const MOST_TIMES: u64 = 100;

/// The fewest paths that nobody asks for which are worth clearing away.
const WORTH_CLEARING: usize = 32;

impl Thread {
    pub(super) fn new(rank: Rank, node: Node, number: u64) -> Self {
        Self {
            rank,
            node,
            number,
            queue: VecDeque::new(),
            path: Way::default(),
            at_ns: 0,
            is_entered: false,
            open: Loop::default(),
            works_for_others: false,
            serving: Serving::default(),
            is_dealt: false,
            kept: VecDeque::new(),
            unpinned: 0,
            waiters: Vec::new(),
            is_listed: false,
            is_forced: false,
            last: 0,
            usual: Vec::new(),
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
        self.queue.push_back(Record { activity, first: None, more: Vec::new(), outgoing: None, unpinned: 0 });
    }

    /// A call that is not settled.
    pub(super) fn record(&mut self, number: u64) -> Option<&mut Record> {
        let at = usize::try_from(number.checked_sub(self.number)?).ok()?;
        self.queue.get_mut(at)
    }

    /// The path that led to the entry of a call.
    pub(super) fn path_to(&self, number: u64) -> Path {
        if number >= self.number {
            let is_here = number == self.number && self.is_entered && self.open.rows.is_empty();
            return if is_here { Path::Known(self.path) } else { Path::NotYet };
        }
        match self.find(number) {
            Some(at) => Path::Known(self.kept[at].path),
            None => Path::Gone,
        }
    }

    /// When a send returned that may have waited for its receive.
    pub(super) fn blocked_until(&self, number: u64) -> Option<Nanoseconds> {
        if number >= self.number {
            let at = usize::try_from(number - self.number).ok()?;
            let activity = &self.queue.get(at)?.activity;
            return activity.deed.may_block().then_some(activity.end_ns);
        }
        let kept = &self.kept[self.find(number)?];
        kept.may_block.then_some(kept.end_ns)
    }

    fn find(&self, number: u64) -> Option<usize> {
        // It is mostly among the first or the last.
        let (front, back) = (self.kept.front()?.number, self.kept.back()?.number);
        if number == front {
            return Some(0);
        }
        if number == back {
            return Some(self.kept.len() - 1);
        }
        self.kept.binary_search_by_key(&number, |kept| kept.number).ok()
    }

    /// Somebody does not need the path to a call any more.
    pub(super) fn unpin(&mut self, number: u64) {
        if number >= self.number {
            if let Some(record) = self.record(number) {
                record.unpinned += 1;
            }
            return;
        }
        if let Some(at) = self.find(number) {
            let kept = &mut self.kept[at];
            kept.pins = kept.pins.saturating_sub(1);
            if kept.pins == 0 {
                self.unpinned += 1;
                self.clear();
            }
        }
    }

    fn clear(&mut self) {
        while self.kept.front().is_some_and(|kept| kept.pins == 0) {
            self.kept.pop_front();
            self.unpinned -= 1;
        }
        if self.unpinned > WORTH_CLEARING && self.unpinned * 2 > self.kept.len() {
            self.kept.retain(|kept| kept.pins > 0);
            self.unpinned = 0;
        }
    }

    /// Paths that are kept.
    pub(super) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Gives up the older half of what is kept; says how many.
    pub(super) fn give_up_half(&mut self) -> usize {
        let half = self.kept.len().div_ceil(2);
        let gone = self.kept.drain(..half).filter(|kept| kept.pins > 0).count();
        self.unpinned = self.kept.iter().filter(|kept| kept.pins == 0).count();
        gone
    }

    /// The first call of the queue is settled. `entry` is the path to its entry, kept for those who may ask.
    pub(super) fn settle(&mut self, entry: Way) -> Option<Record> {
        let record = self.queue.pop_front()?;
        self.last = record.activity.function;
        if let Deed::Transfer { sends, posts, .. } = record.activity.deed {
            let pins = (u32::from(sends) + u32::from(posts)).saturating_sub(record.unpinned);
            if pins > 0 {
                let (may_block, end_ns) = (record.activity.deed.may_block(), record.activity.end_ns);
                self.kept.push_back(Kept { number: self.number, pins, may_block, end_ns, path: entry });
            }
        }
        self.number += 1;
        (self.is_entered, self.is_forced) = (false, false);
        // Numbers are not always consecutive: a ring may have been handed to another thread.
        if let Some(next) = self.queue.front() {
            self.number = self.number.max(next.activity.call.number());
        }
        Some(record)
    }
}
