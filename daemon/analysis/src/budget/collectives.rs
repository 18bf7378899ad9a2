//! Collectives that are under way: who entered, and along which path.

use super::thread::ThreadId;
use super::whatif::{Gains, Latest, Way};
use mpiscope_model::{Collective, Comm, Flow, Nanoseconds, Rank};
use rustc_hash::FxHashMap;

/// The entry of a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) rank: Rank,
    pub(super) start_ns: Nanoseconds,
    /// When it returned, which its collective is remembered by.
    pub(super) end_ns: Nanoseconds,
    pub(super) way: Way,
}

impl Entry {
    /// Whether it came after another; of two that came at once, the greater rank's did.
    fn is_after(&self, other: &Entry) -> bool {
        (self.start_ns, self.rank) > (other.start_ns, other.rank)
    }
}

/// One collective.
#[derive(Debug, Default)]
struct Instance {
    entered: u32,
    left: u32,
    last: Option<Entry>,
    /// When the last would have entered, and when the root.
    latest: Latest,
    latest_root: Latest,
    root: Option<Entry>,
    /// All entries, where each rank waits for others.
    all: Vec<Entry>,
    waiters: Vec<ThreadId>,
    newest_ns: Nanoseconds,
}

/// Whom a member of a collective waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Awaited {
    /// Somebody who has not entered yet, as far as is known.
    NotYet,
    /// Nobody.
    Nobody,
    /// This one.
    Member(Entry),
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Collectives {
    sizes: FxHashMap<Comm, u32>,
    under_way: FxHashMap<(Comm, u32), Instance>,
}

impl Collectives {
    pub(super) fn comm(&mut self, comm: Comm, size: u32) {
        self.sizes.insert(comm, size);
    }

    pub(super) fn size(&self, comm: Comm) -> Option<u32> {
        self.sizes.get(&comm).copied()
    }

    /// A member entered; hands out those who waited for entries.
    pub(super) fn enter(&mut self, of: &Collective, entry: Entry, wake: &mut Vec<ThreadId>) {
        let instance = self.under_way.entry((of.comm, of.number)).or_default();
        instance.newest_ns = instance.newest_ns.max(entry.end_ns);
        instance.entered += 1;
        instance.latest.at(entry.start_ns, &entry.way.gains, &Gains::default());
        let is_root = of.root == Some(entry.rank);
        if is_root {
            instance.root = Some(entry);
            instance.latest_root.at(entry.start_ns, &entry.way.gains, &Gains::default());
        }
        if of.flow == Flow::FromLower {
            instance.all.push(entry);
        }
        if instance.last.is_none_or(|last| entry.is_after(&last)) {
            instance.last = Some(entry);
        }
        let is_full = Some(instance.entered) == self.sizes.get(&of.comm).copied();
        if is_full || is_root {
            wake.append(&mut instance.waiters);
        }
    }

    /// Whom a member waits for. What moves nothing holds nobody up, but for barriers.
    pub(super) fn awaited(&mut self, of: &Collective, rank: Rank, is_forced: bool) -> Awaited {
        if of.bytes == 0 && !of.is_barrier && of.flow != Flow::FromRoot {
            return Awaited::Nobody;
        }
        let Some(instance) = self.under_way.get(&(of.comm, of.number)) else { return Awaited::Nobody };
        let is_full = self.sizes.get(&of.comm).is_none_or(|&size| instance.entered >= size) || is_forced;
        let is_root = of.root == Some(rank);
        let found = match of.flow {
            Flow::FromRoot if is_root => return Awaited::Nobody,
            Flow::FromRoot => instance.root,
            Flow::ToRoot if !is_root => return Awaited::Nobody,
            Flow::All | Flow::ToRoot => instance.last.filter(|_| is_full),
            Flow::FromLower if is_full => {
                let lower = instance.all.iter().filter(|entry| entry.rank <= rank);
                lower.copied().reduce(|one, other| if other.is_after(&one) { other } else { one })
            }
            Flow::FromLower => None,
        };
        match found {
            Some(entry) if entry.rank == rank && of.flow != Flow::All => Awaited::Nobody,
            Some(entry) => Awaited::Member(entry),
            None if is_forced => Awaited::Nobody,
            None => Awaited::NotYet,
        }
    }

    /// When those who are waited for would have entered.
    pub(super) fn latest(&self, of: &Collective) -> Latest {
        let instance = self.under_way.get(&(of.comm, of.number));
        instance.map_or_else(Latest::default, |instance| {
            if of.flow == Flow::FromRoot { instance.latest_root } else { instance.latest }
        })
    }

    pub(super) fn wait(&mut self, of: &Collective, thread: ThreadId) {
        let instance = self.under_way.entry((of.comm, of.number)).or_default();
        if !instance.waiters.contains(&thread) {
            instance.waiters.push(thread);
        }
    }

    /// A member left.
    pub(super) fn leave(&mut self, of: &Collective) {
        let key = (of.comm, of.number);
        if let Some(instance) = self.under_way.get_mut(&key) {
            instance.left += 1;
            if self.sizes.get(&of.comm).is_some_and(|&size| instance.left >= size) {
                self.under_way.remove(&key);
            }
        }
    }

    /// Forgets what everybody who entered has left before a time: some members were never seen.
    pub(super) fn forget(&mut self, before_ns: Nanoseconds) {
        self.under_way.retain(|_, instance| instance.newest_ns >= before_ns);
    }
}
