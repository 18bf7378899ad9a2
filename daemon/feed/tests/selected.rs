//! The figures of a selection are what its calls and messages sum to.

use crate::support::{Plain, RANKS, StoredMessages, UNTIL_NS, call, row};
use mpiscope_diagnosis::{MessageCriterion, Scope, Version};
use mpiscope_feed::exchange::{Question, Ranks, SelectedQuestion};
use mpiscope_feed::{Library, Messages, RankRow, Region, Regions, Selected};
use mpiscope_model::{Call, Message, Rank};
use proptest::prelude::*;
use std::ops::Range;

fn message() -> impl Strategy<Value = Message> {
    (0..RANKS, 0..RANKS, 0..900_u64, 1..200_u64).prop_map(|(src, dst, send_ns, t_msg_ns)| Message {
        src: Rank(src),
        dst: Rank(dst),
        bytes: 64,
        send_ns,
        recv_ns: send_ns + t_msg_ns,
        t_msg_ns,
        inter: src / 3 != dst / 3,
        exact: t_msg_ns % 2 == 0,
        ..Message::default()
    })
}

fn library(calls: &[Call], messages: &[Message]) -> Library {
    let messages = StoredMessages { messages: messages.to_vec(), ..StoredMessages::default() };
    let messages = Messages { source: Box::new(messages), flow: |_| None };
    let library = Library::new(Box::new(Plain(calls.to_vec()))).with_messages(messages);
    // That is read in several slices.
    library.set_rank_rows(vec![RankRow { calls: 5 << 20, ..row(0) }], RANKS, UNTIL_NS);
    let region = |id, ranks| Region { id, ranks: vec![ranks], ..Region::default() };
    library
        .set_regions(&Regions { regions: vec![region(4, (0, 2)), region(7, (3, 5))], ..Regions::default() });
    library.use_criteria(
        Version::new(
            vec![MessageCriterion::of_size(Scope::Intra, 64, 40, 100).with_normal(Some(150))],
            Vec::new(),
        ),
        true,
    );
    library
}

fn ask(library: &Library, range_ns: Range<u64>, ranks: Ranks, hidden: &[u32]) -> Selected {
    let question = SelectedQuestion { range_ns, ranks, hidden: hidden.to_vec() };
    let answer = library.answer(1, &Question::Selected(question));
    assert_eq!(answer.error(), None);
    answer.selected().unwrap()
}

fn sums(of: &Selected) -> [u64; 7] {
    let Selected { calls, polls, mpi_time_ns, messages, intra_messages, inter_messages, bytes, .. } = *of;
    [calls, polls, mpi_time_ns, messages, intra_messages, inter_messages, bytes]
}

