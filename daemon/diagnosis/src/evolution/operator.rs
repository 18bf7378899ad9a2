//! The operator: takes messages as they are settled, and closes windows when the frontier passes them.

use super::followed::Followed;
use super::options::EvolutionOptions;
use super::partition::{Places, RegionOfRank};
use super::series::{Series, Window};
use super::tally::Tally;
use super::windows::{Counted, WindowTallies};
use mpiscope_model::MessageTime;
use mpiscope_model::{Nanoseconds, Node, Numbers, Rank, Sink, Source};
use std::collections::VecDeque;
use std::sync::Arc;

/// Regions that are followed, and pairs of them.
const MOST_REGIONS: usize = 1_024;
const MOST_PAIRS: usize = 128;

/// A window of a region that is not final: calls that ended in it may still wait for their other side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provisional {
    /// Whose.
    pub region: u32,
    /// The other one, of a pair.
    pub other: Option<u32>,
    /// What is known of it.
    pub window: Window,
}

/// The operator.
#[derive(Debug)]
pub struct Evolution {
    window_ns: u64,
    options: EvolutionOptions,
    /// None: each node's ranks are a region.
    given: Option<RegionOfRank>,
    partition: Arc<RegionOfRank>,
    /// By the window from which on they hold, in order; those of windows that are not final.
    places: VecDeque<(u64, Arc<Places>)>,
    /// Ranks moved, or were divided anew, before this window.
    moved: Option<u64>,
    /// The first window that is not final.
    first: u64,
    windows: VecDeque<WindowTallies>,
    /// The one that the last message was in: from, to, its place.
    now: (Nanoseconds, Nanoseconds, usize),
    regions: Followed<u32>,
    pairs: Followed<(u32, u32)>,
    rest: Tally,
}

impl Evolution {
    pub(crate) fn new(window_ns: u64, options: EvolutionOptions) -> Self {
        Self {
            window_ns: window_ns.max(1),
            options,
            given: None,
            partition: Arc::default(),
            places: VecDeque::new(),
            moved: Some(0),
            first: 0,
            windows: VecDeque::new(),
            now: (0, 0, 0),
            regions: Followed::new(MOST_REGIONS),
            pairs: Followed::new(MOST_PAIRS),
            rest: Tally::default(),
        }
    }

    /// From a time on, before which all windows are settled, these are the regions. What was counted by nodes is let go: those
    /// have other names.
    pub(crate) fn divide(&mut self, partition: RegionOfRank, from_ns: Nanoseconds) {
        if self.given.is_none() {
            (self.regions, self.pairs) = (Followed::new(MOST_REGIONS), Followed::new(MOST_PAIRS));
            self.rest = Tally::default();
            self.windows.clear();
            self.now = (0, 0, 0);
        }
        self.given = Some(partition);
        self.moved = Some(from_ns / self.window_ns);
    }

    /// A rank's node became known, or is another one, when all windows before a time were settled.
    pub(crate) fn moved(&mut self, from_ns: Nanoseconds) {
        if self.given.is_none() {
            self.moved = Some(from_ns / self.window_ns);
        }
    }

    /// A window is settled: it uses the current regions. Those of a window do not depend on whether others, in which nothing
    /// happened, were settled before.
    pub(crate) fn begin(&mut self, node_of_rank: &[Node]) {
        let Some(from) = self.moved.take() else { return };
        let partition = match &self.given {
            Some(given) => given.clone(),
            None => RegionOfRank::by_node(self.partition.version + 1, node_of_rank),
        };
        self.places.push_back((from, Arc::new(Places::new(&partition))));
        self.partition = Arc::new(partition);
    }

    /// The regions that hold in a window.
    fn places_in(&self, number: u64) -> Arc<Places> {
        let found = self.places.iter().rev().find(|(from, _)| *from <= number).or(self.places.front());
        found.map_or_else(Arc::default, |(_, places)| Arc::clone(places))
    }

    /// Forgets the regions of final windows.
    fn forget_places(&mut self) {
        while self.places.get(1).is_some_and(|(from, _)| *from <= self.first) {
            self.places.pop_front();
        }
    }

    #[inline]
    fn window_mut(&mut self, at_ns: Nanoseconds) -> &mut WindowTallies {
        if at_ns < self.now.0 || at_ns >= self.now.1 {
            self.go_to(at_ns);
        }
        &mut self.windows[self.now.2]
    }

    #[cold]
    fn go_to(&mut self, at_ns: Nanoseconds) {
        // News of a final window belongs to the first window that is not final.
        let number = (at_ns / self.window_ns).max(self.first);
        let place = (number - self.first) as usize;
        while self.windows.len() <= place {
            let next = self.first + self.windows.len() as u64;
            self.windows.push_back(WindowTallies::new(self.places_in(next)));
        }
        let from_ns = if place == 0 { 0 } else { number * self.window_ns };
        self.now = (from_ns, (number + 1) * self.window_ns, place);
    }

