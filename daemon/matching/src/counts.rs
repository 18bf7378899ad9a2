//! Counts: calls, bytes and time per function, rank and window. States of disjoint inputs can be merged.

use crate::by_site::BySite;
use hdrhistogram::Histogram;
use mpiscope_model::{Call, Function, Message, Nanoseconds, Numbers, Rank, Sink, Site, Source};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Durations beyond this (a day) are counted as this.
const LONGEST_NS: u64 = 86_400_000_000_000;

/// What one function did.
#[derive(Debug, Clone)]
pub struct FunctionTotals {
    /// Rows.
    pub calls: u64,
    /// Polls folded into them beyond the rows.
    pub polls: u64,
    /// Bytes.
    pub bytes: u64,
    /// Time in it, over all threads.
    pub time_ns: u64,
    longest_ns: u64,
    durations: Histogram<u32>,
}

impl Default for FunctionTotals {
    fn default() -> Self {
        let durations = Histogram::new_with_bounds(1, LONGEST_NS, 2)
            .or_else(|_| Histogram::new(2))
            .unwrap_or_else(|_| unreachable!("two digits up to a day are bounds that a histogram has"));
        Self { calls: 0, polls: 0, bytes: 0, time_ns: 0, longest_ns: 0, durations }
    }
}

impl Numbers for FunctionTotals {
    fn put<S: Sink>(&self, to: &mut S) {
        let Self { calls, polls, bytes, time_ns, longest_ns, durations: _ } = self;
        [*calls, *polls, *bytes, *time_ns, *longest_ns].put(to);
        self.durations().collect::<Vec<_>>().put(to);
    }

    fn get<S: Source>(from: &mut S) -> Option<Self> {
        let [calls, polls, bytes, time_ns, longest_ns] = Numbers::get(from)?;
        let mut totals = Self { calls, polls, bytes, time_ns, longest_ns, ..Self::default() };
        for (up_to_ns, calls) in Vec::get(from)? {
            totals.add_duration(up_to_ns, calls);
        }
        Some(totals)
    }
}

impl FunctionTotals {
    /// How many calls took how long, as closely as it is known.
    pub fn durations(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.durations.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value().into()))
    }

    /// Takes in a call with its time in a range. Its other figures count where it begins.
    #[inline]
    pub fn add(&mut self, call: &Call, time_ns: u64, begins: bool) {
        self.time_ns = self.time_ns.saturating_add(time_ns);
        if begins {
            self.calls += 1;
            self.polls = self.polls.saturating_add(call.count.saturating_sub(1));
            self.bytes = self.bytes.saturating_add(call.bytes);
            let each_ns = call.each_ns();
            self.longest_ns = self.longest_ns.max(each_ns);
            self.durations.saturating_record(each_ns);
        }
    }

    /// Counts calls of one duration, as [`FunctionTotals::durations`] had them.
    pub fn add_duration(&mut self, up_to_ns: u64, calls: u64) {
        self.durations.saturating_record_n(up_to_ns, u32::try_from(calls).unwrap_or(u32::MAX));
    }

    /// Knows the longest duration.
    #[must_use]
    pub fn with_longest(mut self, longest_ns: u64) -> Self {
        self.longest_ns = longest_ns;
        self
    }

    /// The duration that a share of the calls does not exceed.
    #[must_use]
    pub fn quantile_ns(&self, share: f64) -> u64 {
        // A bucket of the histogram may reach beyond the longest duration.
        if self.durations.is_empty() {
            0
        } else {
            self.durations.value_at_quantile(share).min(self.longest_ns)
        }
    }

    /// The longest duration.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.longest_ns
    }
}

/// What one rank did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankTotals {
    /// Rows.
    pub calls: u64,
    /// Time in MPI, over its threads.
    pub time_ns: u64,
    /// Matched messages it sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Matched messages it received.
    pub received: u64,
    /// When its last call ended.
    pub last_ns: Nanoseconds,
}

mpiscope_model::numbers! { RankTotals { calls, time_ns, sent, sent_bytes, received, last_ns } }

