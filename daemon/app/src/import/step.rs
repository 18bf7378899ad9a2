//! What was read of a trace, in pieces that can be sorted: of each call what it posted, its messages, and the call.

use crate::sorting::Record;

/// A call of a trace, by what sorts it: calls of one thread come in their order, and all by the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// When it ends.
    pub(crate) end_ns: u64,
    /// The thread, as all are counted.
    pub(crate) thread: u32,
    /// How many calls of the thread came before it.
    pub(crate) call: u64,
}

/// A piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// The call that it belongs to.
    pub(crate) place: Place,
    /// Of the same kind, which comes first.
    pub(crate) order: u64,
    pub(crate) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A receive is posted that a later call, or this one, completes.
    Posted(Moved),
    /// A message that the call sent or received.
    Message(Moved),
    /// The call.
    Call(Called),
}

/// A message, or the receive for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The other side, a rank of the world.
    pub(crate) peer: u32,
    pub(crate) tag: i32,
    pub(crate) comm: u32,
    pub(crate) bytes: u64,
    pub(crate) is_receive: bool,
    /// The number of the receive that was posted for it; none where the call itself did that.
    pub(crate) post: Option<u64>,
}

/// A call without its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) start_ns: u64,
    pub(crate) rank: u32,
    pub(crate) thread: u16,
    pub(crate) function: u16,
    /// The calls of this function in a row for which it stands.
    pub(crate) count: u64,
    /// Where it was made, as the trace numbers that; 0 is nowhere.
    pub(crate) site: u32,
    /// If it is a collective: of which communicator, with which root, and what it moved.
    pub(crate) collective: Option<Collective>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collective {
    pub(crate) comm: u32,
    pub(crate) root: Option<u32>,
    pub(crate) bytes: u64,
}

const WORDS: usize = 10;
const POSTED: u64 = 0;
const MESSAGE: u64 = 1;
const CALL: u64 = 2;
const KIND: u64 = 3;
const IS_RECEIVE: u64 = 4;
const HAS_POST: u64 = 8;
const IS_COLLECTIVE: u64 = 16;
const HAS_ROOT: u64 = 32;

fn flag(is_set: bool, flag: u64) -> u64 {
    if is_set { flag } else { 0 }
}

fn two(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl What {
    fn kind(&self) -> u64 {
        match self {
            Self::Posted(_) => POSTED,
            Self::Message(_) => MESSAGE,
            Self::Call(_) => CALL,
        }
    }

    /// Flags, and six words.
    fn to_words(self) -> (u64, [u64; 6]) {
        match self {
            Self::Posted(moved) | Self::Message(moved) => {
                let Moved { peer, tag, comm, bytes, is_receive, post } = moved;
                let flags = flag(is_receive, IS_RECEIVE) | flag(post.is_some(), HAS_POST);
                (
                    flags,
                    [two(peer, comm), u64::from(tag.cast_unsigned()), bytes, post.unwrap_or_default(), 0, 0],
                )
            }
            Self::Call(call) => {
                let Called { start_ns, rank, thread, function, count, site, collective } = call;
                let of = collective.unwrap_or(Collective { comm: 0, root: None, bytes: 0 });
                let flags = flag(collective.is_some(), IS_COLLECTIVE) | flag(of.root.is_some(), HAS_ROOT);
                let made = two(site, u32::from(thread) | u32::from(function) << 16);
                let places = two(of.comm, of.root.unwrap_or_default());
                (flags, [places, of.bytes, u64::from(rank), start_ns, count, made])
            }
        }
    }

    fn of_words(flags: u64, words: [u64; 6]) -> Self {
        let has = |flag: u64| flags & flag != 0;
        let high = |word: u64| (word >> 32) as u32;
        if flags & KIND != CALL {
            let [places, tag, bytes, post, ..] = words;
            let moved = Moved {
                peer: places as u32,
                tag: (tag as u32).cast_signed(),
                comm: high(places),
                bytes,
                is_receive: has(IS_RECEIVE),
                post: has(HAS_POST).then_some(post),
            };
            return if flags & KIND == POSTED { Self::Posted(moved) } else { Self::Message(moved) };
        }
        let [places, bytes, rank, start_ns, count, made] = words;
        let root = has(HAS_ROOT).then(|| high(places));
        Self::Call(Called {
            start_ns,
            rank: rank as u32,
            thread: high(made) as u16,
            function: (high(made) >> 16) as u16,
            count,
            site: made as u32,
            collective: has(IS_COLLECTIVE).then_some(Collective { comm: places as u32, root, bytes }),
        })
    }
}

impl Record for Step {
    type Key = (Place, u64, u64);
    const BYTES: usize = 8 * WORDS;

    fn key(&self) -> (Place, u64, u64) {
        (self.place, self.what.kind(), self.order)
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        let (flags, rest) = self.what.to_words();
        let Place { end_ns, thread, call } = self.place;
        let flags = flags | self.what.kind() | u64::from(thread) << 32;
        bytes.extend([end_ns, call, self.order, flags].map(u64::to_le_bytes).as_flattened());
        bytes.extend(rest.map(u64::to_le_bytes).as_flattened());
    }

    fn get(bytes: &[u8]) -> Self {
        let mut words = [0; WORDS];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [end_ns, call, order, flags, rest @ ..] = words;
        let place = Place { end_ns, thread: (flags >> 32) as u32, call };
        Self { place, order, what: What::of_words(flags, rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_from_their_form_in_a_file() {
        let collective = Some(Collective { comm: 4, root: Some(u32::MAX), bytes: u64::MAX });
        let call = Called {
            start_ns: 1,
            rank: u32::MAX,
            thread: u16::MAX,
            function: 7,
            count: 1 << 40,
            site: u32::MAX,
            collective,
        };
        let rootless = Some(Collective { comm: 4, root: None, bytes: 0 });
        let moved = Moved {
            peer: u32::MAX,
            tag: -4,
            comm: 5,
            bytes: u64::MAX,
            is_receive: true,
            post: Some(u64::MAX),
        };
        for what in [
            What::Call(call),
            What::Call(Called { collective: None, ..call }),
            What::Call(Called { collective: rootless, thread: 0, function: u16::MAX, ..call }),
            What::Posted(moved),
            What::Message(moved),
            What::Message(Moved { tag: i32::MAX, is_receive: false, post: None, ..moved }),
        ] {
            let place = Place { end_ns: u64::MAX, thread: u32::MAX, call: 9 };
            let step = Step { place, order: 1 << 50, what };
            let mut bytes = Vec::new();
            step.put(&mut bytes);
            assert_eq!((bytes.len(), Step::get(&bytes)), (Step::BYTES, step));
        }
    }

    #[test]
    fn what_a_call_posted_comes_before_its_messages_and_these_before_the_call() {
        let moved = Moved { peer: 0, tag: 0, comm: 0, bytes: 0, is_receive: true, post: None };
        let call =
            Called { start_ns: 0, rank: 0, thread: 0, function: 0, count: 1, site: 0, collective: None };
        let place = |end_ns, call| Place { end_ns, thread: 0, call };
        let step = |place, order, what| Step { place, order, what };
        let steps = [
            step(place(5, 1), 9, What::Posted(moved)),
            step(place(5, 1), 2, What::Message(moved)),
            step(place(5, 1), 3, What::Message(moved)),
            step(place(5, 1), 0, What::Call(call)),
            step(place(5, 2), 0, What::Posted(moved)),
            step(place(6, 0), 0, What::Posted(moved)),
        ];
        assert!(steps.is_sorted_by_key(Record::key));
    }
}
