//! What is called from where is what adding up calls one by one says, and agrees with the figures of the same selection.

use crate::support::{Plain, RANKS, StoredMessages, UNTIL_NS, call, row};
use mpiscope_feed::exchange::{Question, SelectedQuestion};
use mpiscope_feed::{Library, Messages, NO_SITE, RankRow, SiteTimes};
use mpiscope_model::{Call, Rank, Site};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn library(calls: &[Call]) -> Library {
    let messages = Messages { source: Box::new(StoredMessages::default()), flow: |_| None };
    let library = Library::new(Box::new(Plain(calls.to_vec()))).with_messages(messages);
    // That is read in several slices.
    library.set_rank_rows(vec![RankRow { calls: 5 << 20, ..row(0) }], RANKS, UNTIL_NS);
    library
}

fn placed() -> impl Strategy<Value = Call> {
    (call(), prop::option::of((0_u32..3).prop_map(Site))).prop_map(|(call, site)| Call { site, ..call })
}

fn rows(times: &SiteTimes) -> BTreeMap<(u32, u32), (f64, f64, f64)> {
    let keys = times.site.0.iter().copied().zip(times.function.0.iter().copied());
    let figures = times.calls.0.iter().zip(&times.bytes.0).zip(&times.time_ns.0);
    keys.zip(figures.map(|((calls, bytes), time_ns)| (*calls, *bytes, *time_ns))).collect()
}

proptest! {
    #[test]
    fn sums_are_those_of_the_calls(
        calls in prop::collection::vec(placed(), 0..80),
        (from, span) in (0..900_u64, 0..500_u64),
        (first, last) in (0..RANKS, 0..RANKS),
        hidden in prop::option::of(1..4_u32),
    ) {
        let (range_ns, ranks) = (from..from + span, first.min(last)..=first.max(last));
        let question = SelectedQuestion {
            range_ns: range_ns.clone(),
            ranks: Some(vec![(Rank(*ranks.start()), Rank(*ranks.end()))]),
            hidden: hidden.into_iter().collect(),
        };
        let library = library(&calls);
        let answer = library.answer(1, &Question::SiteTimes(question.clone()));
        prop_assert_eq!(answer.error(), None);
        let mut expected: BTreeMap<(u32, u32), (f64, f64, f64)> = BTreeMap::new();
        let is_asked = |call: &&Call| ranks.contains(&call.rank.0) && hidden != Some(call.function.into());
        for call in calls.iter().filter(is_asked) {
            let inside = call.end_ns.min(range_ns.end).saturating_sub(call.start_ns.max(range_ns.start));
            let begins = range_ns.contains(&call.start_ns);
            if call.start_ns < range_ns.end && call.end_ns >= range_ns.start && span > 0 {
                let key = (call.site.map_or(NO_SITE, |site| site.0), call.function.into());
                let of = expected.entry(key).or_default();
                of.0 += f64::from(begins);
                of.1 += if begins { call.bytes as f64 } else { 0.0 };
                of.2 += inside as f64;
            }
        }
        let is_something = |(_, figures): &((u32, u32), (f64, f64, f64))| figures.0 + figures.2 > 0.0;
        let found = rows(&answer.site_times().unwrap());
        let found: BTreeMap<_, _> = found.into_iter().filter(is_something).collect();
        let expected: BTreeMap<_, _> = expected.into_iter().filter(is_something).collect();
        prop_assert_eq!(&found, &expected);
        // The figures of the same selection by function.
        let selected = library.answer(2, &Question::Selected(question)).selected().unwrap();
        let all: f64 = found.values().map(|figures| figures.2).sum();
        prop_assert_eq!(all, selected.mpi_time_ns as f64);
        let all: f64 = found.values().map(|figures| figures.0).sum();
        prop_assert_eq!(all, selected.calls as f64);
    }
}
