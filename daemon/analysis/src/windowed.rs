//! Matching and budget, window by window: what ended in a window is handed on when all of it is in, and not before.
//! So the result depends neither on how the input was cut into batches nor on which rank came first.

use crate::{BudgetOptions, Budgeter, Matched, Matcher, ToReceiver, Version};
use mpiscope_model::{Batch, Event, Nanoseconds};

/// The operator.
#[derive(Debug)]
pub struct Windowed {
    window_ns: u64,
    /// Pairs sends with receives.
    pub matcher: Matcher,
    /// Cuts calls into what they were made of.
    pub budgeter: Budgeter,
    /// Events whose calls returned after the last window that was settled.
    later: Vec<(Nanoseconds, Event)>,
}

impl Windowed {
    /// An operator that learns its criteria.
    #[must_use]
    pub fn new(options: BudgetOptions) -> Self {
        Self {
            window_ns: options.window_ns.max(1),
            matcher: Matcher::default().with_links(),
            budgeter: Budgeter::new(options),
            later: Vec::new(),
        }
    }

    /// Judges everything by these criteria.
    #[must_use]
    pub fn with_criteria(mut self, version: Version) -> Self {
        self.budgeter = self.budgeter.with_criteria(version);
        self
    }

    /// Takes in more, then settles all windows before `until_ns`, when everything is in that ended before it.
    pub fn feed(&mut self, batch: &Batch, until_ns: Nanoseconds) -> Matched {
        self.take(batch);
        let mut all = Matched::default();
        // The scheduler's figures for a window come within the next one.
        let until_ns = until_ns.saturating_sub(self.window_ns);
        while self.budgeter.settled_ns() + self.window_ns <= until_ns {
            if self.later.is_empty() && self.budgeter.next_window_end_ns().is_none() {
                self.budgeter.skip(until_ns);
                break;
            }
            self.window(self.budgeter.settled_ns() + self.window_ns, &mut all);
        }
        all
    }

    /// The input is over.
    pub fn finish(&mut self) -> Matched {
        let mut all = Matched::default();
        // Whoever still waits for another side does so for as long as it would have in the middle of the run.
        while !self.later.is_empty() || self.budgeter.next_window_end_ns().is_some() {
            self.window(self.budgeter.settled_ns() + self.window_ns, &mut all);
        }
        all.append(self.matcher.finish());
        all
    }

    fn take(&mut self, batch: &Batch) {
        debug_assert_eq!(
            batch.events.len(),
            batch.events_end_ns.len(),
            "made by an ingest that is to be judged"
        );
        for info in &batch.ranks {
            self.matcher.place(info.rank, info.node);
            self.budgeter.place(info.rank, info.node);
        }
        batch.comms.iter().for_each(|comm| self.budgeter.comm(comm));
        self.budgeter.feed(&batch.activities, &Matched::default(), &batch.scheduling);
        self.later.extend(batch.events_end_ns.iter().copied().zip(batch.events.iter().copied()));
    }

    fn window(&mut self, until_ns: Nanoseconds, all: &mut Matched) {
        let mut now = Vec::with_capacity(self.later.len());
        self.later.retain(|(end_ns, event)| {
            let is_later = *end_ns >= until_ns;
            if !is_later {
                let (of, other) = ToReceiver::of(*event);
                now.push(of);
                now.extend(other);
            }
            is_later
        });
        let matched = self.matcher.feed_window(&now);
        self.budgeter.feed(&[], &matched, &[]);
        self.budgeter.settle(until_ns);
        all.append(matched);
    }
}
