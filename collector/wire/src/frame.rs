//! Frames: a header of 16 bytes, then a payload. The decoder is a state machine that is fed bytes.
//!
//! ```text
//! 0  magic "MSFR"   4  version u16   6  kind u16   8  payload length u32   12  checksum of kind and payload u32
//! ```

use crate::check::checksum;

/// The version of slots and frames; a reader refuses what it does not know.
pub const WIRE_VERSION: u16 = 1;
/// The bytes before a payload.
pub const FRAME_HEADER_BYTES: usize = 16;
/// No frame is longer; a header that says otherwise is damaged.
pub const MAX_PAYLOAD_BYTES: usize = 4 << 20;

const MAGIC: [u8; 4] = *b"MSFR";

/// What a payload holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// A run begins.
    RunStart,
    /// A process (rank) is known.
    Process,
    /// Slots of one ring.
    Slots,
    /// A pair of ticks and nanoseconds.
    ClockSample,
    /// What a process lost, cumulative, and how it stands.
    Lost,
    /// The run ended.
    RunEnd,
    /// An agent is known.
    Agent,
    /// Whose messages follow.
    Origin,
    /// Whether an agent is heard of.
    Contact,
    /// What is known of an agent's clock.
    RoundTrip,
    /// What the scheduler did to a process.
    Scheduling,
    /// The calls that the threads of a process were in when it ended.
    LastCalls,
    /// Recording was switched on or off.
    Switched,
    /// Calls that a process made while recording was off, cumulative.
    Unrecorded,
    /// Slots of a ring from a pause.
    Skipped,
    /// The CPUs that a process may use.
    Cpus,
    /// Slots of one ring, packed.
    Packed,
}

impl FrameKind {
    /// Every kind.
    pub const ALL: [Self; 17] = [
        FrameKind::RunStart,
        FrameKind::Process,
        FrameKind::Slots,
        FrameKind::ClockSample,
        FrameKind::Lost,
        FrameKind::RunEnd,
        FrameKind::Agent,
        FrameKind::Origin,
        FrameKind::Contact,
        FrameKind::RoundTrip,
        FrameKind::Scheduling,
        FrameKind::LastCalls,
        FrameKind::Switched,
        FrameKind::Unrecorded,
        FrameKind::Skipped,
        FrameKind::Cpus,
        FrameKind::Packed,
    ];

    fn number(self) -> u16 {
        match self {
            FrameKind::RunStart => 1,
            FrameKind::Process => 2,
            FrameKind::Slots => 3,
            FrameKind::ClockSample => 4,
            FrameKind::Lost => 5,
            FrameKind::RunEnd => 6,
            FrameKind::Agent => 7,
            FrameKind::Origin => 8,
            FrameKind::Contact => 9,
            FrameKind::RoundTrip => 10,
            FrameKind::Scheduling => 11,
            FrameKind::LastCalls => 12,
            FrameKind::Switched => 13,
            FrameKind::Unrecorded => 14,
            FrameKind::Skipped => 15,
            FrameKind::Cpus => 16,
            FrameKind::Packed => 17,
        }
    }

    fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

/// A decoded frame that borrows its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRef<'a> {
    /// What it holds.
    pub kind: FrameKind,
    /// The payload.
    pub payload: &'a [u8],
    /// The whole frame, header included, as it came.
    pub bytes: &'a [u8],
}

/// The decoder's report about bytes that are no frame. `skipped` counts the bytes passed over to find the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeFault {
    /// Bytes that are no frame, or a damaged one; decoding went on behind them.
    Damaged {
        /// How many bytes were passed over.
        skipped: usize,
    },
    /// A frame of a version this program does not know.
    Version {
        /// Which.
        version: u16,
    },
}

fn frame_checksum(kind: u16, payload: &[u8]) -> u32 {
    checksum(payload) ^ u32::from(kind).wrapping_mul(0x9E37_79B9)
}

/// Appends a frame to `out`.
///
/// # Panics
/// When the payload is longer than [`MAX_PAYLOAD_BYTES`]: the caller splits.
pub fn encode_frame(kind: FrameKind, payload: &[u8], out: &mut Vec<u8>) {
    out.reserve(FRAME_HEADER_BYTES + payload.len());
    encode_frame_with(out, |out| {
        out.extend_from_slice(payload);
        kind
    });
}

