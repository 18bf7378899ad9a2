//! Jobs as each rank saw them, for cases worked by hand and for random programs.

mod cases;
mod programs;
mod sparse;
mod started;

use super::*;
use crate::Windowed;
use crate::criteria::{MessageCriterion, Scope, Version};
use mpiscope_matching::Matched;
use mpiscope_model::{
    Activity, Batch, Blocking, CallId, Collected, Collective, Comm, CommInfo, Effect, Event, Flow, Function,
    Nanoseconds, Node, Rank, Side, Site,
};
use std::collections::BTreeMap;

const SEND: Function = 10;
const RECEIVE: Function = 20;
const WAITALL: Function = 31;
const BARRIER: Function = 50;
const BCAST: Function = 51;

/// A call that posts and completes these numbers of receives.
fn receiving(posts: u16, receives: u16) -> Effect {
    Effect::Transfer { sends: 0, posts, receives, send: Blocking::Never, peer: None, bytes: 0 }
}

/// What happened, as each rank saw it.
#[derive(Default)]
struct Job {
    activities: Vec<Activity>,
    events: Vec<Event>,
    numbers: BTreeMap<u32, u64>,
    posts: BTreeMap<u32, u64>,
    collectives: BTreeMap<(u32, Comm), u32>,
    collected: Vec<Collected>,
}

impl Job {
    fn call(
        &mut self,
        rank: u32,
        function: Function,
        (start_ns, end_ns): (u64, u64),
        effect: Effect,
    ) -> CallId {
        let number = self.numbers.entry(rank).or_default();
        let call = CallId::new(0, *number);
        *number += 1;
        let after_loss = false;
        self.activities.push(Activity {
            rank: Rank(rank),
            call,
            function,
            start_ns,
            end_ns,
            since_ns: start_ns,
            effect,
            site: Some(Site(function.into())),
            after_loss,
        });
        call
    }

    fn send_by(&mut self, send: Blocking, rank: u32, to: u32, bytes: u64, at: (u64, u64)) {
        let effect = Effect::Transfer { sends: 1, posts: 0, receives: 0, send, peer: Some(Rank(to)), bytes };
        let call = self.call(rank, SEND, at, effect);
        self.sends(rank, call, to, bytes, at.0, (send == Blocking::Always).then_some(at.1));
    }

    fn send(&mut self, rank: u32, to: u32, bytes: u64, at: (u64, u64)) {
        self.send_by(Blocking::Perhaps, rank, to, bytes, at);
    }

    fn receive(&mut self, rank: u32, from: u32, bytes: u64, at: (u64, u64)) {
        self.receive_since(rank, from, bytes, at.0, at);
    }

    fn receive_since(&mut self, rank: u32, from: u32, bytes: u64, since_ns: u64, at: (u64, u64)) {
        let call = self.call(rank, RECEIVE, at, receiving(1, 1));
        self.activities.last_mut().unwrap().since_ns = since_ns;
        self.receives(rank, call, from, bytes, None, (since_ns, at.1));
    }

    fn sendrecv(&mut self, rank: u32, to: u32, from: u32, bytes: u64, at: (u64, u64)) {
        let effect = Effect::Transfer {
            sends: 1,
            posts: 1,
            receives: 1,
            send: Blocking::Never,
            peer: Some(Rank(to)),
            bytes,
        };
        let call = self.call(rank, 22, at, effect);
        self.sends(rank, call, to, bytes, at.0, None);
        self.receives(rank, call, from, bytes, None, at);
    }

    /// Posts receives from some ranks, one after the other.
    fn post(&mut self, rank: u32, from: &[u32], start_ns: u64) {
        for (at, &from) in from.iter().enumerate() {
            let at_ns = start_ns + at as u64 * 10;
            let call = self.call(rank, 21, (at_ns, at_ns + 10), receiving(1, 0));
            let next = self.posts.entry(rank).or_default();
            let (from, tag, post) = (Some(Rank(from)), Some(0), *next);
            *next += 1;
            self.events.push(Event::Post {
                rank: Rank(rank),
                call,
                comm: Comm::WORLD,
                from,
                tag,
                post,
                at_ns,
            });
        }
    }

