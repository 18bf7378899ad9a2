//! What a run comes to is the same whoever reads the calls of a rank.

#[path = "../../ingest/tests/random_jobs.rs"]
mod random_jobs;
mod ring_job;

use mpiscope_engine::{Counted, Counter, Divided, Division, Engine, Step, Sums, WindowCell};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Batch, Call, Event, Message, NumberReader, Numbers as _, Rank};
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
            Some(counted) => self.sums.add_counted(counted, &windows),
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
        let (mut sends, left_out) = engine.unreceived_sends(usize::MAX);
        sends.sort_by_key(|send| (send.src, send.send_ns, send.tag, send.comm, send.dst, send.bytes));
        let summary = self.sums.summary(&engine.counts, &engine.processors);
        let cost_s = engine.cost().0 as f32;
        format!(
            "{totals:?} {losses:?} {comms:?} {sites:?} {coordinates:?} {ranks:?} {until_ns} {last_calls:?} {missing:?} {summary:?} {cost_s} {sends:?} {left_out}"
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

/// With readers, each with this number of threads, and messages in pieces of this size; they say what they have counted after
/// every Nth batch.
fn read_by(
    messages: &[wire::Message],
    (readers, threads, at_once): (usize, usize, usize),
    every: usize,
) -> (Outcome, Engine) {
    let mut engine = Engine::for_diagnosis(100_000);
    let mut division = Division::new(readers);
    let ingest = || Ingest::for_diagnosis().with_threads(threads).with_least_for_thread(8);
    let mut counters: Vec<Counter> = (0..readers).map(|_| Counter::new(readers, 100_000, ingest())).collect();
    let (mut outcome, mut uncounted) = (Outcome::default(), 0);
    for piece in messages.chunks(at_once) {
        for message in piece {
            match division.divide(message.clone()) {
                Divided::ForAll(message) => {
                    counters.iter_mut().for_each(|counter| counter.feed(message.clone()));
                    engine.feed_on(message);
                }
                Divided::ForOne(reader, message, rest) => {
                    let others = (0..readers).filter(|other| *other != reader);
                    others.for_each(|other| counters[other].feed(rest.clone()));
                    engine.feed_on(rest);
                    counters[reader].feed(message);
                }
            }
        }
        if piece.iter().any(Ingest::settles) {
            uncounted = (uncounted + 1) % every;
            let (batch, is_due) = (engine.take(), uncounted == 0);
            let (batch, messages, counted) = counted(&mut counters, batch, (is_due, false));
            outcome.take(engine.settle_counted(batch, messages, counted));
        }
    }
    let batch = engine.take_rest();
    let (batch, messages, counted) = counted(&mut counters, batch, (true, true));
    outcome.take(engine.finish_counted(batch, messages, counted));
    (outcome, engine)
}

/// What all readers found: what is to be shown of it, and their sums.
fn counted(
    counters: &mut [Counter],
    mut batch: Batch,
    (is_due, is_last): (bool, bool),
) -> (Batch, Vec<Message>, Vec<Counted>) {
    let mut take = |counter: &mut Counter| if is_last { counter.take_rest() } else { counter.take() };
    let batches: Vec<Batch> = counters.iter_mut().map(&mut take).collect();
    let mut events_for = vec![Vec::new(); counters.len()];
    for (counter, batch) in counters.iter().zip(&batches) {
        let of_each = counter.events_for_each(&batch.events);
        events_for.iter_mut().zip(of_each).for_each(|(all, own)| all.extend(own));
    }
    let (mut messages, mut counted) = (Vec::new(), Vec::new());
    for ((counter, read), events) in counters.iter_mut().zip(batches).zip(events_for) {
        messages.extend(counter.count(&read, &events, is_last));
        if is_due {
            // As they are on the way between processes.
            let mut numbers = Vec::new();
            counter.counted(is_last).put(&mut numbers);
            counted.push(Counted::get(&mut NumberReader::new(&numbers)).expect("what was written"));
        }
        batch.take_rows(read);
    }
    (batch, messages, counted)
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
        every in 1_usize..5,
    ) {
        let messages = random_jobs::messages(&choices);
        let read = read_by(&random_jobs::packed(&messages, false), (readers, threads, at_once), every);
        prop_assert_eq!(difference(&read, &alone(&messages)), None);
        let damaged = random_jobs::packed(&messages, true);
        let read = read_by(&damaged, (readers, threads, at_once), every);
        prop_assert_eq!(difference(&read, &alone(&damaged)), None);
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
        assert_eq!(difference(&read_by(&messages, (readers, 2, 97), readers), &expected), None);
    }
}

#[test]
fn messages_between_readers_are_matched() {
    let messages = ring_job::messages();
    let mut expected = alone(&messages);
    assert_eq!(expected.1.totals.messages, expected.1.totals.calls / 2);
    let clocks = |engine: &mut Engine| format!("{:?}", engine.solve_clocks());
    for readers in [1, 3] {
        let mut read = read_by(&messages, (readers, 2, 5), 1);
        assert_eq!(difference(&read, &expected), None);
        assert_eq!(clocks(&mut read.1), clocks(&mut expected.1));
    }
    assert!(expected.1.totals.inter_messages > 0);
}
