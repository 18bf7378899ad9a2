//! Any words as the slots of two ranks' rings: a hostile job.

use mpiscope_diagnosis::HangDetector;
use mpiscope_ingest::Ingest;
use mpiscope_matching::{Counts, Matcher};
use mpiscope_wire::{
    ClockKind, ClockSample, Entry, FUNCTIONS, Flight, Message, Process, RunStart, Slot, Slots,
};

const SLOT_BYTES: usize = size_of::<Slot>();
const WINDOW_NS: u64 = 1000;

/// The kinds of slots that there are, by their first byte.
fn kinds() -> Vec<u8> {
    (0..=u8::MAX).filter(|&kind| Entry::decode(&[kind.into(), 0, 0, 0]).is_some()).collect()
}

/// A known kind, and a known function where it is a call: an input gets past the first check soon.
fn slot(bytes: &[u8; SLOT_BYTES], kinds: &[u8]) -> Slot {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    }
    let kind = kinds[(words[0] & 0xFF) as usize % kinds.len()];
    words[0] = words[0] & !0xFF | u64::from(kind);
    if let Some(Entry::Call(call)) = Entry::decode(&words) {
        let function = FUNCTIONS[usize::from(call.function) % FUNCTIONS.len()].id;
        words[0] = words[0] & !0xFFFF_0000 | u64::from(function) << 16;
    }
    words
}

fn begin(ingest: &mut Ingest) {
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
}

/// Any words as the slots of two ranks' rings, and as the calls that they are in: ingested, matched, counted, and looked
/// at as a hanging job.
pub fn rings(bytes: &[u8]) {
    let kinds = kinds();
    let mut ingest = Ingest::for_diagnosis();
    begin(&mut ingest);
    let (mut matcher, mut counts, mut hangs) =
        (Matcher::default(), Counts::new(WINDOW_NS), HangDetector::default());
    let mut from = [0; 2];
    for (turn, chunk) in bytes.chunks(SLOT_BYTES * 5).enumerate() {
        let (slots, _) = chunk.as_chunks::<SLOT_BYTES>();
        let slots: Vec<Slot> = slots.iter().map(|bytes| slot(bytes, &kinds)).collect();
        let process = turn % 2;
        if let Some(&[first, second, third, fourth]) = slots.first() {
            let flight = Flight::decode(&[process as u64, first, second, third, fourth, 0]);
            let _ = ingest.in_flight(0, &flight);
        }
        let count = slots.len() as u64;
        ingest.feed(Message::Slots(Slots { process: process as u32, ring: 0, from: from[process], slots }));
        from[process] += count;
        ingest.feed(Message::ClockSample(ClockSample {
            ticks: turn as u64 * 1000 + 1,
            monotonic_ns: turn as u64 * 500 + 1,
        }));
        let batch = ingest.take();
        counts.calls(&batch.calls);
        hangs.feed(&batch.calls, &batch.lone_polls, &batch.comms, &batch.members);
        let matched = matcher.feed(&batch.events);
        counts.messages(&matched.messages);
        counts.take_windows(batch.until_ns);
    }
    let matched = matcher.finish();
    counts.messages(&matched.messages);
}
