//! The calls of a trace in pieces that can be sorted: for each call the receives it posted, its messages, and the call itself.

use crate::external_sort::SortRecord;
use std::num::NonZeroU32;

/// The sort key of a call: all calls by the time of their end, calls of one thread in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey {
    /// When the call ends.
    pub(crate) end_ns: u64,
    /// The thread, counted over all ranks.
    pub(crate) thread: u32,
    /// How many calls of the thread came before it.
    pub(crate) call: u64,
}

/// A piece of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TracePiece {
    /// The call that it belongs to.
    pub(crate) key: CallKey,
    /// The order among pieces of the same kind.
    pub(crate) order: u64,
    pub(crate) kind: PieceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A receive is posted that a later call, or this one, completes.
    Posted(Transfer),
    /// A message that the call sent or received.
    Message(Transfer),
    /// The call completed the nonblocking collective of this number ([`Collective::started`]).
    Completed(u32),
    /// The call.
    Call(TraceCall),
    /// A phase begins or ends.
    Phase(PhaseMark),
}

/// Where a phase of the program begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PhaseMark {
    pub(crate) rank: u32,
    pub(crate) thread: u16,
    /// Its name as the trace numbers them.
    pub(crate) phase: u32,
    pub(crate) is_begin: bool,
}

/// A message, or the receive for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// The other side, a rank of the world.
    pub(crate) peer: u32,
    pub(crate) tag: i32,
    pub(crate) comm: u32,
    pub(crate) bytes: u64,
    pub(crate) is_receive: bool,
    /// The number of the receive that was posted for it; none where the call itself posted it.
    pub(crate) post: Option<u64>,
}

/// A call without its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceCall {
    pub(crate) start_ns: u64,
    pub(crate) rank: u32,
    pub(crate) thread: u16,
    pub(crate) function: u16,
    /// How many calls of this function in a row it stands for.
    pub(crate) count: u64,
    /// Its call site as the trace numbers them; 0 is none.
    pub(crate) site: u32,
    /// Set for a collective.
    pub(crate) collective: Option<Collective>,
}

/// What a collective moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collective {
    pub(crate) comm: u32,
    pub(crate) root: Option<u32>,
    pub(crate) bytes: u64,
    /// The number of a nonblocking one among all that complete in a later call.
    pub(crate) started: Option<NonZeroU32>,
}

const WORDS: usize = 10;
const POSTED: u64 = 0;
const MESSAGE: u64 = 1;
const COMPLETED: u64 = 2;
const CALL: u64 = 3;
const PHASE: u64 = 4;
const KIND_MASK: u64 = 7;
const IS_RECEIVE: u64 = 8;
const HAS_POST: u64 = 16;
const IS_COLLECTIVE: u64 = 32;
const HAS_ROOT: u64 = 64;

fn flag(is_set: bool, flag: u64) -> u64 {
    if is_set { flag } else { 0 }
}

