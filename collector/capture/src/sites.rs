//! Call sites: addresses become small numbers, and each thread defines a number once.
//!
//! Where call paths are recorded, a site is an address and the site that its function was called from.

use crate::call_paths::{Caller, Frame, PathCache};
use mpiscope_wire::{ModuleDefinition, NO_MODULE, PathPart, SiteDefinition, Slot};
use std::collections::HashMap;

/// Sites of a process that get a number; calls from any further ones have none.
pub const MOST_SITES: usize = 1 << 16;
/// Modules that get a number; sites in further ones are defined by their address.
const MOST_MODULES: usize = 1 << 12;
/// Places of a thread's cache.
const CACHED: usize = 256;

/// The definition of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// It lies in the collector, and is no call site of the program.
    Own,
    /// It lies in a file that was loaded.
    In {
        /// The path of the file.
        path: Vec<u8>,
        /// Its build id; empty for none.
        build_id: Vec<u8>,
        /// What is to be taken off an address to get what the file calls it.
        base: u64,
    },
    /// It lies in no file.
    Nowhere,
}

/// A site with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Site {
    /// 0 for one that has none.
    number: u32,
    module: u32,
    offset: u64,
}

#[derive(Debug)]
struct Module {
    path: Vec<u8>,
    build_id: Vec<u8>,
    base: u64,
}

/// The sites of a process.
#[derive(Debug, Default)]
pub struct Sites {
    /// By the number of the site that led there, 0 for none, and the address.
    by_place: HashMap<(u32, u64), Site>,
    modules: Vec<Module>,
}

impl Sites {
    fn find(&mut self, parent: u32, address: u64, locate: impl FnOnce(u64) -> Located) -> Option<Site> {
        if let Some(known) = self.by_place.get(&(parent, address)) {
            return Some(*known);
        }
        if self.by_place.len() >= MOST_SITES - 1 {
            return None;
        }
        let number = self.by_place.len() as u32 + 1;
        let site = match locate(address) {
            Located::Own => Site { number: 0, module: NO_MODULE, offset: 0 },
            Located::Nowhere => Site { number, module: NO_MODULE, offset: address },
            Located::In { path, build_id, base } => match self.module(path, build_id, base) {
                Some(module) => Site { number, module, offset: address.wrapping_sub(base) },
                None => Site { number, module: NO_MODULE, offset: address },
            },
        };
        self.by_place.insert((parent, address), site);
        Some(site)
    }

    fn module(&mut self, path: Vec<u8>, build_id: Vec<u8>, base: u64) -> Option<u32> {
        let same =
            |module: &Module| (&module.path, &module.build_id, module.base) == (&path, &build_id, base);
        let known = self.modules.iter().position(same).or_else(|| {
            (self.modules.len() < MOST_MODULES).then(|| {
                self.modules.push(Module { path, build_id, base });
                self.modules.len() - 1
            })
        });
        known.map(|number| number as u32)
    }
}

/// A thread's knowledge of sites: those it has defined, and the numbers of the newest.
#[derive(Debug)]
pub(crate) struct SiteCache {
    /// Addresses with their numbers, each in the one place it can be in. Address 0 is none and has number 0.
    places: Box<[(u64, u32); CACHED]>,
    /// Where call paths are recorded, those instead.
    paths: PathCache,
    /// Which numbers of sites and of modules are defined, a bit each.
    sites_told: Vec<u64>,
    modules_told: Vec<u64>,
    is_full_told: bool,
}

impl Default for SiteCache {
    fn default() -> Self {
        Self {
            places: Box::new([(0, 0); CACHED]),
            paths: PathCache::default(),
            sites_told: Vec::new(),
            modules_told: Vec::new(),
            is_full_told: false,
        }
    }
}

fn has(bits: &[u64], number: u32) -> bool {
    bits.get(number as usize / 64).is_some_and(|word| word & 1 << (number % 64) != 0)
}

fn set(bits: &mut Vec<u64>, number: u32) {
    let word = number as usize / 64;
    if bits.len() <= word {
        bits.resize(word + 1, 0);
    }
    bits[word] |= 1 << (number % 64);
}

