//! What is answered about the messages of a range: which they are, how they went, and their criteria.

use crate::support::StoredMessages;
use mpiscope_diagnosis::{CollectiveCriterion, CollectiveKey, MessageCriterion, Scope, Version, size_bin};
use mpiscope_feed::exchange::{CoursesQuestion, Question, Ranks, RowsQuestion};
use mpiscope_feed::{
    CallSource, Courses, FunctionName, Library, MessageRows, Messages, NO_SITE, NONE, Remap, RemapSource,
    SiteSource, Sites, SourceText,
};
use mpiscope_model::{Call, Comm, Message, Nanoseconds, Rank, Site};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
struct NoCalls;

impl CallSource for NoCalls {
    fn visit(&self, _: &Range<Nanoseconds>, _: &mut dyn FnMut(&Call)) -> Result<(), String> {
        Ok(())
    }
}

fn library(messages: Vec<Message>) -> Library {
    let messages = Messages {
        source: Box::new(StoredMessages { messages, ..StoredMessages::default() }),
        flow: |_| None,
    };
    let named = |id| FunctionName { id, name: "MPI_Bcast", family: "rooted" };
    Library::new(Box::new(NoCalls)).with_messages(messages).with_functions((0..1_000).map(named))
}

fn message(src: u32, dst: u32, send_ns: u64, recv_ns: u64) -> Message {
    Message {
        src: Rank(src),
        dst: Rank(dst),
        tag: -3,
        comm: Comm(4),
        bytes: 64,
        send_ns,
        recv_ns,
        t_msg_ns: recv_ns.saturating_sub(send_ns),
        late_sender_ns: 2,
        late_receiver_ns: (src == 0).then_some(5),
        inter: src / 2 != dst / 2,
        exact: dst == 1,
    }
}

fn rows(library: &Library, range_ns: Range<u64>, ranks: Ranks, most: u64) -> MessageRows {
    let answer = library.answer(3, &Question::Messages(RowsQuestion { range_ns, ranks, most }));
    assert_eq!(answer.error(), None);
    answer.messages().unwrap()
}

fn courses(library: &Library, range_ns: Range<u64>, ranks: Ranks, bins: u32) -> Courses {
    let answer = library.answer(3, &Question::Courses(CoursesQuestion { range_ns, ranks, bins }));
    assert_eq!(answer.error(), None);
    answer.courses().unwrap()
}

fn some_message() -> impl Strategy<Value = Message> {
    (0..5_u32, 0..5_u32, 0..900_u64, 0..200_u64)
        .prop_map(|(src, dst, send_ns, long)| message(src, dst, send_ns, send_ns + long))
}

proptest! {
    #[test]
    fn messages_count_if_some_part_of_them_is_there(
        messages in prop::collection::vec(some_message(), 0..150),
        (from, span) in (0..1_000_u64, 0..600_u64),
        (first, last) in (0..5_u32, 0..5_u32),
        most in 1..80_u64,
    ) {
        let library = library(messages.clone());
        let range = from..from + span;
        let is_there = |message: &&Message| message.send_ns < range.end && message.recv_ns >= range.start;
        let is_of = |rank: u32| (first..=last).contains(&rank);
        let mut plain: Vec<(u64, u64, u32, u32)> = messages
            .iter()
            .filter(|message| is_there(message) && (is_of(message.src.0) || is_of(message.dst.0)))
            .map(|message| (message.send_ns, message.recv_ns, message.src.0, message.dst.0))
            .collect();
        plain.sort_unstable();
        let listed = |rows: &MessageRows| -> Vec<(u64, u64, u32, u32)> {
            let at = |row: usize| {
                (rows.send_ns.0[row] as u64, rows.recv_ns.0[row] as u64, rows.src.0[row], rows.dst.0[row])
            };
            (0..rows.src.0.len()).map(at).collect()
        };
        let all = rows(&library, range.clone(), Some(vec![(Rank(first), Rank(last))]), 10_000);
        prop_assert_eq!((all.total, all.share), (plain.len() as u64, 1.0));
        prop_assert_eq!(listed(&all), plain.clone());
        let some = rows(&library, range, Some(vec![(Rank(first), Rank(last))]), most);
        let kept = plain.len().min(most as usize);
        prop_assert_eq!((some.total, some.src.0.len()), (plain.len() as u64, kept));
        prop_assert!(plain.is_empty() || (some.share - kept as f64 / plain.len() as f64).abs() < 1e-12);
        // Each of them as often at the most as there are.
        let mut left = plain;
        for row in listed(&some) {
            let at = left.iter().position(|other| *other == row);
            prop_assert!(at.is_some());
            at.map(|at| left.swap_remove(at));
        }
    }
}

