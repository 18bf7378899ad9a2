//! Answers about any range are what looking at every call gives.

use mpiscope_feed::exchange::{Answer, Question};
use mpiscope_feed::{CallSource, Library, Overview};
use mpiscope_model::{Call, Nanoseconds};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Debug)]
struct Plain(Vec<Call>);

impl CallSource for Plain {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let within = |call: &&Call| call.start_ns < range.end && call.end_ns >= range.start;
        self.0.iter().filter(within).for_each(visitor);
        Ok(())
    }
}

#[derive(Debug)]
struct Broken;

impl CallSource for Broken {
    fn visit(&self, _: &Range<Nanoseconds>, _: &mut dyn FnMut(&Call)) -> Result<(), String> {
        Err("the disk is gone".to_owned())
    }
}

fn call() -> impl Strategy<Value = Call> {
    (0..9_u32, 1..4_u16, 0..2_000_000_000_u64, 0..90_000_000_u64, 1..3_u64).prop_map(
        |(rank, function, start_ns, duration_ns, count)| Call {
            rank,
            function,
            start_ns,
            end_ns: start_ns + duration_ns,
            peer: Some(0),
            bytes: 1,
            count,
            ..Call::default()
        },
    )
}

fn library(calls: &[Call]) -> Library {
    let overview = Overview::default();
    calls.chunks(7).for_each(|some| overview.add(some));
    Library::new(Box::new(Plain(calls.to_vec()))).with_overview(overview)
}

proptest! {
    #[test]
    fn they_are_what_every_call_says(
        calls in prop::collection::vec(call(), 0..300),
        from in 0..2_200_000_000_u64,
        span in 0..2_200_000_000_u64,
        bins in 1..3_000_u32,
    ) {
        let library = library(&calls);
        let range = from..from + span;
        let answer = library.answer(9, &Question::Calls(range.clone(), 10_000));
        prop_assert_eq!((answer.id, &answer.error), (9, &None));
        let overlapping = calls.iter().filter(|call| call.start_ns < range.end && call.end_ns >= range.start).count();
        let found = answer.calls.unwrap();
        prop_assert_eq!((found.total as usize, found.kept(), found.share), (overlapping, overlapping, 1.0));

        let found = library.answer(0, &Question::Timeline(range.clone(), bins)).timeline.unwrap();
        prop_assert!(found.from_ns <= range.start && found.to_ns >= range.end);
        let mut plain: BTreeMap<u32, u64> = BTreeMap::new();
        for call in calls.iter().filter(|call| (found.from_ns..found.to_ns).contains(&call.start_ns)) {
            *plain.entry(u32::from(call.function)).or_default() += 1;
        }
        let sums = found.counts.0.chunks(found.bins as usize).map(|counts| counts.iter().sum::<f64>() as u64);
        prop_assert_eq!(found.functions.0.iter().copied().zip(sums).collect::<BTreeMap<_, _>>(), plain);

        let found = library.answer(0, &Question::Count(range.clone())).count.unwrap();
        let began = calls.iter().filter(|call| range.contains(&call.start_ns)).count();
        prop_assert_eq!(found.calls.0.iter().sum::<f64>() as usize, began);

        let found = library.answer(0, &Question::History(range.clone())).history.unwrap();
        let ended = calls.iter().filter(|call| range.contains(&call.end_ns)).count();
        prop_assert_eq!(found.total as usize, ended);
        prop_assert_eq!(found.count.0.iter().sum::<f64>() as usize, ended);
    }
}

#[test]
fn the_same_range_gives_the_same_sample_and_all_that_are_long() {
    let calls: Vec<Call> = (0..50_000_u64)
        .map(|number| Call {
            rank: (number % 4) as u32,
            function: 2,
            start_ns: number * 1_000,
            end_ns: number * 1_000 + if number % 1_000 == 0 { 50_000 } else { 300 + number % 90 },
            ..Call::default()
        })
        .collect();
    let library = library(&calls);
    let ask = || library.answer(1, &Question::Calls(0..u64::MAX, 1_000)).calls.unwrap();
    let sample = ask();
    assert_eq!(sample, ask());
    assert!((800..1_200).contains(&sample.kept()), "{}", sample.kept());
    assert_eq!(sample.duration_ns.0.iter().filter(|duration| **duration == 50_000.0).count(), 50);
    let seen = |short: &&f64| **short >= sample.all_from_ns as f64;
    assert_eq!(sample.duration_ns.0.iter().filter(seen).count(), 50);
}

#[test]
fn what_cannot_be_read_is_said() {
    let library = Library::new(Box::new(Broken));
    let answer = library.answer(3, &Question::Calls(0..5, 5));
    assert_eq!(answer, Answer { error: Some("the disk is gone".to_owned()), ..Answer::to(3) });
    assert_eq!(library.answer(4, &Question::Ping), Answer::to(4));
}
