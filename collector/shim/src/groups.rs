//! Everything that has members, by handle: communicators, windows, files.

use crate::handle::{Handle, HandleKind};
use crate::process::{Process, unpoisoned};
use mpiscope_capture::{About, Comm, Members, Origin};
use mpiscope_wire::CommKind;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Handles of different kinds may be the same number; no handle has these bits.
const WINDOW: u64 = 1 << 63;
const FILE: u64 = 1 << 62;
/// What partitioned messages of a communicator go over: only they match each other.
const PARTITIONED: u64 = 1 << 61;
const PHASE: u64 = 1 << 60;
/// No other child of a communicator has this number.
const PARTITIONED_CHILD: u64 = u64::MAX;

fn about(kind: CommKind, name: String) -> About {
    About { kind, name: Mutex::new(name), ..About::default() }
}

impl Process {
    /// What something of a kind is known by.
    pub(crate) fn key(&self, kind: HandleKind, handle: Handle) -> u64 {
        match kind {
            HandleKind::Window => self.library.handle(handle) | WINDOW,
            HandleKind::File => handle as u64 | FILE,
            _ => self.library.handle(handle),
        }
    }

    /// The communicator of a handle; one that was made unseen is taken up now.
    pub(crate) fn find_comm(&self, handle: Handle) -> Option<Arc<Comm>> {
        let key = self.library.handle(handle);
        if key == self.library.comm_null {
            return None;
        }
        let known = unpoisoned(&self.comms).get(key);
        known.or_else(|| {
            let members = self.library.members(handle)?;
            let grid = self.library.topology.grid(self.library.family, handle);
            let mut comms = unpoisoned(&self.comms);
            // Another thread may have met it first.
            let about = About { grid, ..About::default() };
            comms.get(key).or_else(|| Some(comms.insert_as(key, &members, Origin::Unseen, about)))
        })
    }

    /// The window or file of a handle, likewise.
    pub(crate) fn find_object(&self, kind: HandleKind, handle: Handle) -> Option<Arc<Comm>> {
        let key = self.key(kind, handle);
        let known = unpoisoned(&self.comms).get(key);
        known.or_else(|| {
            let members = self.library.members_of(kind, handle)?;
            let mut comms = unpoisoned(&self.comms);
            let about = about(comm_kind(kind), String::new());
            comms.get(key).or_else(|| Some(comms.insert_as(key, &members, Origin::Unseen, about)))
        })
    }

    /// A call made a communicator.
    pub(crate) fn adopt_comm(&self, handle: u64, origin: Origin<'_>) -> Option<Arc<Comm>> {
        if handle == self.library.comm_null {
            return None;
        }
        let members = self.library.members(handle as usize)?;
        let grid = self.library.topology.grid(self.library.family, handle as usize);
        Some(self.adopt(handle, &members, origin, About { grid, ..About::default() }))
    }

    /// A call on `parent` began to make another one of the same members, which may not be asked yet.
    pub(crate) fn adopt_duplicate(&self, handle: u64, parent: Handle, origin: Origin<'_>) {
        if handle == self.library.comm_null || handle == 0 {
            return;
        }
        let Some(members) = self.library.members(parent) else { return };
        let grid = self.library.topology.grid(self.library.family, parent);
        self.adopt(handle, &members, origin, About { grid, ..About::default() });
    }

    /// A call on `parent`, a communicator of C, made a window or a file of its members.
    pub(crate) fn adopt_object(&self, kind: HandleKind, key: u64, parent: Handle, comm: &Comm, name: String) {
        let number = comm.count_child();
        let Some(members) = self.library.members(parent) else { return };
        self.adopt(key, &members, Origin::Child(comm, number), about(comm_kind(kind), name));
    }

    fn adopt(&self, key: u64, members: &Members, origin: Origin<'_>, about: About) -> Arc<Comm> {
        let made = unpoisoned(&self.comms).insert_as(key, members, origin, about);
        self.comm_epoch.fetch_add(1, Ordering::AcqRel);
        made
    }

    /// What partitioned messages on a communicator go over.
    pub(crate) fn partitioned_of(&self, handle: Handle, comm: &Comm) -> Option<Arc<Comm>> {
        let key = self.library.handle(handle) | PARTITIONED;
        let known = unpoisoned(&self.comms).get(key);
        known.or_else(|| {
            let members = self.library.members(handle)?;
            let about = about(CommKind::Communicator, "partitioned".into());
            Some(self.adopt(key, &members, Origin::Child(comm, PARTITIONED_CHILD), about))
        })
    }

    /// The phase of a name, the same in all processes.
    pub(crate) fn phase(&self, name: &str) -> Option<Arc<Comm>> {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let key = hasher.finish() >> 8 | PHASE;
        let known = unpoisoned(&self.comms).get(key);
        known.or_else(|| {
            let members = self.library.members(self.library.comm_world)?;
            Some(self.adopt(key, &members, Origin::Named, about(CommKind::Phase, name.to_owned())))
        })
    }

    /// The communicator of this process's number.
    pub(crate) fn comm_by_index(&self, index: u32) -> Option<Arc<Comm>> {
        unpoisoned(&self.comms).by_index(index)
    }

    /// A communicator, or what has another key, is freed. What it was, for it may turn out that it is not.
    pub(crate) fn forget_comm(&self, key: u64) -> Option<Arc<Comm>> {
        let in_use = |comm| {
            self.requests(|requests| requests.any_on(comm)) || self.messages(|messages| messages.any_on(comm))
        };
        let mut comms = unpoisoned(&self.comms);
        comms.remove(key | PARTITIONED, in_use);
        let removed = comms.remove(key, in_use);
        drop(comms);
        self.comm_epoch.fetch_add(1, Ordering::AcqRel);
        removed
    }

    /// A communicator was not freed after all.
    pub(crate) fn restore_comm(&self, key: u64, comm: Arc<Comm>) {
        unpoisoned(&self.comms).restore(key, comm);
        self.comm_epoch.fetch_add(1, Ordering::AcqRel);
    }
}

fn comm_kind(kind: HandleKind) -> CommKind {
    match kind {
        HandleKind::Window => CommKind::Window,
        HandleKind::File => CommKind::File,
        _ => CommKind::Communicator,
    }
}
