//! Time in which ranks were ready to run and had no CPU, or were stopped, spread over what they did.
//!
//! The scheduler's figures come some ten times a second. Between two of them the time without a CPU is what makes some
//! stretches of computing, and some calls, longer than they are at the same place otherwise. What is left of it falls on
//! computing and on calls by their shares of the time.

use crate::whatif::graph::delays::{Delays, SchedulerSample};
use crate::whatif::graph::{Graph, Thread};
use crate::whatif::rule::Rule;
use mpiscope_model::Scheduling;
use rustc_hash::FxHashMap;

/// Quantiles beyond which computing and calls at a place are longer than usual, in descending order. What is beyond the first
/// waited before all else: at one place several things may be done in turn.
const USUAL: [f64; 3] = [0.9, 0.5, 0.1];
/// A rank that lacks a CPU for a greater share of the time in which it is ready to run shares it. Most of what it does is then
/// longer than without, and only the lower quantiles tell what waited. Where nothing came over a network, a wait may be longer than
/// the average: where ranks yield their CPUs while they poll, many short waits hide the long ones.
const SHARES_CPU: f64 = 0.2;

/// The lengths of computing before calls at a place, and of these calls, by quantile.
pub(crate) struct Usual {
    computing_ns: [u64; USUAL.len()],
    pub(crate) call_ns: [u64; USUAL.len()],
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
fn figures_of(rows: &[Scheduling]) -> Vec<SchedulerSample> {
    let mut figures: Vec<SchedulerSample> = Vec::with_capacity(rows.len());
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
        figures.push(SchedulerSample {
            at_ns: row.at_ns,
            missing_ns: row.delayed_ns(),
            stopped_ns: row.stopped_ns,
            run_ns: row.run_ns,
            wait_ns,
        });
    }
    figures
}

/// The share of what ranks waited for a CPU that recording took of it. Figures are sums since the start of the process.
fn share_of_recorder(scheduling: &[Scheduling], recorder_ns: u64) -> f64 {
    let of_ranks = scheduling.chunk_by(|one, other| one.rank == other.rank);
    let newest = of_ranks.filter_map(|rows| rows.last());
    let missing_ns = newest.fold(0_u64, |sum, row| sum.saturating_add(row.delayed_ns()));
    if missing_ns > recorder_ns { recorder_ns as f64 / missing_ns as f64 } else { 1.0 }
}

/// A stretch between two figures: of the computing before a call, or of the call.
#[derive(Clone, Copy)]
struct Piece {
    call: u32,
    is_call: bool,
    /// It needs nothing that comes over a network.
    is_within_node: bool,
    length_ns: u64,
    /// By how much it is longer than usual there, by quantile.
    excess_ns: [u64; USUAL.len()],
}

/// When the computing before a call began.
fn computing_from_ns(graph: &Graph, thread: &Thread, call: usize) -> u64 {
    if call == thread.calls.start as usize { graph.starts[call] } else { graph.ends[call - 1] }
}

/// By place, what is usual of a thread's computing before its calls there, and of parts of these calls.
pub(crate) fn usual(graph: &Graph, thread: &Thread, parts: &[u64]) -> FxHashMap<u16, Usual> {
    let mut at: FxHashMap<u16, (Vec<u64>, Vec<u64>)> = FxHashMap::default();
    for call in thread.calls.clone().map(|call| call as usize) {
        let (computing, of_calls) = at.entry(graph.places[call]).or_default();
        computing.push(graph.starts[call] - computing_from_ns(graph, thread, call));
        of_calls.push(parts[call]);
    }
    let quantiles = |mut of: Vec<u64>| {
        of.sort_unstable();
        USUAL.map(|share| of[(of.len() as f64 * share) as usize])
    };
    let usual = |(place, (computing, of_calls)): (u16, (Vec<u64>, Vec<u64>))| {
        (place, Usual { computing_ns: quantiles(computing), call_ns: quantiles(of_calls) })
    };
    at.into_iter().map(usual).collect()
}

/// The calls of a thread, the parts of them that may lack a CPU, and what is usual of both.
struct ThreadCalls<'a> {
    graph: &'a Graph,
    thread: &'a Thread,
    parts: &'a [u64],
    usual: FxHashMap<u16, Usual>,
    has_one_node: bool,
}

