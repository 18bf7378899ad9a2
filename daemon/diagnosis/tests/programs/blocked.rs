//! Sends, and waits for them, that end when their receivers come.

use crate::model::{EXCHANGE, POLL, POST, RECEIVE, SEND, START, WAIT, call, kinds, message, near};
use mpiscope_diagnosis::whatif::{Change, Graph, GraphBuilder};
use mpiscope_model::{Call, CallId, Collected, Comm, Node, Rank, Scheduling};

#[test]
fn an_exchange_that_waits_for_its_receiver_follows_it() {
    // Rank 0 sends at once what rank 1 comes for only after 100 us, again and again; 0's own message is there before.
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; 2];
    for step in 0..50_u64 {
        // The first message is felt, and says what flights take.
        let (begin_0, begin_1) = (now_ns[0] + 10_000, now_ns[1] + if step == 0 { 9_000 } else { 100_000 });
        let end_1 = begin_1.max(begin_0) + 1_000;
        let end_0 = if step == 0 { begin_0 + 1_000 } else { end_1 };
        builder.call(&call(0, EXCHANGE, (begin_0, end_0), Some(1), 100));
        builder.call(&call(1, EXCHANGE, (begin_1, end_1), Some(0), 100));
        builder.message(&message([0, 1], 100, (begin_0, end_1), begin_1));
        now_ns = [end_0, end_1];
    }
    let graph = builder.finish().unwrap();
    assert!(graph.quality().blocked > 40, "{:?}", graph.quality());
    let unchanged = graph.replay(&Change::default());
    assert!(near(unchanged.run_ns, now_ns[1] as f64, 1e-6), "{unchanged:?}");
    // Only rank 1's computing decides.
    let faster = graph.replay(&Change { ranks: vec![(Rank(1), 0.5)], ..Change::default() });
    assert!(near(faster.run_ns, 50.0 * 51_000.0, 0.03), "{faster:?}");
}

/// Each rank of a ring sends to the next, and waits for what it gets and for what it sent: in one call, or one by one. What it sent
/// has left when the next rank is in MPI. Rank 3 has three times as much work. By which calls it waits: polls are a row of those that
/// find nothing, and one that does.
fn ring_of_waits((first, second): (u16, Option<u16>)) -> Graph {
    const RANKS: usize = 8;
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; RANKS];
    let mut end_ns = 0;
    for _ in 0..STEPS {
        let works_ns = |rank: usize| if rank == 3 { 3 * WORK_NS } else { WORK_NS } + 100 * rank as u64;
        let was_in_mpi_until_ns = now_ns;
        let entered_ns: Vec<u64> = (0..RANKS).map(|rank| now_ns[rank] + works_ns(rank)).collect();
        for (rank, &enter_ns) in entered_ns.iter().enumerate() {
            let (before, after) = ((rank + RANKS - 1) % RANKS, (rank + 1) % RANKS);
            let [own, from, to] = [rank, before, after].map(|rank| rank as u32);
            let there_ns = enter_ns.max(entered_ns[before]) + 3_000;
            let is_in_mpi = enter_ns < was_in_mpi_until_ns[after];
            let left_ns = there_ns.max(if is_in_mpi { enter_ns } else { entered_ns[after] } + 3_000);
            builder.call(&call(own, POST, (enter_ns, enter_ns + 500), Some(to), 100));
            let mut wait = |function: u16, (start_ns, end_ns): (u64, u64), from: Option<u32>| {
                let found_ns = if function == POLL { end_ns - 100 } else { start_ns };
                if function == POLL {
                    builder.call(&call(own, POLL, (start_ns, found_ns), None, 0));
                }
                builder.call(&call(own, function, (found_ns, end_ns), from, 0));
            };
            let came_ns = if second.is_some() { there_ns } else { left_ns };
            wait(first, (enter_ns + 600, came_ns), Some(from));
            if let Some(second) = second {
                wait(second, (there_ns + 100, left_ns + 200), None);
            }
            builder.message(&message([from, own], 100, (entered_ns[before], came_ns), enter_ns + 600));
            now_ns[rank] = if second.is_some() { left_ns + 200 } else { left_ns };
            end_ns = end_ns.max(now_ns[rank]);
        }
    }
    let graph = builder.finish().unwrap();
    assert_eq!(graph.recorded_ns(), end_ns);
    graph
}

