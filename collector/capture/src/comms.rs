//! Communicators: world ranks of their members, an identity that all members agree on, message numbers.

use mpiscope_wire::{CommDefinition, CommKind, GridPart, MAX_COMM, NO_COMM, OtherGroup};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One rank of a communicator as seen from this process: what a message needs of it lies in one line of the cache.
#[derive(Debug)]
#[repr(align(32))]
pub struct Peer {
    /// Its world rank; -1 when it is of another job.
    pub world_rank: i32,
    /// The loss epoch in which these numbers were last announced.
    announced_epoch: AtomicU32,
    sent: AtomicU64,
    received: AtomicU64,
}

impl Peer {
    fn new(world_rank: i32) -> Self {
        Self {
            world_rank,
            announced_epoch: AtomicU32::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }
    }

    /// Counts a message to this peer; returns how many there were before.
    #[inline]
    pub(crate) fn count_sent(&self, threads: bool) -> u64 {
        count(&self.sent, threads)
    }

    /// Counts a completed receive from this peer; returns how many there were before.
    #[inline]
    pub(crate) fn count_received(&self, threads: bool) -> u64 {
        count(&self.received, threads)
    }

    pub(crate) fn numbers(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }

    /// Whether calls were lost since the numbers were last announced; marks them as announced.
    #[inline]
    pub(crate) fn needs_numbers(&self, epoch: u32) -> bool {
        if self.announced_epoch.load(Ordering::Relaxed) == epoch {
            return false;
        }
        self.announced_epoch.store(epoch, Ordering::Relaxed);
        true
    }
}

/// One more, without a locked instruction where a single thread counts.
#[inline]
pub(crate) fn count(counter: &AtomicU64, threads: bool) -> u64 {
    if threads {
        return counter.fetch_add(1, Ordering::Relaxed);
    }
    let before = counter.load(Ordering::Relaxed);
    counter.store(before + 1, Ordering::Relaxed);
    before
}

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    /// This process's number of it.
    pub index: u32,
    /// By which handle the program knows it.
    pub handle: u64,
    /// What all members agree on.
    pub id: u64,
    /// This process's rank in it.
    pub own_rank: u32,
    /// The size of the group that this process belongs to.
    pub size: u32,
    /// The world rank of its rank 0.
    pub leader: u32,
    parent: u32,
    /// Whether it is an intercommunicator.
    pub is_inter: bool,
    other: Option<OtherGroup>,
    /// Whom a rank in a message's arguments means: the members, or the remote group of an intercommunicator.
    peers: Box<[Peer]>,
    children: AtomicU64,
    collectives: AtomicU64,
    about: About,
    /// From how many neighbours of its topology this process receives, and to how many it sends.
    degrees: OnceLock<(u32, u32)>,
}

/// What is known of a communicator beyond who is in it.
#[derive(Debug, Default)]
pub struct About {
    /// What it is.
    pub kind: CommKind,
    /// Its name in the program; empty without one.
    pub name: Mutex<String>,
    /// Its grid, and where this process stands in it.
    pub grid: Vec<Dimension>,
}

impl About {
    /// An identity that all processes give to this name.
    fn id_of_name(&self) -> u64 {
        let name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        name.bytes().fold(!MULTIPLIER, |hash, byte| mix(hash, u64::from(byte))) & !1 | 4
    }
}

/// One dimension of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Where this process stands.
    pub coordinate: u32,
    /// How many stand there.
    pub size: u32,
    /// Whether its ends meet.
    pub is_periodic: bool,
}

impl Comm {
    /// The peer of a rank on this communicator.
    #[inline]
    #[must_use]
    pub fn peer(&self, rank: i32) -> Option<&Peer> {
        self.peers.get(usize::try_from(rank).ok()?)
    }

    /// To how many ranks messages on it can go: its members, or those of the remote group.
    #[must_use]
    pub fn peer_count(&self) -> usize {
        self.peers.len()
    }

    /// Counts a collective; returns its number on this communicator.
    #[inline]
    pub fn count_collective(&self, threads: bool) -> u64 {
        count(&self.collectives, threads)
    }

    /// Counts a call that makes communicators of this one, which every member makes in the same order.
    pub fn count_child(&self) -> u64 {
        self.children.fetch_add(1, Ordering::Relaxed)
    }

