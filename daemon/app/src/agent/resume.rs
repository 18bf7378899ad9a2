//! Where an agent goes on that takes over from an earlier one of the same run, and which ranks there are.

use mpiscope_wire::Process;
use std::collections::{BTreeSet, HashMap};

/// Who has been seen of those who are.
#[derive(Debug, Default)]
pub(crate) struct Census {
    pub(crate) ranks: BTreeSet<u32>,
    pub(crate) world_size: u32,
}

impl Census {
    pub(crate) fn count(&mut self, process: &Process) {
        self.ranks.insert(process.rank);
        self.world_size = self.world_size.max(process.world_size);
    }

    /// Whether ranks are known to be that were never seen.
    pub(crate) fn lacks_some(&self) -> bool {
        self.ranks.len() < self.world_size as usize
    }
}

/// Where an earlier agent of the same run stopped.
#[derive(Debug, Default)]
pub(crate) struct Resume {
    /// Numbers of processes by their process ids and when they made their rings.
    pub(crate) processes: HashMap<(u32, u64), u32>,
    /// Positions by process number and ring.
    pub(crate) positions: HashMap<(u32, u32), u64>,
    pub(crate) census: Census,
    /// Whose messages the journal holds last.
    pub(crate) origin: u32,
}
