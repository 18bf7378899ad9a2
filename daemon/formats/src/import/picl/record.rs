//! The records of a trace that say when an event begins or ends, in a form that can be sorted.

use crate::external_sort::SortRecord;

/// Data fields of a record that are kept.
pub(super) const MAX_DATA: usize = 6;

/// An event begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) rank: u32,
    pub(super) thread: u16,
    pub(super) at_ns: i64,
    /// The line of the trace.
    pub(super) line: u64,
    pub(super) is_exit: bool,
    pub(super) event: i32,
    pub(super) data: Data,
}

/// The first data fields of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Data {
    count: u8,
    fields: [i64; MAX_DATA],
}

impl Data {
    pub(super) fn new(fields: &[i64]) -> Self {
        let mut data = Self { count: fields.len().min(MAX_DATA) as u8, ..Self::default() };
        for (to, from) in data.fields.iter_mut().zip(fields) {
            *to = *from;
        }
        data
    }

    pub(super) fn get(&self, at: usize) -> Option<i64> {
        self.fields.get(at).copied().filter(|_| at < usize::from(self.count))
    }

    pub(super) fn len(&self) -> usize {
        self.count.into()
    }
}

impl SortRecord for Record {
    /// The records of a process together, in the order of time and then in that of the lines. An old trace has lines that
    /// are an event as a whole: it begins before it ends.
    type Key = (u32, u16, i64, u64, bool);
    const BYTES: usize = 8 * (4 + MAX_DATA);

    fn key(&self) -> Self::Key {
        (self.rank, self.thread, self.at_ns, self.line, self.is_exit)
    }

    fn write_to(&self, bytes: &mut Vec<u8>) {
        let Self { rank, thread, at_ns, line, is_exit, event, data } = *self;
        let who = u64::from(rank) | u64::from(thread) << 32 | u64::from(is_exit) << 48;
        let what = u64::from(event.cast_unsigned()) | u64::from(data.count) << 32;
        bytes.extend([who, at_ns.cast_unsigned(), line, what].map(u64::to_le_bytes).as_flattened());
        bytes.extend(data.fields.map(i64::to_le_bytes).as_flattened());
    }

    fn read_from(bytes: &[u8]) -> Self {
        let mut words = [0; 4 + MAX_DATA];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [who, at_ns, line, what, fields @ ..] = words;
        Self {
            rank: who as u32,
            thread: (who >> 32) as u16,
            at_ns: at_ns.cast_signed(),
            line,
            is_exit: who >> 48 != 0,
            event: (what as u32).cast_signed(),
            data: Data { count: (what >> 32) as u8, fields: fields.map(u64::cast_signed) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_from_their_form_in_a_file() {
        let data = Data::new(&[i64::MIN, -1, 0, 1, 2, i64::MAX, 8]);
        assert_eq!((data.len(), data.get(5), data.get(6)), (6, Some(i64::MAX), None));
        let (rank, thread, at_ns, line) = (u32::MAX, u16::MAX, i64::MIN, u64::MAX);
        let record = Record { rank, thread, at_ns, line, is_exit: true, event: i32::MIN, data };
        for record in [record, Record { is_exit: false, event: 4, data: Data::new(&[]), ..record }] {
            let mut bytes = Vec::new();
            record.write_to(&mut bytes);
            assert_eq!((bytes.len(), Record::read_from(&bytes)), (Record::BYTES, record));
        }
    }
}
