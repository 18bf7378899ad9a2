//! What flights take by size, from those that were felt and from what bounds the others.

use crate::whatif::censored::Distribution;
use crate::whatif::graph::flights::{Flights, Point, SHARES, SIZE_BINS, size_bin};
use crate::whatif::graph::{Edge, Graph};
use crate::whatif::median::median;
use crate::whatif::quiet_samples::{is_within, quiet_stretches, times_of};
use crate::whatif::reference::at_size;
use crate::whatif::rule::Rule;
use std::ops::Range;

/// What is known of messages before it is known which of them were felt.
pub(crate) struct Messages {
    /// By message, the number of its scope and size.
    kinds: Vec<u16>,
    /// What flights take at least, by what bounds them.
    pub(crate) bounds: Flights,
}

/// Scopes and sizes.
const KINDS: usize = 2 * SIZE_BINS;

fn kind(is_inter: bool, bytes: u32) -> usize {
    usize::from(is_inter) * SIZE_BINS + size_bin(bytes) as usize
}

impl Messages {
    pub(crate) fn new(graph: &Graph) -> Self {
        let kinds = graph.edges.iter().map(|edge| kind(edge.is_inter, edge.bytes) as u16);
        let kinds: Vec<u16> = kinds.collect();
        let mut least: Vec<Option<(u64, u32)>> = vec![None; KINDS];
        for (edge, kind) in graph.edges.iter().zip(&kinds) {
            let bound = (graph.span_ns(edge), edge.bytes);
            let least = &mut least[usize::from(*kind)];
            *least = Some(least.map_or(bound, |least| least.min(bound)));
        }
        let mut bounds = Flights::default();
        for (points, least) in bounds.scopes.iter_mut().zip(least.chunks_exact(SIZE_BINS)) {
            let point =
                |(ns, bytes): (u64, u32)| Point { bytes: bytes.into(), ns: [ns as f64; SHARES.len()] };
            points.extend(least.iter().flatten().copied().map(point));
        }
        Self { kinds, bounds }
    }
}

/// A flight that was felt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sample {
    at_ns: u64,
    ns: u64,
    bytes: u32,
}

/// What flights of a size take while the run is quiet.
struct OfSize {
    bytes: f64,
    quiet: Vec<Range<u64>>,
    /// Those that were felt, and bounds of others that the same calls waited for.
    exact: Vec<f64>,
    bounds: Vec<f64>,
}

impl OfSize {
    /// From all that were felt, in the order of time, and when flights of all sizes were quick. Where hardly any of this size were
    /// felt then, or they were clearly quicker at another time, that of this size counts.
    fn new(felt: &[Sample], quiet_of_all: &[Range<u64>]) -> Self {
        let ns = |sample: &Sample| sample.ns;
        let of_all = felt.iter().filter(|sample| is_within(quiet_of_all, sample.at_ns));
        let of_all: Vec<u64> = of_all.map(ns).collect();
        // By their places: where calls end at the same time, a stretch may take no time at all.
        let stretches = quiet_stretches(felt, ns);
        let own = || stretches.iter().flat_map(|stretch| felt[stretch.clone()].iter().map(ns));
        let is_quicker =
            || felt.len() >= ENOUGH_FLIGHTS && clearly_more(median(of_all.iter().copied()), median(own()));
        let (quiet, exact) = match of_all.len() < felt.len().div_ceil(LEAST_PART) || is_quicker() {
            true => (times(felt, &stretches), own().collect()),
            false => (quiet_of_all.to_vec(), of_all),
        };
        let exact = exact.into_iter().map(|ns| ns as f64).collect();
        let bytes = median(felt.iter().map(|sample| sample.bytes)).into();
        Self { bytes, quiet, exact, bounds: Vec::new() }
    }

    fn bound(&mut self, at_ns: u64, ns: u64) {
        if is_within(&self.quiet, at_ns) {
            self.bounds.push(ns as f64);
        }
    }

