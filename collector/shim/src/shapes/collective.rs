//! Collectives, blocking and not.
#![expect(unsafe_code, reason = "all shapes share one signature; the pointers are the program's")]

use super::message::{comm_key, made};
use super::request::init;
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{Recorder, recorded_asking};
use crate::process::Process;
use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use mpiscope_capture::collective::{Blocks, Kind, Role, Stand, bytes};
use mpiscope_capture::{Comm, Family, Posted, Template};
use mpiscope_wire::{Asked, CallFlags, PEER_ANY, PEER_NONE};

/// The form of the block arguments of one direction.
pub(crate) trait Side {
    /// The bytes of the block of a rank.
    fn block<L: Language>(&self, recorder: &mut Recorder, rank: usize) -> u64;

    /// The bytes of the blocks of this number of ranks.
    fn all<L: Language>(&self, recorder: &mut Recorder, ranks: usize) -> u64 {
        (0..ranks).fold(0, |sum, rank| sum.saturating_add(self.block::<L>(recorder, rank)))
    }
}

/// No block: the call does not have this direction.
pub(crate) struct Nothing;

/// The same count and type for every rank.
pub(crate) struct Same(pub(crate) i64, pub(crate) Handle);

/// A count for each rank, and one type.
pub(crate) struct Each<N>(pub(crate) *mut N, pub(crate) Handle);

/// A count and a type for each rank.
pub(crate) struct EachTyped<N>(pub(crate) *mut N, pub(crate) *mut Handle);

impl Side for Nothing {
    fn block<L: Language>(&self, _: &mut Recorder, _: usize) -> u64 {
        0
    }
}

impl Side for Same {
    #[inline(always)]
    fn block<L: Language>(&self, recorder: &mut Recorder, _: usize) -> u64 {
        let datatype = L::handle(HandleKind::Datatype, self.1);
        recorder.bytes(self.0, datatype)
    }
    fn all<L: Language>(&self, recorder: &mut Recorder, ranks: usize) -> u64 {
        self.block::<L>(recorder, 0).saturating_mul(ranks as u64)
    }
}

impl<N: Copy + Into<i64>> Side for Each<N> {
    fn block<L: Language>(&self, recorder: &mut Recorder, rank: usize) -> u64 {
        // SAFETY: it is asked only for ranks for which the standard demands an element.
        Same(unsafe { *self.0.add(rank) }.into(), self.1).block::<L>(recorder, rank)
    }
    fn all<L: Language>(&self, recorder: &mut Recorder, ranks: usize) -> u64 {
        // SAFETY: likewise.
        let counts = (0..ranks).map(|rank| unsafe { *self.0.add(rank) }.into());
        Same(counts.fold(0, i64::saturating_add), self.1).block::<L>(recorder, 0)
    }
}

impl<N: Copy + Into<i64>> Side for EachTyped<N> {
    fn block<L: Language>(&self, recorder: &mut Recorder, rank: usize) -> u64 {
        // SAFETY: likewise.
        let (count, datatype) = unsafe {
            (*self.0.add(rank), L::element(&recorder.process.library, HandleKind::Datatype, self.1, rank))
        };
        Same(count.into(), datatype).block::<L>(recorder, rank)
    }
}

/// What a call names as its data.
pub(crate) struct Data<S, R> {
    /// Where the constant for "in place" may stand.
    pub(crate) buffer: *const c_void,
    pub(crate) send: S,
    pub(crate) receive: R,
}

struct Measured<'a, L, S, R> {
    recorder: &'a mut Recorder,
    data: &'a Data<S, R>,
    language: PhantomData<L>,
}

impl<L: Language, S: Side, R: Side> Blocks for Measured<'_, L, S, R> {
    #[inline(always)]
    fn bytes_to(&mut self, rank: usize) -> u64 {
        self.data.send.block::<L>(self.recorder, rank)
    }
    #[inline(always)]
    fn from(&mut self, rank: usize) -> u64 {
        self.data.receive.block::<L>(self.recorder, rank)
    }
    fn all_to(&mut self, ranks: usize) -> u64 {
        self.data.send.all::<L>(self.recorder, ranks)
    }
    fn all_from(&mut self, ranks: usize) -> u64 {
        self.data.receive.all::<L>(self.recorder, ranks)
    }
}

#[inline(always)]
fn stand(family: &Family, comm: &Comm, root: Option<c_int>, in_place: bool) -> Stand {
    let role = match root {
        None => Role::Member,
        Some(root) if root == family.root => Role::RemoteRoot,
        Some(root) if root == family.proc_null => Role::Bystander,
        Some(root) if !comm.is_inter && u32::try_from(root) == Ok(comm.own_rank) => Role::Root,
        Some(_) => Role::Leaf,
    };
    let (own_rank, own_size) = (comm.own_rank as usize, comm.size as usize);
    Stand { role, own_rank, own_size, peers: comm.peer_count(), sources: 0, in_place }
}

