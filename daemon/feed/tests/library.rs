//! Answers about any range are what looking at every call gives.

use crate::support::Plain;
use mpiscope_feed::exchange::{Answer, EventQuestion, Question, RowsQuestion};
use mpiscope_feed::{CallSource, Library, NONE, Overview};
use mpiscope_model::{Call, Nanoseconds, Rank, Site};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

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
            rank: Rank(rank),
            function,
            start_ns,
            end_ns: start_ns + duration_ns,
            peer: Some(Rank(0)),
            bytes: 1,
            count,
            ..Call::default()
        },
    )
}

fn of_calls(range_ns: Range<Nanoseconds>, most: u64) -> Question {
    Question::Calls(RowsQuestion { range_ns, ranks: None, most })
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
        let answer = library.answer(9, &of_calls(range.clone(), 10_000));
        prop_assert_eq!((answer.id, answer.error()), (9, None));
        let overlapping = calls.iter().filter(|call| call.start_ns < range.end && call.end_ns >= range.start).count();
        let found = answer.calls().unwrap();
        prop_assert_eq!((found.total as usize, found.kept(), found.share), (overlapping, overlapping, 1.0));

        let found = library.answer(0, &Question::Timeline(range.clone(), bins)).timeline().unwrap();
        prop_assert!(found.from_ns <= range.start && found.to_ns >= range.end);
        let mut plain: BTreeMap<u32, u64> = BTreeMap::new();
        for call in calls.iter().filter(|call| (found.from_ns..found.to_ns).contains(&call.start_ns)) {
            *plain.entry(u32::from(call.function)).or_default() += 1;
        }
        let sums = found.counts.0.chunks(found.bins as usize).map(|counts| counts.iter().sum::<f64>() as u64);
        prop_assert_eq!(found.functions.0.iter().copied().zip(sums).collect::<BTreeMap<_, _>>(), plain);

        let found = library.answer(0, &Question::Count(range.clone())).count().unwrap();
        let began = calls.iter().filter(|call| range.contains(&call.start_ns)).count();
        prop_assert_eq!(found.calls.0.iter().sum::<f64>() as usize, began);

        let found = library.answer(0, &Question::History(range.clone())).history().unwrap();
        let ended = calls.iter().filter(|call| range.contains(&call.end_ns)).count();
        prop_assert_eq!(found.total as usize, ended);
        prop_assert_eq!(found.count.0.iter().sum::<f64>() as usize, ended);
    }
}

proptest! {
    /// Each moment at which a call of some ranks begins, one after the other, and the same ones back again.
    #[test]
    fn one_walks_from_call_to_call_both_ways(
        calls in prop::collection::vec(call(), 0..60),
        hidden in 1..4_u32,
        (first, last) in (0..9_u32, 0..9_u32),
    ) {
        let library = library(&calls);
        let is_asked_for =
            |call: &&Call| (first..=last).contains(&call.rank.0) && u32::from(call.function) != hidden;
        let mut begins: Vec<u64> = calls.iter().filter(is_asked_for).map(|call| call.start_ns).collect();
        begins.sort_unstable();
        begins.dedup();
        let walk = |mut at_ns: u64, is_back: bool| {
            let mut met = Vec::new();
            loop {
                let ranks = Some(vec![(Rank(first), Rank(last))]);
                let question = EventQuestion { at_ns, is_back, ranks, hidden: vec![hidden] };
                let found = library.answer(5, &Question::Event(question)).event().unwrap();
                let Some(next_ns) = found.at_ns else { break met };
                let is_it = |call: &&Call| call.start_ns == next_ns && call.rank.0 == found.rank;
                let call = calls.iter().filter(is_asked_for).find(is_it).unwrap();
                let is_less = |other: &Call| other.start_ns == next_ns && other.rank < call.rank;
                assert!(!calls.iter().filter(is_asked_for).any(is_less));
                met.push(next_ns);
                at_ns = next_ns;
            }
        };
        // One that begins with the run does not begin after its start.
        let after: Vec<u64> = begins.iter().copied().filter(|at_ns| *at_ns > 0).collect();
        prop_assert_eq!(walk(0, false), after);
        begins.reverse();
        prop_assert_eq!(walk(u64::MAX, true), begins);
    }
}

#[test]
fn calls_of_some_ranks_are_counted_and_told_alone() {
    let calls: Vec<Call> = (0..1_000_u64)
        .map(|number| Call {
            rank: Rank((number % 10) as u32),
            site: (number % 2 == 1).then_some(Site(number as u32 % 4)),
            start_ns: number,
            end_ns: number + 5,
            ..Call::default()
        })
        .collect();
    let library = library(&calls);
    let ask = |ranks, most| {
        let question = RowsQuestion { range_ns: 0..u64::MAX, ranks, most };
        library.answer(1, &Question::Calls(question)).calls().unwrap()
    };
    let some = ask(Some(vec![(Rank(2), Rank(3)), (Rank(9), Rank(9))]), 10_000);
    assert_eq!((some.total, some.share), (300, 1.0));
    assert!(some.rank.0.iter().all(|rank| [2, 3, 9].contains(rank)));
    let known = some.rank.0.iter().zip(&some.site.0);
    assert!(known.into_iter().all(|(rank, site)| (rank % 2 == 0) == (*site == NONE)));
    let few = ask(Some(vec![(Rank(2), Rank(3)), (Rank(9), Rank(9))]), 100);
    assert_eq!(few.total, 300);
    assert!((60..150).contains(&few.kept()), "{}", few.kept());
    assert_eq!(ask(Some(Vec::new()), 100).total, 0);
    assert_eq!(ask(None, 10_000).total, 1_000);
}

#[test]
fn the_same_range_gives_the_same_sample_and_all_that_are_long() {
    let calls: Vec<Call> = (0..50_000_u64)
        .map(|number| Call {
            rank: Rank((number % 4) as u32),
            function: 2,
            start_ns: number * 1_000,
            end_ns: number * 1_000 + if number % 1_000 == 0 { 50_000 } else { 300 + number % 90 },
            ..Call::default()
        })
        .collect();
    let library = library(&calls);
    let ask = || library.answer(1, &of_calls(0..u64::MAX, 1_000)).calls().unwrap();
    let sample = ask();
    assert_eq!(sample, ask());
    assert!((800..1_200).contains(&sample.kept()), "{}", sample.kept());
    assert_eq!(sample.duration_ns.0.iter().filter(|duration| **duration == 50_000.0).count(), 50);
    let seen = |short: &&f64| **short >= sample.all_from_ns as f64;
    assert_eq!(sample.duration_ns.0.iter().filter(seen).count(), 50);
}

#[test]
fn what_cannot_be_read_is_reported() {
    let library = Library::new(Box::new(Broken));
    let answer = library.answer(3, &of_calls(0..5, 5));
    assert_eq!(answer, Answer::new(3, Err("the disk is gone".to_owned())));
    assert_eq!(library.answer(4, &Question::Ping), Answer::new(4, Ok(None)));
}
