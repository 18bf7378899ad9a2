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
        assert_eq!(consumer.lost_calls(), u64::from(!second));
    });
}

#[test]
fn whoever_is_paused_stops_at_the_next_call_and_what_it_made_is_counted() {
    loom::model(|| {
        let shared = Arc::new((
            RingHeader::new(),
            [SlotCell::new(), SlotCell::new(), SlotCell::new(), SlotCell::new()],
        ));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut producer = Producer::new(&shared.0, &shared.1);
                let written = (0..2).filter(|_| producer.push(&[], &[1; 4], 1)).count() as u64;
                (producer, written)
            })
        };
        let mut consumer = Consumer::new(&shared.0, &shared.1, None);
        consumer.pause(true);
        let (mut producer, written) = writer.join().unwrap();
        assert!(!producer.push_row(&[1; 4]) && !producer.push(&[], &[1; 4], 1), "it was told before");
        assert_eq!(consumer.paused_calls(), 3 - written);
        consumer.pause(false);
        assert!(producer.push(&[], &[1; 4], 1));
        let mut out = Vec::new();
        consumer.read(8, &mut out).unwrap();
        assert_eq!(out.iter().filter(|slot| slot[0] == 1).count() as u64, written + 1);
        assert_eq!(consumer.lost_calls(), 0);
    });
}

#[test]
fn whoever_is_asked_to_tell_anew_does_so_after_the_next_slow_call() {
    loom::model(|| {
        let shared = Arc::new((
            RingHeader::new(),
            [SlotCell::new(), SlotCell::new(), SlotCell::new(), SlotCell::new()],
        ));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut producer = Producer::new(&shared.0, &shared.1);
                assert!(producer.push(&[], &[1; 4], 1));
                producer.begins_anew();
                producer
            })
        };
        let consumer = Consumer::new(&shared.0, &shared.1, None);
        consumer.ask_anew();
        let mut producer = writer.join().unwrap();
        let (told, _) = consumer.told_anew();
        assert!(told == 1 || !producer.push_row(&[1; 4]), "the way that is fast leads past it");
        assert!(producer.push(&[], &[1; 4], 1));
        assert_eq!(producer.begins_anew(), told == 0);
        let (now_told, from) = consumer.told_anew();
        assert_eq!((now_told, from), (1, if told == 0 { 2 } else { 1 }));
        assert!(producer.push(&[], &[1; 4], 1) && producer.push_row(&[1; 4]));
    });
}