/// Likewise, with the payload that `write` appends; it says the kind.
pub(crate) fn encode_frame_with(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> FrameKind) {
    let begin = out.len();
    out.extend_from_slice(&[0; FRAME_HEADER_BYTES]);
    let kind = write(out).number();
    let (head, payload) = out[begin..].split_at_mut(FRAME_HEADER_BYTES);
    assert!(payload.len() <= MAX_PAYLOAD_BYTES, "payload of {} bytes", payload.len());
    head[..4].copy_from_slice(&MAGIC);
    head[4..6].copy_from_slice(&WIRE_VERSION.to_le_bytes());
    head[6..8].copy_from_slice(&kind.to_le_bytes());
    head[8..12].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    head[12..].copy_from_slice(&frame_checksum(kind, payload).to_le_bytes());
}

/// Finds frames in a stream of bytes.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    start: usize,
}

enum Header {
    Frame { kind: FrameKind, payload_bytes: usize, check: u32 },
    OtherVersion(u16),
    Bad,
}

fn parse_header(bytes: &[u8]) -> Header {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    if bytes[..4] != MAGIC {
        return Header::Bad;
    }
    let payload_bytes = word(8) as usize;
    if payload_bytes > MAX_PAYLOAD_BYTES {
        return Header::Bad;
    }
    if half(4) != WIRE_VERSION {
        return Header::OtherVersion(half(4));
    }
    match FrameKind::from_number(half(6)) {
        Some(kind) => Header::Frame { kind, payload_bytes, check: word(12) },
        None => Header::Bad,
    }
}

/// The kind and the length of the frame that bytes begin with, once it was checked; `None` when more of them are needed.
fn find(bytes: &[u8]) -> Result<Option<(FrameKind, usize)>, DecodeFault> {
    if bytes.len() < FRAME_HEADER_BYTES {
        return Ok(None);
    }
    match parse_header(bytes) {
        Header::Frame { kind, payload_bytes, check } => {
            let length = FRAME_HEADER_BYTES + payload_bytes;
            let Some(payload) = bytes.get(FRAME_HEADER_BYTES..length) else { return Ok(None) };
            let sound = frame_checksum(kind.number(), payload) == check;
            if sound { Ok(Some((kind, length))) } else { Err(DecodeFault::Damaged { skipped: 0 }) }
        }
        Header::OtherVersion(version) => Err(DecodeFault::Version { version }),
        Header::Bad => Err(DecodeFault::Damaged { skipped: 0 }),
    }
}

/// The frame that bytes begin with, where all of them are at hand; `None` when they end before it does.
///
/// # Errors
/// What could not be decoded; nothing is passed over.
pub fn first_frame(bytes: &[u8]) -> Result<Option<FrameRef<'_>>, DecodeFault> {
    Ok(find(bytes)?.map(|(kind, length)| FrameRef::new(kind, &bytes[..length])))
}

impl<'a> FrameRef<'a> {
    fn new(kind: FrameKind, bytes: &'a [u8]) -> Self {
        Self { kind, payload: &bytes[FRAME_HEADER_BYTES..], bytes }
    }
}

impl Decoder {
    /// An empty decoder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Hands over more bytes. At most one frame and the newest bytes are kept.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes fed and not yet decoded: what is torn off, once the stream is at its end.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// The next frame; `None` when it needs more bytes.
    ///
    /// # Errors
    /// What could not be decoded; the next call goes on behind it.
    pub fn next_frame(&mut self) -> Result<Option<FrameRef<'_>>, DecodeFault> {
        let begin = self.start;
        match find(&self.buffer[begin..]) {
            Ok(None) => Ok(None),
            Ok(Some((kind, length))) => {
                self.start = begin + length;
                Ok(Some(FrameRef::new(kind, &self.buffer[begin..begin + length])))
            }
            Err(fault) => {
                let skipped = self.skip();
                Err(if matches!(fault, DecodeFault::Damaged { .. }) { skipped } else { fault })
            }
        }
    }

    /// Passes over the start up to the next possible frame. At the end of a stream a torn frame whose length field is
    /// damaged could hide later frames; calling this makes it look behind.
    pub fn skip(&mut self) -> DecodeFault {
        let pending = &self.buffer[self.start..];
        let next = pending.windows(4).skip(1).position(|window| window == MAGIC).map(|at| at + 1);
        // Without a magic in sight the last three bytes may still be the beginning of one.
        let skipped = next.unwrap_or_else(|| pending.len().saturating_sub(3).max(1).min(pending.len()));
        self.start += skipped;
        DecodeFault::Damaged { skipped }
    }
}

