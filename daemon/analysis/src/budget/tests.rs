//! Cases worked by hand, and what has to hold for any program.

use super::*;
use crate::criteria::{MessageCriterion, Scope, size_bin};
use crate::{Input, Windowed};
use mpiscope_model::Function;
use mpiscope_model::{Blocking, CallId, Collective, Deed, Event, Flow};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SEND: Function = 10;
const RECEIVE: Function = 20;
const WAITALL: Function = 31;
const BARRIER: Function = 50;
const BCAST: Function = 51;

/// What happened, as each rank saw it.
#[derive(Default)]
struct Job {
    activities: Vec<Activity>,
    events: Vec<Event>,
    numbers: BTreeMap<Rank, u64>,
    posts: BTreeMap<Rank, u64>,
    collectives: BTreeMap<Rank, u32>,
}

impl Job {
    fn call(&mut self, rank: Rank, function: Function, (start_ns, end_ns): (u64, u64), deed: Deed) -> CallId {
        let number = self.numbers.entry(rank).or_default();
        let call = CallId::new(0, *number);
        *number += 1;
        let after_loss = false;
        self.activities.push(Activity {
            rank,
            call,
            function,
            start_ns,
            end_ns,
            since_ns: start_ns,
            deed,
            after_loss,
        });
        call
    }

    fn send_by(&mut self, send: Blocking, rank: Rank, to: Rank, bytes: u64, at: (u64, u64)) {
        let deed = Deed::Transfer { sends: 1, posts: 0, receives: 0, send, peer: Some(to), bytes };
        let call = self.call(rank, SEND, at, deed);
        let blocked_until_ns = (send == Blocking::Always).then_some(at.1);
        self.events.push(Event::Send {
            rank,
            call,
            comm: 0,
            to,
            tag: 0,
            bytes,
            begin_ns: at.0,
            blocked_until_ns,
        });
    }

    fn send(&mut self, rank: Rank, to: Rank, bytes: u64, at: (u64, u64)) {
        self.send_by(Blocking::Perhaps, rank, to, bytes, at);
    }

    fn receive(&mut self, rank: Rank, from: Rank, bytes: u64, at: (u64, u64)) {
        self.receive_since(rank, from, bytes, at.0, at);
    }

    fn receive_since(&mut self, rank: Rank, from: Rank, bytes: u64, since_ns: u64, at: (u64, u64)) {
        let deed =
            Deed::Transfer { sends: 0, posts: 1, receives: 1, send: Blocking::Never, peer: None, bytes: 0 };
        let call = self.call(rank, RECEIVE, at, deed);
        self.activities.last_mut().unwrap().since_ns = since_ns;
        let (begin_ns, end_ns) = (since_ns, at.1);
        let (tag, post, alone) = (0, None, true);
        self.events.push(Event::Receive {
            rank,
            call,
            comm: 0,
            from,
            tag,
            bytes,
            post,
            begin_ns,
            end_ns,
            alone,
        });
    }

    fn sendrecv(&mut self, rank: Rank, to: Rank, from: Rank, bytes: u64, at: (u64, u64)) {
        let deed =
            Deed::Transfer { sends: 1, posts: 1, receives: 1, send: Blocking::Never, peer: Some(to), bytes };
        let call = self.call(rank, 22, at, deed);
        let (begin_ns, end_ns) = at;
        self.events.push(Event::Send {
            rank,
            call,
            comm: 0,
            to,
            tag: 0,
            bytes,
            begin_ns,
            blocked_until_ns: None,
        });
        let (tag, post, alone) = (0, None, true);
        self.events.push(Event::Receive {
            rank,
            call,
            comm: 0,
            from,
            tag,
            bytes,
            post,
            begin_ns,
            end_ns,
            alone,
        });
    }

