//! Rows that arrive while a subscription goes through a run.

use super::super::stored::{Stored, add};
use super::*;
use crate::programs::moment::Moment;
use mpiscope_feed::CallSource;
use mpiscope_protocol::Topic;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn bytes_of(batch: Batch) -> Vec<u64> {
    batch.calls.unwrap().bytes.into_iter().map(|bytes| bytes as u64).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// Whatever becomes known when, early or late: each row once, no batch larger than was asked for, and in order but for
    /// rows that are late.
    #[test]
    fn every_row_comes_once_whenever_it_becomes_known(
        early in prop::collection::vec(0_u64..60, 0..40),
        pieces in prop::collection::vec((prop::collection::vec(0_u64..60, 0..12), 0_usize..6), 0..8),
        most in 1_u32..9,
        is_backward in any::<bool>(),
    ) {
        let stored = Stored::default();
        let library = Library::new(Box::new(stored.clone()));
        let mut count = 0;
        // Times lie close together, and numbers tell rows apart that are equal otherwise.
        let mut calls = |ends: &[u64]| {
            let made: Vec<Call> = ends.iter().zip(count..).map(|(&end_ns, bytes)| {
                Call { end_ns: end_ns * 1_000_000, start_ns: 0, bytes, ..Call::default() }
            }).collect();
            count += ends.len() as u64;
            made
        };
        add(&library, &stored, &calls(&early), &[]);
        let complete_ns = 100_000_000;
        library.complete_until(complete_ns);
        let direction = if is_backward { Direction::Backward } else { Direction::Forward };
        let asked = Subscribe { most: Some(most), direction, ..Subscribe::new(Topic::Calls, 1) };
        let filter = Filter::new(&asked, &library, &Moment::default()).unwrap();
        let (from_ns, to_ns) = if is_backward { (complete_ns, 0) } else { (0, complete_ns) };
        let mut position = Position::new(&asked, filter, from_ns, &library);
        let mut seen = Vec::new();
        let mut in_order: Vec<f64> = Vec::new();
        let mut step = |position: &mut Position| {
            let Some(batch) = position.next::<Call>(&library, direction, to_ns).unwrap() else { return false };
            assert!(batch.rows() <= most as usize && batch.missed == 0);
            if batch.late == 0 {
                in_order.extend(&batch.calls.as_ref().unwrap().end_ns);
            }
            seen.extend(bytes_of(batch));
            true
        };
        for (ends, steps) in pieces {
            for _ in 0..steps {
                step(&mut position);
            }
            add(&library, &stored, &calls(&ends), &[]);
        }
        while step(&mut position) || position.at_ns() != to_ns {}
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..count).collect::<Vec<_>>());
        if is_backward {
            in_order.reverse();
        }
        prop_assert!(in_order.is_sorted());
    }
}

/// A source in which a row arrives whenever it is read.
#[derive(Debug)]
struct Restless {
    stored: Stored,
    library: Arc<Mutex<Option<Arc<Library>>>>,
    left: Arc<Mutex<u64>>,
}

impl CallSource for Restless {
    fn visit(&self, range: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        CallSource::visit(&self.stored, range, visitor)?;
        let library = self.library.lock().unwrap().clone().unwrap();
        let mut left = self.left.lock().unwrap();
        if *left > 0 {
            *left -= 1;
            let call = Call { end_ns: 10 + *left, bytes: *left, ..Call::default() };
            add(&library, &self.stored, &[call], &[]);
        }
        Ok(())
    }
}

#[test]
fn rows_that_arrive_while_their_time_is_read_come_once() {
    let (stored, library, left) = (Stored::default(), Arc::default(), Arc::new(Mutex::new(500)));
    let source = Restless { stored: stored.clone(), library: Arc::clone(&library), left };
    let shared = Arc::new(Library::new(Box::new(source)));
    *library.lock().unwrap() = Some(Arc::clone(&shared));
    shared.complete_until(1_000);
    let asked = Subscribe::new(Topic::Calls, 1);
    let filter = Filter::new(&asked, &shared, &Moment::default()).unwrap();
    let mut position = Position::new(&asked, filter, 0, &shared);
    let mut seen = Vec::new();
    for _ in 0..10_000 {
        if let Some(batch) = position.next::<Call>(&shared, Direction::Forward, 1_000).unwrap() {
            seen.extend(bytes_of(batch));
        }
    }
    seen.sort_unstable();
    let mut arrived: Vec<u64> = stored.calls.lock().unwrap().iter().map(|call| call.bytes).collect();
    arrived.sort_unstable();
    assert!(arrived.len() > 10);
    assert_eq!(seen, arrived);
}
