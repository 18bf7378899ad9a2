//! Numbers of things, and times.

use std::fmt;

/// Types of numbers that are indices into tables. No index converts to another type unless the code says so.
macro_rules! indices {
    ($($(#[$meta:meta])* $name:ident),* $(,)?) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of this row of a table, which has fewer than 2^32.
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                Self(index as u32)
            }

            /// Its number in a column, where the highest number stands for none.
            #[must_use]
            pub fn number_or_max(index: Option<Self>) -> u32 {
                index.map_or(u32::MAX, |index| index.0)
            }

            /// Where it stands in a table.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        crate::numbers! { $name(number) }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

indices! {
    /// A dense index into the run's communicator table.
    Comm,
    /// A dense index into the run's node table.
    Node,
    /// A dense index into the run's table of call sites.
    Site,
    /// A world rank.
    Rank,
}

impl Comm {
    /// The world communicator.
    pub const WORLD: Self = Self(0);
}

impl Node {
    /// A host that is none of the job's: no rank runs there.
    pub const OUTSIDE: Self = Self(u32::MAX);
}

impl Rank {
    /// Stands for no rank where a number has to be.
    pub const NONE: Self = Self(u32::MAX);
    /// The highest that a number has space for: the end of a range that ends nowhere.
    pub const MAX: Self = Self(u32::MAX);

    /// The ranks of a job with this number of them.
    pub fn all(count: u32) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone + use<> {
        (0..count).map(Self)
    }
}

/// A stable, never reused number of an MPI function.
pub type Function = u16;
/// Nanoseconds since the start of the run.
pub type Nanoseconds = u64;
