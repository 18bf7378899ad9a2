//! Which node each rank runs on.

use crate::error::{Error, named};
use crate::random::{Purpose, Stream};
use std::str::FromStr;

/// How ranks are laid on nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// Neighbouring ranks on one node.
    #[default]
    Block,
    /// Neighbouring ranks on different nodes, in turn.
    Cyclic,
    /// By chance; as many on each node as in blocks.
    Random,
}

const PLACEMENTS: [(&str, Placement); 3] =
    [("block", Placement::Block), ("cyclic", Placement::Cyclic), ("random", Placement::Random)];

impl FromStr for Placement {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        named("placement", &PLACEMENTS, name)
    }
}

impl Placement {
    /// The node of every rank.
    pub(crate) fn nodes(self, ranks: u32, nodes: u32, seed: u64) -> Vec<u32> {
        let block = |rank: u32| (u64::from(rank) * u64::from(nodes) / u64::from(ranks)) as u32;
        match self {
            Placement::Block => (0..ranks).map(block).collect(),
            Placement::Cyclic => (0..ranks).map(|rank| rank % nodes).collect(),
            Placement::Random => {
                Stream::new(seed, Purpose::Nodes).shuffled(0, ranks).into_iter().map(block).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Placement;

    #[test]
    fn every_placement_fills_the_nodes_evenly() {
        for placement in [Placement::Block, Placement::Cyclic, Placement::Random] {
            let nodes = placement.nodes(24, 4, 1);
            let on = |node| nodes.iter().filter(|&&other| other == node).count();
            assert_eq!([0, 1, 2, 3].map(on), [6; 4], "{placement:?}");
        }
        assert!(Placement::Block.nodes(24, 4, 1).is_sorted());
        assert!(!Placement::Random.nodes(24, 4, 1).is_sorted());
        let refused = "heap".parse::<Placement>().unwrap_err().to_string();
        assert_eq!(refused, "\"heap\" is no placement; there are block, cyclic and random");
    }
}
