//! For whom each call waits that has not returned.

use super::detector::HangDetector;
use super::moment::{Moment, is_gone};
use mpiscope_matching::OpenPost;
use mpiscope_model::{Asks, Comm, Function, InFlight, Peer, ProcessState, Rank};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many of those it waits for have to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// All.
    All,
    /// One, whichever.
    Any,
    /// For whom it waits is not known.
    Unknown,
}

/// A call that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// Which.
    pub call: InFlight,
    /// How many of them have to come.
    pub need: Need,
    /// For whom; members of a communicator share one list.
    pub on: Arc<[Rank]>,
    /// The receives of its rank that are open, where it waits for requests.
    pub posts: Vec<OpenPost>,
    /// The other side is there: it only waits for the data or the library.
    pub is_satisfied: bool,
}

/// Which sender and which tag a receiver would take, none for any.
type Wanted = (Option<Rank>, Option<i32>);

/// The sides of messages that are there, to be held against each other.
struct Offers {
    /// Tags of unreceived messages, and of sends in flight, by sender and receiver.
    sends: FxHashMap<(Comm, Rank, Rank), Vec<i32>>,
    /// Senders and tags that receivers would take.
    receives: FxHashMap<(Comm, Rank), Vec<Wanted>>,
    posts: FxHashMap<Rank, Vec<OpenPost>>,
}

fn known(peer: Peer) -> Option<Rank> {
    if let Peer::Rank(rank) = peer { Some(rank) } else { None }
}

impl Offers {
    fn build(moment: &Moment<'_>) -> Self {
        let mut offers =
            Self { sends: FxHashMap::default(), receives: FxHashMap::default(), posts: FxHashMap::default() };
        for send in &moment.sends {
            offers.sends.entry((send.comm, send.from, send.to)).or_default().push(send.tag);
        }
        for post in &moment.posts {
            offers.receives.entry((post.comm, post.rank)).or_default().push((post.from, post.tag));
            offers.posts.entry(post.rank).or_default().push(*post);
        }
        for call in moment.in_flight {
            offers.add(call);
        }
        offers
    }

    fn add(&mut self, call: &InFlight) {
        let rank = call.rank;
        let (to, from) = match call.asks {
            Asks::Send { to, tag, comm } => (Some((to, tag, comm)), None),
            Asks::Receive { from, tag, comm } => (None, Some((from, tag, comm))),
            // The tag of the wanted message is unknown.
            Asks::Exchange { to, from, tag, comm } => (Some((to, tag, comm)), Some((from, None, comm))),
            _ => (None, None),
        };
        if let Some((Peer::Rank(to), tag, Some(comm))) = to {
            self.sends.entry((comm, rank, to)).or_default().push(tag);
        }
        if let Some((from, tag, Some(comm))) = from
            && from != Peer::Nobody
        {
            self.receives.entry((comm, rank)).or_default().push((known(from), tag));
        }
    }

    /// Whether a message that a receive would take is there.
    fn has_send(&self, comm: Comm, to: Rank, from: Rank, tag: Option<i32>) -> bool {
        let tags = self.sends.get(&(comm, from, to));
        tags.is_some_and(|tags| tags.iter().any(|&sent| tag.is_none_or(|tag| tag == sent)))
    }

    /// Whether a receive that would take the message is there.
    fn has_receive(&self, comm: Comm, from: Rank, to: Rank, tag: i32) -> bool {
        let takes = |&(source, wanted): &Wanted| {
            source.is_none_or(|source| source == from) && wanted.is_none_or(|wanted| wanted == tag)
        };
        self.receives.get(&(comm, to)).is_some_and(|receives| receives.iter().any(takes))
    }

    fn is_met(&self, post: &OpenPost) -> bool {
        match post.from {
            Some(from) => self.has_send(post.comm, post.rank, from, post.tag),
            None => self.sends.keys().any(|&(comm, from, to)| {
                comm == post.comm && to == post.rank && self.has_send(comm, to, from, post.tag)
            }),
        }
    }
}

/// Who belongs to a communicator, and whether those are all.
struct Members {
    ranks: Arc<[Rank]>,
    is_complete: bool,
}

struct Asking<'a> {
    detector: &'a HangDetector,
    moment: &'a Moment<'a>,
    offers: Offers,
    members: FxHashMap<Comm, Members>,
    /// Members that have not entered a collective.
    missing: FxHashMap<(Comm, Function, u64), Arc<[Rank]>>,
}

