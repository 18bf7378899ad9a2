//! What hang detection keeps while the job moves.

use mpiscope_model::{Call, Comm, CommInfo, CommKind, Function, InFlight, Member, Nanoseconds, Rank, Site};
use rustc_hash::{FxHashMap, FxHashSet};

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

mpiscope_model::numbers! { LastCall { function, end_ns, site, polls } }

/// What calls of some ranks changed of what is kept.
#[derive(Debug, Default)]
pub struct Movement {
    moved_ns: Nanoseconds,
    last: Vec<(Rank, LastCall)>,
    polling: Vec<Function>,
    entered: Vec<((Comm, Rank), u64)>,
}

mpiscope_model::numbers! { Movement { moved_ns, last, polling, entered } }

/// What calls that were fed concern of what is kept.
#[derive(Debug, Default)]
pub struct Moved {
    ranks: FxHashSet<Rank>,
    entered: FxHashSet<(Comm, Rank)>,
}

impl Moved {
    /// Takes in calls.
    pub fn see(&mut self, calls: &[Call]) {
        // Most calls are of the rank of the one before, and most collectives of its communicator.
        for of_rank in calls.chunk_by(|one, other| one.rank == other.rank) {
            let rank = of_rank[0].rank;
            self.ranks.insert(rank);
            let mut comms: Vec<Comm> =
                of_rank.iter().filter_map(|call| call.instance.and(call.comm)).collect();
            comms.dedup();
            self.entered.extend(comms.into_iter().map(|comm| (comm, rank)));
        }
    }
}

/// What is kept while the job moves.
#[derive(Debug, Default)]
pub struct HangDetector {
    moved_ns: Nanoseconds,
    pub(super) last: FxHashMap<Rank, LastCall>,
    /// Functions that were seen to poll.
    polling: FxHashSet<Function>,
    /// How many collectives of a communicator a rank has entered and returned from.
    pub(super) entered: FxHashMap<(Comm, Rank), u64>,
    pub(super) members: FxHashMap<Comm, Vec<Rank>>,
    pub(super) sizes: FxHashMap<Comm, u32>,
    /// Windows and files: nobody is asked for in their calls.
    objects: FxHashSet<Comm>,
}

impl HangDetector {
    /// Takes in what became known; `lone_polls` are the places of those calls that are a single poll which found nothing,
    /// rising. Such polls move nothing.
    pub fn feed(&mut self, calls: &[Call], lone_polls: &[usize], comms: &[CommInfo], members: &[Member]) {
        for info in comms {
            self.sizes.insert(info.comm, info.size);
            if matches!(info.kind, CommKind::Window | CommKind::File) {
                self.objects.insert(info.comm);
            }
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
            if let (Some(comm), Some(instance)) = (call.comm, call.instance)
                && !self.objects.contains(&comm)
            {
                let entered = self.entered.entry((comm, rank)).or_default();
                *entered = (*entered).max(u64::from(instance) + 1);
            }
        }
    }

    /// What the calls that were fed changed of it.
    #[must_use]
    pub fn movement_of(&self, Moved { ranks, entered }: Moved) -> Movement {
        Movement {
            moved_ns: self.moved_ns,
            last: ranks.into_iter().filter_map(|rank| Some((rank, *self.last.get(&rank)?))).collect(),
            polling: self.polling.iter().copied().collect(),
            entered: entered.into_iter().filter_map(|key| Some((key, *self.entered.get(&key)?))).collect(),
        }
    }

    /// Takes in what the calls of other ranks changed of another one.
    pub fn take_movement(&mut self, movement: Movement) {
        self.moved_ns = self.moved_ns.max(movement.moved_ns);
        self.last.extend(movement.last);
        self.polling.extend(movement.polling);
        self.entered.extend(movement.entered);
    }

    /// Since when nothing moves: no call returned, and none began but those that are in flight since before.
    #[must_use]
    pub fn moved_ns(&self, in_flight: &[InFlight]) -> Nanoseconds {
        // Polls begin and return all the time.
        let began = in_flight.iter().filter(|call| !self.polls(call)).map(|call| call.since_ns);
        began.fold(self.moved_ns, Nanoseconds::max)
    }

    /// Whether a call is one of a row of polls.
    pub(super) fn polls(&self, call: &InFlight) -> bool {
        self.polling.contains(&call.function) && self.last.get(&call.rank).is_some_and(|last| last.polls > 1)
    }
}
