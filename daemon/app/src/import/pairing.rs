//! In which order receives were posted.
//!
//! Sends and receives of one channel pair up in the order in which they were made, and a receive may be complete before one
//! that was posted earlier. A trace says when each was posted, or which message it took. Whatever completes in that order
//! needs nothing; for all else it is said that it was posted, in the first call that completes something behind it.

use super::step::{Moved, Place, Step, What};
use crate::sorting::{Record, Sorted, Sorter};
use anyhow::Result;
use std::cmp::Reverse;

/// A receive that completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) rank: u32,
    /// When it was posted, or when its message was sent; and which of those of one moment it is.
    pub(crate) order: (u64, u64),
    /// The call that completed it.
    pub(crate) place: Place,
    pub(crate) moved: Moved,
}

type Channel = (u32, u32, u32, i32);

impl Received {
    fn channel(&self) -> Channel {
        (self.rank, self.moved.peer, self.moved.comm, self.moved.tag)
    }
}

impl Record for Received {
    /// Those of one channel together, the last first.
    type Key = (Channel, Reverse<(u64, u64)>);
    const BYTES: usize = 8 * 8;

    fn key(&self) -> Self::Key {
        (self.channel(), Reverse(self.order))
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let Place { end_ns, thread, call } = self.place;
        let Moved { peer, tag, comm, bytes: length, .. } = self.moved;
        let words = [
            two(self.rank, peer),
            two(comm, tag.cast_unsigned()),
            self.order.0,
            self.order.1,
            end_ns,
            u64::from(thread),
            call,
            length,
        ];
        bytes.extend(words.map(u64::to_le_bytes).as_flattened());
    }

    fn get(bytes: &[u8]) -> Self {
        let mut words = [0; 8];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [ranks, of, first, second, end_ns, thread, call, bytes] = words;
        let high = |word: u64| (word >> 32) as u32;
        let (peer, comm, tag) = (high(ranks), of as u32, high(of).cast_signed());
        Self {
            rank: ranks as u32,
            order: (first, second),
            place: Place { end_ns, thread: thread as u32, call },
            moved: Moved { peer, tag, comm, bytes, is_receive: true, post: None },
        }
    }
}

/// Hands out all receives as steps of their calls, with what has to be posted for them.
pub(crate) fn put_in_order(received: Sorted<Received>, steps: &mut Sorter<Step>) -> Result<()> {
    let mut channel: Option<Channel> = None;
    // Of those behind in order, the first call that completes one, and whether something is posted in it.
    let mut first: Option<(Place, bool)> = None;
    for (number, one) in (1_u64..).zip(received) {
        let one = one?;
        if channel.replace(one.channel()) != Some(one.channel()) {
            first = None;
        }
        // Within a call the first in order comes first, and all behind what the call sent.
        let order = u64::MAX - number;
        let mut moved = one.moved;
        match &mut first {
            Some((place, posts)) if one.place > *place || (one.place == *place && *posts) => {
                *posts = true;
                moved.post = Some(number);
                steps.push(Step { place: *place, order, what: What::Posted(moved) })?;
            }
            Some((place, _)) if one.place == *place => {}
            _ => first = Some((one.place, false)),
        }
        steps.push(Step { place: one.place, order, what: What::Message(moved) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn received(order: u64, call: u64) -> Received {
        let moved = Moved { peer: 2, tag: -3, comm: 4, bytes: order, is_receive: true, post: None };
        let place = Place { end_ns: 100 * call, thread: 6, call };
        Received { rank: 1, order: (order / 2, order % 2), place, moved }
    }

    #[test]
    fn receives_come_back_from_their_form_in_a_file() {
        let mut one = received(u64::MAX, 5);
        one.moved.peer = u32::MAX;
        let mut bytes = Vec::new();
        one.put(&mut bytes);
        assert_eq!((bytes.len(), Received::get(&bytes)), (Received::BYTES, one));
    }

    fn ordered(calls: &[u64]) -> Vec<Step> {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::with_room(folder.path(), 7);
        for (order, &call) in (0..).zip(calls) {
            sorter.push(received(order, call)).unwrap();
        }
        let mut steps = Sorter::with_room(folder.path(), 7);
        put_in_order(sorter.finish().unwrap(), &mut steps).unwrap();
        steps.finish().unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn what_completes_in_order_needs_no_posts() {
        let steps = ordered(&[1, 1, 2, 5, 5, 7]);
        let sizes: Vec<u64> = steps
            .iter()
            .map(|step| match step.what {
                What::Message(Moved { bytes, post: None, .. }) => bytes,
                _ => panic!("{step:?}"),
            })
            .collect();
        assert_eq!(sizes, [0, 1, 2, 3, 4, 5]);
    }

    proptest! {
        /// Matched as MPI does it, each takes its own message.
        #[test]
        fn each_takes_its_own_message(calls in proptest::collection::vec(0_u64..20, 0..60)) {
            let steps = ordered(&calls);
            // What a call posts is posted when it begins, and what it posts itself when it completes it.
            let mut posts: Vec<(Option<u64>, u64)> = Vec::new();
            let (mut own, mut completed) = (Vec::new(), 0);
            for step in &steps {
                match step.what {
                    What::Posted(Moved { post, bytes, .. }) => posts.push((post, bytes)),
                    What::Message(Moved { post: None, bytes, .. }) => {
                        posts.push((None, bytes));
                        own.push(bytes);
                    }
                    What::Message(Moved { post, bytes, .. }) => {
                        prop_assert!(posts.contains(&(post, bytes)), "completed before it was posted");
                        completed += 1;
                    }
                    What::Call(_) => {}
                }
            }
            prop_assert_eq!(own.len() + completed, calls.len());
            // Messages were sent by their sizes.
            let sizes: Vec<u64> = posts.iter().map(|(_, bytes)| *bytes).collect();
            prop_assert_eq!(sizes, (0..calls.len() as u64).collect::<Vec<_>>());
        }
    }
}
