//! More ranks than CPUs, which poll while they wait for messages.

use crate::model::{EXCHANGE, RECEIVE, SEND, call, kinds, message, near};
use mpiscope_diagnosis::whatif::{Change, Graph, GraphBuilder};
use mpiscope_model::{Node, Rank, Scheduling};

const MS: u64 = 1_000_000;
const FLIGHT_NS: u64 = 5_000;
const STEPS: u64 = 600;

/// What the scheduler says of a rank until a moment.
fn sample(builder: &mut GraphBuilder, rank: u32, at_ns: u64, [run_ns, wait_ns]: [u64; 2], switches: u64) {
    let of_rank = Scheduling { rank: Rank(rank), at_ns, ..Scheduling::default() };
    builder.scheduling(Scheduling { run_ns, wait_ns, involuntary: switches, ..of_rank });
}

fn balanced_saves_ns(graph: &Graph) -> f64 {
    let recorded_ns = graph.recorded_ns() as f64;
    assert!(near(graph.replay(&Change::default()).run_ns, recorded_ns, 1e-6));
    // Nothing is different: ranks wait for the CPU as they did.
    let unchanged = Change { latency: Some(1.0), ..Change::default() };
    assert!(near(graph.replay(&unchanged).run_ns, recorded_ns, 1e-6));
    recorded_ns - graph.replay(&Change { balanced: true, ..Change::default() }).run_ns
}

/// Two ranks on one CPU that exchange messages: who waits for the other polls, and leaves it half of the CPU. Whoever computes
/// takes twice as long. Ranks before the first make no calls.
fn two_on_one_cpu(first: u32, work_ns: [u64; 2]) -> Graph {
    let mut builder = GraphBuilder::new(kinds());
    builder.share_cpus([(Node(0), 1.0)]);
    let mut now_ns = 0;
    for step in 0..STEPS {
        let computed_ns = work_ns.map(|ns| now_ns + 2 * ns);
        now_ns = computed_ns[0].max(computed_ns[1]) + FLIGHT_NS;
        for (rank, at) in [(first, 0), (first + 1, 1)] {
            let (other, at_ns) = (2 * first + 1 - rank, computed_ns[at]);
            builder.call(&call(rank, SEND, (at_ns, at_ns + 500), Some(other), 1_000));
            builder.call(&call(rank, RECEIVE, (at_ns + 500, now_ns), Some(other), 1_000));
            builder.message(&message([other, rank], 1_000, (computed_ns[1 - at], now_ns), at_ns + 500));
        }
        if step % 16 == 0 || step == STEPS - 1 {
            // Turns are short.
            (first..first + 2)
                .for_each(|rank| sample(&mut builder, rank, now_ns, [now_ns / 2; 2], now_ns / MS));
        }
    }
    builder.finish().unwrap()
}

#[test]
fn balanced_ranks_wait_equally_for_the_cpu_that_they_share() {
    let saved_ns = balanced_saves_ns(&two_on_one_cpu(0, [3 * MS, MS]));
    let truth_ns = (STEPS * 2 * MS) as f64;
    assert!(near(saved_ns, truth_ns, 0.05), "{saved_ns} of {truth_ns}");
    let of_even_ns = balanced_saves_ns(&two_on_one_cpu(0, [2 * MS; 2]));
    assert!(of_even_ns.abs() < 0.01 * truth_ns, "{of_even_ns}");
    // Ranks that are not known take no part of it.
    assert_eq!(balanced_saves_ns(&two_on_one_cpu(3, [3 * MS, MS])), saved_ns);
}