impl ThreadCalls<'_> {
    /// Collects computing and parts of calls between two moments, from a call on. `before` and `within` are the times
    /// without a CPU that were found earlier.
    #[inline]
    fn collect_pieces(
        &self,
        (from_ns, to_ns): (u64, u64),
        first: usize,
        (before, within): (&[u64], &[u64]),
        pieces: &mut Vec<Piece>,
    ) {
        let Self { graph, thread, parts, usual, has_one_node } = self;
        let clipped = |from: u64, to: u64| to.min(to_ns).saturating_sub(from.max(from_ns));
        let tells = graph.follows(Rule::BeyondUsual);
        let beyond = |ns: u64, usual_ns: u64| if tells { ns.saturating_sub(usual_ns) } else { 0 };
        for at in first..thread.calls.end as usize {
            let gap_from_ns = computing_from_ns(graph, thread, at);
            if gap_from_ns >= to_ns {
                break;
            }
            let usual = &usual[&graph.places[at]];
            let gap_ns = graph.starts[at] - gap_from_ns;
            pieces.push(Piece {
                call: at as u32,
                is_call: false,
                is_within_node: true,
                length_ns: clipped(gap_from_ns, graph.starts[at]),
                excess_ns: usual.computing_ns.map(|usual_ns| beyond(gap_ns, usual_ns + before[at])),
            });
            if parts[at] > 0 {
                pieces.push(Piece {
                    call: at as u32,
                    is_call: true,
                    is_within_node: graph.is_within_node(at, *has_one_node),
                    length_ns: clipped(graph.ends[at] - parts[at], graph.ends[at]),
                    excess_ns: usual.call_ns.map(|usual_ns| beyond(parts[at], usual_ns + within[at])),
                });
            }
        }
    }
}

impl Delays {
    pub(crate) fn from_figures(graph: &Graph, mut scheduling: Vec<Scheduling>, recorder_ns: u64) -> Self {
        scheduling.sort_by_key(|row| (row.rank, row.at_ns));
        let of_recorder = if recorder_ns > 0 { share_of_recorder(&scheduling, recorder_ns) } else { 0.0 };
        let mut figures = vec![Vec::new(); graph.threads_of.len()];
        for rows in scheduling.chunk_by(|one, other| one.rank == other.rank) {
            if let Some(of_rank) = figures.get_mut(rows[0].rank.index()) {
                *of_rank = figures_of(rows);
            }
        }
        Self { figures, of_recorder, ..Self::default() }
    }

    /// Spreads it over computing and calls. Parts are how long calls took after what they waited for was on its way.
    pub(crate) fn spread(&mut self, graph: &Graph, parts: &[u64]) {
        let is_without = |two: &[SchedulerSample]| two[1].missing_ns > two[0].missing_ns;
        if !self.figures.iter().any(|of_rank| of_rank.windows(2).any(is_without)) {
            return;
        }
        (self.before, self.within) = (vec![0; graph.starts.len()], vec![0; graph.starts.len()]);
        let Self { figures, before, within, .. } = self;
        let mut pieces = Vec::new();
        let has_one_node = graph.has_one_node();
        for thread in &graph.threads {
            let figures = figures.get(thread.rank.index()).map_or(&[][..], |figures| figures);
            if !figures.windows(2).any(is_without) {
                continue;
            }
            let usual = usual(graph, thread, parts);
            let of_thread = ThreadCalls { graph, thread, parts, usual, has_one_node };
            let mut call = thread.calls.start as usize;
            for two in figures.windows(2) {
                let (from_ns, to_ns) = (two[0].at_ns, two[1].at_ns);
                while call < thread.calls.end as usize && graph.ends[call] <= from_ns {
                    call += 1;
                }
                if !is_without(two) || to_ns <= from_ns {
                    continue;
                }
                pieces.clear();
                of_thread.collect_pieces((from_ns, to_ns), call, (before, within), &mut pieces);
                take(two, &mut pieces, (before, within));
            }
        }
    }
}

/// Takes the time without a CPU between two figures from the pieces between them.
fn take(two: &[SchedulerSample], pieces: &mut [Piece], (before, within): (&mut [u64], &mut [u64])) {
    let shares = Shares::between(two, pieces);
    let missing_ns = two[1].missing_ns - two[0].missing_ns;
    let stopped_ns = two[1].stopped_ns.saturating_sub(two[0].stopped_ns);
    let shares_cpu = missing_ns.saturating_sub(stopped_ns) as f64
        >= SHARES_CPU * shares.awake_ns.saturating_sub(stopped_ns).max(1) as f64;
    // Who polls for a message loses nothing by lacking a CPU before it comes: it comes later by one wait.
    for piece in pieces.iter_mut() {
        let mut most_ns = piece.length_ns;
        if piece.is_call {
            let taken_ns = within[piece.call as usize];
            let one_wait_ns = two[1].wait_ns.saturating_sub(taken_ns).saturating_add(stopped_ns);
            piece.length_ns = piece.length_ns.min(one_wait_ns);
            most_ns = if shares_cpu && piece.is_within_node { most_ns } else { piece.length_ns };
        }
        piece.excess_ns = piece.excess_ns.map(|excess_ns| excess_ns.min(most_ns));
    }
    let mut take = |piece: &mut Piece, ns: u64| {
        let taken = if piece.is_call { &mut *within } else { &mut *before };
        taken[piece.call as usize] += ns;
        piece.length_ns = piece.length_ns.saturating_sub(ns);
        piece.excess_ns = piece.excess_ns.map(|excess_ns| excess_ns.saturating_sub(ns));
    };
    let mut found_ns = 0;
    // Who sleeps while it computes waits for no CPU meanwhile, however much computing differs.
    let mut awake_ns = shares.computing_ns;
    for at in 0..if shares_cpu { USUAL.len() } else { 1 } {
        let computing = pieces.iter().filter(|piece| !piece.is_call);
        let excess_ns: u64 = computing.map(|piece| piece.excess_ns[at]).sum();
        let awake = (awake_ns as f64 / excess_ns.max(1) as f64).min(1.0);
        let amount = |piece: &Piece| match piece.excess_ns[at] {
            ns if piece.is_call || at == 0 => ns,
            ns => (ns as f64 * awake) as u64,
        };
        found_ns += cut(pieces, missing_ns - found_ns, amount, |piece, ns| {
            awake_ns = awake_ns.saturating_sub(if piece.is_call { 0 } else { ns });
            take(piece, ns);
        });
    }
    let shared_ns = missing_ns as f64 * (shares.computing + shares.calls);
    let rest = (1.0 - found_ns as f64 / shared_ns.max(1.0)).max(0.0);
    for (is_call, share) in [(false, shares.computing), (true, shares.calls)] {
        let rest_ns = (missing_ns as f64 * share * rest) as u64;
        let length_ns = |piece: &Piece| if piece.is_call == is_call { piece.length_ns } else { 0 };
        cut(pieces, rest_ns, length_ns, &mut take);
    }
}