    /// Completes the last receives that were posted, from these ranks.
    fn wait_all(&mut self, rank: u32, from: &[u32], bytes: u64, at: (u64, u64)) {
        let call = self.call(rank, WAITALL, at, receiving(0, from.len() as u16));
        let first = self.posts[&rank] - from.len() as u64;
        let alone = from.len() == 1;
        for (post, &from) in (first..).zip(from) {
            self.receives(rank, call, from, bytes, Some((post, alone)), at);
        }
    }

    fn sends(
        &mut self,
        rank: u32,
        call: CallId,
        to: u32,
        bytes: u64,
        begin_ns: u64,
        blocked_until_ns: Option<u64>,
    ) {
        self.events.push(Event::Send {
            rank: Rank(rank),
            call,
            comm: Comm::WORLD,
            to: Rank(to),
            tag: 0,
            bytes,
            begin_ns,
            blocked_until_ns,
        });
    }

    /// A message came: for which post, when an earlier call made it, and whether it was alone in being waited for.
    fn receives(
        &mut self,
        rank: u32,
        call: CallId,
        from: u32,
        bytes: u64,
        posted: Option<(u64, bool)>,
        (begin_ns, end_ns): (u64, u64),
    ) {
        let (tag, post) = (0, posted.map(|(post, _)| post));
        let alone = posted.is_none_or(|(_, alone)| alone);
        self.events.push(Event::Receive {
            rank: Rank(rank),
            call,
            comm: Comm::WORLD,
            from: Rank(from),
            tag,
            bytes,
            post,
            begin_ns,
            end_ns,
            alone,
        });
    }

    fn collective(&mut self, rank: u32, function: Function, flow: Flow, root: Option<u32>, at: (u64, u64)) {
        let of = self.next_on(Comm::WORLD, rank, function, flow, root);
        self.call(rank, function, at, Effect::Collective(of));
    }

    /// The next collective of a rank on a communicator. The second is between ranks 0 and 1, and the others.
    fn next_on(
        &mut self,
        comm: Comm,
        rank: u32,
        function: Function,
        flow: Flow,
        root: Option<u32>,
    ) -> Collective {
        let next = self.collectives.entry((rank, comm)).or_default();
        let (number, is_barrier) = (*next, function == BARRIER);
        *next += 1;
        let bytes = if is_barrier { 0 } else { 8 };
        let side = [[Side::Only; 2], [Side::First, Side::Second]][comm.index()][usize::from(rank > 1)];
        Collective { comm, number, flow, side, root: root.map(Rank), bytes, is_barrier }
    }

    /// Enters a collective; returns its number.
    fn start(&mut self, rank: u32, function: Function, flow: Flow, root: Option<u32>, start_ns: u64) -> u32 {
        let of = self.next_on(Comm::WORLD, rank, function, flow, root);
        self.call(rank, function, (start_ns, start_ns + 100), Effect::Start(of));
        of.number
    }

    /// The last call of a rank completed these, too.
    fn collects(&mut self, rank: u32, numbers: &[u32]) {
        let call = CallId::new(0, self.numbers[&rank] - 1);
        self.collected.extend(numbers.iter().map(|&number| Collected {
            rank: Rank(rank),
            call,
            comm: Comm::WORLD,
            number,
        }));
    }

    /// Waits for collectives that it entered.
    fn complete(&mut self, rank: u32, numbers: &[u32], at: (u64, u64)) {
        self.call(rank, 30, at, Effect::Other);
        self.collects(rank, numbers);
    }

    fn other(&mut self, rank: u32, at: (u64, u64)) {
        self.call(rank, 1, at, Effect::Other);
    }

