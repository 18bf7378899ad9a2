//! Finds the ranks, nodes and communicators in the definitions of an OTF2 archive.

use crate::import::log_stream::CommMembers;
use crate::limits::{MAX_COMM_MEMBERS, MAX_RANKS};
use crate::node_name::{UNKNOWN_NODE, clean_node_name};
use anyhow::{Result, bail};
use mpiscope_otf2::{Definitions, Group, GroupKind, PARADIGM_MPI, Region, UNDEFINED};
use mpiscope_wire::{FUNCTIONS, MAX_COMM};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Classes of system tree nodes that are hosts.
const HOST_CLASSES: [&str; 3] = ["node", "host", "shared memory"];

/// The processes of an archive.
#[derive(Debug)]
pub(crate) struct Processes {
    /// The node of each rank.
    pub(crate) nodes: Vec<String>,
    /// The rank and the thread of each location.
    pub(crate) threads: BTreeMap<u64, (u32, u16)>,
    /// Numbers of communicators in the recording, by their numbers in the archive.
    pub(crate) comms: HashMap<u32, u32>,
    /// Communicators whose ranks are not known: those of threads or of other paradigms, or without a group.
    pub(crate) unknown_comms: HashSet<u32>,
    /// Members of communicators, by their numbers in the recording. The world has number 0 and is not listed.
    pub(crate) members: BTreeMap<u32, CommMembers>,
    /// The function of each MPI region; none for MPI functions that are not recorded.
    pub(crate) regions: HashMap<u32, Option<u16>>,
    /// Functions of the program: the string that names the region of each.
    pub(crate) functions: HashMap<u32, u32>,
}

impl Processes {
    pub(crate) fn from_definitions(definitions: &Definitions) -> Result<Self> {
        let world = ProcessGroups::read(definitions);
        let by_group = world.ranks()?;
        let mut nodes: Vec<String> = vec![String::new(); by_group.len()];
        for (group, &rank) in &by_group {
            nodes[rank as usize] = host_name(definitions, *group);
        }
        let Comms { comms, unknown_comms, members } = (Ranks { world, by_group: &by_group }).comms()?;
        let regions = regions(definitions);
        let functions = functions(definitions, &regions);
        let threads = threads(definitions, &by_group);
        Ok(Self { nodes, threads, comms, unknown_comms, members, regions, functions })
    }
}

/// The groups of processes that communicate.
struct ProcessGroups<'a> {
    definitions: &'a Definitions,
    /// The location group of each location.
    group_of: HashMap<u64, u32>,
    /// For each paradigm the group of all members, the group of MPI first.
    worlds: Vec<&'a Group>,
}

impl<'a> ProcessGroups<'a> {
    fn read(definitions: &'a Definitions) -> Self {
        let is_world = |group: &Group| {
            matches!(group.kind, GroupKind::CommLocations | GroupKind::CommLocationGroups)
                && !group.members.is_empty()
        };
        let mut worlds: Vec<_> = definitions.groups.iter().filter(|(_, group)| is_world(group)).collect();
        worlds.sort_unstable_by_key(|(number, group)| (group.paradigm != PARADIGM_MPI, **number));
        let group_of = definitions.locations.iter().map(|location| (location.location, location.group));
        Self {
            definitions,
            group_of: group_of.collect(),
            worlds: worlds.into_iter().map(|(_, group)| group).collect(),
        }
    }

    /// The rank of each process, by location group.
    fn ranks(&self) -> Result<HashMap<u32, u32>> {
        // The place in the group is the rank. Without MPI the group of another paradigm is used.
        for world in &self.worlds {
            match self.ranks_in(world) {
                Err(_) if world.paradigm != PARADIGM_MPI => {}
                ranks => return ranks,
            }
        }
        let groups = self.definitions.location_groups.iter();
        let mut processes: Vec<u32> =
            groups.filter(|(_, group)| group.is_process).map(|(number, _)| *number).collect();
        processes.sort_unstable();
        numbered(processes)
    }

    fn ranks_in(&self, world: &Group) -> Result<HashMap<u32, u32>> {
        let group = |member: &u64| match world.kind {
            GroupKind::CommLocationGroups => {
                let group = u32::try_from(*member).ok();
                group.filter(|group| self.definitions.location_groups.contains_key(group))
            }
            _ => self.group_of.get(member).copied(),
        };
        match world.members.iter().map(group).collect() {
            Some(groups) => numbered(groups),
            None => bail!("the locations that communicate are not all defined"),
        }
    }
}

