//! What any bytes may do to those who read what a job or a user wrote: nothing. Not a panic, not memory without end.
//!
//! Each function takes an input as a fuzzer makes it and reads it as the product would. `tests/corpus.rs` gives them the
//! inputs that once mattered, `tests/fuzz/run` those that a fuzzer finds.

mod layouts;
mod regions;
mod requests;
mod rings;

use mpiscope_ingest::Ingest;
use mpiscope_matching::Matcher;
use mpiscope_wire::{Decoder, FrameKind, Message, encode_frame};

pub use layouts::layouts;
pub use regions::regions;
pub use requests::requests;
pub use rings::rings;

/// Frames with these payloads: a byte for the kind, two for the length, the payload, and so on. No fuzzer finds a checksum.
fn framed(mut bytes: &[u8]) -> Vec<u8> {
    let mut frames = Vec::new();
    while let [kind, low, high, rest @ ..] = bytes {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (payload, behind) = rest.split_at(length);
        let kind = FrameKind::ALL[usize::from(*kind) % FrameKind::ALL.len()];
        encode_frame(kind, payload, &mut frames);
        bytes = behind;
    }
    frames
}

/// Any bytes as a log: decoded, ingested and matched. An input that begins with an odd byte says payloads, see [`framed`].
pub fn frames(bytes: &[u8]) {
    let (Some(form), bytes) = (bytes.first(), bytes.get(1..).unwrap_or_default()) else { return };
    let mut decoder = Decoder::new();
    let mut ingest = Ingest::for_diagnosis();
    if form % 2 == 1 {
        decoder.feed(&framed(bytes));
    } else {
        decoder.feed(bytes);
    }
    loop {
        match decoder.next_frame() {
            Ok(Some(frame)) => {
                if let Ok(message) = Message::decode(frame.kind, frame.payload) {
                    ingest.feed(message);
                }
            }
            Ok(None) => break,
            Err(_) => {}
        }
    }
    ingest.settle_rest();
    let mut matcher = Matcher::default();
    matcher.feed(&ingest.take().events);
    matcher.finish();
}
