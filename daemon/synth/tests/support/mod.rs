//! Reads a simulated run as a real one is read.

use mpiscope_ingest::Ingest;
use mpiscope_matching::{Matcher, MatchingLimits};
use mpiscope_model::{Call, Losses, Message, Node, Scheduling};
use mpiscope_synth::{Pattern, Spec, generate};
use mpiscope_wire as wire;
use std::collections::BTreeMap;

/// What was found in a run.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) calls: Vec<Call>,
    pub(crate) messages: Vec<Message>,
    pub(crate) uncertain: u64,
    pub(crate) unmatched: (u64, u64),
    pub(crate) faults: Vec<String>,
    pub(crate) losses: Losses,
    pub(crate) scheduling: Vec<Scheduling>,
    pub(crate) node_of: BTreeMap<u32, Node>,
    /// Calls that ended before the declared time of reading, and arrived only later.
    pub(crate) late: u64,
    /// The greatest number of slots that arrived at once.
    pub(crate) most_slots: usize,
    pub(crate) end_ns: u64,
}

/// Reads all messages of a run.
pub(crate) fn read(spec: &Spec) -> Read {
    let mut ingest = Ingest::new();
    let mut matcher = Matcher::new(MatchingLimits::default());
    let (mut read, mut slots) = (Read::default(), 0);
    for message in generate(spec).expect("a sound spec") {
        let is_sample = matches!(message, wire::Message::ClockSample(_));
        if let wire::Message::Slots(batch) = &message {
            slots += batch.slots.len();
        }
        ingest.feed(message);
        if is_sample {
            read.most_slots = read.most_slots.max(std::mem::take(&mut slots));
            take(&mut ingest, &mut matcher, &mut read);
        }
    }
    take(&mut ingest, &mut matcher, &mut read);
    let rest = matcher.finish();
    read.messages.extend(rest.messages);
    read.uncertain += rest.uncertain;
    read.unmatched = (matcher.unmatched_sends(), matcher.unmatched_receives());
    let (exit, end_ns) = ingest.ended().expect("the run ends");
    assert_eq!(exit, Some(0));
    read.end_ns = end_ns;
    read
}

fn take(ingest: &mut Ingest, matcher: &mut Matcher, read: &mut Read) {
    let batch = ingest.take();
    for info in batch.ranks {
        matcher.place(info.rank, info.node);
        read.node_of.insert(info.rank.0, info.node);
    }
    // What was declared read with the batch before.
    let until_ns = read.end_ns;
    read.late += batch.calls.iter().filter(|call| call.end_ns < until_ns).count() as u64;
    read.end_ns = batch.until_ns;
    read.calls.extend(batch.calls);
    let matched = matcher.feed(&batch.events);
    read.messages.extend(matched.messages);
    read.uncertain += matched.uncertain;
    read.faults.extend(batch.faults.into_iter().map(|fault| fault.text));
    read.losses = batch.losses.unwrap_or(read.losses);
    read.scheduling.extend(batch.scheduling);
}

/// A job of some hundred steps of every pattern.
pub(crate) fn small(pattern: Pattern) -> Spec {
    let mut spec = Spec::new(pattern, 16, 0.4, 100_000.0);
    spec.nodes = 4;
    spec
}

/// All patterns.
pub(crate) fn patterns() -> impl Iterator<Item = Pattern> {
    mpiscope_synth::PATTERNS.iter().map(|name| name.parse().expect("its own name"))
}
