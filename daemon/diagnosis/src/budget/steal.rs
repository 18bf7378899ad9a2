//! Time waiting for a CPU, from the scheduler's figures of each rank.

use mpiscope_model::{Nanoseconds, Rank, Scheduling};
use std::collections::VecDeque;

/// Figures that are remembered of a rank: some seconds.
const REMEMBERED: usize = 64;

/// A rank that waits for a CPU for a greater share of its time than this does so all the time.
const ALL_THE_TIME: f64 = 0.3;

#[derive(Debug, Clone, Default)]
struct RankCpuWaits {
    /// The moment, and the time waiting for a CPU until then.
    figures: VecDeque<(Nanoseconds, u64)>,
    /// From each of them to the next, how often it lost its core, and how much of the time without one was found.
    losses: VecDeque<(u64, u64)>,
    /// How often its core was lost or given away until the last.
    switches: u64,
}

/// What is known of a time.
#[derive(Debug, Clone, Copy)]
struct Missing {
    /// The figures before it and after it.
    first: usize,
    last: usize,
    length_ns: u64,
    cpu_wait_ns: u64,
    /// How often the CPU was lost; none where no figure shows it.
    times: u64,
}

impl Missing {
    /// Whether such a time holds about its share of all that is missing.
    fn is_even_over(&self, whole_ns: u64) -> bool {
        let is_often = whole_ns as f64 * self.times as f64 > OFTEN * self.length_ns as f64;
        is_often || self.times == 0 && self.cpu_wait_ns as f64 > ALL_THE_TIME * self.length_ns as f64
    }
}

/// A CPU that is lost this often in a time between calls is lost evenly.
const OFTEN: f64 = 3.0;
/// A smaller excess than this part of the usual wait for a CPU has another reason.
const LEAST_PART: u64 = 8;

impl RankCpuWaits {
    /// Time waiting for a CPU until a moment; it comes evenly between two figures.
    fn until(&self, at_ns: Nanoseconds) -> f64 {
        let after = self.figures.partition_point(|(at, _)| *at <= at_ns);
        match (after.checked_sub(1).map(|before| self.figures[before]), self.figures.get(after)) {
            (Some((from, wait)), Some(&(to, later))) => {
                let share = (at_ns - from) as f64 / (to - from).max(1) as f64;
                wait as f64 + later.saturating_sub(wait) as f64 * share
            }
            (Some((_, wait)), None) | (None, Some(&(_, wait))) => wait as f64,
            (None, None) => 0.0,
        }
    }

    /// The figures around a time.
    fn missing(&self, from_ns: Nanoseconds, to_ns: Nanoseconds) -> Option<Missing> {
        let first = self.figures.partition_point(|(at, _)| *at <= from_ns).checked_sub(1)?;
        let last = self.figures.partition_point(|(at, _)| *at < to_ns);
        let ((begin_ns, before), (end_ns, after)) = (self.figures[first], *self.figures.get(last)?);
        let times = self.losses.range(first..last).map(|(times, _)| times).sum();
        let (length_ns, cpu_wait_ns) = (end_ns.saturating_sub(begin_ns), after.saturating_sub(before));
        (last > first).then_some(Missing { first, last, length_ns, cpu_wait_ns, times })
    }

    /// Takes the excess from the missing time that was not found elsewhere.
    fn find(&mut self, missing: &Missing, too_long_ns: u64) -> u64 {
        let least_ns = missing.cpu_wait_ns.checked_div(missing.times).unwrap_or_default() / LEAST_PART;
        if too_long_ns < least_ns {
            return 0;
        }
        let mut left_ns = too_long_ns;
        for at in missing.first..missing.last {
            let there_ns = self.figures[at + 1].1.saturating_sub(self.figures[at].1);
            let found_ns = &mut self.losses[at].1;
            let part_ns = there_ns.saturating_sub(*found_ns).min(left_ns);
            (*found_ns, left_ns) = (*found_ns + part_ns, left_ns - part_ns);
        }
        too_long_ns - left_ns
    }
}

/// The figures of all ranks.
#[derive(Debug, Default)]
pub(super) struct Steal {
    ranks: Vec<RankCpuWaits>,
    to_come: Vec<Scheduling>,
}

impl Steal {
    pub(super) fn feed(&mut self, figures: &[Scheduling]) {
        self.to_come.extend_from_slice(figures);
    }

    /// Figures of before a time hold from now on.
    pub(super) fn advance(&mut self, until_ns: Nanoseconds) {
        let (now, later) = std::mem::take(&mut self.to_come).into_iter().partition(|of| of.at_ns < until_ns);
        self.to_come = later;
        let mut now: Vec<Scheduling> = now;
        now.sort_by_key(|of| of.at_ns);
        for of in now {
            let at = of.rank.index();
            if self.ranks.len() <= at {
                self.ranks.resize(at + 1, RankCpuWaits::default());
            }
            let RankCpuWaits { figures, losses, switches: known } = &mut self.ranks[at];
            let switches = of.voluntary + of.involuntary;
            if figures.back().is_some_and(|(at_ns, _)| *at_ns >= of.at_ns) {
                continue;
            }
            if figures.len() == REMEMBERED {
                figures.pop_front();
                losses.pop_front();
            }
            if !figures.is_empty() {
                losses.push_back((switches.saturating_sub(*known), 0));
            }
            *known = switches;
            figures.push_back((of.at_ns, of.delayed_ns()));
        }
    }

