//! Both ends of a ring in one thread.

use super::*;
use proptest::prelude::*;

fn cells(count: usize) -> Vec<SlotCell> {
    (0..count).map(|_| SlotCell::new()).collect()
}

#[test]
fn while_paused_nothing_is_written_and_what_was_made_is_counted_apart() {
    let (header, slots) = (RingHeader::new(), cells(64));
    let mut producer = Producer::new(&header, &slots);
    let mut consumer = Consumer::new(&header, &slots, None);
    let row = [1, 2, 3, 4];
    assert!(producer.push(&[], &row, 1));
    consumer.pause(true);
    assert!(!producer.push_row(&row) && !producer.stage(&row), "at once, though there is room");
    assert!(!producer.push(&[], &row, 1) && !producer.push(&[row], &row, 5));
    assert_eq!((consumer.paused_calls(), consumer.dropped_calls(), producer.dropped_calls()), (6, 0, 0));
    consumer.pause(false);
    assert!(producer.push(&[], &row, 1));
    assert!(producer.push_row(&row), "and quickly again");
    let mut out = Vec::new();
    consumer.read(64, &mut out).unwrap();
    assert_eq!(out, [row, Entry::encode_paused(), row, row]);
}

#[test]
fn definitions_are_repeated_after_a_slot_known_to_the_reader() {
    let (header, slots) = (RingHeader::new(), cells(64));
    let mut producer = Producer::new(&header, &slots);
    let consumer = Consumer::new(&header, &slots, None);
    let row = [1, 2, 3, 4];
    assert!(producer.push(&[], &row, 1) && !producer.begins_anew());
    consumer.ask_anew();
    assert!(!producer.push_row(&row), "the way that is fast leads past it");
    assert!(producer.push(&[row], &row, 1) && producer.begins_anew() && !producer.begins_anew());
    assert_eq!(consumer.told_anew(), (1, 3));
    assert!(producer.push(&[], &row, 1) && producer.push_row(&row));
    assert_eq!(producer.dropped_calls(), 0);
}

#[test]
fn the_program_and_the_watcher_pause_apart() {
    let (header, slots) = (RingHeader::new(), cells(64));
    let mut producer = Producer::new(&header, &slots);
    for who in [Pause::Program, Pause::Watcher] {
        header.pause(who, true);
    }
    for who in [Pause::Watcher, Pause::Program] {
        assert!(!producer.push(&[], &[1; 4], 1));
        header.pause(who, false);
    }
    assert!(producer.push(&[], &[1; 4], 1));
    assert_eq!(Consumer::new(&header, &slots, None).paused_calls(), 2);
}

#[test]
fn a_full_ring_drops_the_newest_and_says_so() {
    let (header, slots) = (RingHeader::new(), cells(4));
    let mut producer = Producer::new(&header, &slots);
    let mut consumer = Consumer::new(&header, &slots, None);
    let written = (0..7).filter(|&number| producer.push(&[], &[1, number, 0, 0], 1)).count();
    assert_eq!((written, producer.dropped_calls(), consumer.dropped_calls()), (4, 3, 3));
    let mut out = Vec::new();
    assert_eq!(consumer.read(100, &mut out), Ok(4));
    consumer.release();
    assert!(producer.push(&[], &[1, 9, 0, 0], 1));
    consumer.read(100, &mut out).unwrap();
    assert_eq!(out.iter().map(|slot| slot[1]).collect::<Vec<_>>(), [0, 1, 2, 3, 3, 9]);
    assert_eq!(Entry::decode(&out[4]), Some(Entry::Lost { calls: 3 }));
}

