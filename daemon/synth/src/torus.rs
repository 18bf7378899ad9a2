//! The machine of a simulated job as a torus of nodes whose columns are racks.

/// Nodes in three dimensions, as near to a cube as their number allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeTorus {
    sizes: [u32; 3],
}

impl NodeTorus {
    /// One with this number of nodes.
    #[must_use]
    pub fn with_nodes(nodes: u32) -> Self {
        let nodes = nodes.max(1);
        let largest =
            |of: u32, most: f64| (1..=most as u32).rev().find(|size| of.is_multiple_of(*size)).unwrap_or(1);
        let z = largest(nodes, f64::from(nodes).cbrt() + 1e-9);
        let y = largest(nodes / z, f64::from(nodes / z).sqrt() + 1e-9);
        Self { sizes: [nodes / z / y, y, z] }
    }

    /// Where a node is.
    #[must_use]
    pub fn coordinates(&self, node: u32) -> [u32; 3] {
        let [x, y, _] = self.sizes;
        [node % x, node / x % y, node / x / y]
    }

    /// The rack of a node: those above each other.
    #[must_use]
    pub fn rack(&self, node: u32) -> u32 {
        let [x, y, _] = self.coordinates(node);
        x + self.sizes[0] * y
    }

    /// How many racks there are.
    #[must_use]
    pub fn racks(&self) -> u32 {
        self.sizes[0] * self.sizes[1]
    }

    /// The rack that [`Disturbance::SlowRack`](crate::Disturbance::SlowRack) slows down: each seed moves it on by one.
    #[must_use]
    pub fn slow_rack(&self, seed: u64) -> u32 {
        let racks = u64::from(self.racks());
        ((racks / 3 + seed.wrapping_sub(1) % racks) % racks) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::NodeTorus;

    #[test]
    fn every_node_has_a_place_of_its_own() {
        for nodes in [1, 2, 7, 12, 64, 100] {
            let torus = NodeTorus::with_nodes(nodes);
            let places: std::collections::BTreeSet<_> =
                (0..nodes).map(|node| torus.coordinates(node)).collect();
            assert_eq!(places.len() as u32, nodes);
            assert!((0..nodes).all(|node| torus.rack(node) < torus.racks()));
        }
        assert_eq!(
            (NodeTorus::with_nodes(64).sizes, NodeTorus::with_nodes(12).sizes),
            ([4, 4, 4], [3, 2, 2])
        );
    }

    #[test]
    fn the_seed_chooses_the_slow_rack_among_all() {
        let torus = NodeTorus::with_nodes(64);
        assert_eq!(torus.slow_rack(1), 5);
        let chosen: std::collections::BTreeSet<_> = (1..200).map(|seed| torus.slow_rack(seed)).collect();
        assert_eq!(chosen.into_iter().collect::<Vec<_>>(), (0..torus.racks()).collect::<Vec<_>>());
        assert_eq!(torus.slow_rack(7), torus.slow_rack(7));
    }
}