    /// For each event, when its call returned.
    fn ends(&self, events: &[Event]) -> Vec<u64> {
        let ends: BTreeMap<(Rank, CallId), u64> =
            self.activities.iter().map(|of| ((of.rank, of.call), of.end_ns)).collect();
        let of = |event: &Event| match event {
            Event::Send { rank, call, .. }
            | Event::Post { rank, call, .. }
            | Event::Receive { rank, call, .. } => ends[&(*rank, *call)],
            other => unreachable!("{other:?}"),
        };
        events.iter().map(of).collect()
    }

    fn run(&self, mut windowed: Windowed, nodes: &[u32]) -> Budgeter {
        place(&mut windowed, nodes);
        let (activities, events) = (self.activities.clone(), self.events.clone());
        let events_end_ns = self.ends(&events);
        let collected = self.collected.clone();
        windowed.feed(&Batch { activities, collected, events, events_end_ns, ..Batch::default() }, 0);
        windowed.finish();
        holds(self, &windowed.budgeter);
        windowed.budgeter
    }
}

fn place(windowed: &mut Windowed, nodes: &[u32]) {
    for (rank, node) in nodes.iter().map(|node| Node(*node)).enumerate() {
        windowed.matcher.place(Rank::from_index(rank), node);
        windowed.budgeter.place(Rank::from_index(rank), node);
    }
    for (comm, first_size) in [(Comm::WORLD, None), (Comm(1), Some(2))] {
        let size = nodes.len() as u32;
        windowed.budgeter.comm(&CommInfo {
            comm,
            id: comm.0.into(),
            size,
            first_size,
            parent: None,
            leader: Rank(0),
            ..CommInfo::default()
        });
    }
}

/// What has to hold for any program: parts sum to the time in MPI, paths to their clocks.
fn holds(job: &Job, budgeter: &Budgeter) {
    let mut in_mpi: BTreeMap<Rank, i64> = BTreeMap::new();
    for of in &job.activities {
        *in_mpi.entry(of.rank).or_default() += (of.end_ns - of.start_ns) as i64;
    }
    for (rank, &time_ns) in &in_mpi {
        let budget = budgeter.ledger().ranks()[rank.index()].budget;
        assert_eq!(budget.total_ns(), time_ns, "rank {rank}: {budget:?}");
        assert_eq!(budget.waiting_by.sum(), budget.waiting_ns as i64, "rank {rank}: {budget:?}");
    }
    for (rank, at_ns, path) in budgeter.paths() {
        assert_eq!(path.sum(), at_ns as i64, "rank {rank}: {path:?}");
        let last = job.activities.iter().filter(|of| of.rank == rank).map(|of| of.end_ns).max().unwrap();
        assert_eq!(at_ns, last, "rank {rank}");
    }
    let windows = budgeter.ledger().total();
    let ranks = budgeter.ledger().ranks().iter();
    let sum = ranks.fold(Budget::default(), |mut sum, rank| {
        sum += rank.budget;
        sum
    });
    assert_eq!(windows.budget, sum);
}

/// Messages of 100 bytes take 1,000 ns within nodes and 3,000 between them.
fn criteria() -> Version {
    let of = |scope, median_ns| MessageCriterion::of_size(scope, 100, 1_000, median_ns);
    Version::new(vec![of(Scope::Intra, 1_000), of(Scope::Inter, 3_000)], Vec::new())
}

fn with_criteria() -> Windowed {
    Windowed::new(BudgetOptions::default()).with_criteria(criteria())
}

fn parts(budget: &Budget) -> Vec<(Cause, i64)> {
    Cause::ALL.into_iter().map(|cause| (cause, budget.direct[cause])).filter(|(_, ns)| *ns != 0).collect()
}

fn by(budget: &Budget) -> Vec<(Cause, i64)> {
    Cause::ALL.into_iter().map(|cause| (cause, budget.waiting_by[cause])).filter(|(_, ns)| *ns != 0).collect()
}

fn of_rank(budgeter: &Budgeter, rank: u32) -> Budget {
    budgeter.ledger().ranks()[rank as usize].budget
}
