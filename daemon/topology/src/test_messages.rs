//! Messages that tests make.

use mpiscope_model::{Comm, Message, Rank};

/// A message of eight bytes, of a job with two ranks on each node.
pub(crate) fn message(src: u32, dst: u32, send_ns: u64, recv_ns: u64) -> Message {
    Message {
        src: Rank(src),
        dst: Rank(dst),
        tag: 0,
        comm: Comm::WORLD,
        bytes: 8,
        send_ns,
        recv_ns,
        t_msg_ns: recv_ns.saturating_sub(send_ns),
        late_sender_ns: 0,
        late_receiver_ns: None,
        inter: src / 2 != dst / 2,
        exact: true,
    }
}
