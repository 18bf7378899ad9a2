//! The location of each thread in the archive.

use crate::export::gather::TraceContents;
use mpiscope_model::Rank;
use std::collections::BTreeMap;

/// A location for each thread of each rank; the first thread of a rank has the number of the rank.
pub(super) struct Locations {
    by_thread: BTreeMap<(Rank, u16), u64>,
}

impl Locations {
    pub(super) fn new(about: &TraceContents, ranks: u32) -> Self {
        let mut further = u64::from(ranks);
        let mut by_thread = BTreeMap::new();
        for (rank, threads) in &about.threads {
            for (at, &thread) in threads.iter().enumerate() {
                let location = if at == 0 { u64::from(rank.0) } else { further };
                further += u64::from(at > 0);
                by_thread.insert((*rank, thread), location);
            }
        }
        Self { by_thread }
    }

    /// Rank, thread and location of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Rank, u16, u64)> {
        self.by_thread.iter().map(|(&(rank, thread), &location)| (rank, thread, location))
    }

    /// The location of a thread.
    pub(super) fn number(&self, rank: Rank, thread: u16) -> u64 {
        self.by_thread.get(&(rank, thread)).copied().unwrap_or(rank.0.into())
    }

    /// The first thread of a rank that has a location.
    pub(super) fn first_thread(&self, rank: Rank) -> Option<u16> {
        self.by_thread.range((rank, 0)..=(rank, u16::MAX)).next().map(|((_, thread), _)| *thread)
    }
}
