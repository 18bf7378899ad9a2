//! Messages by size class: how many there are, and what they carry.

use mpiscope_model::Message;

/// One class for empty messages, and one for each power of two.
const CLASSES: usize = 1 + u64::BITS as usize;

/// The messages of one size class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SizeTotals {
    /// Messages.
    pub messages: u64,
    /// Their payload.
    pub bytes: u64,
}

mpiscope_model::numbers! { SizeTotals { messages, bytes } }

/// The operator. Class 0 has the empty messages, class `n` those of 2^(n-1) bytes and more, and less than 2^n.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageSizes([SizeTotals; CLASSES]);

mpiscope_model::numbers! { MessageSizes(classes) }

impl Default for MessageSizes {
    fn default() -> Self {
        Self([SizeTotals::default(); CLASSES])
    }
}

impl MessageSizes {
    /// The class of a size.
    #[must_use]
    pub fn class(bytes: u64) -> u32 {
        u64::BITS - bytes.leading_zeros()
    }

    /// The sizes of a class: the least, and the first beyond it. That of the last class does not fit, and is the greatest
    /// number.
    #[must_use]
    pub fn sizes(class: u32) -> (u64, u64) {
        let power = |of: u32| 1_u64.checked_shl(of).unwrap_or(u64::MAX);
        (class.checked_sub(1).map_or(0, power), power(class))
    }

    /// Takes in messages.
    pub fn feed(&mut self, messages: &[Message]) {
        for message in messages {
            self.add(Self::class(message.bytes), SizeTotals { messages: 1, bytes: message.bytes });
        }
    }

    /// Takes in messages of one class; there is none beyond the last.
    pub fn add(&mut self, class: u32, more: SizeTotals) {
        if let Some(totals) = self.0.get_mut(class as usize) {
            totals.messages = totals.messages.saturating_add(more.messages);
            totals.bytes = totals.bytes.saturating_add(more.bytes);
        }
    }

    /// Takes in what another one has taken in.
    pub fn merge(&mut self, other: &Self) {
        other.classes().for_each(|(class, totals)| self.add(class, totals));
    }

    /// The classes that have messages, smallest first.
    pub fn classes(&self) -> impl Iterator<Item = (u32, SizeTotals)> + '_ {
        (0..).zip(self.0).filter(|(_, totals)| totals.messages > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(bytes: u64) -> Message {
        Message { bytes, ..Message::default() }
    }

    #[test]
    fn a_class_begins_at_each_power_of_two() {
        let mut sizes = MessageSizes::default();
        sizes.feed(&[0, 0, 1, 2, 3, 4, 7, 8, 1 << 63, u64::MAX].map(message));
        let found: Vec<_> =
            sizes.classes().map(|(class, of)| (MessageSizes::sizes(class), of.messages, of.bytes)).collect();
        let expected = [
            ((0, 1), 2, 0),
            ((1, 2), 1, 1),
            ((2, 4), 2, 5),
            ((4, 8), 2, 11),
            ((8, 16), 1, 8),
            ((1 << 63, u64::MAX), 2, u64::MAX),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_class_that_does_not_exist_is_left_out() {
        let mut sizes = MessageSizes::default();
        sizes.add(65, SizeTotals { messages: 1, bytes: 1 });
        assert_eq!(sizes, MessageSizes::default());
    }

    proptest! {
        #[test]
        fn any_split_adds_up_to_what_a_search_finds(
            messages in prop::collection::vec((0_u32..62, 0_u64..1 << 40).prop_map(|(by, bytes)| message(bytes >> by)), 0..200),
            step in 1_usize..50,
        ) {
            let (mut whole, mut pieces, mut rebuilt) = <(MessageSizes, MessageSizes, MessageSizes)>::default();
            whole.feed(&messages);
            messages.chunks(step).for_each(|piece| pieces.feed(piece));
            whole.classes().for_each(|(class, totals)| rebuilt.add(class, totals));
            prop_assert_eq!(&pieces, &whole);
            prop_assert_eq!(&rebuilt, &whole);
            let mut seen = 0;
            for (class, totals) in whole.classes() {
                let (from, to) = MessageSizes::sizes(class);
                let inside = || messages.iter().map(|message| message.bytes).filter(|bytes| (from..to).contains(bytes));
                let expected = SizeTotals { messages: inside().count() as u64, bytes: inside().sum() };
                prop_assert_eq!(totals, expected);
                seen += totals.messages;
            }
            prop_assert_eq!(seen, messages.len() as u64);
        }
    }
}