    /// What they do not exceed.
    fn point(self) -> Point {
        let Self { bytes, exact, bounds, .. } = self;
        let distribution = Distribution::new(exact, bounds);
        Point { bytes, ns: SHARES.map(|share| distribution.quantile(share)) }
    }
}

/// Of those of a size this part is to be felt while all are quick; it would be a quarter by chance.
const LEAST_PART: usize = 8;
/// The quickest quarter of enough flights is quicker than others by chance, but not by this factor.
const ENOUGH_FLIGHTS: usize = 256;
const CLEARLY_MORE: f64 = 1.25;

fn clearly_more(one_ns: u64, other_ns: u64) -> bool {
    one_ns as f64 > CLEARLY_MORE * other_ns as f64
}

/// When stretches of samples were, which are in the order of time.
fn times(felt: &[Sample], stretches: &[Range<usize>]) -> Vec<Range<u64>> {
    stretches.iter().map(|stretch| times_of(felt, stretch, |sample| sample.at_ns)).collect()
}

/// When flights of all sizes were the quickest for their size. Of few flights of one size the quickest are so by chance.
fn quiet_of_all<'a>(sizes: impl Iterator<Item = &'a Vec<Sample>>) -> Vec<Range<u64>> {
    let relative = |of_size: &'a Vec<Sample>| {
        let median_ns = median(of_size.iter().map(|sample| sample.ns)).max(1);
        let part = move |ns: u64| (ns as f64 / median_ns as f64 * PART) as u64;
        of_size.iter().map(move |sample| Sample { ns: part(sample.ns), ..*sample })
    };
    let mut all: Vec<Sample> = sizes.flat_map(relative).collect();
    // Each size is in the order of time.
    all.sort();
    times(&all, &quiet_stretches(&all, |sample| sample.ns))
}

/// Relative times are counted in parts of what is usual.
const PART: f64 = 1e6;

/// By scope and size, what flights took that calls waited for. What messages take on links that are slow throughout is not what
/// others take.
fn gather(graph: &Graph, messages: &Messages, flight_ns: impl Fn(&Edge) -> u64) -> Vec<Option<OfSize>> {
    let kind = |at: usize| usize::from(messages.kinds[at]);
    let ended_ns = |edge: &Edge| graph.ends[edge.to as usize];
    let waited_for = || graph.waited_for().filter(|at| graph.slowness_of(*at) == 1.0);
    let mut felt: Vec<Vec<Sample>> = vec![Vec::new(); KINDS];
    for at in waited_for().filter(|at| graph.edges[*at].is_felt) {
        let edge = &graph.edges[at];
        felt[kind(at)].push(Sample { at_ns: ended_ns(edge), ns: flight_ns(edge), bytes: edge.bytes });
    }
    // Those of each rank are in their order: a stable sort merges them.
    felt.iter_mut().for_each(|of_size| of_size.sort());
    let mut sizes: Vec<Option<OfSize>> = Vec::with_capacity(KINDS);
    for of_scope in felt.chunks_exact(SIZE_BINS) {
        let of_scope = || of_scope.iter().map(|felt| Some(felt).filter(|felt| !felt.is_empty()));
        let quiet = match graph.follows(Rule::QuietTogether) {
            true => quiet_of_all(of_scope().flatten()),
            false => Vec::new(),
        };
        sizes.extend(of_scope().map(|felt| felt.map(|felt| OfSize::new(felt, &quiet))));
    }
    let is_bounded = |at: &usize| !graph.edges[*at].is_felt && graph.follows(Rule::Bounds);
    for at in waited_for().filter(is_bounded) {
        let edge = &graph.edges[at];
        if let Some(of_size) = &mut sizes[kind(at)] {
            of_size.bound(ended_ns(edge), flight_ns(edge));
        }
    }
    sizes
}