#[test]
fn who_waits_for_what_it_sent_waits_until_the_receiver_comes() {
    let polls = [(POLL, None), (WAIT, Some(POLL)), (POLL, Some(POLL))];
    for calls in [(WAIT, None), (WAIT, Some(WAIT))].into_iter().chain(polls) {
        let graph = ring_of_waits(calls);
        let unchanged = graph.replay(&Change::default());
        assert!(near(unchanged.run_ns, graph.recorded_ns() as f64, 1e-9), "{unchanged:?}");
        let faster = graph.replay(&Change { ranks: vec![(Rank(3), 1.0 / 3.0)], ..Change::default() });
        assert!(near(faster.run_ns, (STEPS * WORK_NS) as f64, 0.05), "{calls:?} {faster:?}");
    }
}

#[test]
fn who_waits_for_what_it_sent_waits_until_the_receiver_looks_for_it() {
    // Rank 1 computes, starts something, computes, and looks. What rank 0 receives came a step before.
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; 2];
    let mut sent_before_ns = None;
    for _ in 0..STEPS {
        let enter_0 = now_ns[0] + WORK_NS / 4;
        let (start_1, look_1) = (now_ns[1] + WORK_NS / 2, now_ns[1] + WORK_NS);
        let end_ns = look_1.max(enter_0) + 3_000;
        builder.call(&call(0, POST, (enter_0, enter_0 + 500), Some(1), 100));
        builder.call(&call(0, WAIT, (enter_0 + 600, end_ns), Some(1), 0));
        builder.call(&call(1, POST, (start_1, start_1 + 500), Some(0), 100));
        builder.call(&call(1, WAIT, (look_1, end_ns), Some(0), 0));
        builder.message(&message([0, 1], 100, (enter_0, end_ns), look_1));
        if let Some(sent_ns) = sent_before_ns.replace(start_1) {
            builder.message(&message([1, 0], 100, (sent_ns, end_ns), enter_0 + 600));
        }
        show_flight(&mut builder, enter_0);
        now_ns = [end_ns; 2];
    }
    let graph = builder.finish().unwrap();
    let unchanged = graph.replay(&Change::default());
    assert!(near(unchanged.run_ns, graph.recorded_ns() as f64, 1e-9), "{unchanged:?}");
    let ranks = [1, 2, 3].map(|rank| (Rank(rank), 0.5)).to_vec();
    let faster = graph.replay(&Change { ranks, ..Change::default() });
    assert!(near(faster.run_ns, (STEPS * WORK_NS / 2) as f64, 0.05), "{faster:?}");
}

#[test]
fn one_call_may_wait_for_a_collective_and_for_a_message() {
    // Pairs start a barrier, and each rank of the ring waits for that and for what the one before it sends.
    const RANKS: usize = 8;
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; RANKS];
    for step in 0..STEPS {
        let works_ns = |rank: usize| if rank == 3 { 3 * WORK_NS } else { WORK_NS } + 100 * rank as u64;
        let entered_ns: Vec<u64> = (0..RANKS).map(|rank| now_ns[rank] + works_ns(rank)).collect();
        for rank in 0..RANKS {
            let before = (rank + RANKS - 1) % RANKS;
            let [own, from, to] = [rank, before, (rank + 1) % RANKS].map(|rank| rank as u32);
            let enter_ns = entered_ns[rank];
            let end_ns = enter_ns.max(entered_ns[rank ^ 1]).max(entered_ns[before]) + 3_000;
            let pair = Comm(1 + own / 2);
            let start = call(own, START, (enter_ns, enter_ns + 100), None, 8);
            builder.call(&Call { comm: Some(pair), instance: Some(step as u32), ..start });
            builder.call(&call(own, POST, (enter_ns + 200, enter_ns + 300), Some(to), 100));
            builder.call(&call(own, WAIT, (enter_ns + 400, end_ns), Some(from), 0));
            let completes = CallId::new(0, 3 * step + 2);
            let number = step as u32;
            builder.collected(Collected { rank: Rank(own), call: completes, comm: pair, number });
            let sent_ns = entered_ns[before] + 200;
            builder.message(&message([from, own], 100, (sent_ns, end_ns), enter_ns + 400));
            now_ns[rank] = end_ns;
        }
    }
    let graph = builder.finish().unwrap();
    let unchanged = graph.replay(&Change::default());
    assert!(near(unchanged.run_ns, graph.recorded_ns() as f64, 1e-9), "{unchanged:?}");
    let faster = graph.replay(&Change { ranks: vec![(Rank(3), 1.0 / 3.0)], ..Change::default() });
    assert!(near(faster.run_ns, (STEPS * WORK_NS) as f64, 0.05), "{faster:?}");
}

