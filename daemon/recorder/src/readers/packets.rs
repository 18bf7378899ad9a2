//! What the daemon and a reader say to each other: packets on a stream, each a frame with its kind before it.

use anyhow::{Context as _, Result, ensure};
use mpiscope_engine::Counted;
use mpiscope_flow::{Rows, frame_head, from_bytes, read_frame, to_bytes};
use mpiscope_model::{Activity, Batch, Call, Collected, Event, Message, Nanoseconds, numbers};
use mpiscope_recording::{EncodedSegment, Segment};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::time::Duration;

/// Before the description of a segment.
const LENGTH_BYTES: usize = 4;

/// Kinds of packets to a reader: frames of the log. After some, it says what became known; for whom is written before them.
pub(crate) const FRAMES: u8 = 1;
pub(crate) const BATCH: u8 = 2;
/// The run has ended. It says what became known of its rest.
pub(crate) const END: u8 = 4;
/// A live analysis to join.
pub(crate) const ORDER: u8 = 6;

/// Kinds of packets from a reader: a segment of calls or messages, what a batch came to, and what came last.
pub(crate) const CALLS: u8 = 11;
pub(crate) const MESSAGES: u8 = 12;
pub(crate) const ANSWER: u8 = 13;
pub(crate) const LAST_ANSWER: u8 = 14;

/// Kind of packets from a reader that has lost another one: the place of that one.
pub(crate) const PEER_LOST: u8 = 15;

/// Kind of packets between readers: events of a batch.
pub(crate) const EVENTS: u8 = 21;

/// What a reader has to know before it begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) window_ns: u64,
    pub(crate) threads: usize,
    /// Whether calls may have to be shown.
    pub(crate) may_show: bool,
    pub(crate) calls_per_segment: usize,
    pub(crate) messages_per_segment: usize,
    pub(crate) zstd_level: i32,
}

/// A live analysis, and the share that a reader has. The secret is that which it has come with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The later ones have larger numbers.
    pub(crate) generation: u64,
    pub(crate) share: Vec<u8>,
    /// Where the daemon listens for it, what it is known by there, the reader's number, and how long to wait for the others.
    pub(crate) addresses: Vec<String>,
    pub(crate) certificate: Option<String>,
    pub(crate) number: usize,
    pub(crate) patience: Duration,
}

/// Who wants the calls of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ForWhom {
    /// Those who look, and the live analysis of the daemon's process.
    pub(crate) is_shown: bool,
    pub(crate) is_analysed: bool,
    /// A live analysis that the reader has a share of.
    pub(crate) feeding: Option<Feeding>,
    /// The daemon wants to know what was counted until then.
    pub(crate) is_due: bool,
}

/// What a live analysis is fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Feeding {
    pub(crate) generation: u64,
    /// Whether what came before is left out.
    pub(crate) is_anew: bool,
}

/// Before the frames of a batch.
pub(crate) const FOR_WHOM_BYTES: usize = 9;

impl ForWhom {
    pub(crate) fn to_bytes(self) -> [u8; FOR_WHOM_BYTES] {
        let Self { is_shown, is_analysed, feeding, is_due } = self;
        let is_anew = feeding.is_some_and(|feeding| feeding.is_anew);
        let mut bytes = [0; FOR_WHOM_BYTES];
        let flags = [is_shown, feeding.is_some(), is_anew, is_due, is_analysed];
        bytes[0] = flags.iter().rev().fold(0, |flags, flag| flags << 1 | u8::from(*flag));
        bytes[1..].copy_from_slice(&feeding.map_or(0, |feeding| feeding.generation).to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; FOR_WHOM_BYTES]) -> Self {
        let [flags, generation @ ..] = bytes;
        let is_set = |at: u8| flags >> at & 1 == 1;
        let feeding = Feeding { generation: u64::from_le_bytes(generation), is_anew: is_set(2) };
        let feeding = is_set(1).then_some(feeding);
        Self { is_shown: is_set(0), is_analysed: is_set(4), feeding, is_due: is_set(3) }
    }
}