/// What was called from one call site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteTotals {
    /// Rows.
    pub calls: u64,
    /// Polls folded into them beyond the rows.
    pub polls: u64,
    /// Bytes.
    pub bytes: u64,
    /// Time in MPI, over all threads.
    pub time_ns: u64,
    /// What was called, the function with the least number.
    pub function: Option<Function>,
}

mpiscope_model::numbers! { SiteTotals { calls, polls, bytes, time_ns, function } }

impl SiteTotals {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.polls = self.polls.saturating_add(other.polls);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.function = self.function.into_iter().chain(other.function).min();
    }
}

/// What one function did on one rank in one window, by the start of its calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowTotals {
    /// Rows.
    pub calls: u64,
    /// Polls folded into them beyond the rows.
    pub polls: u64,
    /// Bytes.
    pub bytes: u64,
    /// Time.
    pub time_ns: u64,
}

mpiscope_model::numbers! { WindowTotals { calls, polls, bytes, time_ns } }

/// The operator.
#[derive(Debug)]
pub struct Counts {
    window_ns: u64,
    functions: FxHashMap<Function, FunctionTotals>,
    ranks: FxHashMap<Rank, RankTotals>,
    sites: BySite<SiteTotals>,
    /// Cells that changed since they were last taken: a rank calls few functions in a window.
    windows: FxHashMap<(u64, Rank), Vec<(Function, WindowTotals)>>,
}

mpiscope_model::numbers! { Counts { window_ns, functions, ranks, sites, windows } }

impl Counts {
    /// Counts by windows of this length.
    #[must_use]
    pub fn new(window_ns: u64) -> Self {
        Self {
            window_ns: window_ns.max(1),
            functions: FxHashMap::default(),
            ranks: FxHashMap::default(),
            sites: BySite::default(),
            windows: FxHashMap::default(),
        }
    }

    /// What another one counted, rebuilt from its totals, without windows.
    #[must_use]
    pub fn from_totals(
        window_ns: u64,
        functions: impl Iterator<Item = (Function, FunctionTotals)>,
        ranks: impl Iterator<Item = (Rank, RankTotals)>,
        sites: impl Iterator<Item = (Option<Site>, SiteTotals)>,
    ) -> Self {
        let mut counts = Self::new(window_ns);
        counts.functions.extend(functions);
        counts.ranks.extend(ranks);
        sites.for_each(|(site, totals)| counts.sites.value_mut(site).add(&totals));
        counts
    }

    /// The length of a window.
    #[must_use]
    pub fn window_ns(&self) -> u64 {
        self.window_ns
    }

    /// Takes in calls.
    pub fn calls(&mut self, calls: &[Call]) {
        let mut rest = calls;
        while let Some(first) = rest.first() {
            let window = first.start_ns / self.window_ns;
            let begin_ns = window * self.window_ns;
            let is_alike = |call: &&Call| {
                call.rank == first.rank
                    && call.start_ns.checked_sub(begin_ns).is_some_and(|after_ns| after_ns < self.window_ns)
            };
            let (alike, others) = rest.split_at(rest.iter().take_while(is_alike).count().max(1));
            self.calls_of_window(window, first.rank, alike);
            rest = others;
        }
    }

    /// Takes in calls of one rank that began in one window.
    fn calls_of_window(&mut self, window: u64, rank: Rank, calls: &[Call]) {
        let cells = self.windows.entry((window, rank)).or_default();
        let rank = self.ranks.entry(rank).or_default();
        for call in calls {
            let duration_ns = call.duration_ns();
            let polls = call.count.saturating_sub(1);
            self.functions.entry(call.function).or_default().add(call, duration_ns, true);
            rank.calls += 1;
            rank.time_ns = rank.time_ns.saturating_add(duration_ns);
            rank.last_ns = rank.last_ns.max(call.end_ns);
            self.sites.value_mut(call.site).add(&SiteTotals {
                calls: 1,
                polls,
                bytes: call.bytes,
                time_ns: duration_ns,
                function: Some(call.function),
            });
            let totals = WindowTotals { calls: 1, polls, bytes: call.bytes, time_ns: duration_ns };
            add_to_cell(cells, call.function, &totals);
        }
    }

