//! Ranks that are stopped inside MPI, where others need them.

use crate::model::{BARRIER, EXCHANGE, SEND, call, kinds, message, near};
use mpiscope_diagnosis::whatif::{Change, GraphBuilder};
use mpiscope_model::{Comm, Rank, Scheduling};

const STEPS: u64 = 200;
const STOP_STEP: u64 = 100;
const WORK_NS: u64 = 5_000_000;
const STOPPED_NS: u64 = 1_500_000_000;

/// What the scheduler says of four ranks: rank 1 is stopped for a while, and read ten times a second.
fn stop(builder: &mut GraphBuilder, from_ns: u64) {
    for rank in 0..4 {
        for at_ns in (0..4_000_000_000_u64).step_by(100_000_000) {
            let stopped_ns = if rank == 1 { u64::min(at_ns.saturating_sub(from_ns), STOPPED_NS) } else { 0 };
            let run_ns = at_ns - stopped_ns;
            builder.scheduling(Scheduling {
                rank: Rank(rank),
                at_ns,
                run_ns,
                stopped_ns,
                ..Scheduling::default()
            });
        }
    }
}

fn saved_ns(builder: GraphBuilder) -> f64 {
    let graph = builder.finish().unwrap();
    let recorded_ns = graph.recorded_ns() as f64;
    assert!(near(graph.replay(&Change::default()).run_ns, recorded_ns, 1e-6));
    recorded_ns - graph.replay(&Change { own_cores: true, ..Change::default() }).run_ns
}

#[test]
fn in_an_exchange_whose_sender_waits_for_it() {
    // An exchange ends when its message is there and its receiver has taken the one that it sent.
    const RANKS: usize = 4;
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; RANKS];
    for step in 0..STEPS {
        let begun_ns = now_ns.map(|ns| ns + WORK_NS);
        let mut taken_ns = begun_ns;
        if step == STOP_STEP {
            stop(&mut builder, begun_ns[1]);
            taken_ns[1] += STOPPED_NS;
        }
        for rank in 0..RANKS {
            let (left, right) = ((rank + RANKS - 1) % RANKS, (rank + 1) % RANKS);
            now_ns[rank] = taken_ns[rank].max(begun_ns[left]).max(taken_ns[right]) + 5_000;
            let times_ns = (begun_ns[rank], now_ns[rank]);
            builder.call(&call(rank as u32, EXCHANGE, times_ns, Some(right as u32), 1_000));
        }
        for rank in 0..RANKS {
            let left = (rank + RANKS - 1) % RANKS;
            let pair = [left as u32, rank as u32];
            builder.message(&message(pair, 1_000, (begun_ns[left], now_ns[rank]), begun_ns[rank]));
        }
    }
    assert!(near(saved_ns(builder), STOPPED_NS as f64, 0.1));
}

#[test]
fn in_a_collective_after_all_have_entered() {
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = 0;
    for step in 0..STEPS {
        let begun_ns = now_ns + WORK_NS;
        now_ns = begun_ns + 20_000;
        if step == STOP_STEP {
            stop(&mut builder, begun_ns);
            now_ns += STOPPED_NS;
        }
        for rank in 0..4 {
            let mut of = call(rank, BARRIER, (begun_ns, now_ns), None, 8);
            (of.comm, of.instance) = (Some(Comm::WORLD), Some(step as u32));
            builder.call(&of);
        }
    }
    assert!(near(saved_ns(builder), STOPPED_NS as f64, 0.1));
}

#[test]
fn in_a_send_that_waits_for_nobody() {
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = 0;
    for step in 0..STEPS {
        let begun_ns = now_ns + WORK_NS;
        now_ns = begun_ns + 1_000;
        if step == STOP_STEP {
            stop(&mut builder, begun_ns);
            now_ns += STOPPED_NS;
        }
        builder.call(&call(1, SEND, (begun_ns, now_ns), Some(0), 1_000));
    }
    assert!(near(saved_ns(builder), STOPPED_NS as f64, 0.1));
}