/// A ring of three ranks on one CPU that sleep while they compute. Two of them poll for messages most of the time: by turns, one
/// has no CPU when its message comes. With balanced work they hardly poll.
#[test]
fn who_polls_for_a_shorter_time_waits_less_for_a_cpu() {
    const WORK_NS: [u64; 3] = [10 * MS, 2 * MS, 2 * MS];
    const TURN_NS: u64 = 2 * MS;
    let mut builder = GraphBuilder::new(kinds());
    builder.share_cpus([(Node(0), 1.0)]);
    let mut begun_ns = [0_u64; 3];
    let mut polled_ns = [0_u64; 3];
    for step in 0..STEPS {
        let computed_ns: [u64; 3] = std::array::from_fn(|rank| begun_ns[rank] + WORK_NS[rank]);
        for rank in 0..3 {
            let (left, right) = ((rank + 2) % 3, (rank + 1) % 3);
            let (asked_ns, sent_ns) = (computed_ns[rank], computed_ns[left] + FLIGHT_NS);
            let has_no_cpu = sent_ns > asked_ns && (rank as u64 + step).is_multiple_of(2);
            let end_ns = sent_ns.max(asked_ns + 1_000) + if has_no_cpu { TURN_NS } else { 0 };
            let [from, own, to] = [left, rank, right].map(|rank| rank as u32);
            builder.call(&call(own, SEND, (asked_ns, asked_ns + 500), Some(to), 1_000));
            builder.call(&call(own, RECEIVE, (asked_ns + 500, end_ns), Some(from), 1_000));
            builder.message(&message([from, own], 1_000, (computed_ns[left], end_ns), asked_ns + 500));
            polled_ns[rank] += end_ns - asked_ns;
            begun_ns[rank] = end_ns;
        }
        if step % 10 == 0 || step == STEPS - 1 {
            for (rank, polled_ns) in (0..).zip(polled_ns) {
                sample(&mut builder, rank, begun_ns[0], [polled_ns / 2; 2], polled_ns / 100_000);
            }
        }
    }
    let saved_ns = balanced_saves_ns(&builder.finish().unwrap());
    let [slow_ns, fast_ns, _] = WORK_NS;
    let truth_ns = (STEPS * (slow_ns - (slow_ns + 2 * fast_ns) / 3)) as f64;
    assert!(near(saved_ns, truth_ns, 0.1), "{saved_ns} of {truth_ns}");
}

/// Two ranks on two hosts exchange messages that take long on the network. Meanwhile both poll, and their CPUs are theirs for a
/// tenth of the time, by short turns. They go on as soon as messages are there.
#[test]
fn who_polls_by_turns_keeps_nobody_waiting_who_waits_for_the_network() {
    const WORK_NS: u64 = 2 * MS;
    let mut builder = GraphBuilder::new(kinds());
    let (mut begun_ns, mut polled_ns) = (0, 0);
    (0..2).for_each(|rank| builder.place(Rank(rank), Node(rank)));
    builder.share_cpus([(Node(0), 1.0), (Node(1), 1.0)]);
    for step in 0..STEPS {
        let asked_ns = begun_ns + WORK_NS;
        let end_ns = asked_ns + if step < STEPS / 2 { 100_000 } else { 5 * MS };
        for rank in 0..2 {
            builder.call(&call(rank, EXCHANGE, (asked_ns, end_ns), Some(1 - rank), 1_000));
            builder.message(&message([1 - rank, rank], 1_000, (asked_ns, end_ns), asked_ns));
        }
        polled_ns += end_ns - asked_ns;
        if step % 15 == 0 || step == STEPS - 1 {
            let waited_ns = polled_ns / 10 * 9;
            (0..2).for_each(|rank| {
                let times = [polled_ns - waited_ns, waited_ns];
                sample(&mut builder, rank, end_ns, times, waited_ns / 10_000);
            });
        }
        begun_ns = end_ns;
    }
    let graph = builder.finish().unwrap();
    let recorded_ns = graph.recorded_ns() as f64;
    let saved_ns = |change: &Change| recorded_ns - graph.replay(change).run_ns;
    let with_cpus_ns = saved_ns(&Change { own_cores: true, ..Change::default() });
    assert!(with_cpus_ns < 0.02 * recorded_ns, "{with_cpus_ns} of {recorded_ns}");
    let quiet_ns = saved_ns(&Change { quiet_network: true, ..Change::default() });
    let truth_ns = (STEPS / 2 * (5 * MS - 100_000)) as f64;
    assert!(near(quiet_ns, truth_ns, 0.05), "{quiet_ns} of {truth_ns}");
}
