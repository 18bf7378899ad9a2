//! Work that differs from rank to rank in some places of the program and not in others.

use crate::model::{Step, graph_of, near, run};
use mpiscope_diagnosis::Change;

const RANKS: u32 = 8;
const WORK_NS: u64 = 1_000_000;

fn balanced() -> Change {
    Change { even_work: true, ..Change::default() }
}

/// All ranks work and meet; now and then all send to rank 0, which handles each message by itself.
fn serialized_root(handle_ns: u64) -> Vec<Vec<Step>> {
    let of_rank = |rank: u32| {
        let of_step = |step: u32| {
            let mut steps = vec![Step::Compute(WORK_NS), Step::Barrier];
            match (step % 4, rank) {
                (0, 0) => {
                    steps.extend((1..RANKS).flat_map(|from| [Step::Receive(from), Step::Compute(handle_ns)]));
                    steps.push(Step::Barrier);
                }
                (0, _) => steps.extend([Step::Send(0), Step::Barrier]),
                _ => {}
            }
            steps
        };
        (0..80).flat_map(of_step).collect()
    };
    (0..RANKS).map(of_rank).collect()
}

#[test]
fn the_own_work_of_a_root_goes_and_not_a_share_of_all_its_work() {
    const HANDLE_NS: u64 = 200_000;
    let [with, without] = [HANDLE_NS, 0].map(|ns| run(&serialized_root(ns), |_, _, _| 5_000));
    let graph = graph_of(&with, &[0; RANKS as usize]);
    let cost_ns = (with.end_ns - without.end_ns) as f64;
    let saved_ns = with.end_ns as f64 - graph.replay(&balanced()).run_ns;
    // Spread over all ranks, an eighth of it stays with the root and comes to the others, and its last piece of work in
    // each round looks like that before any other barrier. A share of all its work would save a tenth.
    assert!(saved_ns > 0.6 * cost_ns && saved_ns < cost_ns, "{saved_ns} of {cost_ns}");
}

#[test]
fn ranks_that_take_turns_in_another_order_are_balanced() {
    let of_rank = |rank: u32| {
        let (right, left) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
        let exchange = [Step::Send(right), Step::Receive(left)];
        let [first, second] = if rank.is_multiple_of(2) { exchange } else { [exchange[1], exchange[0]] };
        let step = [Step::Compute(WORK_NS), first, Step::Compute(WORK_NS / 4), second];
        step.into_iter().cycle().take(400).collect()
    };
    let model = run(&(0..RANKS).map(of_rank).collect::<Vec<Vec<Step>>>(), |_, _, _| 5_000);
    let graph = graph_of(&model, &[0; RANKS as usize]);
    assert!(near(graph.replay(&balanced()).run_ns, model.end_ns as f64, 1e-3));
}
