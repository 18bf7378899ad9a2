use super::graph::{End, Graph, Node};
use super::*;
use mpiscope_matching::OpenPost;
use mpiscope_model::{Call, CommInfo, InFlight, Member, Side};
use proptest::prelude::*;
use std::collections::BTreeSet;

const SEND: Function = 10;
const RECV: Function = 20;
const WAITALL: Function = 30;
const BARRIER: Function = 40;
const FINALIZE: Function = 50;
const TEST: Function = 60;
const TESTANY: Function = 61;
const SECOND: u64 = 1_000_000_000;

/// A job with this number of ranks, at 30 s.
struct Job {
    detector: HangDetector,
    ranks: BTreeMap<Rank, ProcessState>,
    in_flight: Vec<InFlight>,
    posts: Vec<OpenPost>,
    sends: Vec<WaitingSend>,
}

impl Job {
    fn build(ranks: u32) -> Self {
        let mut job = Self {
            detector: HangDetector::default(),
            ranks: Rank::all(ranks).map(|rank| (rank, ProcessState::Running)).collect(),
            in_flight: Vec::new(),
            posts: Vec::new(),
            sends: Vec::new(),
        };
        let last = |rank| Call { rank, function: SEND, end_ns: 10 * SECOND, ..Call::default() };
        job.detector.feed(&Rank::all(ranks).map(last).collect::<Vec<_>>(), &[], &[], &[]);
        job
    }

    fn inside(mut self, rank: u32, function: Function, asks: Asks) -> Self {
        self.in_flight.push(InFlight {
            rank: Rank(rank),
            function,
            since_ns: 10 * SECOND,
            asks,
            ..InFlight::default()
        });
        self
    }

    fn receives(self, rank: u32, from: u32, tag: i32) -> Self {
        let asks = Asks::Receive { from: Peer::Rank(Rank(from)), tag: Some(tag), comm: Some(Comm::WORLD) };
        self.inside(rank, RECV, asks)
    }

    fn receives_any(self, rank: u32) -> Self {
        self.inside(rank, RECV, Asks::Receive { from: Peer::Any, tag: None, comm: Some(Comm::WORLD) })
    }

    fn sends(self, rank: u32, to: u32, tag: i32) -> Self {
        self.inside(rank, SEND, Asks::Send { to: Peer::Rank(Rank(to)), tag, comm: Some(Comm::WORLD) })
    }

    fn meets(self, rank: u32, function: Function) -> Self {
        self.inside(rank, function, Asks::Members { comm: Some(Comm::WORLD) })
    }

    fn posted(mut self, rank: u32, from: Option<u32>) -> Self {
        let post = self.posts.len() as u64;
        self.posts.push(OpenPost {
            rank: Rank(rank),
            post,
            comm: Comm::WORLD,
            from: from.map(Rank),
            tag: from.map(|_| 0),
        });
        self
    }

    fn is(mut self, rank: u32, state: ProcessState) -> Self {
        self.ranks.insert(Rank(rank), state);
        self
    }

    fn look(&self) -> HangAnalysis {
        self.detector.look(&Moment {
            now_ns: 30 * SECOND,
            in_flight: &self.in_flight,
            ranks: &self.ranks,
            world_size: self.ranks.len() as u32,
            posts: self.posts.clone(),
            sends: self.sends.clone(),
            finalize: FINALIZE,
            any_of: &[],
        })
    }
}

fn ranks<const COUNT: usize>(numbers: [u32; COUNT]) -> Vec<Rank> {
    numbers.map(Rank).into()
}

#[test]
fn a_ring_of_receives_is_a_cycle_and_who_waits_for_it_is_stuck_as_well() {
    let job = Job::build(5).receives(0, 1, 7).receives(1, 2, 7).receives(2, 0, 7).receives(3, 1, 7);
    let hang = job.look();
    assert_eq!((hang.stuck, hang.cycles), (ranks([0, 1, 2, 3]), vec![ranks([0, 1, 2])]));
    assert_eq!((hang.roots, hang.gone, hang.since_ns), (vec![], vec![], 10 * SECOND));
}

