//! Communicators as groups of ranks.
//!
//! A recording has the size of a communicator and its first rank. Of the other members it has those that used the communicator,
//! without their order: they come by their ranks behind the first one. The world has all ranks in order.

use crate::export::gather::TraceContents;
use crate::export::source::Source;
use mpiscope_model::{Comm, Rank};
use std::collections::BTreeMap;

/// The members of each communicator.
pub(super) struct Groups {
    ranks: u32,
    members: BTreeMap<Comm, Vec<Rank>>,
    leaders: BTreeMap<Comm, Rank>,
    /// The communicators in order.
    comms: Vec<Comm>,
}

impl Groups {
    pub(super) fn new(about: &TraceContents, source: &Source<'_>, ranks: u32) -> Self {
        let leaders: BTreeMap<Comm, Rank> =
            source.comms.iter().filter(|info| info.size > 0).map(|info| (info.comm, info.leader)).collect();
        let others = about.members.iter().filter(|(comm, _)| **comm != Comm::WORLD);
        let members = others.map(|(comm, members)| (*comm, members.iter().copied().collect()));
        Self::from_members(ranks, members.collect(), leaders)
    }

    fn from_members(ranks: u32, members: BTreeMap<Comm, Vec<Rank>>, leaders: BTreeMap<Comm, Rank>) -> Self {
        let comms = [Comm::WORLD].into_iter().chain(members.keys().copied()).collect();
        Self { ranks, members, leaders, comms }
    }

    /// The communicators.
    pub(super) fn comms(&self) -> impl Iterator<Item = Comm> {
        self.comms.iter().copied()
    }

    /// The number of a communicator in the archive, where they are counted without gaps.
    pub(super) fn number(&self, comm: Comm) -> u32 {
        self.comms.binary_search(&comm).unwrap_or_default() as u32
    }

    pub(super) fn has(&self, comm: Comm) -> bool {
        comm == Comm::WORLD || self.members.contains_key(&comm)
    }

    /// The ranks of a communicator in order.
    pub(super) fn members(&self, comm: Comm) -> Vec<u64> {
        let Some(members) = self.members.get(&comm) else { return (0..u64::from(self.ranks)).collect() };
        let leader = self.leader(comm);
        let others = members.iter().copied().filter(|rank| Some(*rank) != leader);
        leader.into_iter().chain(others).map(|rank| rank.0.into()).collect()
    }

    /// The first rank of a communicator, if it is known and a member.
    fn leader(&self, comm: Comm) -> Option<Rank> {
        let members = self.members.get(&comm)?;
        self.leaders.get(&comm).copied().filter(|leader| members.binary_search(leader).is_ok())
    }

    /// The place of a rank in a communicator.
    pub(super) fn place(&self, comm: Comm, rank: Rank) -> Option<u32> {
        let Some(members) = self.members.get(&comm) else { return (comm == Comm::WORLD).then_some(rank.0) };
        let sorted = members.binary_search(&rank).ok()?;
        let place = match self.leader(comm) {
            Some(leader) if leader == rank => 0,
            // Ranks before the leader move up by one.
            Some(leader) if rank < leader => sorted + 1,
            _ => sorted,
        };
        u32::try_from(place).ok()
    }

    /// The place of a message's peer, and the number of the communicator of that place: the world, if the peer is not in the
    /// message's own communicator.
    pub(super) fn peer(&self, comm: Comm, rank: Rank) -> (u32, u32) {
        self.place(comm, rank).map_or((rank.0, self.number(Comm::WORLD)), |place| (place, self.number(comm)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_communicator_comes_first() {
        let groups = Groups::from_members(
            4,
            [(Comm(3), [2, 5, 7].map(Rank).into()), (Comm(8), [0, 3].map(Rank).into())].into(),
            [(Comm(3), Rank(5)), (Comm(8), Rank(9))].into(),
        );
        assert_eq!(
            (groups.members(Comm::WORLD), groups.members(Comm(3)), groups.members(Comm(8))),
            (vec![0, 1, 2, 3], vec![5, 2, 7], vec![0, 3])
        );
        for comm in groups.comms() {
            for (place, rank) in (0..).zip(groups.members(comm)) {
                assert_eq!(groups.place(comm, Rank(rank as u32)), Some(place), "{comm} {rank}");
            }
        }
        assert_eq!(
            (groups.place(Comm(3), Rank(0)), groups.peer(Comm(3), Rank(0)), groups.peer(Comm(3), Rank(2))),
            (None, (0, 0), (1, 1))
        );
        assert_eq!([Comm::WORLD, Comm(3), Comm(8)].map(|comm| groups.number(comm)), [0, 1, 2]);
        assert_eq!((groups.place(Comm(9), Rank(0)), groups.has(Comm(9))), (None, false));
    }
}