#[test]
fn a_message_comes_with_all_that_is_known_of_it() {
    let library = library(vec![message(0, 1, 10, 30), message(1, 2, 40, 48)]);
    let found = rows(&library, 0..100, None, 10);
    assert_eq!((found.from_ns, found.to_ns, found.total, found.share), (0, 100, 2, 1.0));
    assert_eq!((found.tag.0, found.comm.0), (vec![(-3_i32).cast_unsigned(); 2], vec![4, 4]));
    assert_eq!((found.bytes.0, found.t_msg_ns.0), (vec![64.0; 2], vec![20.0, 8.0]));
    assert_eq!((found.late_sender_ns.0, found.late_receiver_ns.0[0]), (vec![2.0; 2], 5.0));
    assert!(found.late_receiver_ns.0[1].is_nan());
    assert_eq!((found.is_inter.0, found.is_exact.0), (vec![0, 1], vec![1, 0]));
    assert!(found.latency.0.iter().all(|latency| latency.is_nan()));
    let criterion = MessageCriterion::of_size(Scope::Intra, 64, 40, 8);
    library.use_criteria(Version::new(vec![criterion], Vec::new()), false);
    let found = rows(&library, 0..100, None, 10);
    assert_eq!(found.latency.0[0], 2.5);
    assert!(found.latency.0[1].is_nan());
}

#[test]
fn courses_are_reported_bin_by_bin() {
    // In each of two bins rank 0 sends within its node, in the second it does so twice and to the other node.
    let messages = vec![
        message(0, 1, 0, 10),
        message(0, 1, 50, 60),
        message(0, 1, 50, 70),
        message(0, 2, 50, 90),
        message(0, 1, 0, 100),
    ];
    let library = library(messages);
    let found = courses(&library, 0..100, None, 2);
    assert_eq!((found.width_ns, found.bins, found.messages, found.left_out), (50, 2, 4, 0));
    assert_eq!((found.intra.0, found.inter.0), (vec![1.0, 2.0], vec![0.0, 1.0]));
    assert_eq!((found.intra_bytes.0, found.inter_bytes.0), (vec![64.0, 128.0], vec![0.0, 64.0]));
    // 3, 2 and 1 messages: 2 in the mean, 2/3 away from it in the mean.
    assert_eq!((found.uneven.0[0], found.greatest_load.0[0], found.greatest_rank.0[0]), (0.0, 0.0, 0));
    assert!((found.uneven.0[1] - 1.0 / 3.0).abs() < 1e-12 && (found.greatest_load.0[1] - 1.5).abs() < 1e-12);
    assert_eq!(found.greatest_rank.0[1], 0);
    assert_eq!(found.sizes.len(), 1);
    assert_eq!((found.sizes[0].from, found.sizes[0].to, found.sizes[0].messages), (50, 100, 1));
    assert!(found.sizes[0].is_inter && found.slow.0[0].is_nan() && found.slow.0[1] == 1.0);
    // One bin varies by nothing that is known.
    assert_eq!(found.calmest, None);

    let found = courses(&library, 0..100, Some(vec![(Rank(1), Rank(1))]), 2);
    assert_eq!((found.intra.0, found.inter.0), (vec![1.0, 2.0], vec![0.0, 0.0]));
    assert_eq!((found.greatest_load.0, found.greatest_rank.0), (vec![0.0, 0.0], vec![1, 1]));
    assert_eq!((found.sizes[0].is_inter, found.calmest), (false, Some(0)));
    assert!((found.slow.0[0] - 0.75).abs() < 1e-12 && (found.slow.0[1] - 1.125).abs() < 1e-12);

    let found = courses(&library, 200..300, None, 512);
    assert_eq!((found.bins, found.width_ns, found.messages), (100, 1, 0));
    assert!(found.uneven.0.iter().chain(&found.greatest_load.0).all(|bin| bin.is_nan()));
    assert!(found.greatest_rank.0.iter().all(|rank| *rank == NONE) && found.sizes.is_empty());
}

