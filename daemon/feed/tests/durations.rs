//! How long calls took is what counting them one by one says.

use crate::support::{Plain, RANKS, UNTIL_NS, call, row};
use mpiscope_feed::exchange::{DurationsQuestion, Question, Ranks};
use mpiscope_feed::{CallDurations, Library, Overview, RankRow};
use mpiscope_model::{Call, Function, Rank};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;

fn library(calls: &[Call]) -> Library {
    let overview = Overview::default();
    overview.add(calls);
    let library = Library::new(Box::new(Plain(calls.to_vec()))).with_overview(overview);
    // That is read in several slices.
    library.set_rank_rows(vec![RankRow { calls: 5 << 20, ..row(0) }], RANKS, UNTIL_NS);
    library
}

fn ask(library: &Library, question: DurationsQuestion) -> CallDurations {
    let answer = library.answer(1, &Question::Durations(question));
    assert_eq!(answer.error(), None);
    answer.durations().unwrap()
}

fn question(range_ns: Range<u64>, ranks: Ranks, function: Option<Function>) -> DurationsQuestion {
    DurationsQuestion { range_ns, ranks, function, listed_ns: 0..0, most: 10 }
}

/// The bin of a duration, and how many calls of some have it.
fn counted<'a>(calls: impl Iterator<Item = &'a Call>, bins: &[u32]) -> Vec<f64> {
    let mut counts = vec![0.0; bins.len()];
    for call in calls {
        // Sixteenths of an octave are exact, and so are quarters of them.
        let bin = u32::from(mpiscope_matching::duration_bin(call.each_ns())) / 4;
        counts[bins.binary_search(&bin).unwrap()] += 1.0;
    }
    counts
}

proptest! {
    #[test]
    fn counts_are_those_of_the_calls(
        calls in prop::collection::vec(call(), 0..80),
        (from, span) in (0..900_u64, 0..500_u64),
        (first, last) in (0..RANKS, 0..RANKS),
        function in prop::option::of(1..4_u16),
    ) {
        let (range, ranks) = (from..from + span, first.min(last)..=first.max(last));
        let library = library(&calls);
        let of_ranks = Some(vec![(Rank(*ranks.start()), Rank(*ranks.end()))]);
        let found = ask(&library, question(range.clone(), of_ranks, function));
        let asked = || calls.iter().filter(|call| function.is_none_or(|function| call.function == function));
        let selected = || asked().filter(|call| range.contains(&call.start_ns) && ranks.contains(&call.rank.0));
        prop_assert_eq!(&found.selected.0, &counted(selected(), &found.bin.0));
        prop_assert_eq!(&found.run.0, &counted(asked(), &found.bin.0));
        prop_assert_eq!((found.longest.total, found.longest.kept()), (0, 0));
        let all = ask(&library, question(0..u64::MAX, None, function));
        prop_assert_eq!(&all.selected, &all.run);
        prop_assert_eq!((all.bin, all.run), (found.bin, found.run));
    }

    #[test]
    fn listed_are_the_longest_between_two_durations(
        calls in prop::collection::vec(call(), 0..80),
        (from, span) in (0..900_u64, 0..500_u64),
        (low, more) in (0..200_u64, 0..100_u64),
        most in 1..20_u32,
    ) {
        let listed_ns = low..low + more;
        let asked = DurationsQuestion { listed_ns: listed_ns.clone(), most, ..question(from..from + span, None, Some(2)) };
        let found = ask(&library(&calls), asked).longest;
        let mut expected: Vec<_> = calls
            .iter()
            .filter(|call| call.function == 2 && (from..from + span).contains(&call.start_ns))
            .filter(|call| listed_ns.contains(&call.each_ns()))
            .map(|call| (Reverse(call.each_ns()), call.start_ns, call.rank.0))
            .collect();
        expected.sort_unstable();
        prop_assert_eq!(found.total, expected.len() as u64);
        expected.truncate(most as usize);
        let listed: Vec<_> = (0..found.kept())
            .map(|at| {
                let each_ns = found.duration_ns.0[at] as u64 / found.count.0[at] as u64;
                (Reverse(each_ns), found.start_ns.0[at] as u64, found.rank.0[at])
            })
            .collect();
        prop_assert_eq!(&listed, &expected);
        let is_all = found.kept() as u64 == found.total;
        prop_assert_eq!((found.share, found.all_from_ns), if is_all { (1.0, 0) } else { (0.0, expected.last().unwrap().0.0) });
    }
}

#[test]
fn nothing_is_read_that_nobody_waits_for_any_more() {
    let library = library(&[Call { end_ns: 9, function: 1, ..Call::default() }]);
    let question = Question::Durations(question(0..5, None, None));
    let answer = library.answer_while(1, &question, &|| false);
    assert!(answer.error().is_some() && answer.durations().is_none());
}
