//! How payloads lie in bytes: fixed little-endian fields, strings with a length before them.

use crate::flight::{FLIGHT_WORDS, Flight};
use crate::frame::{FrameKind, encode_frame_with};
use crate::packing::PackedSlots;
use crate::payload::{
    Agent, ClockKind, ClockSample, Contact, Cpus, EndState, Heard, LastCalls, Lost, Message, Origin, Packed,
    PayloadFault, Process, RoundTrip, RunEnd, RunStart, Scheduling, Skipped, Slots, Switched, Unrecorded,
};
use crate::slot::{SLOT_BYTES, Slot};

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (head, rest) = self.bytes.split_at_checked(count).ok_or("it is too short")?;
        self.bytes = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        self.take(N)?.try_into().map_err(|_| "it is too short")
    }

    fn field<T: Field>(&mut self) -> Result<T, &'static str> {
        T::read(self)
    }

    /// A number that was added later: 0 where the payload ends before it.
    fn later_number(&mut self) -> Result<u64, &'static str> {
        if self.bytes.is_empty() { Ok(0) } else { self.field() }
    }

    fn end(&self) -> Result<(), &'static str> {
        if self.bytes.is_empty() { Ok(()) } else { Err("it is too long") }
    }
}

/// What lies in bytes: a field of a payload, or all of one.
trait Field: Sized {
    fn write(&self, out: &mut Vec<u8>);

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Field for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
                reader.array().map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers!(u32, u64, u128, i32, i64, f64);

impl Field for bool {
    fn write(&self, out: &mut Vec<u8>) {
        u32::from(*self).write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        reader.field::<u32>().map(|number| number != 0)
    }
}

/// An exit status and whether it is known.
impl Field for Option<i32> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        self.unwrap_or_default().write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let (is_known, status): (bool, i32) = (reader.field()?, reader.field()?);
        Ok(is_known.then_some(status))
    }
}

impl Field for String {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let length = reader.field::<u32>()? as usize;
        String::from_utf8(reader.take(length)?.to_vec()).map_err(|_| "a text is no UTF-8")
    }
}

impl Field for Vec<String> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        self.iter().for_each(|text| text.write(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let count = reader.field::<u32>()?;
        (0..count).map(|_| reader.field()).collect()
    }
}

impl Field for ClockKind {
    fn write(&self, out: &mut Vec<u8>) {
        self.number().write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        Self::from_number(reader.field()?).ok_or("its clock is of no known kind")
    }
}

impl Field for EndState {
    fn write(&self, out: &mut Vec<u8>) {
        self.number().write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        Self::from_number(reader.field()?).ok_or("its state is of no known kind")
    }
}

impl Field for Heard {
    fn write(&self, out: &mut Vec<u8>) {
        self.number().write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let number: u32 = reader.field()?;
        Self::ALL.into_iter().find(|heard| heard.number() == number).ok_or("its state is of no known kind")
    }
}

/// Payloads whose fields lie in this order.
macro_rules! payloads {
    ($($payload:ident { $($field:ident),* })*) => {$(
        impl Field for $payload {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
                Ok(Self { $($field: reader.field()?),* })
            }
        }
    )*};
}

payloads! {
    RunStart { run, node, unix_ns, monotonic_ns, command }
    Process { process, pid, rank, world_size, clock, made_ns, cost_per_call_ns, library, node }
    ClockSample { ticks, monotonic_ns }
    Lost { process, state, ring_full, no_ring, unreadable }
    RunEnd { exit, monotonic_ns }
    Agent { agent, identity, node }
    Origin { agent, sequence }
    Contact { agent, heard }
    RoundTrip { agent, local_ns, offset_ns, uncertainty_ns }
    Switched { is_on, monotonic_ns }
    Unrecorded { process, calls }
    Skipped { process, ring, to }
    Cpus { process, on_host, quota_milli, allowed }
    Packed { process, ring, from, slots }
}