    /// Posts receives from some ranks, one after the other.
    fn post(&mut self, rank: Rank, from: &[Rank], start_ns: u64) {
        for (at, &from) in from.iter().enumerate() {
            let deed = Deed::Transfer {
                sends: 0,
                posts: 1,
                receives: 0,
                send: Blocking::Never,
                peer: None,
                bytes: 0,
            };
            let at_ns = start_ns + at as u64 * 10;
            let call = self.call(rank, 21, (at_ns, at_ns + 10), deed);
            let next = self.posts.entry(rank).or_default();
            let (from, tag, post) = (Some(from), Some(0), *next);
            *next += 1;
            self.events.push(Event::Post { rank, call, comm: 0, from, tag, post, at_ns });
        }
    }

    /// Completes the last receives that were posted, from these ranks.
    fn wait_all(&mut self, rank: Rank, from: &[Rank], bytes: u64, at: (u64, u64)) {
        let receives = from.len() as u16;
        let deed =
            Deed::Transfer { sends: 0, posts: 0, receives, send: Blocking::Never, peer: None, bytes: 0 };
        let call = self.call(rank, WAITALL, at, deed);
        let first = self.posts[&rank] - from.len() as u64;
        for (post, &from) in from.iter().enumerate() {
            let (post, alone) = (Some(first + post as u64), from_is_alone(receives));
            let (begin_ns, end_ns, tag) = (at.0, at.1, 0);
            self.events.push(Event::Receive {
                rank,
                call,
                comm: 0,
                from,
                tag,
                bytes,
                post,
                begin_ns,
                end_ns,
                alone,
            });
        }
    }

    fn collective(&mut self, rank: Rank, function: Function, flow: Flow, root: Option<Rank>, at: (u64, u64)) {
        let next = self.collectives.entry(rank).or_default();
        let (number, is_barrier) = (*next, function == BARRIER);
        *next += 1;
        let bytes = if is_barrier { 0 } else { 8 };
        let of = Collective { comm: 0, number, flow, root, bytes, is_barrier };
        self.call(rank, function, at, Deed::Collective(of));
    }

    fn other(&mut self, rank: Rank, at: (u64, u64)) {
        self.call(rank, 1, at, Deed::Other);
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

    fn run(&self, mut windowed: Windowed, nodes: &[Node]) -> Budgeter {
        place(&mut windowed, nodes);
        let (activities, events) = (&self.activities[..], &self.events[..]);
        let events_end_ns = &self.ends(events)[..];
        windowed.feed(Input { activities, events, events_end_ns, scheduling: &[] }, 0);
        windowed.finish();
        holds(self, &windowed.budgeter);
        windowed.budgeter
    }
}

fn place(windowed: &mut Windowed, nodes: &[Node]) {
    for (rank, &node) in nodes.iter().enumerate() {
        windowed.matcher.place(rank as Rank, node);
        windowed.budgeter.place(rank as Rank, node);
    }
    windowed.budgeter.comm(&CommInfo { comm: 0, id: 0, size: nodes.len() as u32, parent: None, leader: 0 });
}

fn from_is_alone(receives: u16) -> bool {
    receives == 1
}

/// What has to hold for any program: parts sum to the time in MPI, paths to their clocks.
fn holds(job: &Job, budgeter: &Budgeter) {
    let mut in_mpi: BTreeMap<Rank, i64> = BTreeMap::new();
    for of in &job.activities {
        *in_mpi.entry(of.rank).or_default() += (of.end_ns - of.start_ns) as i64;
    }
    for (rank, &time_ns) in &in_mpi {
        let budget = budgeter.ledger().ranks()[*rank as usize].budget;
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
    let of = |scope, median_ns| MessageCriterion { scope, bin: size_bin(100), samples: 1_000, median_ns };
    Version::new(vec![of(Scope::Intra, 1_000), of(Scope::Inter, 3_000)], Vec::new())
}

fn judged() -> Windowed {
    Windowed::new(BudgetOptions::default()).with_criteria(criteria())
}

fn parts(budget: &Budget) -> Vec<(Cause, i64)> {
    Cause::ALL.into_iter().map(|cause| (cause, budget.direct[cause])).filter(|(_, ns)| *ns != 0).collect()
}

fn by(budget: &Budget) -> Vec<(Cause, i64)> {
    Cause::ALL.into_iter().map(|cause| (cause, budget.waiting_by[cause])).filter(|(_, ns)| *ns != 0).collect()
}

fn of_rank(budgeter: &Budgeter, rank: Rank) -> Budget {
    budgeter.ledger().ranks()[rank as usize].budget
}

#[test]
fn a_late_sender_is_waited_for_and_its_computing_is_to_blame() {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.receive(1, 0, 100, (10_000, 54_500));
    let found = job.run(judged(), &[0, 1]);
    let budget = of_rank(&found, 1);
    assert_eq!(by(&budget), [(Cause::Compute, 40_000)]);
    assert_eq!(parts(&budget), [(Cause::Base, 1_000), (Cause::Distance, 2_000), (Cause::Excess, 1_500)]);
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Base, 400)]);
    let (end_ns, path) = found.critical_path();
    assert_eq!((end_ns, path[Cause::Compute], path[Cause::Excess]), (54_500, 50_000, 1_500));
    let waits: Vec<_> =
        found.waits().map(|(key, totals)| (key.state, key.awaited, totals.waited_ns)).collect();
    assert_eq!(waits, [(WaitState::LateSender, 0, 40_000)]);
    let window = found.ledger().total();
    assert_eq!((window.inter.messages, window.inter.delayed, window.inter.took_ns), (1, 1, 4_500));
}