fn numbered(processes: Vec<u32>) -> Result<HashMap<u32, u32>> {
    if processes.is_empty() {
        bail!("there are no processes in it");
    }
    if processes.len() > MAX_RANKS as usize {
        bail!("it has {} processes; no job has more than {MAX_RANKS}", processes.len());
    }
    let mut ranks = HashMap::new();
    for (rank, group) in (0..).zip(processes) {
        if ranks.insert(group, rank).is_some() {
            bail!("a process has several ranks");
        }
    }
    Ok(ranks)
}

/// The name of the host of a process: the nearest host above it in the system tree, else its own node of the tree.
fn host_name(definitions: &Definitions, group: u32) -> String {
    let own = definitions.location_groups.get(&group).map_or(UNDEFINED, |group| group.tree_node);
    let mut at = own;
    // No tree is deeper. A node that is its own ancestor must not hang the loop.
    for _ in 0..64 {
        let Some(node) = definitions.tree_nodes.get(&at) else { break };
        let class = definitions.string(node.class).to_ascii_lowercase();
        if HOST_CLASSES.contains(&class.as_str()) {
            return node_name(definitions.string(node.name));
        }
        at = node.parent;
    }
    node_name(definitions.tree_nodes.get(&own).map_or("", |node| definitions.string(node.name)))
}

fn node_name(name: &str) -> String {
    clean_node_name(name).unwrap_or_else(|| UNKNOWN_NODE.to_owned())
}

/// The rank and the thread of each location. Locations that are not threads of a rank are left out.
fn threads(definitions: &Definitions, by_group: &HashMap<u32, u32>) -> BTreeMap<u64, (u32, u16)> {
    let mut locations: Vec<_> = definitions.locations.iter().filter(|location| location.is_thread).collect();
    locations.sort_unstable_by_key(|location| location.location);
    let mut next: HashMap<u32, u16> = HashMap::new();
    let mut threads = BTreeMap::new();
    for location in locations {
        if let Some(&rank) = by_group.get(&location.group) {
            let thread = next.entry(rank).or_default();
            threads.insert(location.location, (rank, *thread));
            *thread = thread.saturating_add(1);
        }
    }
    threads
}

/// The communicators of the archive with their numbers in the recording, and their members.
struct Comms {
    comms: HashMap<u32, u32>,
    unknown_comms: HashSet<u32>,
    members: BTreeMap<u32, CommMembers>,
}

/// Finds the ranks of members of groups.
struct Ranks<'a> {
    world: ProcessGroups<'a>,
    by_group: &'a HashMap<u32, u32>,
}