#[test]
fn two_who_send_to_each_other_are_a_cycle_unless_one_takes_what_the_other_sends() {
    let both = Job::build(2).sends(0, 1, 5).sends(1, 0, 5);
    assert_eq!(both.look().cycles, [ranks([0, 1])]);
    let under_way = Job::build(2).sends(0, 1, 5).receives(1, 0, 5).look();
    assert!(under_way.stuck.is_empty() && under_way.waiting.is_empty(), "{under_way:?}");
    let other_tag = Job::build(2).sends(0, 1, 5).receives(1, 0, 6).look();
    assert_eq!(other_tag.cycles, [ranks([0, 1])]);
    assert_eq!(
        other_tag.mistagged,
        [(WaitingSend { from: Rank(0), to: Rank(1), comm: Comm::WORLD, tag: 5 }, 6)]
    );
    let mut sent_before = Job::build(2).receives(0, 1, 5).receives(1, 0, 5);
    sent_before.sends.push(WaitingSend { from: Rank(1), to: Rank(0), comm: Comm::WORLD, tag: 5 });
    assert!(sent_before.look().stuck.is_empty(), "the message is there");
}

#[test]
fn a_chain_ends_at_the_rank_that_is_in_no_call() {
    let hang = Job::build(5).receives(0, 1, 7).receives(1, 2, 7).receives(2, 4, 7).receives(3, 4, 7).look();
    assert!(hang.stuck.is_empty() && hang.cycles.is_empty());
    let last = LastCall { function: SEND, end_ns: 10 * SECOND, site: None, polls: 0 };
    assert_eq!(hang.roots, [Root { rank: Rank(4), waiting: 4, doing: Doing::Outside { last: Some(last) } }]);
    assert_eq!(hang.waiting_ranks(), ranks([0, 1, 2, 3]));
}

#[test]
fn whoever_waits_for_a_process_that_is_gone_waits_for_ever() {
    let hang = Job::build(3).receives(0, 1, 7).receives(1, 2, 7).is(2, ProcessState::Vanished).look();
    assert_eq!(hang.gone, [(Rank(2), ProcessState::Vanished, 2)]);
    assert_eq!((hang.stuck, hang.cycles, hang.roots), (ranks([0, 1]), vec![], vec![]));
}

#[test]
fn a_receive_of_any_source_waits_for_one_of_all_others() {
    let all = Job::build(3).receives_any(0).receives(1, 0, 7).receives(2, 0, 7).look();
    assert_eq!(all.stuck, ranks([0, 1, 2]));
    assert!(all.cycles[0].len() > 1, "{:?}", all.cycles);
    let many = (0..9).fold(Job::build(9), Job::receives_any).look();
    assert_eq!(many.cycles, [Rank::all(9).collect::<Vec<_>>()]);
    let one_computes = Job::build(4).receives_any(0).receives(1, 0, 7).receives(2, 0, 7).look();
    assert!(one_computes.stuck.is_empty());
    assert_eq!(one_computes.roots[0].rank, Rank(3));
}

#[test]
fn a_collective_waits_for_the_members_that_have_not_entered_it() {
    let left_out = Job::build(4).meets(0, BARRIER).meets(1, BARRIER).meets(2, BARRIER).receives(3, 0, 7);
    let hang = left_out.look();
    assert_eq!(hang.stuck, ranks([0, 1, 2, 3]));
    assert_eq!(hang.cycles, [ranks([0, 3])]);
    let computes = Job::build(4).meets(0, BARRIER).meets(1, BARRIER).meets(2, BARRIER).look();
    assert_eq!((computes.roots[0].rank, computes.roots[0].waiting), (Rank(3), 3));
    // Whoever has left it behind is not waited for.
    let mut ahead = Job::build(2).meets(0, BARRIER).receives(1, 0, 7);
    let left = Call {
        rank: Rank(1),
        function: BARRIER,
        comm: Some(Comm::WORLD),
        instance: Some(0),
        ..Call::default()
    };
    ahead.detector.feed(&[left], &[], &[], &[]);
    assert!(ahead.look().stuck.is_empty());
}

#[test]
fn members_in_different_collectives_wait_for_each_other_and_are_named() {
    let hang = Job::build(3).meets(0, BARRIER).meets(1, BARRIER).meets(2, FINALIZE).look();
    let functions = vec![(BARRIER, ranks([0, 1])), (FINALIZE, ranks([2]))];
    assert_eq!(hang.clashes, [Clash { comm: Comm::WORLD, functions }]);
    assert_eq!(hang.stuck, ranks([0, 1, 2]));
    let ended = Job::build(2).meets(0, FINALIZE).is(1, ProcessState::Finalized).look();
    assert!(ended.stuck.is_empty(), "who has ended well has been there");
}

