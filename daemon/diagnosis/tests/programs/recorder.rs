//! Ranks that lack a CPU because recording takes it.

use crate::model::{BARRIER, call, kinds, near};
use mpiscope_diagnosis::whatif::{Change, Graph, GraphBuilder};
use mpiscope_model::{Comm, Rank, Scheduling};

const STEPS: u64 = 200;
const WORK_NS: u64 = 5_000_000;
/// In each step, rank 1 waits so long for a CPU.
const WAIT_NS: u64 = 1_000_000;
const WAITED_NS: u64 = STEPS * WAIT_NS;

/// A run of two ranks that meet after each step. Recording took some CPU time.
fn recorded_in(cpu_ns: u64) -> Graph {
    let mut builder = GraphBuilder::new(kinds());
    builder.recorded_in(cpu_ns);
    let step_ns = WORK_NS + WAIT_NS + 10_000;
    for step in 0..STEPS {
        let begun_ns = step * step_ns;
        let end_ns = begun_ns + step_ns;
        for (rank, wait_ns) in [(0, 0), (1, WAIT_NS)] {
            let mut of = call(rank, BARRIER, (begun_ns + WORK_NS + wait_ns, end_ns), None, 8);
            (of.comm, of.instance) = (Some(Comm::WORLD), Some(step as u32));
            builder.call(&of);
            let wait_ns = (step + 1) * wait_ns;
            let run_ns = end_ns - wait_ns;
            builder.scheduling(Scheduling {
                rank: Rank(rank),
                at_ns: end_ns,
                run_ns,
                wait_ns,
                ..Scheduling::default()
            });
        }
    }
    builder.finish().unwrap()
}

fn saved_ns(graph: &Graph) -> f64 {
    graph.recorded_ns() as f64 - graph.replay(&Change { own_cores: true, ..Change::default() }).run_ns
}

#[test]
fn what_it_takes_is_not_saved_without_other_programs() {
    assert!(near(saved_ns(&recorded_in(0)), WAITED_NS as f64, 0.05));
    assert!(near(saved_ns(&recorded_in(WAITED_NS / 2)), WAITED_NS as f64 / 2.0, 0.05));
    let of_nothing_else = recorded_in(2 * WAITED_NS);
    assert!(near(
        of_nothing_else.replay(&Change::default()).run_ns,
        of_nothing_else.recorded_ns() as f64,
        1e-6
    ));
    assert_eq!(saved_ns(&of_nothing_else), 0.0);
}
