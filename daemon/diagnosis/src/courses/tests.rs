//! Held against a plain version that keeps all messages.

use super::*;
use crate::{bin_sizes, size_bin};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn message(src: u32, dst: u32, bytes: u64, recv_ns: u64, t_msg_ns: u64, inter: bool) -> Message {
    Message {
        src: Rank(src),
        dst: Rank(dst),
        bytes,
        send_ns: recv_ns.saturating_sub(t_msg_ns),
        recv_ns,
        t_msg_ns,
        inter,
        ..Message::default()
    }
}

fn courses(messages: &[Message], range_ns: Range<u64>, bins: u32) -> MessageCourses {
    let mut courses = MessageCourses::over(range_ns, bins);
    messages.iter().for_each(|message| courses.add(message, |_| true));
    courses
}

/// The messages of a bin.
fn of_bin<'a>(courses: &MessageCourses, messages: &'a [Message], bin: usize) -> Vec<&'a Message> {
    let from_ns = courses.range_ns.start + bin as u64 * courses.width_ns();
    let to_ns = (from_ns + courses.width_ns()).min(courses.range_ns.end);
    messages.iter().filter(|message| (from_ns..to_ns).contains(&message.recv_ns)).collect()
}

/// `AD / mc_avg` and the greatest `LB_p`.
fn plain_balance(messages: &[&Message]) -> Option<(f64, f64)> {
    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
    for message in messages {
        *counts.entry(message.src.0).or_default() += 1.0;
        *counts.entry(message.dst.0).or_default() += 1.0;
    }
    let count = counts.len() as f64;
    let mean = counts.values().sum::<f64>() / count;
    let deviation = counts.values().map(|messages| (messages - mean).abs()).sum::<f64>() / count;
    let greatest = counts.values().map(|messages| (messages - mean).abs()).fold(0.0, f64::max);
    (!counts.is_empty())
        .then(|| (deviation / mean, if deviation > 1e-9 { greatest / deviation } else { 0.0 }))
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}

proptest! {
    #[test]
    fn bins_are_those_of_a_plain_sum(
        inputs in proptest::collection::vec(
            (0_u32..6, 0_u32..6, 0_u64..400, 0_u64..1_200, 0_u64..90, any::<bool>()),
            0..200,
        ),
        (from_ns, length_ns) in (0_u64..300, 1_u64..900),
        bins in 1_u32..40,
    ) {
        let messages: Vec<Message> = inputs
            .iter()
            .map(|&(src, dst, bytes, recv_ns, t_msg_ns, inter)| message(src, dst, bytes, recv_ns, t_msg_ns, inter))
            .collect();
        let range_ns = from_ns..from_ns + length_ns;
        let found = courses(&messages, range_ns.clone(), bins);
        prop_assert!(found.traffic().len() as u32 <= bins);
        prop_assert!(found.traffic().len() as u64 * found.width_ns() >= length_ns);
        let inside: Vec<&Message> = messages.iter().filter(|message| range_ns.contains(&message.recv_ns)).collect();
        prop_assert_eq!((found.messages(), found.left_out()), (inside.len() as u64, 0));
        let balances = found.balances();
        for (bin, traffic) in found.traffic().iter().enumerate() {
            let there = of_bin(&found, &messages, bin);
            let inter = there.iter().filter(|message| message.inter);
            prop_assert_eq!(traffic.inter, inter.clone().count() as u64);
            prop_assert_eq!(traffic.inter_bytes, inter.map(|message| message.bytes).sum::<u64>());
            prop_assert_eq!(traffic.inter + traffic.intra, there.len() as u64);
            match (plain_balance(&there), balances[bin]) {
                (None, None) => {}
                (Some((uneven, greatest)), Some(balance)) => {
                    prop_assert!(is_close(uneven, balance.uneven), "{uneven} {balance:?}");
                    prop_assert!(is_close(greatest, balance.greatest_load), "{greatest} {balance:?}");
                }
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        let is_inter = inside.iter().any(|message| message.inter);
        let mut by_class: BTreeMap<u32, Vec<&Message>> = BTreeMap::new();
        for message in inside.iter().filter(|message| message.inter == is_inter) {
            by_class.entry(size_bin(message.bytes)).or_default().push(message);
        }
        let classes = found.classes();
        prop_assert_eq!(classes.len(), by_class.len().min(MOST_CLASSES));
        for (class, (number, messages)) in classes.iter().zip(&by_class) {
            prop_assert_eq!((class.from, class.to), bin_sizes(*number));
            prop_assert_eq!((class.messages, class.is_inter), (messages.len() as u64, is_inter));
            let mean = |messages: &[&Message]| {
                messages.iter().map(|message| message.t_msg_ns as f64).sum::<f64>() / messages.len() as f64
            };
            for (bin, slow) in class.slow.iter().enumerate() {
                let all: Vec<Message> = messages.iter().map(|message| **message).collect();
                let there = of_bin(&found, &all, bin);
                match slow {
                    Some(slow) => prop_assert!(is_close(*slow, mean(&there) / mean(messages))),
                    None => prop_assert!(there.is_empty() || mean(messages) == 0.0),
                }
            }
        }
    }
}

#[test]
fn the_classes_with_the_most_messages_are_ordered_by_size() {
    let of = |class: u64| (0..=class).map(move |at| message(0, 1, class * 50, at, 5, true));
    let messages: Vec<Message> = (0..12).flat_map(of).chain([message(0, 1, 5, 1, 5, false)]).collect();
    let classes = courses(&messages, 0..100, 4).classes();
    assert_eq!(
        classes.iter().map(|class| class.from).collect::<Vec<_>>(),
        [200, 250, 300, 350, 400, 450, 500, 550]
    );
    assert!(classes.iter().all(|class| class.is_inter));
}

#[test]
fn the_rank_that_stands_out_has_its_distance() {
    // Rank 0 talks with everybody: 3 messages, and 1 of each other.
    let messages = [1, 2, 3].map(|rank| message(0, rank, 8, 10, 5, false));
    let mut only = MessageCourses::over(0..20, 1);
    messages.iter().for_each(|message| only.add(message, |rank| rank != Rank(0)));
    let balance = courses(&messages, 0..20, 1).balances()[0].unwrap();
    assert_eq!((balance.greatest_rank, balance.greatest_load, balance.uneven), (Rank(0), 2.0, 0.5));
    // Without it all are even.
    let balance = only.balances()[0].unwrap();
    assert_eq!((balance.greatest_rank, balance.greatest_load, balance.uneven), (Rank(1), 0.0, 0.0));
    assert_eq!(only.messages(), 3);
}

#[test]
fn a_calm_size_varies_less_and_one_bin_says_nothing() {
    let class = |slow: &[Option<f64>]| SizeClass {
        from: 0,
        to: 50,
        is_inter: true,
        messages: 9,
        slow: slow.to_vec(),
    };
    assert_eq!(class(&[Some(1.0), None]).variation(), None);
    assert_eq!(class(&[Some(1.0), None, Some(1.0)]).variation(), Some(0.0));
    assert_eq!(class(&[Some(0.5), Some(1.5)]).variation(), Some(0.5));
}