#[test]
fn members_of_a_communicator_are_those_that_said_so_and_must_be_all() {
    let comm = Comm(3);
    let info = CommInfo { comm, id: 9, size: 2, leader: Rank(1), ..CommInfo::default() };
    let member = |place, rank| Member { comm, side: Side::Only, place, rank };
    let asks = Asks::Members { comm: Some(comm) };
    let mut job = Job::build(4).inside(1, BARRIER, asks).receives(3, 1, 7);
    job.detector.feed(&[], &[], &[info], &[member(0, Rank(1))]);
    assert!(job.look().stuck.is_empty(), "the other may be anybody");
    job.detector.feed(&[], &[], &[], &[member(1, Rank(3))]);
    assert_eq!(job.look().cycles, [ranks([1, 3])]);
}

#[test]
fn a_wait_for_requests_waits_for_those_whose_messages_are_to_come() {
    let requests = |count| Asks::Requests { count };
    let all = Job::build(3).inside(0, WAITALL, requests(2)).posted(0, Some(1)).posted(0, Some(2));
    assert_eq!(*all.look().waiting[0].on, ranks([1, 2]));
    let hang = all.receives(1, 0, 7).look();
    assert_eq!(hang.cycles, [ranks([0, 1])], "though rank 2 may go on");
    let fewer = Job::build(3).inside(0, WAITALL, requests(1)).posted(0, Some(1)).posted(0, Some(2));
    assert!(fewer.receives(1, 0, 7).look().stuck.is_empty(), "which of the two is not known");
    let unknown = Job::build(2).inside(0, WAITALL, requests(4)).receives(1, 0, 7).look();
    assert!(unknown.stuck.is_empty());
    assert_eq!(unknown.waiting[0].need, Need::Unknown);
    let mut sent = Job::build(2).inside(0, WAITALL, requests(0)).receives(1, 0, 7);
    sent.sends.push(WaitingSend { from: Rank(0), to: Rank(1), comm: Comm::WORLD, tag: 9 });
    assert_eq!(sent.look().cycles, [ranks([0, 1])], "nobody takes what was sent");
}

#[test]
fn polls_that_find_nothing_move_nothing() {
    let mut job = Job::build(2).receives(0, 1, 7);
    let polls = |function: Function, end_s: u64| {
        let end_ns = end_s * SECOND;
        Call { rank: Rank(1), function, end_ns, count: 9, ..Call::default() }
    };
    // By turns with two functions.
    job.detector.feed(&[polls(TEST, 20), polls(TESTANY, 29)], &[], &[], &[]);
    job.in_flight.push(InFlight {
        rank: Rank(1),
        function: TEST,
        since_ns: 29 * SECOND,
        ..InFlight::default()
    });
    assert_eq!(job.detector.moved_ns(&job.in_flight), 10 * SECOND);
    let hang = job.look();
    assert!(
        matches!(hang.roots[..], [Root { rank: Rank(1), doing: Doing::Polls { last }, .. }] if last.polls == 18)
    );
    job.detector.feed(&[Call { rank: Rank(1), end_ns: 30 * SECOND, ..Call::default() }], &[], &[], &[]);
    assert_eq!(job.detector.moved_ns(&job.in_flight), 30 * SECOND);
}

#[test]
fn polls_so_rare_that_each_has_a_row_of_its_own_move_nothing_either() {
    let mut job = Job::build(2).receives(0, 1, 7);
    let poll = |end_s: u64| Call { rank: Rank(1), function: TEST, end_ns: end_s * SECOND, ..Call::default() };
    job.detector.feed(&[poll(20), poll(21)], &[0, 1], &[], &[]);
    let hang = job.look();
    assert_eq!(hang.since_ns, 10 * SECOND);
    assert!(
        matches!(hang.roots[..], [Root { rank: Rank(1), doing: Doing::Polls { last }, .. }] if last.polls == 2)
    );
    job.detector.feed(&[poll(22), poll(23)], &[1], &[], &[]);
    assert_eq!(job.detector.moved_ns(&[]), 22 * SECOND, "the one that found something");
}

