//! What a call did to whoever waited: the functions of MPI by who waits for whom.

use crate::ring::{Closed, Moved};
use mpiscope_model::{Blocking, Collective, Deed, Flow, Rank};
use mpiscope_wire::{self as wire, CallFlags, Family, PartFlags};

/// Who waits for whom in a collective; none for those that return before they are done, and for all other functions.
pub(crate) fn flow(function: u16) -> Option<(Flow, bool)> {
    let entry = wire::by_id(function)?;
    let name = entry.name.strip_suffix("_c").unwrap_or(entry.name);
    let flow = match (entry.family, name) {
        (Family::Barrier, "MPI_Barrier") => return Some((Flow::All, true)),
        (Family::All, "MPI_Scan" | "MPI_Exscan") => Flow::FromLower,
        (Family::Rooted, "MPI_Bcast" | "MPI_Scatter" | "MPI_Scatterv") => Flow::FromRoot,
        (Family::Rooted, "MPI_Reduce" | "MPI_Gather" | "MPI_Gatherv") => Flow::ToRoot,
        (Family::All, name) if !name.starts_with("MPI_I") => Flow::All,
        _ => return None,
    };
    Some((flow, false))
}

fn returns(function: u16) -> Blocking {
    let name = wire::by_id(function).map_or("", |entry| entry.name);
    match name.strip_suffix("_c").unwrap_or(name) {
        "MPI_Ssend" => Blocking::Always,
        "MPI_Send" | "MPI_Rsend" => Blocking::Perhaps,
        _ => Blocking::Never,
    }
}

/// What all functions do, by id.
#[derive(Debug)]
pub(crate) struct Functions {
    flows: Vec<Option<(Flow, bool)>>,
    returns: Vec<Blocking>,
}

impl Functions {
    pub(crate) fn new() -> Self {
        let ids = 0..=wire::FUNCTIONS.iter().map(|entry| entry.id).max().unwrap_or_default();
        Self { flows: ids.clone().map(flow).collect(), returns: ids.map(returns).collect() }
    }

    /// What a call did.
    pub(crate) fn deed(&self, closed: &Closed, moved: &Moved<'_>) -> Deed {
        let call = &closed.call;
        let at = usize::from(call.function);
        if call.flags.has(CallFlags::FOLDED) {
            return Deed::Polls;
        }
        if call.flags.has(CallFlags::COLLECTIVE)
            && let (Some(Some((flow, is_barrier))), Some(comm)) = (self.flows.get(at).copied(), closed.comm)
        {
            return Deed::Collective(Collective {
                comm,
                number: call.tag as u32,
                flow,
                root: Rank::try_from(call.peer).ok(),
                bytes: call.bytes,
                is_barrier,
            });
        }
        if call.flags.has(CallFlags::PROBE) {
            return Deed::Probe;
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
            let peer = if call.flags.has(CallFlags::SEND) { Rank::try_from(call.peer).ok() } else { None };
            return Deed::Transfer { sends, posts, receives, send, peer, bytes: call.bytes };
        }
        Deed::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_apart_by_who_waits_for_whom() {
        let find = |name: &str| wire::FUNCTIONS.iter().find(|entry| entry.name == name).unwrap().id;
        let flow = |name| flow(find(name)).map(|(flow, _)| flow);
        assert_eq!(flow("MPI_Barrier"), Some(Flow::All));
        assert_eq!(flow("MPI_Allreduce_c"), Some(Flow::All));
        assert_eq!(flow("MPI_Bcast"), Some(Flow::FromRoot));
        assert_eq!(flow("MPI_Gatherv"), Some(Flow::ToRoot));
        assert_eq!(flow("MPI_Exscan"), Some(Flow::FromLower));
        // They return before they are done.
        assert_eq!(
            [flow("MPI_Ibarrier"), flow("MPI_Iallreduce"), flow("MPI_Igather_c"), flow("MPI_Send")],
            [None; 4]
        );
        assert_eq!(returns(find("MPI_Ssend")), Blocking::Always);
        assert_eq!(returns(find("MPI_Send_c")), Blocking::Perhaps);
        assert_eq!(returns(find("MPI_Isend")), Blocking::Never);
        assert_eq!(returns(find("MPI_Sendrecv")), Blocking::Never);
    }
}
