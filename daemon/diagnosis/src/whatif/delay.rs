//! Time in which ranks were ready to run and had no CPU, or were stopped, spread over what they did.
//!
//! The scheduler's figures come some ten times a second. Between two of them the time without a CPU falls on computing and on
//! calls by their shares of the time. Within computing it is what makes some stretches longer than others.

use crate::whatif::graph::{Graph, Thread};
use mpiscope_model::Scheduling;
use rustc_hash::FxHashMap;

/// What the scheduler says of a rank at a moment, in sums since its start.
#[derive(Debug, Clone, Copy)]
struct Figure {
    at_ns: u64,
    /// The time without a CPU.
    missing_ns: u64,
    /// The part of it in which the rank was stopped.
    stopped_ns: u64,
    run_ns: u64,
    /// How long the rank then waited for a CPU at a time, on average.
    wait_ns: u64,
}

/// How often a rank left its CPU. That is read more rarely than the other figures.
fn switches(row: &Scheduling) -> u64 {
    row.voluntary.saturating_add(row.involuntary)
}

/// Of the rows of a rank, in the order of time, what later ones are compared with: the newest, and the two in which switches
/// were last counted, which tell how long a wait is until they are counted again.
fn baseline(rows: &[Scheduling]) -> Vec<Scheduling> {
    let pairs = rows.windows(2).enumerate().rev();
    let changed = pairs.filter(|(_, two)| switches(&two[0]) != switches(&two[1])).map(|(at, _)| at + 1);
    let mut kept: Vec<usize> = changed.chain([0, 0]).take(2).collect();
    kept.push(rows.len().saturating_sub(1));
    rows.iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, row)| *row).collect()
}

/// Likewise of the rows of all ranks.
pub(crate) fn baselines(mut rows: Vec<Scheduling>) -> Vec<Scheduling> {
    rows.sort_by_key(|row| (row.rank, row.at_ns));
    rows.chunk_by(|one, other| one.rank == other.rank).flat_map(baseline).collect()
}

/// The figures of a rank, from its rows in the order of time; switches were counted in the first.
fn figures_of(rows: &[Scheduling]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::with_capacity(rows.len());
    let mut counted: Option<&Scheduling> = None;
    let mut wait_ns = u64::MAX;
    for row in rows {
        let before = counted.get_or_insert(row);
        let count = switches(row).saturating_sub(switches(before));
        if let Some(mean_ns) = row.wait_ns.saturating_sub(before.wait_ns).checked_div(count) {
            // That holds since they were counted before.
            let since = figures.iter_mut().rev().take_while(|figure| figure.at_ns > before.at_ns);
            since.for_each(|figure| figure.wait_ns = mean_ns);
            (wait_ns, counted) = (mean_ns, Some(row));
        }
        figures.push(Figure {
            at_ns: row.at_ns,
            missing_ns: row.delayed_ns(),
            stopped_ns: row.stopped_ns,
            run_ns: row.run_ns,
            wait_ns,
        });
    }
    figures
}

