//! An event of a table, and how it is written to the file of the sorter.

use crate::external_sort::SortRecord;

/// A send or a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// When the call of a send began, or that of a receive ended.
    pub(crate) timestamp_ns: i64,
    /// How long the call took; 0 where that is not known.
    pub(crate) duration_ns: u64,
    pub(crate) bytes: u64,
    pub(crate) rank: u32,
    /// The other side.
    pub(crate) peer: u32,
    pub(crate) tag: i32,
    /// The table's own number of the communicator; 0 is the world.
    pub(crate) comm: u32,
    pub(crate) function: u16,
    pub(crate) sends: bool,
}

/// The length of an event in the file.
const EVENT_BYTES: usize = 48;

impl Event {
    pub(crate) fn start_ns(&self) -> i64 {
        if self.sends {
            self.timestamp_ns
        } else {
            self.timestamp_ns.saturating_sub_unsigned(self.duration_ns)
        }
    }

    pub(crate) fn end_ns(&self) -> i64 {
        if self.sends {
            self.timestamp_ns.saturating_add_unsigned(self.duration_ns)
        } else {
            self.timestamp_ns
        }
    }
}

impl SortRecord for Event {
    type Key = i64;
    const BYTES: usize = EVENT_BYTES;

    fn key(&self) -> i64 {
        self.timestamp_ns
    }

    fn write_to(&self, bytes: &mut Vec<u8>) {
        let places = u64::from(self.rank) | u64::from(self.peer) << 32;
        let of_message = u64::from(self.tag as u32) | u64::from(self.comm) << 32;
        let of_call = u64::from(self.function) | u64::from(self.sends) << 16;
        let words =
            [self.timestamp_ns.cast_unsigned(), self.duration_ns, self.bytes, places, of_message, of_call];
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }

    fn read_from(bytes: &[u8]) -> Self {
        let mut words = [0; EVENT_BYTES / 8];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [timestamp_ns, duration_ns, bytes, places, of_message, of_call] = words;
        Self {
            timestamp_ns: timestamp_ns.cast_signed(),
            duration_ns,
            bytes,
            rank: places as u32,
            peer: (places >> 32) as u32,
            tag: of_message as u32 as i32,
            comm: (of_message >> 32) as u32,
            function: of_call as u16,
            sends: of_call >> 16 != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_back_from_its_form_in_a_file() {
        let event = Event {
            timestamp_ns: i64::MIN,
            duration_ns: u64::MAX - 1,
            bytes: 3,
            rank: u32::MAX,
            peer: 7,
            tag: -5,
            comm: u32::MAX,
            function: u16::MAX,
            sends: true,
        };
        for event in [event, Event { sends: false, tag: i32::MAX, ..event }] {
            let mut bytes = Vec::new();
            event.write_to(&mut bytes);
            assert_eq!((bytes.len(), Event::read_from(&bytes)), (EVENT_BYTES, event));
        }
    }
}
