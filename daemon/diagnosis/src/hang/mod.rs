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

mod deadlock;
mod graph;
#[cfg(test)]
mod tests;
mod waits;

pub use waits::{Need, Waiting};

use graph::Graph;
use mpiscope_matching::{OpenPost, WaitingSend};
use mpiscope_model::{
    Asks, Call, Comm, CommInfo, Function, InFlight, Member, Nanoseconds, Peer, ProcessState, Rank, Site,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Most cycles and ended processes that are reported.
const MOST_TOLD: usize = 8;
/// Most roots whose waiting ranks are counted.
const MOST_COUNTED: usize = 256;

/// What a rank did last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastCall {
    /// What it called.
    pub function: Function,
    /// When that returned.
    pub end_ns: Nanoseconds,
    /// The call site.
    pub site: Option<Site>,
    /// How many polls in a row found nothing, until then; 0 after another call.
    pub polls: u64,
}

/// What is kept while the job moves.
#[derive(Debug, Default)]
pub struct HangDetector {
    moved_ns: Nanoseconds,
    last: FxHashMap<Rank, LastCall>,
    /// Functions that were seen to poll.
    polling: FxHashSet<Function>,
    /// How many collectives of a communicator a rank has entered and returned from.
    entered: FxHashMap<(Comm, Rank), u64>,
    members: FxHashMap<Comm, Vec<Rank>>,
    sizes: FxHashMap<Comm, u32>,
}

/// What is known of the job at the moment.
#[derive(Debug)]
pub struct Moment<'a> {
    /// When this is.
    pub now_ns: Nanoseconds,
    /// The calls that have not returned.
    pub in_flight: &'a [InFlight],
    /// How each rank that was seen stands.
    pub ranks: &'a BTreeMap<Rank, ProcessState>,
    /// How many ranks there are.
    pub world_size: u32,
    /// Receives that are open.
    pub posts: Vec<OpenPost>,
    /// Messages that nobody received.
    pub sends: Vec<WaitingSend>,
    /// The function that ends MPI, in which everybody waits for everybody.
    pub finalize: Function,
    /// Functions that wait for one of their requests and not for all.
    pub any_of: &'a [Function],
}

/// The findings about a hang.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stillness {
    /// Since when nothing moves.
    pub since_ns: Nanoseconds,
    /// When that was looked at.
    pub at_ns: Nanoseconds,
    /// Ranks that run or ran, as far as they were seen.
    pub ranks: usize,
    /// The calls that wait, by rank and thread.
    pub waiting: Vec<Waiting>,
    /// Ranks that wait for ever, as far as is known.
    pub stuck: Vec<Rank>,
    /// Of them circles in which each waits for the next and the last for the first.
    pub circles: Vec<Vec<Rank>>,
    /// Those who are waited for and cannot come, and how many wait for each, directly or not.
    pub gone: Vec<(Rank, ProcessState, usize)>,
    /// Those who are waited for and may go on, the one whom most wait for first.
    pub roots: Vec<Root>,
    /// Members of one communicator that are in different collectives at the same turn.
    pub clashes: Vec<Clash>,
    /// Messages that wait for a receiver who waits for one of another tag from the same sender: that tag.
    pub mistagged: Vec<(WaitingSend, i32)>,
}

/// A rank that others wait for and that does not wait itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// Which.
    pub rank: Rank,
    /// How many wait for it, directly or not.
    pub waiting: usize,
    /// What it is doing.
    pub doing: Doing,
}

/// The activity of a rank that does not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It is in no call since the last one returned, or since the run began.
    Outside {
        /// Its last call.
        last: Option<LastCall>,
    },
    /// It asks again and again and finds nothing.
    Polls {
        /// How.
        last: LastCall,
    },
    /// It is in a call whose partners are unknown, or have come.
    Inside {
        /// Which.
        call: InFlight,
    },
    /// Nothing was ever heard of it.
    Unseen,
}

/// Members of a communicator that are in different collectives at the same turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// The communicator.
    pub comm: Comm,
    /// The functions, and who is in them.
    pub functions: Vec<(Function, Vec<Rank>)>,
}

