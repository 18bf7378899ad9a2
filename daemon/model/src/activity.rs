use crate::ids::{Comm, Function, Nanoseconds, Rank, Site};

/// One recorded call among those of its thread: the thread, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CallId(u64);

crate::numbers! { CallId(thread_and_number) }

/// The bits that number the calls of a thread.
const NUMBER_BITS: u32 = 48;

impl CallId {
    /// The call of a thread with a number.
    #[must_use]
    pub fn new(thread: u16, number: u64) -> Self {
        Self(u64::from(thread) << NUMBER_BITS | number & ((1 << NUMBER_BITS) - 1))
    }

    /// The thread, numbered as those of its rank.
    #[must_use]
    pub fn thread(self) -> u16 {
        (self.0 >> NUMBER_BITS) as u16
    }

    /// Its number among the recorded calls of the thread; the next one's is one more.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0 & ((1 << NUMBER_BITS) - 1)
    }
}

/// Who waits for whom in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Everyone for the last that enters.
    All,
    /// Everyone for the root.
    FromRoot,
    /// The root for the last that enters.
    ToRoot,
    /// Each rank for those of lower rank.
    FromLower,
}

crate::numbers! { enum Flow { All = 0, FromRoot = 1, ToRoot = 2, FromLower = 3 } }

/// To which group of its communicator a member of a collective belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// There is one.
    Only,
    /// To the first of two, between which an intercommunicator goes.
    First,
    /// To the second.
    Second,
    /// To one of two; the other is of another job.
    Alone,
}

crate::numbers! { enum Side { Only = 0, First = 1, Second = 2, Alone = 3 } }

/// A collective that a call took part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collective {
    /// The communicator.
    pub comm: Comm,
    /// Which collective of the communicator.
    pub number: u32,
    /// Who waits for whom.
    pub flow: Flow,
    /// The group of the caller.
    pub side: Side,
    /// The root, where it has one.
    pub root: Option<Rank>,
    /// What the call sent, or received where it sent nothing.
    pub bytes: u64,
    /// Whether it synchronizes although it moves nothing.
    pub is_barrier: bool,
}

crate::numbers! { Collective { comm, number, flow, side, root, bytes, is_barrier } }

/// What a call did, as far as it matters for who waited for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It moved nothing.
    Other,
    /// Failed polls: the call that ends the loop shows what they waited for.
    Polls,
    /// A probe reported a message: its receive shows what it waited for.
    Probe,
    /// Numbers of messages sent, of receives posted (including those that it completed itself), and of receives
    /// completed.
    Transfer {
        /// Messages it sent.
        sends: u16,
        /// Receives it posted.
        posts: u16,
        /// Receives it completed.
        receives: u16,
        /// When its one send returns.
        send: Blocking,
        /// Whom it sent to, where it sent to one.
        peer: Option<Rank>,
        /// What it sent.
        bytes: u64,
    },
    /// It took part in a collective.
    Collective(Collective),
    /// It entered a collective that a later call completes.
    Start(Collective),
}

crate::numbers! {
    enum Effect {
        Other = 0,
        Polls = 1,
        Probe = 2,
        Transfer { sends, posts, receives, send, peer, bytes } = 3,
        Collective(collective) = 4,
        Start(collective) = 5,
    }
}

/// A call completed a collective that an earlier one of its rank had entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collected {
    /// Whose.
    pub rank: Rank,
    /// Which call.
    pub call: CallId,
    /// The communicator.
    pub comm: Comm,
    /// Which collective of the communicator.
    pub number: u32,
}

crate::numbers! { Collected { rank, call, comm, number } }

/// When a call that sends returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocking {
    /// At once.
    Never,
    /// When its buffer is free: for great sizes that is when the receive was posted.
    Perhaps,
    /// When the receive was posted.
    Always,
}

crate::numbers! { enum Blocking { Never = 0, Perhaps = 1, Always = 2 } }

/// One call of one thread, in the order of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Whose.
    pub rank: Rank,
    /// Which call.
    pub call: CallId,
    /// What was called.
    pub function: Function,
    /// When it was entered.
    pub start_ns: Nanoseconds,
    /// When it returned.
    pub end_ns: Nanoseconds,
    /// When the loop of polls without work in between, or the probe, began that it ends or goes on with; else `start_ns`.
    pub since_ns: Nanoseconds,
    /// What it did.
    pub effect: Effect,
    /// Its call site, where known.
    pub site: Option<Site>,
    /// Calls of this thread were lost just before it.
    pub after_loss: bool,
}

crate::numbers! {
    Activity { rank, call, function, start_ns, end_ns, since_ns, effect, site, after_loss }
}

impl Effect {
    /// Whether it is a send that may have waited for its receive.
    #[must_use]
    pub fn may_block(&self) -> bool {
        matches!(self, Effect::Transfer { sends: 1, send: Blocking::Perhaps | Blocking::Always, .. })
    }
}
