//! What a call showed of criteria, of the course of the run, and of blocking sends. It is learnt when the window closes,
//! those of each thread in order and one thread after the other: neither the order in which calls are settled nor the
//! shard that settles them matters.

use crate::criteria::{CollectiveKey, Scope};
use mpiscope_model::{Nanoseconds, Rank};

/// What a call showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Observation {
    /// An exact message took so long, and this many times the expected time where one is known.
    Message {
        /// Within nodes or between them.
        scope: Scope,
        /// Its size.
        bytes: u64,
        /// What it took.
        took_ns: u64,
        /// By its expected time.
        ratio: Option<f64>,
    },
    /// A part in a collective took so long.
    Collective {
        /// Which collectives are like it.
        key: CollectiveKey,
        /// What it took.
        took_ns: u64,
    },
    /// A receive was posted clearly after its send began.
    LateReceive {
        /// The size of the message.
        bytes: u64,
        /// Whether the send returned after that.
        has_waited: bool,
    },
    /// A message between nodes was under way so long.
    Flight {
        /// When it ended.
        at_ns: Nanoseconds,
        /// Its size.
        bytes: u64,
        /// What it took.
        took_ns: u64,
    },
    /// A message between nodes was there before it was waited for, after so long at most.
    Arrived {
        /// When it was received.
        at_ns: Nanoseconds,
        /// Its size.
        bytes: u64,
        /// What it took at most.
        at_most_ns: u64,
    },
    /// A part in a collective lasted so long without waits for a CPU.
    Part {
        /// When it ended.
        at_ns: Nanoseconds,
        /// Which collectives are like it.
        key: CollectiveKey,
        /// What it took.
        took_ns: u64,
    },
}

mpiscope_model::numbers! {
    enum Observation {
        Message { scope, bytes, took_ns, ratio } = 0,
        Collective { key, took_ns } = 1,
        LateReceive { bytes, has_waited } = 2,
        Flight { at_ns, bytes, took_ns } = 3,
        Arrived { at_ns, bytes, at_most_ns } = 4,
        Part { at_ns, key, took_ns } = 5,
    }
}

/// Observations that a thread keeps room for.
const MOST_ROOM: usize = 256;

/// Those of a thread in a window, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observed {
    /// Whose.
    pub(super) rank: Rank,
    /// Which thread of the rank.
    pub(super) thread: u16,
    /// What its calls showed.
    pub(super) all: Vec<Observation>,
}

mpiscope_model::numbers! { Observed { rank, thread, all } }

impl Observed {
    /// They were taken in.
    pub(super) fn clear(&mut self) {
        if self.all.capacity() > MOST_ROOM {
            self.all = Vec::new();
        }
        self.all.clear();
    }
}