/// What a batch came to.
pub(crate) struct Answer {
    /// Until now, where that is wanted.
    pub(crate) counted: Option<Counted>,
    /// Where they are wanted.
    pub(crate) rows: Option<BatchRows>,
    /// How many rows of calls there were, and how many calls that were made they stand for.
    pub(crate) row_count: u64,
    pub(crate) made: u64,
    /// Whether they were fed, as wanted, and nothing is missing.
    pub(crate) are_fed: bool,
    pub(crate) calls: Written,
    pub(crate) messages: Written,
    /// What went wrong in writing.
    pub(crate) faults: Vec<String>,
    /// The CPU time of its process until now.
    pub(crate) cpu_s: f64,
}

numbers! { Answer { counted, rows, row_count, made, are_fed, calls, messages, faults, cpu_s } }

/// How far rows have come.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Written {
    /// Those that are in no segment yet.
    pub(crate) waiting: usize,
    /// Those that were given up until now because a segment could not be written.
    pub(crate) given_up: u64,
}

numbers! { Written { waiting, given_up } }

/// The calls and messages themselves.
pub(crate) struct BatchRows {
    calls: Rows<Call>,
    lone_polls: Vec<usize>,
    activities: Rows<Activity>,
    collected: Rows<Collected>,
    undiagnosed: Rows<Collected>,
    events: Rows<Event>,
    events_end_ns: Rows<Nanoseconds>,
    pub(crate) messages: Rows<Message>,
    /// Those of earlier batches that are in no segment, where they were not shown.
    pub(crate) earlier_calls: Rows<Call>,
    pub(crate) earlier_messages: Rows<Message>,
}

numbers! {
    BatchRows {
        calls, lone_polls, activities, collected, undiagnosed, events, events_end_ns, messages, earlier_calls,
        earlier_messages
    }
}

impl BatchRows {
    /// What is in a batch, its messages, and what was not shown before.
    pub(crate) fn new(batch: Batch, messages: Vec<Message>, earlier: (Vec<Call>, Vec<Message>)) -> Self {
        Self {
            calls: Rows(batch.calls),
            lone_polls: batch.lone_polls,
            activities: Rows(batch.activities),
            collected: Rows(batch.collected),
            undiagnosed: Rows(batch.undiagnosed),
            events: Rows(batch.events),
            events_end_ns: Rows(batch.events_end_ns),
            messages: Rows(messages),
            earlier_calls: Rows(earlier.0),
            earlier_messages: Rows(earlier.1),
        }
    }

    /// The batch. Messages are left out, and what is earlier.
    pub(crate) fn into_batch(self) -> Batch {
        Batch {
            calls: self.calls.0,
            lone_polls: self.lone_polls,
            activities: self.activities.0,
            collected: self.collected.0,
            undiagnosed: self.undiagnosed.0,
            events: self.events.0,
            events_end_ns: self.events_end_ns.0,
            ..Batch::default()
        }
    }
}

/// Writes a packet.
pub(crate) fn write_packet(to: &mut impl Write, kind: u8, pieces: &[&[u8]]) -> io::Result<()> {
    let head = frame_head(pieces.iter().map(|piece| piece.len()).sum())?;
    to.write_all(&[kind])?;
    to.write_all(&head)?;
    pieces.iter().try_for_each(|piece| to.write_all(piece))
}

/// Reads a packet; none at the end of the stream.
pub(crate) fn read_packet(from: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut kind = [0];
    if from.read(&mut kind)? == 0 {
        return Ok(None);
    }
    Ok(Some((kind[0], read_frame(from)?)))
}

pub(crate) fn write_answer(to: &mut impl Write, kind: u8, answer: &Answer) -> io::Result<()> {
    write_packet(to, kind, &[&to_bytes(answer)])
}

pub(crate) fn write_lost(to: &mut impl Write, place: usize) -> io::Result<()> {
    write_packet(to, PEER_LOST, &[&(place as u64).to_le_bytes()])
}

pub(crate) fn lost(bytes: &[u8]) -> Result<usize> {
    let place: [u8; 8] = bytes.try_into().context("the place of a lost reader")?;
    Ok(u64::from_le_bytes(place) as usize)
}

pub(crate) fn write_events(to: &mut impl Write, events: Vec<Event>) -> io::Result<()> {
    write_packet(to, EVENTS, &[&to_bytes(&Rows(events))])
}

