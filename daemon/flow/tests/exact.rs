//! The outcome is that of the operator without threads, whoever does it.

use crate::support::program::{Program, steps};
use crate::support::{fed_over, flowed, flowed_over, killed_after, windowed};
use mpiscope_diagnosis::BudgetOptions;
use mpiscope_flow::{FlowError, FlowOptions};
use mpiscope_matching::{Counts, Matcher};
use mpiscope_model::{Batch, Event, Rank};
use proptest::prelude::*;

/// Windows as long as several calls, or so short that those of sums have to be joined.
fn window_ns() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(500_u64), 1 => Just(10)]
}

fn options(workers: usize, window_ns: u64, as_bytes: bool) -> FlowOptions {
    let budget = BudgetOptions { window_ns, patience_ns: 5_000, ..BudgetOptions::default() };
    FlowOptions { workers, neighbours: 1, as_bytes, budget, most_calls: 20, ..FlowOptions::default() }
}

/// Times from lengths of slices.
fn times(lengths: &[u64]) -> Vec<u64> {
    lengths
        .iter()
        .scan(0, |at, length| {
            *at += length;
            Some(*at)
        })
        .collect()
}

fn counted(batches: &[Batch], window_ns: u64) -> Counts {
    let mut counts = Counts::new(window_ns);
    batches.iter().for_each(|batch| counts.calls(&batch.calls));
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_same_batches_lead_to_the_same(
        steps in steps(),
        slices in proptest::collection::vec(0_u64..4_000, 0..30),
        order in proptest::collection::vec(0_usize..20, 1..20),
        behind in any::<bool>(),
        (workers, window_ns) in (1_usize..=4, window_ns()),
        as_bytes in any::<bool>(),
    ) {
        let batches = Program::from_steps(&steps).batches(&times(&slices), &order, behind);
        let options = options(workers, window_ns, as_bytes);
        let (found, _) = flowed(&batches, &options);
        let expected = windowed(&batches, &options);
        prop_assert_eq!(found.differences(&expected), Vec::<String>::new());
    }

    #[test]
    fn neither_batches_nor_order_nor_workers_matter(
        steps in steps(),
        slices in proptest::collection::vec(100_u64..4_000, 0..30),
        order in proptest::collection::vec(0_usize..20, 1..20),
        (workers, window_ns) in (1_usize..=4, window_ns()),
    ) {
        let program = Program::from_steps(&steps);
        let options = options(workers, window_ns, false);
        let (found, _) = flowed(&program.batches(&times(&slices), &order, false), &options);
        let expected = windowed(&program.batches(&[], &[0], false), &options);
        let (found, expected) = (found.however_it_came(), expected.however_it_came());
        prop_assert_eq!(found.differences(&expected), Vec::<String>::new());
    }

    #[test]
    fn processes_do_not_matter(
        steps in steps(),
        slices in proptest::collection::vec(0_u64..4_000, 0..30),
        order in proptest::collection::vec(0_usize..20, 1..20),
        behind in any::<bool>(),
        (processes, workers, window_ns) in (2_usize..=3, 1_usize..=2, window_ns()),
    ) {
        let batches = Program::from_steps(&steps).batches(&times(&slices), &order, behind);
        let options =
            FlowOptions { counts_window_ns: Some(700), ..options(workers, window_ns, false) };
        let (found, counts) = flowed_over(processes, &batches, &options);
        let expected = windowed(&batches, &options);
        prop_assert_eq!(found.differences(&expected), Vec::<String>::new());
        let (mut counts, mut expected) = (counts.unwrap(), counted(&batches, 700));
        prop_assert_eq!(counts.take_windows(u64::MAX), expected.take_windows(u64::MAX));
        let received: u64 = counts.ranks().map(|(_, totals)| totals.received).sum();
        prop_assert_eq!(received, found.messages);
    }

    /// Each process feeds what it reads, whoever analyses it.
    #[test]
    fn whoever_feeds_does_not_matter(
        steps in steps(),
        slices in proptest::collection::vec(0_u64..4_000, 0..30),
        order in proptest::collection::vec(0_usize..20, 1..20),
        behind in any::<bool>(),
        (processes, workers, window_ns) in (2_usize..=4, 1_usize..=2, window_ns()),
        (ranks, takes_turns, from) in (1_u32..8, any::<bool>(), 0_usize..40),
    ) {
        let batches = Program::from_steps(&steps).batches(&times(&slices), &order, behind);
        let options = FlowOptions {
            counts_window_ns: Some(700),
            fed_by_others: Some(ranks),
            ..options(workers, window_ns, false)
        };
        let others = processes - 1;
        let feeds = |rank: Rank| 1 + if takes_turns { rank.index() % others } else { rank.index() / 2 % others };
        let (found, counts) = fed_over(processes, &batches, &options, (from.min(batches.len()), feeds));
        let expected = windowed(&batches, &options);
        prop_assert_eq!(found.differences(&expected), Vec::<String>::new());
        let (mut counts, mut expected) = (counts.unwrap(), counted(&batches, 700));
        prop_assert_eq!(counts.take_windows(u64::MAX), expected.take_windows(u64::MAX));
    }

    /// Those that are left begin again.
    #[test]
    fn whichever_process_is_killed_whenever_nothing_is_missing_afterwards(
        steps in steps(),
        slices in proptest::collection::vec(0_u64..4_000, 0..30),
        (processes, workers, window_ns) in (2_usize..=3, 1_usize..=2, window_ns()),
        (killed, after) in (0_usize..2, 0_usize..40),
    ) {
        let batches = Program::from_steps(&steps).batches(&times(&slices), &[0, 3, 1], false);
        let options = options(workers, window_ns, false);
        let killed = 1 + killed % (processes - 1);
        let failed = killed_after(after.min(batches.len()), killed, processes, &batches, &options);
        // Others may sooner say that they miss it, and end.
        prop_assert!(matches!(failed, FlowError::Lost(_)), "{failed}");
        let (found, _) = flowed_over(processes - 1, &batches, &options);
        prop_assert_eq!(found.differences(&windowed(&batches, &options)), Vec::<String>::new());
    }

    /// Where all is one window, a single matcher that takes events rank by rank has to find the same messages.
    #[test]
    fn receivers_may_be_shared_out(steps in steps(), workers in 1_usize..=4, as_bytes in any::<bool>()) {
        let batches = Program::from_steps(&steps).batches(&[], &[0], false);
        let budget = BudgetOptions { window_ns: u64::MAX / 4, ..BudgetOptions::default() };
        let (found, _) = flowed(&batches, &FlowOptions { budget, ..options(workers, 500, as_bytes) });
        let mut events: Vec<_> = batches.iter().flat_map(|batch| batch.events.iter().copied()).collect();
        events.sort_by_key(Event::rank);
        let mut matcher = Matcher::default();
        let mut matched = matcher.feed(&events);
        matched.append(matcher.finish());
        prop_assert_eq!(found.messages, matched.messages.len() as u64);
        prop_assert_eq!(found.uncertain, matched.uncertain);
        prop_assert_eq!(found.unmatched, (matcher.unmatched_sends(), matcher.unmatched_receives()));
    }

    #[test]
    fn calls_and_messages_are_counted(
        steps in steps(),
        slices in proptest::collection::vec(0_u64..4_000, 0..10),
        workers in 1_usize..=4,
        as_bytes in any::<bool>(),
    ) {
        let batches = Program::from_steps(&steps).batches(&times(&slices), &[1, 2, 3], false);
        let options = FlowOptions { counts_window_ns: Some(700), ..options(workers, 500, as_bytes) };
        let (found, counts) = flowed(&batches, &options);
        let mut counts = counts.unwrap();
        let mut expected = counted(&batches, 700);
        prop_assert_eq!(counts.take_windows(u64::MAX), expected.take_windows(u64::MAX));
        let received: u64 = counts.ranks().map(|(_, totals)| totals.received).sum();
        prop_assert_eq!(received, found.messages);
        for (rank, totals) in expected.ranks() {
            prop_assert_eq!(counts.rank(rank).calls, totals.calls);
            prop_assert_eq!(counts.rank(rank).time_ns, totals.time_ns);
        }
    }
}
