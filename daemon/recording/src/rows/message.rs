//! `messages/*.parquet`: one row a matched message, by receiver, then by the end of the receive.

use crate::Corrections;
use crate::folder::MESSAGES;
use crate::row::Nature::{MostlyZero, Repeating, Rising};
use crate::row::{Access, Column, Row, SegmentRow};
use mpiscope_model::Message;

impl Row for Message {
    const TABLE: &'static str = "messages";
    const COLUMNS: &'static [Column<Self>] = &[
        Column { name: "src", nature: Repeating, access: Access::U32(|row| row.src, |row, v| row.src = v) },
        Column { name: "dst", nature: Repeating, access: Access::U32(|row| row.dst, |row, v| row.dst = v) },
        Column { name: "tag", nature: Repeating, access: Access::I32(|row| row.tag, |row, v| row.tag = v) },
        Column {
            name: "comm",
            nature: Repeating,
            access: Access::U32(|row| row.comm, |row, v| row.comm = v),
        },
        Column {
            name: "bytes",
            nature: Repeating,
            access: Access::U64(|row| row.bytes, |row, v| row.bytes = v),
        },
        Column {
            name: "send_ns",
            nature: Rising,
            access: Access::U64(|row| row.send_ns, |row, v| row.send_ns = v),
        },
        Column {
            name: "recv_ns",
            nature: Rising,
            access: Access::U64(|row| row.recv_ns, |row, v| row.recv_ns = v),
        },
        Column {
            name: "t_msg_ns",
            nature: Rising,
            access: Access::U64(|row| row.t_msg_ns, |row, v| row.t_msg_ns = v),
        },
        Column {
            name: "late_sender_ns",
            nature: MostlyZero,
            access: Access::U64(|row| row.late_sender_ns, |row, v| row.late_sender_ns = v),
        },
        Column {
            name: "late_receiver_ns",
            nature: MostlyZero,
            access: Access::OptionalU64(|row| row.late_receiver_ns, |row, v| row.late_receiver_ns = v),
        },
        Column {
            name: "inter",
            nature: Repeating,
            access: Access::Bool(|row| row.inter, |row, v| row.inter = v),
        },
        Column {
            name: "exact",
            nature: Repeating,
            access: Access::Bool(|row| row.exact, |row, v| row.exact = v),
        },
    ];

    fn blank() -> Self {
        Message {
            src: 0,
            dst: 0,
            tag: 0,
            comm: 0,
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
    const FOLDER: &'static str = MESSAGES;
    const PLURAL: &'static str = "messages";
    const BEGINS: &'static [&'static str] = &["send_ns", "recv_ns"];
    const ENDS: &'static [&'static str] = &["send_ns", "recv_ns"];

    fn sort(rows: &mut [Self]) {
        // Messages that one call completed share `recv_ns`; ordered by sender within, the same neighbours come in the
        // same order each time, and all but the times costs nothing.
        rows.sort_by_key(|row| (row.dst, row.recv_ns, row.src, row.send_ns));
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