#[test]
fn the_advised_placement_would_save_the_distance() {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.receive(1, 0, 100, (10_000, 53_000));
    let mut windowed = judged();
    let advice = crate::Advice {
        node_of_rank: vec![0, 0],
        inter_messages_before: 1,
        inter_messages_after: 0,
        inter_bytes_before: 100,
        inter_bytes_after: 0,
    };
    windowed.budgeter = windowed.budgeter.with_advice(advice);
    let budget = of_rank(&job.run(windowed, &[0, 1]), 1);
    assert_eq!(parts(&budget), [(Cause::Base, 1_000), (Cause::Saved, 2_000)]);
}

#[test]
fn a_blocked_sender_waits_for_its_receive() {
    let mut job = Job::default();
    job.send_by(Blocking::Always, 0, 1, 100, (10_000, 61_200));
    job.receive(1, 0, 100, (60_000, 61_100));
    let found = job.run(judged(), &[0, 0]);
    let sender = of_rank(&found, 0);
    assert_eq!(by(&sender), [(Cause::Compute, 50_000)]);
    assert_eq!(parts(&sender), [(Cause::Base, 1_000), (Cause::ExcessInside, 200)]);
    // The receive did not wait: the message was on its way since long ago.
    assert_eq!(parts(&of_rank(&found, 1)), [(Cause::Base, 1_000), (Cause::ExcessInside, 100)]);
    assert!(found.waits().any(|(key, of)| (key.state, of.waited_ns) == (WaitState::LateReceiver, 50_000)));
}

#[test]
fn congestion_two_hops_away_is_excess_and_no_imbalance() {
    // 0 -> 1 is congested by 100,000; 1 -> 2 and 2 -> 3 are quick. All computed equally long.
    let mut job = Job::default();
    job.send(0, 1, 100, (20_000, 20_300));
    job.receive(1, 0, 100, (20_000, 123_000));
    job.send(1, 2, 100, (123_000, 123_300));
    job.receive(2, 1, 100, (20_000, 126_000));
    job.send(2, 3, 100, (126_000, 126_300));
    job.receive(3, 2, 100, (20_000, 129_000));
    let found = job.run(judged(), &[0, 1, 2, 3]);
    let waiting = by(&of_rank(&found, 3));
    let of = |cause| waiting.iter().find(|(of, _)| *of == cause).map_or(0, |(_, ns)| *ns);
    assert_eq!((of(Cause::Excess), of(Cause::Compute)), (100_000, 0), "{waiting:?}");
    assert_eq!(of_rank(&found, 3).waiting_ns, 106_000);
}

