//! Where the ranks of a run are: nodes, slots, CPUs, regions, and what the site says of them, as metadata of layouts.

use crate::inputs::{CARTESIAN_COORDINATES, CARTESIAN_SIZES, HOST_COUNT, HOST_INDEX, Inputs, SLOT, Values};
use crate::placement::RankPlacement;
use crate::site::SiteDescription;
use std::collections::BTreeMap;

/// Axes of a torus, and the keys under which a site may describe them.
const TORUS: [(&str, &str, [&str; 2]); 3] = [
    ("torus_x", "torus_size_x", ["torus_x", "x"]),
    ("torus_y", "torus_size_y", ["torus_y", "y"]),
    ("torus_z", "torus_size_z", ["torus_z", "z"]),
];

impl RankPlacement {
    /// Ranks on the nodes of a site, evenly and in its order. A site without nodes is one node.
    pub fn on_nodes_of(site: &SiteDescription, ranks: usize) -> Self {
        let nodes = site.nodes().len().max(1);
        let each = ranks.div_ceil(nodes).max(1);
        let hosts = (0..ranks).map(|rank| (rank / each) as f64).collect();
        let cpus = (0..ranks).map(|rank| Some((rank % each) as u32)).collect();
        Self { hosts, node_names: site.nodes().to_vec(), cpus, regions: Vec::new() }
    }

    /// What layouts may ask of these ranks. The program's own grid is for the caller to add, before
    /// [`RankPlacement::complete`].
    pub fn inputs(&self, site: &SiteDescription) -> Inputs {
        let mut inputs = Inputs::new(self.ranks());
        let nodes = groups(&self.hosts);
        inputs.set_metadata(HOST_INDEX, Values::PerRank(self.hosts.clone()));
        inputs.set_metadata(HOST_COUNT, Values::Same(nodes.count));
        inputs.set_metadata(SLOT, Values::PerRank(nodes.slots));
        inputs.set_metadata("slots", Values::Same(nodes.largest));
        inputs.set_node(Values::PerRank(self.hosts.clone()));
        if self.cpus.iter().any(Option::is_some) {
            let number = |cpu: &Option<u32>| cpu.map_or(0.0, f64::from);
            inputs.set_metadata("cpu", Values::PerRank(self.cpus.iter().map(number).collect()));
        }
        if !self.regions.is_empty() {
            set_groups(&mut inputs, "region", self.regions.clone(), None);
        }
        site.give(self, &mut inputs);
        inputs
    }

    /// Adds what follows from other metadata: racks, groups of a dragonfly, positions in a torus.
    pub fn complete(&self, inputs: &mut Inputs) {
        // The leaf switch of a tree is the top of a rack on most machines.
        if let Some(racks) = ["rack", "switch", "block"].iter().find_map(|key| column(inputs, key)) {
            set_groups(inputs, "rack", dense(&racks), Some(&self.hosts));
        }
        let described = ["group", "switch1", "switch"].iter().find_map(|key| column(inputs, key));
        // Of a machine that is not described: as many groups as a group has nodes.
        let guessed = || {
            let nodes = self.hosts.iter().copied().fold(0.0, f64::max) + 1.0;
            let edge = nodes.sqrt().ceil().max(1.0);
            self.hosts.iter().map(|host| (host / edge).floor()).collect()
        };
        set_groups(inputs, "group", described.map_or_else(guessed, |of| dense(&of)), Some(&self.hosts));
        self.set_torus(inputs);
    }

