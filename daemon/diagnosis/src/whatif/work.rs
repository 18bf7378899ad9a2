//! The computing of ranks, and what is left of it if ranks that do the same are balanced.
//!
//! In: a graph and the call sites of its calls. Out: by rank and part of the run, what the rank computes and what it
//! would compute if ranks that do the same had the same work; by call, the factor of the computing before it. A rank with
//! more than the others loses that where it differs from them: the work of a root that everybody waits for goes, not a
//! share of all its work. Balance is restored within segments of the run in which each rank's share stays the same.

use crate::whatif::between::{Computed, collect, compare, level, number_pairs};
use crate::whatif::call_kind::CallKind;
use crate::whatif::cpu_sharing::even_delays;
use crate::whatif::gaps::{Gap, class_count, class_of, each_gap, each_of_class, means};
use crate::whatif::graph::Graph;
use crate::whatif::graph::work::{Pairs, Scale, Work};
use crate::whatif::rule::Rule;
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
/// Likewise of segments, ranks and pairs of places. However many pairs there are, there may be this many segments.
const MOST_CELLS_OF_PAIRS: usize = 8 << 20;
const LEAST_MOST_SEGMENTS: usize = 16;
/// Work that a rank does alone is spread over all if it is more than this share of the rank's excess, and the other way round.
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
    let mut steps = vec![0.0; ranks * places];
    let mut sorted: Vec<u32> = Vec::new();
    each_of_class(graph, (counts.len(), places), |of_place| {
        sorted.clear();
        sorted.extend(of_place.iter().map(|at| counts[*at]));
        let middle = sorted.len() / 2;
        let usual = *sorted.select_nth_unstable(middle).1;
        of_place.iter().for_each(|at| steps[*at] = usual as f32 / counts[*at].max(1) as f32);
    });
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

impl Work {
    pub(crate) fn measure(graph: &Graph) -> Self {
        let ranks = graph.threads_of.len().max(1);
        let (parts, cells) = count_parts_and_cells(graph, ranks);
        let places = graph.places.iter().copied().max().map_or(1, |most| usize::from(most) + 1);

        let steps = steps(graph, places);
        let cell_of = cells_of(graph, cells, places, &steps);
        let is_rare: Vec<bool> = steps.iter().map(|step| *step == 0.0).collect();
        let mut by_cell = vec![0.0; ranks * cells];
        each_gap(graph, |gap| by_cell[gap.rank * cells + usize::from(cell_of[gap.call])] += gap.pure_ns);
        let relative = relative_to(&by_cell, &means(graph, &by_cell, cells));
        let pairs = number_pairs(graph, MOST_CELLS_OF_PAIRS / (ranks * LEAST_MOST_SEGMENTS));
        let most = (MOST_CELLS_OF_PAIRS / (ranks * pairs.count())).clamp(1, MOST_SEGMENTS);
        let starts = match graph.follows(Rule::Segments) {
            true => segments::starts(&relative, cells, most),
            false => vec![0],
        };
        let segments = starts.len();
        let segment_of: Vec<u16> =
            (0..cells).map(|cell| (starts.partition_point(|start| *start <= cell) - 1) as u16).collect();
        let own_ns = sums(&by_cell, cells, parts, |cell| cell * parts / cells);
        let even_ns = means(graph, &own_ns, parts);

        let of_rank = |gap: &Gap| usize::from(segment_of[usize::from(cell_of[gap.call])]) * ranks + gap.rank;
        let is_alone = |gap: &Gap| {
            let is_rare = |place: &u16| is_rare[gap.rank * places + usize::from(*place)];
            graph.follows(Rule::Alone) && gap.places.iter().all(is_rare)
        };
        let mut computed = collect(graph, &pairs, (segments, ranks), of_rank, is_alone);
        let of_segments = computed.chunks_exact_mut(ranks * pairs.count());
        let scales: Vec<Scale> =
            of_segments.flat_map(|of_segment| balance(graph, of_segment, &pairs)).collect();
        let of_ranks = computed.chunks_exact(pairs.count()).zip(&scales);
        let usual =
            of_ranks.flat_map(|(of_rank, scale)| of_rank.iter().map(|of| of.usual_share(scale.is_spread)));
        let usual = usual.collect();
        let segment_of_call = |call: usize| usize::from(segment_of[usize::from(cell_of[call])]);
        let sharing = graph.cpu_sharing.as_ref().filter(|_| graph.follows(Rule::EvenDelays));
        let delays = sharing.map(|sharing| even_delays(sharing, graph, segments, segment_of_call));
        Self {
            ranks,
            parts,
            own_ns,
            even_ns,
            cell_of,
            segment_of,
            segments,
            places,
            is_rare,
            pairs,
            usual,
            scales,
            delays: delays.unwrap_or_default(),
        }
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
    /// What is beyond the others, or below them, between calls where the rank differs from them.
    beyond: f64,
    below: f64,
    /// What of it is beyond them between calls that most of them do not make.
    alone: f64,
    /// What the rank loses if what it does alone goes to others.
    given: f64,
}

impl Amounts {
    fn new(of_rank: &[Computed], own: f64, even: f64) -> Self {
        let beyond = of_rank.iter().map(Computed::beyond_ns).sum();
        let below = of_rank.iter().map(Computed::below_ns).sum();
        let alone = of_rank.iter().filter(|of| of.is_alone).map(Computed::beyond_ns).sum();
        let given =
            of_rank.iter().map(|of| of.own_ns * (1.0 - f64::from(of.usual_share(true)).min(1.0))).sum();
        Self { own, even, beyond, below, alone, given }
    }

