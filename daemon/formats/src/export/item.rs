//! The items that are sorted for a trace: calls and both ends of messages, each with its rank and its time.

use crate::external_sort::SortRecord;
use mpiscope_model::{Call, Comm, Message, Nanoseconds, Rank, Site};

/// One end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageEnd {
    /// The number of the message, the same at both ends.
    pub(crate) message: u64,
    /// The rank at this end.
    pub(crate) rank: Rank,
    /// The rank at the other end.
    pub(crate) peer: Rank,
    /// When the call that sent it began, or when the one that received it ended.
    pub(crate) at_ns: Nanoseconds,
    pub(crate) is_receive: bool,
    pub(crate) tag: i32,
    pub(crate) comm: Comm,
    pub(crate) bytes: u64,
    /// When the call that sent it began.
    pub(crate) sent_ns: Nanoseconds,
}

impl MessageEnd {
    /// Returns both ends of a message.
    pub(crate) fn both(number: u64, message: &Message) -> [Self; 2] {
        let &Message { src, dst, tag, comm, bytes, send_ns, recv_ns, .. } = message;
        let sent = Self {
            message: number,
            rank: src,
            peer: dst,
            at_ns: send_ns,
            is_receive: false,
            tag,
            comm,
            bytes,
            sent_ns: send_ns,
        };
        [sent, Self { rank: dst, peer: src, at_ns: recv_ns, is_receive: true, ..sent }]
    }
}

/// A call or an end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Call(Call),
    MessageEnd(MessageEnd),
}

const END: u8 = 1;
const IS_RECEIVE: u8 = 2;
const HAS_PEER: u8 = 4;
const HAS_TAG: u8 = 8;
const HAS_COMM: u8 = 16;
const HAS_SITE: u8 = 32;
const HAS_INSTANCE: u8 = 64;

/// Four words of eight bytes, six of four, two of two, and the flags.
const ITEM_BYTES: usize = 4 * 8 + 6 * 4 + 2 + 2 + 1;

/// The numbers of an item.
#[derive(Default)]
struct Plain {
    long: [u64; 4],
    short: [u32; 6],
    thread: u16,
    function: u16,
    flags: u8,
}

impl Plain {
    fn of_call(call: &Call) -> Self {
        let flag = |has: bool, flag: u8| if has { flag } else { 0 };
        Self {
            long: [call.start_ns, call.end_ns, call.bytes, call.count],
            short: [
                call.rank.0,
                call.peer.unwrap_or_default().0,
                call.tag.unwrap_or_default().cast_unsigned(),
                call.comm.unwrap_or_default().0,
                call.site.unwrap_or_default().0,
                call.instance.unwrap_or_default(),
            ],
            thread: call.thread,
            function: call.function,
            flags: flag(call.peer.is_some(), HAS_PEER)
                | flag(call.tag.is_some(), HAS_TAG)
                | flag(call.comm.is_some(), HAS_COMM)
                | flag(call.site.is_some(), HAS_SITE)
                | flag(call.instance.is_some(), HAS_INSTANCE),
        }
    }

    fn of_end(end: &MessageEnd) -> Self {
        Self {
            long: [end.at_ns, end.message, end.bytes, end.sent_ns],
            short: [end.rank.0, end.peer.0, end.tag.cast_unsigned(), end.comm.0, 0, 0],
            flags: END | if end.is_receive { IS_RECEIVE } else { 0 },
            ..Self::default()
        }
    }

    fn item(&self) -> Item {
        let ([first, second, bytes, count], [rank, peer, tag, comm, site, instance]) =
            (self.long, self.short);
        let has = |flag: u8| self.flags & flag != 0;
        if has(END) {
            let is_receive = has(IS_RECEIVE);
            let tag = tag.cast_signed();
            let (at_ns, sent_ns) = (first, count);
            return Item::MessageEnd(MessageEnd {
                message: second,
                rank: Rank(rank),
                peer: Rank(peer),
                at_ns,
                is_receive,
                tag,
                comm: Comm(comm),
                bytes,
                sent_ns,
            });
        }
        Item::Call(Call {
            rank: Rank(rank),
            thread: self.thread,
            function: self.function,
            start_ns: first,
            end_ns: second,
            peer: has(HAS_PEER).then_some(Rank(peer)),
            tag: has(HAS_TAG).then_some(tag.cast_signed()),
            bytes,
            comm: has(HAS_COMM).then_some(Comm(comm)),
            site: has(HAS_SITE).then_some(Site(site)),
            count,
            instance: has(HAS_INSTANCE).then_some(instance),
        })
    }
}

impl SortRecord for Item {
    /// Rank by rank, the items of each in the order of time.
    type Key = (Rank, Nanoseconds);
    const BYTES: usize = ITEM_BYTES;

    fn key(&self) -> (Rank, Nanoseconds) {
        match self {
            Self::Call(call) => (call.rank, call.start_ns),
            Self::MessageEnd(end) => (end.rank, end.at_ns),
        }
    }

    fn write_to(&self, bytes: &mut Vec<u8>) {
        let plain = match self {
            Self::Call(call) => Plain::of_call(call),
            Self::MessageEnd(end) => Plain::of_end(end),
        };
        bytes.extend(plain.long.map(u64::to_le_bytes).as_flattened());
        bytes.extend(plain.short.map(u32::to_le_bytes).as_flattened());
        bytes.extend([plain.thread, plain.function].map(u16::to_le_bytes).as_flattened());
        bytes.push(plain.flags);
    }

    fn read_from(bytes: &[u8]) -> Self {
        let (long, rest) = bytes.split_at(4 * 8);
        let (short, rest) = rest.split_at(6 * 4);
        let mut plain = Plain { flags: rest[4], ..Plain::default() };
        for (word, from) in plain.long.iter_mut().zip(long.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        for (word, from) in plain.short.iter_mut().zip(short.as_chunks().0) {
            *word = u32::from_le_bytes(*from);
        }
        (plain.thread, plain.function) =
            (u16::from_le_bytes([rest[0], rest[1]]), u16::from_le_bytes([rest[2], rest[3]]));
        plain.item()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_from_their_form_in_a_file() {
        let call = Call {
            rank: Rank(1),
            thread: 2,
            function: 3,
            start_ns: 4,
            end_ns: u64::MAX,
            peer: Some(Rank::MAX),
            tag: Some(-1),
            bytes: 7,
            comm: Some(Comm(8)),
            site: Some(Site(9)),
            count: 10,
            instance: Some(11),
        };
        let end = MessageEnd {
            message: 1,
            rank: Rank(2),
            peer: Rank(3),
            at_ns: 4,
            is_receive: true,
            tag: i32::MIN,
            comm: Comm(6),
            bytes: u64::MAX,
            sent_ns: 9,
        };
        let bare = Call { peer: None, tag: None, comm: None, site: None, instance: None, ..call };
        for item in [
            Item::Call(call),
            Item::Call(bare),
            Item::Call(Call { tag: None, site: None, ..call }),
            Item::MessageEnd(end),
            Item::MessageEnd(MessageEnd { is_receive: false, ..end }),
        ] {
            let mut bytes = Vec::new();
            item.write_to(&mut bytes);
            assert_eq!((bytes.len(), Item::read_from(&bytes)), (ITEM_BYTES, item));
        }
    }
}
