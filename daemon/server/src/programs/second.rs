//! A second recording for programs, on the clock of the first.
//!
//! Its rows are read in its own time, in the same way as those of the first. Only what a client asks and what it receives
//! is moved from one clock to the other. What must hold: the order of rows, and that each comes once.

use super::moment::Moment;
use mpiscope_feed::{Library, TimeMap};
use mpiscope_model::Nanoseconds;
use mpiscope_protocol::{Batch, Begin, Jump, OwnTimes, Recording, Reply, SecondRun, Subscribe, Topic};
use std::sync::Arc;

/// The second recording.
#[derive(Debug)]
pub struct SecondRecording {
    /// What can be asked about it. All of it is known.
    pub library: Arc<Library>,
    /// From its own time to the clock of the first.
    pub map: TimeMap,
    /// What clients learn about it.
    pub about: SecondRun,
}

impl SecondRecording {
    /// A subscription to it, with times as its own.
    ///
    /// # Errors
    /// One sentence about what it does not have.
    pub(super) fn asked(&self, asked: &Subscribe) -> Result<Subscribe, String> {
        if matches!(asked.what, Topic::Findings | Topic::Verdicts) {
            return Err(
                "findings and verdicts are of recording a; b has calls, messages and windows".to_owned()
            );
        }
        let from = match asked.from {
            Begin::TimeNs(time_ns) if time_ns >= 0.0 => Begin::TimeNs(self.map.to_b(time_ns).round()),
            from => from,
        };
        Ok(Subscribe { from, ..asked.clone() })
    }

    /// A moment of the first, in which the shared clock is at this time, as one of the second.
    pub(super) fn moment(&self, of_a: &Moment, clock_ns: f64) -> Moment {
        let end_ns = self.about.run_ns as Nanoseconds;
        Moment {
            complete_ns: self.library.last_ns().max(end_ns).saturating_add(1),
            is_over: true,
            clock_ns: self.map.to_b(clock_ns).round() as Nanoseconds,
            is_moving: of_a.is_moving,
            jumps: of_a.jumps,
            // At the end of the first, what the second has beyond it comes too.
            is_clock_at_end: of_a.is_clock_at_end,
            ..Moment::default()
        }
    }

    /// A reply about its rows, on the clock of the first.
    pub(super) fn on_clock_of_a(&self, reply: Reply) -> Reply {
        match reply {
            Reply::Batch(batch) => Reply::Batch(self.batch(batch)),
            Reply::Jump(Jump { id, from_ns, to_ns }) => {
                Reply::Jump(Jump { id, from_ns: self.map.to_a(from_ns), to_ns: self.map.to_a(to_ns) })
            }
            reply => reply,
        }
    }

    fn batch(&self, mut batch: Batch) -> Batch {
        let mut own = OwnTimes::default();
        if let Some(calls) = &mut batch.calls {
            own = self.times(&mut calls.start_ns, &mut calls.end_ns);
        } else if let Some(messages) = &mut batch.messages {
            own = self.times(&mut messages.send_ns, &mut messages.receive_ns);
            self.column(&mut messages.known_ns);
        } else if let Some(windows) = &mut batch.windows {
            own = self.times(&mut windows.from_ns, &mut windows.to_ns);
        }
        (batch.from_ns, batch.to_ns) = (self.map.to_a(batch.from_ns), self.map.to_a(batch.to_ns));
        Batch { recording: Some(Recording::B), own: Some(Box::new(own)), ..batch }
    }

    /// Moves both columns, and gives them as they were.
    fn times(&self, from_ns: &mut [f64], to_ns: &mut [f64]) -> OwnTimes {
        let own = OwnTimes { from_ns: from_ns.to_vec(), to_ns: to_ns.to_vec() };
        self.column(from_ns);
        self.column(to_ns);
        own
    }

