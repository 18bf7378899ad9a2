//! What happened in each region, and between regions, in windows of any length: summed up from calls and messages when
//! somebody asks, and therefore exact; with where time went as it was diagnosed.

use crate::by_rank::Avoidable;
use crate::findings::Parts;
use crate::library::Library;
use crate::question::{Ranks, common_ranks, is_among, rank_ranges};
use crate::regions::{Regions, runs};
use mpiscope_model::{Call, Message, Nanoseconds, Rank};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::PoisonError;

/// Where the run has no windows of its own.
const USUAL_NS: u64 = 100_000_000;

/// What one row is about: a region, or messages between two. No region: ranks that are in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Ranks of one region.
    Within(Option<u32>),
    /// Of two, in order.
    Between(Option<u32>, Option<u32>),
}

/// A window of a region, or of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionWindow {
    /// Where it begins.
    pub from_ns: Nanoseconds,
    /// Where it ends.
    pub to_ns: Nanoseconds,
    /// What it is about.
    pub scope: Scope,
    /// What was counted.
    pub counted: Counted,
    /// Where time went, as far as it was diagnosed.
    pub diagnosed: Option<([f64; 9], Avoidable)>,
}

/// Seconds in MPI, waiting, and the waiting by what kept those who were waited for.
pub(crate) type Parts9 = [f64; 9];

/// Calls and messages of a window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counted {
    /// Rows of calls that returned in it.
    pub calls: u64,
    /// Polls folded into them beyond the rows themselves.
    pub polls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time in them.
    pub mpi_ns: u64,
    /// Messages that were received in it.
    pub messages: u64,
    /// Their bytes.
    pub message_bytes: u64,
    /// Of them, those with an exact time and an expected one.
    pub exact: u64,
    /// Of those, the ones that took longer than expected.
    pub delayed: u64,
    /// What the exact ones took in shares of the expected time, summed up.
    pub latency_sum: f64,
}

impl Counted {
    fn call(&mut self, call: &Call) {
        self.calls += 1;
        self.polls += call.count.saturating_sub(1);
        self.bytes = self.bytes.saturating_add(call.bytes);
        self.mpi_ns = self.mpi_ns.saturating_add(call.duration_ns());
    }

    fn message(&mut self, message: &Message, latency: f64) {
        self.messages += 1;
        self.message_bytes = self.message_bytes.saturating_add(message.bytes);
        if message.exact && !latency.is_nan() {
            self.exact += 1;
            self.delayed += u64::from(latency > 1.0);
            self.latency_sum += latency;
        }
    }

    /// What exact messages took in shares of the expected time on average; not a number without any.
    #[must_use]
    pub fn latency(&self) -> f64 {
        if self.exact > 0 { self.latency_sum / self.exact as f64 } else { f64::NAN }
    }
}

/// Which rank is in which region.
struct Membership {
    of_rank: Vec<Option<u32>>,
    ranks: BTreeMap<Option<u32>, Vec<(Rank, Rank)>>,
}

impl Membership {
    fn new(regions: &Regions) -> Self {
        let mut of_rank = Vec::new();
        let mut ranks: BTreeMap<Option<u32>, Vec<(Rank, Rank)>> = BTreeMap::new();
        for region in &regions.regions {
            for rank in region.each_rank() {
                if of_rank.len() <= rank.index() {
                    of_rank.resize(rank.index() + 1, None);
                }
                of_rank[rank.index()] = Some(region.id);
            }
            ranks.insert(Some(region.id), region.ranges());
        }
        // Whoever is in none, between the others and after them.
        let lone = (0..).zip(&of_rank).filter(|(_, of)| of.is_none()).map(|(rank, _)| rank);
        let mut without = rank_ranges(&runs(lone));
        without.push((Rank::from_index(of_rank.len()), Rank::MAX));
        ranks.insert(None, without);
        Self { of_rank, ranks }
    }

    fn region(&self, rank: Rank) -> Option<u32> {
        self.of_rank.get(rank.index()).copied().flatten()
    }

    /// The ranks of each region that are among these.
    fn asked(&self, ranks: &Ranks) -> Vec<(Scope, Vec<(Rank, Rank)>)> {
        let asked = self.ranks.iter().map(|(&region, of)| {
            let of = ranks.as_ref().map_or_else(|| of.clone(), |ranks| common_ranks(ranks, of));
            (Scope::Within(region), of)
        });
        asked.collect()
    }

