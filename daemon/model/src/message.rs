use crate::ids::{Comm, Nanoseconds, Rank};

/// A send matched with its receive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Message {
    /// The sender.
    pub src: Rank,
    /// The receiver.
    pub dst: Rank,
    /// The tag.
    pub tag: i32,
    /// The communicator.
    pub comm: Comm,
    /// The payload.
    pub bytes: u64,
    /// When the send's call began (`s0`).
    pub send_ns: Nanoseconds,
    /// When the call that completed the receive ended (`r1`).
    pub recv_ns: Nanoseconds,
    /// Transmission time as the receiver felt it: `r1 - max(s0, c0)`.
    pub t_msg_ns: u64,
    /// How long the receiver waited for the send to begin: `max(0, min(r1, s0) - c0)`.
    pub late_sender_ns: u64,
    /// How long a synchronous sender waited for the receive to be posted; none where that is not observable.
    pub late_receiver_ns: Option<u64>,
    /// Whether the two ranks live on different nodes.
    pub inter: bool,
    /// Whether `t_msg_ns` is exact and not an upper bound: the call completed this receive alone and waited for it,
    /// and the pairing is certain.
    pub exact: bool,
}

crate::numbers! {
    Message { src, dst, tag, comm, bytes, send_ns, recv_ns, t_msg_ns, late_sender_ns, late_receiver_ns, inter, exact }
}