    /// The site's torus, or the program's own grid bent into one.
    fn set_torus(&self, inputs: &mut Inputs) {
        let site: Vec<Option<Vec<f64>>> =
            TORUS.iter().map(|(.., keys)| keys.iter().find_map(|key| column(inputs, key))).collect();
        let is_described = site.iter().filter(|axis| axis.is_some()).count() >= 2;
        let mut axes = Vec::new();
        for (at, (key, size_key, _)) in TORUS.into_iter().enumerate() {
            let described = if is_described { site.get(at).cloned().flatten() } else { None };
            let (axis, size) = match described {
                Some(axis) => {
                    let most = axis.iter().copied().fold(0.0, f64::max);
                    (axis, most + 1.0)
                }
                None if is_described => (vec![0.0; self.ranks()], 1.0),
                None => {
                    let size = column(inputs, CARTESIAN_SIZES[at]).and_then(|of| of.first().copied());
                    let Some((axis, size)) = column(inputs, CARTESIAN_COORDINATES[at]).zip(size) else {
                        return;
                    };
                    (axis, size)
                }
            };
            inputs.set_metadata(size_key, Values::Same(size));
            inputs.set_metadata(key, Values::PerRank(axis.clone()));
            axes.push(axis);
        }
        // Ranks that share a position stand beside each other.
        let mut counts: BTreeMap<[u64; 3], f64> = BTreeMap::new();
        let slots: Vec<f64> = (0..self.ranks())
            .map(|rank| {
                let bits = |axis: usize| axes.get(axis).map_or(0, |of| of[rank].to_bits());
                let next = counts.entry([bits(0), bits(1), bits(2)]).or_default();
                *next += 1.0;
                *next - 1.0
            })
            .collect();
        let most = counts.values().copied().fold(1.0, f64::max);
        inputs.set_metadata("torus_slot", Values::PerRank(slots));
        inputs.set_metadata("torus_slots", Values::Same(most));
    }
}

fn column(inputs: &Inputs, key: &str) -> Option<Vec<f64>> {
    match inputs.metadata(key)? {
        Values::PerRank(values) => Some(values.clone()),
        Values::Same(value) => Some(vec![*value; inputs.ranks()]),
    }
}

/// Numbers from 0 without gaps, in the order of the values.
fn dense(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    let number = |value: &f64| sorted.partition_point(|other| other.total_cmp(value).is_lt()) as f64;
    values.iter().map(number).collect()
}

struct Groups {
    /// The number of each member among those of its group.
    slots: Vec<f64>,
    count: f64,
    largest: f64,
}

fn groups(of: &[f64]) -> Groups {
    let mut sizes: BTreeMap<u64, f64> = BTreeMap::new();
    let mut slot = |value: &f64| {
        let next = sizes.entry(value.to_bits()).or_default();
        *next += 1.0;
        *next - 1.0
    };
    let slots = of.iter().map(&mut slot).collect();
    let largest = sizes.values().copied().fold(0.0, f64::max);
    let count = of.iter().copied().fold(-1.0, f64::max) + 1.0;
    Groups { slots, count, largest }
}

/// `NAME`, `NAMEs`, `NAME_slot` and `NAME_size`: the group of each rank, how many there are, the number of its node (or of
/// itself, where groups are of ranks) in the group, and how many the largest has.
fn set_groups(inputs: &mut Inputs, name: &str, groups_of: Vec<f64>, hosts: Option<&[f64]>) {
    let found = match hosts {
        None => groups(&groups_of),
        Some(hosts) => {
            let mut of_host: BTreeMap<(u64, u64), f64> = BTreeMap::new();
            let mut sizes: BTreeMap<u64, f64> = BTreeMap::new();
            let slots: Vec<f64> = groups_of
                .iter()
                .zip(hosts)
                .map(|(group, host)| {
                    *of_host.entry((group.to_bits(), host.to_bits())).or_insert_with(|| {
                        let next = sizes.entry(group.to_bits()).or_default();
                        *next += 1.0;
                        *next - 1.0
                    })
                })
                .collect();
            let largest = sizes.values().copied().fold(0.0, f64::max);
            Groups { slots, count: groups_of.iter().copied().fold(-1.0, f64::max) + 1.0, largest }
        }
    };
    inputs.set_metadata(&format!("{name}s"), Values::Same(found.count));
    inputs.set_metadata(&format!("{name}_slot"), Values::PerRank(found.slots));
    inputs.set_metadata(&format!("{name}_size"), Values::Same(found.largest));
    inputs.set_metadata(&format!("{name}_index"), Values::PerRank(groups_of));
}