impl SiteCache {
    /// The number of an address that was met not long ago.
    #[inline(always)]
    pub(crate) fn get(&self, address: u64) -> Option<u32> {
        let (known, number) = self.places[place(address)];
        (known == address).then_some(number)
    }

    /// The number of the path to a call that was met not long ago. `read` reads the stack.
    pub(crate) fn get_path(&self, caller: Caller, read: impl Fn(usize) -> u64) -> Option<u32> {
        self.paths.get(caller, read)
    }

    /// The number of an address that is not cached. `tell` writes a slot and returns whether it could; without a
    /// definition there is no number this time.
    pub(crate) fn learn(
        &mut self,
        sites: &mut Sites,
        address: u64,
        locate: impl FnOnce(u64) -> Located,
        tell: impl FnMut(&Slot) -> bool,
    ) -> u32 {
        let number = self.define(sites, (0, address), locate, tell);
        if let Some(number) = number {
            self.places[place(address)] = (address, number);
        }
        number.unwrap_or_default()
    }

    /// The same of a path; the function that makes the call comes first. It is cached under `caller`, if that is where the
    /// call is made.
    pub(crate) fn learn_path(
        &mut self,
        sites: &mut Sites,
        (caller, frames): (Option<Caller>, &[Frame]),
        locate: impl Fn(u64) -> Located,
        mut tell: impl FnMut(&Slot) -> bool,
    ) -> u32 {
        let (mut parent, mut site) = (0, 0);
        for frame in frames.iter().rev() {
            let Some(number) = self.define(sites, (parent, frame.address), &locate, &mut tell) else {
                return 0;
            };
            site = number;
            // The path goes on without our own functions, which MPI called, and without those that get no number.
            if number != 0 {
                parent = number;
            }
        }
        if let Some(caller) = caller {
            self.paths.keep(caller, site, frames);
        }
        site
    }

    /// The number of an address that was reached from a site: 0 for one that gets none, `None` where it could not be defined
    /// this time.
    fn define(
        &mut self,
        sites: &mut Sites,
        (parent, address): (u32, u64),
        locate: impl FnOnce(u64) -> Located,
        mut tell: impl FnMut(&Slot) -> bool,
    ) -> Option<u32> {
        let Some(Site { number, module, offset }) = sites.find(parent, address, locate) else {
            let full = SiteDefinition { number: 0, module: NO_MODULE, offset: 0, parent: 0 };
            self.is_full_told = self.is_full_told || tell(&full.encode());
            return self.is_full_told.then_some(0);
        };
        if number == 0 || has(&self.sites_told, number) {
            return Some(number);
        }
        if let Some(defined) = sites.modules.get(module as usize)
            && !has(&self.modules_told, module)
        {
            let Module { path, build_id, .. } = defined;
            let whole = tell(&ModuleDefinition::new(module, path, build_id).encode())
                && PathPart::all(module, path).all(|part| tell(&part.encode()));
            if !whole {
                return None;
            }
            set(&mut self.modules_told, module);
        }
        if !tell(&SiteDefinition { number, module, offset, parent }.encode()) {
            return None;
        }
        set(&mut self.sites_told, number);
        Some(number)
    }

