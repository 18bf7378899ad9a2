//! Collectives: dependencies follow the data.

use crate::spec::Collective;
use mpiscope_wire::id;
use std::collections::VecDeque;

/// The root of collectives that have one.
pub(super) const ROOT: u32 = 0;

/// One collective that not everybody has entered.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    pub(super) entered: u32,
    pub(super) last_ns: u64,
    /// When the data of a broadcast is there.
    pub(super) spread_ns: Option<u64>,
    pub(super) waiting: Vec<u32>,
}

/// Those that some members have entered and others have not.
#[derive(Debug)]
pub(super) struct Meetings {
    pub(super) ranks: u32,
    pub(super) first: u32,
    pub(super) open: VecDeque<Meeting>,
}

impl Meetings {
    pub(super) fn new(ranks: u32) -> Self {
        Self { ranks, first: 0, open: VecDeque::new() }
    }

    /// The meeting with a number, which is not complete.
    #[inline]
    pub(super) fn meeting(&mut self, number: u32) -> &mut Meeting {
        let place = (number - self.first) as usize;
        while self.open.len() <= place {
            self.open.push_back(Meeting::default());
        }
        &mut self.open[place]
    }

    /// Drops the first meetings, as far as everybody has entered them.
    #[inline]
    pub(super) fn drop_complete(&mut self) {
        while self.open.front().is_some_and(|first| first.entered == self.ranks) {
            self.open.pop_front();
            self.first += 1;
        }
    }
}

impl Collective {
    pub(super) fn function(self) -> u16 {
        match self {
            Collective::Barrier => id::BARRIER,
            Collective::Allreduce => id::ALLREDUCE,
            Collective::Alltoall => id::ALLTOALL,
            Collective::Bcast => id::BCAST,
            Collective::Reduce => id::REDUCE,
        }
    }

    pub(super) fn has_root(self) -> bool {
        matches!(self, Collective::Bcast | Collective::Reduce)
    }
}
