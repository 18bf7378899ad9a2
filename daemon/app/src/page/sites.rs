//! Where in the program calls are made, for pages that ask: looked up when they do.

use crate::places;
use mpiscope_feed::{SiteSource, Sites};
use mpiscope_model::SiteInfo;
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
        Sites {
            id: known.sites.iter().map(|site| site.site).collect(),
            place: known.sites.iter().map(SiteInfo::words).collect(),
        }
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
        let Sites { id, place } = shelf.sites();
        assert_eq!((id.0, place), (vec![0, 1], vec!["solver+0x10".to_owned(), "main.c:3".to_owned()]));
    }
}