#[test]
fn a_group_is_written_whole_or_not_at_all() {
    let (header, slots) = (RingHeader::new(), cells(4));
    let mut producer = Producer::new(&header, &slots);
    assert!(producer.push(&[[2; 4], [3; 4]], &[1; 4], 1));
    assert!(!producer.push(&[[2; 4]], &[1; 4], 1));
    let mut out = Vec::new();
    let mut consumer = Consumer::new(&header, &slots, None);
    assert_eq!(consumer.read(100, &mut out), Ok(3));
    assert!(!producer.push(&[[2; 4]; 5], &[1; 4], 1), "a group longer than the ring is dropped, not split");
}

#[test]
fn a_dropped_row_counts_the_calls_it_stands_for() {
    let (header, slots) = (RingHeader::new(), cells(2));
    let mut producer = Producer::new(&header, &slots);
    let written = [1_u64, 10, 100, 1000].map(|calls| producer.push(&[], &[1; 4], calls));
    assert_eq!((written, producer.dropped_calls()), ([true, true, false, false], 1100));
}

#[test]
fn positions_that_lie_are_refused() {
    let (header, slots) = (RingHeader::new(), cells(4));
    header.head.store(1_000_000, Ordering::Relaxed);
    let mut consumer = Consumer::new(&header, &slots, None);
    assert_eq!(consumer.read(100, &mut Vec::new()), Err(Corrupt { head: 1_000_000, tail: 0 }));
    let header = RingHeader::new();
    header.tail.store(77, Ordering::Relaxed);
    let mut producer = Producer::new(&header, &slots);
    assert!(!producer.push(&[], &[1; 4], 1), "a tail before any head leaves no room");
}

#[test]
fn staged_slots_are_seen_with_their_row_or_taken_back() {
    let (header, slots) = (RingHeader::new(), cells(4));
    let mut producer = Producer::new(&header, &slots);
    let mut consumer = Consumer::new(&header, &slots, None);
    let mut out = Vec::new();
    assert!(!producer.stage(&[2; 4]), "nothing is sure before the tail was read");
    assert!(producer.push(&[], &[1; 4], 1));
    assert!(producer.stage(&[2; 4]) && producer.stage(&[3; 4]) && !producer.stage(&[4; 4]));
    assert_eq!(consumer.read(9, &mut out).map(|_| out.len()), Ok(1));
    assert!(!consumer.holds(1));
    assert!(producer.push_row(&[5; 4]));
    assert!(consumer.holds(3) && consumer.holds(100), "three of four is much");
    consumer.read(9, &mut out).unwrap();
    consumer.release();
    assert_eq!(out, [[1; 4], [2; 4], [3; 4], [5; 4]]);
    assert!(producer.push(&[], &[6; 4], 1) && producer.stage(&[7; 4]));
    assert_eq!(producer.unstage(), [[7; 4]]);
    assert!(producer.push(&[[8; 4]], &[9; 4], 1));
    out.clear();
    consumer.read(9, &mut out).unwrap();
    assert_eq!(out, [[6; 4], [8; 4], [9; 4]]);
}

proptest! {
    #[test]
    fn what_is_read_is_what_was_written_and_the_rest_is_counted(
        steps in proptest::collection::vec((0_usize..5, 0_usize..9), 1..200),
    ) {
        let (header, slots) = (RingHeader::new(), cells(8));
        let mut producer = Producer::new(&header, &slots);
        let mut consumer = Consumer::new(&header, &slots, None);
        let (mut made, mut expected, mut out) = (0_u64, Vec::new(), Vec::new());
        for (extra, read) in steps {
            made += 1;
            let before = vec![[2, made, 0, 0]; extra];
            if producer.push(&before, &[1, made, 0, 0], 1) {
                expected.extend(before);
                expected.push([1, made, 0, 0]);
            }
            consumer.read(read, &mut out).unwrap();
            consumer.release();
        }
        consumer.read(100, &mut out).unwrap();
        let dropped = producer.dropped_calls();
        let calls = out.iter().filter(|slot| slot[0] == 1).count() as u64;
        prop_assert_eq!(calls + dropped, made);
        out.retain(|slot| slot[0] != 5);
        prop_assert_eq!(out, expected);
    }
}
