//! Ranks, nodes and communicators of an OTF2 archive, as its definitions say.

use super::super::telling::Members;
use anyhow::{Result, bail};
use mpiscope_otf2::{Definitions, Group, GroupKind, UNDEFINED};
use mpiscope_wire::{FUNCTIONS, MAX_COMM};
use std::collections::{BTreeMap, HashMap};

/// More ranks than any job has.
const MOST_RANKS: usize = 1 << 20;
/// Members of all communicators together; they stay in memory.
const MOST_MEMBERS: usize = 1 << 22;
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
        let (comms, members) = comms(definitions, nodes.len() as u32)?;
        Ok(Self {
            nodes,
            threads: threads(definitions, &by_group),
            comms,
            members,
            regions: regions(definitions),
        })
    }
}

/// By location group, the rank of each process.
fn ranks(definitions: &Definitions) -> Result<HashMap<u32, u32>> {
    let group_of: HashMap<u64, u32> =
        definitions.locations.iter().map(|location| (location.location, location.group)).collect();
    let world = definitions.groups.values().find(|group| group.kind == GroupKind::CommLocations);
    let processes: Vec<u32> = match world {
        // The places in it are the ranks.
        Some(Group { members, .. }) => {
            let groups: Option<Vec<u32>> =
                members.iter().map(|location| group_of.get(location).copied()).collect();
            match groups {
                Some(groups) => groups,
                None => bail!("the locations that communicate are not all defined"),
            }
        }
        None => {
            let mut processes: Vec<u32> = definitions.location_groups.keys().copied().collect();
            processes.retain(|group| definitions.location_groups[group].is_process);
            processes.sort_unstable();
            processes
        }
    };
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
fn comms(definitions: &Definitions, ranks: u32) -> Result<(HashMap<u32, u32>, BTreeMap<u32, Members>)> {
    let group = |number: u32| -> Result<Option<Vec<u32>>> {
        let Some(group) = definitions.groups.get(&number) else { bail!("group {number} is not defined") };
        if group.kind == GroupKind::CommSelf {
            return Ok(None);
        }
        let member = |&member: &u64| u32::try_from(member).ok().filter(|&rank| rank < ranks);
        match group.members.iter().map(member).collect() {
            Some(members) => Ok(Some(members)),
            None => bail!("group {number} has members that are none of the {ranks} ranks"),
        }
    };
    let everyone: Vec<u32> = (0..ranks).collect();
    let (mut comms, mut members, mut world, mut count) = (HashMap::new(), BTreeMap::new(), None, 0);
    let mut own: Vec<(u32, Members)> = Vec::new();
    for (&comm, &of) in &definitions.comms {
        own.push((comm, group(of)?.map_or(Members::Alone, Members::Group)));
    }
    for (&comm, of) in &definitions.inter_comms {
        if let (Some(first), Some(second)) = (group(of.first)?, group(of.second)?) {
            own.push((comm, Members::Between(first, second)));
        }
    }
    own.sort_unstable_by_key(|(comm, _)| *comm);
    for (comm, of) in own {
        count += match &of {
            Members::Group(group) => group.len(),
            Members::Between(first, second) => first.len() + second.len(),
            Members::Alone => 1,
        };
        // The first that has all ranks in order is the world.
        if world.is_none() && matches!(&of, Members::Group(group) if *group == everyone) {
            world = Some(comm);
            comms.insert(comm, 0);
            continue;
        }
        let number = members.len() as u32 + 1;
        if number > MAX_COMM || count > MOST_MEMBERS {
            bail!("its communicators are more than can be told apart");
        }
        comms.insert(comm, number);
        members.insert(number, of);
    }
    Ok((comms, members))
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
