//! Replays on several threads: a finished run leaves its CPUs free, but for a thread that may read its log meanwhile.

use mpiscope_diagnosis::whatif::{Change, Graph, Outcome, Replayer};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

const MOST_AT_ONCE: usize = 8;
/// A replay needs about this much memory for a call; all at once need no more than this, unless one alone does.
const BYTES_PER_CALL: usize = 16;
const MOST_BYTES: usize = 512 << 20;

/// As many replays at once as there are CPUs.
#[derive(Debug, Clone, Copy)]
pub struct SideBySide;

impl Replayer for SideBySide {
    fn at_once(&self, graph: &Graph) -> usize {
        let in_memory = MOST_BYTES / (BYTES_PER_CALL * graph.call_count().max(1));
        thread::available_parallelism().map_or(1, usize::from).min(MOST_AT_ONCE).min(in_memory.max(1))
    }

    fn outcomes(&self, graph: &Graph, changes: &[Change]) -> Vec<Outcome> {
        let outcomes: Vec<OnceLock<Outcome>> = changes.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < changes.len()) {
                outcomes[at].get_or_init(|| graph.replay(&changes[at]));
            }
        };
        thread::scope(|scope| {
            let others = 1..self.at_once(graph).min(changes.len());
            // Where no thread can be started, this one does it all.
            let others: Vec<_> =
                others.map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
            work();
            others
                .into_iter()
                .for_each(|other| other.join().unwrap_or_else(|fault| panic::resume_unwind(fault)));
        });
        outcomes.into_iter().filter_map(OnceLock::into_inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::kinds;
    use mpiscope_diagnosis::whatif::{GraphBuilder, InTurn};
    use mpiscope_model::{Call, Rank};

    #[test]
    fn side_by_side_and_in_turn_lead_to_the_same() {
        let mut builder = GraphBuilder::new(kinds());
        for number in 0..100 {
            builder.call(&Call { start_ns: 100 * number, end_ns: 100 * number + 10, ..Call::default() });
        }
        let graph = builder.finish().unwrap();
        let slower =
            |percent: u32| Change { ranks: vec![(Rank(0), f64::from(percent) / 100.0)], ..Change::default() };
        let changes: Vec<Change> = (100..150).map(slower).collect();
        let outcomes = SideBySide.outcomes(&graph, &changes);
        assert_eq!(outcomes, InTurn.outcomes(&graph, &changes));
        assert!(outcomes.windows(2).all(|two| two[0].run_ns < two[1].run_ns), "{outcomes:?}");
    }
}