const STEPS: u64 = 50;
const WORK_NS: u64 = 10_000_000;

/// Ranks 2 and 3 show what messages take.
fn show_flight(builder: &mut GraphBuilder, at_ns: u64) {
    builder.call(&call(2, SEND, (at_ns, at_ns + 500), Some(3), 100));
    builder.call(&call(3, RECEIVE, (at_ns - 500, at_ns + 1_000), Some(2), 100));
    builder.message(&message([2, 3], 100, (at_ns, at_ns + 1_000), at_ns - 500));
}

/// As above, but rank 0 shares its CPU: in every other step it goes on 200 us later. What it receives came two steps before. The
/// nodes of the ranks, and how long rank 0 waits for a CPU, by its calls and by how long it was in them until now.
fn receivers_on_a_shared_cpu(nodes: [u32; 4], wait_ns: impl Fn(u64, u64) -> u64) -> Graph {
    let mut builder = GraphBuilder::new(kinds());
    (0..).zip(nodes).for_each(|(rank, node)| builder.place(Rank(rank), Node(node)));
    let (mut now_ns, mut polled_ns) = ([0_u64; 2], 0);
    let mut sent_ns: Vec<u64> = Vec::new();
    for step in 0..STEPS {
        let begin_0 = now_ns[0] + WORK_NS / 5;
        let begin_1 = if step == 0 { begin_0 - 1_000 } else { now_ns[1] + WORK_NS };
        let end_1 = begin_1.max(begin_0) + 1_000;
        let end_0 = end_1 + if step % 2 == 1 { TURN_NS } else { 0 };
        builder.call(&call(0, EXCHANGE, (begin_0, end_0), Some(1), 100));
        builder.call(&call(1, EXCHANGE, (begin_1, end_1), Some(0), 100));
        builder.message(&message([0, 1], 100, (begin_0, end_1), begin_1));
        if step >= 2 {
            builder.message(&message([1, 0], 100, (sent_ns[step as usize - 2], end_0), begin_0));
        }
        sent_ns.push(begin_1);
        now_ns = [end_0, end_1];
        polled_ns += end_0 - begin_0;
        show_flight(&mut builder, begin_0);
        if step % 10 == 9 || step == 0 {
            let wait_ns = wait_ns(step, polled_ns);
            let of_rank = Scheduling { rank: Rank(0), at_ns: end_0, ..Scheduling::default() };
            let (run_ns, involuntary) = (end_0 - wait_ns, wait_ns / TURN_NS + 1);
            builder.scheduling(Scheduling { run_ns, wait_ns, involuntary, ..of_rank });
        }
    }
    builder.finish().unwrap()
}

fn waits_for_receivers_on_a_shared_cpu(wait_ns: impl Fn(u64, u64) -> u64) {
    let graph = receivers_on_a_shared_cpu([0; 4], wait_ns);
    assert!(graph.quality().blocked > STEPS - 10, "{:?}", graph.quality());
    let ranks = [(1, 0.5), (2, 0.1), (3, 0.1)].map(|(rank, factor)| (Rank(rank), factor)).to_vec();
    let faster = graph.replay(&Change { ranks, ..Change::default() });
    assert!(near(faster.run_ns, (STEPS * WORK_NS / 2) as f64, 0.05), "{faster:?}");
}