    fn excess(&self) -> f64 {
        self.own - self.even
    }

    /// Whether the rank's excess is work that others do not do at all: that goes to the others.
    fn is_spread(&self) -> bool {
        let is_most = |part: f64, whole: f64| part > SPREAD_SHARE * whole;
        is_most(self.alone, self.excess()) && is_most(self.excess(), self.alone)
    }
}

/// By rank, what becomes of its computing in a segment if work is even.
fn balance(graph: &Graph, computed: &mut [Computed], pairs: &Pairs) -> Vec<Scale> {
    let of_ranks = computed.chunks_exact(pairs.count());
    let own_ns: Vec<f64> = of_ranks.map(|of_rank| of_rank.iter().map(|of| of.own_ns).sum()).collect();
    let even_ns = means(graph, &own_ns, 1);
    compare(graph, computed, pairs, &even_ns);
    let of_ranks = || computed.chunks_exact(pairs.count());
    let amounts = of_ranks().zip(own_ns.into_iter().zip(even_ns));
    let amounts: Vec<Amounts> =
        amounts.map(|(of_rank, (own, even))| Amounts::new(of_rank, own, even)).collect();
    // By class, what ranks lose beyond their excess, and how many others there are to do it.
    let mut spread = vec![(0.0, 0_u32); class_count(graph)];
    for (rank, of) in amounts.iter().enumerate() {
        let Some(class) = class_of(graph, rank) else { continue };
        let (given, takers) = &mut spread[class];
        if of.is_spread() {
            *given += (of.given - of.excess()).max(0.0);
        } else if of.own > 0.0 {
            *takers += 1;
        }
    }
    let scale = |(rank, (of_rank, of)): (usize, (&[Computed], &Amounts))| {
        let (given, takers) = class_of(graph, rank).map_or((0.0, 0), |class| spread[class]);
        if takers > 0 && of.is_spread() {
            // What is left may still be more than others have.
            let all = (of.even / (of.own - of.given).max(1.0)).min(1.0) as f32;
            return Scale { all, ..Scale::SPREAD };
        }
        let even = of.even + if takers > 0 { given / f64::from(takers) } else { 0.0 };
        let level = level(of_rank, of.own - even).map(|level| level as f32);
        // What differs from others may not be enough: then all of it goes or is made up for, and the rest is scaled.
        let scaled = |differing: f64| (even / (of.own + differing).max(1.0)) as f32;
        match of.own {
            own if own < 1.0 => Scale::UNCHANGED,
            _ if !graph.follows(Rule::Between) => Scale { all: scaled(0.0), ..Scale::UNCHANGED },
            own if own <= even => match level {
                Some(least) => Scale { least, ..Scale::UNCHANGED },
                None => Scale { all: scaled(of.below), least: 1.0, ..Scale::UNCHANGED },
            },
            _ => match level {
                Some(most) => Scale { most, ..Scale::UNCHANGED },
                None => Scale { all: scaled(-of.beyond), most: 1.0, ..Scale::UNCHANGED },
            },
        }
    };
    of_ranks().zip(&amounts).enumerate().map(scale).collect()
}

/// Values by rank and cell, summed up by rank and the column that a cell is in.
fn sums(by_cell: &[f64], cells: usize, columns: usize, column: impl Fn(usize) -> usize) -> Vec<f64> {
    let mut sums = vec![0.0; by_cell.len() / cells * columns];
    for (of_rank, sums) in by_cell.chunks_exact(cells).zip(sums.chunks_exact_mut(columns)) {
        of_rank.iter().enumerate().for_each(|(cell, ns)| sums[column(cell)] += ns);
    }
    sums
}
