//! The computing of ranks, and what is left of it if ranks that do the same are balanced.
//!
//! In: a graph and the call sites of its calls. Out: by rank and part of the run, what the rank computes and what it
//! would compute if ranks that do the same had the same work; by call, the factor of the computing before it. A rank with
//! more than the others loses that where it differs from them: the work of a root that everybody waits for goes, not a
//! share of all its work. Balance is restored within segments of the run in which each rank's share stays the same.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::NONE;
use crate::whatif::graph::Graph;
use crate::whatif::graph::work::{Scale, Work};
use crate::whatif::segments;
use mpiscope_model::Site;
use rustc_hash::FxHashMap;

/// The run is shown in this many parts at most.
const MOST_PARTS: usize = 12;
/// A part has at least this many calls.
const LEAST_CALLS: usize = 64;
/// Each part has this many cells at most. A cell has at least this many calls. All ranks together have this many cells at most.
const CELLS_OF_PART: usize = 16;
const LEAST_CALLS_OF_CELL: usize = 8;
const MOST_CELLS_OF_RANKS: usize = 4 << 20;
/// Balance changes this often at most.
const MOST_SEGMENTS: usize = 64;
/// Weights of ranks and places are kept for this many cells at most; further places are one.
const MOST_CELLS: usize = 16 << 20;
/// Work that only a few ranks do is spread over all if at least this share of it is more than those ranks' part.
const SPREAD_SHARE: f64 = 0.5;

/// By call, a dense number of its call site.
pub(crate) fn places(graph: &Graph, sites: &[Site]) -> Vec<u16> {
    let most = (MOST_CELLS / graph.threads_of.len().max(1)).clamp(1, usize::from(u16::MAX)) - 1;
    let mut numbers: FxHashMap<(u16, Site), u16> = FxHashMap::default();
    let mut number = |function: u16, site: Site| {
        let next = numbers.len().min(most) as u16;
        *numbers.entry((function, site)).or_insert(next)
    };
    graph.functions.iter().zip(sites).map(|(function, site)| number(*function, *site)).collect()
}

/// By call, the cell that it is in. Cells divide the progress of each thread equally.
fn cells_of(graph: &Graph, cells: usize, places: usize, steps: &[f32]) -> Vec<u8> {
    let mut cell_of = Vec::with_capacity(graph.starts.len());
    for thread in &graph.threads {
        let of_rank = &steps[thread.rank.index() * places..][..places];
        let calls = || thread.calls.clone().map(|call| call as usize);
        let step_of = |call: usize| match graph.kind(call) {
            CallKind::Poll => 0.0,
            _ => f64::from(of_rank[usize::from(graph.places[call])]),
        };
        let whole: f64 = calls().map(step_of).sum();
        // Where nothing is known of progress, each call is a step.
        let (whole, is_known) = if whole > 0.0 { (whole, true) } else { (calls().len() as f64, false) };
        let mut progress = 0.0;
        for call in calls() {
            cell_of.push(((progress / whole * cells as f64) as usize).min(cells - 1) as u8);
            progress += if is_known { step_of(call) } else { 1.0 };
        }
    }
    cell_of
}

/// By rank and place, how far a call there brings the rank. Ranks that do the same go equally far in all: what most of them
/// do not call, as the receives of a root, is no progress. Nor are polls, for who waits longer polls more often.
fn steps(graph: &Graph, places: usize) -> Vec<f32> {
    let ranks = graph.threads_of.len().max(1);
    let mut counts = vec![0_u32; ranks * places];
    for (call, rank) in graph.ranks.iter().enumerate() {
        counts[rank.index() * places + usize::from(graph.places[call])] += 1;
    }
    let mut members = vec![Vec::new(); class_count(graph)];
    (0..ranks).for_each(|rank| class_of(graph, rank).into_iter().for_each(|class| members[class].push(rank)));
    let mut steps = vec![0.0; ranks * places];
    let mut of_place: Vec<u32> = Vec::new();
    for (place, ranks) in (0..places).flat_map(|place| members.iter().map(move |ranks| (place, ranks))) {
        of_place.clear();
        of_place.extend(ranks.iter().map(|rank| counts[rank * places + place]));
        let middle = of_place.len() / 2;
        let usual = *of_place.select_nth_unstable(middle).1;
        for rank in ranks {
            let at = rank * places + place;
            steps[at] = usual as f32 / counts[at].max(1) as f32;
        }
    }
    steps
}