const TURN_NS: u64 = 200_000;

#[test]
fn an_exchange_that_waits_for_its_receiver_goes_on_when_it_has_a_cpu() {
    waits_for_receivers_on_a_shared_cpu(|step, _| step.div_ceil(2) * TURN_NS);
}

#[test]
fn an_exchange_within_a_node_that_goes_on_a_little_later_waited_for_its_receiver() {
    // Nothing is known of CPUs; but no message takes so long within a node.
    waits_for_receivers_on_a_shared_cpu(|_, _| 0);
    // On a network it may, and that the receiver came in between is chance.
    let blocked = receivers_on_a_shared_cpu([0, 1, 0, 0], |_, _| 0).quality().blocked;
    assert!(blocked < STEPS / 2 + 5, "{blocked}");
}

#[test]
fn who_had_a_cpu_often_during_an_exchange_waited_for_its_receiver() {
    // Many ranks poll on the CPU: it is the rank's for a tenth of the time.
    waits_for_receivers_on_a_shared_cpu(|_, polled_ns| polled_ns / 10 * 9);
}

#[test]
fn who_sent_long_before_is_not_waited_for_when_it_enters_mpi_by_chance() {
    // Rank 0 sends to rank 1, which comes every 30 ms, and gets what rank 2 sent long before. That runs ahead, by 10 ms a step, and
    // each third of its sends begins just before rank 0 goes on.
    let mut builder = GraphBuilder::new(kinds());
    let sent_ns = |number: u64| (number + 1) * WORK_NS + 500;
    let mut end_0 = 0;
    for step in 0..STEPS {
        let begin_0 = end_0 + WORK_NS / 5;
        let begin_1 = 3 * (step + 1) * WORK_NS;
        end_0 = begin_1 + 1_000;
        builder.call(&call(0, EXCHANGE, (begin_0, end_0), Some(1), 100));
        builder.call(&call(1, EXCHANGE, (begin_1, end_0), Some(0), 100));
        builder.message(&message([0, 1], 100, (begin_0, end_0), begin_1));
        builder.message(&message([2, 0], 100, (sent_ns(step), end_0), begin_0));
    }
    for number in 0..2 * STEPS {
        let begin_ns = sent_ns(number);
        builder.call(&call(
            2,
            SEND,
            (begin_ns, begin_ns + 200),
            Some(if number < STEPS { 0 } else { 3 }),
            100,
        ));
        if number >= STEPS {
            // These show what messages take.
            builder.call(&call(3, RECEIVE, (begin_ns - 500, begin_ns + 1_000), Some(2), 100));
            builder.message(&message([2, 3], 100, (begin_ns, begin_ns + 1_000), begin_ns - 500));
        }
    }
    let graph = builder.finish().unwrap();
    let recorded_ns = graph.recorded_ns() as f64;
    let slower = graph.replay(&Change { ranks: vec![(Rank(2), 1.4)], ..Change::default() });
    assert!(near(slower.run_ns, recorded_ns, 0.01), "{slower:?} of {recorded_ns}");
}

#[test]
fn sends_that_wait_for_their_receivers_are_found_where_most_of_them_do() {
    // In a ring, an exchange returns when its message has arrived and its receiver has entered MPI. Work grows from rank to rank,
    // so most ranks wait for the ones after them.
    const RANKS: usize = 8;
    const STEPS: u64 = 100;
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; RANKS];
    for _ in 0..STEPS {
        let begun_ns: Vec<u64> =
            (0..RANKS).map(|rank| now_ns[rank] + 500_000 + rank as u64 * 1_000_000 / 7).collect();
        for rank in 0..RANKS {
            let (left, right) = ((rank + RANKS - 1) % RANKS, (rank + 1) % RANKS);
            let last_ns = begun_ns[rank].max(begun_ns[left]).max(begun_ns[right]);
            now_ns[rank] = last_ns + 5_000;
            builder.call(&call(
                rank as u32,
                EXCHANGE,
                (begun_ns[rank], now_ns[rank]),
                Some(right as u32),
                1_000,
            ));
        }
        for rank in 0..RANKS {
            let left = (rank + RANKS - 1) % RANKS;
            builder.message(&message(
                [left as u32, rank as u32],
                1_000,
                (begun_ns[left], now_ns[rank]),
                begun_ns[rank],
            ));
        }
    }
    let graph = builder.finish().unwrap();
    let recorded_ns = now_ns.into_iter().max().unwrap() as f64;
    let unchanged = graph.replay(&Change::default());
    assert!(near(unchanged.run_ns, recorded_ns, 1e-6), "{unchanged:?}");
    let even = graph.replay(&Change { balanced: true, ..Change::default() });
    assert!(near(even.run_ns, STEPS as f64 * 1_005_000.0, 0.05), "{even:?} of {recorded_ns}");
}

