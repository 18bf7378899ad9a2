//! Collectives in which somebody is waited for whom the function does not name.

use crate::model::{
    ACCESS, BROADCAST, REDUCE, START, START_TOGETHER, TO_ALL, TOGETHER, UNLOCK, WAIT, call, kinds, near,
};
use mpiscope_diagnosis::whatif::{Change, Graph, GraphBuilder};
use mpiscope_model::{Call, CallId, Collected, Comm, Rank};

const STEPS: u64 = 50;
const RANKS: u32 = 8;
const LONG_NS: u64 = 3_000_000;
const SHORT_NS: u64 = 1_000_000;
const OWN_NS: u64 = 2_000;

/// Times of each rank at which it has computed and enters, and what it waits for: the ends.
fn run(kind: u16, root: Option<u32>, leave: impl Fn(&[u64], u32) -> u64) -> Graph {
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; RANKS as usize];
    for instance in 0..STEPS as u32 {
        let entered_ns: Vec<u64> = (0_u32..)
            .zip(now_ns)
            .map(|(rank, now_ns)| now_ns + if rank == 3 { LONG_NS } else { SHORT_NS } + u64::from(rank) * 100)
            .collect();
        for rank in 0..RANKS {
            let (enter_ns, end_ns) = (entered_ns[rank as usize], leave(&entered_ns, rank));
            let own = call(rank, kind, (enter_ns, end_ns), root, 8);
            builder.call(&Call { comm: Some(Comm(0)), instance: Some(instance), ..own });
            now_ns[rank as usize] = end_ns;
        }
    }
    builder.finish().unwrap()
}

/// What rank 3 has more to do costs the run, and half of its work takes that much less.
fn follows_rank_3(graph: &Graph) {
    assert!(graph.quality().blocked > STEPS - 5, "{:?}", graph.quality());
    let unchanged = graph.replay(&Change::default());
    assert!(near(unchanged.run_ns, graph.recorded_ns() as f64, 1e-9), "{unchanged:?}");
    let faster = graph.replay(&Change { ranks: vec![(Rank(3), 0.5)], ..Change::default() });
    let saved_ns = graph.recorded_ns() as f64 - faster.run_ns;
    assert!(near(saved_ns, (STEPS * LONG_NS / 2) as f64, 0.02), "{saved_ns} of {}", graph.recorded_ns());
}

#[test]
fn who_passes_on_what_others_reduce_waits_for_those_below() {
    // Data goes from 3 to 2, from 2 to 1 and from 1 to the root; all others send and go on.
    let graph = run(REDUCE, Some(0), |entered_ns, rank| match rank {
        0..3 => entered_ns[rank as usize..4].iter().max().unwrap() + OWN_NS * u64::from(4 - rank),
        _ => entered_ns[rank as usize] + OWN_NS,
    });
    follows_rank_3(&graph);
}

#[test]
fn who_gets_what_was_broadcast_from_a_late_rank_waits_for_that() {
    // The root sends to 3, and 3 to 4.
    let graph = run(BROADCAST, Some(0), |entered_ns, rank| match rank {
        4 => entered_ns[0].max(entered_ns[3]).max(entered_ns[4]) + 2 * OWN_NS,
        _ => entered_ns[0].max(entered_ns[rank as usize]) + OWN_NS,
    });
    follows_rank_3(&graph);
}

#[test]
fn neighbours_wait_for_each_other() {
    let graph = run(TOGETHER, None, |entered_ns, rank| {
        let rank = rank as usize;
        let (before, after) = ((rank + 7) % 8, (rank + 1) % 8);
        entered_ns[before].max(entered_ns[rank]).max(entered_ns[after]) + OWN_NS
    });
    follows_rank_3(&graph);
}

#[test]
fn who_moves_nothing_with_most_members_waits_for_the_others_alone() {
    let graph = run(TO_ALL, None, |entered_ns, rank| {
        let rank = rank as usize;
        entered_ns[(rank + 7) % 8].max(entered_ns[rank]).max(entered_ns[(rank + 1) % 8]) + OWN_NS
    });
    follows_rank_3(&graph);
}

#[test]
fn who_does_not_wait_leaves_at_once() {
    let graph = run(TOGETHER, None, |entered_ns, rank| entered_ns[rank as usize] + OWN_NS);
    assert_eq!(graph.quality().blocked, 0);
}

#[test]
fn what_was_started_ends_when_all_are_back_in_mpi() {
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = 0;
    for instance in 0..STEPS as u32 {
        let works_ns = |rank: u32| if rank == 3 { LONG_NS } else { SHORT_NS } + u64::from(rank) * 100;
        // All enter the wait after as much work again as before the start; the last one decides.
        let back_ns = |rank: u32| now_ns + 2 * works_ns(rank) + 1_000;
        let end_ns = back_ns(3) + OWN_NS;
        for rank in 0..RANKS {
            let start_ns = now_ns + works_ns(rank);
            let own = call(rank, START, (start_ns, start_ns + 1_000), None, 8);
            builder.call(&Call { comm: Some(Comm(0)), instance: Some(instance), ..own });
            builder.call(&call(rank, WAIT, (back_ns(rank), end_ns), None, 0));
        }
        now_ns = end_ns;
    }
    let graph = builder.finish().unwrap();
    assert!(graph.quality().blocked > STEPS * 6, "{:?}", graph.quality());
    let faster = graph.replay(&Change { ranks: vec![(Rank(3), 0.5)], ..Change::default() });
    let saved_ns = graph.recorded_ns() as f64 - faster.run_ns;
    assert!(near(saved_ns, (STEPS * LONG_NS) as f64, 0.02), "{saved_ns} of {}", graph.recorded_ns());
}

