//! Ranks in parts, one part for each node.

/// Which part each rank is in, and which ranks each part has.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    pub(super) part_of: Vec<u32>,
    pub(super) members: Vec<Vec<u32>>,
}

impl Parts {
    pub(super) fn new(part_of: Vec<u32>, parts: usize) -> Self {
        let mut members = vec![Vec::new(); parts];
        for (rank, &part) in part_of.iter().enumerate() {
            members[part as usize].push(rank as u32);
        }
        Self { part_of, members }
    }
}