impl Ranks<'_> {
    fn of_location(&self, location: u64) -> Option<u32> {
        self.by_group.get(self.world.group_of.get(&location)?).copied()
    }

    fn of_location_group(&self, group: u64) -> Option<u32> {
        self.by_group.get(&u32::try_from(group).ok()?).copied()
    }

    /// The rank at a place among all that communicate by a paradigm.
    fn at_place(&self, paradigm: u8, place: u64) -> Option<u32> {
        let of_paradigm = self.world.worlds.iter().find(|world| world.paradigm == paradigm);
        let Some(world) = of_paradigm.or(self.world.worlds.first()) else {
            // No group says who communicates: processes are numbered in their order.
            return u32::try_from(place).ok().filter(|&rank| (rank as usize) < self.by_group.len());
        };
        let member = *world.members.get(usize::try_from(place).ok()?)?;
        match world.kind {
            GroupKind::CommLocationGroups => self.of_location_group(member),
            _ => self.of_location(member),
        }
    }

    /// The members of a group; none where it is not defined or not a set of ranks.
    fn members(&self, number: u32) -> Option<CommMembers> {
        let group = self.world.definitions.groups.get(&number)?;
        let rank: &dyn Fn(u64) -> Option<u32> = match group.kind {
            GroupKind::CommSelf => return Some(CommMembers::Alone),
            GroupKind::CommGroup => &|member| self.at_place(group.paradigm, member),
            GroupKind::Locations | GroupKind::CommLocations => &|member| self.of_location(member),
            GroupKind::CommLocationGroups => &|member| self.of_location_group(member),
            GroupKind::Unknown | GroupKind::Regions | GroupKind::Metrics => return None,
        };
        let ranks: Vec<u32> = group.members.iter().map(|member| rank(*member)).collect::<Option<_>>()?;
        // A group with several threads of a process is not a group of ranks.
        let distinct: HashSet<u32> = ranks.iter().copied().collect();
        (distinct.len() == ranks.len()).then_some(CommMembers::Group(ranks))
    }

    /// Communicators with their members, those of MPI first. The others are added to `unknown`.
    fn known_comms(&self, unknown: &mut HashSet<u32>) -> Vec<(u32, CommMembers)> {
        let is_other = |group: &u32| self.world.definitions.groups[group].paradigm != PARADIGM_MPI;
        let mut known: Vec<(bool, u32, CommMembers)> = Vec::new();
        for (&comm, &group) in &self.world.definitions.comms {
            match self.members(group) {
                Some(members) => known.push((is_other(&group), comm, members)),
                None => drop(unknown.insert(comm)),
            }
        }
        for (&comm, of) in &self.world.definitions.inter_comms {
            match (self.members(of.first), self.members(of.second)) {
                (Some(CommMembers::Group(first)), Some(CommMembers::Group(second))) => {
                    known.push((is_other(&of.first), comm, CommMembers::Between(first, second)));
                }
                _ => drop(unknown.insert(comm)),
            }
        }
        known.sort_unstable_by_key(|(is_other, comm, _)| (*is_other, *comm));
        known.into_iter().map(|(_, comm, members)| (comm, members)).collect()
    }

    fn comms(&self) -> Result<Comms> {
        let mut found =
            Comms { comms: HashMap::new(), unknown_comms: HashSet::new(), members: BTreeMap::new() };
        let own = self.known_comms(&mut found.unknown_comms);
        let everyone: Vec<u32> = (0..self.by_group.len() as u32).collect();
        let (mut world, mut count) = (None, 0);
        for (comm, of) in own {
            count += match &of {
                CommMembers::Group(group) => group.len(),
                CommMembers::Between(first, second) => first.len() + second.len(),
                CommMembers::Alone => 1,
            };
            // The first that has all ranks in order is the world. Communicators of MPI come first.
            if world.is_none() && matches!(&of, CommMembers::Group(group) if *group == everyone) {
                world = Some(comm);
                found.comms.insert(comm, 0);
                continue;
            }
            let number = found.members.len() as u32 + 1;
            if number > MAX_COMM || count > MAX_COMM_MEMBERS {
                bail!("it has more communicators than can be numbered");
            }
            found.comms.insert(comm, number);
            found.members.insert(number, of);
        }
        Ok(found)
    }
}

/// The functions of the program with the string that names each: the same one for all regions of a name.
fn functions(definitions: &Definitions, regions: &HashMap<u32, Option<u16>>) -> HashMap<u32, u32> {
    let is_own = |(number, region): &(&u32, &Region)| region.is_function && !regions.contains_key(number);
    let mut own: Vec<(u32, u32)> =
        definitions.regions.iter().filter(is_own).map(|(number, region)| (*number, region.name)).collect();
    own.sort_unstable();
    let mut names: HashMap<&str, u32> = HashMap::new();
    let named = own.into_iter().filter(|(_, name)| !definitions.string(*name).is_empty());
    named.map(|(number, name)| (number, *names.entry(definitions.string(name)).or_insert(name))).collect()
}

/// The function of each MPI region, by its name.
fn regions(definitions: &Definitions) -> HashMap<u32, Option<u16>> {
    let known: HashMap<String, u16> =
        FUNCTIONS.iter().map(|entry| (entry.name.to_ascii_lowercase(), entry.id)).collect();
    let of = |name: &str| {
        let name = name.to_ascii_lowercase();
        let is_mpi = name.starts_with("mpi_");
        is_mpi.then(|| known.get(&name).copied())
    };
    let node_name = definitions.regions.iter();
    node_name.filter_map(|(number, region)| Some((*number, of(definitions.string(region.name))?))).collect()
}