/// Where a rank stands among its neighbours.
#[cold]
fn among_neighbors(process: &Process, comm: &Comm, handle: Handle, stand: Stand) -> Stand {
    let library = &process.library;
    let (sources, peers) = comm.degrees(|| library.topology.degrees(library.family, handle, comm.own_rank));
    Stand { peers: peers as usize, sources: sources as usize, ..stand }
}

fn is_among_neighbors(kind: Kind) -> bool {
    matches!(kind, Kind::NeighborAllgather | Kind::NeighborAlltoall)
}

/// The world rank of a root as a call has it.
fn root_of(family: &Family, comm: &Comm, root: c_int) -> Option<i32> {
    match comm.peer(root) {
        Some(root) => Some(root.world_rank),
        None => (root == family.root).then_some(PEER_ANY),
    }
}

/// # Safety
/// The arguments are those of a call that keeps the rules of the standard.
#[inline]
pub(crate) unsafe fn collective<L: Language, S: Side, R: Side>(
    function: u16,
    kind: Kind,
    data: &Data<S, R>,
    root: Option<c_int>,
    comm: Handle,
    request: Option<*mut Handle>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // One that has a request returns at once.
    let asked = || match request {
        None => Asked::Members { comm: comm_key::<L>(comm) },
        Some(_) => Asked::Nothing,
    };
    recorded_asking::<L, _>(function, asked, real, |recorder, (result, at)| {
        let process = recorder.process;
        let in_place = L::is_in_place(&process.library, data.buffer);
        let family = process.library.family;
        let mut call = made(function, at, result);
        let handle = L::handle(HandleKind::Comm, comm);
        let stand = recorder.with_comm(handle, |thread, _, comm| {
            thread.place(&mut call, comm);
            // Every member counts, also one whose call failed: the numbers go on agreeing.
            let number = comm.count_collective(process.capture.has_threads());
            call.flags = call.flags.with(CallFlags::COLLECTIVE);
            call.tag = number as i32;
            if let Some(root) = root.and_then(|root| root_of(family, comm, root)) {
                call.peer = root;
            }
            let stand = stand(family, comm, root, in_place);
            if is_among_neighbors(kind) { among_neighbors(process, comm, handle, stand) } else { stand }
        });
        if let Some(stand) = stand.filter(|_| result == 0) {
            call.bytes = bytes(kind, &stand, &mut Measured { recorder, data, language: PhantomData::<L> });
        }
        let Some(request) = request.filter(|_| result == 0) else { return recorder.commit(&call) };
        let recorded = recorder.commit(&call);
        if stand.is_some() {
            // SAFETY: the call has just set it.
            let handle = unsafe { L::key(&process.library, HandleKind::Request, request, 0) };
            // It is no receive's any more, whatever is known of the communicator; see `start_send`.
            let started = Posted::collective(call.comm, u64::from(call.tag as u32), recorded);
            let stale = process.requests(|requests| requests.insert_collective(handle, started));
            recorder.displaced(stale);
        }
        recorded
    })
}

/// A call that made a persistent request of a collective.
///
/// # Safety
/// As for [`collective`].
pub(crate) unsafe fn collective_init<L: Language, S: Side, R: Side>(
    function: u16,
    kind: Kind,
    data: &Data<S, R>,
    root: Option<c_int>,
    comm: Handle,
    request: Option<*mut Handle>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(request) = request else { return real() };
    let template = |recorder: &mut Recorder, index: u32| {
        let process = recorder.process;
        let family = process.library.family;
        let in_place = L::is_in_place(&process.library, data.buffer);
        let handle = L::handle(HandleKind::Comm, comm);
        let (stand, world_root, made) = recorder.with_comm(handle, |_, _, comm| {
            let stand = stand(family, comm, root, in_place);
            let neighbors = is_among_neighbors(kind);
            let stand = if neighbors { among_neighbors(process, comm, handle, stand) } else { stand };
            let root = root.and_then(|root| root_of(family, comm, root)).unwrap_or(PEER_NONE);
            (stand, root, comm.count_collective(process.capture.has_threads()) as u32)
        })?;
        let bytes = bytes(kind, &stand, &mut Measured { recorder, data, language: PhantomData::<L> });
        Some(Template::Collective { comm: index, function, root: world_root, bytes, made, starts: 0 })
    };
    // SAFETY: the arguments are the program's own.
    unsafe { init::<L>(function, comm, request, real, template) }
}
