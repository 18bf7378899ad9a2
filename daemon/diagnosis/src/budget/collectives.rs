//! Collectives under way: their members so far, with the path of each.

use super::causes::Causes;
use super::thread::ThreadId;
use mpiscope_model::{Collected, Collective, Comm, CommInfo, Flow, Function, Nanoseconds, Rank, Side};
use rustc_hash::FxHashMap;

/// The entry of a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) rank: Rank,
    pub(super) start_ns: Nanoseconds,
    /// When it returned, which its collective is remembered by.
    pub(super) end_ns: Nanoseconds,
    pub(super) path: Causes,
}

mpiscope_model::numbers! { Entry { rank, start_ns, end_ns, path } }

impl Entry {
    /// Whether it came after another; of two that came at once, the greater rank's did.
    fn is_after(&self, other: &Entry) -> bool {
        (self.start_ns, self.rank) > (other.start_ns, other.rank)
    }
}

fn later(one: Option<Entry>, other: Option<Entry>) -> Option<Entry> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.is_after(&one) { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// The entries of a group.
#[derive(Debug, Default)]
struct Group {
    entered: u32,
    /// The last that others may wait for.
    last: Option<Entry>,
}

/// One collective.
#[derive(Debug, Default)]
struct Instance {
    /// A communicator has one, an intercommunicator two.
    groups: [Group; 2],
    left: u32,
    /// Members that started it and did not complete it yet: it may be remembered for longer.
    started: i32,
    root: Option<Entry>,
    /// All entries, where each rank waits for others.
    all: Vec<Entry>,
    waiters: Vec<ThreadId>,
    newest_ns: Nanoseconds,
}

impl Instance {
    /// Those for whom a member waits; none where nobody knows them.
    fn others(&self, side: Side) -> Option<&Group> {
        match side {
            Side::Only | Side::Second => self.groups.first(),
            Side::First => self.groups.get(1),
            Side::Alone => None,
        }
    }
}

/// What a shard's members did in a collective since it was asked last.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    comm: Comm,
    number: u32,
    entered: [u32; 2],
    /// By group, the last that others may wait for.
    last: [Option<Entry>; 2],
    left: u32,
    started: i32,
    root: Option<Entry>,
    all: Vec<Entry>,
    newest_ns: Nanoseconds,
}

mpiscope_model::numbers! { Entries { comm, number, entered, last, left, started, root, all, newest_ns } }

impl Entries {
    fn new((comm, number): (Comm, u32)) -> Self {
        let (entered, last) = ([0; 2], [None; 2]);
        Self { comm, number, entered, last, left: 0, started: 0, root: None, all: Vec::new(), newest_ns: 0 }
    }
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

/// How many ranks a communicator has, and its first group.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    all: u32,
    first: u32,
}

impl Sizes {
    fn group_size(&self, group: usize) -> u32 {
        if group == 0 { self.first } else { self.all - self.first }
    }
}

/// A collective that a rank entered and has not completed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Started {
    pub(super) function: Function,
    pub(super) of: Collective,
    /// When that was.
    end_ns: Nanoseconds,
}

/// Who started what.
type StartedBy = (Comm, u32, Rank);

/// Started operations are remembered for this multiple of the patience of calls: a program may compute meanwhile.
const LONGER: u64 = 60;
/// Operations that may be remembered for longer than others.
const MOST_STARTED: usize = 1 << 20;

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Collectives {
    sizes: FxHashMap<Comm, Sizes>,
    under_way: FxHashMap<(Comm, u32), Instance>,
    started: FxHashMap<StartedBy, Started>,
    /// Who asked for what was started by another thread of the rank, before that was known.
    orphans: FxHashMap<StartedBy, Vec<ThreadId>>,
    /// What other shards do not know yet; none where there are no others.
    news: Option<FxHashMap<(Comm, u32), Entries>>,
}

impl Collectives {
    /// There are other shards, which learn of all entries.
    pub(super) fn shared() -> Self {
        Self { news: Some(FxHashMap::default()), ..Self::default() }
    }

