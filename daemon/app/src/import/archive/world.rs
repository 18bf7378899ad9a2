//! Ranks, nodes and communicators of an OTF2 archive, as its definitions say.

use super::super::telling::Members;
use super::super::trace::{MOST_MEMBERS, MOST_RANKS};
use anyhow::{Result, bail};
use mpiscope_otf2::{Definitions, Group, GroupKind, PARADIGM_MPI, UNDEFINED};
use mpiscope_wire::{FUNCTIONS, MAX_COMM};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What parts of a system are called that are hosts.
const HOST_CLASSES: [&str; 3] = ["node", "host", "shared memory"];

/// Who there is.
#[derive(Debug)]
pub(crate) struct Processes {
    /// Of each rank its node.
    pub(crate) nodes: Vec<String>,
    /// By location, its rank, and which of the rank's threads it is.
    pub(crate) threads: BTreeMap<u64, (u32, u16)>,
    /// By the archive's number, that of the communicator here.
    pub(crate) comms: HashMap<u32, u32>,
    /// Communicators of which it is not said which ranks are in them: of threads, of other paradigms, or without a group.
    pub(crate) strange_comms: HashSet<u32>,
    /// By that, who is in it; the world has number 0.
    pub(crate) members: BTreeMap<u32, Members>,
    /// By region, the function; none for functions of MPI that are not recorded. All else is not in it.
    pub(crate) regions: HashMap<u32, Option<u16>>,
}

impl Processes {
    pub(crate) fn of(definitions: &Definitions) -> Result<Self> {
        let by_group = ranks(definitions)?;
        let mut nodes: Vec<String> = vec![String::new(); by_group.len()];
        for (group, &rank) in &by_group {
            nodes[rank as usize] = host(definitions, *group);
        }
        let Comms { comms, strange_comms, members } = Ranks::new(definitions, &by_group).comms()?;
        Ok(Self {
            nodes,
            threads: threads(definitions, &by_group),
            comms,
            strange_comms,
            members,
            regions: regions(definitions),
        })
    }
}

fn group_of_locations(definitions: &Definitions) -> HashMap<u64, u32> {
    definitions.locations.iter().map(|location| (location.location, location.group)).collect()
}

/// Groups of all that communicate by a paradigm, in order, those of MPI first.
fn worlds(definitions: &Definitions) -> Vec<&Group> {
    let is_world =
        |group: &Group| matches!(group.kind, GroupKind::CommLocations | GroupKind::CommLocationGroups);
    let mut worlds: Vec<_> = definitions.groups.iter().filter(|(_, group)| is_world(group)).collect();
    worlds.sort_unstable_by_key(|(number, group)| (group.paradigm != PARADIGM_MPI, **number));
    worlds.into_iter().map(|(_, group)| group).collect()
}

