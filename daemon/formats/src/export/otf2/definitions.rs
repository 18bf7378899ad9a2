//! Writes the definitions of an archive: what the numbers in its events mean.

use super::groups::Groups;
use super::locations::Locations;
use crate::export::source::{Source, name_of};
use crate::otf2_attributes;
use anyhow::Result;
use mpiscope_model::{Comm, Function, Nanoseconds, Rank, Site};
use mpiscope_otf2::{CollectiveOp, GlobalDefinitions, GroupKind, RegionRole, Writer};
use mpiscope_wire::{Family, by_id};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of the attributes of calls.
pub(super) const POLLS: u32 = 0;
pub(super) const CALL_SITE: u32 = 1;
pub(super) const SOURCE: u32 = 2;
/// Number of an attribute of receives.
pub(super) const SENT: u32 = 3;

/// Names and descriptions of all attributes.
const WORDS: [(&str, &str); 4] = [
    (otf2_attributes::POLLS, "how many calls of this function in a row this one stands for"),
    (otf2_attributes::CALL_SITE, "call site"),
    ("mpiscope source", "the source file and the line of that"),
    (otf2_attributes::SENT, "when the call began that sent the message which is received"),
];

/// Call sites as strings and source locations of the archive.
#[derive(Default)]
pub(super) struct CallSites {
    /// The name of each call site. Strings are numbered in the order of their definitions, and these come first.
    words: Vec<(Site, String)>,
    sources: Vec<(Site, String, u32)>,
}

impl CallSites {
    pub(super) fn new(source: &Source<'_>) -> Self {
        let sites = || source.sites.iter();
        let mut words: Vec<(Site, String)> = sites().map(|info| (info.site, info.words())).collect();
        let known = |info: &mpiscope_model::SiteInfo| {
            Some((info.site, info.file.clone()?, info.line.unwrap_or_default()))
        };
        let mut sources: Vec<(Site, String, u32)> = sites().filter_map(known).collect();
        words.sort_unstable_by_key(|(site, _)| *site);
        sources.sort_unstable_by_key(|(site, ..)| *site);
        Self { words, sources }
    }

    /// The number of the string with the name of a call site.
    pub(super) fn words(&self, site: Site) -> Option<u32> {
        // The empty string comes before all others.
        self.words.binary_search_by_key(&site, |(site, _)| *site).ok().map(|at| at as u32 + 1)
    }

    /// The number of the source location.
    pub(super) fn source(&self, site: Site) -> Option<u32> {
        self.sources.binary_search_by_key(&site, |(site, ..)| *site).ok().map(|at| at as u32)
    }
}

/// The name of a function without its prefix and without the suffix of the variant for large counts.
fn bare(name: &str) -> &str {
    name.trim_start_matches("MPI_").trim_end_matches("_c")
}

/// The operation of a blocking collective.
pub(super) fn collective(function: Function) -> Option<CollectiveOp> {
    let entry = by_id(function)?;
    let name = bare(entry.name);
    CollectiveOp::ALL.into_iter().find(|op| bare(op.function()) == name)
}

fn role(function: Function) -> RegionRole {
    let Some(entry) = by_id(function) else { return RegionRole::Function };
    match entry.family {
        Family::Setup | Family::Communicator | Family::Neighbor => RegionRole::Function,
        Family::OneSided => RegionRole::OneSided,
        Family::Io => RegionRole::Files,
        Family::Send | Family::Receive | Family::Complete | Family::Probe => RegionRole::PointToPoint,
        Family::Barrier => RegionRole::Barrier,
        Family::Rooted
            if ["Bcast", "Ibcast", "Scatter", "Scatterv", "Iscatter", "Iscatterv"]
                .contains(&bare(entry.name).trim_end_matches("_init")) =>
        {
            RegionRole::OneToAll
        }
        Family::Rooted => RegionRole::AllToOne,
        Family::All if entry.name.to_ascii_lowercase().contains("scan") => RegionRole::OtherCollective,
        Family::All => RegionRole::AllToAll,
    }
}

/// Everything that the definitions describe.
pub(super) struct ArchiveDefinitions<'a> {
    /// Functions in the order of their regions.
    pub(super) functions: &'a [Function],
    pub(super) locations: &'a Locations,
    /// The number of events of each location.
    pub(super) counts: &'a BTreeMap<u64, u64>,
    pub(super) groups: &'a Groups,
    pub(super) call_sites: &'a CallSites,
}