#[test]
fn a_broadcast_waits_for_its_root_which_waits_for_nobody() {
    let mut job = Job::default();
    job.collective(0, BCAST, Flow::FromRoot, Some(0), (30_000, 31_000));
    job.collective(1, BCAST, Flow::FromRoot, Some(0), (10_000, 35_000));
    // It came after its root had left.
    job.collective(2, BCAST, Flow::FromRoot, Some(0), (90_000, 91_000));
    let found = job.run(judged(), &[0, 0, 1]);
    assert_eq!(
        (of_rank(&found, 0).waiting_ns, parts(&of_rank(&found, 0))),
        (0, vec![(Cause::Operation, 1_000)])
    );
    assert_eq!(by(&of_rank(&found, 1)), [(Cause::Compute, 20_000)]);
    assert_eq!(parts(&of_rank(&found, 1)), [(Cause::Operation, 5_000)]);
    assert_eq!(
        (of_rank(&found, 2).waiting_ns, parts(&of_rank(&found, 2))),
        (0, vec![(Cause::Operation, 1_000)])
    );
}

#[test]
fn a_barrier_waits_for_the_last() {
    let mut job = Job::default();
    for (rank, enters) in [(0, 10_000), (1, 70_000), (2, 40_000)] {
        job.collective(rank, BARRIER, Flow::All, None, (enters, 72_000));
    }
    let found = job.run(judged(), &[0, 1, 2]);
    let waited: Vec<u64> = (0..3).map(|rank| of_rank(&found, rank).waiting_ns).collect();
    assert_eq!(waited, [60_000, 0, 30_000]);
}

#[test]
fn one_congested_link_among_late_neighbours_decides_a_waitall() {
    let mut job = Job::default();
    let from = [1, 2, 3, 4];
    job.post(0, &from, 1_000);
    // Three neighbours send late but their messages are quick, one sent early over a congested link.
    for (rank, begins) in [(1, 60_000), (2, 61_000), (3, 62_000), (4, 20_000)] {
        job.send(rank, 0, 100, (begins, begins + 300));
    }
    job.wait_all(0, &from, 100, (2_000, 65_500));
    let found = job.run(judged(), &[0, 1, 2, 3, 4]);
    // The third was sent 3,500 before the end and is the most plausible.
    assert_eq!(by(&of_rank(&found, 0)).iter().map(|(_, ns)| ns).sum::<i64>(), 60_000);
    assert!(found.waits().any(|(key, _)| key.awaited == 3));
    let mut job = Job::default();
    job.post(0, &from, 1_000);
    for (rank, begins) in [(1, 60_000), (2, 61_000), (3, 62_000), (4, 20_000)] {
        job.send(rank, 0, 100, (begins, begins + 300));
    }
    // Within a node, 30,000 after the last neighbour: only the congested link between nodes can have decided.
    job.wait_all(0, &from, 100, (2_000, 95_000));
    let found = job.run(judged(), &[0, 0, 0, 0, 1]);
    assert!(found.waits().any(|(key, of)| key.awaited == 4 && of.waited_ns == 18_000));
    assert_eq!(of_rank(&found, 0).direct[Cause::Excess], 72_000);
}

#[test]
fn messages_that_never_decide_leave_their_scope_unknown() {
    // Each Waitall has a quick message within the node and one that comes later from another.
    let mut job = Job::default();
    for step in 0..60_u64 {
        let at_ns = step * 100_000;
        job.post(0, &[1, 2], at_ns);
        job.send(1, 0, 100, (at_ns + 1_000, at_ns + 1_300));
        job.send(2, 0, 100, (at_ns + 30_000, at_ns + 30_300));
        job.wait_all(0, &[1, 2], 100, (at_ns + 500, at_ns + 33_000));
    }
    let found = job
        .run(Windowed::new(BudgetOptions { window_ns: 1_000_000, ..BudgetOptions::default() }), &[0, 0, 1]);
    assert!(found.learnt().is_unknown(Scope::Intra));
    let inter = found.learnt().message_ns(Scope::Inter, 100).unwrap();
    assert!(inter.abs_diff(3_000) < 50, "{inter}");
}

