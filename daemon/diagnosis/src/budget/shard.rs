//! The threads of some ranks, or of all, and what settles their calls. What holds for a window comes in with it; what its
//! calls showed and add up to goes out.

use super::collectives::Collectives;
use super::knowledge::Knowledge;
use super::observation::{Observation, Observed};
use super::options::BudgetOptions;
use super::owners::Owners;
use super::pushes::{PathTo, Pushes};
use super::steal::Steal;
use super::sums::Sums;
use super::thread::{Incoming, Outgoing, Row, ThreadId};
use super::thread_table::ThreadTable;
use super::thresholds::octave;
use crate::criteria::CollectiveKey;
use mpiscope_matching::{Link, Matched};
use mpiscope_model::{Activity, Collected, CommInfo, Function, Message, Nanoseconds, Node, Rank, Scheduling};
use std::cmp::Reverse;

/// Memory that calls use by turns.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) due: Vec<ThreadId>,
    pub(super) woken: Vec<ThreadId>,
    /// What a call received.
    pub(super) received: Vec<Incoming>,
    /// The rows of a call, and those before the end of its waiting.
    pub(super) rows: (Vec<Row>, Vec<Row>),
}

/// The operator of some ranks.
#[derive(Debug)]
pub struct Shard {
    pub(super) options: BudgetOptions,
    pub(super) owners: Owners,
    /// Which one of them it is.
    pub(super) number: u16,
    pub(super) threads: ThreadTable,
    pub(super) collectives: Collectives,
    pub(super) steal: Steal,
    pub(super) knowledge: Knowledge,
    pub(super) sums: Sums,
    pub(super) settled_ns: Nanoseconds,
    /// The end of the next window in which a call may be settled, if nothing more becomes known.
    pub(super) due_ns: Option<Nanoseconds>,
    /// Something became known since the last window.
    pub(super) has_news: bool,
    pub(super) queued: usize,
    pub(super) scratch: Scratch,
    /// What other shards need, by shard.
    paths: Vec<Vec<PathTo>>,
}

impl Shard {
    /// The one of this number.
    #[must_use]
    pub fn new(options: BudgetOptions, owners: Owners, number: u16) -> Self {
        let mut sums = Sums::new(options.window_ns);
        let limits = sums.close();
        let is_alone = owners.shards <= 1;
        Self {
            options,
            owners,
            number,
            paths: vec![Vec::new(); usize::from(owners.shards)],
            threads: ThreadTable::default(),
            collectives: if is_alone { Collectives::default() } else { Collectives::shared() },
            steal: Steal::default(),
            knowledge: Knowledge { limits, ..Knowledge::default() },
            sums,
            settled_ns: 0,
            due_ns: None,
            has_news: false,
            queued: 0,
            scratch: Scratch::default(),
        }
    }

    /// Says where a rank runs.
    pub fn place(&mut self, rank: Rank, node: Node) {
        self.threads.place(rank, node);
        self.sums.ledger.expect(rank);
        self.sums.evolution.moved(self.settled_ns);
    }

    /// Says how many ranks a communicator has.
    pub fn comm(&mut self, comm: &CommInfo) {
        self.collectives.comm(comm);
        self.has_news = true;
    }

    /// Takes in calls, each thread's in order, and messages of windows before the next that is settled. With several
    /// shards, each gets the calls of its ranks, and messages that go to them or come from them.
    pub fn feed(&mut self, activities: &[Activity], matched: &Matched, scheduling: &[Scheduling]) {
        for activity in activities {
            let thread = self.threads.find_or_add(activity.rank, activity.call);
            self.sums.exchanged.collectives.feed(activity);
            self.threads[thread as usize].push(*activity);
        }
        self.queued += activities.len();
        self.has_news |= !activities.is_empty() || !matched.messages.is_empty();
        for (message, link) in matched.messages.iter().zip(&matched.links) {
            if self.is_own(message.dst) {
                self.sums.exchanged.messages.feed(std::slice::from_ref(message));
            }
            self.introduce(message, link);
        }
        self.steal.feed(scheduling);
    }

    #[inline]
    fn is_own(&self, rank: Rank) -> bool {
        self.owners.shards <= 1 || self.owners.shard(rank) == self.number
    }

    /// Takes in which collectives calls completed that were taken in just before.
    pub fn collect(&mut self, collected: &[Collected]) {
        self.has_news |= !collected.is_empty();
        for of in collected {
            if let Some(thread) = self.threads.find(of.rank, of.call.thread()) {
                self.threads[thread as usize].collects(*of);
            }
        }
    }

    /// A message becomes known to its two calls, or to that of this shard.
    fn introduce(&mut self, message: &Message, link: &Link) {
        let (sends, receives) = (self.is_own(message.src), self.is_own(message.dst));
        let from = self.threads.find_or_expect(message.src, link.send.thread(), !sends);
        let to = self.threads.find_or_expect(message.dst, link.receive.thread(), !receives);
        let post_thread = self.threads.find_or_expect(message.dst, link.post.thread(), !receives);
        let (send, post) = (link.send.number(), link.post.number());
        let incoming = Incoming {
            from,
            number: send,
            send_ns: message.send_ns,
            posted_ns: link.posted_ns,
            bytes: message.bytes,
            inter: message.inter,
            certain: link.certain && message.src != message.dst,
        };
        let outgoing = Outgoing { to: post_thread, post, posted_ns: link.posted_ns };
        // Its own receive comes first; see `settle`.
        if sends && !self.threads[from as usize].waits_for(send, outgoing) {
            self.threads[post_thread as usize].unpin(post);
        }
        if receives && !self.threads[to as usize].receive(link.receive.number(), incoming) {
            // It was given up.
            self.threads[from as usize].unpin(send);
        }
        if !receives {
            self.owe(from, send, self.owners.shard(message.dst));
        }
        if !sends {
            self.owe(post_thread, post, self.owners.shard(message.src));
        }
    }

