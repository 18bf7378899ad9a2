//! Matching and budget, window by window: a window is handed on when all of it is in. The result depends neither on
//! how the input was cut into batches nor on which rank came first.

use crate::budget::{BudgetOptions, Budgeter};
use crate::criteria::Version;
use mpiscope_matching::{Matched, Matcher, WindowEvents, by_window};
use mpiscope_model::{Batch, Event, Nanoseconds};
use std::collections::BTreeMap;

/// The operator.
#[derive(Debug)]
pub struct Windowed {
    window_ns: u64,
    /// Pairs sends with receives.
    pub matcher: Matcher,
    /// Cuts calls into what they were made of.
    pub budgeter: Budgeter,
    /// By window that is not settled, the events whose calls returned in it.
    later: BTreeMap<u64, WindowEvents>,
    /// Room for those of one window, as they came and by rank.
    spare: WindowEvents,
    now: Vec<Event>,
}

impl Windowed {
    /// An operator that learns its criteria.
    #[must_use]
    pub fn new(options: BudgetOptions) -> Self {
        Self {
            window_ns: options.window_ns.max(1),
            matcher: Matcher::default().with_links(),
            budgeter: Budgeter::new(options),
            later: BTreeMap::new(),
            spare: WindowEvents::default(),
            now: Vec::new(),
        }
    }

    /// Uses these criteria throughout.
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
            match self.next_end_ns().filter(|&end_ns| end_ns <= until_ns) {
                Some(end_ns) => self.window(end_ns, &mut all),
                None => self.budgeter.skip(until_ns),
            }
        }
        all
    }

    /// The input is over.
    pub fn finish(&mut self) -> Matched {
        let mut all = Matched::default();
        // Whoever still waits for another side does so for as long as it would have in the middle of the run.
        while let Some(end_ns) = self.next_end_ns() {
            self.window(end_ns, &mut all);
        }
        all.append(self.matcher.finish());
        all
    }

    /// The end of the next window in which anything happens; none when nothing is left.
    fn next_end_ns(&self) -> Option<Nanoseconds> {
        let events = self.later.keys().next().map(|window| (window + 1).saturating_mul(self.window_ns));
        events.into_iter().chain(self.budgeter.next_window_end_ns()).min()
    }

    fn take(&mut self, batch: &Batch) {
        debug_assert_eq!(batch.events.len(), batch.events_end_ns.len(), "made by an ingest for diagnosis");
        for info in &batch.ranks {
            self.matcher.place(info.rank, info.node);
            self.budgeter.place(info.rank, info.node);
        }
        batch.comms.iter().for_each(|comm| self.budgeter.comm(comm));
        self.budgeter.feed(&batch.activities, &Matched::default(), &batch.scheduling);
        self.budgeter.collect(&batch.collected);
        // What returned in a window that is settled already belongs to the next one.
        let next = self.budgeter.settled_ns() / self.window_ns;
        for (window, events) in by_window(batch, self.window_ns, next) {
            let later = self.later.entry(window);
            later.or_insert_with(|| std::mem::take(&mut self.spare)).add(events);
        }
    }

    /// Settles the window that ends then, and skips those before it.
    fn window(&mut self, until_ns: Nanoseconds, all: &mut Matched) {
        self.budgeter.skip(until_ns - self.window_ns);
        let mut now = std::mem::take(&mut self.now);
        now.clear();
        if let Some(mut later) = self.later.remove(&(until_ns / self.window_ns - 1)) {
            later.take(&mut now);
            self.spare = later;
        }
        let matched = self.matcher.feed(&now);
        self.budgeter.feed(&[], &matched, &[]);
        self.budgeter.settle(until_ns);
        all.append(matched);
        self.now = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;

    #[test]
    fn each_rank_keeps_its_order_and_windows_differ() {
        let mut windowed = Windowed::new(BudgetOptions { window_ns: 100, ..BudgetOptions::default() });
        let event = |rank, post| Event::Freed { rank, post };
        let fed =
            [(2, 0, 50), (1, 1, 250), (1, 2, 20), (1, 3, 99), (2, 4, 100), (0, 5, 30), (2, 6, 10), (2, 7, 0)];
        let mut batch = Batch::default();
        for (rank, post, end_ns) in fed {
            batch.events.push(event(Rank(rank), post));
            batch.events_end_ns.push(end_ns);
        }
        windowed.take(&batch);
        let mut of = |window| {
            let mut events = Vec::new();
            windowed.later.remove(&window).unwrap().take(&mut events);
            events
        };
        assert_eq!(
            of(0),
            [
                event(Rank(0), 5),
                event(Rank(1), 2),
                event(Rank(1), 3),
                event(Rank(2), 0),
                event(Rank(2), 6),
                event(Rank(2), 7)
            ]
        );
        assert_eq!((of(1), of(2)), (vec![event(Rank(2), 4)], vec![event(Rank(1), 1)]));
        assert!(windowed.later.is_empty());
        // What comes too late belongs to the window that is settled next.
        windowed.budgeter.skip(300);
        windowed.take(&batch);
        assert_eq!(windowed.later.keys().collect::<Vec<_>>(), [&3]);
    }
}