#[cfg(test)]
mod tests {
    use super::{DecodeFault, Decoder, FrameKind, encode_frame, first_frame};
    use proptest::prelude::*;

    fn drain(decoder: &mut Decoder) -> (Vec<(FrameKind, Vec<u8>)>, usize) {
        let (mut frames, mut skipped_bytes) = (Vec::new(), 0);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push((frame.kind, frame.payload.to_vec())),
                Ok(None) => return (frames, skipped_bytes),
                Err(DecodeFault::Damaged { skipped }) => skipped_bytes += skipped,
                Err(DecodeFault::Version { .. }) => {}
            }
        }
    }

    #[test]
    fn frames_survive_any_split() {
        let mut bytes = Vec::new();
        encode_frame(FrameKind::Slots, b"abc", &mut bytes);
        encode_frame(FrameKind::ClockSample, b"", &mut bytes);
        encode_frame(FrameKind::RunEnd, &[7; 100], &mut bytes);
        for step in 1..bytes.len() {
            let mut decoder = Decoder::new();
            let mut frames = Vec::new();
            for piece in bytes.chunks(step) {
                decoder.feed(piece);
                frames.extend(drain(&mut decoder).0);
            }
            assert_eq!(frames.len(), 3, "in pieces of {step}");
            assert_eq!(frames[2], (FrameKind::RunEnd, vec![7; 100]));
            assert_eq!(decoder.pending_bytes(), 0);
        }
        let first = first_frame(&bytes).unwrap().unwrap();
        assert_eq!((first.kind, first.payload, first.bytes.len()), (FrameKind::Slots, &b"abc"[..], 19));
        assert!((0..19).all(|length| first_frame(&bytes[..length]) == Ok(None)));
        bytes[17] ^= 1;
        assert_eq!(first_frame(&bytes), Err(DecodeFault::Damaged { skipped: 0 }));
    }

    #[test]
    fn a_damaged_frame_costs_only_itself() {
        let mut bytes = Vec::new();
        encode_frame(FrameKind::Slots, &[1; 50], &mut bytes);
        let second = bytes.len();
        encode_frame(FrameKind::Slots, &[2; 50], &mut bytes);
        encode_frame(FrameKind::Slots, &[3; 50], &mut bytes);
        bytes[second + 30] ^= 0xFF;
        let mut decoder = Decoder::new();
        decoder.feed(&bytes);
        let (frames, skipped) = drain(&mut decoder);
        assert_eq!(frames.iter().map(|(_, payload)| payload[0]).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(skipped, 66);
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Vec::new();
        encode_frame(FrameKind::Slots, &[1; 5], &mut bytes);
        bytes[4] = 9;
        let mut decoder = Decoder::new();
        decoder.feed(&bytes);
        assert_eq!(decoder.next_frame(), Err(DecodeFault::Version { version: 9 }));
    }

    proptest! {
        #[test]
        fn garbage_never_panics_or_loops(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let mut decoder = Decoder::new();
            decoder.feed(&bytes);
            drain(&mut decoder);
            while decoder.pending_bytes() > 0 {
                let before = decoder.pending_bytes();
                decoder.skip();
                prop_assert!(decoder.pending_bytes() < before);
            }
        }

        #[test]
        fn flipped_bytes_lose_at_most_what_they_touch(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 1..12),
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), 1_u8..), 0..3),
        ) {
            let mut bytes = Vec::new();
            let mut ends = Vec::new();
            for payload in &payloads {
                encode_frame(FrameKind::Slots, payload, &mut bytes);
                ends.push(bytes.len());
            }
            let touched: std::collections::HashSet<usize> = flips.iter().map(|(at, mask)| {
                let at = at.index(bytes.len());
                bytes[at] ^= mask;
                ends.partition_point(|&end| end <= at)
            }).collect();
            let mut decoder = Decoder::new();
            decoder.feed(&bytes);
            let mut frames = drain(&mut decoder).0;
            while decoder.pending_bytes() > 0 {
                decoder.skip();
                frames.extend(drain(&mut decoder).0);
            }
            for (at, payload) in payloads.iter().enumerate() {
                if !touched.contains(&at) {
                    let expected = (FrameKind::Slots, payload.clone());
                    prop_assert!(frames.contains(&expected));
                }
            }
        }
    }
}