    /// What other shards do not know yet.
    pub(super) fn take_news(&mut self) -> Vec<Entries> {
        self.news.iter_mut().flat_map(FxHashMap::drain).map(|(_, entries)| entries).collect()
    }

    /// Members of another shard entered, or left; hands out those who waited for entries.
    pub(super) fn merge(&mut self, of: &Entries, wake: &mut Vec<ThreadId>) {
        let key = (of.comm, of.number);
        let instance = self.under_way.entry(key).or_default();
        instance.newest_ns = instance.newest_ns.max(of.newest_ns);
        let mut is_full = false;
        for (at, group) in instance.groups.iter_mut().enumerate() {
            let before = group.entered;
            group.entered += of.entered[at];
            let size = self.sizes.get(&of.comm).map(|sizes| sizes.group_size(at));
            is_full |= size.is_some_and(|size| before < size && group.entered >= size);
            group.last = later(group.last, of.last[at]);
        }
        instance.started += of.started;
        instance.root = instance.root.or(of.root);
        instance.all.extend(&of.all);
        if is_full || of.root.is_some() {
            wake.append(&mut instance.waiters);
        }
        self.left(key, of.left);
    }

    pub(super) fn comm(&mut self, comm: &CommInfo) {
        let first = comm.first_size.unwrap_or(comm.size).min(comm.size);
        self.sizes.insert(comm.comm, Sizes { all: comm.size, first });
    }

    pub(super) fn size(&self, comm: Comm) -> Option<u32> {
        self.sizes.get(&comm).map(|sizes| sizes.all)
    }

    /// A member entered; hands out those who waited for entries.
    pub(super) fn enter(&mut self, of: &Collective, entry: Entry, wake: &mut Vec<ThreadId>) {
        let instance = self.under_way.entry((of.comm, of.number)).or_default();
        instance.newest_ns = instance.newest_ns.max(entry.end_ns);
        let at = usize::from(of.side == Side::Second);
        let group = &mut instance.groups[at];
        group.entered += 1;
        let is_full = self.sizes.get(&of.comm).is_some_and(|sizes| group.entered == sizes.group_size(at));
        // Between two groups each waits for what it gets from the other.
        let is_waited_for = of.side == Side::Only || of.bytes > 0 || of.is_barrier;
        if is_waited_for {
            group.last = later(group.last, Some(entry));
        }
        let is_root = of.root == Some(entry.rank);
        if is_root {
            instance.root = Some(entry);
        }
        if of.flow == Flow::FromLower {
            instance.all.push(entry);
        }
        if let Some(news) = &mut self.news {
            let key = (of.comm, of.number);
            let entries = news.entry(key).or_insert_with(|| Entries::new(key));
            entries.newest_ns = entries.newest_ns.max(entry.end_ns);
            entries.entered[at] += 1;
            if is_waited_for {
                entries.last[at] = later(entries.last[at], Some(entry));
            }
            if is_root {
                entries.root = Some(entry);
            }
            if of.flow == Flow::FromLower {
                entries.all.push(entry);
            }
        }
        if is_full || is_root {
            wake.append(&mut instance.waiters);
        }
    }

