//! Finds out in which order receives were posted.
//!
//! Sends and receives of one channel match in the order in which they were posted, but a receive may complete before one that
//! was posted earlier. A trace says when a receive was posted or which message it took. A receive that completes in that order
//! needs nothing more. Any other gets a post, in the first call that completes a receive behind it.

use super::trace_piece::{CallKey, PieceKind, TracePiece, Transfer};
use crate::external_sort::{SortRecord, SortedRecords, Sorter};
use anyhow::Result;
use std::cmp::Reverse;

/// A receive that completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CompletedReceive {
    pub(crate) rank: u32,
    /// When it was posted or its message was sent, and a number among those of the same moment.
    pub(crate) order: (u64, u64),
    /// The call that completed it.
    pub(crate) key: CallKey,
    pub(crate) transfer: Transfer,
}

type Channel = (u32, u32, u32, i32);

impl CompletedReceive {
    fn channel(&self) -> Channel {
        (self.rank, self.transfer.peer, self.transfer.comm, self.transfer.tag)
    }
}

impl SortRecord for CompletedReceive {
    /// Receives of one channel together, the last first.
    type Key = (Channel, Reverse<(u64, u64)>);
    const BYTES: usize = 8 * 8;

    fn key(&self) -> Self::Key {
        (self.channel(), Reverse(self.order))
    }

    fn write_to(&self, bytes: &mut Vec<u8>) {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let CallKey { end_ns, thread, call } = self.key;
        let Transfer { peer, tag, comm, bytes: length, .. } = self.transfer;
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

    fn read_from(bytes: &[u8]) -> Self {
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
            key: CallKey { end_ns, thread: thread as u32, call },
            transfer: Transfer { peer, tag, comm, bytes, is_receive: true, post: None },
        }
    }
}

/// Turns all receives into pieces of their calls, and adds the posts that they need.
pub(crate) fn order_receives(
    received: SortedRecords<CompletedReceive>,
    pieces: &mut Sorter<TracePiece>,
) -> Result<()> {
    let mut channel: Option<Channel> = None;
    // The first call that completes one of the receives behind this one, and whether a receive is posted in it.
    let mut first: Option<(CallKey, bool)> = None;
    for (number, one) in (1_u64..).zip(received) {
        let one = one?;
        if channel.replace(one.channel()) != Some(one.channel()) {
            first = None;
        }
        // Within a call receives come in their order, behind what the call sent.
        let order = u64::MAX - number;
        let mut transfer = one.transfer;
        match &mut first {
            Some((key, posts)) if one.key > *key || (one.key == *key && *posts) => {
                *posts = true;
                transfer.post = Some(number);
                pieces.push(TracePiece { key: *key, order, kind: PieceKind::Posted(transfer) })?;
            }
            Some((key, _)) if one.key == *key => {}
            _ => first = Some((one.key, false)),
        }
        pieces.push(TracePiece { key: one.key, order, kind: PieceKind::Message(transfer) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn received(order: u64, call: u64) -> CompletedReceive {
        let transfer = Transfer { peer: 2, tag: -3, comm: 4, bytes: order, is_receive: true, post: None };
        let key = CallKey { end_ns: 100 * call, thread: 6, call };
        CompletedReceive { rank: 1, order: (order / 2, order % 2), key, transfer }
    }

    #[test]
    fn receives_come_back_from_their_form_in_a_file() {
        let mut one = received(u64::MAX, 5);
        one.transfer.peer = u32::MAX;
        let mut bytes = Vec::new();
        one.write_to(&mut bytes);
        assert_eq!((bytes.len(), CompletedReceive::read_from(&bytes)), (CompletedReceive::BYTES, one));
    }

    fn ordered(calls: &[u64]) -> Vec<TracePiece> {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::with_capacity(folder.path(), 7);
        for (order, &call) in (0..).zip(calls) {
            sorter.push(received(order, call)).unwrap();
        }
        let mut pieces = Sorter::with_capacity(folder.path(), 7);
        order_receives(sorter.finish().unwrap(), &mut pieces).unwrap();
        pieces.finish().unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn what_completes_in_order_needs_no_posts() {
        let pieces = ordered(&[1, 1, 2, 5, 5, 7]);
        let sizes: Vec<u64> = pieces
            .iter()
            .map(|piece| match piece.kind {
                PieceKind::Message(Transfer { bytes, post: None, .. }) => bytes,
                _ => panic!("{piece:?}"),
            })
            .collect();
        assert_eq!(sizes, [0, 1, 2, 3, 4, 5]);
    }

    proptest! {
        /// Matched as MPI does it, each takes its own message.
        #[test]
        fn each_takes_its_own_message(calls in proptest::collection::vec(0_u64..20, 0..60)) {
            let pieces = ordered(&calls);
            // What a call posts is posted when it begins, and what it posts itself when it completes it.
            let mut posts: Vec<(Option<u64>, u64)> = Vec::new();
            let (mut own, mut completed) = (Vec::new(), 0);
            for piece in &pieces {
                match piece.kind {
                    PieceKind::Posted(Transfer { post, bytes, .. }) => posts.push((post, bytes)),
                    PieceKind::Message(Transfer { post: None, bytes, .. }) => {
                        posts.push((None, bytes));
                        own.push(bytes);
                    }
                    PieceKind::Message(Transfer { post, bytes, .. }) => {
                        prop_assert!(posts.contains(&(post, bytes)), "completed before it was posted");
                        completed += 1;
                    }
                    PieceKind::Completed(_) | PieceKind::Call(_) | PieceKind::Phase(_) => {}
                }
            }
            prop_assert_eq!(own.len() + completed, calls.len());
            // Messages were sent by their sizes.
            let sizes: Vec<u64> = posts.iter().map(|(_, bytes)| *bytes).collect();
            prop_assert_eq!(sizes, (0..calls.len() as u64).collect::<Vec<_>>());
        }
    }
}