#[test]
fn a_ring_of_sendrecv_has_an_order() {
    let mut job = Job::default();
    for rank in 0..4_u32 {
        job.sendrecv(rank, (rank + 1) % 4, (rank + 3) % 4, 100, (10_000 + u64::from(rank) * 1_000, 20_000));
    }
    let found = job.run(judged(), &[0; 4]);
    assert_eq!(found.given_up(), 0);
    // Rank 0 waited for rank 3, the others' messages were there.
    let waited: Vec<u64> = (0..4).map(|rank| of_rank(&found, rank).waiting_ns).collect();
    assert_eq!(waited, [3_000, 0, 0, 0]);
}

#[test]
fn what_was_lost_in_the_middle_is_unknown_and_the_rest_goes_on() {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.receive(1, 0, 100, (10_000, 54_500));
    // The send of this one was lost.
    job.receive(1, 2, 100, (60_000, 70_000));
    job.send(2, 1, 200, (65_000, 65_300));
    job.events.retain(|event| !matches!(event, Event::Send { bytes: 200, .. }));
    job.send(0, 1, 100, (80_000, 80_400));
    job.receive(1, 0, 100, (75_000, 81_500));
    let found = job.run(judged(), &[0, 1, 1]);
    let budget = of_rank(&found, 1);
    assert_eq!(budget.direct[Cause::Unknown], 10_000);
    assert_eq!(budget.waiting_ns, 45_000);
    assert_eq!(found.given_up(), 1);
}

#[test]
fn a_loop_of_polls_waits_from_its_first_and_computes_between() {
    let mut job = Job::default();
    job.send(0, 1, 100, (50_000, 50_400));
    job.call(1, 34, (10_000, 40_000), Deed::Polls);
    job.receive_since(1, 0, 100, 10_000, (45_000, 53_000));
    let found = job.run(judged(), &[0, 1]);
    let budget = of_rank(&found, 1);
    // 40,000 until the send began, of which 5,000 lay between two calls.
    assert_eq!((budget.waiting_ns, by(&budget)), (35_000, vec![(Cause::Compute, 35_000)]));
    assert_eq!(parts(&budget), [(Cause::Base, 1_000), (Cause::Distance, 2_000)]);
    // A loop that led to nothing is no waiting.
    let mut job = Job::default();
    job.call(0, 34, (10_000, 40_000), Deed::Polls);
    job.other(0, (50_000, 51_000));
    let found = job.run(judged(), &[0]);
    assert_eq!(parts(&of_rank(&found, 0)), [(Cause::Other, 31_000)]);
}

#[test]
fn a_size_that_blocks_is_learnt() {
    let mut job = Job::default();
    for step in 0..100_u64 {
        let at_ns = step * 1_000_000;
        job.send(0, 1, 1 << 20, (at_ns, at_ns + 600_000));
        job.receive(1, 0, 1 << 20, (at_ns + 500_000, at_ns + 600_000));
        job.send(0, 1, 64, (at_ns + 700_000, at_ns + 700_500));
        job.receive(1, 0, 64, (at_ns + 900_000, at_ns + 901_000));
    }
    let options = BudgetOptions { window_ns: 10_000_000, ..BudgetOptions::default() };
    let found = job.run(Windowed::new(options), &[0, 1]);
    assert_eq!(found.blocking_from_bytes(), Some(1 << 20));
    let late: u64 = found
        .waits()
        .filter(|(key, _)| key.state == WaitState::LateReceiver)
        .map(|(_, totals)| totals.times)
        .sum();
    assert_eq!(late, 90, "all but those of the first window");
}

