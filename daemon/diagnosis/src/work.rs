//! The computing of ranks, and what is left of it if ranks that do the same are balanced.
//!
//! In: a graph and the call sites of its calls. Out: by rank and part of the run, what the rank computes and what it
//! would compute if ranks that do the same had the same work; by call, the factor of the computing before it. A rank with
//! more than the others loses that where it differs from them: the work of a root that everybody waits for goes, not a
//! share of all its work.

use crate::builder::NONE;
use crate::graph::Graph;
use rustc_hash::FxHashMap;

/// Ranks progress at different times, so work is evened out by parts of each rank's calls.
const MOST_PARTS: usize = 12;
/// A part has at least this many calls.
const LEAST_CALLS: usize = 64;
/// Weights of ranks and places are kept for this many cells at most; further places are one.
const MOST_CELLS: usize = 16 << 20;

/// By call, a dense number of its call site.
pub(crate) fn places(graph: &Graph, sites: &[u32]) -> Vec<u16> {
    let most = (MOST_CELLS / graph.threads_of.len().max(1)).clamp(1, usize::from(u16::MAX)) - 1;
    let mut numbers: FxHashMap<(u16, u32), u16> = FxHashMap::default();
    let mut number = |function: u16, site: u32| {
        let next = numbers.len().min(most) as u16;
        *numbers.entry((function, site)).or_insert(next)
    };
    graph.functions.iter().zip(sites).map(|(function, site)| number(*function, *site)).collect()
}

/// Computing of ranks by parts of their progress, without time without a CPU.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) parts: usize,
    /// By rank and part, in nanoseconds.
    pub(crate) own_ns: Vec<f64>,
    /// The mean of the ranks that do the same.
    pub(crate) even_ns: Vec<f64>,
    places: usize,
    /// By rank and place, the share of its computing there that is beyond the mean of the ranks that do the same.
    beyond: Vec<f32>,
    /// By rank and part, the computing that is beyond by these shares.
    beyond_ns: Vec<f64>,
}

/// What becomes of a rank's computing in a part of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// The factor of all of it.
    all: f32,
    /// How much of what is beyond goes.
    beyond: f32,
}

impl Scale {
    pub(crate) const UNCHANGED: Self = Self { all: 1.0, beyond: 0.0 };

    pub(crate) fn by(self, factor: f64) -> Self {
        Self { all: self.all * factor.max(0.0) as f32, ..self }
    }
}

impl Work {
    pub(crate) fn measure(graph: &Graph) -> Self {
        let ranks = graph.threads_of.len();
        let calls = graph.starts.len() / graph.threads.len().max(1);
        let parts = (calls / LEAST_CALLS).clamp(1, MOST_PARTS);
        let places = graph.places.iter().copied().max().map_or(0, |most| usize::from(most) + 1);
        let (mut own_ns, mut at_ns) = (vec![0.0; ranks * parts], vec![0.0; ranks * places]);
        each_gap(graph, parts, |rank, part, place, pure_ns| {
            own_ns[rank * parts + part] += pure_ns;
            at_ns[rank * places + place] += pure_ns;
        });
        let even_ns = means(graph, &own_ns, parts);
        let mean_ns = means(graph, &at_ns, places);
        let share = |(own, mean): (&f64, &f64)| if own > mean { (1.0 - mean / own) as f32 } else { 0.0 };
        let beyond: Vec<f32> = at_ns.iter().zip(&mean_ns).map(share).collect();
        let mut beyond_ns = vec![0.0; ranks * parts];
        each_gap(graph, parts, |rank, part, place, pure_ns| {
            beyond_ns[rank * parts + part] += pure_ns * f64::from(beyond[rank * places + place]);
        });
        Self { parts, own_ns, even_ns, places, beyond, beyond_ns }
    }

    /// By rank and part, what becomes of computing if work is even.
    pub(crate) fn scales(&self) -> Vec<Scale> {
        let scale = |((own, even), beyond): ((&f64, &f64), &f64)| match *own {
            own if own <= 0.0 => Scale::UNCHANGED,
            own if own <= *even => Scale { all: (even / own) as f32, beyond: 0.0 },
            own if *beyond > own - even => Scale { all: 1.0, beyond: ((own - even) / beyond) as f32 },
            // More than differs from the others.
            own => Scale { all: (even / (own - beyond).max(f64::MIN_POSITIVE)) as f32, beyond: 1.0 },
        };
        self.own_ns.iter().zip(&self.even_ns).zip(&self.beyond_ns).map(scale).collect()
    }

    /// The factor of the computing of a rank before a call at a place.
    pub(crate) fn factor(&self, scale: Scale, rank: usize, place: u16) -> f64 {
        let beyond = self.beyond[rank * self.places + usize::from(place)];
        f64::from(scale.all) * (1.0 - f64::from(scale.beyond * beyond))
    }
}

/// The computing before each call but the first of a thread: by rank, part of its progress, and place of the call.
fn each_gap(graph: &Graph, parts: usize, mut take: impl FnMut(usize, usize, usize, f64)) {
    for thread in &graph.threads {
        let length = thread.calls.len().div_ceil(parts).max(1);
        let calls = thread.calls.start as usize..thread.calls.end as usize;
        for call in calls.clone().skip(1) {
            let gap_ns = graph.starts[call] - graph.ends[call - 1];
            let pure_ns = gap_ns.saturating_sub(graph.delay_before(call));
            let (part, place) = ((call - calls.start) / length, usize::from(graph.places[call]));
            take(thread.rank as usize, part, place, pure_ns as f64);
        }
    }
}

/// In each of some columns of every rank, the mean of the ranks that do the same.
fn means(graph: &Graph, own_ns: &[f64], columns: usize) -> Vec<f64> {
    let classes = graph.classes.iter().copied().filter(|class| *class != NONE).max().map_or(0, |max| max + 1);
    let class_of = |rank: usize| graph.classes.get(rank).copied().filter(|class| *class != NONE);
    let mut sums = vec![(0.0, 0_u32); classes as usize * columns];
    for rank in (0..graph.threads_of.len()).filter(|rank| !graph.threads_of[*rank].is_empty()) {
        let Some(class) = class_of(rank) else { continue };
        for column in 0..columns {
            let (sum, count) = &mut sums[class as usize * columns + column];
            (*sum, *count) = (*sum + own_ns[rank * columns + column], *count + 1);
        }
    }
    let mut means = own_ns.to_vec();
    for (at, mean) in means.iter_mut().enumerate() {
        if let Some(class) = class_of(at / columns) {
            let (sum, count) = sums[class as usize * columns + at % columns];
            *mean = sum / f64::from(count.max(1));
        }
    }
    means
}