proptest! {
    #[test]
    fn ranges_one_after_the_other_sum_to_the_run(
        calls in prop::collection::vec(call(), 0..80),
        messages in prop::collection::vec(message(), 0..80),
        cut in 0..1_100_u64,
    ) {
        let library = library(&calls, &messages);
        let parts = [ask(&library, 0..cut, None, &[]), ask(&library, cut..u64::MAX, None, &[])];
        let all = ask(&library, 0..u64::MAX, None, &[]);
        prop_assert_eq!((all.from_ns, all.to_ns), (0, UNTIL_NS));
        let both: Vec<u64> = sums(&parts[0]).iter().zip(sums(&parts[1])).map(|(one, other)| one + other).collect();
        prop_assert_eq!(both, sums(&all).to_vec());
        let time_ns: u64 = calls.iter().map(Call::duration_ns).sum();
        prop_assert_eq!((all.calls, all.mpi_time_ns), (calls.len() as u64, time_ns));
        prop_assert_eq!((all.messages, all.bytes), (messages.len() as u64, 64 * messages.len() as u64));
        for part in [&all, &parts[0], &parts[1]] {
            let of_ranks = [&part.ranks.calls, &part.ranks.mpi_time_ns].map(|column| column.0.iter().sum::<f64>());
            let of_functions = [&part.functions.calls, &part.functions.time_ns].map(|column| column.0.iter().sum::<f64>());
            prop_assert_eq!(of_ranks, of_functions);
            prop_assert_eq!(of_ranks, [part.calls as f64, part.mpi_time_ns as f64]);
            prop_assert_eq!(part.ranks.sent.0.iter().sum::<f64>(), part.messages as f64);
        }
    }

    #[test]
    fn a_selection_has_its_own_calls_and_messages_only(
        calls in prop::collection::vec(call(), 0..80),
        messages in prop::collection::vec(message(), 0..80),
        (from, span) in (0..900_u64, 0..500_u64),
        (first, last) in (0..RANKS, 0..RANKS),
        hidden in 1..4_u16,
    ) {
        let library = library(&calls, &messages);
        let (range, ranks) = (from..from + span, first.min(last)..=first.max(last));
        let of_ranks = Some(vec![(Rank(*ranks.start()), Rank(*ranks.end()))]);
        let found = ask(&library, range.clone(), of_ranks, &[hidden.into()]);
        let begin = |call: &&Call| range.contains(&call.start_ns) && ranks.contains(&call.rank.0);
        let is_shown = |call: &&Call| call.function != hidden;
        prop_assert_eq!(found.calls, calls.iter().filter(begin).filter(is_shown).count() as u64);
        prop_assert_eq!(&found.ranks.rank.0, &ranks.clone().collect::<Vec<_>>());
        for (at, function) in found.functions.function.0.iter().enumerate() {
            let of = || calls.iter().filter(begin).filter(|call| u32::from(call.function) == *function);
            prop_assert_eq!(found.functions.calls.0[at], of().count() as f64);
            let longest_ns = of().map(Call::each_ns).max().unwrap_or_default();
            prop_assert_eq!(found.functions.max_ns.0[at], longest_ns as f64);
        }
        let sent = |message: &&Message| range.contains(&message.send_ns);
        let of = |message: &&Message| ranks.contains(&message.src.0) || ranks.contains(&message.dst.0);
        prop_assert_eq!(found.messages, messages.iter().filter(sent).filter(of).count() as u64);
        for (at, (id, region)) in [(4, 0..=2), (7, 3..=5)].into_iter().enumerate() {
            let inside = |message: &&Message| region.contains(&message.src.0) && region.contains(&message.dst.0);
            let all: Vec<_> = messages.iter().filter(sent).filter(of).filter(inside).collect();
            let exact: Vec<_> = all.iter().filter(|message| message.exact).collect();
            let above = |least_ns| exact.iter().filter(|message| message.t_msg_ns > least_ns).count() as f64;
            prop_assert_eq!(found.regions.id.0[at], id);
            prop_assert_eq!(found.regions.messages.0[at], all.len() as f64);
            prop_assert_eq!((found.regions.exact.0[at], found.regions.delayed.0[at]), (exact.len() as f64, above(150)));
            prop_assert_eq!(found.regions.above_expected.0[at], above(100));
            let sum: f64 = exact.iter().map(|message| message.t_msg_ns as f64 / 100.0).sum();
            let latency = found.regions.latency.0[at];
            let expected = sum / exact.len() as f64;
            prop_assert!((latency - expected).abs() < 1e-9 || (latency.is_nan() && exact.is_empty()));
        }
    }
}

proptest! {
    #[test]
    fn size_classes_are_of_the_messages_of_the_selection(
        messages in prop::collection::vec((message(), 0..2_000_u64), 0..80),
        (from, span) in (0..900_u64, 0..500_u64),
        (first, last) in (0..RANKS, 0..RANKS),
    ) {
        let messages: Vec<Message> =
            messages.into_iter().map(|(message, bytes)| Message { bytes, ..message }).collect();
        let (range, ranks) = (from..from + span, first.min(last)..=first.max(last));
        let of_ranks = Some(vec![(Rank(*ranks.start()), Rank(*ranks.end()))]);
        let sizes = ask(&library(&[], &messages), range.clone(), of_ranks, &[]).sizes;
        let mut expected = Vec::new();
        let (mut class, mut least, mut beyond) = (0, 0, 1);
        while least < 2_048 {
            let is_meant = |message: &&Message| {
                range.contains(&message.send_ns)
                    && (ranks.contains(&message.src.0) || ranks.contains(&message.dst.0))
                    && (least..beyond).contains(&message.bytes)
            };
            let bytes: Vec<u64> = messages.iter().filter(is_meant).map(|message| message.bytes).collect();
            if !bytes.is_empty() {
                expected.push((class, bytes.len() as f64, bytes.iter().sum::<u64>() as f64));
            }
            (class, least, beyond) = (class + 1, beyond, 2 * beyond);
        }
        let columns = sizes.class.0.into_iter().zip(sizes.messages.0).zip(sizes.bytes.0);
        let found: Vec<_> = columns.map(|((class, messages), bytes)| (class, messages, bytes)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn without_a_diagnosis_the_missing_budget_has_a_reason() {
    let found = ask(&library(&[], &[]), 0..100, None, &[]);
    assert_eq!((found.budget, found.budget_missing.as_str()), (None, "where time went is not known yet"));
}