/// One thing that happens in a random program.
#[derive(Debug, Clone)]
enum Step {
    Message {
        from: Rank,
        to: Rank,
        send: u8,
        bytes: u64,
    },
    Exchange {
        first: Rank,
        second: Rank,
    },
    Many {
        to: Rank,
    },
    Barrier,
    Broadcast {
        root: Rank,
    },
    Reduce {
        root: Rank,
    },
    Polls {
        rank: Rank,
    },
    /// A receive whose send nobody saw.
    Lost {
        from: Rank,
        to: Rank,
    },
    Unreceived {
        from: Rank,
        to: Rank,
    },
}

const RANKS: Rank = 4;

fn step() -> impl Strategy<Value = Step> {
    let rank = 0..RANKS;
    prop_oneof![
        6 => (rank.clone(), rank.clone(), 0_u8..3, 0_u64..300)
            .prop_map(|(from, to, send, bytes)| Step::Message { from, to, send, bytes }),
        2 => (rank.clone(), rank.clone()).prop_map(|(first, second)| Step::Exchange { first, second }),
        2 => rank.clone().prop_map(|to| Step::Many { to }),
        1 => Just(Step::Barrier),
        1 => rank.clone().prop_map(|root| Step::Broadcast { root }),
        1 => rank.clone().prop_map(|root| Step::Reduce { root }),
        1 => rank.clone().prop_map(|rank| Step::Polls { rank }),
        1 => (rank.clone(), rank.clone()).prop_map(|(from, to)| Step::Lost { from, to }),
        1 => (rank.clone(), rank).prop_map(|(from, to)| Step::Unreceived { from, to }),
    ]
}

/// A program whose calls have an order but whose times are any: nobody's clock is trusted to fit another's.
fn program(steps: &[(Step, [u64; 8])]) -> Job {
    let mut job = Job::default();
    let mut now = [0_u64; RANKS as usize];
    for (step, lengths) in steps {
        let mut at = 0;
        let mut next = |rank: Rank| {
            let begin = now[rank as usize] + lengths[at % 8];
            let end = begin + lengths[(at + 1) % 8];
            at += 1;
            now[rank as usize] = end;
            (begin, end)
        };
        match *step {
            Step::Message { from, to, send, bytes } => {
                let send = [Blocking::Never, Blocking::Perhaps, Blocking::Always][send as usize];
                // To oneself only what does not block.
                let send = if from == to { Blocking::Never } else { send };
                job.send_by(send, from, to, bytes, next(from));
                job.receive(to, from, bytes, next(to));
            }
            Step::Exchange { first, second } if first != second => {
                job.sendrecv(first, second, second, 100, next(first));
                job.sendrecv(second, first, first, 100, next(second));
            }
            Step::Exchange { first, .. } => job.other(first, next(first)),
            Step::Many { to } => {
                let from: Vec<Rank> = (0..RANKS).filter(|&from| from != to).collect();
                let (begin, _) = next(to);
                job.post(to, &from, begin);
                now[to as usize] = now[to as usize].max(begin + 10 * from.len() as u64);
                for &from in &from {
                    let begin = now[from as usize] + lengths[1];
                    now[from as usize] = begin + lengths[2];
                    job.send_by(Blocking::Never, from, to, 100, (begin, begin + lengths[2]));
                }
                let begin = now[to as usize] + lengths[3];
                now[to as usize] = begin + lengths[4];
                job.wait_all(to, &from, 100, (begin, begin + lengths[4]));
            }
            Step::Barrier => {
                (0..RANKS).for_each(|rank| job.collective(rank, BARRIER, Flow::All, None, next(rank)));
            }
            Step::Broadcast { root } => {
                let flow = Flow::FromRoot;
                (0..RANKS).for_each(|rank| job.collective(rank, BCAST, flow, Some(root), next(rank)));
            }
            Step::Reduce { root } => {
                let flow = Flow::ToRoot;
                (0..RANKS).for_each(|rank| job.collective(rank, 52, flow, Some(root), next(rank)));
            }
            Step::Polls { rank } => {
                let at = next(rank);
                job.call(rank, 34, at, Deed::Polls);
            }
            Step::Lost { from, to } => job.receive(to, from, 77, next(to)),
            Step::Unreceived { from, to } => job.send_by(Blocking::Never, from, to, 99, next(from)),
        }
    }
    for (rank, now) in now.into_iter().enumerate() {
        job.other(rank as Rank, (now + 1, now + 2));
    }
    job
}

