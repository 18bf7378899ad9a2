use crate::activity::CallId;
use crate::ids::{Comm, Nanoseconds, Rank};

/// The number of a nonblocking receive among those its rank posted.
pub type PostId = u64;

/// What message traffic did, in the order in which each rank did it. Order between ranks means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A message was sent.
    Send {
        /// The sender.
        rank: Rank,
        /// Its call.
        call: CallId,
        /// The communicator.
        comm: Comm,
        /// The receiver.
        to: Rank,
        /// The tag.
        tag: i32,
        /// The payload.
        bytes: u64,
        /// When the send's call began (`s0`).
        begin_ns: Nanoseconds,
        /// When a synchronous blocking send returned (`s1`); none for the others.
        blocked_until_ns: Option<Nanoseconds>,
    },
    /// A nonblocking receive was posted.
    Post {
        /// The receiver.
        rank: Rank,
        /// Its call.
        call: CallId,
        /// The communicator.
        comm: Comm,
        /// Which sender, none for any.
        from: Option<Rank>,
        /// Which tag, none for any.
        tag: Option<i32>,
        /// The number of this post.
        post: PostId,
        /// When (`p0`).
        at_ns: Nanoseconds,
    },
    /// A receive is complete: the source and tag are those of its status.
    Receive {
        /// The receiver.
        rank: Rank,
        /// Its call.
        call: CallId,
        /// The communicator.
        comm: Comm,
        /// The sender.
        from: Rank,
        /// The tag.
        tag: i32,
        /// The payload that arrived; [`Event::UNKNOWN_BYTES`] where only its send knows.
        bytes: u64,
        /// The post it completes; none when this same call posted it.
        post: Option<PostId>,
        /// When the call that completed it began (`c0`), or the poll loop that led to it.
        begin_ns: Nanoseconds,
        /// When that call ended (`r1`).
        end_ns: Nanoseconds,
        /// Whether that call completed no other receive.
        alone: bool,
    },
    /// A posted receive was freed: it takes a message without a visible completion.
    Freed {
        /// The receiver.
        rank: Rank,
        /// The post.
        post: PostId,
    },
    /// A posted receive was cancelled: it takes no message.
    Cancelled {
        /// The receiver.
        rank: Rank,
        /// The post.
        post: PostId,
    },
    /// Calls of this rank were lost here; posts of before may complete unseen.
    Lost {
        /// Whose.
        rank: Rank,
    },
    /// After a loss, before the next call on this channel: how much really went over it until here.
    Numbers {
        /// Whose numbers.
        rank: Rank,
        /// The communicator.
        comm: Comm,
        /// The other side.
        peer: Rank,
        /// Messages that `rank` has sent to `peer`.
        sent: u64,
        /// Receives from `peer` that `rank` has completed.
        received: u64,
    },
}

crate::numbers! {
    enum Event {
        Send { rank, call, comm, to, tag, bytes, begin_ns, blocked_until_ns } = 0,
        Post { rank, call, comm, from, tag, post, at_ns } = 1,
        Receive { rank, call, comm, from, tag, bytes, post, begin_ns, end_ns, alone } = 2,
        Freed { rank, post } = 3,
        Cancelled { rank, post } = 4,
        Lost { rank } = 5,
        Numbers { rank, comm, peer, sent, received } = 6,
    }
}

impl Event {
    /// The bytes of a receive of unknown size.
    pub const UNKNOWN_BYTES: u64 = u64::MAX;

    /// Whose it is.
    #[must_use]
    pub fn rank(&self) -> Rank {
        match self {
            Event::Send { rank, .. }
            | Event::Post { rank, .. }
            | Event::Receive { rank, .. }
            | Event::Freed { rank, .. }
            | Event::Cancelled { rank, .. }
            | Event::Lost { rank }
            | Event::Numbers { rank, .. } => *rank,
        }
    }
}