    /// Takes in messages.
    pub fn messages(&mut self, messages: &[Message]) {
        for message in messages {
            let sender = self.ranks.entry(message.src).or_default();
            sender.sent += 1;
            sender.sent_bytes = sender.sent_bytes.saturating_add(message.bytes);
            self.ranks.entry(message.dst).or_default().received += 1;
        }
    }

    /// Totals by function.
    pub fn functions(&self) -> impl Iterator<Item = (Function, &FunctionTotals)> {
        self.functions.iter().map(|(&function, totals)| (function, totals))
    }

    /// Totals by function, the longest time first.
    #[must_use]
    pub fn functions_by_time(&self) -> Vec<(Function, &FunctionTotals)> {
        let mut functions: Vec<_> = self.functions().collect();
        functions.sort_by_key(|(_, totals)| Reverse(totals.time_ns));
        functions
    }

    /// The totals of a rank.
    #[must_use]
    pub fn rank(&self, rank: Rank) -> RankTotals {
        self.ranks.get(&rank).copied().unwrap_or_default()
    }

    /// Totals by rank.
    pub fn ranks(&self) -> impl Iterator<Item = (Rank, &RankTotals)> {
        self.ranks.iter().map(|(&rank, totals)| (rank, totals))
    }

    /// Totals by call site.
    #[must_use]
    pub fn sites(&self) -> &BySite<SiteTotals> {
        &self.sites
    }

    /// The cells of windows that ended before `until_ns`, each once, in order; later calls of such a window make a
    /// further cell, to be added.
    pub fn take_windows(&mut self, until_ns: Nanoseconds) -> Vec<((u64, Rank, Function), WindowTotals)> {
        let last = until_ns / self.window_ns;
        let of_windows = self.windows.extract_if(|(window, _), _| *window < last);
        let mut taken: Vec<_> = of_windows
            .flat_map(|((window, rank), cells)| {
                cells.into_iter().map(move |(function, totals)| ((window, rank, function), totals))
            })
            .collect();
        taken.sort_unstable_by_key(|(key, _)| *key);
        taken
    }

    /// Adds what another operator counted on other input.
    pub fn merge(&mut self, other: &Self) {
        for (&function, theirs) in &other.functions {
            let ours = self.functions.entry(function).or_default();
            ours.calls += theirs.calls;
            ours.polls = ours.polls.saturating_add(theirs.polls);
            ours.bytes = ours.bytes.saturating_add(theirs.bytes);
            ours.time_ns = ours.time_ns.saturating_add(theirs.time_ns);
            ours.longest_ns = ours.longest_ns.max(theirs.longest_ns);
            // Both histograms have the same bounds: adding cannot fail.
            let _ = ours.durations.add(&theirs.durations);
        }
        for (&rank, theirs) in &other.ranks {
            let ours = self.ranks.entry(rank).or_default();
            ours.calls += theirs.calls;
            ours.time_ns = ours.time_ns.saturating_add(theirs.time_ns);
            ours.sent += theirs.sent;
            ours.sent_bytes = ours.sent_bytes.saturating_add(theirs.sent_bytes);
            ours.received += theirs.received;
            ours.last_ns = ours.last_ns.max(theirs.last_ns);
        }
        self.sites.merge(&other.sites, SiteTotals::add);
        for (&key, theirs) in &other.windows {
            let ours = self.windows.entry(key).or_default();
            theirs.iter().for_each(|(function, totals)| add_to_cell(ours, *function, totals));
        }
    }
}

