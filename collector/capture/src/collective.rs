//! The bytes of a collective: its send blocks with the process's own one, or what it receives where it sends nothing.

/// What a rank is in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// There is no root.
    Member,
    /// It is the root.
    Root,
    /// Another rank is.
    Leaf,
    /// It is the root, and deals with the remote group of an intercommunicator (`MPI_ROOT`).
    RemoteRoot,
    /// Another rank of its own group is that (`MPI_PROC_NULL`): its arguments mean nothing.
    Bystander,
}

/// How the data of a collective goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Everybody names the same amount: broadcast, reductions, scans.
    Uniform,
    /// From all to the root.
    Gather,
    /// From the root to all.
    Scatter,
    /// From each to all, the same to everybody.
    Allgather,
    /// From each to each, to everybody something else.
    Alltoall,
    /// A reduction whose result is dealt out in blocks.
    ReduceScatter,
    /// From each to its neighbours, the same to all of them.
    NeighborAllgather,
    /// From each to its neighbours, to each something else.
    NeighborAlltoall,
}

/// Where a rank stands in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand {
    /// What it is.
    pub role: Role,
    /// Its rank.
    pub own_rank: usize,
    /// How many ranks its own group has.
    pub own_size: usize,
    /// How many ranks it deals with: its own group, or the remote one; of neighbours those it sends to.
    pub peers: usize,
    /// From how many neighbours it receives.
    pub sources: usize,
    /// Its data lies where the result will (`MPI_IN_PLACE`).
    pub in_place: bool,
}

/// The blocks in the arguments of a call. Arguments that mean nothing on a rank may hold anything, so each is looked at
/// only when it counts.
pub trait Blocks {
    /// The bytes of the block that goes to a rank.
    fn bytes_to(&mut self, rank: usize) -> u64;

    /// The bytes of the block that comes from a rank.
    fn from(&mut self, rank: usize) -> u64;

    /// The bytes of the blocks that go to the first ranks.
    fn all_to(&mut self, ranks: usize) -> u64;

    /// The bytes of the blocks that come from the first ranks.
    fn all_from(&mut self, ranks: usize) -> u64;
}

/// The bytes of a call.
#[inline]
pub fn bytes(kind: Kind, stand: &Stand, blocks: &mut impl Blocks) -> u64 {
    let root = matches!(stand.role, Role::Root | Role::RemoteRoot);
    match kind {
        _ if stand.role == Role::Bystander => 0,
        Kind::Uniform => blocks.bytes_to(0),
        Kind::Gather if stand.role == Role::RemoteRoot => blocks.all_from(stand.peers),
        Kind::Gather if root && stand.in_place => blocks.from(stand.own_rank),
        Kind::Scatter if root => blocks.all_to(stand.peers),
        Kind::Scatter => blocks.from(0),
        Kind::Allgather if stand.in_place => blocks.from(stand.own_rank),
        Kind::Gather | Kind::Allgather => blocks.bytes_to(0),
        Kind::Alltoall if stand.in_place => blocks.all_from(stand.peers),
        Kind::Alltoall => blocks.all_to(stand.peers),
        Kind::ReduceScatter => blocks.all_from(stand.own_size),
        // A rank without receivers only receives.
        Kind::NeighborAllgather | Kind::NeighborAlltoall if stand.peers == 0 => {
            blocks.all_from(stand.sources)
        }
        Kind::NeighborAllgather => blocks.bytes_to(0),
        Kind::NeighborAlltoall => blocks.all_to(stand.peers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks by rank; to look at one that is not there is to look at what means nothing.
    struct Given<'a>(&'a [u64], &'a [u64]);

    impl Blocks for Given<'_> {
        fn bytes_to(&mut self, rank: usize) -> u64 {
            self.0[rank]
        }
        fn from(&mut self, rank: usize) -> u64 {
            self.1[rank]
        }
        fn all_to(&mut self, ranks: usize) -> u64 {
            (0..ranks).map(|rank| self.0[rank]).sum()
        }
        fn all_from(&mut self, ranks: usize) -> u64 {
            (0..ranks).map(|rank| self.1[rank]).sum()
        }
    }

    fn bytes_of(kind: Kind, role: Role, in_place: bool, send: &[u64], receive: &[u64]) -> u64 {
        let stand = Stand { role, own_rank: 1, own_size: 2, peers: 3, sources: 0, in_place };
        bytes(kind, &stand, &mut Given(send, receive))
    }

    #[test]
    fn among_neighbours_counts_what_goes_to_them_or_comes_where_none_is_sent_to() {
        let bytes_among = |kind, peers, sources| {
            let stand =
                Stand { role: Role::Member, own_rank: 1, own_size: 9, peers, sources, in_place: false };
            bytes(kind, &stand, &mut Given(&[1, 20], &[300, 4000, 50000]))
        };
        assert_eq!(bytes_among(Kind::NeighborAllgather, 2, 3), 1);
        assert_eq!(bytes_among(Kind::NeighborAlltoall, 2, 3), 21);
        assert_eq!(bytes_among(Kind::NeighborAllgather, 0, 2), 4300);
        assert_eq!(bytes_among(Kind::NeighborAlltoall, 0, 3), 54300);
        assert_eq!(bytes_among(Kind::NeighborAlltoall, 0, 0), 0);
    }

    #[test]
    fn each_kind_counts_what_it_hands_over() {
        let (counts, one) = ([1, 20, 300], [7]);
        assert_eq!(bytes_of(Kind::Uniform, Role::Member, false, &one, &[]), 7);
        assert_eq!(bytes_of(Kind::Gather, Role::Leaf, false, &one, &[]), 7);
        assert_eq!(bytes_of(Kind::Gather, Role::Root, false, &one, &counts), 7);
        assert_eq!(bytes_of(Kind::Gather, Role::Root, true, &[], &counts), 20);
        assert_eq!(bytes_of(Kind::Gather, Role::RemoteRoot, false, &[], &counts), 321);
        assert_eq!(bytes_of(Kind::Scatter, Role::Root, false, &counts, &[]), 321);
        assert_eq!(bytes_of(Kind::Scatter, Role::Leaf, false, &[], &one), 7);
        assert_eq!(bytes_of(Kind::Scatter, Role::RemoteRoot, false, &counts, &[]), 321);
        assert_eq!(bytes_of(Kind::Allgather, Role::Member, false, &one, &counts), 7);
        assert_eq!(bytes_of(Kind::Allgather, Role::Member, true, &[], &counts), 20);
        assert_eq!(bytes_of(Kind::Alltoall, Role::Member, false, &counts, &[]), 321);
        assert_eq!(bytes_of(Kind::Alltoall, Role::Member, true, &[], &counts), 321);
        assert_eq!(bytes_of(Kind::ReduceScatter, Role::Member, true, &[], &counts), 21);
    }

    #[test]
    fn who_stands_by_moves_nothing() {
        for kind in [Kind::Uniform, Kind::Gather, Kind::Scatter] {
            assert_eq!(bytes_of(kind, Role::Bystander, false, &[], &[]), 0);
        }
    }
}
