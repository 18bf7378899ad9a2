//! What the numbers in an archive mean, as it says.

use crate::constants::{GroupKind, UNDEFINED};
use std::collections::HashMap;

/// All definitions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Definitions {
    /// Ticks a second of all times.
    pub ticks_per_s: u64,
    /// When times begin.
    pub from: u64,
    /// The time at the beginning, in nanoseconds since 1970; none where it is not known.
    pub began_unix_ns: Option<u64>,
    /// Strings.
    pub strings: HashMap<u32, String>,
    /// Parts of the system.
    pub tree_nodes: HashMap<u32, TreeNode>,
    /// Processes and their like.
    pub location_groups: HashMap<u32, LocationGroup>,
    /// Threads and their like, in the order of the archive.
    pub locations: Vec<Location>,
    /// What is entered and left.
    pub regions: HashMap<u32, Region>,
    /// Groups.
    pub groups: HashMap<u32, Group>,
    /// Communicators: the group of each.
    pub comms: HashMap<u32, u32>,
    /// Communicators between two groups.
    pub inter_comms: HashMap<u32, InterComm>,
    /// Call paths: the region at the end of each.
    pub calling_contexts: HashMap<u32, u32>,
    /// Attributes: the string that names each, and its type.
    pub attributes: HashMap<u32, u32>,
}

impl Definitions {
    /// A string; nothing where it is not defined.
    #[must_use]
    pub fn string(&self, number: u32) -> &str {
        self.strings.get(&number).map_or("", String::as_str)
    }

    /// Adds a group. Some tools give one number to the group of all members and to that of the first communicator: the second
    /// is the communicator's, and the first gets a number that is free.
    pub(crate) fn add_group(&mut self, number: u32, group: Group) {
        let Some(first) = self.groups.insert(number, group) else { return };
        if first.kind != self.groups[&number].kind
            && let Some(free) = (0..UNDEFINED).rev().find(|free| !self.groups.contains_key(free))
        {
            self.groups.insert(free, first);
        }
    }

    /// The attribute of a name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<u32> {
        self.attributes.iter().find(|(_, string)| self.string(**string) == name).map(|(number, _)| *number)
    }
}

/// A part of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNode {
    /// The string that names it.
    pub name: u32,
    /// The string that says what it is.
    pub class: u32,
    /// What it is part of.
    pub parent: u32,
}

/// A process, or something like it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocationGroup {
    /// The string that names it.
    pub name: u32,
    /// Whether it is a process.
    pub is_process: bool,
    /// Where it is.
    pub tree_node: u32,
}

/// A thread, or something like it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Its number.
    pub location: u64,
    /// The string that names it.
    pub name: u32,
    /// Whether it is a thread.
    pub is_thread: bool,
    /// How many events it has.
    pub events: u64,
    /// What it is part of.
    pub group: u32,
}

/// Something that is entered and left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The string that names it.
    pub name: u32,
    /// Whether it is of MPI.
    pub is_mpi: bool,
    /// Whether it is a function of the program, or a part of one that the program marked.
    pub is_function: bool,
    /// The string that names its source file; [`UNDEFINED`] where it is not known.
    pub file: u32,
}

/// A group of anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The paradigm that it is of, by number.
    pub paradigm: u8,
    /// What its members are.
    pub kind: GroupKind,
    /// They, in order.
    pub members: Vec<u64>,
}

/// A communicator between two groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterComm {
    /// One.
    pub first: u32,
    /// The other.
    pub second: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_two_groups_keeps_both() {
        let group =
            |kind, members: &[u64]| Group { paradigm: crate::PARADIGM_MPI, kind, members: members.to_vec() };
        let mut found = Definitions::default();
        let (all, first) = (group(GroupKind::CommLocations, &[7, 9]), group(GroupKind::CommGroup, &[0, 1]));
        found.add_group(0, all.clone());
        found.add_group(0, first.clone());
        assert_eq!(found.groups, [(0, first.clone()), (UNDEFINED - 1, all)].into());
        // Said twice it is one.
        found.add_group(0, first);
        assert_eq!(found.groups.len(), 2);
    }
}