    /// Another shard needs the path to a call.
    fn owe(&mut self, thread: ThreadId, number: u64, to: u16) {
        if self.threads[thread as usize].has_come_to(number) {
            self.hand_over(thread, number, to);
        } else {
            self.threads[thread as usize].owed.push(Reverse((number, to)));
        }
    }

    fn hand_over(&mut self, thread: ThreadId, number: u64, to: u16) {
        let state = &mut self.threads[thread as usize];
        let (rank, call) = (state.rank, state.passed(number));
        state.unpin(number);
        let thread = state.thread;
        self.paths[usize::from(to)].push(PathTo { rank, thread, call });
    }

    /// A thread came further: leads on those who waited for that.
    #[inline]
    pub(super) fn wake_waiters(&mut self, thread: ThreadId) {
        let state = &self.threads[thread as usize];
        if !state.waiters.is_empty() {
            self.lead_on(thread);
        }
        while let Some(&Reverse((number, to))) = self.threads[thread as usize].owed.peek() {
            if !self.threads[thread as usize].has_come_to(number) {
                break;
            }
            self.threads[thread as usize].owed.pop();
            self.hand_over(thread, number, to);
        }
    }

    fn lead_on(&mut self, thread: ThreadId) {
        let mut waiters = std::mem::take(&mut self.threads[thread as usize].waiters);
        waiters.retain(|&(wanted, waiter)| {
            let has_come = self.threads[thread as usize].has_come_to(wanted);
            if has_come {
                self.scratch.woken.push(waiter);
            }
            !has_come
        });
        self.threads[thread as usize].waiters = waiters;
    }

    /// What other shards need, by shard; none where they need nothing.
    pub fn take_pushes(&mut self) -> Option<Vec<Pushes>> {
        let collectives = self.collectives.take_news();
        if collectives.is_empty() && self.paths.iter().all(Vec::is_empty) {
            return None;
        }
        let pushes = |paths: &mut Vec<PathTo>| Pushes {
            paths: std::mem::take(paths),
            collectives: collectives.clone(),
        };
        Some(self.paths.iter_mut().map(pushes).collect())
    }

    /// Takes in what another shard hands over, and goes on with what waited for it.
    pub fn receive(&mut self, pushes: &Pushes, until_ns: Nanoseconds) {
        for &PathTo { rank, thread, call } in &pushes.paths {
            let thread = self.threads.find_or_expect(rank, thread, true);
            self.threads[thread as usize].arrive(call);
            self.wake_waiters(thread);
        }
        for entries in &pushes.collectives {
            self.collectives.merge(entries, &mut self.scratch.woken);
        }
        self.put_woken_on_list();
        self.run(until_ns);
    }

    /// A call of a thread showed something.
    #[inline]
    pub(super) fn observe(&mut self, thread: ThreadId, observation: Observation) {
        self.threads[thread as usize].observed.all.push(observation);
    }

    /// A message between nodes was under way so long; returns what a quiet network would have saved it.
    pub(super) fn flight(&mut self, thread: ThreadId, at_ns: Nanoseconds, bytes: u64, took_ns: u64) -> u64 {
        if !self.knowledge.course.is_given() {
            self.observe(thread, Observation::Flight { at_ns, bytes, took_ns });
        }
        self.knowledge.course.spared_of_message_ns(at_ns, bytes, took_ns)
    }

    /// A message between nodes was there before it was waited for, after so long at most.
    pub(super) fn arrived(&mut self, thread: ThreadId, at_ns: Nanoseconds, bytes: u64, at_most_ns: u64) {
        if !self.knowledge.course.is_given() {
            self.observe(thread, Observation::Arrived { at_ns, bytes, at_most_ns });
        }
    }

    /// A part in a collective lasted so long; returns what a quiet network would have saved it.
    pub(super) fn part(
        &mut self,
        thread: ThreadId,
        at_ns: Nanoseconds,
        key: CollectiveKey,
        took_ns: u64,
    ) -> u64 {
        if !self.knowledge.course.is_given() {
            self.observe(thread, Observation::Part { at_ns, key, took_ns });
        }
        self.knowledge.course.spared_of_collective_ns(at_ns, &key, took_ns)
    }

    /// A thread computed for so much of a time until it called a function; returns what balanced work would have saved it.
    pub(super) fn worked(
        &mut self,
        thread: ThreadId,
        (from_ns, to_ns): (Nanoseconds, Nanoseconds),
        worked_ns: u64,
        next: Function,
    ) -> u64 {
        let rank = self.threads[thread as usize].rank;
        if !self.knowledge.course.is_given() {
            self.sums.work.add(rank, from_ns, to_ns, worked_ns, next);
        }
        self.knowledge.course.balanced_ns(rank, (from_ns, to_ns), worked_ns, next)
    }

    /// Whether blocking sends of a size wait for their receives, as far as is known.
    pub(super) fn may_wait(&self, bytes: u64) -> bool {
        self.knowledge.blocks_from_octave.is_some_and(|from| octave(bytes) >= from)
    }

    /// What calls showed since this was asked last, thread by thread in the order of ranks.
    pub(super) fn take_observed(&mut self, mut take: impl FnMut(&mut Observed)) {
        self.threads.for_each_in_order(|thread| take(&mut thread.observed));
    }
}