/// Everything that can be asked.
type Outcome = (Ledger, Vec<(Rank, Nanoseconds, Causes)>, Vec<(WaitKey, WaitTotals)>, Version, u64);

fn outcome(budgeter: &Budgeter) -> Outcome {
    let mut waits: Vec<_> = budgeter.waits().map(|(key, totals)| (*key, *totals)).collect();
    waits.sort_unstable_by_key(|(key, _)| *key);
    let mut paths: Vec<_> = budgeter.paths().collect();
    paths.sort_unstable_by_key(|(rank, ..)| *rank);
    (budgeter.ledger().clone(), paths, waits, budgeter.learnt(), budgeter.given_up())
}

fn options() -> BudgetOptions {
    BudgetOptions { window_ns: 500, patience_ns: 5_000, ..BudgetOptions::default() }
}

/// Feeds a program in slices of time, the ranks of each slice in some order.
fn run_in_slices(job: &Job, slice_ns: u64, turn: u32) -> Budgeter {
    let mut windowed = Windowed::new(options());
    place(&mut windowed, &[0, 0, 1, 1]);
    let last = job.activities.iter().map(|of| of.end_ns).max().unwrap_or_default();
    let ends = job.ends(&job.events);
    for slice in 0..=last / slice_ns {
        let is_in = |end_ns: u64| end_ns / slice_ns == slice;
        for at in 0..RANKS {
            let rank = (at * turn + slice as u32) % RANKS;
            let calls: Vec<Activity> =
                job.activities.iter().filter(|of| of.rank == rank && is_in(of.end_ns)).copied().collect();
            let (events, events_end_ns): (Vec<Event>, Vec<u64>) = job
                .events
                .iter()
                .zip(&ends)
                .filter(|(event, end_ns)| event.rank() == rank && is_in(**end_ns))
                .map(|(event, end_ns)| (*event, *end_ns))
                .unzip();
            let input =
                Input { activities: &calls, events: &events, events_end_ns: &events_end_ns, scheduling: &[] };
            windowed.feed(input, slice * slice_ns);
        }
        windowed.feed(Input::default(), (slice + 1) * slice_ns);
    }
    windowed.finish();
    windowed.budgeter
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn parts_sum_and_neither_batches_nor_order_matter(
        steps in proptest::collection::vec((step(), prop::array::uniform8(0_u64..2_000)), 0..60),
        slice_ns in 100_u64..5_000,
        turn in prop_oneof![Just(1_u32), Just(3)],
    ) {
        let job = program(&steps);
        let whole = run_in_slices(&job, u64::MAX / 4, 1);
        holds(&job, &whole);
        let sliced = run_in_slices(&job, slice_ns, turn);
        holds(&job, &sliced);
        let (whole, sliced) = (outcome(&whole), outcome(&sliced));
        let differ = |one: &Outcome, other: &Outcome| -> Vec<_> {
            one.2.iter().filter(|of| !other.2.contains(of)).copied().collect()
        };
        prop_assert_eq!(differ(&whole, &sliced), differ(&sliced, &whole));
        prop_assert_eq!(&whole.1, &sliced.1);
        prop_assert_eq!(&whole.3, &sliced.3);
        prop_assert_eq!(&whole.4, &sliced.4);
        for (one, other) in whole.0.windows().iter().zip(sliced.0.windows()) {
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!(whole.0.ranks(), sliced.0.ranks());
        prop_assert_eq!(whole, sliced);
    }
}
