//! Where an agent goes on that takes over from an earlier one of the same run, and which ranks there are.

use mpiscope_model::Rank;
use mpiscope_wire::Process;
use std::collections::{BTreeSet, HashMap};

/// Who has been seen of those who are.
#[derive(Debug, Default)]
pub struct Census {
    /// World ranks that were seen.
    pub ranks: BTreeSet<Rank>,
    /// Ranks that there are.
    pub world_size: u32,
}

impl Census {
    /// Takes in a process.
    pub fn count(&mut self, process: &Process) {
        self.ranks.insert(Rank(process.rank));
        self.world_size = self.world_size.max(process.world_size);
    }

    /// Whether ranks are known to be that were never seen.
    pub fn lacks_some(&self) -> bool {
        self.ranks.len() < self.world_size as usize
    }
}

/// Where an earlier agent of the same run stopped.
#[derive(Debug, Default)]
pub struct Resume {
    /// Numbers of processes by their process ids and when they made their rings.
    pub processes: HashMap<(u32, u64), u32>,
    /// Positions by process number and ring.
    pub positions: HashMap<(u32, u32), u64>,
    /// Which ranks were seen.
    pub census: Census,
    /// Whose messages the journal holds last.
    pub origin: u32,
}