    /// Whether anything is known of a rank.
    #[inline]
    pub(super) fn knows(&self, rank: Rank) -> bool {
        self.ranks
            .get(rank.index())
            .is_some_and(|of| of.figures.back().is_some_and(|(_, wait_ns)| *wait_ns > 0))
    }

    /// How much of a time between calls a rank waited for a CPU. Figures come ten times a second. Where such times are
    /// shorter and waits are rare, the wait goes to those that were longer than usual.
    pub(super) fn between(
        &mut self,
        rank: Rank,
        from_ns: Nanoseconds,
        to_ns: Nanoseconds,
        usual_ns: Option<u64>,
    ) -> u64 {
        let Some(of) = self.ranks.get_mut(rank.index()) else { return 0 };
        let whole_ns = to_ns.saturating_sub(from_ns);
        let evenly_ns =
            |of: &RankCpuWaits| ((of.until(to_ns) - of.until(from_ns)).max(0.0) as u64).min(whole_ns);
        let (Some(usual_ns), Some(missing)) = (usual_ns, of.missing(from_ns, to_ns)) else {
            return evenly_ns(of);
        };
        if missing.is_even_over(whole_ns) {
            return evenly_ns(of);
        }
        of.find(&missing, whole_ns.saturating_sub(usual_ns))
    }

    /// How much of a call's excess was a wait for a CPU.
    #[inline]
    pub(super) fn stalled(
        &mut self,
        rank: Rank,
        from_ns: Nanoseconds,
        to_ns: Nanoseconds,
        excess_ns: u64,
    ) -> u64 {
        if excess_ns == 0 || !self.knows(rank) {
            return 0;
        }
        let Some(of) = self.ranks.get_mut(rank.index()) else { return 0 };
        match of.missing(from_ns, to_ns) {
            Some(missing) => of.find(&missing, excess_ns),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_evenly_between_figures() {
        let mut steal = Steal::default();
        let of = |at_ns, wait_ns| Scheduling { rank: Rank(2), at_ns, wait_ns, ..Scheduling::default() };
        steal.feed(&[of(100, 0), of(200, 50), of(300, 50), of(400, 150)]);
        let between = |steal: &mut Steal, from_ns, to_ns| steal.between(Rank(2), from_ns, to_ns, None);
        assert_eq!(between(&mut steal, 100, 200), 0);
        steal.advance(350);
        assert_eq!(between(&mut steal, 100, 200), 50);
        assert_eq!((between(&mut steal, 120, 140), between(&mut steal, 150, 350)), (10, 25));
        assert_eq!(between(&mut steal, 300, 400), 0);
        steal.advance(500);
        assert_eq!((between(&mut steal, 300, 400), steal.between(Rank(7), 0, 900, None)), (100, 0));
    }

    #[test]
    fn it_is_found_where_computing_took_longer_than_usual() {
        let mut steal = Steal::default();
        let of = |at_ns, wait_ns| Scheduling { rank: Rank(0), at_ns, wait_ns, ..Scheduling::default() };
        steal.feed(&[of(0, 0), of(1000, 100), of(2000, 900)]);
        steal.advance(3000);
        let times = [(0, 50), (50, 170), (200, 290), (300, 350)];
        let found = times.map(|(from_ns, to_ns)| steal.between(Rank(0), from_ns, to_ns, Some(50)));
        assert_eq!(found, [0, 70, 30, 0]);
        // When a rank waits for a CPU most of the time, the usual duration means nothing.
        assert_eq!(steal.between(Rank(0), 1100, 1200, Some(100)), 80);
    }

    #[test]
    fn a_long_call_waited_for_a_cpu_no_longer_than_the_rank_did() {
        let mut steal = Steal::default();
        let of = |at_ns, wait_ns, involuntary| Scheduling {
            rank: Rank(0),
            at_ns,
            wait_ns,
            involuntary,
            ..Scheduling::default()
        };
        steal.feed(&[of(0, 0, 0), of(1000, 160, 2), of(2000, 200, 5)]);
        steal.advance(3000);
        // It was gone for 80 at a time: a small excess has another reason.
        assert_eq!(steal.stalled(Rank(0), 10, 60, 9), 0);
        assert_eq!(steal.between(Rank(0), 100, 300, Some(120)), 80);
        assert_eq!(steal.stalled(Rank(0), 400, 600, 100), 80);
        assert_eq!(steal.stalled(Rank(0), 700, 900, 100), 0);
        // Of two figures' time, what each of them has left.
        assert_eq!(steal.between(Rank(0), 900, 1100, Some(100)), 40);
        // Lost so often, it is missing evenly.
        assert_eq!(steal.between(Rank(0), 0, 2000, Some(100)), 200);
        assert_eq!(steal.stalled(Rank(7), 0, 100, 100), 0);
    }
}