impl ArchiveDefinitions<'_> {
    /// Writes all definitions of an archive that ends at `until_ns`.
    pub(super) fn write(&self, archive: &Writer, source: &Source<'_>, until_ns: Nanoseconds) -> Result<()> {
        let mut to = archive.definitions(self.locations.iter().map(|(.., location)| location))?;
        let began = Some(source.job.started_unix_ns).filter(|&began| began > 0);
        to.clock(1_000_000_000, 0, until_ns + 1, began)?;
        let empty = to.string("")?;
        self.define_call_sites(&mut to)?;
        let mpi = to.string("MPI")?;
        to.mpi(mpi)?;
        self.define_system(&mut to, source)?;
        for (region, &function) in (0..).zip(self.functions) {
            let name = to.string(name_of(&source.functions, Some(function.into())))?;
            to.region(region, name, role(function))?;
        }
        self.define_groups(&mut to, source, empty)?;
        to.finish()?;
        Ok(())
    }

    /// Defines call sites and attributes. Only the empty string may be defined before.
    fn define_call_sites(&self, to: &mut GlobalDefinitions<'_>) -> Result<()> {
        for (_, words) in &self.call_sites.words {
            to.string(words)?;
        }
        for (number, (_, file, line)) in (0..).zip(&self.call_sites.sources) {
            let file = to.string(file)?;
            to.source(number, file, *line)?;
        }
        for (number, (name, about)) in (0..).zip(WORDS) {
            let words = (to.string(name)?, to.string(about)?);
            match number {
                POLLS | SENT => to.number_attribute(number, words)?,
                CALL_SITE => to.string_attribute(number, words)?,
                _ => to.source_attribute(number, words)?,
            }
        }
        Ok(())
    }

    /// Defines the machine, its nodes, their processes and threads.
    fn define_system(&self, to: &mut GlobalDefinitions<'_>, source: &Source<'_>) -> Result<()> {
        let (machine, node) = (to.string("machine")?, to.string("node")?);
        to.tree_node(0, (machine, machine), None)?;
        let (hosts, unknown) = (source.hosts(), String::new());
        let host_of = |rank: Rank| hosts.get(&rank).unwrap_or(&unknown);
        let names: BTreeSet<&String> = self.locations.iter().map(|(rank, ..)| host_of(rank)).collect();
        let mut numbers: BTreeMap<&String, u32> = BTreeMap::new();
        for (number, name) in (1..).zip(names) {
            let string = to.string(name)?;
            to.tree_node(number, (string, node), Some(0))?;
            numbers.insert(name, number);
        }
        let mut last = None;
        for (rank, ..) in self.locations.iter() {
            if last.replace(rank) != Some(rank) {
                let name = to.string(&format!("MPI Rank {rank}"))?;
                to.process(rank.0, name, numbers.get(host_of(rank)).copied().unwrap_or_default())?;
            }
        }
        let main = to.string("Master thread")?;
        for (rank, thread, location) in self.locations.iter() {
            let is_first = location == u64::from(rank.0);
            let name = if is_first { main } else { to.string(&format!("thread {thread}"))? };
            to.thread(location, name, self.counts.get(&location).copied().unwrap_or_default(), rank.0)?;
        }
        Ok(())
    }

    /// Defines communicators, with the group of each.
    fn define_groups(&self, to: &mut GlobalDefinitions<'_>, source: &Source<'_>, empty: u32) -> Result<()> {
        let firsts = self.locations.iter().filter(|(rank, _, location)| u64::from(rank.0) == *location);
        let firsts: Vec<u64> = firsts.map(|(.., location)| location).collect();
        to.group(0, empty, GroupKind::CommLocations, &firsts)?;
        let (names, groups) = (source.comm_names(), self.groups);
        let parents: BTreeMap<Comm, Comm> =
            source.comms.iter().filter_map(|info| Some((info.comm, info.parent?))).collect();
        for comm in groups.comms() {
            let number = groups.number(comm);
            to.group(number + 1, empty, GroupKind::CommGroup, &groups.members(comm))?;
            let string = to.string(name_of(&names, Some(comm.index())))?;
            // The format wants a parent to be defined before its children.
            let parent = parents.get(&comm).filter(|&&parent| parent < comm && groups.has(parent));
            to.comm(number, string, number + 1, parent.map(|&parent| groups.number(parent)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_wire::{FUNCTIONS, id};

    #[test]
    fn collectives_that_are_done_when_they_return_have_what_they_do() {
        assert_eq!(collective(id::ALLREDUCE), Some(CollectiveOp::Allreduce));
        assert_eq!((collective(id::SEND), collective(u16::MAX)), (None, None));
        for entry in FUNCTIONS {
            let is_collective = matches!(entry.family, Family::Rooted | Family::All | Family::Barrier);
            let returns_early = entry.name.starts_with("MPI_I") || bare(entry.name).ends_with("_init");
            assert_eq!(collective(entry.id).is_some(), is_collective && !returns_early, "{}", entry.name);
            let is_plain = matches!(
                role(entry.id),
                RegionRole::Function | RegionRole::PointToPoint | RegionRole::OneSided | RegionRole::Files
            );
            assert_eq!(is_plain, !is_collective, "{}", entry.name);
        }
    }

    #[test]
    fn a_call_site_has_its_string_and_its_source() {
        let call_sites = CallSites {
            words: vec![(Site(2), "a".into()), (Site(7), "b".into())],
            sources: vec![(Site(7), "b.c".into(), 1)],
        };
        assert_eq!(
            (call_sites.words(Site(2)), call_sites.words(Site(7)), call_sites.words(Site(3))),
            (Some(1), Some(2), None)
        );
        assert_eq!((call_sites.source(Site(2)), call_sites.source(Site(7))), (None, Some(0)));
    }
}
