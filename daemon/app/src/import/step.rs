//! What was read of a trace, in pieces that can be sorted: the messages of a call, then the call.

use crate::sorting::Record;

/// A piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A message that the call which comes next sent or received.
    Message {
        /// When that call ends, so that they stay together.
        end_ns: u64,
        /// The other side, a rank of the world.
        peer: u32,
        tag: i32,
        comm: u32,
        bytes: u64,
        is_receive: bool,
    },
    /// A call.
    Call(Called),
}

/// A call without its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
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

const WORDS: usize = 8;
const IS_CALL: u64 = 1;
const IS_RECEIVE: u64 = 2;
const IS_COLLECTIVE: u64 = 4;
const HAS_ROOT: u64 = 8;

impl Step {
    fn to_words(self) -> [u64; WORDS] {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        match self {
            Self::Message { end_ns, peer, tag, comm, bytes, is_receive } => {
                let flags = if is_receive { IS_RECEIVE } else { 0 };
                [end_ns, flags, bytes, two(peer, comm), u64::from(tag.cast_unsigned()), 0, 0, 0]
            }
            Self::Call(call) => {
                let Called { start_ns, end_ns, rank, thread, function, count, site, collective } = call;
                let of = collective.unwrap_or(Collective { comm: 0, root: None, bytes: 0 });
                let flags = IS_CALL
                    | if collective.is_some() { IS_COLLECTIVE } else { 0 }
                    | if of.root.is_some() { HAS_ROOT } else { 0 };
                let places = two(of.comm, of.root.unwrap_or_default());
                let made = two(site, u32::from(thread) | u32::from(function) << 16);
                [end_ns, flags, of.bytes, places, u64::from(rank), start_ns, count, made]
            }
        }
    }

    fn of_words(words: [u64; WORDS]) -> Self {
        let [end_ns, flags, bytes, places, own, start_ns, count, made] = words;
        let high = |word: u64| (word >> 32) as u32;
        if flags & IS_CALL == 0 {
            return Self::Message {
                end_ns,
                peer: places as u32,
                tag: (own as u32).cast_signed(),
                comm: high(places),
                bytes,
                is_receive: flags & IS_RECEIVE != 0,
            };
        }
        let root = (flags & HAS_ROOT != 0).then(|| high(places));
        let collective = Collective { comm: places as u32, root, bytes };
        Self::Call(Called {
            start_ns,
            end_ns,
            rank: own as u32,
            thread: high(made) as u16,
            function: (high(made) >> 16) as u16,
            count,
            site: made as u32,
            collective: (flags & IS_COLLECTIVE != 0).then_some(collective),
        })
    }
}

impl Record for Step {
    /// When the call ends. Messages come before their call because they are pushed before it.
    type Key = u64;
    const BYTES: usize = 8 * WORDS;

    fn key(&self) -> u64 {
        match self {
            Self::Message { end_ns, .. } => *end_ns,
            Self::Call(call) => call.end_ns,
        }
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_words().map(u64::to_le_bytes).as_flattened());
    }

    fn get(bytes: &[u8]) -> Self {
        let mut words = [0; WORDS];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        Self::of_words(words)
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
            end_ns: u64::MAX,
            rank: u32::MAX,
            thread: u16::MAX,
            function: 7,
            count: 1 << 40,
            site: u32::MAX,
            collective,
        };
        let rootless = Some(Collective { comm: 4, root: None, bytes: 0 });
        let message =
            Step::Message { end_ns: 9, peer: u32::MAX, tag: -4, comm: 5, bytes: u64::MAX, is_receive: true };
        for step in [
            Step::Call(call),
            Step::Call(Called { collective: None, ..call }),
            Step::Call(Called { collective: rootless, thread: 0, function: u16::MAX, ..call }),
            message,
            Step::Message { end_ns: 0, peer: 0, tag: i32::MAX, comm: u32::MAX, bytes: 0, is_receive: false },
        ] {
            let mut bytes = Vec::new();
            step.put(&mut bytes);
            assert_eq!((bytes.len(), Step::get(&bytes)), (Step::BYTES, step));
        }
    }
}