    /// From how many neighbours this process receives, and to how many it sends; `find` asks when it is not known yet.
    pub fn degrees(&self, find: impl FnOnce() -> (u32, u32)) -> (u32, u32) {
        *self.degrees.get_or_init(find)
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> String {
        self.about.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It is called otherwise from now on.
    pub fn set_name(&self, name: String) {
        *self.about.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// Its grid, and where this process stands in it.
    pub(crate) fn grid(&self) -> impl Iterator<Item = GridPart> + '_ {
        let dimensions = self.about.grid.len().min(usize::from(u8::MAX)) as u8;
        (0..dimensions).zip(&self.about.grid).map(move |(dimension, of)| GridPart {
            comm: self.index,
            dimension,
            dimensions,
            is_periodic: of.is_periodic,
            coordinate: of.coordinate,
            size: of.size,
        })
    }

    /// What the daemon has to know of it.
    #[must_use]
    pub fn definition(&self) -> CommDefinition {
        CommDefinition {
            index: self.index,
            kind: self.about.kind,
            id: self.id,
            size: self.size,
            own_rank: self.own_rank,
            leader: self.leader,
            parent: self.parent,
            other: self.other,
        }
    }
}

/// The members of a communicator, as MPI reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members {
    /// World ranks of this process's group, in the order of their ranks.
    pub own: Vec<i32>,
    /// This process's rank in it.
    pub own_rank: u32,
    /// World ranks of the remote group of an intercommunicator.
    pub remote: Option<Vec<i32>>,
}

impl Members {
    /// The remote group, as both sides identify it: the first is that whose rank 0 has the lesser world rank.
    fn other(&self, remote: &[i32]) -> OtherGroup {
        let is_elsewhere = remote.iter().any(|&world_rank| world_rank < 0);
        let size = if is_elsewhere { OtherGroup::ELSEWHERE } else { remote.len() as u32 };
        OtherGroup { size, is_first: remote.first() < self.own.first() }
    }
}

/// Where a communicator comes from.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    /// It is the world.
    World,
    /// Made by a call on this parent, with its number.
    Child(&'a Comm, u64),
    /// A call made it that was not seen, or that not all members of a parent made; its own members give it its identity.
    Unseen,
    /// It is the same wherever it has this name.
    Named,
}

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(MULTIPLIER);
    mixed ^ (mixed >> 29)
}

/// The communicators of a process, by handle.
#[derive(Debug, Default)]
pub struct Comms {
    by_handle: HashMap<u64, Arc<Comm>>,
    by_index: HashMap<u32, Arc<Comm>>,
    /// Numbers of freed ones that are still in use.
    freed: Vec<u32>,
    made: u32,
    unseen: HashMap<u64, u64>,
}

impl Comms {
    /// Takes up a communicator. One of the same handle is forgotten: the library reuses handles.
    pub fn insert(&mut self, handle: u64, members: &Members, origin: Origin<'_>) -> Arc<Comm> {
        self.insert_as(handle, members, origin, About::default())
    }

    /// Adds one with the same members as a communicator, or one with known details.
    pub fn insert_as(
        &mut self,
        handle: u64,
        members: &Members,
        origin: Origin<'_>,
        about: About,
    ) -> Arc<Comm> {
        let remote = members.remote.as_deref().unwrap_or_default();
        // Both sides of an intercommunicator have to name the same leader.
        let leaders = members.own.first().into_iter().chain(remote.first());
        let leader = leaders.copied().min().unwrap_or_default();
        let (id, parent) = match origin {
            Origin::World => (0, NO_COMM),
            // Communicators that one call makes have different leaders, for every process gets at most one.
            Origin::Child(parent, number) => {
                (mix(mix(mix(MULTIPLIER, parent.id), number), leader as u64) | 1, parent.index)
            }
            Origin::Unseen => (self.unseen_id(members, about.kind), NO_COMM),
            Origin::Named => (about.id_of_name(), NO_COMM),
        };
        let peers = members.remote.as_deref().unwrap_or(&members.own);
        let comm = Arc::new(Comm {
            index: self.made.min(MAX_COMM + 1),
            handle,
            id,
            own_rank: members.own_rank,
            size: members.own.len() as u32,
            leader: leader.max(0) as u32,
            parent,
            is_inter: members.remote.is_some(),
            other: members.remote.as_deref().map(|remote| members.other(remote)),
            peers: peers.iter().map(|&world_rank| Peer::new(world_rank)).collect(),
            children: AtomicU64::new(0),
            collectives: AtomicU64::new(0),
            about,
            degrees: OnceLock::new(),
        });
        self.made = self.made.saturating_add(1);
        if comm.index <= MAX_COMM {
            self.by_index.insert(comm.index, Arc::clone(&comm));
        }
        if let Some(stale) = self.by_handle.insert(handle, Arc::clone(&comm)) {
            self.freed.push(stale.index);
        }
        comm
    }