/// The parts of the run, and the cells of all parts.
fn count_parts_and_cells(graph: &Graph, ranks: usize) -> (usize, usize) {
    let calls = graph.starts.len() / graph.threads.len().max(1);
    let parts = (calls / LEAST_CALLS).clamp(1, MOST_PARTS);
    let cells_of_part = (calls / parts / LEAST_CALLS_OF_CELL).min(MOST_CELLS_OF_RANKS / ranks / parts);
    (parts, parts * cells_of_part.clamp(1, CELLS_OF_PART))
}

/// Each amount divided by the mean; 1 where that is nothing.
fn relative_to(own: &[f64], mean: &[f64]) -> Vec<f64> {
    let relative = |(own, mean): (&f64, &f64)| if *mean > 0.0 { own / mean } else { 1.0 };
    own.iter().zip(mean).map(relative).collect()
}

/// The share of each amount that is beyond the mean.
fn shares_beyond(own: &[f64], mean: &[f64]) -> Vec<f32> {
    let share = |(own, mean): (&f64, &f64)| if own > mean { (1.0 - mean / own) as f32 } else { 0.0 };
    own.iter().zip(mean).map(share).collect()
}

/// By rank, the sum of these shares at all places.
fn beyond_by_rank(at_ns: &[f64], shares: &[f32], places: usize) -> impl Iterator<Item = f64> {
    let beyond_ns = |(at_ns, shares): (&[f64], &[f32])| {
        at_ns.iter().zip(shares).map(|(ns, share)| ns * f64::from(*share)).sum()
    };
    at_ns.chunks_exact(places).zip(shares.chunks_exact(places)).map(beyond_ns)
}

impl Work {
    pub(crate) fn measure(graph: &Graph) -> Self {
        let ranks = graph.threads_of.len().max(1);
        let (parts, cells) = count_parts_and_cells(graph, ranks);
        let places = graph.places.iter().copied().max().map_or(1, |most| usize::from(most) + 1);

        let steps = steps(graph, places);
        let cell_of = cells_of(graph, cells, places, &steps);
        let is_rare = steps.iter().map(|step| *step == 0.0).collect();
        let mut by_cell = vec![0.0; ranks * cells];
        each_gap(graph, |gap| by_cell[gap.rank * cells + usize::from(cell_of[gap.call])] += gap.pure_ns);
        let relative = relative_to(&by_cell, &means(graph, &by_cell, cells));
        let most = (2 * MOST_CELLS / (ranks * places)).clamp(1, MOST_SEGMENTS);
        let starts = segments::starts(&relative, cells, most);
        let segments = starts.len();
        let segment_of: Vec<u16> =
            (0..cells).map(|cell| (starts.partition_point(|start| *start <= cell) - 1) as u16).collect();
        let own_ns = sums(&by_cell, cells, parts, |cell| cell * parts / cells);
        let even_ns = means(graph, &own_ns, parts);

        let mut at_ns = vec![0.0; segments * ranks * places];
        each_gap(graph, |gap| {
            let segment = usize::from(segment_of[usize::from(cell_of[gap.call])]);
            at_ns[(segment * ranks + gap.rank) * places + gap.place] += gap.pure_ns;
        });
        let own_of_segment = sums(&by_cell, cells, segments, |cell| usize::from(segment_of[cell]));
        let even_of_segment = means(graph, &own_of_segment, segments);
        let (mut beyond, mut scales) =
            (Vec::with_capacity(at_ns.len()), Vec::with_capacity(segments * ranks));
        for (segment, at_ns) in at_ns.chunks_exact(ranks * places).enumerate() {
            let shares = shares_beyond(at_ns, &means(graph, at_ns, places));
            let beyond_of_ranks = beyond_by_rank(at_ns, &shares, places);
            let amounts = beyond_of_ranks.enumerate().map(|(rank, beyond)| {
                let at = rank * segments + segment;
                Amounts { own: own_of_segment[at], even: even_of_segment[at], beyond }
            });
            scales.extend(balance(graph, &amounts.collect::<Vec<_>>()));
            beyond.extend(shares);
        }
        Self { ranks, parts, own_ns, even_ns, cell_of, segment_of, segments, places, is_rare, beyond, scales }
    }
}

impl Graph {
    /// The computing of all ranks.
    pub(crate) fn work(&self) -> &Work {
        self.work.get_or_init(|| Work::measure(self))
    }
}