pub(crate) fn events(bytes: &[u8]) -> Option<Vec<Event>> {
    from_bytes::<Rows<Event>>(bytes).map(|rows| rows.0)
}

pub(crate) fn answer(bytes: &[u8]) -> Result<Answer> {
    from_bytes(bytes).context("what it said cannot be read")
}

/// A segment is its description, with the length of that before it, then its file, and the one that goes with it.
pub(crate) fn write_segment(to: &mut impl Write, kind: u8, encoded: &EncodedSegment) -> Result<()> {
    let EncodedSegment { segment, file, starts } = encoded;
    let description = serde_json::to_vec(&(segment, file.len()))?;
    let length = u32::try_from(description.len())?.to_le_bytes();
    let starts = starts.as_deref().unwrap_or_default();
    Ok(write_packet(to, kind, &[&length, &description, file, starts])?)
}

pub(crate) fn segment(bytes: &[u8]) -> Result<EncodedSegment> {
    let cut = "a segment that is cut off";
    let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>().context(cut)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (description, rest) = rest.split_at_checked(length).context(cut)?;
    let (segment, file_bytes): (Segment, usize) = serde_json::from_slice(description)?;
    let (file, starts) = rest.split_at_checked(file_bytes).context(cut)?;
    ensure!(segment.starts.is_some() || starts.is_empty(), "a segment with something behind it");
    let starts = segment.starts.is_some().then(|| starts.to_vec());
    Ok(EncodedSegment { segment, file: file.to_vec(), starts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_recording::FileMark;

    #[test]
    fn packets_are_the_same_afterwards_and_cut_off_ones_are_refused() {
        let mut stream = Vec::new();
        write_packet(&mut stream, BATCH, &[b"one", b"", b"two"]).unwrap();
        write_packet(&mut stream, END, &[]).unwrap();
        let mut from = &stream[..];
        assert_eq!(read_packet(&mut from).unwrap(), Some((BATCH, b"onetwo".to_vec())));
        assert_eq!(read_packet(&mut from).unwrap(), Some((END, Vec::new())));
        assert_eq!(read_packet(&mut from).unwrap(), None);
        let first = 1 + LENGTH_BYTES + 6;
        for end in 1..first {
            assert!(read_packet(&mut &stream[..end]).is_err(), "{end}");
        }
        let absurd = [BATCH, 0xFF, 0xFF, 0xFF, 0xFF];
        assert_eq!(read_packet(&mut &absurd[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn for_whom_a_batch_is_is_the_same_afterwards() {
        for (is_shown, is_due) in [(false, false), (false, true), (true, false), (true, true)] {
            let is_analysed = is_shown != is_due;
            let feeding = |is_anew| Some(Feeding { generation: u64::MAX - 7, is_anew });
            for feeding in [None, feeding(false), feeding(true)] {
                let for_whom = ForWhom { is_shown, is_analysed, feeding, is_due };
                assert_eq!(ForWhom::from_bytes(for_whom.to_bytes()), for_whom);
            }
        }
    }

    #[test]
    fn segments_are_the_same_afterwards_and_cut_off_ones_are_refused() {
        for starts in [None, Some(vec![4, 5])] {
            let mark = starts.is_some().then(FileMark::default);
            let segment = Segment { rows: 7, starts: mark, ..Segment::default() };
            let encoded = EncodedSegment { segment, file: vec![1, 2, 3], starts };
            let mut stream = Vec::new();
            write_segment(&mut stream, CALLS, &encoded).unwrap();
            let (kind, bytes) = read_packet(&mut &stream[..]).unwrap().unwrap();
            assert_eq!((kind, super::segment(&bytes).unwrap()), (CALLS, encoded.clone()));
            let whole = bytes.len() - encoded.starts.map_or(0, |starts| starts.len());
            (0..whole).for_each(|end| assert!(super::segment(&bytes[..end]).is_err(), "{end}"));
        }
    }

    #[test]
    fn garbage_is_no_answer() {
        for seed in 0..200_u64 {
            let garbage: Vec<u8> =
                (0..seed).map(|at| (at.wrapping_mul(seed).wrapping_mul(0x9E37_79B9) >> 7) as u8).collect();
            assert!(answer(&garbage).is_err() && segment(&garbage).is_err());
            let _ = events(&garbage);
        }
    }
}