    /// The same members may have several communicators: the number among those of these members, as every member
    /// counts.
    fn unseen_id(&mut self, members: &Members, kind: CommKind) -> u64 {
        let remote = members.remote.as_deref().unwrap_or_default();
        let mut all: Vec<i32> = members.own.iter().chain(remote).copied().collect();
        all.sort_unstable();
        // An intercommunicator and its merged intracommunicator have the same members.
        let kind = !MULTIPLIER ^ u64::from(members.remote.is_some()) ^ (kind as u64) << 1;
        let members_hash = all.iter().fold(kind, |hash, &rank| mix(hash, rank as u64));
        let occurrence = self.unseen.entry(members_hash).or_default();
        *occurrence += 1;
        mix(members_hash, *occurrence) & !1 | 2
    }

    /// The communicator of a handle.
    #[must_use]
    pub fn get(&self, handle: u64) -> Option<Arc<Comm>> {
        self.by_handle.get(&handle).cloned()
    }

    /// The communicator of this process's number, also a freed one that is still in use.
    #[must_use]
    pub fn by_index(&self, index: u32) -> Option<Arc<Comm>> {
        self.by_index.get(&index).cloned()
    }

    /// A communicator was freed. It is kept as long as it is `in_use`: receives on it may still complete.
    pub fn remove(&mut self, handle: u64, in_use: impl Fn(u32) -> bool) -> Option<Arc<Comm>> {
        let removed = self.by_handle.remove(&handle);
        self.freed.extend(removed.as_ref().map(|comm| comm.index));
        let Self { by_index, freed, .. } = self;
        freed.retain(|&index| {
            let kept = in_use(index);
            if !kept {
                by_index.remove(&index);
            }
            kept
        });
        removed
    }

    /// A communicator that was taken for freed is not.
    pub fn restore(&mut self, handle: u64, comm: Arc<Comm>) {
        self.freed.retain(|&index| index != comm.index);
        self.by_index.insert(comm.index, Arc::clone(&comm));
        self.by_handle.insert(handle, comm);
    }
}

const CACHED: usize = 8;
const CACHED_BY_INDEX: usize = 64;

/// A thread's cache of communicators: a message needs no lock.
#[derive(Debug)]
pub struct CommCache {
    by_handle: [Option<(u64, u32, Arc<Comm>)>; CACHED],
    by_index: [Option<Arc<Comm>>; CACHED_BY_INDEX],
}

impl Default for CommCache {
    fn default() -> Self {
        Self { by_handle: [const { None }; CACHED], by_index: [const { None }; CACHED_BY_INDEX] }
    }
}

impl CommCache {
    /// The communicator of a handle, as long as none was made or freed since `epoch`; else `find` looks.
    #[inline]
    pub fn get(
        &mut self,
        handle: u64,
        epoch: u32,
        find: impl FnOnce() -> Option<Arc<Comm>>,
    ) -> Option<&Arc<Comm>> {
        let entry = &mut self.by_handle[(handle ^ handle >> 8) as usize % CACHED];
        if !matches!(entry, Some((cached, since, _)) if *cached == handle && *since == epoch) {
            learn(entry, || Some((handle, epoch, find()?)))?;
        }
        entry.as_ref().map(|(_, _, comm)| comm)
    }

    /// The communicator of a number, which never becomes another's; where it is not known `find` looks.
    #[inline]
    pub fn get_by_index(
        &mut self,
        index: u32,
        find: impl FnOnce() -> Option<Arc<Comm>>,
    ) -> Option<&Arc<Comm>> {
        let entry = &mut self.by_index[index as usize % CACHED_BY_INDEX];
        if entry.as_ref().is_none_or(|comm| comm.index != index) {
            learn(entry, find)?;
        }
        entry.as_ref()
    }
}

