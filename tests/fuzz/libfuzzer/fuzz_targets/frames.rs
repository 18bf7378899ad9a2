//! Any bytes as a log: decoded, ingested and matched without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpiscope_analysis::Matcher;
use mpiscope_ingest::Ingest;
use mpiscope_wire::{Decoder, Message};

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::new();
    let mut ingest = Ingest::new();
    decoder.feed(bytes);
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
});
