//! How an agent introduces itself to the daemon.

use crate::greeting::{Introduction, Kind};
use crate::secret::Side;
use serde::{Deserialize, Serialize};

/// A node's name is no longer, as in a ring.
const MOST_NAME_BYTES: usize = 256;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// To bring frames.
    Frames,
    /// To compare clocks, with nothing else in the way.
    Clock,
}

/// Who calls, and what for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentIntroduction {
    pub(crate) purpose: Purpose,
    /// What the agent calls itself.
    pub(crate) identity: u128,
    /// Its host.
    pub(crate) node: String,
}

impl Introduction for AgentIntroduction {
    const KIND: Kind = Kind {
        caller: Side::Agent,
        listener: Side::Daemon,
        protocol: 4,
        is_no_caller: "this is no agent of mpiscope",
        is_no_listener: "is not a daemon of mpiscope",
    };
    /// The number of the frame that the daemon wants next.
    type Answer = u64;

    fn transcript(&self) -> (u128, String) {
        (self.identity, self.node.clone())
    }

    fn is_sound(&self) -> bool {
        self.node.len() <= MOST_NAME_BYTES
    }
}