    /// Definitions may be lost: all are repeated.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Multiplied by the golden ratio, addresses that lie close together go to different places.
#[inline(always)]
fn place(address: u64) -> usize {
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_wire::Entry;

    fn located(address: u64) -> Located {
        match address >> 32 {
            0 => Located::Nowhere,
            1 => Located::Own,
            module => {
                Located::In { path: format!("/m{module}").into(), build_id: vec![7], base: module << 32 }
            }
        }
    }

    #[derive(Default)]
    struct Tape {
        entries: Vec<Entry>,
        /// How many more slots it takes.
        free_slots: usize,
    }

    impl Tape {
        fn learn(&mut self, cache: &mut SiteCache, sites: &mut Sites, address: u64) -> u32 {
            cache.get(address).unwrap_or_else(|| {
                cache.learn(sites, address, located, |slot| {
                    let takes = self.free_slots > 0;
                    if takes {
                        self.free_slots -= 1;
                        self.entries.extend(Entry::decode(slot));
                    }
                    takes
                })
            })
        }
    }

    #[test]
    fn each_thread_defines_a_site_once_after_its_module() {
        let (mut sites, mut tape) = (Sites::default(), Tape { free_slots: 100, ..Tape::default() });
        let (mut one, mut other) = (SiteCache::default(), SiteCache::default());
        let (first_site, second_site) = ((2 << 32) + 0x10, (2 << 32) + 0x20);
        assert_eq!(tape.learn(&mut one, &mut sites, first_site), 1);
        assert_eq!(tape.learn(&mut one, &mut sites, second_site), 2);
        assert_eq!(tape.learn(&mut one, &mut sites, first_site), 1);
        let definition =
            |number, offset| Entry::Site(SiteDefinition { number, module: 0, offset, parent: 0 });
        assert!(matches!(tape.entries[0], Entry::Module(module) if module.build_id() == [7]));
        assert!(matches!(tape.entries[1], Entry::Path(part) if part.bytes() == b"/m2"));
        assert_eq!(tape.entries[2..], [definition(1, 0x10), definition(2, 0x20)]);
        let before = tape.entries.clone();
        tape.entries.clear();
        assert_eq!(tape.learn(&mut other, &mut sites, second_site), 2);
        assert_eq!(tape.entries, [before[0], before[1], definition(2, 0x20)]);
    }

    #[test]
    fn places_in_no_file_are_addresses_and_our_own_are_none() {
        let (mut sites, mut tape) = (Sites::default(), Tape { free_slots: 100, ..Tape::default() });
        let mut cache = SiteCache::default();
        assert_eq!(tape.learn(&mut cache, &mut sites, 1 << 32), 0);
        assert_eq!(cache.get(1 << 32), Some(0));
        assert!(tape.entries.is_empty());
        let number = tape.learn(&mut cache, &mut sites, 77);
        assert_eq!(
            tape.entries,
            [Entry::Site(SiteDefinition { number, module: NO_MODULE, offset: 77, parent: 0 })]
        );
        assert_eq!(cache.get(0), Some(0), "no address is no site");
    }

    #[test]
    fn addresses_that_share_a_place_keep_their_numbers() {
        let (mut sites, mut tape) = (Sites::default(), Tape { free_slots: 1 << 20, ..Tape::default() });
        let mut cache = SiteCache::default();
        let all: Vec<u64> = (1..=10 * CACHED as u64).map(|at| (2 << 32) + at * 5).collect();
        let first: Vec<u32> = all.iter().map(|&at| tape.learn(&mut cache, &mut sites, at)).collect();
        let before = tape.entries.len();
        let second: Vec<u32> = all.iter().map(|&at| tape.learn(&mut cache, &mut sites, at)).collect();
        assert_eq!(first, second);
        assert_eq!(first, (1..=10 * CACHED as u32).collect::<Vec<_>>());
        assert_eq!(tape.entries.len(), before);
    }

    #[test]
    fn a_definition_without_space_comes_with_the_next_call() {
        let (mut sites, mut cache) = (Sites::default(), SiteCache::default());
        let mut tape = Tape::default();
        for free_slots in 0..3 {
            tape.free_slots = free_slots;
            assert_eq!(tape.learn(&mut cache, &mut sites, 2 << 32), 0, "{free_slots}");
            assert_eq!(cache.get(2 << 32), None);
        }
        // Its module was defined by then.
        (tape.free_slots, tape.entries) = (3, Vec::new());
        assert_eq!(tape.learn(&mut cache, &mut sites, 2 << 32), 1);
        assert_eq!(tape.entries.len(), 1);
        cache.forget();
        (tape.free_slots, tape.entries) = (3, Vec::new());
        assert_eq!(tape.learn(&mut cache, &mut sites, 2 << 32), 1);
        assert_eq!(tape.entries.len(), 3);
    }

    #[test]
    fn beyond_the_last_number_sites_have_none_and_one_entry_reports_it() {
        let (mut sites, mut cache) = (Sites::default(), SiteCache::default());
        let mut tape = Tape { free_slots: usize::MAX, ..Tape::default() };
        for at in 0..MOST_SITES as u64 + 9 {
            let number = tape.learn(&mut cache, &mut sites, (2 << 32) + at);
            assert_eq!(number, if at < MOST_SITES as u64 - 1 { at as u32 + 1 } else { 0 });
        }
        let full = |entry: &&Entry| matches!(entry, Entry::Site(site) if site.number == 0);
        assert_eq!(tape.entries.iter().filter(full).count(), 1);
        assert_eq!(sites.by_place.len(), MOST_SITES - 1);
        assert_eq!(tape.learn(&mut cache, &mut sites, 2 << 32), 1, "those that have one keep it");
    }

    /// A path through addresses of one module, the outermost first, and where it is called.
    fn path(offsets: &[u64]) -> (Option<Caller>, Vec<Frame>) {
        let frame =
            |(at, &offset): (usize, &u64)| Frame { address: (2 << 32) + offset, written_at: 800 - 8 * at };
        let frames: Vec<_> = offsets.iter().enumerate().map(frame).rev().collect();
        (Some(Caller { address: frames[0].address, stack: frames[0].written_at }), frames)
    }

    #[test]
    fn a_path_is_sites_that_lead_to_one_another() {
        let (mut sites, mut cache, mut entries) = (Sites::default(), SiteCache::default(), Vec::new());
        let mut learn = |cache: &mut SiteCache, offsets: &[u64]| {
            let (caller, frames) = path(offsets);
            let number = cache.learn_path(&mut sites, (caller, &frames), located, |slot| {
                entries.extend(Entry::decode(slot));
                true
            });
            (number, caller.unwrap(), frames)
        };
        let (first, caller, frames) = learn(&mut cache, &[0x10, 0x20, 0x30]);
        let (other, ..) = learn(&mut cache, &[0x10, 0x21, 0x30]);
        let (same, ..) = learn(&mut cache, &[0x10, 0x20, 0x30]);
        assert_eq!((first, other, same), (3, 5, 3));
        let sites: Vec<_> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Site(site) => Some((site.number, site.offset, site.parent)),
                _ => None,
            })
            .collect();
        assert_eq!(sites, [(1, 0x10, 0), (2, 0x20, 1), (3, 0x30, 2), (4, 0x21, 1), (5, 0x30, 4)]);
        let read =
            |at: usize| frames.iter().find(|frame| frame.written_at == at).map_or(0, |frame| frame.address);
        assert_eq!(cache.get_path(caller, read), Some(3));
        assert_eq!(cache.get_path(caller, |_| 0), None);
        cache.forget();
        assert_eq!(cache.get_path(caller, read), None);
    }

    #[test]
    fn a_path_without_space_is_learnt_at_the_next_call() {
        let (mut sites, mut cache) = (Sites::default(), SiteCache::default());
        let (caller, frames) = path(&[0x10, 0x20]);
        // The module and its path, and two sites.
        for free_slots in 0..4 {
            let mut free = free_slots;
            let number = cache.learn_path(&mut sites, (caller, &frames), located, |_| {
                free -= 1;
                free >= 0
            });
            assert_eq!(number, if free_slots < 3 { 0 } else { 2 }, "{free_slots}");
        }
    }

    #[test]
    fn a_path_leads_through_our_own_functions() {
        let (mut sites, mut cache) = (Sites::default(), SiteCache::default());
        let (_, mut frames) = path(&[0x10, 0x20]);
        frames.insert(1, Frame { address: 1 << 32, written_at: 796 });
        let mut defined = Vec::new();
        cache.learn_path(&mut sites, (None, &frames), located, |slot| {
            if let Some(Entry::Site(site)) = Entry::decode(slot) {
                defined.push((site.offset, site.parent));
            }
            true
        });
        assert_eq!(defined, [(0x10, 0), (0x20, 1)]);
    }

    #[test]
    fn a_call_without_a_number_does_not_get_that_of_its_caller() {
        let (mut sites, mut cache) = (Sites::default(), SiteCache::default());
        let mut learn = |offsets: &[u64]| {
            let (caller, frames) = path(offsets);
            cache.learn_path(&mut sites, (caller, &frames), located, |_| true)
        };
        assert_eq!(learn(&[0x10, 0x20]), 2);
        for at in 0..MOST_SITES as u64 {
            learn(&[0x10, 0x1000 + at]);
        }
        assert_eq!((learn(&[0x10, 5]), learn(&[0x10, 0x20])), (0, 2));
    }
}
