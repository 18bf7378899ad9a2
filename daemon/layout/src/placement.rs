//! Where the ranks of a run are.

/// Where ranks are, one place for each rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankPlacement {
    /// The number of its node.
    pub hosts: Vec<f64>,
    /// The names of the nodes, by number.
    pub node_names: Vec<String>,
    /// The first CPU that it is bound to; none where it may use all of its node, or that is not known.
    pub cpus: Vec<Option<u32>>,
    /// The number of its region; empty where none are known.
    pub regions: Vec<f64>,
}

impl RankPlacement {
    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.hosts.len()
    }
}
