//! What the dataflow carries: as values within a process, as bytes between processes.

use crate::frames::{from_bytes, to_bytes};
use mpiscope_model::{Numbers, Sink, Source};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::OnceCell;

/// A value for another worker.
#[derive(Clone, Default)]
pub(crate) struct Sent<T> {
    pub(crate) value: T,
    /// Once they were asked for: the dataflow first asks how many there are.
    bytes: OnceCell<Vec<u8>>,
}

impl<T> Sent<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value, bytes: OnceCell::new() }
    }
}

impl<T: Numbers> Serialize for Sent<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(self.bytes.get_or_init(|| to_bytes(&self.value)))
    }
}

impl<'de, T: Numbers> Deserialize<'de> for Sent<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from_bytes(<&[u8]>::deserialize(from)?)
            .map(Self::new)
            .ok_or_else(|| D::Error::custom("a process sent what cannot be read"))
    }
}

/// Rows that are much like the one before: each number is written as how much it differs from that one's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<T>(pub Vec<T>);

/// Rows that room is made for before they are there.
const MOST_ROOM: usize = 1 << 12;

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The numbers of the rows before, and which of them is next. Those behind the end of a row stay for longer ones.
#[derive(Default)]
struct RowBefore {
    numbers: Vec<u64>,
    at: usize,
}

impl RowBefore {
    /// The place of the next number. Where no row was as long, it was zero.
    #[inline]
    fn next(&mut self) -> &mut u64 {
        let at = self.at;
        self.at += 1;
        if at == self.numbers.len() {
            self.numbers.push(0);
        }
        &mut self.numbers[at]
    }
}

/// Writes the numbers of rows as differences.
struct RowSink<'a, S> {
    to: &'a mut S,
    before: RowBefore,
}

impl<S: Sink> Sink for RowSink<'_, S> {
    #[inline]
    fn number(&mut self, number: u64) {
        let before = std::mem::replace(self.before.next(), number);
        (number.wrapping_sub(before) as i64).put(self.to);
    }
}

/// Reads them. It holds no more numbers than were read.
struct RowSource<'a, S> {
    from: &'a mut S,
    before: RowBefore,
}

impl<S: Source> Source for RowSource<'_, S> {
    #[inline]
    fn number(&mut self) -> Option<u64> {
        let difference = i64::get(self.from)?;
        let number = self.before.next();
        *number = number.wrapping_add(difference as u64);
        Some(*number)
    }

    #[inline]
    fn left(&self) -> usize {
        self.from.left()
    }
}

impl<T: Numbers> Numbers for Rows<T> {
    fn put<S: Sink>(&self, to: &mut S) {
        self.0.len().put(to);
        let mut sink = RowSink { to, before: RowBefore::default() };
        for row in &self.0 {
            row.put(&mut sink);
            sink.before.at = 0;
        }
    }

    fn get<S: Source>(from: &mut S) -> Option<Self> {
        let length = from.length()?;
        let mut rows = Vec::with_capacity(length.min(MOST_ROOM));
        let mut source = RowSource { from, before: RowBefore::default() };
        for _ in 0..length {
            rows.push(T::get(&mut source)?);
            source.before.at = 0;
        }
        Some(Self(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_the_same_afterwards(
            rows in proptest::collection::vec(
                (any::<u64>(), any::<Option<u32>>(), proptest::collection::vec(any::<i64>(), 0..3)), 0..50),
        ) {
            let rows = Rows(rows);
            prop_assert_eq!(from_bytes::<Rows<_>>(&to_bytes(&rows)), Some(rows));
        }
    }

    #[test]
    fn rows_like_each_other_take_few_bytes() {
        let rows = Rows((0..1_000_u64).map(|at| ((1 << 40) + at * 1_000, 7_u32, Some(at % 2))).collect());
        assert!(to_bytes(&rows).len() < 7_000, "{}", to_bytes(&rows).len());
    }

    #[test]
    fn rows_of_many_numbers_are_the_same_afterwards() {
        let rows = Rows([3_000, 0, 5, 3_001].map(|length| (0..length).collect::<Vec<u64>>()).into());
        assert_eq!(from_bytes::<Rows<_>>(&to_bytes(&rows)), Some(rows));
    }

    #[test]
    fn rows_that_are_cut_off_are_refused() {
        let bytes = to_bytes(&Rows(vec![(1_u64, Some(2_u32)), (1_000, None), (5, Some(7))]));
        for end in 0..bytes.len() {
            assert_eq!(from_bytes::<Rows<(u64, Option<u32>)>>(&bytes[..end]), None, "{end}");
        }
    }
}
