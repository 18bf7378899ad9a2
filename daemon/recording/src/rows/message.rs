//! `messages/*.parquet`: one row a matched message, by receiver, then by the end of the receive.

use crate::corrections::Corrections;
use crate::folder::MESSAGES;
use crate::row::{Column, Row, SegmentRow, column};
use mpiscope_model::{Comm, Message, Rank};

impl Row for Message {
    const TABLE: &'static str = "messages";
    const RANKS: &'static [&'static str] = &["src", "dst"];
    const TIMES: &'static [&'static str] = &["send_ns", "recv_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(src: U32 of Rank, Repeating),
        column!(dst: U32 of Rank, Rising),
        column!(tag: I32, Repeating),
        column!(comm: U32 of Comm, Repeating),
        column!(bytes: U64, Repeating),
        column!(send_ns: U64, Rising),
        column!(recv_ns: U64, Rising),
        column!(t_msg_ns: U64, Rising),
        column!(late_sender_ns: U64, MostlyZero),
        column!(late_receiver_ns: OptionalU64, MostlyZero),
        column!(inter: Bool, Repeating),
        column!(exact: Bool, Repeating),
    ];

    fn blank() -> Self {
        Message {
            src: Rank(0),
            dst: Rank(0),
            tag: 0,
            comm: Comm::WORLD,
            bytes: 0,
            send_ns: 0,
            recv_ns: 0,
            t_msg_ns: 0,
            late_sender_ns: 0,
            late_receiver_ns: None,
            inter: false,
            exact: false,
        }
    }
}

impl SegmentRow for Message {
    type Key = (Rank, u64, Rank, u64);

    const FOLDER: &'static str = MESSAGES;
    const PLURAL: &'static str = "messages";
    const BEGINS: &'static [&'static str] = &["send_ns", "recv_ns"];
    const ENDS: &'static [&'static str] = &["send_ns", "recv_ns"];

    fn key(&self) -> Self::Key {
        // Messages that one call completed share `recv_ns`; ordered by sender within, the same neighbours come in the
        // same order each time, and all but the times costs nothing.
        (self.dst, self.recv_ns, self.src, self.send_ns)
    }

    fn lane(key: &Self::Key) -> u64 {
        key.0.0.into()
    }

    fn begin_ns(&self) -> u64 {
        self.send_ns.min(self.recv_ns)
    }

    fn end_ns(&self) -> u64 {
        self.send_ns.max(self.recv_ns)
    }

    fn correct(&mut self, corrections: &Corrections) {
        corrections.message(self);
    }
}