impl HangDetector {
    /// For whom each call waits.
    pub(super) fn waits(&self, moment: &Moment<'_>) -> Vec<Waiting> {
        let mut asking = Asking {
            detector: self,
            moment,
            offers: Offers::build(moment),
            members: FxHashMap::default(),
            missing: FxHashMap::default(),
        };
        let calls = moment.in_flight.iter().filter(|call| !self.polls(call));
        let gone = |call: &&InFlight| moment.ranks.get(&call.rank).is_some_and(|&state| is_gone(state));
        let mut calls: Vec<&InFlight> = calls.filter(|call| !gone(call)).collect();
        calls.sort_by_key(|call| (call.rank, call.thread));
        calls.into_iter().map(|call| asking.waiting(call)).collect()
    }
}

impl Asking<'_> {
    fn waiting(&mut self, call: &InFlight) -> Waiting {
        let mut posts = Vec::new();
        let (need, on) = match call.asks {
            Asks::Nothing => (Need::Unknown, Arc::default()),
            Asks::Send { to, tag, comm } => self.send(call.rank, to, tag, comm),
            Asks::Receive { from, tag, comm } => self.receive(call.rank, from, tag, comm),
            Asks::Exchange { to, from, tag, comm } => {
                let (sending, receiver) = self.send(call.rank, to, tag, comm);
                let (receiving, senders) = self.receive(call.rank, from, None, comm);
                match (sending, receiving) {
                    (Need::All, Need::All) => {
                        (Need::All, receiver.iter().chain(&*senders).copied().collect())
                    }
                    // What is known of one side is enough to wait for it.
                    (Need::All, _) if !receiver.is_empty() => (Need::All, receiver),
                    _ => (receiving, senders),
                }
            }
            Asks::Members { comm } => self.members_missing(call, comm),
            Asks::Post { post } => {
                posts = self.open(call.rank, |open| open.post == post);
                match posts[..] {
                    [post] => self.message(&post),
                    // It is not known, as that of a call that was lost.
                    _ => (Need::Unknown, Arc::default()),
                }
            }
            Asks::Requests { count } => {
                if count > 0 {
                    posts = self.open(call.rank, |_| true);
                }
                self.requests(call, count as usize, &posts)
            }
        };
        let is_satisfied = need == Need::All && on.is_empty();
        Waiting { call: *call, need, on, posts, is_satisfied }
    }

    fn open(&self, rank: Rank, wanted: impl Fn(&OpenPost) -> bool) -> Vec<OpenPost> {
        let posts = self.offers.posts.get(&rank).into_iter().flatten();
        let mut posts: Vec<OpenPost> = posts.filter(|post| wanted(post)).copied().collect();
        posts.sort_by_key(|post| post.post);
        posts
    }

    fn send(&self, rank: Rank, to: Peer, tag: i32, comm: Option<Comm>) -> (Need, Arc<[Rank]>) {
        match (to, comm) {
            (Peer::Nobody, _) => (Need::All, Arc::default()),
            (Peer::Rank(to), Some(comm)) if self.offers.has_receive(comm, rank, to, tag) => {
                (Need::All, Arc::default())
            }
            (Peer::Rank(to), Some(_)) => (Need::All, [to].into()),
            _ => (Need::Unknown, Arc::default()),
        }
    }

    fn receive(
        &mut self,
        rank: Rank,
        from: Peer,
        tag: Option<i32>,
        comm: Option<Comm>,
    ) -> (Need, Arc<[Rank]>) {
        let from = match from {
            Peer::Nobody => return (Need::All, Arc::default()),
            Peer::Unknown => return (Need::Unknown, Arc::default()),
            Peer::Any => None,
            Peer::Rank(from) => Some(from),
        };
        let Some(comm) = comm else { return (Need::Unknown, Arc::default()) };
        self.message(&OpenPost { rank, post: 0, comm, from, tag })
    }

    /// For whom a receive waits.
    fn message(&mut self, wanted: &OpenPost) -> (Need, Arc<[Rank]>) {
        if self.offers.is_met(wanted) {
            return (Need::All, Arc::default());
        }
        let Some(from) = wanted.from else {
            let members = self.members(wanted.comm);
            let ranks = Arc::clone(&members.ranks);
            return if members.is_complete { (Need::Any, ranks) } else { (Need::Unknown, Arc::default()) };
        };
        (Need::All, [from].into())
    }

    /// The partners of a call that waits for several requests. Which ones these are is unknown. Known are the open
    /// receives of the rank, and its sends that nobody received.
    fn requests(&mut self, call: &InFlight, count: usize, posts: &[OpenPost]) -> (Need, Arc<[Rank]>) {
        let unmet: Vec<OpenPost> = posts.iter().filter(|post| !self.offers.is_met(post)).copied().collect();
        let any = self.moment.any_of.contains(&call.function);
        if posts.is_empty() {
            // One of its own messages, it is unknown which; no receive would take any of them.
            let sends = self.moment.sends.iter().filter(|send| send.from == call.rank);
            let taken = |send: &&mpiscope_matching::WaitingSend| {
                self.offers.has_receive(send.comm, send.from, send.to, send.tag)
            };
            let mut receivers: Vec<Rank> = Vec::new();
            for send in sends {
                if taken(&send) {
                    return (Need::Unknown, Arc::default());
                }
                receivers.push(send.to);
            }
            receivers.sort_unstable();
            receivers.dedup();
            let need = if receivers.is_empty() { Need::Unknown } else { Need::Any };
            return (need, receivers.into());
        }
        let mut senders: Vec<Rank> = unmet.iter().filter_map(|post| post.from).collect();
        senders.sort_unstable();
        senders.dedup();
        match () {
            // Some of its requests may be others, or one of the receives may be over soon.
            () if any && (count > posts.len() || unmet.len() < posts.len()) => {
                (Need::Unknown, Arc::default())
            }
            () if unmet.is_empty() => (Need::All, Arc::default()),
            () if senders.is_empty() => self.message(&unmet[0]),
            () if any && unmet.iter().any(|post| post.from.is_none()) => (Need::Unknown, Arc::default()),
            // Whoever hands over no fewer requests than there are open receives waits for all of these.
            () if !any && count >= posts.len() => (Need::All, senders.into()),
            () => (Need::Any, senders.into()),
        }
    }

    fn members_missing(&mut self, call: &InFlight, comm: Option<Comm>) -> (Need, Arc<[Rank]>) {
        let Some(comm) = comm else { return (Need::Unknown, Arc::default()) };
        let turn = self.turn(comm, call.rank);
        let key = (comm, call.function, turn);
        if let Some(missing) = self.missing.get(&key) {
            return (Need::All, Arc::clone(missing));
        }
        let members = self.members(comm);
        let (ranks, is_complete) = (Arc::clone(&members.ranks), members.is_complete);
        let entered: std::collections::BTreeSet<Rank> = self
            .moment
            .in_flight
            .iter()
            .filter(|other| other.function == call.function && other.asks == call.asks)
            .filter(|other| self.turn(comm, other.rank) >= turn)
            .map(|other| other.rank)
            .collect();
        let has_ended = |rank: &Rank| {
            call.function == self.moment.finalize
                && self.moment.ranks.get(rank) == Some(&ProcessState::Finalized)
        };
        let is_missing =
            |rank: &&Rank| !entered.contains(rank) && self.turn(comm, **rank) <= turn && !has_ended(rank);
        let missing: Arc<[Rank]> = ranks.iter().filter(is_missing).copied().collect();
        if missing.is_empty() && !is_complete {
            return (Need::Unknown, Arc::default());
        }
        self.missing.insert(key, Arc::clone(&missing));
        (Need::All, missing)
    }

    /// How many collectives of a communicator a rank has left behind it.
    fn turn(&self, comm: Comm, rank: Rank) -> u64 {
        self.detector.entered.get(&(comm, rank)).copied().unwrap_or_default()
    }

    fn members(&mut self, comm: Comm) -> &Members {
        self.members.entry(comm).or_insert_with(|| {
            if comm == Comm::WORLD {
                let ranks = Rank::all(self.moment.world_size).collect();
                return Members { ranks, is_complete: true };
            }
            let mut ranks = self.detector.members.get(&comm).cloned().unwrap_or_default();
            ranks.sort_unstable();
            ranks.dedup();
            let size = self.detector.sizes.get(&comm).copied().unwrap_or_default();
            Members { is_complete: size > 0 && ranks.len() == size as usize, ranks: ranks.into() }
        })
    }
}