/// What a rank computes in a segment, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Amounts {
    own: f64,
    /// The mean of the ranks that do the same.
    even: f64,
    /// What is beyond the others at some places.
    beyond: f64,
}

impl Amounts {
    fn excess(&self) -> f64 {
        self.own - self.even
    }

    /// Whether the rank does work that others do not do at all: it goes to all of them, instead of the rank's own share.
    fn is_spread(&self) -> bool {
        self.beyond > self.excess() && self.excess() > SPREAD_SHARE * self.beyond
    }
}

/// By rank, what becomes of its computing if work is even.
fn balance(graph: &Graph, amounts: &[Amounts]) -> Vec<Scale> {
    // By class, what ranks lose beyond their excess, and how many others there are to do it.
    let mut spread = vec![(0.0, 0_u32); class_count(graph)];
    for (rank, of) in amounts.iter().enumerate() {
        let Some(class) = class_of(graph, rank) else { continue };
        let (given, takers) = &mut spread[class];
        if of.is_spread() {
            *given += of.beyond - of.excess();
        } else if of.own > 0.0 {
            *takers += 1;
        }
    }
    let scale = |(rank, of): (usize, &Amounts)| {
        let (given, takers) = class_of(graph, rank).map_or((0.0, 0), |class| spread[class]);
        if takers > 0 && of.is_spread() {
            return Scale::SPREAD;
        }
        let even = of.even + if takers > 0 { given / f64::from(takers) } else { 0.0 };
        match of.own {
            own if own <= 0.0 => Scale::UNCHANGED,
            own if own <= even => Scale { all: (even / own) as f32, beyond: 0.0 },
            own if of.beyond > own - even => Scale { all: 1.0, beyond: ((own - even) / of.beyond) as f32 },
            // More than differs from the others.
            own => Scale { all: (even / (own - of.beyond).max(f64::MIN_POSITIVE)) as f32, beyond: 1.0 },
        }
    };
    amounts.iter().enumerate().map(scale).collect()
}

/// The computing before a call.
struct Gap {
    rank: usize,
    call: usize,
    place: usize,
    pure_ns: f64,
}

/// The computing before each call but the first of a thread.
fn each_gap(graph: &Graph, mut take: impl FnMut(Gap)) {
    for thread in &graph.threads {
        let calls = thread.calls.start as usize..thread.calls.end as usize;
        for call in calls.clone().skip(1) {
            let gap_ns = graph.starts[call] - graph.ends[call - 1];
            let pure_ns = gap_ns.saturating_sub(graph.delay_before(call)) as f64;
            let (rank, place) = (thread.rank.index(), usize::from(graph.places[call]));
            take(Gap { rank, call, place, pure_ns });
        }
    }
}

/// Values by rank and cell, summed up by rank and the column that a cell is in.
fn sums(by_cell: &[f64], cells: usize, columns: usize, column: impl Fn(usize) -> usize) -> Vec<f64> {
    let mut sums = vec![0.0; by_cell.len() / cells * columns];
    for (of_rank, sums) in by_cell.chunks_exact(cells).zip(sums.chunks_exact_mut(columns)) {
        of_rank.iter().enumerate().for_each(|(cell, ns)| sums[column(cell)] += ns);
    }
    sums
}

fn class_of(graph: &Graph, rank: usize) -> Option<usize> {
    graph.classes.get(rank).copied().filter(|class| *class != NONE).map(|class| class as usize)
}

fn class_count(graph: &Graph) -> usize {
    (0..graph.classes.len()).filter_map(|rank| class_of(graph, rank)).max().map_or(0, |most| most + 1)
}

/// In each of some columns of every rank, the mean of the ranks that do the same.
fn means(graph: &Graph, own_ns: &[f64], columns: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u32); class_count(graph) * columns];
    for rank in (0..graph.threads_of.len()).filter(|rank| !graph.threads_of[*rank].is_empty()) {
        let Some(class) = class_of(graph, rank) else { continue };
        for column in 0..columns {
            let (sum, count) = &mut sums[class * columns + column];
            (*sum, *count) = (*sum + own_ns[rank * columns + column], *count + 1);
        }
    }
    let mut means = own_ns.to_vec();
    for (at, mean) in means.iter_mut().enumerate() {
        if let Some(class) = class_of(graph, at / columns) {
            let (sum, count) = sums[class * columns + at % columns];
            *mean = sum / f64::from(count.max(1));
        }
    }
    means
}