/// The figures of all ranks, and what they mean for each call.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    /// By rank, in the order of time.
    figures: Vec<Vec<Figure>>,
    /// By call, the time without a CPU in the computing before it, in nanoseconds. Empty where no rank ever waited.
    pub(crate) before: Vec<u64>,
    /// By call, likewise in itself after what it waited for was on its way.
    pub(crate) within: Vec<u64>,
    /// Of calls that took long because a rank that they needed had no CPU, how long it had none.
    pub(crate) starved: FxHashMap<u32, u64>,
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
        for rows in scheduling.chunk_by(|one, other| one.rank == other.rank) {
            if let Some(of_rank) = figures.get_mut(rows[0].rank as usize) {
                *of_rank = figures_of(rows);
            }
        }
        Self { figures, ..Self::default() }
    }

    /// The time without a CPU of a rank in a stretch; between two figures it comes evenly.
    pub(crate) fn between(&self, rank: u32, from_ns: u64, to_ns: u64) -> u64 {
        let Some(figures) = self.figures.get(rank as usize) else { return 0 };
        let until = |at_ns: u64| {
            let after = figures.partition_point(|figure| figure.at_ns <= at_ns);
            match (after.checked_sub(1).map(|at| figures[at]), figures.get(after)) {
                (Some(one), Some(other)) => {
                    let share = (at_ns - one.at_ns) as f64 / (other.at_ns - one.at_ns).max(1) as f64;
                    one.missing_ns as f64 + other.missing_ns.saturating_sub(one.missing_ns) as f64 * share
                }
                (Some(only), None) | (None, Some(&only)) => only.missing_ns as f64,
                (None, None) => 0.0,
            }
        };
        (until(to_ns) - until(from_ns)).max(0.0) as u64
    }

    /// Spreads it over computing and calls. Parts are how long calls took after what they waited for was on its way.
    pub(crate) fn spread(&mut self, starts: &[u64], ends: &[u64], threads: &[Thread], parts: &[u64]) {
        if self
            .figures
            .iter()
            .all(|of_rank| of_rank.windows(2).all(|two| two[1].missing_ns <= two[0].missing_ns))
        {
            return;
        }
        (self.before, self.within) = (vec![0; starts.len()], vec![0; starts.len()]);
        let mut computing = Vec::new();
        let mut in_calls = Vec::new();
        for thread in threads {
            let figures = self.figures.get(thread.rank as usize).map_or(&[][..], |figures| figures);
            let mut call = thread.calls.start as usize;
            let end = thread.calls.end as usize;
            for two in figures.windows(2) {
                let (from_ns, to_ns) = (two[0].at_ns, two[1].at_ns);
                let since = |figure: fn(&Figure) -> u64| figure(&two[1]).saturating_sub(figure(&two[0]));
                let missing_ns = since(|figure| figure.missing_ns);
                while call < end && ends[call] <= from_ns {
                    call += 1;
                }
                if missing_ns == 0 || to_ns <= from_ns {
                    continue;
                }
                computing.clear();
                in_calls.clear();
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
                    if parts[at] > 0 {
                        let length_ns = clipped(ends[at] - parts[at], ends[at]);
                        in_calls.push(Piece { call: at as u32, length_ns });
                    }
                }
                // A process that sleeps waits for no CPU. MPI libraries poll, so it sleeps while it computes.
                let awake_ns = since(|figure| figure.run_ns).saturating_add(missing_ns);
                let awake_ns = awake_ns.min(to_ns - from_ns);
                let asleep_ns = to_ns - from_ns - awake_ns;
                let awake_ns = awake_ns as f64;
                let of_computing = (computing_ns.saturating_sub(asleep_ns) as f64 / awake_ns).min(1.0);
                let in_calls_ns: u64 = in_calls.iter().map(|piece| piece.length_ns).sum();
                let of_calls = (in_calls_ns as f64 / awake_ns).min(1.0 - of_computing);
                let part_ns = |share: f64, most_ns: u64| ((missing_ns as f64 * share) as u64).min(most_ns);
                cut(&mut computing, part_ns(of_computing, computing_ns), &mut self.before);
                // Who polls for a message loses nothing by lacking a CPU before it comes: it comes later by one wait of average length.
                let stopped_ns = since(|figure| figure.stopped_ns);
                for piece in &mut in_calls {
                    let wait_ns = two[1].wait_ns.saturating_sub(self.within[piece.call as usize]);
                    piece.length_ns = piece.length_ns.min(wait_ns.saturating_add(stopped_ns));
                }
                let in_calls_ns: u64 = in_calls.iter().map(|piece| piece.length_ns).sum();
                cut(&mut in_calls, part_ns(of_calls, in_calls_ns), &mut self.within);
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
    fn a_wait_is_as_long_as_between_the_counts_of_switches() {
        let row = |at_ns, wait_ns, involuntary| Scheduling {
            rank: 0,
            at_ns,
            run_ns: 0,
            wait_ns,
            voluntary: 0,
            involuntary,
            stopped_ns: 0,
            blocked_ns: 0,
        };
        let waits =
            |rows: &[Scheduling]| -> Vec<u64> { figures_of(rows).iter().map(|of| of.wait_ns).collect() };
        let rows =
            [row(1, 0, 5), row(2, 60, 5), row(3, 100, 15), row(4, 160, 15), row(5, 200, 20), row(6, 300, 20)];
        assert_eq!(waits(&rows), [u64::MAX, 10, 10, 20, 20, 20]);
        // What comes after some of them begins with what they were compared with.
        assert_eq!(baseline(&rows[..4]), [rows[0], rows[2], rows[3]]);
        assert_eq!(waits(&[rows[0], rows[2], rows[3], rows[4]]), [u64::MAX, 10, 20, 20]);
        // Also where they are not counted again for a while.
        let later = [baseline(&rows[..4]), vec![row(5, 190, 15), row(6, 200, 15)]].concat();
        assert_eq!(waits(&later), [u64::MAX, 10, 10, 10, 10]);
        assert_eq!(baseline(&later), [rows[0], rows[2], row(6, 200, 15)]);
        assert_eq!(baseline(&rows[..3]), [rows[0], rows[2]]);
        assert_eq!(baseline(&rows[..2]), [rows[0], rows[1]]);
        assert_eq!(baseline(&[]), []);
        // Where nobody counted, a wait may be of any length.
        assert_eq!(waits(&[row(1, 0, 0), row(2, 60, 0)]), [u64::MAX; 2]);
    }

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
