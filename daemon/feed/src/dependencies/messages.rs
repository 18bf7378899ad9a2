//! The messages of a range, as many of them as a page can draw.

use crate::column::{F64Column, U32Column};
use crate::dependencies::gather;
use crate::message_source::MessageSource;
use crate::question::{RowsQuestion, is_among};
use mpiscope_diagnosis::Version;
use mpiscope_matching::Thinned;
use mpiscope_model::{Message, Nanoseconds};
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};

/// Messages that are in a range, also in part, one a place in all columns: by when they were sent. Where there are too many,
/// an even choice that depends on nothing but the messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MessageRows {
    /// The range.
    pub from_ns: u64,
    /// Its end, outside.
    pub to_ns: u64,
    /// How many messages there are.
    pub total: u64,
    /// What share of them is here.
    pub share: f64,
    /// Who sent.
    pub src: U32Column,
    /// Who received.
    pub dst: U32Column,
    /// The bits of the tag.
    pub tag: U32Column,
    /// The communicator.
    pub comm: U32Column,
    /// The payload.
    pub bytes: F64Column,
    /// When the send's call began.
    pub send_ns: F64Column,
    /// When the call that completed the receive ended.
    pub recv_ns: F64Column,
    /// What it took, as its receiver felt it.
    pub t_msg_ns: F64Column,
    /// How long the receiver waited for the send to begin.
    pub late_sender_ns: F64Column,
    /// How long a synchronous sender waited for the receive to be posted; not a number where that cannot be observed.
    pub late_receiver_ns: F64Column,
    /// What it took, divided by the expected transfer time; not a number where that is not known.
    pub latency: F64Column,
    /// 1 where it went between nodes.
    pub is_inter: U32Column,
    /// 1 where the time is exact and not an upper bound.
    pub is_exact: U32Column,
}

/// Reads the messages that are asked for.
pub(super) fn messages(
    source: &dyn MessageSource,
    question: &RowsQuestion,
    criteria: Option<&Version>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<MessageRows, String> {
    let RowsQuestion { range_ns, ranks, most } = question;
    let ranks = ranks.as_deref();
    let mut thinned = Thinned::with_capacity(*most as usize);
    gather::visit(source, range_ns, is_wanted, &mut |messages| {
        let concerns = |message: &&Message| {
            overlaps(message, range_ns) && (is_among(ranks, message.src) || is_among(ranks, message.dst))
        };
        messages.iter().filter(concerns).for_each(|message| thinned.add(message));
        ControlFlow::Continue(())
    })?;
    let total = thinned.total();
    let kept = thinned.into_messages();
    let share = if total == 0 { 1.0 } else { kept.len() as f64 / total as f64 };
    let mut rows =
        MessageRows { from_ns: range_ns.start, to_ns: range_ns.end, total, share, ..MessageRows::default() };
    kept.iter().for_each(|message| rows.push(message, criteria));
    Ok(rows)
}

/// By clocks that do not agree one may end before it begins.
fn overlaps(message: &Message, range_ns: &Range<Nanoseconds>) -> bool {
    let (first_ns, last_ns) = (message.send_ns.min(message.recv_ns), message.send_ns.max(message.recv_ns));
    first_ns < range_ns.end && last_ns >= range_ns.start
}

impl MessageRows {
    fn push(&mut self, message: &Message, criteria: Option<&Version>) {
        self.src.0.push(message.src.0);
        self.dst.0.push(message.dst.0);
        self.tag.0.push(message.tag.cast_unsigned());
        self.comm.0.push(message.comm.0);
        self.bytes.0.push(message.bytes as f64);
        self.send_ns.0.push(message.send_ns as f64);
        self.recv_ns.0.push(message.recv_ns as f64);
        self.t_msg_ns.0.push(message.t_msg_ns as f64);
        self.late_sender_ns.0.push(message.late_sender_ns as f64);
        self.late_receiver_ns.0.push(message.late_receiver_ns.map_or(f64::NAN, |ns| ns as f64));
        self.latency.0.push(criteria.and_then(|criteria| criteria.latency(message)).unwrap_or(f64::NAN));
        self.is_inter.0.push(message.inter.into());
        self.is_exact.0.push(message.exact.into());
    }
}
