//! Call sites: the definitions of all processes, as one table of the run.

use crate::memory_budget::MemoryBudget;
use data_encoding::HEXLOWER;
use mpiscope_model::{Site, SiteInfo};
use mpiscope_wire::{ModuleDefinition, NO_MODULE, PathPart, SiteDefinition};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// More modules than a process defines.
const MOST_MODULES: usize = 1 << 12;
/// No file has a longer path.
const MOST_PATH_BYTES: u16 = 4096;
/// More sites than a process defines.
const MOST_SITES: usize = 1 << 16;
/// Sites of the whole run; calls from further ones have none.
const MOST_RUN_SITES: usize = 1 << 20;

/// The definitions of one process.
#[derive(Debug, Default)]
pub(crate) struct OwnSites {
    modules: FxHashMap<u32, OwnModule>,
    /// By the process's number; none for those beyond what the run can hold.
    sites: FxHashMap<u32, Option<Site>>,
    /// It has more than it has numbers for.
    pub(crate) is_full: bool,
}

#[derive(Debug)]
struct OwnModule {
    path: Vec<u8>,
    path_bytes: usize,
    build_id: Vec<u8>,
    /// Its number in the run, once a site was in it.
    number: Option<u32>,
}

/// What holds sites: a build id, or a path where there is none. A site in no file is where it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holder {
    BuildId(Vec<u8>),
    Path(Vec<u8>),
}

/// The sites of the run.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    holders: FxHashMap<Holder, u32>,
    /// By number: path and build id in words.
    modules: Vec<(String, String)>,
    sites: FxHashMap<Place, Site>,
}

/// What makes a site: what holds it, where in that, and the site that led there.
type Place = (u32, u64, Option<Site>);

impl OwnSites {
    pub(crate) fn module(&mut self, module: &ModuleDefinition, budget: &mut MemoryBudget) {
        let path_bytes = usize::from(module.path_bytes.min(MOST_PATH_BYTES));
        let is_known = self.modules.contains_key(&module.number);
        if is_known
            || self.modules.len() < MOST_MODULES && budget.take(size_of::<(u32, OwnModule)>() + path_bytes)
        {
            let known = self.modules.get(&module.number).and_then(|known| known.number);
            let module_entry = OwnModule {
                path: Vec::new(),
                path_bytes,
                build_id: module.build_id().to_vec(),
                number: known,
            };
            self.modules.insert(module.number, module_entry);
        }
    }

    pub(crate) fn path(&mut self, part: &PathPart) {
        if let Some(module) = self.modules.get_mut(&part.module) {
            let rest = module.path_bytes.saturating_sub(module.path.len());
            module.path.extend(part.bytes().iter().take(rest));
        }
    }

    /// The run's number of one of the process's sites.
    pub(crate) fn get(&self, number: u32) -> Option<Site> {
        if number == 0 { None } else { self.sites.get(&number).copied().flatten() }
    }
}

impl Sites {
    /// A process defines one of its numbers. Returns a site that is new to the run.
    pub(crate) fn define(
        &mut self,
        own: &mut OwnSites,
        definition: &SiteDefinition,
        budget: &mut MemoryBudget,
    ) -> Option<SiteInfo> {
        if definition.number == 0 {
            own.is_full = true;
            return None;
        }
        if own.sites.contains_key(&definition.number)
            || own.sites.len() >= MOST_SITES
            || !budget.take_entry::<(u32, Option<Site>)>()
        {
            return None;
        }
        let holder = match own.modules.get_mut(&definition.module).filter(|_| definition.module != NO_MODULE)
        {
            Some(module) => match module.number {
                Some(number) => Some(number),
                None => self
                    .hold(&module.path, &module.build_id, budget)
                    .inspect(|&number| module.number = Some(number)),
            },
            None => self.hold(&[], &[], budget),
        };
        let next = self.sites.len();
        let place = holder.map(|holder| (holder, definition.offset, own.get(definition.parent)));
        let known = place.and_then(|place| self.sites.get(&place).copied());
        let mut has_space = || next < MOST_RUN_SITES && budget.take_entry::<(Place, Site, SiteInfo)>();
        let site = known.or_else(|| (holder.is_some() && has_space()).then_some(Site::from_index(next)));
        own.sites.insert(definition.number, site);
        let (site, place) = (site.filter(|_| known.is_none())?, place?);
        self.sites.insert(place, site);
        let (holder, offset, parent) = place;
        let (module, build_id) = self.modules.get(holder as usize)?.clone();
        Some(SiteInfo { site, module, build_id, offset, parent, ..SiteInfo::default() })
    }