/// What flights take in the quietest quarter of the run; where none was felt, the least bound.
pub(crate) fn of_felt(graph: &Graph, messages: &Messages, flight_ns: impl Fn(&Edge) -> u64) -> Flights {
    let mut flights = Flights::default();
    let mut sizes = gather(graph, messages, flight_ns);
    let is_felt: Vec<bool> = sizes.iter().map(Option::is_some).collect();
    for (of_scope, points) in sizes.chunks_exact_mut(SIZE_BINS).zip(&mut flights.scopes) {
        points.extend(of_scope.iter_mut().filter_map(Option::take).map(OfSize::point));
    }
    let known = flights.clone();
    for (scope, points) in messages.bounds.scopes.iter().enumerate() {
        for point in points {
            let bytes = point.bytes as u32;
            if !is_felt[kind(scope == 1, bytes)] {
                // What sizes near it take is the better guess where the bound is far above it.
                let least = |at: usize| {
                    let near = at_size(&known.scopes[scope], |near| (near.bytes, near.ns[at]), bytes);
                    near.map_or(point.ns[at], |near| near.min(point.ns[at]))
                };
                flights.scopes[scope].push(Point { bytes: point.bytes, ns: std::array::from_fn(least) });
            }
        }
    }
    flights.sorted()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::graph::flights::Figure;
    use mpiscope_model::drawn;

    fn of_size(bytes: u32, times: impl Iterator<Item = u64>) -> OfSize {
        let felt: Vec<Sample> = times.zip(0..).map(|(ns, at_ns)| Sample { at_ns, ns, bytes }).collect();
        OfSize::new(&felt, &quiet_of_all([&felt].into_iter()))
    }

    #[test]
    fn what_was_felt_alone_has_its_own_quantiles() {
        let point = of_size(100, (1..=1200).rev()).point();
        // The quietest quarter are the last of these times.
        assert_eq!(
            (point.ns[0], point.ns[Figure::Median as usize], point.ns[SHARES.len() - 1]),
            (1.0, 151.0, 300.0)
        );
    }

    /// The quickest quarter of each of a hundred sizes with 24 flights would be clearly quicker than all, by chance.
    #[test]
    fn few_flights_of_many_sizes_are_quiet_together() {
        let of_size = |size: u64| -> Vec<Sample> {
            let flight = |at: u64| (1_000.0 * (size + 1) as f64 * (0.4 + 1.2 * drawn(24 * size + at))) as u64;
            let sample = |at: u64| Sample { at_ns: 100 * at + size, ns: flight(at), bytes: size as u32 };
            (0..24).map(sample).collect()
        };
        let felt: Vec<Vec<Sample>> = (0..100).map(of_size).collect();
        let quiet = quiet_of_all(felt.iter());
        let medians = felt.iter().zip(1..).map(|(felt, size)| {
            OfSize::new(felt, &quiet).point().ns[Figure::Median as usize] / (1_000.0 * f64::from(size))
        });
        let mean = medians.sum::<f64>() / 100.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn flights_that_end_at_the_same_time_have_their_own_quarter() {
        let sample = |at_ns, ns| Sample { at_ns, ns, bytes: 8 };
        let felt = [sample(1000, 50), sample(1000, 60), sample(2000, 70)];
        for until_ns in [0, 500, 1100] {
            let point = OfSize::new(&felt, std::slice::from_ref(&(0..until_ns))).point();
            assert!(point.ns[Figure::Median as usize] >= 50.0, "{until_ns}: {point:?}");
        }
    }

    #[test]
    fn bounds_count_where_the_run_was_quiet() {
        let mut size = of_size(100, (0..24).map(|at| if at < 12 { 10 } else { 50 }));
        assert_eq!(size.exact, [10.0; 6]);
        (0..30).for_each(|at_ns| size.bound(at_ns, 7));
        assert_eq!(size.bounds, [7.0; 6]);
    }
}