/// Adds to the cell of a function.
fn add_to_cell(cells: &mut Vec<(Function, WindowTotals)>, function: Function, more: &WindowTotals) {
    let known = cells.iter().position(|(of, _)| *of == function);
    let at = known.unwrap_or_else(|| {
        cells.push((function, WindowTotals::default()));
        cells.len() - 1
    });
    let totals = &mut cells[at].1;
    totals.calls += more.calls;
    totals.polls = totals.polls.saturating_add(more.polls);
    totals.bytes = totals.bytes.saturating_add(more.bytes);
    totals.time_ns = totals.time_ns.saturating_add(more.time_ns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn call()(rank in 0_u32..4, function in 0_u16..5, start_ns in 0_u64..10_000, length in 0_u64..1000,
            bytes in 0_u64..100, count in 1_u64..4) -> Call {
            Call { rank: Rank(rank), function, start_ns, end_ns: start_ns + length, bytes, count, ..Call::default() }
        }
    }

    type Cells = Vec<((u64, Rank, Function), WindowTotals)>;
    type Summary = (Vec<(Function, [u64; 7])>, Vec<(Rank, RankTotals)>, Cells);

    fn summary(mut counts: Counts) -> Summary {
        let mut functions: Vec<_> = counts
            .functions()
            .map(|(function, totals)| {
                let quantiles = [totals.quantile_ns(0.5), totals.quantile_ns(0.99), totals.max_ns()];
                let [p50, p99, max] = quantiles;
                (function, [totals.calls, totals.polls, totals.bytes, totals.time_ns, p50, p99, max])
            })
            .collect();
        functions.sort_unstable();
        let mut ranks: Vec<_> = counts.ranks().map(|(rank, totals)| (rank, *totals)).collect();
        ranks.sort_unstable_by_key(|(rank, _)| *rank);
        (functions, ranks, counts.take_windows(u64::MAX))
    }

    proptest! {
        #[test]
        fn any_split_counts_the_same_and_merges(calls in proptest::collection::vec(call(), 0..200), step in 1_usize..50) {
            let mut whole = Counts::new(100);
            whole.calls(&calls);
            let mut pieces = Counts::new(100);
            let mut merged = Counts::new(100);
            for piece in calls.chunks(step) {
                pieces.calls(piece);
                let mut part = Counts::new(100);
                part.calls(piece);
                merged.merge(&part);
            }
            let rebuilt = Counts::from_totals(
                100,
                whole.functions().map(|(function, totals)| {
                    let mut rebuilt = FunctionTotals {
                        calls: totals.calls,
                        polls: totals.polls,
                        bytes: totals.bytes,
                        time_ns: totals.time_ns,
                        ..FunctionTotals::default()
                    };
                    totals.durations().for_each(|(up_to_ns, calls)| rebuilt.add_duration(up_to_ns, calls));
                    (function, rebuilt.with_longest(totals.max_ns()))
                }),
                whole.ranks().map(|(rank, totals)| (rank, *totals)),
                whole.sites().iter().map(|(site, totals)| (site, *totals)),
            );
            let whole = summary(whole);
            let (functions, ranks, _) = summary(rebuilt);
            prop_assert_eq!((&functions, &ranks), (&whole.0, &whole.1));
            prop_assert_eq!(&summary(pieces), &whole);
            prop_assert_eq!(&summary(merged), &whole);
            let total: u64 = whole.0.iter().map(|(_, numbers)| numbers[0]).sum();
            prop_assert_eq!(total, calls.len() as u64);
        }
    }

    #[test]
    fn a_rank_ends_with_the_call_that_ends_last() {
        let mut counts = Counts::new(100);
        let call = |rank, start_ns, end_ns| Call {
            rank: Rank(rank),
            function: 1,
            start_ns,
            end_ns,
            ..Call::default()
        };
        counts.calls(&[call(0, 10, 90), call(0, 20, 40), call(1, 5, 6)]);
        assert_eq!(
            (counts.rank(Rank(0)).last_ns, counts.rank(Rank(1)).last_ns, counts.rank(Rank(2)).last_ns),
            (90, 6, 0)
        );
    }

    #[test]
    fn windows_are_taken_once() {
        let mut counts = Counts::new(100);
        let at = |start_ns| Call { function: 1, start_ns, end_ns: start_ns, ..Call::default() };
        counts.calls(&[at(0), at(99), at(100), at(250)]);
        let taken: Vec<u64> = counts.take_windows(200).iter().map(|((window, ..), _)| *window).collect();
        assert_eq!(taken, [0, 1]);
        assert_eq!(counts.take_windows(200).len(), 0);
        assert_eq!(counts.take_windows(u64::MAX).len(), 1);
    }
}