    /// The run's number of what holds sites; `None` when there is no room for one more.
    fn hold(&mut self, path: &[u8], build_id: &[u8], budget: &mut MemoryBudget) -> Option<u32> {
        let holder =
            if build_id.is_empty() { Holder::Path(path.into()) } else { Holder::BuildId(build_id.into()) };
        let vacant = match self.holders.entry(holder) {
            Entry::Occupied(known) => return Some(*known.get()),
            Entry::Vacant(vacant) => vacant,
        };
        // Twice: as what it is known by, and in words.
        if !budget.take(2 * (path.len() + build_id.len() + size_of::<(Holder, String, String)>())) {
            return None;
        }
        Some(*vacant.insert({
            let path = String::from_utf8_lossy(path);
            // Control characters of a hostile name must not reach a terminal.
            let path = path.chars().filter(|character| !character.is_control()).collect();
            let build_id = HEXLOWER.encode(build_id);
            self.modules.push((path, build_id));
            self.modules.len() as u32 - 1
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(path: &str, build_id: &[u8]) -> OwnSites {
        let mut own = OwnSites::default();
        own.module(&ModuleDefinition::new(3, path.as_bytes(), build_id), &mut MemoryBudget::default());
        PathPart::all(3, path.as_bytes()).for_each(|part| own.path(&part));
        own
    }

    fn definition_at(number: u32, offset: u64) -> SiteDefinition {
        SiteDefinition { number, module: 3, offset, parent: 0 }
    }

    #[test]
    fn one_place_of_one_file_is_one_site_whoever_calls_from_it() {
        let mut sites = Sites::default();
        let long = format!("/{}/solver", "long".repeat(30));
        let mut one = process(&long, &[1, 0xAB]);
        let mut same = process("/elsewhere/solver", &[1, 0xAB]);
        let mut other = process(&long, &[2]);
        let first = sites.define(&mut one, &definition_at(5, 0x10), &mut MemoryBudget::default()).unwrap();
        assert_eq!((first.site, &first.module, &first.build_id[..]), (Site(0), &long, "01ab"));
        assert_eq!(sites.define(&mut same, &definition_at(9, 0x10), &mut MemoryBudget::default()), None);
        assert_eq!((one.get(5), same.get(9), same.get(5)), (Some(Site(0)), Some(Site(0)), None));
        assert_eq!(
            sites
                .define(&mut other, &definition_at(1, 0x10), &mut MemoryBudget::default())
                .map(|site| site.site),
            Some(Site(1))
        );
        assert_eq!(
            sites
                .define(&mut one, &definition_at(6, 0x11), &mut MemoryBudget::default())
                .map(|site| site.site),
            Some(Site(2))
        );
        // Told again after a loss, it is the same.
        one.module(&ModuleDefinition::new(3, long.as_bytes(), &[1, 0xAB]), &mut MemoryBudget::default());
        assert_eq!(sites.define(&mut one, &definition_at(5, 0x10), &mut MemoryBudget::default()), None);
        assert_eq!(one.get(5), Some(Site(0)));
    }

    #[test]
    fn files_without_a_build_id_differ_by_path() {
        let mut sites = Sites::default();
        let (mut one, mut other) = (process("/a", &[]), process("/b", &[]));
        assert!(sites.define(&mut one, &definition_at(1, 7), &mut MemoryBudget::default()).is_some());
        assert!(sites.define(&mut other, &definition_at(1, 7), &mut MemoryBudget::default()).is_some());
        assert!(
            sites
                .define(&mut process("/a", &[]), &definition_at(4, 7), &mut MemoryBudget::default())
                .is_none()
        );
        let nowhere = SiteDefinition { number: 2, module: NO_MODULE, offset: 7, parent: 0 };
        let defined = sites.define(&mut one, &nowhere, &mut MemoryBudget::default()).unwrap();
        assert_eq!((defined.module.as_str(), defined.site), ("", Site(2)));
    }

    #[test]
    fn a_place_is_a_site_for_each_way_to_it() {
        let mut sites = Sites::default();
        let (mut one, mut other) = (process("/a", &[1]), process("/a", &[1]));
        let mut define = |own: &mut OwnSites, number, offset, parent| {
            let definition = SiteDefinition { parent, ..definition_at(number, offset) };
            let new = sites.define(own, &definition, &mut MemoryBudget::default());
            (
                new.map(|site| (site.site.0, site.parent.map(|parent| parent.0))),
                own.get(number).map(|site| site.0),
            )
        };
        assert_eq!(define(&mut one, 1, 0x10, 0), (Some((0, None)), Some(0)));
        assert_eq!(define(&mut one, 2, 0x30, 1), (Some((1, Some(0))), Some(1)));
        assert_eq!(define(&mut one, 3, 0x30, 2), (Some((2, Some(1))), Some(2)));
        // Another process numbers them as it meets them.
        assert_eq!(define(&mut other, 7, 0x10, 0), (None, Some(0)));
        assert_eq!(define(&mut other, 5, 0x30, 7), (None, Some(1)));
        // Of a number that nobody explained nothing leads anywhere, nor does a site lead to itself.
        assert_eq!(define(&mut other, 6, 0x30, 99), (Some((3, None)), Some(3)));
        assert_eq!(define(&mut other, 8, 0x31, 8), (Some((4, None)), Some(4)));
    }

    #[test]
    fn what_a_process_says_is_bounded() {
        let (mut sites, mut own) = (Sites::default(), process("/a", &[1]));
        for number in 1..=MOST_SITES as u32 + 5 {
            sites.define(&mut own, &definition_at(number, number.into()), &mut MemoryBudget::default());
        }
        assert_eq!((own.sites.len(), sites.sites.len()), (MOST_SITES, MOST_SITES));
        let part = PathPart { module: 3, length: 24, bytes: [b'x'; 24] };
        (0..1000).for_each(|_| own.path(&part));
        assert_eq!(own.modules[&3].path, b"/a");
        assert!(!own.is_full);
        sites.define(&mut own, &definition_at(0, 0), &mut MemoryBudget::default());
        assert!(own.is_full);
    }
}