/// Out of line, to keep only the common path inline.
#[cold]
#[inline(never)]
fn learn<T>(entry: &mut Option<T>, find: impl FnOnce() -> Option<T>) -> Option<()> {
    *entry = Some(find()?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(own: &[i32], own_rank: u32) -> Members {
        Members { own: own.to_vec(), own_rank, remote: None }
    }

    #[test]
    fn members_agree_on_identities_without_talking() {
        let mut ids = Vec::new();
        for process in 0..4_u32 {
            let mut comms = Comms::default();
            let world = comms.insert(1, &members(&[0, 1, 2, 3], process), Origin::World);
            let half: &[i32] = if process % 2 == 0 { &[2, 0] } else { &[3, 1] };
            let split = comms.insert(2, &members(half, 0), Origin::Child(&world, world.count_child()));
            let again = comms.insert(3, &members(half, 0), Origin::Child(&world, world.count_child()));
            let below = comms.insert(4, &members(half, 0), Origin::Child(&split, split.count_child()));
            ids.push([world.id, split.id, again.id, below.id]);
        }
        assert_eq!(ids[0], ids[2]);
        assert_eq!(ids[1], ids[3]);
        let mut all: Vec<u64> = ids[0].iter().chain(&ids[1][1..]).copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 7);
    }

    #[test]
    fn unseen_communicators_differ_by_members_and_turn() {
        let mut comms = Comms::default();
        let first = comms.insert(1, &members(&[0, 1], 0), Origin::Unseen).id;
        let second = comms.insert(2, &members(&[0, 1], 0), Origin::Unseen).id;
        let other = comms.insert(3, &members(&[0, 2], 0), Origin::Unseen).id;
        assert!(first != second && first != other && second != other);
        let mut elsewhere = Comms::default();
        assert_eq!(elsewhere.insert(9, &members(&[0, 1], 1), Origin::Unseen).id, first);
    }

    #[test]
    fn ranks_on_an_intercommunicator_are_of_the_other_side() {
        let mut comms = Comms::default();
        let inter = Members { own: vec![0, 1], own_rank: 0, remote: Some(vec![5, 4]) };
        let comm = comms.insert(1, &inter, Origin::Unseen);
        assert_eq!(comm.peer(1).map(|peer| peer.world_rank), Some(4));
        assert!(comm.peer(2).is_none() && comm.peer(-1).is_none());
        assert_eq!(comm.definition().other, Some(OtherGroup { size: 2, is_first: false }));
        let other_group = |own: &[i32], remote: &[i32]| {
            let members = Members { own: own.to_vec(), own_rank: 0, remote: Some(remote.to_vec()) };
            Comms::default().insert(1, &members, Origin::Unseen).definition().other
        };
        assert_eq!(other_group(&[5, 4], &[0, 1, 2]), Some(OtherGroup { size: 3, is_first: true }));
        let elsewhere = OtherGroup { size: OtherGroup::ELSEWHERE, is_first: true };
        assert_eq!(other_group(&[0, 1], &[-1, -1]), Some(elsewhere));
    }

    #[test]
    fn a_cache_forgets_when_communicators_change() {
        let mut comms = Comms::default();
        comms.insert(8, &members(&[0], 0), Origin::World);
        let mut cache = CommCache::default();
        assert_eq!(cache.get(8, 1, || comms.get(8)).map(|comm| comm.index), Some(0));
        assert_eq!(cache.get(8, 1, || unreachable!()).map(|comm| comm.index), Some(0));
        comms.insert(8, &members(&[0], 0), Origin::Unseen);
        assert_eq!(cache.get(8, 2, || comms.get(8)).map(|comm| comm.index), Some(1));
        comms.remove(8, |_| false);
        assert!(cache.get(8, 3, || comms.get(8)).is_none());
    }

    #[test]
    fn a_freed_communicator_is_kept_while_receives_on_it_are_open() {
        let mut comms = Comms::default();
        comms.insert(8, &members(&[0], 0), Origin::World);
        comms.insert(9, &members(&[0], 0), Origin::Unseen);
        comms.remove(9, |index| index == 1);
        assert!(comms.get(9).is_none());
        let mut cache = CommCache::default();
        let index = |comm: Option<&Arc<Comm>>| comm.map(|comm| comm.index);
        assert_eq!(index(cache.get_by_index(1, || comms.by_index(1))), Some(1));
        comms.insert(9, &members(&[0], 0), Origin::Unseen);
        let second = comms.remove(9, |_| false).unwrap();
        assert!(comms.by_index(1).is_none() && comms.by_index(2).is_none());
        comms.restore(9, second);
        assert_eq!((index(comms.get(9).as_ref()), index(comms.by_index(2).as_ref())), (Some(2), Some(2)));
        assert_eq!(index(cache.get_by_index(1, || unreachable!())), Some(1));
        assert_eq!(index(cache.get_by_index(1 + CACHED_BY_INDEX as u32, || comms.by_index(9))), None);
    }
}
