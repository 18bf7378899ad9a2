//! The effects of calls: the functions of MPI by who waits for whom.

use crate::closed_call::{Closed, Moved};
use mpiscope_model::{Blocking, Collective, Comm, Effect, Flow, Rank};
use mpiscope_wire::{self as wire, CallFlags, Family, Part, PartFlags};
use rustc_hash::FxHashSet;

/// A collective function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    flow: Flow,
    is_barrier: bool,
    /// It returns before it is done.
    only_starts: bool,
}

/// Who waits for whom in a collective; none for all other functions.
fn kind(function: u16) -> Option<Kind> {
    let entry = wire::by_id(function)?;
    let name = entry.name.strip_suffix("_c").unwrap_or(entry.name).strip_prefix("MPI_")?;
    let persistent = name.strip_suffix("_init");
    let name = persistent.unwrap_or(name);
    let started = name.strip_prefix('I').map(str::to_ascii_lowercase);
    let only_starts = started.is_some() || persistent.is_some();
    let name = started.unwrap_or_else(|| name.to_ascii_lowercase());
    let flow = match (entry.family, &*name) {
        (Family::Barrier, _) => Flow::All,
        (Family::All, "scan" | "exscan") => Flow::FromLower,
        (Family::Rooted, "bcast" | "scatter" | "scatterv") => Flow::FromRoot,
        (Family::Rooted, "reduce" | "gather" | "gatherv") => Flow::ToRoot,
        (Family::All, _) => Flow::All,
        _ => return None,
    };
    Some(Kind { flow, is_barrier: entry.family == Family::Barrier, only_starts })
}

/// Who waits for whom in a collective that is done when its call returns; none for all other functions.
pub(crate) fn flow(function: u16) -> Option<Flow> {
    kind(function).filter(|kind| !kind.only_starts).map(|kind| kind.flow)
}

fn returns(function: u16) -> Blocking {
    let name = wire::by_id(function).map_or("", |entry| entry.name);
    match name.strip_suffix("_c").unwrap_or(name) {
        "MPI_Ssend" => Blocking::Always,
        "MPI_Send" | "MPI_Rsend" => Blocking::Perhaps,
        _ => Blocking::Never,
    }
}

/// What a call of a collective function did.
#[inline]
fn collective_effect(caller: Rank, closed: &Closed, kind: Kind, comm: Comm) -> Effect {
    let call = &closed.call;
    // The root among those who deal with another group is the one that names itself.
    let root = if call.peer == wire::PEER_ANY { Some(caller) } else { rank_of(call.peer) };
    let collective = Collective {
        comm,
        number: call.tag as u32,
        flow: kind.flow,
        side: closed.side,
        root,
        bytes: call.bytes,
        is_barrier: kind.is_barrier,
    };
    // One that failed is waited for by the others all the same, and completed by no call.
    let goes_on = kind.only_starts && !call.flags.has(CallFlags::ERROR);
    if goes_on { Effect::Start(collective) } else { Effect::Collective(collective) }
}

/// What all functions do, by id.
#[derive(Debug)]
pub(crate) struct Functions {
    collectives: Vec<Option<Kind>>,
    returns: Vec<Blocking>,
}

impl Functions {
    pub(crate) fn new() -> Self {
        let ids = 0..=wire::FUNCTIONS.iter().map(|entry| entry.id).max().unwrap_or_default();
        Self { collectives: ids.clone().map(kind).collect(), returns: ids.map(returns).collect() }
    }

    /// What a call did.
    pub(crate) fn effect(&self, caller: Rank, closed: &Closed, moved: &Moved<'_>) -> Effect {
        let call = &closed.call;
        let at = usize::from(call.function);
        if call.flags.has(CallFlags::FOLDED) {
            return Effect::Polls;
        }
        if call.flags.has(CallFlags::COLLECTIVE)
            && let (Some(Some(kind)), Some(comm)) = (self.collectives.get(at).copied(), closed.comm)
        {
            return collective_effect(caller, closed, kind, comm);
        }
        if call.flags.has(CallFlags::PROBE) {
            return Effect::Probe;
        }
        if let Some(of) = moved.last_started.filter(|_| moved.sends + moved.receives == 0)
            && let Some(started) = self.started(caller, closed, of)
        {
            return Effect::Start(started);
        }
        let has_peer = closed.comm.is_some() && call.peer >= 0;
        let own = |flag| usize::from(has_peer && call.flags.has(flag));
        let small = |number: usize| number.min(usize::from(u16::MAX)) as u16;
        let sends = moved.sends + own(CallFlags::SEND);
        let receives = moved.receives + own(CallFlags::RECEIVE);
        let posted = |flags: PartFlags| flags == PartFlags::POSTED || flags == PartFlags::INLINE;
        let posts = closed.parts.iter().filter(|(part, _)| posted(part.flags)).count()
            + usize::from(call.flags.has(CallFlags::POST) && call.peer != wire::PEER_NONE)
            + own(CallFlags::RECEIVE);
        if sends + receives + posts > 0 {
            let send = self.returns.get(at).copied().unwrap_or(Blocking::Never);
            let (sends, posts, receives) = (small(sends), small(posts), small(receives));
            let peer = if call.flags.has(CallFlags::SEND) { rank_of(call.peer) } else { None };
            return Effect::Transfer { sends, posts, receives, send, peer, bytes: call.bytes };
        }
        Effect::Other
    }
}

