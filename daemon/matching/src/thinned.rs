//! Messages, evenly thinned: keeps those with the least hashes, which depend only on the messages. Neither their order
//! nor other questions change which ones are picked.

use mpiscope_model::{Comm, Message, Nanoseconds, Rank, spread};

/// Takes in messages, and keeps a choice of them.
#[derive(Debug)]
pub struct Thinned {
    most: usize,
    total: u64,
    kept: Vec<(u64, Message)>,
    /// None whose hash is greater can be among those that are picked.
    greatest: u64,
}

impl Thinned {
    /// Keeps this number at most.
    #[must_use]
    pub fn with_capacity(most: usize) -> Self {
        Self { most, total: 0, kept: Vec::new(), greatest: u64::MAX }
    }

    /// Takes in a message.
    pub fn add(&mut self, message: &Message) {
        self.total += 1;
        let hash = hash(message);
        if hash <= self.greatest {
            self.kept.push((hash, *message));
        }
        if self.kept.len() > 2 * self.most.max(1) {
            self.thin();
        }
    }

    fn thin(&mut self) {
        if self.kept.len() <= self.most {
            return;
        }
        if self.most == 0 {
            self.kept.clear();
            return;
        }
        let (_, last, _) =
            self.kept.select_nth_unstable_by_key(self.most - 1, |(hash, message)| (*hash, key(message)));
        self.greatest = last.0;
        self.kept.truncate(self.most);
    }

    /// How many were taken in.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Those that were picked, by when they were sent.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Message> {
        self.thin();
        let mut messages: Vec<Message> = self.kept.into_iter().map(|(_, message)| message).collect();
        messages.sort_unstable_by_key(key);
        messages
    }
}

/// All fields that identify messages.
fn key(message: &Message) -> (Nanoseconds, Nanoseconds, Rank, Rank, Comm, i32, u64) {
    let Message { src, dst, tag, comm, bytes, send_ns, recv_ns, .. } = *message;
    (send_ns, recv_ns, src, dst, comm, tag, bytes)
}

/// Spreads the ends of a message over all 64 bits.
fn hash(message: &Message) -> u64 {
    let of_ends = (u64::from(message.src.0) << 32) | u64::from(message.dst.0);
    let of_channel = (u64::from(message.comm.0) << 32) | u64::from(message.tag.cast_unsigned());
    [message.send_ns, message.recv_ns, of_ends, of_channel, message.bytes]
        .into_iter()
        .fold(0, |bits, more| spread(bits ^ more.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(number: u64) -> Message {
        Message {
            src: Rank((number % 5) as u32),
            dst: Rank((number % 3) as u32),
            tag: 7,
            bytes: number % 11,
            send_ns: number * 10,
            recv_ns: number * 10 + 30,
            t_msg_ns: 30,
            inter: number.is_multiple_of(2),
            ..Message::default()
        }
    }

    fn picked(numbers: impl IntoIterator<Item = u64>, most: usize) -> Vec<Message> {
        let mut thinned = Thinned::with_capacity(most);
        numbers.into_iter().for_each(|number| thinned.add(&message(number)));
        thinned.into_messages()
    }

    proptest! {
        /// Held against all of them, sorted by their hashes.
        #[test]
        fn the_choice_depends_on_neither_order_nor_pieces(
            numbers in proptest::collection::vec(0_u64..500, 0..600),
            most in 0_usize..120,
            turn in 0_usize..600,
        ) {
            let mut plain: Vec<Message> = numbers.iter().map(|&number| message(number)).collect();
            plain.sort_by_key(|message| (hash(message), key(message)));
            plain.truncate(most);
            plain.sort_by_key(key);
            prop_assert_eq!(&picked(numbers.clone(), most), &plain);
            let mut turned = numbers;
            let by = turn.min(turned.len());
            turned.rotate_left(by);
            turned.reverse();
            prop_assert_eq!(picked(turned, most), plain);
        }
    }

    #[test]
    fn the_choice_is_even_over_time_and_ranks() {
        let kept = picked(0..100_000, 10_000);
        assert_eq!(kept.len(), 10_000);
        for part in 0..10 {
            let range = part * 100_000..(part + 1) * 100_000;
            let in_part = kept.iter().filter(|message| range.contains(&message.send_ns)).count();
            // Five standard deviations of a fair draw.
            assert!(in_part.abs_diff(1_000) < 150, "{in_part} of part {part}");
            let of_rank = kept.iter().filter(|message| u64::from(message.src.0) == part / 2).count();
            assert!(of_rank.abs_diff(2_000) < 200, "{of_rank} of rank {}", part / 2);
        }
    }
}