    /// A message was received by a call that ended then.
    #[inline]
    pub(crate) fn message(&mut self, at_ns: Nanoseconds, from: Rank, to: Rank) {
        self.window_mut(at_ns).counted_mut(from, to).tally.message();
    }

    /// Its exact transfer time, and the expected one.
    #[inline]
    pub(crate) fn exact(&mut self, at_ns: Nanoseconds, from: Rank, to: Rank, time: MessageTime) {
        self.window_mut(at_ns).counted_mut(from, to).exact(time);
    }

    /// All calls are settled that ended before a time.
    pub(crate) fn close(&mut self, until_ns: Nanoseconds) {
        let until = until_ns / self.window_ns;
        if until <= self.first {
            return;
        }
        self.now = (0, 0, 0);
        while self.first < until {
            let Some(window) = self.windows.pop_front() else {
                self.first = until;
                break;
            };
            let number = self.first;
            let version = window.places.version;
            let of = |counted: &Counted| Window { number, tally: counted.tally, version };
            for (region, counted) in window.within() {
                self.regions.push(region, &of(counted), &counted.ratios, self.options);
            }
            for (pair, counted) in window.between() {
                self.pairs.push(pair, &of(counted), &counted.ratios, self.options);
            }
            self.rest.merge(window.rest());
            self.first += 1;
        }
        self.forget_places();
    }

    /// Up to a time windows are final, as another operator knows that closes them.
    pub(crate) fn follow(&mut self, final_ns: Nanoseconds) {
        let first = (final_ns / self.window_ns).max(self.first);
        let closed = usize::try_from(first - self.first).unwrap_or(usize::MAX).min(self.windows.len());
        self.windows.drain(..closed);
        self.first = first;
        self.now = (0, 0, 0);
        self.forget_places();
    }

    /// What was counted since this was asked last.
    pub(crate) fn take(&mut self) -> Self {
        self.now = (0, 0, 0);
        let windows = std::mem::take(&mut self.windows);
        Self { first: self.first, windows, ..Self::new(self.window_ns, self.options) }
    }

    /// Takes over what another worker counted in windows that are not final, by the same partitions.
    pub fn merge(&mut self, other: &mut Self) {
        for (number, tallies) in (other.first..).zip(other.windows.drain(..)) {
            self.go_to(number * self.window_ns);
            self.windows[self.now.2].merge(&tallies);
        }
        other.now = (0, 0, 0);
    }

    /// How long a window is.
    #[must_use]
    pub fn window_ns(&self) -> u64 {
        self.window_ns
    }

    /// Up to where windows are final.
    #[must_use]
    pub fn final_ns(&self) -> Nanoseconds {
        self.first * self.window_ns
    }

    /// The regions that the window settled last goes by.
    #[must_use]
    pub fn partition(&self) -> &RegionOfRank {
        &self.partition
    }

    /// Whether no regions are given, and the ranks of a node are one.
    #[must_use]
    pub fn is_by_node(&self) -> bool {
        self.given.is_none()
    }

    /// Messages within each region that is followed, in order.
    pub fn regions(&self) -> impl Iterator<Item = (u32, &Series)> {
        self.regions.iter()
    }

    /// Messages between two regions, either way, of the pairs that are followed, in order.
    pub fn pairs(&self) -> impl Iterator<Item = ((u32, u32), &Series)> {
        self.pairs.iter()
    }

    /// Messages in final windows within regions that are not followed, and between such.
    #[must_use]
    pub fn others(&self) -> (Tally, Tally) {
        let mut between = self.pairs.others();
        between.merge(&self.rest);
        (self.regions.others(), between)
    }

    /// Windows that are not final, as far as they are known, in order.
    #[must_use]
    pub fn provisional(&self) -> Vec<Provisional> {
        let mut all = Vec::new();
        for (number, tallies) in (self.first..).zip(&self.windows) {
            let version = tallies.places.version;
            let window = |counted: &Counted| Window { number, tally: counted.tally, version };
            all.extend(tallies.within().map(|(region, counted)| Provisional {
                region,
                other: None,
                window: window(counted),
            }));
            all.extend(tallies.between().into_iter().map(|((region, other), counted)| Provisional {
                region,
                other: Some(other),
                window: window(counted),
            }));
        }
        all
    }
}

/// What a worker counted, as [`Evolution::take`] has it: windows that are not final.
impl Numbers for Evolution {
    fn put<S: Sink>(&self, to: &mut S) {
        let Self { window_ns, first, windows, .. } = self;
        window_ns.put(to);
        first.put(to);
        windows.put(to);
    }

    fn get<S: Source>(from: &mut S) -> Option<Self> {
        let empty = Self::new(u64::get(from)?, EvolutionOptions::default());
        Some(Self { first: u64::get(from)?, windows: Numbers::get(from)?, ..empty })
    }
}
