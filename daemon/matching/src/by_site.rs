//! Something for each call site, in bounded memory.

use mpiscope_model::{Numbers, Sink, Site, Source};

/// Further call sites are counted together, with the calls whose site is unknown.
const MOST_SITES: usize = 1 << 16;

/// A value for each site of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BySite<T> {
    known: Vec<T>,
    rest: T,
}

impl<T: Numbers> Numbers for BySite<T> {
    fn put<S: Sink>(&self, to: &mut S) {
        let Self { known, rest } = self;
        known.put(to);
        rest.put(to);
    }

    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Some(Self { known: Vec::get(from)?, rest: T::get(from)? })
    }
}

impl<T: Default> BySite<T> {
    /// The value of a site, or that of all others.
    #[inline]
    pub fn value_mut(&mut self, site: Option<Site>) -> &mut T {
        match site.map(Site::index).filter(|&site| site < MOST_SITES) {
            Some(site) => {
                if self.known.len() <= site {
                    self.known.resize_with(site + 1, T::default);
                }
                &mut self.known[site]
            }
            None => &mut self.rest,
        }
    }

    /// The value of a site; none of one that is not counted separately.
    #[must_use]
    pub fn get(&self, site: Site) -> Option<&T> {
        self.known.get(site.index())
    }

    /// All of them by site, those of no site last.
    pub fn iter(&self) -> impl Iterator<Item = (Option<Site>, &T)> {
        let known = self.known.iter().enumerate().map(|(site, value)| (Some(Site::from_index(site)), value));
        known.chain([(None, &self.rest)])
    }

    /// Joins what another operator found on other input.
    pub fn merge(&mut self, other: &Self, mut join: impl FnMut(&mut T, &T)) {
        for (site, theirs) in other.iter() {
            join(self.value_mut(site), theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_last_site_is_counted_together() {
        let mut sites = BySite::<u64>::default();
        for site in [Some(2), None, Some(MOST_SITES as u32), Some(u32::MAX), Some(2)] {
            *sites.value_mut(site.map(Site)) += 1;
        }
        assert_eq!(sites.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [0, 0, 2, 3]);
        let mut other = BySite::<u64>::default();
        *other.value_mut(Some(Site(5))) += 4;
        other.merge(&sites, |ours, theirs| *ours += theirs);
        assert_eq!((other.get(Site(2)), other.get(Site(5)), other.get(Site(6))), (Some(&2), Some(&4), None));
        assert_eq!(other.iter().last(), Some((None, &3)));
    }
}