/// The shares of the time without a CPU between two figures that fall on computing and on calls, by their lengths.
struct Shares {
    computing: f64,
    calls: f64,
    /// The time ready to run, and the part of it that is computing.
    awake_ns: u64,
    computing_ns: u64,
}

impl Shares {
    fn between(two: &[SchedulerSample], pieces: &[Piece]) -> Self {
        let length_ns = |is_call: bool| -> u64 {
            pieces.iter().filter(|piece| piece.is_call == is_call).map(|piece| piece.length_ns).sum()
        };
        let since = |figure: fn(&SchedulerSample) -> u64| figure(&two[1]).saturating_sub(figure(&two[0]));
        let between_ns = two[1].at_ns - two[0].at_ns;
        // A process that sleeps waits for no CPU. MPI libraries poll, so it sleeps while it computes.
        let awake_ns = since(|figure| figure.run_ns).saturating_add(since(|figure| figure.missing_ns));
        let awake_ns = awake_ns.min(between_ns);
        let computing_ns = length_ns(false).saturating_sub(between_ns - awake_ns);
        let share = |ns: u64| ns as f64 / awake_ns.max(1) as f64;
        let computing = share(computing_ns).min(1.0);
        Self { computing, calls: share(length_ns(true)).min(1.0 - computing), awake_ns, computing_ns }
    }
}

/// Takes time away from pieces that have most of something, down to a common rest. How much that was.
fn cut(
    pieces: &mut [Piece],
    missing_ns: u64,
    amount: impl Fn(&Piece) -> u64,
    mut take: impl FnMut(&mut Piece, u64),
) -> u64 {
    let missing_ns = missing_ns.min(pieces.iter().map(&amount).sum());
    if missing_ns == 0 {
        return 0;
    }
    pieces.sort_unstable_by_key(|piece| std::cmp::Reverse(amount(piece)));
    let mut sum_ns = 0;
    let mut level_ns = 0;
    for (at, piece) in pieces.iter().enumerate() {
        sum_ns += amount(piece);
        let next_ns = pieces.get(at + 1).map_or(0, &amount);
        let count = at as u64 + 1;
        if sum_ns.saturating_sub(next_ns * count) >= missing_ns {
            level_ns = (sum_ns - missing_ns) / count;
            break;
        }
    }
    for piece in pieces.iter_mut() {
        let ns = amount(piece);
        if ns > level_ns {
            take(piece, ns - level_ns);
        }
    }
    missing_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;

    #[test]
    fn a_wait_is_as_long_as_between_the_counts_of_switches() {
        let row = |at_ns, wait_ns, involuntary| Scheduling {
            rank: Rank(0),
            at_ns,
            run_ns: 0,
            wait_ns,
            voluntary: 0,
            involuntary,
            stopped_ns: 0,
            blocked_ns: 0,
            major_faults: 0,
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
        let lengths = [10, 40, 10, 30];
        let taken = |missing_ns: u64| {
            let piece = |(call, ns): (usize, &u64)| Piece {
                call: call as u32,
                is_call: false,
                is_within_node: true,
                length_ns: *ns,
                excess_ns: [0; USUAL.len()],
            };
            let mut pieces: Vec<Piece> = lengths.iter().enumerate().map(piece).collect();
            let mut taken = [0; 4];
            let found_ns = cut(
                &mut pieces,
                missing_ns,
                |piece| piece.length_ns,
                |piece, ns| taken[piece.call as usize] = ns,
            );
            (found_ns, taken)
        };
        assert_eq!(taken(30), (30, [0, 20, 0, 10]));
        assert_eq!(taken(70), (70, [5, 35, 5, 25]));
        assert_eq!(taken(1000), (90, lengths));
    }
}
