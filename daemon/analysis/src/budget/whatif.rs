//! What would be otherwise: for each thread, how much earlier it would be where it is, if ranks were placed as advised, if
//! messages and collectives took what they take when the network is quiet, if it always had a core, or if work were even.
//! Unlike what a path is made of, this knows of those who come to be waited for when others are not late any more.

use super::causes::Causes;
use mpiscope_model::Nanoseconds;
use std::ops::{AddAssign, Index, IndexMut};

/// What is otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WhatIf {
    /// Ranks are placed as advised.
    Placed,
    /// Messages between nodes and collectives take what they take when the network is quiet.
    Quiet,
    /// Every rank has a core.
    Cored,
    /// Every rank has as much to compute as the others.
    Balanced,
}

/// How many there are.
pub(super) const WHATIFS: usize = 4;

/// How much earlier it would be, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gains(pub(super) [i64; WHATIFS]);

impl Gains {
    /// With others, each of the cases by itself.
    pub(super) fn with(&self, other: &Self, join: impl Fn(i64, i64) -> i64) -> Self {
        Self(std::array::from_fn(|at| join(self.0[at], other.0[at])))
    }
}

impl Index<WhatIf> for Gains {
    type Output = i64;
    fn index(&self, whatif: WhatIf) -> &i64 {
        &self.0[whatif as usize]
    }
}

impl IndexMut<WhatIf> for Gains {
    fn index_mut(&mut self, whatif: WhatIf) -> &mut i64 {
        &mut self.0[whatif as usize]
    }
}

impl AddAssign for Gains {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(ours, theirs)| *ours += theirs);
    }
}

/// The way that led to a moment: what it was made of, and how much shorter it would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// What it was made of; sums to the time of the moment.
    pub(super) made_of: Causes,
    /// How much earlier the moment would be.
    pub(super) gains: Gains,
}

/// The latest of several times, in each of the cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Latest([i64; WHATIFS]);

impl Latest {
    /// Something was at a time, would be earlier by what its way gained, and is spared some more.
    pub(super) fn at(&mut self, at_ns: Nanoseconds, gained: &Gains, spared: &Gains) {
        let cases = self.0.iter_mut().zip(gained.0).zip(spared.0);
        cases.for_each(|((latest, gained), spared)| *latest = (*latest).max(at_ns as i64 - gained - spared));
    }

    /// With what else there was.
    pub(super) fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(ours, theirs)| *ours = (*ours).max(theirs));
    }

    /// Some time later, of which some is spared.
    pub(super) fn after(self, time_ns: u64, spared: &Gains) -> Self {
        let mut later = self;
        later.0.iter_mut().zip(spared.0).for_each(|(latest, spared)| *latest += time_ns as i64 - spared);
        later
    }

    /// How much earlier that is than what was.
    pub(super) fn gains(&self, at_ns: Nanoseconds) -> Gains {
        Gains(self.0.map(|latest| at_ns as i64 - latest))
    }
}