impl Functions {
    /// A collective that a call started which another one had made.
    fn started(
        &self,
        caller: Rank,
        closed: &Closed,
        (part, comm): &(Part, Option<Comm>),
    ) -> Option<Collective> {
        let kind = self.collectives.get(usize::try_from(part.post).ok()?).copied()??;
        let root = if part.peer == wire::PEER_ANY { Some(caller) } else { rank_of(part.peer) };
        Some(Collective {
            comm: (*comm)?,
            number: part.tag as u32,
            flow: kind.flow,
            side: closed.side,
            root,
            bytes: part.bytes,
            is_barrier: kind.is_barrier,
        })
    }
}

/// The world rank that a call names, where it names one.
pub(crate) fn rank_of(peer: i32) -> Option<Rank> {
    u32::try_from(peer).ok().map(Rank)
}

/// More than are under way at once.
const MOST_UNDIAGNOSED: usize = 1 << 16;

/// Started collectives of a process that the diagnosis leaves out: those among neighbours, and all but the last of
/// several that one call starts. Who waits for whom in them is unknown.
#[derive(Debug, Default)]
pub(crate) struct Undiagnosed(FxHashSet<(Comm, u32)>);

impl Undiagnosed {
    /// A call may have started some.
    pub(crate) fn see(&mut self, closed: &Closed, effect: &Effect) {
        let diagnosed = match effect {
            Effect::Start(of) | Effect::Collective(of) => Some((of.comm, of.number)),
            _ => None,
        };
        let name = || wire::by_id(closed.call.function).map_or("", |entry| entry.name);
        let only_starts = closed.call.flags.has(CallFlags::COLLECTIVE) && name().starts_with("MPI_I");
        let own = closed.comm.filter(|_| only_starts).map(|comm| (comm, closed.call.tag as u32));
        let parts = closed.parts.iter().filter(|(part, _)| part.flags == PartFlags::STARTED);
        let started = parts.filter_map(|(part, comm)| Some(((*comm)?, part.tag as u32)));
        for of in own.into_iter().chain(started).filter(|of| Some(*of) != diagnosed) {
            if self.0.len() >= MOST_UNDIAGNOSED {
                self.0.clear();
            }
            self.0.insert(of);
        }
    }

    /// One completed; whether it is one of these.
    pub(crate) fn completes(&mut self, comm: Comm, number: u32) -> bool {
        !self.0.is_empty() && self.0.remove(&(comm, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_differ_by_who_waits_for_whom() {
        let find = |name: &str| wire::FUNCTIONS.iter().find(|entry| entry.name == name).unwrap().id;
        let flow = |name| kind(find(name)).map(|kind| kind.flow);
        assert_eq!(flow("MPI_Barrier"), Some(Flow::All));
        assert_eq!(flow("MPI_Allreduce_c"), Some(Flow::All));
        assert_eq!(flow("MPI_Bcast"), Some(Flow::FromRoot));
        assert_eq!(flow("MPI_Gatherv"), Some(Flow::ToRoot));
        assert_eq!(flow("MPI_Exscan"), Some(Flow::FromLower));
        assert_eq!(flow("MPI_Send"), None);
        // Each that returns before it is done is as the one that does not.
        let is_collective = |family| matches!(family, Family::Barrier | Family::All | Family::Rooted);
        let mut started = 0;
        for entry in wire::FUNCTIONS.iter().filter(|entry| is_collective(entry.family)) {
            let of = kind(entry.id).unwrap();
            let name = entry.name.strip_suffix("_c").unwrap_or(entry.name);
            let only_starts = name.starts_with("MPI_I") || name.ends_with("_init");
            assert_eq!(of.only_starts, only_starts, "{}", entry.name);
            if let Some(blocking) = name.strip_suffix("_init") {
                started += 1;
                assert_eq!(kind(find(blocking)), Some(Kind { only_starts: false, ..of }), "{blocking}");
            }
            if let Some(rest) = entry.name.strip_prefix("MPI_I") {
                started += 1;
                let blocking = format!("MPI_{}{}", rest[..1].to_uppercase(), &rest[1..]);
                assert_eq!(kind(find(&blocking)), Some(Kind { only_starts: false, ..of }), "{blocking}");
            }
        }
        assert_eq!(started, 66);
        assert_eq!(flow("MPI_Neighbor_alltoall"), None);
        assert_eq!(returns(find("MPI_Ssend")), Blocking::Always);
        assert_eq!(returns(find("MPI_Send_c")), Blocking::Perhaps);
        assert_eq!(returns(find("MPI_Isend")), Blocking::Never);
        assert_eq!(returns(find("MPI_Sendrecv")), Blocking::Never);
    }
}
