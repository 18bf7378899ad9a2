//! Waiting by the names that performance tools know.

use super::causes::Causes;
use mpiscope_matching::BySite;
use mpiscope_model::{Function, Nanoseconds, Rank, Site};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// A known kind of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitState {
    /// A receive whose message was not sent yet.
    LateSender,
    /// A blocked send whose receive was not posted yet.
    LateReceiver,
    /// Ranks in a barrier, for the last.
    Barrier,
    /// Ranks in a collective of all with all, for the last.
    AllToAll,
    /// Ranks in a collective from a root, for the root.
    LateBroadcast,
    /// The root of a collective to a root, for the last.
    EarlyReduce,
    /// Ranks in a scan, for those of lower rank.
    Scan,
}

mpiscope_model::numbers! {
    enum WaitState {
        LateSender = 0,
        LateReceiver = 1,
        Barrier = 2,
        AllToAll = 3,
        LateBroadcast = 4,
        EarlyReduce = 5,
        Scan = 6,
    }
}

impl WaitState {
    /// The words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            WaitState::LateSender => "late sender",
            WaitState::LateReceiver => "late receiver",
            WaitState::Barrier => "wait at barrier",
            WaitState::AllToAll => "wait at n-to-n",
            WaitState::LateBroadcast => "late broadcast",
            WaitState::EarlyReduce => "early reduce",
            WaitState::Scan => "wait in scan",
        }
    }
}

/// Who waited, in what, for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaitKey {
    /// How.
    pub state: WaitState,
    /// In which function.
    pub function: Function,
    /// Called from where.
    pub site: Option<Site>,
    /// Who waited.
    pub waiter: Rank,
    /// For whom.
    pub awaited: Rank,
}

mpiscope_model::numbers! { WaitKey { state, function, site, waiter, awaited } }

/// How much of it there was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaitTotals {
    /// How often.
    pub times: u64,
    /// How long in all.
    pub waited_ns: u64,
    /// The longest; of several as long, the first.
    pub longest_ns: u64,
    /// When the call began in which that was.
    pub longest_at_ns: Nanoseconds,
}

mpiscope_model::numbers! { WaitTotals { times, waited_ns, longest_ns, longest_at_ns } }

impl WaitTotals {
    fn add(&mut self, other: &Self) {
        self.times += other.times;
        self.waited_ns += other.waited_ns;
        if (other.longest_ns, Reverse(other.longest_at_ns)) > (self.longest_ns, Reverse(self.longest_at_ns)) {
            (self.longest_ns, self.longest_at_ns) = (other.longest_ns, other.longest_at_ns);
        }
    }
}

/// The waiting in calls from one call site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteWaiting {
    /// How long.
    pub waited_ns: u64,
    /// The same, by what kept those who were waited for.
    pub by: Causes,
}

mpiscope_model::numbers! { SiteWaiting { waited_ns, by } }

impl SiteWaiting {
    pub(super) fn add(&mut self, other: &Self) {
        self.waited_ns += other.waited_ns;
        self.by += other.by;
    }
}

/// The waiting of a run by call site.
pub type SiteWaits = BySite<SiteWaiting>;

/// Kinds of waiting that are counted separately; further ones are added up by state and waiter.
const MOST: usize = 1 << 18;

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Waits {
    totals: FxHashMap<WaitKey, WaitTotals>,
}

mpiscope_model::numbers! { Waits { totals } }

impl Waits {
    #[inline]
    pub(super) fn add(&mut self, key: WaitKey, at_ns: Nanoseconds, waited_ns: u64) {
        let key = self.counted_as(key);
        let totals = WaitTotals { times: 1, waited_ns, longest_ns: waited_ns, longest_at_ns: at_ns };
        self.totals.entry(key).or_default().add(&totals);
    }

    /// Takes in what another one has taken in.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut theirs: Vec<(WaitKey, &WaitTotals)> =
            other.totals.iter().map(|(key, totals)| (*key, totals)).collect();
        // Where there are too many, it matters which come first.
        theirs.sort_unstable_by_key(|(key, _)| *key);
        for (key, totals) in theirs {
            self.totals.entry(self.counted_as(key)).or_default().add(totals);
        }
    }

    /// The kind that a wait is counted as.
    fn counted_as(&self, key: WaitKey) -> WaitKey {
        if self.totals.len() >= MOST && !self.totals.contains_key(&key) {
            WaitKey { function: 0, site: None, awaited: key.waiter, ..key }
        } else {
            key
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&WaitKey, &WaitTotals)> {
        self.totals.iter()
    }
}
