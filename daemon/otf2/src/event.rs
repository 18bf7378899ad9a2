//! Events of a location, as they are handed over.

/// An event of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A region is entered; with the attributes that were asked for.
    Enter {
        /// Which.
        region: u32,
        /// A number, if it has one.
        number: Option<u64>,
        /// A string, if it has one.
        string: Option<u32>,
    },
    /// A region is left.
    Leave {
        /// Which.
        region: u32,
    },
    /// A message is sent.
    Send {
        /// The other side, in the communicator.
        peer: u32,
        /// The communicator.
        comm: u32,
        /// Its tag.
        tag: u32,
        /// Its length.
        bytes: u64,
    },
    /// A message was received; the same.
    Receive {
        /// The other side, in the communicator.
        peer: u32,
        /// The communicator.
        comm: u32,
        /// Its tag.
        tag: u32,
        /// Its length.
        bytes: u64,
        /// The request that was posted for it, if there was one.
        request: Option<u64>,
        /// A number, if it has one.
        number: Option<u64>,
    },
    /// A receive was posted.
    Posted {
        /// Its request.
        request: u64,
    },
    /// A message was probed for. It is received later, by its number.
    Probed {
        /// The other side, in the communicator.
        peer: u32,
        /// The communicator.
        comm: u32,
        /// Its tag.
        tag: u32,
        /// Its number.
        message: u64,
    },
    /// A message that was probed for was received.
    MatchedReceive {
        /// Its number.
        message: u64,
        /// Its length.
        bytes: u64,
    },
    /// A receive was posted for a message that was probed for.
    MatchedPosted {
        /// Its number.
        message: u64,
        /// The request.
        request: u64,
    },
    /// Such a receive completed.
    MatchedCompleted {
        /// The request.
        request: u64,
        /// The length of the message.
        bytes: u64,
    },
    /// A nonblocking collective was started.
    CollectiveStarted {
        /// Its request.
        request: u64,
    },
    /// A collective ends.
    CollectiveEnd {
        /// What it does, by number.
        op: u8,
        /// The communicator.
        comm: u32,
        /// The root in it, if it has one.
        root: u32,
        /// Bytes.
        sent: u64,
        /// Bytes.
        received: u64,
        /// The request of a nonblocking one.
        request: Option<u64>,
    },
}

/// The attributes that are asked for, where the archive has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WantedAttributes {
    /// A number of what is entered.
    pub enter_number: Option<u32>,
    /// A string of what is entered.
    pub enter_string: Option<u32>,
    /// A number of what is received.
    pub receive_number: Option<u32>,
}
