//! The nearest call after or before a time.

use crate::question::{EventQuestion, is_among};
use mpiscope_model::{Call, Nanoseconds};
use serde::{Deserialize, Serialize};

/// The nearest call of some ranks that begins after or before a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Event {
    /// When it begins; null where there is none.
    pub at_ns: Option<u64>,
    /// Who calls; of several at that moment the least.
    pub rank: u32,
    /// What is called.
    pub function: u32,
}

impl From<Option<&Call>> for Event {
    fn from(call: Option<&Call>) -> Self {
        call.map_or_else(Self::default, |call| Self {
            at_ns: Some(call.start_ns),
            rank: call.rank.0,
            function: call.function.into(),
        })
    }
}

impl EventQuestion {
    /// Whether it may be this call.
    #[must_use]
    pub fn accepts(&self, call: &Call) -> bool {
        let is_there = if self.is_back { call.start_ns < self.at_ns } else { call.start_ns > self.at_ns };
        is_there && is_among(self.ranks.as_deref(), call.rank) && !self.hidden.contains(&call.function.into())
    }

    /// The one of the two that is nearer.
    #[must_use]
    pub fn nearer(&self, one: Option<Call>, other: Call) -> Option<Call> {
        let key = |call: &Call| (self.away_ns(call.start_ns), call.rank, call.thread);
        match one {
            Some(one) if key(&one) <= key(&other) => Some(one),
            _ => Some(other),
        }
    }

    /// How far away a moment is.
    #[must_use]
    pub fn away_ns(&self, at_ns: Nanoseconds) -> Nanoseconds {
        at_ns.abs_diff(self.at_ns)
    }

    /// The least that a call between two times, also in part, can be away; none where it cannot be one.
    #[must_use]
    pub fn nearest_ns(&self, from_ns: Nanoseconds, to_ns: Nanoseconds) -> Option<Nanoseconds> {
        if self.is_back {
            (from_ns < self.at_ns).then(|| self.at_ns.saturating_sub(to_ns))
        } else {
            (to_ns > self.at_ns).then(|| from_ns.saturating_sub(self.at_ns))
        }
    }
}
