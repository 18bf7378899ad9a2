//! Where in the program calls are made, for pages that ask: looked up when they do.

use super::source_text::source_text;
use crate::places;
use mpiscope_feed::{NO_SITE, SiteSource, Sites, SourceText};
use mpiscope_model::{Site, SiteInfo};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The places that a run told of. Shared between whoever hears of them and those who ask.
#[derive(Debug, Clone, Default)]
pub(crate) struct SiteShelf(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    sites: Vec<SiteInfo>,
    /// The number of them that were looked up, with or without success.
    looked_up: usize,
}

impl SiteShelf {
    /// A panic elsewhere while the lock was held leaves a list that is still sound.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what is new of all that is known.
    pub(crate) fn see(&self, sites: &[SiteInfo]) {
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
        // What is wrong with a file is told when the run is over.
        places::look_up(&mut new, places::PATIENCE);
        let mut known = self.lock();
        let until = from + new.len();
        known.sites[from..until].clone_from_slice(&new);
        known.looked_up = known.looked_up.max(until);
    }
}

impl SiteSource for SiteShelf {
    fn sites(&self) -> Sites {
        self.look_up();
        let known = self.lock();
        table(&known.sites)
    }

    fn source_text(&self, site: Site) -> Result<SourceText, String> {
        self.look_up();
        let place = self.lock().sites.get(site as usize).cloned();
        source_text(&place.ok_or("there is no such call site")?)
    }
}

/// All places in columns.
fn table(sites: &[SiteInfo]) -> Sites {
    let mut names = Names::default();
    Sites {
        id: sites.iter().map(|site| site.site).collect(),
        place: sites.iter().map(|site| site.words_with_caller(sites)).collect(),
        parent: sites.iter().map(|site| site.parent.unwrap_or(NO_SITE)).collect(),
        function: sites.iter().map(|site| names.number(site.function.as_deref())).collect(),
        file: sites.iter().map(|site| names.number(site.file.as_deref())).collect(),
        line: sites.iter().map(|site| site.line.unwrap_or_default()).collect(),
        module: sites.iter().map(|site| names.number(Some(&site.module))).collect(),
        names: names.all,
    }
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
    fn places_are_told_as_they_become_known() {
        let shelf = SiteShelf::default();
        assert_eq!(shelf.sites(), Sites::default());
        let site = |site| SiteInfo {
            site,
            module: "solver".into(),
            offset: u64::from(site) + 16,
            ..SiteInfo::default()
        };
        shelf.see(&[site(0)]);
        assert_eq!(shelf.sites().place, ["solver+0x10"]);
        // All that is known is told again and again.
        let named = SiteInfo { file: Some("main.c".into()), line: Some(3), ..site(1) };
        shelf.see(&[site(0), named]);
        shelf.see(&[site(0)]);
        let Sites { id, place, .. } = shelf.sites();
        assert_eq!((id.0, place), (vec![0, 1], vec!["solver+0x10".to_owned(), "main.c:3".to_owned()]));
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
        let sites = table(&[site(0, None, "main", 9), site(1, Some(0), "solve", 5)]);
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
