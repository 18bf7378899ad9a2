//! Hang detection: who waits for whom, and why.
//!
//! [`HangDetector`] keeps what a hang needs: the time of the last progress, the last call of each rank, the members of
//! communicators, and which collectives each has entered. [`HangDetector::look`] runs when nothing has moved for a
//! while. It makes a graph of who waits for whom (`waits`): a receive waits for its sender, a send for its receiver, a
//! receive of any source for one of many, a collective for all members that have not entered it. A rank in no call may
//! go on, and so may those that wait for it. The others wait for ever (`deadlock`): in a cycle, or for a process that
//! has ended. Without any, the ranks wait for those at the roots of all chains.
//!
//! An unknown (the other side of a call, the members of a communicator) counts as one that may go on. A reported
//! deadlock is therefore always one.

mod analysis;
mod deadlock;
mod detector;
mod graph;
mod moment;
#[cfg(test)]
mod tests;
mod waits;

pub use analysis::{Clash, Doing, HangAnalysis, Root};
pub use detector::{HangDetector, LastCall, Moved, Movement};
pub use moment::Moment;
pub use waits::{Need, Waiting};

use graph::Graph;
use moment::is_gone;
use mpiscope_matching::WaitingSend;
use mpiscope_model::{Asks, Comm, Function, Peer, ProcessState, Rank};
use std::collections::BTreeMap;

/// Most cycles and ended processes that are reported.
const MOST_REPORTED: usize = 8;
/// Most roots whose waiting ranks are counted.
const MOST_COUNTED: usize = 256;

impl HangDetector {
    /// Looks for the cause of a hang.
    #[must_use]
    pub fn look(&self, moment: &Moment<'_>) -> HangAnalysis {
        let mut waiting = self.waits(moment);
        let graph = Graph::build(moment, &waiting);
        let free = deadlock::free(&graph);
        let stuck: Vec<Rank> =
            graph.ranks().filter(|&rank| !free[rank.index()] && graph.waits(rank)).collect();
        let cycles = deadlock::cycles(&graph, &free, MOST_REPORTED);
        let askers = graph.askers();
        let reached = |rank: Rank| deadlock::waiting_for(&graph, &askers, rank);
        let asked_for: Vec<Rank> = graph.asked_for().collect();
        let gone = asked_for.iter().filter_map(|&rank| {
            let state = *moment.ranks.get(&rank)?;
            is_gone(state).then(|| (rank, state, reached(rank)))
        });
        let mut gone: Vec<_> = gone.collect();
        gone.sort_by_key(|&(rank, _, waiting)| (std::cmp::Reverse(waiting), rank));
        gone.truncate(MOST_REPORTED);
        let roots = asked_for.iter().filter(|&&rank| free[rank.index()] && !graph.waits_for_others(rank));
        let mut roots: Vec<Root> = roots
            .take(MOST_COUNTED)
            .map(|&rank| Root { rank, waiting: reached(rank), doing: self.doing(moment, rank) })
            .collect();
        roots.sort_by_key(|root| (std::cmp::Reverse(root.waiting), root.rank));
        let clashes = self.clashes(moment);
        waiting.retain(|waiting| !waiting.is_satisfied);
        let mistagged = mistagged(moment, &waiting);
        HangAnalysis {
            since_ns: self.moved_ns(moment.in_flight),
            at_ns: moment.now_ns,
            ranks: moment.ranks.len(),
            waiting,
            stuck,
            cycles,
            gone,
            roots,
            clashes,
            mistagged,
        }
    }

    fn doing(&self, moment: &Moment<'_>, rank: Rank) -> Doing {
        if let Some(&call) = moment.in_flight.iter().rfind(|call| call.rank == rank)
            && !self.polls(&call)
        {
            return Doing::Inside { call };
        }
        match self.last.get(&rank) {
            _ if moment.ranks.get(&rank) == Some(&ProcessState::Silent) => Doing::Unseen,
            Some(&last) if last.polls > 1 => Doing::Polls { last },
            last if last.is_some() || moment.ranks.contains_key(&rank) => {
                Doing::Outside { last: last.copied() }
            }
            _ => Doing::Unseen,
        }
    }

    /// Who is in which collective of a communicator, where members disagree.
    fn clashes(&self, moment: &Moment<'_>) -> Vec<Clash> {
        let mut inside: BTreeMap<(Comm, u64), BTreeMap<Function, Vec<Rank>>> = BTreeMap::new();
        for call in moment.in_flight {
            if let Asks::Members { comm: Some(comm) } = call.asks {
                let turn = self.entered.get(&(comm, call.rank)).copied().unwrap_or_default();
                inside.entry((comm, turn)).or_default().entry(call.function).or_default().push(call.rank);
            }
        }
        let clashes = inside.into_iter().filter(|(_, functions)| functions.len() > 1);
        let clashes =
            clashes.map(|((comm, _), functions)| Clash { comm, functions: functions.into_iter().collect() });
        clashes.take(MOST_REPORTED).collect()
    }
}

/// Messages from whom a receiver waits for another, of another tag.
fn mistagged(moment: &Moment<'_>, waiting: &[Waiting]) -> Vec<(WaitingSend, i32)> {
    let mut sends = moment.sends.clone();
    for call in moment.in_flight {
        if let Asks::Send { to: Peer::Rank(to), tag, comm: Some(comm) } = call.asks {
            sends.push(WaitingSend { from: call.rank, to, comm, tag });
        }
    }
    let mut found = Vec::new();
    for Waiting { call, .. } in waiting {
        if let Asks::Receive { from: Peer::Rank(from), tag: Some(wanted), comm: Some(comm) } = call.asks {
            let other = |send: &&WaitingSend| (send.from, send.to, send.comm) == (from, call.rank, comm);
            found.extend(sends.iter().filter(other).map(|send| (*send, wanted)));
        }
    }
    found.sort_by_key(|(send, wanted)| (send.to, send.from, send.tag, *wanted));
    found.dedup();
    found.truncate(MOST_REPORTED);
    found
}
