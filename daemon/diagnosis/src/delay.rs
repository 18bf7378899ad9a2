//! Time in which ranks were ready to run and had no CPU, or were stopped, spread over what they did.
//!
//! The scheduler's figures come some ten times a second. Between two of them the time without a CPU falls on computing and on
//! calls by their shares of the time. Within computing it is what makes some stretches longer than others.

use crate::builder::NONE;
use crate::graph::{Graph, Thread};
use mpiscope_model::Scheduling;

/// The figures of all ranks, and what they mean for each call.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    /// By rank: when, the time without a CPU until then, and the time with one.
    figures: Vec<Vec<(u64, u64, u64)>>,
    /// By call, the time without a CPU in the computing before it, in nanoseconds. Empty where no rank ever waited.
    pub(crate) before: Vec<u64>,
    /// By call, likewise in what it waited for.
    pub(crate) within: Vec<u64>,
}

/// A stretch of computing or of a call between two figures.
#[derive(Clone, Copy)]
struct Piece {
    call: u32,
    length_ns: u64,
}

impl Delays {
    pub(crate) fn from_figures(graph: &Graph, mut scheduling: Vec<Scheduling>) -> Self {
        scheduling.sort_by_key(|row| (row.rank, row.at_ns));
        let mut figures = vec![Vec::new(); graph.threads_of.len()];
        for row in scheduling {
            if let Some(of_rank) = figures.get_mut(row.rank as usize) {
                of_rank.push((row.at_ns, row.delayed_ns(), row.run_ns));
            }
        }
        Self { figures, ..Self::default() }
    }

    /// The time without a CPU of a rank in a stretch; between two figures it comes evenly.
    pub(crate) fn between(&self, rank: u32, from_ns: u64, to_ns: u64) -> u64 {
        let Some(figures) = self.figures.get(rank as usize) else { return 0 };
        let until = |at_ns: u64| {
            let after = figures.partition_point(|(at, ..)| *at <= at_ns);
            match (after.checked_sub(1).map(|at| figures[at]), figures.get(after)) {
                (Some((from, wait, _)), Some(&(to, later, _))) => {
                    let share = (at_ns - from) as f64 / (to - from).max(1) as f64;
                    wait as f64 + later.saturating_sub(wait) as f64 * share
                }
                (Some((_, wait, _)), None) | (None, Some(&(_, wait, _))) => wait as f64,
                (None, None) => 0.0,
            }
        };
        (until(to_ns) - until(from_ns)).max(0.0) as u64
    }

    /// Spreads it over computing and calls. Parts are what calls waited for something on its way.
    pub(crate) fn spread(&mut self, starts: &[u64], ends: &[u64], threads: &[Thread], parts: &[u32]) {
        if self.figures.iter().all(|of_rank| of_rank.windows(2).all(|two| two[1].1 <= two[0].1)) {
            return;
        }
        (self.before, self.within) = (vec![0; starts.len()], vec![0; starts.len()]);
        let mut computing = Vec::new();
        let mut flying = Vec::new();
        for thread in threads {
            let figures = self.figures.get(thread.rank as usize).map_or(&[][..], |figures| figures);
            let mut call = thread.calls.start as usize;
            let end = thread.calls.end as usize;
            for two in figures.windows(2) {
                let ((from_ns, before, run_before), (to_ns, after, run_after)) = (two[0], two[1]);
                let missing_ns = after.saturating_sub(before);
                while call < end && ends[call] <= from_ns {
                    call += 1;
                }
                if missing_ns == 0 || to_ns <= from_ns {
                    continue;
                }
                computing.clear();
                flying.clear();
                let mut computing_ns = 0;
                for at in call..end {
                    let gap_from_ns =
                        if at == thread.calls.start as usize { starts[at] } else { ends[at - 1] };
                    if gap_from_ns >= to_ns {
                        break;
                    }
                    let clipped = |from: u64, to: u64| to.min(to_ns).saturating_sub(from.max(from_ns));
                    let gap_ns = clipped(gap_from_ns, starts[at]);
                    computing_ns += gap_ns;
                    computing.push(Piece { call: at as u32, length_ns: gap_ns });
                    if parts[at] != NONE {
                        let flight_from_ns = ends[at].saturating_sub(u64::from(parts[at]));
                        let length_ns = clipped(flight_from_ns, ends[at]);
                        flying.push(Piece { call: at as u32, length_ns });
                    }
                }
                // A process that sleeps waits for no CPU. MPI libraries poll, so it sleeps while it computes.
                let awake_ns = run_after.saturating_sub(run_before).saturating_add(missing_ns);
                let awake_ns = awake_ns.min(to_ns - from_ns);
                let asleep_ns = to_ns - from_ns - awake_ns;
                let awake_ns = awake_ns as f64;
                let of_computing = (computing_ns.saturating_sub(asleep_ns) as f64 / awake_ns).min(1.0);
                let flying_ns: u64 = flying.iter().map(|piece| piece.length_ns).sum();
                let of_flying = (flying_ns as f64 / awake_ns).min(1.0 - of_computing);
                let part_ns = |share: f64, most_ns: u64| ((missing_ns as f64 * share) as u64).min(most_ns);
                cut(&mut computing, part_ns(of_computing, computing_ns), &mut self.before);
                cut(&mut flying, part_ns(of_flying, flying_ns), &mut self.within);
            }
        }
    }

    /// Whether any rank ever waited for a CPU.
    pub(crate) fn is_known(&self) -> bool {
        !self.before.is_empty()
    }
}

/// Takes time away from the longest pieces, down to a common length.
fn cut(pieces: &mut [Piece], missing_ns: u64, taken: &mut [u64]) {
    if missing_ns == 0 || pieces.is_empty() {
        return;
    }
    pieces.sort_unstable_by_key(|piece| std::cmp::Reverse(piece.length_ns));
    let mut sum_ns = 0;
    let mut level_ns = 0;
    for (at, piece) in pieces.iter().enumerate() {
        sum_ns += piece.length_ns;
        let next_ns = pieces.get(at + 1).map_or(0, |next| next.length_ns);
        let count = at as u64 + 1;
        if sum_ns.saturating_sub(next_ns * count) >= missing_ns {
            level_ns = (sum_ns - missing_ns) / count;
            break;
        }
    }
    for piece in pieces.iter().filter(|piece| piece.length_ns > level_ns) {
        taken[piece.call as usize] += piece.length_ns - level_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pieces_lose_first() {
        let mut pieces: Vec<Piece> = [10, 40, 10, 30]
            .iter()
            .enumerate()
            .map(|(at, ns)| Piece { call: at as u32, length_ns: *ns })
            .collect();
        let mut taken = vec![0; 4];
        cut(&mut pieces, 30, &mut taken);
        assert_eq!(taken, [0, 20, 0, 10]);
        let mut taken = vec![0; 4];
        cut(&mut pieces, 70, &mut taken);
        assert_eq!(taken, [5, 35, 5, 25]);
        let mut taken = vec![0; 4];
        cut(&mut pieces, 1000, &mut taken);
        assert_eq!(taken, [10, 40, 10, 30]);
    }
}
