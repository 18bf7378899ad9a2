//! What a run comes to is the same whoever reads the calls of which rank.

#[path = "../../ingest/tests/random_jobs.rs"]
mod random_jobs;
mod ring_job;

use mpiscope_engine::{Counter, Divided, Division, Engine, Step, Sums, WindowCell};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Call, Event, Message, Rank};
use mpiscope_wire as wire;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// All that it comes to, in an order that does not depend on who reads.
#[derive(Default)]
struct Outcome {
    rows: BTreeMap<Rank, Vec<Call>>,
    activities: BTreeMap<Rank, Vec<Activity>>,
    events: BTreeMap<Rank, Vec<Event>>,
    messages: Vec<Message>,
    windows: BTreeMap<(u64, Rank, u16), u64>,
    sums: Sums,
}

impl Outcome {
    fn take(&mut self, step: Step) {
        let Step { calls, messages, windows, batch, counted, .. } = step;
        match &counted {
            Some(counted) => self.sums.add_counted(counted, &messages, &windows),
            None => self.sums.add(&calls, &messages, &windows),
        }
        calls.into_iter().for_each(|row| self.rows.entry(row.rank).or_default().push(row));
        batch.activities.into_iter().for_each(|of| self.activities.entry(of.rank).or_default().push(of));
        batch.events.into_iter().for_each(|of| self.events.entry(of.rank()).or_default().push(of));
        self.messages.extend(messages);
        for ((window, rank, function), totals) in windows as Vec<WindowCell> {
            *self.windows.entry((window, rank, function)).or_default() += totals.calls;
        }
    }

    /// All figures, and what is known of the run.
    fn figures(&self, engine: &Engine) -> String {
        let Engine { totals, losses, comms, sites, coordinates, ranks, until_ns, last_calls, .. } = engine;
        let mut missing = engine.missing();
        missing.sort();
        let summary = self.sums.summary(&engine.counts, &engine.processors);
        let cost_s = engine.cost().0 as f32;
        format!(
            "{totals:?} {losses:?} {comms:?} {sites:?} {coordinates:?} {ranks:?} {until_ns} {last_calls:?} {missing:?} {summary:?} {cost_s}"
        )
    }
}

fn alone(messages: &[wire::Message]) -> (Outcome, Engine) {
    let mut engine = Engine::for_diagnosis(100_000);
    let mut outcome = Outcome::default();
    for message in messages {
        engine.feed(message.clone()).into_iter().for_each(|step| outcome.take(step));
    }
    engine.finish().into_iter().for_each(|step| outcome.take(step));
    (outcome, engine)
}

/// With readers, each with this number of threads, and messages in pieces of this size.
fn read_by(
    messages: &[wire::Message],
    (readers, threads, at_once): (usize, usize, usize),
) -> (Outcome, Engine) {
    let mut engine = Engine::for_diagnosis(100_000);
    let mut division = Division::new(readers);
    let mut counters: Vec<Counter> = (0..readers).map(|_| Counter::new(100_000, threads)).collect();
    let mut outcome = Outcome::default();
    for piece in messages.chunks(at_once) {
        for message in piece {
            match division.divide(message.clone()) {
                Divided::ForAll(message) => {
                    counters.iter_mut().for_each(|counter| counter.feed(message.clone()));
                    engine.feed_on(message);
                }
                Divided::ForNone(message) => engine.feed_on(message),
                Divided::ForOne(reader, message, rest) => {
                    if let Some(rest) = rest {
                        let others = (0..readers).filter(|other| *other != reader);
                        others.for_each(|other| counters[other].feed(rest.clone()));
                        engine.feed_on(rest);
                    }
                    counters[reader].feed(message);
                }
            }
        }
        if piece.iter().any(Ingest::settles) {
            let mut batch = engine.take();
            let counted = counters.iter_mut().map(|counter| {
                let (counted, read) = counter.take();
                batch.take_rows(read);
                counted
            });
            let counted = counted.collect();
            outcome.take(engine.settle_counted(batch, counted));
        }
    }
    let mut batch = engine.take_rest();
    let counted = counters.iter_mut().map(|counter| {
        let (counted, read) = counter.finish();
        batch.take_rows(read);
        counted
    });
    let counted = counted.collect();
    engine.finish_counted(batch, counted).into_iter().for_each(|step| outcome.take(step));
    (outcome, engine)
}

/// What differs, if anything does; all of it would be pages.
fn difference(
    (one, one_engine): &(Outcome, Engine),
    (other, other_engine): &(Outcome, Engine),
) -> Option<String> {
    if one.rows != other.rows {
        return Some("rows".into());
    }
    if one.activities != other.activities {
        return Some("activities".into());
    }
    if one.events != other.events {
        return Some("events".into());
    }
    let sorted = |messages: &[Message]| {
        let mut sorted: Vec<String> = messages.iter().map(|message| format!("{message:?}")).collect();
        sorted.sort();
        sorted
    };
    if sorted(&one.messages) != sorted(&other.messages) {
        return Some("messages".into());
    }
    if one.windows != other.windows {
        return Some("windows".into());
    }
    let figures = [one.figures(one_engine), other.figures(other_engine)];
    (figures[0] != figures[1]).then(|| figures.join("\n\n"))
}

proptest! {
    #[test]
    fn readers_threads_and_batches_do_not_matter(
        choices in proptest::collection::vec(any::<u64>(), 1..60),
        readers in 1_usize..6,
        threads in 1_usize..3,
        at_once in 1_usize..80,
    ) {
        let messages = random_jobs::messages(&choices);
        let read = read_by(&messages, (readers, threads, at_once));
        prop_assert_eq!(difference(&read, &alone(&messages)), None);
    }
}

#[test]
fn a_long_job_comes_to_the_same() {
    let choices: Vec<u64> = (1..600_u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let messages = random_jobs::messages(&choices);
    let expected = alone(&messages);
    assert!(expected.1.totals.calls > 1_000, "{:?}", expected.1.totals);
    assert!(expected.1.losses.unreadable > 100 && expected.1.comms.len() > 2 && !expected.1.sites.is_empty());
    for readers in [1, 2, 5] {
        assert_eq!(difference(&read_by(&messages, (readers, 2, 97)), &expected), None);
    }
}

#[test]
fn messages_between_readers_are_matched() {
    let messages = ring_job::messages();
    let expected = alone(&messages);
    assert_eq!(expected.1.totals.messages, expected.1.totals.calls / 2);
    for readers in [1, 3] {
        assert_eq!(difference(&read_by(&messages, (readers, 2, 5)), &expected), None);
    }
}
