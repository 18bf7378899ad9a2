//! The findings about a hang.

use super::detector::LastCall;
use super::waits::Waiting;
use mpiscope_matching::WaitingSend;
use mpiscope_model::{Comm, Function, InFlight, Nanoseconds, ProcessState, Rank};

/// The findings about a hang.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HangAnalysis {
    /// Since when nothing moves.
    pub since_ns: Nanoseconds,
    /// When that was looked at.
    pub at_ns: Nanoseconds,
    /// Ranks that run or ran, as far as they were seen.
    pub ranks: usize,
    /// The calls that wait, by rank and thread.
    pub waiting: Vec<Waiting>,
    /// Ranks that wait for ever, as far as is known.
    pub stuck: Vec<Rank>,
    /// Of them cycles in which each waits for the next and the last for the first.
    pub cycles: Vec<Vec<Rank>>,
    /// Those who are waited for and cannot come, and how many wait for each, directly or not.
    pub gone: Vec<(Rank, ProcessState, usize)>,
    /// Those who are waited for and may go on, the one whom most wait for first.
    pub roots: Vec<Root>,
    /// Members of one communicator that are in different collectives at the same turn.
    pub clashes: Vec<Clash>,
    /// Messages that wait for a receiver who waits for one of another tag from the same sender: that tag.
    pub mistagged: Vec<(WaitingSend, i32)>,
}

/// A rank that others wait for and that does not wait itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// Which.
    pub rank: Rank,
    /// How many wait for it, directly or not.
    pub waiting: usize,
    /// What it is doing.
    pub doing: Doing,
}

/// The activity of a rank that does not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It is in no call since the last one returned, or since the run began.
    Outside {
        /// Its last call.
        last: Option<LastCall>,
    },
    /// It asks again and again and finds nothing.
    Polls {
        /// How.
        last: LastCall,
    },
    /// It is in a call whose partners are unknown, or have come.
    Inside {
        /// Which.
        call: InFlight,
    },
    /// Nothing was ever heard of it.
    Unseen,
}

/// Members of a communicator that are in different collectives at the same turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// The communicator.
    pub comm: Comm,
    /// The functions, and who is in them.
    pub functions: Vec<(Function, Vec<Rank>)>,
}

impl HangAnalysis {
    /// Ranks that wait in a call, each once.
    #[must_use]
    pub fn waiting_ranks(&self) -> Vec<Rank> {
        let mut ranks: Vec<Rank> = self.waiting.iter().map(|waiting| waiting.call.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}