impl Field for Slots {
    fn write(&self, out: &mut Vec<u8>) {
        out.reserve(16 + self.slots.len() * SLOT_BYTES);
        self.process.write(out);
        self.ring.write(out);
        self.from.write(out);
        for word in self.slots.iter().flatten() {
            word.write(out);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let (process, ring, from) = (reader.field()?, reader.field()?, reader.field()?);
        let bytes = reader.take(reader.bytes.len())?;
        if bytes.len() % SLOT_BYTES != 0 {
            return Err("its slots are not whole");
        }
        let slots = bytes.chunks_exact(SLOT_BYTES).map(slot_of).collect();
        Ok(Self { process, ring, from, slots })
    }
}

fn slot_of(bytes: &[u8]) -> Slot {
    let mut words = bytes.chunks_exact(8);
    std::array::from_fn(|_| {
        let word = words.next().and_then(|word| word.try_into().ok());
        u64::from_le_bytes(word.unwrap_or_default())
    })
}

impl Field for PackedSlots {
    fn write(&self, out: &mut Vec<u8>) {
        out.reserve(8 + self.bytes());
        self.count.write(out);
        (self.definitions.len() as u32).write(out);
        for (place, slot) in &self.definitions {
            place.write(out);
            slot.iter().for_each(|word| word.write(out));
        }
        out.extend_from_slice(&self.bytes);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let (count, definitions): (u32, u32) = (reader.field()?, reader.field()?);
        let mut slots = Self { count, ..Self::default() };
        for _ in 0..definitions {
            slots.definitions.push((reader.field()?, slot_of(reader.take(SLOT_BYTES)?)));
        }
        slots.bytes = reader.take(reader.bytes.len())?.to_vec();
        slots.check().map(|()| slots)
    }
}

impl Field for Scheduling {
    fn write(&self, out: &mut Vec<u8>) {
        self.process.write(out);
        for number in [self.monotonic_ns, self.run_ns, self.wait_ns, self.voluntary, self.involuntary] {
            number.write(out);
        }
        // Later than the others, and rare. Zeros at the end are not written.
        let later = [self.stopped_ns, self.blocked_ns, self.major_faults];
        let written = later.iter().rposition(|number| *number > 0).map_or(0, |last| last + 1);
        for number in &later[..written] {
            number.write(out);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        Ok(Self {
            process: reader.field()?,
            monotonic_ns: reader.field()?,
            run_ns: reader.field()?,
            wait_ns: reader.field()?,
            voluntary: reader.field()?,
            involuntary: reader.field()?,
            stopped_ns: reader.later_number()?,
            blocked_ns: reader.later_number()?,
            major_faults: reader.later_number()?,
        })
    }
}

impl Field for LastCalls {
    fn write(&self, out: &mut Vec<u8>) {
        self.process.write(out);
        for word in self.calls.iter().flat_map(Flight::encode) {
            word.write(out);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let process = reader.field()?;
        let mut calls = Vec::new();
        while !reader.bytes.is_empty() {
            let mut words = [0; FLIGHT_WORDS];
            for word in &mut words {
                *word = reader.field()?;
            }
            calls.push(Flight::decode(&words));
        }
        Ok(Self { process, calls })
    }
}

/// The kinds of messages: the frame of each has its name, and so has its payload.
macro_rules! messages {
    ($($kind:ident),* $(,)?) => {
        impl Message {
            fn write(&self, out: &mut Vec<u8>) -> FrameKind {
                match self {
                    $(Message::$kind(payload) => {
                        payload.write(out);
                        FrameKind::$kind
                    })*
                }
            }

            fn read(kind: FrameKind, reader: &mut Reader<'_>) -> Result<Self, &'static str> {
                Ok(match kind {
                    $(FrameKind::$kind => Message::$kind(reader.field()?),)*
                })
            }
        }
    };
}

messages!(
    RunStart,
    Process,
    Slots,
    ClockSample,
    Lost,
    RunEnd,
    Agent,
    Origin,
    Contact,
    RoundTrip,
    Scheduling,
    LastCalls,
    Switched,
    Unrecorded,
    Skipped,
    Cpus,
    Packed,
);

impl Message {
    /// Appends the message as a frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_frame_with(out, |out| self.write(out));
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// When it does not match its kind.
    pub fn decode(kind: FrameKind, payload: &[u8]) -> Result<Self, PayloadFault> {
        let mut reader = Reader { bytes: payload };
        Self::read(kind, &mut reader)
            .and_then(|message| reader.end().map(|()| message))
            .map_err(|reason| PayloadFault { kind, reason })
    }
}