    fn scope(&self, message: &Message) -> Scope {
        let (one, other) = (self.region(message.src), self.region(message.dst));
        if one == other { Scope::Within(one) } else { Scope::Between(one.min(other), one.max(other)) }
    }
}

impl Library {
    /// How long windows are where nobody asks for others.
    #[must_use]
    pub fn window_ns(&self) -> u64 {
        Some(self.window_ns).filter(|&window_ns| window_ns > 0).unwrap_or(USUAL_NS)
    }

    /// Up to where it is known where time went; none before anything was diagnosed.
    #[must_use]
    pub fn diagnosed_ns(&self) -> Option<Nanoseconds> {
        self.course_so_far().map(|course| course.to_ns)
    }

    /// Shows the windows whose last nanosecond is in a range, in the order of time, as far as something happened in them.
    /// Of some ranks: their calls, messages from or to them, and their time.
    ///
    /// # Errors
    /// One sentence when rows cannot be read.
    pub fn visit_region_windows(
        &self,
        range_ns: &Range<Nanoseconds>,
        width_ns: u64,
        ranks: &Ranks,
        visitor: &mut dyn FnMut(&RegionWindow),
    ) -> Result<(), String> {
        let width_ns = width_ns.max(1);
        // The first and the last window that end there.
        let first = (range_ns.start.saturating_add(1)).div_ceil(width_ns).max(1) - 1;
        let end = range_ns.end / width_ns;
        if first >= end {
            return Ok(());
        }
        let whole = first.saturating_mul(width_ns)..end.saturating_mul(width_ns);
        let regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let members = Membership::new(&regions);
        let mut windows = self.counted_windows(&whole, width_ns, ranks, &members)?;
        let asked = members.asked(ranks);
        for window in first..end {
            let range_ns = window * width_ns..(window + 1).saturating_mul(width_ns);
            // Ranks may wait where no call of theirs returns.
            for &(scope, ref of) in &asked {
                let diagnosed = if of.is_empty() { None } else { self.diagnosed(&range_ns, of) };
                let counted = windows.remove(&(window, scope));
                if counted.is_some() || diagnosed.is_some_and(|(parts, _)| parts[0] > 0.0) {
                    let (from_ns, to_ns, counted) =
                        (range_ns.start, range_ns.end, counted.unwrap_or_default());
                    visitor(&RegionWindow { from_ns, to_ns, scope, counted, diagnosed });
                }
            }
            while let Some(entry) = windows.first_entry().filter(|entry| entry.key().0 == window) {
                let ((_, scope), counted) = entry.remove_entry();
                let (from_ns, to_ns) = (range_ns.start, range_ns.end);
                visitor(&RegionWindow { from_ns, to_ns, scope, counted, diagnosed: None });
            }
        }
        Ok(())
    }

    /// Counts calls and messages by window and by what they are about. The range is of whole windows.
    fn counted_windows(
        &self,
        range_ns: &Range<Nanoseconds>,
        width_ns: u64,
        ranks: &Ranks,
        members: &Membership,
    ) -> Result<BTreeMap<(u64, Scope), Counted>, String> {
        let mut windows: BTreeMap<(u64, Scope), Counted> = BTreeMap::new();
        self.visit_calls(range_ns, ranks, &mut |call| {
            if range_ns.contains(&call.end_ns) {
                let key = (call.end_ns / width_ns, Scope::Within(members.region(call.rank)));
                windows.entry(key).or_default().call(call);
            }
        })?;
        let usual = self.usual();
        self.visit_messages(range_ns, &mut |messages| {
            for message in messages.iter().filter(|message| range_ns.contains(&message.recv_ns)) {
                if is_among(ranks.as_deref(), message.src) || is_among(ranks.as_deref(), message.dst) {
                    let key = (message.recv_ns / width_ns, members.scope(message));
                    windows.entry(key).or_default().message(message, usual.latency(message));
                }
            }
        })?;
        Ok(windows)
    }

    /// The share of ranks in where time went in a range.
    fn diagnosed(
        &self,
        range_ns: &Range<Nanoseconds>,
        ranks: &[(Rank, Rank)],
    ) -> Option<(Parts9, Avoidable)> {
        let (parts, avoidable) = self.course_so_far()?.share(range_ns, ranks)?;
        let Parts { total_s, waiting_s, waiting_by: by, .. } = parts;
        let rest = [by.compute, by.base, by.distance, by.excess, by.operation, by.other, by.unknown];
        let mut figures = [total_s, waiting_s, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        figures[2..].copy_from_slice(&rest);
        Some((figures, avoidable))
    }
}
