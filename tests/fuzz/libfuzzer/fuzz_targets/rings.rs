//! Any words as the slots of two ranks' rings: a hostile job.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpiscope_analysis::Matcher;
use mpiscope_ingest::Ingest;
use mpiscope_wire::{ClockKind, Knot, Message, Process, RunStart, Slots};

/// Small numbers in the fields that choose a meaning, so that the fuzzer gets past the first check soon.
fn slot(bytes: &[u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    }
    words[0] = words[0] & !0xFF | (words[0] & 0xFF) % 9;
    words
}

fuzz_target!(|bytes: &[u8]| {
    let mut ingest = Ingest::new();
    let (run, node) = (String::new(), String::new());
    ingest.feed(Message::RunStart(RunStart { run, node, unix_ns: 0, monotonic_ns: 0, command: Vec::new() }));
    for rank in 0..2 {
        ingest.feed(Message::Process(Process {
            process: rank,
            pid: rank,
            made_ns: 0,
            rank,
            world_size: 2,
            clock: ClockKind::TimeStampCounter,
            cost_per_call_ns: 0.0,
            library: String::new(),
            node: String::new(),
        }));
    }
    let mut matcher = Matcher::default();
    let mut from = [0; 2];
    for (turn, chunk) in bytes.chunks(32 * 5).enumerate() {
        let (slots, _) = chunk.as_chunks::<32>();
        let slots: Vec<[u64; 4]> = slots.iter().map(slot).collect();
        let process = turn % 2;
        let count = slots.len() as u64;
        ingest.feed(Message::Slots(Slots { process: process as u32, ring: 0, from: from[process], slots }));
        from[process] += count;
        ingest.feed(Message::Knot(Knot { ticks: turn as u64 * 1000 + 1, monotonic_ns: turn as u64 * 500 + 1 }));
        matcher.feed(&ingest.take().events);
    }
    matcher.finish();
});