    fn column(&self, times_ns: &mut [f64]) {
        times_ns.iter_mut().for_each(|time_ns| *time_ns = self.map.to_a(*time_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::super::stored::{Stored, add};
    use super::super::subscription::Subscription;
    use super::*;
    use mpiscope_model::Call;
    use mpiscope_protocol::{Direction, Pace};

    /// Calls every 100 ns, in a run that takes twice as long as the first until 1,000 ns.
    fn second() -> SecondRecording {
        let stored = Stored::default();
        let library = Library::new(Box::new(stored.clone()));
        let call = |at: u64| Call { start_ns: 100 * at + 50, end_ns: 100 * at + 90, ..Call::default() };
        add(&library, &stored, &(0..20).map(call).collect::<Vec<_>>(), &[]);
        let map = TimeMap::through([(1_000, 500)].into_iter());
        let about = SecondRun { run_ns: 2_000.0, ..SecondRun::default() };
        SecondRecording { library: Arc::new(library), map, about }
    }

    fn batches(second: &SecondRecording, asked: &Subscribe, of_a: &Moment, clock_ns: f64) -> Vec<Batch> {
        let moment = second.moment(of_a, clock_ns);
        let asked = second.asked(asked).unwrap();
        let mut subscription = Subscription::new(&asked, &second.library, &moment).unwrap();
        let mut batches = Vec::new();
        while let Some(Reply::Batch(batch)) = subscription.next(&second.library, &moment).unwrap() {
            let Reply::Batch(batch) = second.on_clock_of_a(Reply::Batch(batch)) else { unreachable!() };
            batches.push(batch);
        }
        batches
    }

    fn ends(batches: &[Batch]) -> Vec<f64> {
        batches.iter().flat_map(|batch| batch.calls.as_ref().unwrap().end_ns.clone()).collect()
    }

    #[test]
    fn each_row_comes_once_on_the_clock_of_the_first_and_in_its_own_time() {
        let second = second();
        let asked = Subscribe { most: Some(3), recording: Recording::B, ..Subscribe::new(Topic::Calls, 1) };
        let forward = batches(&second, &asked, &Moment::default(), 0.0);
        let expected: Vec<f64> = (0..20)
            .map(|at| f64::from(100 * at + 90))
            .map(|own| if own < 1_000.0 { own / 2.0 } else { own - 500.0 })
            .collect();
        assert_eq!(ends(&forward), expected);
        assert!(forward.iter().all(|batch| batch.recording == Some(Recording::B)));
        let own: Vec<f64> =
            forward.iter().flat_map(|batch| batch.own.as_ref().unwrap().to_ns.clone()).collect();
        assert_eq!((own[0], own[19]), (90.0, 1_990.0));
        for pair in forward.windows(2) {
            assert!(pair[0].to_ns <= pair[1].from_ns && pair[1].from_ns < pair[1].to_ns);
        }
        let asked = Subscribe { direction: Direction::Backward, ..asked };
        let mut backward = ends(&batches(&second, &asked, &Moment::default(), 0.0));
        backward.reverse();
        assert_eq!(backward, expected);
    }

    #[test]
    fn a_subscription_begins_at_a_time_of_the_first() {
        let second = second();
        let asked = Subscribe { from: Begin::TimeNs(500.0), ..Subscribe::new(Topic::Calls, 1) };
        assert_eq!(ends(&batches(&second, &asked, &Moment::default(), 0.0))[0], 590.0);
        let clock = Subscribe { from: Begin::Clock, ..asked };
        assert_eq!(ends(&batches(&second, &clock, &Moment::default(), 250.0))[0], 295.0);
    }

    #[test]
    fn in_step_with_the_shared_clock_it_has_what_is_until_then() {
        let second = second();
        let asked = Subscribe { pace: Pace::Clock, ..Subscribe::new(Topic::Calls, 1) };
        let start = second.moment(&Moment::default(), 0.0);
        let mut subscription = Subscription::new(&asked, &second.library, &start).unwrap();
        let later = second.moment(&Moment::default(), 100.0);
        let Some(Reply::Batch(batch)) = subscription.next(&second.library, &later).unwrap() else { panic!() };
        assert_eq!(ends(&[second.batch(batch)]), [45.0, 95.0]);
        let end = second.moment(&Moment { is_clock_at_end: true, ..Moment::default() }, 600.0);
        let Some(Reply::Batch(batch)) = subscription.next(&second.library, &end).unwrap() else { panic!() };
        assert_eq!(ends(&[second.batch(batch)]).len(), 18);
    }

    #[test]
    fn what_was_found_is_of_the_first() {
        assert!(second().asked(&Subscribe::new(Topic::Findings, 1)).unwrap_err().contains("recording a"));
    }
}
