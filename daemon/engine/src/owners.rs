//! Who reads what a rank does, and matches what it receives, where several do.

use mpiscope_diagnosis::{Neighbours, Owners as Shards};
use mpiscope_model::Rank;
use mpiscope_wire::Process;

/// More ranks than a run has: nobody reads what such a process does.
const MOST_RANKS: u32 = 1 << 23;

/// Neighbours are mostly read by the same. Whoever has heard of the same processes says the same.
#[derive(Debug)]
pub(crate) struct Owners {
    readers: usize,
    /// The first process has said how many ranks there are.
    world_size: Option<u32>,
}

impl Owners {
    pub(crate) fn new(readers: usize) -> Self {
        Self { readers: readers.max(1), world_size: None }
    }

    pub(crate) fn readers(&self) -> usize {
        self.readers
    }

    /// Hears of a process; says who reads it, if somebody does.
    pub(crate) fn hear(&mut self, process: &Process) -> Option<usize> {
        if process.rank >= process.world_size || process.world_size > MOST_RANKS {
            return None;
        }
        self.world_size.get_or_insert(process.world_size);
        Some(self.owner(Rank(process.rank)))
    }

    /// The reader of a rank.
    pub(crate) fn owner(&self, rank: Rank) -> usize {
        let neighbours = Neighbours::All(self.world_size.unwrap_or(1));
        Shards { shards: self.readers as u16, first: 0, neighbours }.shard(rank).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_shared_out_evenly_and_senseless_ones_have_an_owner_too() {
        let mut owners = Owners::new(3);
        let process = |rank, world_size| Process {
            process: 0,
            pid: 1,
            made_ns: 1,
            rank,
            world_size,
            clock: mpiscope_wire::ClockKind::Monotonic,
            cost_per_call_ns: 0.0,
            library: String::new(),
            node: String::new(),
        };
        assert_eq!(owners.hear(&process(7, 7)), None);
        let found: Vec<_> = (0..7).map(|rank| owners.hear(&process(rank, 7)).unwrap()).collect();
        assert_eq!(found, [0, 0, 0, 1, 1, 2, 2]);
        // A rank of another world has the same owner whoever hears of it.
        assert_eq!((owners.hear(&process(3, 100)), owners.owner(Rank(u32::MAX))), (Some(1), 2));
    }
}
