//! Both ends of a ring in every interleaving of two threads.

use super::*;
use loom::sync::Arc;
use loom::thread;

#[test]
fn every_interleaving_keeps_order_and_counts() {
    loom::model(|| {
        let shared = Arc::new((RingHeader::new(), [SlotCell::new(), SlotCell::new()]));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut producer = Producer::new(&shared.0, &shared.1);
                let first = producer.push(&[[2, 1, 1, 1]], &[1, 1, 1, 1], 1);
                let second = producer.push(&[], &[1, 2, 2, 2], 1);
                (first, second)
            })
        };
        let mut consumer = Consumer::new(&shared.0, &shared.1, None);
        let mut out = Vec::new();
        for _ in 0..2 {
            consumer.read(8, &mut out).unwrap();
            consumer.release();
            thread::yield_now();
        }
        let (first, second) = writer.join().unwrap();
        consumer.read(8, &mut out).unwrap();
        assert!(first);
        let mut expected = vec![[2, 1, 1, 1], [1, 1, 1, 1]];
        if second {
            expected.push([1, 2, 2, 2]);
        }
        assert_eq!(out, expected);
        assert_eq!(consumer.dropped_calls(), u64::from(!second));
    });
}

fn four() -> Arc<(RingHeader, [SlotCell; 4])> {
    Arc::new((RingHeader::new(), std::array::from_fn(|_| SlotCell::new())))
}

#[test]
fn whoever_is_paused_stops_at_the_next_call_and_what_it_made_is_counted() {
    loom::model(|| {
        let shared = four();
        let watcher = {
            let shared = shared.clone();
            thread::spawn(move || Consumer::new(&shared.0, &shared.1, None).pause(true))
        };
        let mut producer = Producer::new(&shared.0, &shared.1);
        let written = (0..2).filter(|_| producer.push(&[], &[1; 4], 1)).count() as u64;
        watcher.join().unwrap();
        assert!(!producer.push_row(&[1; 4]) && !producer.push(&[], &[1; 4], 1), "it was reported before");
        let mut consumer = Consumer::new(&shared.0, &shared.1, None);
        assert_eq!(consumer.paused_calls(), 3 - written);
        consumer.pause(false);
        // As long as there is room for it and for the word that calls are left out.
        let last = producer.push(&[], &[1; 4], 1);
        let mut out = Vec::new();
        consumer.read(8, &mut out).unwrap();
        assert_eq!(out.iter().filter(|slot| slot[0] == 1).count() as u64, written + u64::from(last));
        assert!(last);
        assert_eq!(consumer.dropped_calls(), 0);
    });
}

#[test]
fn whoever_is_asked_to_tell_anew_does_so_after_the_next_call() {
    loom::model(|| {
        let shared = four();
        let watcher = {
            let shared = shared.clone();
            thread::spawn(move || Consumer::new(&shared.0, &shared.1, None).ask_anew())
        };
        let mut producer = Producer::new(&shared.0, &shared.1);
        assert!(producer.push(&[], &[1; 4], 1));
        let at_once = producer.begins_anew();
        watcher.join().unwrap();
        let consumer = Consumer::new(&shared.0, &shared.1, None);
        assert!(at_once || !producer.push_row(&[1; 4]), "the way that is fast leads past it");
        assert!(producer.push(&[], &[1; 4], 1));
        assert_eq!(producer.begins_anew(), !at_once);
        assert_eq!(consumer.told_anew(), (1, if at_once { 1 } else { 2 }));
        assert!(producer.push(&[], &[1; 4], 1) && producer.push_row(&[1; 4]));
    });
}
