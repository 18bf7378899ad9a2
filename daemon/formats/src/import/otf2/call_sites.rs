//! Where an archive says that calls were made: its own call sites, else the function of the program around the call.

use std::collections::HashMap;

/// Names of call sites, numbered from 1 on as they are found.
#[derive(Debug, Default)]
pub(crate) struct CallSites {
    numbers: HashMap<CallSite, u32>,
    found: Vec<CallSite>,
}

/// What an archive says about the place of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CallSite {
    /// The string of a call site.
    String(u32),
    /// The function of the program that made the call, and what it called: the same place calls one function only.
    Region(u32, u16),
}

impl CallSites {
    /// Further ones have no name.
    const MAX: usize = 1 << 12;

    /// The number of a call site; 0 is none.
    pub(super) fn number(&mut self, site: CallSite) -> u32 {
        let next = (self.found.len() < Self::MAX).then_some(self.found.len() as u32 + 1);
        let number = *self.numbers.entry(site).or_insert(next.unwrap_or_default());
        if Some(number) == next {
            self.found.push(site);
        }
        number
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = CallSite> {
        self.found.iter().copied()
    }
}