#[test]
fn who_ends_an_access_waits_until_its_target_is_in_mpi() {
    // Each rank writes to the window of the next, which takes part when it enters MPI.
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; RANKS as usize];
    for _ in 0..STEPS {
        let was_in_mpi_until_ns = now_ns;
        let works_ns = |rank: usize| if rank == 3 { LONG_NS } else { SHORT_NS } + 100 * rank as u64;
        let entered_ns: Vec<u64> = (0..RANKS as usize).map(|rank| now_ns[rank] + works_ns(rank)).collect();
        for rank in 0..RANKS as usize {
            let after = (rank + 1) % RANKS as usize;
            let enter_ns = entered_ns[rank];
            let is_in_mpi = enter_ns < was_in_mpi_until_ns[after];
            let end_ns = enter_ns.max(if is_in_mpi { enter_ns } else { entered_ns[after] }) + OWN_NS;
            let own = call(rank as u32, ACCESS, (enter_ns, end_ns), None, 0);
            builder.call(&Call { comm: Some(Comm(1)), ..own });
            now_ns[rank] = end_ns;
        }
    }
    follows_rank_3(&builder.finish().unwrap());
}

#[test]
fn who_sends_far_ahead_waits_until_there_is_a_free_buffer() {
    // Rank 2 sends by way of rank 1, which has three times as much work; there are buffers for ten messages.
    const BUFFERS: usize = 10;
    let mut builder = GraphBuilder::new(kinds());
    let mut entries: [Vec<u64>; 3] = Default::default();
    let mut now_ns = [0_u64; 3];
    for instance in 0..STEPS as usize {
        let works_ns = [SHORT_NS, LONG_NS, SHORT_NS + 300];
        for (rank, works_ns) in works_ns.iter().enumerate() {
            entries[rank].push(now_ns[rank] + works_ns);
        }
        let entered_ns = [0, 1, 2].map(|rank: usize| entries[rank][instance]);
        let free_ns = instance.checked_sub(BUFFERS).map_or(0, |before| entries[1][before]);
        let last_ns = entered_ns[0].max(entered_ns[1]).max(entered_ns[2]);
        now_ns = [last_ns, entered_ns[1], entered_ns[2].max(free_ns)].map(|ns| ns + OWN_NS);
        for rank in 0..3 {
            let own = call(rank, REDUCE, (entered_ns[rank as usize], now_ns[rank as usize]), Some(0), 8);
            builder.call(&Call { comm: Some(Comm(0)), instance: Some(instance as u32), ..own });
        }
    }
    let graph = builder.finish().unwrap();
    assert!(graph.quality().blocked > STEPS - 2 * BUFFERS as u64, "{:?}", graph.quality());
    let unchanged = graph.replay(&Change::default());
    assert!(near(unchanged.run_ns, graph.recorded_ns() as f64, 1e-9), "{unchanged:?}");
    let faster = graph.replay(&Change { ranks: vec![(Rank(1), 1.0 / 3.0)], ..Change::default() });
    assert!(near(faster.run_ns, (STEPS * SHORT_NS) as f64, 0.05), "{faster:?} of {}", graph.recorded_ns());
}

#[test]
fn who_waits_for_a_lock_waits_until_another_one_gives_it_back() {
    // All take turns at a lock of rank 0, and rank 3 keeps it three times as long.
    let mut builder = GraphBuilder::new(kinds());
    let mut free_ns = 0;
    let mut now_ns = [0_u64; RANKS as usize];
    for _ in 0..STEPS {
        for rank in 0..RANKS {
            let keeps_ns = if rank == 3 { LONG_NS } else { SHORT_NS };
            let start_ns = now_ns[rank as usize] + SHORT_NS / 4 + 100 * u64::from(rank);
            let locked_ns = start_ns.max(free_ns) + OWN_NS;
            free_ns = locked_ns + keeps_ns;
            for (function, span) in [(ACCESS, (start_ns, locked_ns)), (UNLOCK, (free_ns, free_ns + OWN_NS))] {
                let own = call(rank, function, span, Some(0), 0);
                builder.call(&Call { comm: Some(Comm(1)), ..own });
            }
            now_ns[rank as usize] = free_ns + OWN_NS;
        }
    }
    follows_rank_3(&builder.finish().unwrap());
}

#[test]
fn what_was_started_among_neighbours_ends_when_those_are_back_in_mpi() {
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; RANKS as usize];
    let mut numbers = [0_u64; RANKS as usize];
    for instance in 0..STEPS as u32 {
        let started_ns = now_ns;
        let works_ns = |rank: usize| if rank == 3 { LONG_NS } else { SHORT_NS } + rank as u64 * 100;
        let back_ns: Vec<u64> =
            (0..RANKS as usize).map(|rank| started_ns[rank] + OWN_NS + works_ns(rank)).collect();
        for rank in 0..RANKS {
            let at = rank as usize;
            let end_ns = back_ns[(at + 7) % 8].max(back_ns[at]).max(back_ns[(at + 1) % 8]) + OWN_NS;
            let own = call(rank, START_TOGETHER, (started_ns[at], started_ns[at] + OWN_NS), None, 8);
            builder.call(&Call { comm: Some(Comm(0)), instance: Some(instance), ..own });
            builder.call(&call(rank, WAIT, (back_ns[at], end_ns), None, 0));
            numbers[at] += 2;
            let completes = CallId::new(0, numbers[at] - 1);
            builder.collected(Collected {
                rank: Rank(rank),
                call: completes,
                comm: Comm(0),
                number: instance,
            });
            now_ns[at] = end_ns;
        }
    }
    follows_rank_3(&builder.finish().unwrap());
}