impl HangDetector {
    /// Takes in what became known; `lone_polls` are the places of those calls that are a single poll which found nothing,
    /// rising. Such polls move nothing.
    pub fn feed(&mut self, calls: &[Call], lone_polls: &[usize], comms: &[CommInfo], members: &[Member]) {
        for info in comms {
            self.sizes.insert(info.comm, info.size);
        }
        for member in members {
            self.members.entry(member.comm).or_default().push(member.rank);
        }
        let mut lone_polls = lone_polls.iter().peekable();
        for (place, call) in calls.iter().enumerate() {
            let Call { rank, function, end_ns, site, count, .. } = *call;
            let last = self.last.entry(rank).or_default();
            if count > 1 || lone_polls.next_if(|&&poll| poll == place).is_some() {
                // They may ask by turns with several functions.
                self.polling.insert(function);
                let polls = last.polls.saturating_add(count);
                *last = LastCall { function, end_ns, site, polls };
                continue;
            }
            self.moved_ns = self.moved_ns.max(end_ns);
            if last.end_ns <= end_ns {
                *last = LastCall { function, end_ns, site, polls: 0 };
            }
            if let (Some(comm), Some(instance)) = (call.comm, call.instance) {
                let entered = self.entered.entry((comm, rank)).or_default();
                *entered = (*entered).max(u64::from(instance) + 1);
            }
        }
    }

    /// Since when nothing moves: no call returned, and none began but those that are in flight since before.
    #[must_use]
    pub fn moved_ns(&self, in_flight: &[InFlight]) -> Nanoseconds {
        // Polls begin and return all the time.
        let began = in_flight.iter().filter(|call| !self.polls(call)).map(|call| call.since_ns);
        began.fold(self.moved_ns, Nanoseconds::max)
    }

    /// Looks for the cause of a hang.
    #[must_use]
    pub fn look(&self, moment: &Moment<'_>) -> Stillness {
        let mut waiting = self.waits(moment);
        let graph = Graph::build(moment, &waiting);
        let free = deadlock::free(&graph);
        let stuck: Vec<Rank> =
            graph.ranks().filter(|&rank| !free[rank as usize] && graph.waits(rank)).collect();
        let circles = deadlock::circles(&graph, &free, MOST_TOLD);
        let askers = graph.askers();
        let reached = |rank: Rank| deadlock::waiting_for(&graph, &askers, rank);
        let asked_for: Vec<Rank> = graph.asked_for().collect();
        let gone = asked_for.iter().filter_map(|&rank| {
            let state = *moment.ranks.get(&rank)?;
            is_gone(state).then(|| (rank, state, reached(rank)))
        });
        let mut gone: Vec<_> = gone.collect();
        gone.sort_by_key(|&(rank, _, waiting)| (std::cmp::Reverse(waiting), rank));
        gone.truncate(MOST_TOLD);
        let roots = asked_for.iter().filter(|&&rank| free[rank as usize] && !graph.waits_for_others(rank));
        let mut roots: Vec<Root> = roots
            .take(MOST_COUNTED)
            .map(|&rank| Root { rank, waiting: reached(rank), doing: self.doing(moment, rank) })
            .collect();
        roots.sort_by_key(|root| (std::cmp::Reverse(root.waiting), root.rank));
        let clashes = self.clashes(moment);
        waiting.retain(|waiting| !waiting.is_satisfied);
        let mistagged = mistagged(moment, &waiting);
        Stillness {
            since_ns: self.moved_ns(moment.in_flight),
            at_ns: moment.now_ns,
            ranks: moment.ranks.len(),
            waiting,
            stuck,
            circles,
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

    /// Whether a call is one of a row of polls.
    fn polls(&self, call: &InFlight) -> bool {
        self.polling.contains(&call.function) && self.last.get(&call.rank).is_some_and(|last| last.polls > 1)
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
        clashes.take(MOST_TOLD).collect()
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
    found.truncate(MOST_TOLD);
    found
}

/// Whether a process makes no more calls.
fn is_gone(state: ProcessState) -> bool {
    matches!(state, ProcessState::Finalized | ProcessState::Aborted | ProcessState::Vanished)
}

impl Stillness {
    /// Ranks that wait in a call, each once.
    #[must_use]
    pub fn waiting_ranks(&self) -> Vec<Rank> {
        let mut ranks: Vec<Rank> = self.waiting.iter().map(|waiting| waiting.call.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}
