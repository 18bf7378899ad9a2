//! What time was made of.

use std::ops::{AddAssign, Index, IndexMut, Sub, SubAssign};

/// What a piece of time was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Between calls.
    Compute,
    /// Ready to run, waiting for a CPU.
    CpuWait,
    /// What a message of its size takes within a node.
    Base,
    /// What it takes more between nodes, where the advised placement would put both ends on one.
    Saved,
    /// What it takes more between nodes.
    Distance,
    /// What a message within a node took beyond that.
    ExcessInside,
    /// What a message between nodes, or a collective, took beyond that.
    Excess,
    /// The work of a collective.
    Operation,
    /// Calls that move nothing.
    Other,
    /// Nobody knows: lost, not matched, or without criteria.
    Unknown,
}

/// How many there are.
pub const CAUSES: usize = 10;

impl Cause {
    /// All, in order.
    pub const ALL: [Cause; CAUSES] = [
        Cause::Compute,
        Cause::CpuWait,
        Cause::Base,
        Cause::Saved,
        Cause::Distance,
        Cause::ExcessInside,
        Cause::Excess,
        Cause::Operation,
        Cause::Other,
        Cause::Unknown,
    ];
}

/// Nanoseconds by cause. A path's are what the way to a moment was made of and sum to its time; those of a waiting are
/// a difference of two paths, and some may be negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Causes([i64; CAUSES]);

mpiscope_model::numbers! { Causes(by_cause) }

impl Causes {
    /// The sum over all.
    #[must_use]
    pub fn sum(&self) -> i64 {
        self.0.iter().sum()
    }

    /// The share of it that falls on `part_ns` of `whole_ns`, each rounded towards zero.
    #[must_use]
    pub fn share(&self, part_ns: u64, whole_ns: u64) -> Self {
        let whole = i128::from(whole_ns.max(1));
        Self(self.0.map(|ns| (i128::from(ns) * i128::from(part_ns) / whole) as i64))
    }

    /// The sum of what is negative, as a positive number.
    #[must_use]
    pub fn negative(&self) -> i64 {
        self.0.iter().filter(|&&ns| ns < 0).map(|ns| -ns).sum()
    }
}

impl Index<Cause> for Causes {
    type Output = i64;
    #[inline]
    fn index(&self, cause: Cause) -> &i64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Causes {
    #[inline]
    fn index_mut(&mut self, cause: Cause) -> &mut i64 {
        &mut self.0[cause as usize]
    }
}

impl AddAssign for Causes {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(ours, theirs)| *ours += theirs);
    }
}

impl SubAssign for Causes {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(ours, theirs)| *ours -= theirs);
    }
}

impl Sub for Causes {
    type Output = Self;
    #[inline]
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

/// Time in MPI: what was waited, by root cause, and all else by itself. The two sum to the time in MPI.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Waited for others.
    pub waiting_ns: u64,
    /// The same, by what kept those who were waited for.
    pub waiting_by: Causes,
    /// The rest.
    pub direct: Causes,
}

mpiscope_model::numbers! { Budget { waiting_ns, waiting_by, direct } }

impl Budget {
    /// Time in MPI.
    #[must_use]
    pub fn total_ns(&self) -> i64 {
        self.waiting_ns as i64 + self.direct.sum()
    }

    /// What a cause cost, by itself and in the waiting of others.
    #[must_use]
    pub fn cost_ns(&self, cause: Cause) -> i64 {
        self.direct[cause] + self.waiting_by[cause]
    }
}

impl AddAssign for Budget {
    fn add_assign(&mut self, other: Self) {
        self.waiting_ns += other.waiting_ns;
        self.waiting_by += other.waiting_by;
        self.direct += other.direct;
    }
}