#[test]
fn a_wait_for_a_large_send_ends_when_the_receiver_came() {
    const STEPS: u64 = 100;
    const LATE_NS: u64 = 1_000_000;
    const TRANSFER_NS: u64 = 200_000;
    const BYTES: u64 = 1_000_000;
    let mut builder = GraphBuilder::new(kinds());
    let mut now_ns = [0_u64; 2];
    for step in 0..STEPS {
        // Rank 1 works longer than rank 0, but for every tenth step: then its receive waits.
        let [first_ns, second_ns] = now_ns;
        let sent_ns = first_ns + 10_000;
        let came_ns = if step % 10 == 0 { first_ns } else { second_ns + LATE_NS };
        let done_ns = came_ns.max(sent_ns + 500) + TRANSFER_NS;
        let waited_ns = if step % 10 == 0 { sent_ns + 1_000 } else { done_ns };
        builder.call(&call(0, SEND, (sent_ns, sent_ns + 500), Some(1), BYTES));
        builder.call(&call(0, WAIT, (sent_ns + 500, waited_ns), None, BYTES));
        builder.call(&call(1, RECEIVE, (came_ns, done_ns), Some(0), BYTES));
        builder.message(&message([0, 1], BYTES, (sent_ns, done_ns), came_ns));
        now_ns = [waited_ns.max(done_ns), done_ns];
    }
    let graph = builder.finish().unwrap();
    let rest_ns = STEPS as f64 * (TRANSFER_NS + 20_000) as f64;
    let fast = graph.replay(&Change { ranks: vec![(Rank(1), 0.0)], ..Change::default() }).run_ns;
    assert!(fast < 1.5 * rest_ns, "{fast} of {}", now_ns[0]);
    assert_eq!(graph.quality().unexplained_ns, 0);
}

#[test]
fn a_send_that_lost_its_cpu_waited_for_nobody() {
    const STEPS: u64 = 200;
    const GONE_NS: u64 = 1_000_000;
    let mut builder = GraphBuilder::new(kinds());
    let mut scheduling =
        Scheduling { rank: Rank(0), at_ns: 0, run_ns: 0, wait_ns: 0, ..Scheduling::default() };
    let mut now_ns = 10_000;
    for step in 0..STEPS {
        let is_gone = step % 20 == 10;
        let sent_ns = now_ns + 10_000;
        let done_ns = sent_ns + if is_gone { GONE_NS } else { 500 };
        // The receiver has its message long before the sender has a CPU again.
        let came_ns = sent_ns + if is_gone { GONE_NS / 3 } else { 100 };
        let recv_ns = came_ns + 1_000;
        builder.call(&call(0, SEND, (sent_ns, done_ns), Some(1), 100));
        builder.call(&call(1, RECEIVE, (came_ns, recv_ns), Some(0), 100));
        builder.message(&message([0, 1], 100, (sent_ns, recv_ns), came_ns));
        if is_gone {
            builder.scheduling(Scheduling { at_ns: sent_ns, ..scheduling });
            scheduling.wait_ns += GONE_NS;
            scheduling.involuntary += 1;
            builder.scheduling(Scheduling { at_ns: done_ns, ..scheduling });
        }
        now_ns = done_ns.max(recv_ns);
    }
    assert_eq!(builder.finish().unwrap().quality().blocked, 0);
}
