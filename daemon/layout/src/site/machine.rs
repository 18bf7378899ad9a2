//! A machine and its CPUs.

use super::node_names::short_name;
use std::collections::BTreeMap;

/// What is known of a CPU, as metadata is called.
pub(super) const KEYS: [&str; 3] = ["core", "package", "numa"];

/// One machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Machine {
    pub(super) name: String,
    /// Core, package and memory node by the kernel's number of the CPU.
    pub(super) cpus: BTreeMap<u32, [u32; 3]>,
}

impl Machine {
    pub(super) fn is_of(&self, node: &str) -> bool {
        !self.name.is_empty() && short_name(&self.name) == short_name(node)
    }

    pub(super) fn cpu(&self, number: u32) -> Option<[u32; 3]> {
        self.cpus.get(&number).copied()
    }
}
