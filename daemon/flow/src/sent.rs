//! What the dataflow carries: as values within a process, as bytes between processes.

use crate::frames::{from_bytes, to_bytes};
use mpiscope_model::{NumberReader, Numbers, Sink, Source};
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
        let bytes: Vec<u8> = serde_bytes::deserialize(from)?;
        from_bytes(&bytes)
            .map(Self::new)
            .ok_or_else(|| D::Error::custom("a process sent what cannot be read"))
    }
}

/// Rows that are much like the one before: each number is written as how much it differs from that one's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rows<T>(pub(crate) Vec<T>);

/// More numbers than a row has.
const MOST_NUMBERS: usize = 1 << 10;
/// Rows that room is made for before they are there.
const MOST_ROOM: usize = 1 << 12;

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

fn difference(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from) as i64
}

impl<T: Numbers> Numbers for Rows<T> {
    fn put<S: Sink>(&self, to: &mut S) {
        self.0.len().put(to);
        let (mut before, mut now) = (Vec::new(), Vec::new());
        for row in &self.0 {
            now.clear();
            row.put(&mut now);
            difference(before.len() as u64, now.len() as u64).put(to);
            let same = before.iter().copied().chain(std::iter::repeat(0));
            now.iter().zip(same).for_each(|(now, before)| difference(before, *now).put(to));
            std::mem::swap(&mut before, &mut now);
        }
    }

    fn get<S: Source>(from: &mut S) -> Option<Self> {
        let length = from.length()?;
        let (mut rows, mut numbers) = (Vec::with_capacity(length.min(MOST_ROOM)), Vec::<u64>::new());
        for _ in 0..length {
            let of_row = (numbers.len() as u64).wrapping_add(i64::get(from)? as u64);
            let of_row = usize::try_from(of_row).ok().filter(|of_row| *of_row <= MOST_NUMBERS)?;
            numbers.resize(of_row, 0);
            for number in &mut numbers {
                *number = number.wrapping_add(i64::get(from)? as u64);
            }
            let mut row = NumberReader::new(&numbers);
            rows.push(T::get(&mut row).filter(|_| row.is_at_end())?);
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
    fn rows_of_too_many_numbers_are_refused() {
        let mut numbers = Vec::new();
        1_usize.put(&mut numbers);
        (MOST_NUMBERS as i64 + 1).put(&mut numbers);
        assert_eq!(Rows::<u64>::get(&mut NumberReader::new(&numbers)), None);
    }
}
