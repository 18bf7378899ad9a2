//! What becomes known is the same however many threads read slots, and however many messages come at once.

use crate::random_jobs::{messages, packed};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Batch, Call as Row, Collected, Event, Losses, Nanoseconds, Rank, SiteInfo};
use mpiscope_wire::Message;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// All that became known, in an order that no split changes.
#[derive(Debug, Default)]
struct Outcome {
    rows: BTreeMap<(Rank, u16), Vec<Row>>,
    lone_polls: BTreeMap<(Rank, u16), Vec<Nanoseconds>>,
    activities: BTreeMap<(Rank, u16), Vec<Activity>>,
    collected: BTreeMap<Rank, Vec<Collected>>,
    events: BTreeMap<Rank, Vec<(Event, Nanoseconds)>>,
    sites: Vec<SiteInfo>,
    comms: Vec<(u32, u64)>,
    faults: Vec<String>,
    losses: Losses,
    beyond_sites: u64,
    until_ns: Nanoseconds,
}

impl Outcome {
    fn add(&mut self, batch: Batch) {
        for &at in &batch.lone_polls {
            let row = batch.calls[at];
            self.lone_polls.entry((row.rank, row.thread)).or_default().push(row.start_ns);
        }
        for row in batch.calls {
            self.rows.entry((row.rank, row.thread)).or_default().push(row);
        }
        for activity in batch.activities {
            self.activities.entry((activity.rank, activity.call.thread())).or_default().push(activity);
        }
        for collected in batch.collected.into_iter().chain(batch.undiagnosed) {
            self.collected.entry(collected.rank).or_default().push(collected);
        }
        assert_eq!(batch.events.len(), batch.events_end_ns.len());
        for (event, end_ns) in batch.events.into_iter().zip(batch.events_end_ns) {
            self.events.entry(event.rank()).or_default().push((event, end_ns));
        }
        self.sites.extend(batch.sites);
        self.comms.extend(batch.comms.iter().map(|info| (info.comm.0, info.id)));
        self.faults.extend(batch.faults.into_iter().map(|fault| fault.text));
        self.losses = batch.losses.unwrap_or(self.losses);
        self.until_ns = batch.until_ns;
    }
}

/// What differs, if anything does; all of it would be pages.
fn difference(one: &Outcome, other: &Outcome) -> Option<String> {
    fn first_difference<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
        name: &str,
        one: &BTreeMap<K, Vec<V>>,
        other: &BTreeMap<K, Vec<V>>,
    ) -> Option<String> {
        let keys = one.keys().chain(other.keys());
        let key = keys.into_iter().find(|key| one.get(key) != other.get(key))?;
        let (one, other) = (one.get(key).map(Vec::as_slice), other.get(key).map(Vec::as_slice));
        let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
        let at = (0..).find(|&at| one.get(at) != other.get(at))?;
        Some(format!("{name} of {key:?}, number {at}: {:?} and {:?}", one.get(at), other.get(at)))
    }
    let rest = |known: &Outcome| {
        let Outcome { sites, comms, faults, losses, beyond_sites, until_ns, .. } = known;
        format!("{sites:?} {comms:?} {losses:?} {beyond_sites} {until_ns} {faults:?}")
    };
    first_difference("rows", &one.rows, &other.rows)
        .or_else(|| first_difference("lone polls", &one.lone_polls, &other.lone_polls))
        .or_else(|| first_difference("activities", &one.activities, &other.activities))
        .or_else(|| first_difference("collected", &one.collected, &other.collected))
        .or_else(|| first_difference("events", &one.events, &other.events))
        .or_else(|| (rest(one) != rest(other)).then(|| format!("{}\n{}", rest(one), rest(other))))
}

/// What is known after batches of this number of messages. Also how many batches there were behind others.
fn outcome(messages: &[Message], at_once: usize, ingest: Ingest) -> (Outcome, usize) {
    let (mut known, mut beside, mut ingest) = (Outcome::default(), 0, ingest);
    for messages in messages.chunks(at_once) {
        messages.iter().for_each(|message| ingest.feed(message.clone()));
        known.add(ingest.take());
        while let Some(batch) = ingest.more() {
            // What is behind others defines nothing.
            assert!(batch.sites.is_empty() && batch.comms.is_empty() && batch.ranks.is_empty());
            known.add(batch);
            beside += 1;
        }
    }
    known.faults.sort();
    known.beyond_sites = ingest.calls_beyond_sites();
    (known, beside)
}

proptest! {
    #[test]
    fn threads_and_batches_do_not_matter(
        choices in proptest::collection::vec(any::<u64>(), 1..60),
        at_once in 1_usize..80,
        threads in 2_usize..5,
    ) {
        let messages = messages(&choices);
        let one = || Ingest::for_diagnosis();
        let (expected, none) = outcome(&messages, 1, one());
        prop_assert_eq!(none, 0);
        let messages = packed(&messages, false);
        prop_assert_eq!(difference(&outcome(&messages, at_once, one()).0, &expected), None);
        let several = one().with_threads(threads).with_least_for_thread(1);
        prop_assert_eq!(difference(&outcome(&messages, at_once, several).0, &expected), None);
    }
}

#[test]
fn slots_that_do_not_unpack_are_lost_and_those_behind_them_are_read() {
    let choices: Vec<u64> = (1..400_u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let whole = outcome(&messages(&choices), 50, Ingest::for_diagnosis()).0;
    let damaged = packed(&messages(&choices), true);
    let (expected, _) = outcome(&damaged, 50, Ingest::for_diagnosis());
    let several = Ingest::for_diagnosis().with_threads(3).with_least_for_thread(4);
    assert_eq!(difference(&outcome(&damaged, 300, several).0, &expected), None);
    let rows = |outcome: &Outcome| outcome.rows.values().map(Vec::len).sum::<usize>();
    assert!(rows(&expected) < rows(&whole) && rows(&expected) > rows(&whole) / 2);
    assert!(expected.losses.unreadable > whole.losses.unreadable + 100);
    assert!(expected.faults.iter().any(|fault| fault.ends_with("do not unpack")));
}

#[test]
fn many_slots_are_read_on_several_threads() {
    let choices: Vec<u64> = (1..400_u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let messages = messages(&choices);
    let (expected, _) = outcome(&messages, messages.len(), Ingest::for_diagnosis());
    let several = Ingest::for_diagnosis().with_threads(3).with_least_for_thread(4);
    let (found, beside) = outcome(&messages, 300, several);
    assert!(beside > 2, "{beside} batches");
    assert_eq!(difference(&found, &expected), None);
    let rows: usize = found.rows.values().map(Vec::len).sum();
    assert!(rows > 1_000, "{rows} rows");
    // Put together they are one batch.
    let (mut ingest, mut joined) =
        (Ingest::for_diagnosis().with_threads(3).with_least_for_thread(4), Outcome::default());
    for messages in messages.chunks(300) {
        messages.iter().for_each(|message| ingest.feed(message.clone()));
        let mut batch = ingest.take();
        std::iter::from_fn(|| ingest.more()).for_each(|behind| batch.append(behind));
        joined.add(batch);
    }
    joined.faults.sort();
    joined.beyond_sites = ingest.calls_beyond_sites();
    assert_eq!(difference(&joined, &expected), None);
    // Without a budget for what waits nothing is read at once, and what there is no room for is counted alike.
    let scarce =
        |threads| Ingest::for_diagnosis().within(30_000).with_threads(threads).with_least_for_thread(1);
    assert_eq!(outcome(&messages, 300, scarce(3)).0.losses, outcome(&messages, 300, scarce(1)).0.losses);
}
