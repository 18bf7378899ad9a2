//! How many times as long as in the quiet of the run flights take, in the course of the run.

use crate::whatif::graph::Graph;
use crate::whatif::graph::flights::{Figure, Flights};
use crate::whatif::median::median_of_floats;
use crate::whatif::quiet_samples::quietest;

/// The run is looked at in about this many pieces of equally many flights, each of at least this number.
const PIECES: usize = 48;
const LEAST_OF_PIECE: usize = 32;
/// Fewer flights of a scope do not say what they take.
const LEAST_FLIGHTS: usize = 256;

/// By scope, piece after piece: until when it is, and how many times as long as usual flights take in it.
#[derive(Debug, Default)]
pub(crate) struct Pace([Vec<(u64, f64)>; 2]);

impl Pace {
    /// From the flights that calls waited for, and what flights take.
    pub(crate) fn measure(graph: &Graph, flights: &Flights) -> Self {
        let mut relative: [Vec<(u64, f64)>; 2] = Default::default();
        for (at, edge) in graph.edges.iter().enumerate() {
            if !edge.is_felt || graph.slowness_of(at) != 1.0 {
                continue;
            }
            if let Some(usual_ns) = flights.ns(edge.is_inter, edge.bytes, Figure::Median) {
                let flight_ns = (graph.span_ns(edge) as f64).max(1.0);
                let flight = (graph.ends[edge.to as usize], flight_ns / usual_ns.max(1.0));
                relative[usize::from(edge.is_inter)].push(flight);
            }
        }
        Self(relative.map(pieces))
    }

    /// None where too few flights are known.
    pub(crate) fn measured(&self, is_inter: bool, at_ns: u64) -> Option<f64> {
        let pieces = &self.0[usize::from(is_inter)];
        let piece = pieces.get(pieces.partition_point(|(until_ns, _)| *until_ns < at_ns));
        piece.or(pieces.last()).map(|(_, pace)| *pace)
    }
}

fn pieces(mut flights: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    if flights.len() < LEAST_FLIGHTS {
        return Vec::new();
    }
    flights.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let count = (flights.len() / LEAST_OF_PIECE).min(PIECES);
    let start = |piece: usize| piece * flights.len() / count;
    let median = |piece: usize| {
        let of_piece = &flights[start(piece)..start(piece + 1)];
        median_of_floats(&mut of_piece.iter().map(|(_, pace)| *pace).collect::<Vec<_>>())
    };
    let medians: Vec<f64> = (0..count).map(median).collect();
    let quietest = quietest(&medians);
    let quiet = medians[quietest[quietest.len() / 2]];
    let until_ns = |piece: usize| flights[start(piece + 1) - 1].0;
    medians.into_iter().enumerate().map(|(piece, pace)| (until_ns(piece), pace / quiet)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_flights_take_three_times_as_long_the_pace_is_three() {
        let flight = |at: u64| {
            let slower = if (4_000..6_000).contains(&at) { 3.0 } else { 1.0 };
            (at, 5.0 * slower * (1.0 + 0.1 * (at % 3) as f64))
        };
        let pace = Pace([Vec::new(), pieces((0..10_001).map(flight).collect())]);
        for (at_ns, expected) in
            [(0, 1.0), (3_000, 1.0), (4_500, 3.0), (5_500, 3.0), (7_000, 1.0), (20_000, 1.0)]
        {
            let found = pace.measured(true, at_ns).unwrap();
            assert!((found - expected).abs() < 0.01, "{at_ns}: {found}");
        }
        assert_eq!(pace.measured(false, 5_000), None);
    }

    #[test]
    fn of_few_flights_nothing_is_known() {
        let pace = |count: u64| Pace([pieces((0..count).map(|at| (at, 1.0)).collect()), Vec::new()]);
        assert_eq!([255, 256].map(|count| pace(count).measured(false, 0)), [None, Some(1.0)]);
    }
}