fn pack(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The upper half of a word.
fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

fn call_from_words(flags: u64, words: [u64; 6]) -> TraceCall {
    let has = |flag: u64| flags & flag != 0;
    let [places, bytes, rank, start_ns, count, made] = words;
    let root = has(HAS_ROOT).then(|| high(places));
    let started = NonZeroU32::new(high(rank));
    TraceCall {
        start_ns,
        rank: rank as u32,
        thread: high(made) as u16,
        function: (high(made) >> 16) as u16,
        count,
        site: made as u32,
        collective: has(IS_COLLECTIVE).then_some(Collective { comm: places as u32, root, bytes, started }),
    }
}

impl PieceKind {
    fn code(&self) -> u64 {
        match self {
            Self::Posted(_) => POSTED,
            Self::Message(_) => MESSAGE,
            Self::Completed(_) => COMPLETED,
            Self::Call(_) => CALL,
            Self::Phase(_) => PHASE,
        }
    }

    /// Flags and six words.
    fn to_words(self) -> (u64, [u64; 6]) {
        match self {
            Self::Posted(moved) | Self::Message(moved) => {
                let Transfer { peer, tag, comm, bytes, is_receive, post } = moved;
                let flags = flag(is_receive, IS_RECEIVE) | flag(post.is_some(), HAS_POST);
                (
                    flags,
                    [pack(peer, comm), u64::from(tag.cast_unsigned()), bytes, post.unwrap_or_default(), 0, 0],
                )
            }
            Self::Call(call) => {
                let TraceCall { start_ns, rank, thread, function, count, site, collective } = call;
                let none = Collective { comm: 0, root: None, bytes: 0, started: None };
                let of = collective.unwrap_or(none);
                let flags = flag(collective.is_some(), IS_COLLECTIVE) | flag(of.root.is_some(), HAS_ROOT);
                let made = pack(site, u32::from(thread) | u32::from(function) << 16);
                let places = pack(of.comm, of.root.unwrap_or_default());
                let rank = pack(rank, of.started.map_or(0, NonZeroU32::get));
                (flags, [places, of.bytes, rank, start_ns, count, made])
            }
            Self::Completed(number) => (0, [u64::from(number), 0, 0, 0, 0, 0]),
            Self::Phase(PhaseMark { rank, thread, phase, is_begin }) => {
                (0, [pack(rank, phase), u64::from(thread), u64::from(is_begin), 0, 0, 0])
            }
        }
    }

    fn from_words(flags: u64, words: [u64; 6]) -> Self {
        let has = |flag: u64| flags & flag != 0;
        if flags & KIND_MASK == COMPLETED {
            return Self::Completed(words[0] as u32);
        }
        if flags & KIND_MASK == PHASE {
            let [names, thread, is_begin, ..] = words;
            let (rank, phase) = (names as u32, high(names));
            return Self::Phase(PhaseMark { rank, thread: thread as u16, phase, is_begin: is_begin != 0 });
        }
        if flags & KIND_MASK != CALL {
            let [places, tag, bytes, post, ..] = words;
            let moved = Transfer {
                peer: places as u32,
                tag: (tag as u32).cast_signed(),
                comm: high(places),
                bytes,
                is_receive: has(IS_RECEIVE),
                post: has(HAS_POST).then_some(post),
            };
            return if flags & KIND_MASK == POSTED { Self::Posted(moved) } else { Self::Message(moved) };
        }
        Self::Call(call_from_words(flags, words))
    }
}

impl SortRecord for TracePiece {
    type Key = (CallKey, u64, u64);
    const BYTES: usize = 8 * WORDS;

    fn key(&self) -> (CallKey, u64, u64) {
        (self.key, self.kind.code(), self.order)
    }

    fn write_to(&self, bytes: &mut Vec<u8>) {
        let (flags, rest) = self.kind.to_words();
        let CallKey { end_ns, thread, call } = self.key;
        let flags = flags | self.kind.code() | u64::from(thread) << 32;
        bytes.extend([end_ns, call, self.order, flags].map(u64::to_le_bytes).as_flattened());
        bytes.extend(rest.map(u64::to_le_bytes).as_flattened());
    }

    fn read_from(bytes: &[u8]) -> Self {
        let mut words = [0; WORDS];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [end_ns, call, order, flags, rest @ ..] = words;
        let key = CallKey { end_ns, thread: (flags >> 32) as u32, call };
        Self { key, order, kind: PieceKind::from_words(flags, rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_from_their_form_in_a_file() {
        let collective = Some(Collective {
            comm: 4,
            root: Some(u32::MAX),
            bytes: u64::MAX,
            started: NonZeroU32::new(u32::MAX),
        });
        let call = TraceCall {
            start_ns: 1,
            rank: u32::MAX,
            thread: u16::MAX,
            function: 7,
            count: 1 << 40,
            site: u32::MAX,
            collective,
        };
        let rootless = Some(Collective { comm: 4, root: None, bytes: 0, started: None });
        let moved = Transfer {
            peer: u32::MAX,
            tag: -4,
            comm: 5,
            bytes: u64::MAX,
            is_receive: true,
            post: Some(u64::MAX),
        };
        for kind in [
            PieceKind::Call(call),
            PieceKind::Call(TraceCall { collective: None, ..call }),
            PieceKind::Call(TraceCall { collective: rootless, thread: 0, function: u16::MAX, ..call }),
            PieceKind::Posted(moved),
            PieceKind::Completed(u32::MAX),
            PieceKind::Phase(PhaseMark { rank: u32::MAX, thread: 9, phase: u32::MAX, is_begin: true }),
            PieceKind::Phase(PhaseMark { rank: 1, thread: u16::MAX, phase: 2, is_begin: false }),
            PieceKind::Message(moved),
            PieceKind::Message(Transfer { tag: i32::MAX, is_receive: false, post: None, ..moved }),
        ] {
            let key = CallKey { end_ns: u64::MAX, thread: u32::MAX, call: 9 };
            let piece = TracePiece { key, order: 1 << 50, kind };
            let mut bytes = Vec::new();
            piece.write_to(&mut bytes);
            assert_eq!((bytes.len(), TracePiece::read_from(&bytes)), (TracePiece::BYTES, piece));
        }
    }

    #[test]
    fn what_a_call_posted_comes_before_its_messages_and_these_before_the_call() {
        let moved = Transfer { peer: 0, tag: 0, comm: 0, bytes: 0, is_receive: true, post: None };
        let call =
            TraceCall { start_ns: 0, rank: 0, thread: 0, function: 0, count: 1, site: 0, collective: None };
        let key = |end_ns, call| CallKey { end_ns, thread: 0, call };
        let piece = |key, order, kind| TracePiece { key, order, kind };
        let pieces = [
            piece(key(5, 1), 9, PieceKind::Posted(moved)),
            piece(key(5, 1), 2, PieceKind::Message(moved)),
            piece(key(5, 1), 3, PieceKind::Message(moved)),
            piece(key(5, 1), 1, PieceKind::Completed(1)),
            piece(key(5, 1), 0, PieceKind::Call(call)),
            piece(key(5, 2), 0, PieceKind::Posted(moved)),
            piece(key(6, 0), 0, PieceKind::Posted(moved)),
        ];
        assert!(pieces.is_sorted_by_key(SortRecord::key));
    }
}