#[test]
fn a_thread_that_may_go_on_frees_its_rank() {
    let mut job = Job::build(3).receives(0, 1, 7).receives(1, 0, 7);
    job.in_flight.push(InFlight { thread: 1, ..job.in_flight[0] });
    job.in_flight[2].asks = Asks::Receive { from: Peer::Rank(Rank(2)), tag: None, comm: Some(Comm::WORLD) };
    let hang = job.look();
    assert!(hang.stuck.is_empty(), "{hang:?}");
    assert_eq!(hang.roots[0].rank, Rank(2));
}

fn graphs() -> impl Strategy<Value = Vec<(u8, BTreeSet<u32>)>> {
    (2_u32..14).prop_flat_map(|count| {
        let node = (0_u8..6, prop::collection::btree_set(0..count, 0..4));
        prop::collection::vec(node, count as usize)
    })
}

/// Waits of ranks, as they stand in the graph: one in six may go on, one is gone, others wait for all or for any.
fn graph(of: &[(u8, BTreeSet<u32>)]) -> Graph {
    let nodes = of.iter().map(|(kind, on)| {
        let on: Vec<u32> = on.iter().copied().collect();
        let waits = |need| Node { need, on: on.clone(), ends: None };
        let ends = |end| Node { need: Need::Unknown, on: Vec::new(), ends: Some(end) };
        match kind {
            0 => ends(End::MayGoOn),
            1 => ends(End::Gone),
            _ if on.is_empty() => ends(End::MayGoOn),
            2 | 3 => waits(Need::All),
            _ => waits(Need::Any),
        }
    });
    Graph::of_ranks(nodes.collect())
}

/// The greatest set that holds itself: taken away again and again is who has what it waits for.
fn held_by_definition(graph: &Graph) -> BTreeSet<u32> {
    let mut stuck: BTreeSet<u32> = (0..graph.nodes.len() as u32).collect();
    loop {
        let may_go_on = |at: &u32| {
            let node = &graph.nodes[*at as usize];
            match (node.ends, node.need) {
                (Some(end), _) => end == End::MayGoOn,
                (None, Need::Any) => node.on.iter().any(|on| !stuck.contains(on)),
                (None, _) => node.on.iter().all(|on| !stuck.contains(on)),
            }
        };
        let Some(at) = stuck.iter().copied().find(|at| may_go_on(at)) else { return stuck };
        stuck.remove(&at);
    }
}

proptest! {
    #[test]
    fn who_waits_for_ever_is_who_cannot_be_freed_in_any_order(of in graphs()) {
        let graph = graph(&of);
        let free = deadlock::free(&graph);
        let stuck: BTreeSet<u32> = (0..graph.nodes.len() as u32).filter(|&at| !free[at as usize]).collect();
        prop_assert_eq!(&stuck, &held_by_definition(&graph));
    }

    #[test]
    fn every_cycle_is_one_and_without_gone_processes_there_is_one_where_somebody_is_held(of in graphs()) {
        let graph = graph(&of);
        let free = deadlock::free(&graph);
        let cycles = deadlock::cycles(&graph, &free, usize::MAX);
        for cycle in &cycles {
            let next = cycle.iter().cycle().skip(1);
            for (at, on) in cycle.iter().zip(next) {
                prop_assert!(!free[at.index()]);
                prop_assert!(graph.nodes[at.index()].on.contains(&on.0), "{cycle:?}");
            }
            let once: BTreeSet<_> = cycle.iter().collect();
            prop_assert_eq!(once.len(), cycle.len());
        }
        let has_gone = graph.nodes.iter().any(|node| node.ends == Some(End::Gone));
        let is_held = free.iter().any(|free| !free);
        if is_held && !has_gone {
            prop_assert!(!cycles.is_empty());
        }
        if !is_held {
            prop_assert!(cycles.is_empty());
        }
    }

    #[test]
    fn the_order_of_calls_does_not_matter(receives in prop::collection::vec((0_u32..6, 0_u32..6), 1..6), seed: u64) {
        let one: BTreeMap<u32, u32> = receives.into_iter().collect();
        let job = |order: Vec<(u32, u32)>| {
            let hang = order.into_iter().fold(Job::build(6), |job, (rank, from)| job.receives(rank, from, 1)).look();
            (hang.stuck, hang.cycles, hang.roots)
        };
        let mut other: Vec<(u32, u32)> = one.iter().map(|(&rank, &from)| (rank, from)).collect();
        let forth = job(other.clone());
        let turn = seed as usize % other.len();
        other.rotate_left(turn);
        prop_assert_eq!(forth, job(other));
    }
}