    /// The members that a member waits for. A call that moves no data blocks nobody, except barriers.
    pub(super) fn awaited(&mut self, of: &Collective, rank: Rank, is_forced: bool) -> Awaited {
        let is_only = of.side == Side::Only;
        if is_only && of.bytes == 0 && !of.is_barrier && of.flow != Flow::FromRoot {
            return Awaited::Nobody;
        }
        let Some(instance) = self.under_way.get(&(of.comm, of.number)) else { return Awaited::Nobody };
        let Some(others) = instance.others(of.side) else { return Awaited::Nobody };
        let at = usize::from(of.side == Side::First);
        let has_all = |sizes: &Sizes| others.entered >= sizes.group_size(at);
        let is_full = self.sizes.get(&of.comm).is_none_or(has_all) || is_forced;
        let is_root = of.root == Some(rank);
        let found = match of.flow {
            Flow::FromRoot if is_root => return Awaited::Nobody,
            // Those of the root's own group stand by.
            Flow::FromRoot if of.root.is_none() && !is_only => return Awaited::Nobody,
            Flow::FromRoot => instance.root,
            Flow::ToRoot if !is_root => return Awaited::Nobody,
            Flow::All | Flow::ToRoot if is_full && others.last.is_none() => return Awaited::Nobody,
            Flow::All | Flow::ToRoot => others.last.filter(|_| is_full),
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

    pub(super) fn wait(&mut self, of: &Collective, thread: ThreadId) {
        let instance = self.under_way.entry((of.comm, of.number)).or_default();
        if !instance.waiters.contains(&thread) {
            instance.waiters.push(thread);
        }
    }

    /// A member left.
    pub(super) fn leave(&mut self, of: &Collective) {
        let key = (of.comm, of.number);
        if let Some(news) = &mut self.news {
            news.entry(key).or_insert_with(|| Entries::new(key)).left += 1;
        }
        self.left(key, 1);
    }

    /// More members, or fewer, have started a collective and not completed it yet.
    fn count_started(&mut self, key: (Comm, u32), more: i32) {
        if let Some(news) = &mut self.news {
            news.entry(key).or_insert_with(|| Entries::new(key)).started += more;
        }
        if let Some(instance) = self.under_way.get_mut(&key) {
            instance.started += more;
        }
    }

    fn left(&mut self, key: (Comm, u32), members: u32) {
        if let Some(instance) = self.under_way.get_mut(&key) {
            instance.left += members;
            if self.sizes.get(&key.0).is_some_and(|sizes| instance.left >= sizes.all) {
                self.under_way.remove(&key);
            }
        }
    }

    /// A member will complete by a later call what it entered; hands out those who waited for that to be known.
    pub(super) fn start(
        &mut self,
        rank: Rank,
        function: Function,
        of: &Collective,
        end_ns: Nanoseconds,
        wake: &mut Vec<ThreadId>,
    ) {
        let by = (of.comm, of.number, rank);
        if self.started.insert(by, Started { function, of: *of, end_ns }).is_none() {
            self.count_started((of.comm, of.number), 1);
        }
        if !self.orphans.is_empty() {
            wake.extend(self.orphans.remove(&by).unwrap_or_default());
        }
    }

    /// What a member completed.
    pub(super) fn started(&self, of: &Collected) -> Option<Started> {
        self.started.get(&(of.comm, of.number, of.rank)).copied()
    }

    /// Waits until it is known that it was started.
    pub(super) fn wait_for_start(&mut self, of: &Collected, thread: ThreadId) {
        let threads = self.orphans.entry((of.comm, of.number, of.rank)).or_default();
        if !threads.contains(&thread) {
            threads.push(thread);
        }
    }

    /// A member completed what it had started.
    pub(super) fn finish(&mut self, of: &Collected) {
        if let Some(started) = self.started.remove(&(of.comm, of.number, of.rank)) {
            self.count_started((of.comm, of.number), -1);
            self.leave(&started.of);
        }
        self.orphans.remove(&(of.comm, of.number, of.rank));
    }

    /// Forgets what everybody who entered has left before a time, `patience_ns` ago: some members were never seen.
    pub(super) fn forget(&mut self, before_ns: Nanoseconds, patience_ns: u64) {
        let mut started_before_ns = before_ns.saturating_sub(LONGER.saturating_mul(patience_ns));
        if self.started.len() > MOST_STARTED {
            started_before_ns = before_ns;
        }
        // Before own starts are let go: other shards learn of that within this window, and do the same in the next one.
        self.under_way.retain(|_, instance| instance.newest_ns >= before_ns || instance.started > 0);
        let is_old = |started: &Started| started.end_ns < started_before_ns;
        let old = self.started.iter().filter(|(_, started)| is_old(started)).map(|(by, _)| *by);
        for by in old.collect::<Vec<StartedBy>>() {
            self.started.remove(&by);
            self.count_started((by.0, by.1), -1);
        }
    }
}
