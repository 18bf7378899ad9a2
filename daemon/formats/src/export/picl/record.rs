//! The records of a trace in a form that can be sorted by time.

use crate::external_sort::SortRecord;
use mpiscope_model::{Nanoseconds, Rank};

/// Data fields of a record at most.
pub(super) const MAX_DATA: usize = 6;

/// A record that waits for its place in the order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) at_ns: Nanoseconds,
    /// Its place among records of the same moment.
    pub(super) place: u64,
    pub(super) rank: Rank,
    pub(super) thread: u16,
    pub(super) is_exit: bool,
    pub(super) event: i32,
    pub(super) count: u8,
    pub(super) data: [i64; MAX_DATA],
}

impl SortRecord for Record {
    type Key = (Nanoseconds, u64);
    const BYTES: usize = 8 * (4 + MAX_DATA);

    fn key(&self) -> Self::Key {
        (self.at_ns, self.place)
    }

    fn write_to(&self, bytes: &mut Vec<u8>) {
        let Self { at_ns, place, rank, thread, is_exit, event, count, data } = *self;
        let who = u64::from(rank.0) | u64::from(thread) << 32 | u64::from(is_exit) << 48;
        let what = u64::from(event.cast_unsigned()) | u64::from(count) << 32;
        bytes.extend([at_ns, place, who, what].map(u64::to_le_bytes).as_flattened());
        bytes.extend(data.map(i64::to_le_bytes).as_flattened());
    }

    fn read_from(bytes: &[u8]) -> Self {
        let mut words = [0; 4 + MAX_DATA];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [at_ns, place, who, what, data @ ..] = words;
        Self {
            at_ns,
            place,
            rank: Rank(who as u32),
            thread: (who >> 32) as u16,
            is_exit: who >> 48 != 0,
            event: (what as u32).cast_signed(),
            count: (what >> 32) as u8,
            data: data.map(u64::cast_signed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_from_their_form_in_a_file() {
        let record = Record {
            at_ns: u64::MAX,
            place: 7,
            rank: Rank::MAX,
            thread: u16::MAX,
            is_exit: true,
            event: -812,
            count: 6,
            data: [i64::MIN, -1, 0, 1, 2, i64::MAX],
        };
        for record in [record, Record { is_exit: false, event: 3, count: 0, ..record }] {
            let mut bytes = Vec::new();
            record.write_to(&mut bytes);
            assert_eq!((bytes.len(), Record::read_from(&bytes)), (Record::BYTES, record));
        }
    }
}