/// By location group, the rank of each process.
fn ranks(definitions: &Definitions) -> Result<HashMap<u32, u32>> {
    let group_of = group_of_locations(definitions);
    let worlds = worlds(definitions);
    // The places in it are the ranks. Where nothing is of MPI, processes communicate by something else.
    for world in worlds {
        match ranks_in(world, definitions, &group_of) {
            Ok(ranks) if !ranks.is_empty() => return Ok(ranks),
            Err(error) if world.paradigm == PARADIGM_MPI => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    let mut processes: Vec<u32> = definitions.location_groups.keys().copied().collect();
    processes.retain(|group| definitions.location_groups[group].is_process);
    processes.sort_unstable();
    numbered(processes)
}

fn ranks_in(
    world: &Group,
    definitions: &Definitions,
    group_of: &HashMap<u64, u32>,
) -> Result<HashMap<u32, u32>> {
    let of_groups = world.kind == GroupKind::CommLocationGroups;
    let group = |member: &u64| {
        if of_groups {
            u32::try_from(*member).ok().filter(|group| definitions.location_groups.contains_key(group))
        } else {
            group_of.get(member).copied()
        }
    };
    let groups: Option<Vec<u32>> = world.members.iter().map(group).collect();
    match groups {
        Some(groups) if groups.is_empty() => Ok(HashMap::new()),
        Some(groups) => numbered(groups),
        None => bail!("the locations that communicate are not all defined"),
    }
}

fn numbered(processes: Vec<u32>) -> Result<HashMap<u32, u32>> {
    if processes.is_empty() {
        bail!("there are no processes in it");
    }
    if processes.len() > MOST_RANKS {
        bail!("it has {} processes; no job has more than {MOST_RANKS}", processes.len());
    }
    let mut ranks = HashMap::new();
    for (rank, group) in (0..).zip(processes) {
        if ranks.insert(group, rank).is_some() {
            bail!("a process has several ranks");
        }
    }
    Ok(ranks)
}

/// The name of the host of a process: the nearest part of the system that is one, else the process's own place.
fn host(definitions: &Definitions, group: u32) -> String {
    let own = definitions.location_groups.get(&group).map_or(UNDEFINED, |group| group.tree_node);
    let mut at = own;
    // No tree is deeper; what is part of itself is none.
    for _ in 0..64 {
        let Some(node) = definitions.tree_nodes.get(&at) else { break };
        let class = definitions.string(node.class).to_ascii_lowercase();
        if HOST_CLASSES.contains(&class.as_str()) {
            return named(definitions.string(node.name));
        }
        at = node.parent;
    }
    named(definitions.tree_nodes.get(&own).map_or("", |node| definitions.string(node.name)))
}

fn named(name: &str) -> String {
    let name: String = name.chars().filter(|character| !character.is_control()).take(255).collect();
    if name.is_empty() { super::super::UNKNOWN_NODE.to_owned() } else { name }
}

/// By location, the rank and the thread. Those that are no threads of a rank say nothing of MPI.
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

/// The archive's communicators as they are numbered here, and who is in them.
struct Comms {
    comms: HashMap<u32, u32>,
    strange_comms: HashSet<u32>,
    members: BTreeMap<u32, Members>,
}

/// Finds the ranks of members of groups.
struct Ranks<'a> {
    definitions: &'a Definitions,
    by_group: &'a HashMap<u32, u32>,
    group_of: HashMap<u64, u32>,
    worlds: Vec<&'a Group>,
}

impl<'a> Ranks<'a> {
    fn new(definitions: &'a Definitions, by_group: &'a HashMap<u32, u32>) -> Self {
        let group_of = group_of_locations(definitions);
        Self { definitions, by_group, group_of, worlds: worlds(definitions) }
    }

    fn of_location(&self, location: u64) -> Option<u32> {
        self.by_group.get(self.group_of.get(&location)?).copied()
    }

    fn of_location_group(&self, group: u64) -> Option<u32> {
        self.by_group.get(&u32::try_from(group).ok()?).copied()
    }

    /// The rank at a place among all that communicate by a paradigm.
    fn at_place(&self, paradigm: u8, place: u64) -> Option<u32> {
        let of_paradigm = self.worlds.iter().find(|world| world.paradigm == paradigm);
        let Some(world) = of_paradigm.or(self.worlds.first()) else {
            // Nobody says who communicates: processes are numbered.
            return u32::try_from(place).ok().filter(|&rank| (rank as usize) < self.by_group.len());
        };
        let member = *world.members.get(usize::try_from(place).ok()?)?;
        match world.kind {
            GroupKind::CommLocationGroups => self.of_location_group(member),
            _ => self.of_location(member),
        }
    }

    /// Who is in a group; none where that is not defined, or not a set of ranks.
    fn members(&self, number: u32) -> Option<Members> {
        let group = self.definitions.groups.get(&number)?;
        let rank = |&member: &u64| match group.kind {
            GroupKind::CommGroup => self.at_place(group.paradigm, member),
            GroupKind::Locations | GroupKind::CommLocations => self.of_location(member),
            GroupKind::CommLocationGroups => self.of_location_group(member),
            _ => None,
        };
        if group.kind == GroupKind::CommSelf {
            return Some(Members::Alone);
        }
        if !matches!(
            group.kind,
            GroupKind::CommGroup
                | GroupKind::Locations
                | GroupKind::CommLocations
                | GroupKind::CommLocationGroups
        ) {
            return None;
        }
        let ranks: Vec<u32> = group.members.iter().map(rank).collect::<Option<_>>()?;
        // Several threads of a process are no ranks.
        let distinct: HashSet<u32> = ranks.iter().copied().collect();
        (distinct.len() == ranks.len()).then_some(Members::Group(ranks))
    }

    fn comms(&self) -> Result<Comms> {
        let mut found =
            Comms { comms: HashMap::new(), strange_comms: HashSet::new(), members: BTreeMap::new() };
        let is_other = |group: &u32| self.definitions.groups[group].paradigm != PARADIGM_MPI;
        let mut own: Vec<(bool, u32, Members)> = Vec::new();
        for (&comm, &group) in &self.definitions.comms {
            match self.members(group) {
                Some(members) => own.push((is_other(&group), comm, members)),
                None => drop(found.strange_comms.insert(comm)),
            }
        }
        for (&comm, of) in &self.definitions.inter_comms {
            match (self.members(of.first), self.members(of.second)) {
                (Some(Members::Group(first)), Some(Members::Group(second))) => {
                    own.push((is_other(&of.first), comm, Members::Between(first, second)));
                }
                _ => drop(found.strange_comms.insert(comm)),
            }
        }
        own.sort_unstable_by_key(|(is_other, comm, _)| (*is_other, *comm));
        let everyone: Vec<u32> = (0..self.by_group.len() as u32).collect();
        let (mut world, mut count) = (None, 0);
        for (_, comm, of) in own {
            count += match &of {
                Members::Group(group) => group.len(),
                Members::Between(first, second) => first.len() + second.len(),
                Members::Alone => 1,
            };
            // The first that has all ranks in order is the world; those of MPI come before others.
            if world.is_none() && matches!(&of, Members::Group(group) if *group == everyone) {
                world = Some(comm);
                found.comms.insert(comm, 0);
                continue;
            }
            let number = found.members.len() as u32 + 1;
            if number > MAX_COMM || count > MOST_MEMBERS {
                bail!("its communicators are more than can be told apart");
            }
            found.comms.insert(comm, number);
            found.members.insert(number, of);
        }
        Ok(found)
    }
}

/// By region of MPI, the function that is recorded by that name.
fn regions(definitions: &Definitions) -> HashMap<u32, Option<u16>> {
    let known: HashMap<String, u16> =
        FUNCTIONS.iter().map(|entry| (entry.name.to_ascii_lowercase(), entry.id)).collect();
    let of = |name: &str| {
        let name = name.to_ascii_lowercase();
        let is_mpi = name.starts_with("mpi_");
        is_mpi.then(|| known.get(&name).copied())
    };
    let named = definitions.regions.iter();
    named.filter_map(|(number, region)| Some((*number, of(definitions.string(region.name))?))).collect()
}