#[test]
fn a_question_that_was_replaced_is_given_up() {
    let library = library((0..1_000).map(|at| message(0, 1, at, at + 5)).collect());
    for question in [
        Question::Messages(RowsQuestion { range_ns: 0..5_000, ranks: None, most: 10 }),
        Question::Courses(CoursesQuestion { range_ns: 0..5_000, ranks: None, bins: 10 }),
    ] {
        let looks = AtomicUsize::new(0);
        let is_wanted = || looks.fetch_add(1, Ordering::Relaxed) < 3;
        let answer = library.answer_while(1, &question, &is_wanted);
        assert_eq!(answer.error(), Some("a newer question took its place"));
        assert_eq!(looks.load(Ordering::Relaxed), 4);
        assert_eq!(library.answer(2, &question).error(), None);
    }
}

#[test]
fn criteria_are_reported_with_their_version() {
    let library = library(Vec::new());
    let ask = || library.answer(1, &Question::Criteria).criteria().unwrap();
    assert_eq!((ask().version, ask().is_final, ask().median_ns.0), (0, false, Vec::new()));
    let of = |scope, bytes, median_ns| MessageCriterion::of_size(scope, bytes, 40, median_ns);
    let messages = vec![of(Scope::Inter, 120, 900), of(Scope::Intra, 300, 70), of(Scope::Intra, 10, 60)];
    let key = CollectiveKey { function: 8, ranks: 4, bin: size_bin(64), is_root: true };
    let version = Version::new(messages, vec![CollectiveCriterion { key, samples: 33, median_ns: 5_000 }]);
    library.use_criteria(version.clone(), false);
    let found = ask();
    assert_eq!((found.version, found.is_final), (1, false));
    assert_eq!((found.is_inter.0, found.size_from.0), (vec![0, 0, 1], vec![0.0, 300.0, 100.0]));
    assert_eq!((found.size_to.0, found.median_ns.0), (vec![50.0, 350.0, 150.0], vec![60.0, 70.0, 900.0]));
    assert_eq!(found.samples.0, [40.0; 3]);
    let of_function = &found.functions[0];
    assert_eq!((of_function.function, of_function.name.as_str(), of_function.ranks), (8, "MPI_Bcast", 4));
    assert_eq!((of_function.bytes, of_function.is_root, of_function.samples), (50, true, 33));
    // The same again is no other version, though it is the last now.
    library.use_criteria(version, true);
    assert_eq!((ask().version, ask().is_final), (1, true));
}

#[derive(Debug)]
struct Around;

impl SiteSource for Around {
    fn sites(&self) -> Sites {
        let words = ["main.c:9 main()", "main.c:42 solve()"].map(str::to_owned);
        let parent = [NO_SITE, 3].into_iter().collect();
        Sites { id: [3, 7].into_iter().collect(), place: words.into(), parent, ..Sites::default() }
    }

    fn source_text(&self, site: Site) -> Result<SourceText, String> {
        Err(format!("the source of {site} is gone"))
    }
}

impl RemapSource for Around {
    fn remap(&self) -> Result<Remap, String> {
        Err("all ranks are on one node".to_owned())
    }
}

#[test]
fn what_the_program_around_knows_is_handed_on_or_said_to_be_unknown() {
    let alone = library(Vec::new());
    for question in [Question::Sites, Question::SourceText(Site(7)), Question::Remap] {
        assert!(
            alone.answer(1, &question).error().is_some_and(|error| error.ends_with("here")),
            "{question:?}"
        );
    }
    let library = library(Vec::new()).with_sites(Box::new(Around)).with_remap(Box::new(Around));
    let sites = library.answer(1, &Question::Sites).sites().unwrap();
    assert_eq!(sites.place, ["main.c:9 main()", "main.c:42 solve()"]);
    // Nothing of MPI is called from a place on the way.
    assert_eq!(library.call_sites(), [(7, "main.c:42 solve()".to_owned())]);
    let text = library.answer(1, &Question::SourceText(Site(7)));
    assert_eq!(text.error(), Some("the source of 7 is gone"));
    assert_eq!(library.answer(1, &Question::Remap).error(), Some("all ranks are on one node"));
}
