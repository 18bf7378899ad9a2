//! Ranks that do the same: their calls come from the same places of the program.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::NONE;
use crate::whatif::graph::Graph;
use crate::whatif::rule::Rule;
use mpiscope_model::{Rank, Site};
use rustc_hash::FxHashSet;

/// Ranks do the same where this share of the smaller one's places is the other's too.
const SHARED: f64 = 0.5;

type Place = (u16, Site);

/// By rank, its class. Sites are those of the calls.
pub(crate) fn classes(graph: &Graph, sites: &[Site]) -> Vec<u32> {
    let mut representatives: Vec<(FxHashSet<Place>, u32)> = Vec::new();
    let mut classes = vec![NONE; graph.threads_of.len()];
    for (rank, class) in classes.iter_mut().enumerate() {
        let mut places: FxHashSet<Place> = FxHashSet::default();
        for thread in graph.threads_of(Rank::from_index(rank)) {
            let first = thread.calls.start as usize;
            for (call, site) in (first..).zip(&sites[first..thread.calls.end as usize]) {
                if graph.kind(call) != CallKind::Setup {
                    places.insert((graph.functions[call], *site));
                }
            }
        }
        let is_same = |(other, _): &&(FxHashSet<Place>, u32)| {
            let both = places.intersection(other).count() as f64;
            both >= SHARED * places.len().min(other.len()) as f64 || !graph.follows(Rule::Classes)
        };
        *class = match representatives.iter().find(is_same) {
            Some((_, class)) => *class,
            None => {
                let class = representatives.len() as u32;
                representatives.push((places, class));
                class
            }
        };
    }
    classes
}
