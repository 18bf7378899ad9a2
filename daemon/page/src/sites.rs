//! The call sites, for pages that ask: looked up when they do.

use super::source_text::source_text;
use mpiscope_feed::{NO_SITE, SiteSource, Sites, SourceText};
use mpiscope_model::{Site, SiteInfo};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The call sites of a run. Shared between who receives them and who asks for them.
#[derive(Debug, Clone, Default)]
pub struct SiteList(Arc<Mutex<LookedUpSites>>);

#[derive(Debug, Default)]
struct LookedUpSites {
    sites: Vec<SiteInfo>,
    /// The number of them that were looked up, with or without success.
    looked_up: usize,
}

impl SiteList {
    /// A panic elsewhere while the lock was held leaves a list that is still sound.
    fn lock(&self) -> MutexGuard<'_, LookedUpSites> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what is new of all that is known.
    pub fn see(&self, sites: &[SiteInfo]) {
        let mut known = self.lock();
        let new = sites.get(known.sites.len()..).unwrap_or_default();
        known.sites.extend_from_slice(new);
    }

    /// Nobody who tells of further ones waits meanwhile.
    fn look_up(&self) {
        let (from, mut new) = {
            let known = self.lock();
            (known.looked_up, known.sites[known.looked_up..].to_vec())
        };
        if new.is_empty() {
            return;
        }
        // What is wrong with a file is reported at the end of the run.
        mpiscope_symbols::look_up(&mut new, mpiscope_symbols::PATIENCE);
        let mut known = self.lock();
        let until = from + new.len();
        known.sites[from..until].clone_from_slice(&new);
        known.looked_up = known.looked_up.max(until);
    }
}

impl SiteSource for SiteList {
    fn sites(&self) -> Sites {
        self.look_up();
        let known = self.lock();
        table(&known.sites)
    }

    fn source_text(&self, site: Site) -> Result<SourceText, String> {
        self.look_up();
        let place = self.lock().sites.get(site.index()).cloned();
        source_text(&place.ok_or("there is no such call site")?)
    }
}

/// All places in columns, but for those on the way to `main`, or to the function of a thread.
fn table(all: &[SiteInfo]) -> Sites {
    let mut names = Names::default();
    let before_main = before_main(all);
    let is_shown = |site: Site| !before_main.get(site.index()).is_some_and(|&is_before| is_before);
    let sites = || all.iter().filter(|site| is_shown(site.site));
    Sites {
        has_paths: all.iter().any(|site| site.parent.is_some()),
        id: sites().map(|site| site.site.0).collect(),
        place: sites().map(|site| site.words_with_caller(all)).collect(),
        parent: sites()
            .map(|site| Site::number_or_max(site.parent.filter(|&parent| is_shown(parent))))
            .collect(),
        function: sites().map(|site| names.number(site.function.as_deref())).collect(),
        file: sites().map(|site| names.number(site.file.as_deref())).collect(),
        line: sites().map(|site| site.line.unwrap_or_default()).collect(),
        module: sites().map(|site| names.number(Some(&site.module))).collect(),
        names: names.all,
    }
}

/// By place: whether it leads to others, and it and all that led to it run before the program does.
fn before_main(sites: &[SiteInfo]) -> Vec<bool> {
    let mut is_start = Vec::with_capacity(sites.len());
    for site in sites {
        // Those that led to a place come before it.
        let after_start = site.parent.is_none_or(|parent| is_start.get(parent.index()) == Some(&true));
        is_start.push(after_start && site.is_of_start());
    }
    let mut before = vec![false; sites.len()];
    for parent in sites.iter().filter_map(|site| site.parent) {
        if is_start.get(parent.index()) == Some(&true) {
            before[parent.index()] = true;
        }
    }
    before
}

/// Names, each once.
#[derive(Default)]
struct Names<'a> {
    all: Vec<String>,
    numbers: FxHashMap<&'a str, u32>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: Option<&'a str>) -> u32 {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return NO_SITE };
        *self.numbers.entry(name).or_insert_with(|| {
            self.all.push(name.to_owned());
            self.all.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_reported_as_they_become_known() {
        let list = SiteList::default();
        assert_eq!(list.sites(), Sites::default());
        let site = |site| SiteInfo {
            site,
            module: "solver".into(),
            offset: u64::from(site.0) + 16,
            ..SiteInfo::default()
        };
        list.see(&[site(Site(0))]);
        assert_eq!(list.sites().place, ["solver+0x10"]);
        // All that is known comes again and again.
        let named = SiteInfo { file: Some("main.c".into()), line: Some(3), ..site(Site(1)) };
        list.see(&[site(Site(0)), named]);
        list.see(&[site(Site(0))]);
        let Sites { id, place, .. } = list.sites();
        assert_eq!((id.0, place), (vec![0, 1], vec!["solver+0x10".to_owned(), "main.c:3".to_owned()]));
    }

    #[test]
    fn what_runs_before_main_is_left_out() {
        let site = |site, parent, module: &str, function: &str| SiteInfo {
            site,
            parent,
            module: module.into(),
            function: Some(function.into()),
            ..SiteInfo::default()
        };
        let all = [
            site(Site(0), None, "/opt/solver", "_start+0x21"),
            site(Site(1), Some(Site(0)), "/usr/lib/libc.so.6", "__libc_start_main"),
            site(Site(2), Some(Site(1)), "/opt/solver", "main"),
            site(Site(3), Some(Site(2)), "/usr/lib/libc.so.6", "qsort"),
            site(Site(4), Some(Site(3)), "/opt/solver", "compare"),
            // Called by the C library itself.
            site(Site(5), Some(Site(1)), "/usr/lib/libc.so.6", "exit"),
        ];
        let Sites { id, parent, has_paths, .. } = table(&all);
        assert_eq!(id.0, [2, 3, 4, 5]);
        assert_eq!(parent.0, [NO_SITE, 2, 3, NO_SITE]);
        assert!(has_paths && table(&all[..3]).has_paths && !table(&all[..1]).has_paths);
    }

    #[test]
    fn places_on_the_way_to_calls_come_with_names_once() {
        let site = |site, parent, function: &str, line| SiteInfo {
            site,
            parent,
            module: "/opt/solver".into(),
            function: Some(function.into()),
            file: Some("/src/main.c".into()),
            line: Some(line),
            ..SiteInfo::default()
        };
        let sites = table(&[site(Site(0), None, "main", 9), site(Site(1), Some(Site(0)), "solve", 5)]);
        assert_eq!(sites.place, ["main.c:9 main()", "main.c:5 solve(), called by main()"]);
        assert_eq!(sites.parent.0, [NO_SITE, 0]);
        let named = |column: &mpiscope_feed::U32Column| -> Vec<&str> {
            column.0.iter().map(|&number| sites.names[number as usize].as_str()).collect()
        };
        assert_eq!(named(&sites.function), ["main", "solve"]);
        assert_eq!(named(&sites.file), ["/src/main.c"; 2]);
        assert_eq!(named(&sites.module), ["/opt/solver"; 2]);
        assert_eq!((sites.line.0.as_slice(), sites.names.len()), (&[9, 5][..], 4));
    }
}
