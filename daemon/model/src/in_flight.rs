use crate::activity::Side;
use crate::event::PostId;
use crate::ids::{Comm, Function, Nanoseconds, Rank, Site};

/// An MPI call that has not returned yet. What it moved is known only when it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Who called.
    pub rank: Rank,
    /// Which of the rank's threads, numbered as they first called MPI.
    pub thread: u16,
    /// What was called.
    pub function: Function,
    /// When the call was entered.
    pub since_ns: Nanoseconds,
    /// Its call site, where known.
    pub site: Option<Site>,
    /// Whom it asks for.
    pub asks: Asks,
}

/// The peer of a call, as in its arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asks {
    /// Nobody, or that is not known.
    #[default]
    Nothing,
    /// Somebody who receives.
    Send {
        /// Who.
        to: Peer,
        /// With which tag.
        tag: i32,
        /// On which communicator.
        comm: Option<Comm>,
    },
    /// Somebody who sends.
    Receive {
        /// Who.
        from: Peer,
        /// With which tag, none for any.
        tag: Option<i32>,
        /// On which communicator.
        comm: Option<Comm>,
    },
    /// Both at once.
    Exchange {
        /// Who is to receive.
        to: Peer,
        /// Who is to send.
        from: Peer,
        /// The tag of the sent message.
        tag: i32,
        /// On which communicator.
        comm: Option<Comm>,
    },
    /// All members of a communicator.
    Members {
        /// Which.
        comm: Option<Comm>,
    },
    /// The end of one receive that was posted before.
    Post {
        /// Its number among those of the rank.
        post: PostId,
    },
    /// The end of requests without further details.
    Requests {
        /// How many; 0 for one that is no receive, as far as was seen.
        count: u32,
    },
}

/// The other side that a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// This one.
    Rank(Rank),
    /// Any of the communicator.
    Any,
    /// Nobody: the call does nothing on this side.
    Nobody,
    /// Somebody, and it is not known who that is in the world.
    Unknown,
}

/// A rank of a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Member {
    /// The communicator.
    pub comm: Comm,
    /// In which of its groups, where there are two.
    pub side: Side,
    /// Which rank there.
    pub place: u32,
    /// Who that is in the world.
    pub rank: Rank,
}
