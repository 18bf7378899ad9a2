//! Work that differs from step to step, while all ranks have as much in sum.

use crate::model::{Step, builder_of, graph_of, luck, near, ring, run};
use mpiscope_model::{Rank, Scheduling};

const RANKS: u32 = 8;
const STEPS: u32 = 200;
const WORK_NS: u64 = 1_000_000;

/// One in eight takes three times as long, by chance.
fn work_ns(rank: u32, step: u32) -> u64 {
    if luck(rank, 99, step.into()) < 0.125 { 3 * WORK_NS } else { WORK_NS }
}

/// What all do on average in a step.
fn even_ns(step: u32) -> u64 {
    (0..RANKS).map(|rank| work_ns(rank, step)).sum::<u64>() / u64::from(RANKS)
}

/// All compute and meet.
fn together(computing_ns: impl Fn(u32, u32) -> u64) -> Vec<Vec<Step>> {
    let of_rank = |rank: u32| {
        let of_step = |step: u32| [Step::Compute(computing_ns(rank, step)), Step::Barrier];
        (0..STEPS).flat_map(of_step).collect()
    };
    (0..RANKS).map(of_rank).collect()
}

#[test]
fn work_that_differs_from_step_to_step_is_balanced_within_each() {
    let programs = |computing_ns: fn(u32, u32) -> u64| {
        let in_ring = |rank: u32, step: usize| computing_ns(rank, step as u32);
        [together(computing_ns), ring(RANKS, STEPS as usize, in_ring)]
    };
    let both = programs(work_ns).into_iter().zip(programs(|_, step| even_ns(step)));
    for (with, without) in both {
        let [with, without] = [with, without].map(|programs| run(&programs, |_, _, _| 2_000));
        let truth_ns = (with.end_ns - without.end_ns) as f64;
        let graph = graph_of(&with, &[0; RANKS as usize]);
        assert!(graph.differs_by_step());
        let savings = graph.savings(None);
        assert!(near(savings.replayed_ns, with.end_ns as f64, 1e-6), "{savings:?}");
        assert!(near(savings.causes[1].wall_ns, truth_ns, 0.05), "{savings:?}, truth {truth_ns}");
        // All ranks have more than others now and then.
        assert!(graph.excess_work().concat().iter().filter(|ns| **ns > 0).count() > RANKS as usize);
    }
}

#[test]
fn noise_is_no_work_that_differs() {
    let noisy = |rank: u32, step: u32| WORK_NS + (0.1 * luck(rank, 98, step.into()) * WORK_NS as f64) as u64;
    let graph = graph_of(&run(&together(noisy), |_, _, _| 2_000), &[0; RANKS as usize]);
    assert!(!graph.differs_by_step());
}

#[test]
fn a_rank_that_always_has_more_work_is_named_with_it() {
    let more = |rank: u32, _: u32| if rank == 3 { 3 * WORK_NS } else { WORK_NS };
    let graph = graph_of(&run(&together(more), |_, _, _| 2_000), &[0; RANKS as usize]);
    assert!(!graph.differs_by_step());
}

#[test]
fn ranks_without_a_cpu_now_and_then_have_no_more_work() {
    // The scheduler says of all that they waited for a CPU as long as they took longer, and not in which step.
    let model = run(&together(work_ns), |_, _, _| 2_000);
    let mut builder = builder_of(&model, &[0; RANKS as usize]);
    for rank in 0..RANKS {
        let steps_until = |at_ns: u64| u64::from(STEPS) * at_ns / model.end_ns;
        for at_ns in (0..=10).map(|part| part * model.end_ns / 10) {
            let longer = |step: u64| work_ns(rank, step as u32) - WORK_NS;
            let wait_ns: u64 = (0..steps_until(at_ns)).map(longer).sum();
            let of_rank = Scheduling { rank: Rank(rank), at_ns, ..Scheduling::default() };
            builder.scheduling(Scheduling { run_ns: at_ns - wait_ns, wait_ns, ..of_rank });
        }
    }
    assert!(!builder.finish().unwrap().differs_by_step());
}
