//! A master that deals tasks to whoever asks first.

use crate::model::{
    EXCHANGE, Model, RECEIVE, RECEIVE_NS, SEND, SEND_NS, Step, builder_of, call, graph_of, kinds, luck,
    message, near, run,
};
use mpiscope_diagnosis::whatif::{Change, GraphBuilder};
use mpiscope_model::{Blame, Call, Node, Rank, Site};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const TASKS: u64 = 2_000;
/// The master and two workers are on the first node, four workers on the second.
const NODES: [u32; 7] = [0, 0, 0, 1, 1, 1, 1];

/// What a task takes: the same each time, whoever does it.
fn task_ns(task: u64) -> u64 {
    200_000 + (200_000.0 * luck(0, 0, task)) as u64
}

/// A rank sends to another: the call, and when the message is there.
fn send(model: &mut Model, [from, to]: [u32; 2], at_ns: u64, flight_ns: u64) -> u64 {
    model.calls.push(call(from, SEND, (at_ns, at_ns + SEND_NS), Some(to), 100));
    at_ns + flight_ns
}

/// A rank receives what is or will be there: when it has it.
fn receive(model: &mut Model, [from, to]: [u32; 2], sent_ns: u64, arrival_ns: u64, at_ns: u64) -> u64 {
    let end_ns = (at_ns + RECEIVE_NS).max(arrival_ns);
    model.calls.push(call(to, RECEIVE, (at_ns, end_ns), Some(from), 100));
    model.messages.push(message([from, to], 100, (sent_ns, end_ns), at_ns));
    end_ns
}

/// A run of it; flights by source, destination and task.
fn farm(flight_ns: impl Fn(u32, u32, u64) -> u64) -> Model {
    served(flight_ns, |_, _, task| task < TASKS)
}

/// Likewise, by worker, how many tasks it had and how many were dealt, whether there is one more for it.
fn served(flight_ns: impl Fn(u32, u32, u64) -> u64, has_more: impl Fn(u32, u64, u64) -> bool) -> Model {
    let mut done = [0; NODES.len()];
    let mut model = Model { calls: Vec::new(), messages: Vec::new(), end_ns: 0 };
    let workers = 1..NODES.len() as u32;
    let mut asked = BinaryHeap::new();
    let ask = |model: &mut Model, worker: u32, at_ns: u64, task: u64| {
        let arrival_ns = send(model, [worker, 0], at_ns, flight_ns(worker, 0, task));
        Reverse((arrival_ns, worker, at_ns))
    };
    asked.extend(workers.map(|worker| ask(&mut model, worker, 1_000, u64::from(worker))));
    let mut now_ns = 0;
    let mut task = 0;
    while let Some(Reverse((arrival_ns, worker, sent_ns))) = asked.pop() {
        let taken_ns = receive(&mut model, [worker, 0], sent_ns, arrival_ns, now_ns);
        let answer_ns = send(&mut model, [0, worker], taken_ns, flight_ns(0, worker, task));
        now_ns = taken_ns + SEND_NS;
        let got_ns = receive(&mut model, [0, worker], taken_ns, answer_ns, sent_ns + SEND_NS);
        model.end_ns = model.end_ns.max(got_ns);
        let done = &mut done[worker as usize];
        *done += 1;
        if has_more(worker, *done, task) {
            asked.push(ask(&mut model, worker, got_ns + task_ns(task), task));
        }
        task += 1;
    }
    model
}

fn quiet(from: u32, to: u32, task: u64) -> u64 {
    let is_inter = NODES[from as usize] != NODES[to as usize];
    if is_inter { 8_000 + (2_000.0 * luck(from, to, task)) as u64 } else { 1_000 }
}

fn disturbed(from: u32, to: u32, task: u64) -> u64 {
    let is_slow = quiet(from, to, task) > 1_000 && (500..1_500).contains(&task);
    quiet(from, to, task) * if is_slow { 20 } else { 1 }
}

#[test]
fn slow_messages_cost_what_a_second_run_saves_in_which_others_ask_first() {
    let model = farm(disturbed);
    let truth_ns = (model.end_ns - farm(quiet).end_ns) as f64;
    assert!(truth_ns > 0.05 * model.end_ns as f64, "{truth_ns} of {}", model.end_ns);
    let savings = graph_of(&model, &NODES).savings(None);
    assert!(near(savings.replayed_ns, model.end_ns as f64, 1e-6), "{savings:?}");
    assert_eq!(savings.departure, None);
    for saving in savings.causes {
        if saving.cause == Blame::Background {
            assert!(near(saving.wall_ns, truth_ns, 0.1), "{saving:?}, truth {truth_ns}");
        } else {
            assert!(saving.wall_ns < 0.005 * model.end_ns as f64, "{saving:?}");
        }
    }
}

#[test]
fn of_a_worker_that_gets_slower_the_recorded_tasks_take_longer() {
    let model = farm(quiet);
    let graph = graph_of(&model, &NODES);
    let times = |factor| {
        let change = Change { ranks: vec![(Rank(1), factor)], ..Change::default() };
        graph.replay(&change).run_ns / model.end_ns as f64
    };
    // As if nothing changed: the same ask first as before.
    assert!((times(1.0) - 1.0).abs() < 1e-3, "{}", times(1.0));
    // A sixth of the tasks takes twice as long, and all six do them. In truth the others would take some of them from it, and
    // the run would take 6 / 5.5 of the time.
    assert!((times(2.0) - 7.0 / 6.0).abs() < 0.02, "{}", times(2.0));
}

#[test]
fn a_master_whose_calls_come_from_other_sites_is_one_too() {
    let model = farm(disturbed);
    let builder = builder_of(&model, &NODES);
    let of_site = |call: &Call| Call { site: Some(Site(call.rank.0.min(1))), ..*call };
    let mut at_sites = GraphBuilder::new(kinds());
    model.calls.iter().map(of_site).for_each(|call| at_sites.call(&call));
    model.messages.iter().for_each(|message| at_sites.message(message));
    (0_u32..).zip(NODES).for_each(|(rank, node)| at_sites.place(Rank(rank), Node(node)));
    let [alike, apart] = [builder, at_sites].map(|builder| builder.finish().unwrap().savings(None));
    assert_eq!(alike.causes[Blame::Background as usize], apart.causes[Blame::Background as usize]);
}

#[test]
fn one_that_names_its_senders_in_no_order_waits_for_each() {
    // Which worker is next is chosen beforehand.
    let next = |number: u64| 1 + (6.0 * luck(9, 9, number)) as u32;
    let numbers = 0..1_500;
    let master = numbers.clone().flat_map(|number| [Step::Receive(next(number)), Step::Send(next(number))]);
    let worker = |rank: u32| {
        let own = numbers.clone().filter(move |number| next(*number) == rank);
        own.flat_map(|number| [Step::Send(0), Step::Receive(0), Step::Compute(task_ns(number))]).collect()
    };
    let programs: Vec<Vec<Step>> = std::iter::once(master.collect()).chain((1..=6).map(worker)).collect();
    let model = run(&programs, quiet);
    let savings = graph_of(&model, &NODES).savings(None);
    let saved_ns = savings.causes[Blame::Background as usize].wall_ns;
    assert!(saved_ns < 0.005 * model.end_ns as f64, "{savings:?}");
}

#[test]
fn what_slow_messages_cost_clients_with_work_of_their_own_is_found_in_part() {
    let of_each = |_, done, _| done < TASKS / 6;
    let model = served(disturbed, of_each);
    let truth_ns = (model.end_ns - served(quiet, of_each).end_ns) as f64;
    let saving = graph_of(&model, &NODES).savings(None).causes[Blame::Background as usize];
    let found = saving.wall_ns / truth_ns;
    assert!((0.6..1.1).contains(&found), "{saving:?}, truth {truth_ns}");
}

#[test]
fn a_master_that_takes_its_messages_by_turns_waits_for_each() {
    let workers = 6;
    let master = (0..300).flat_map(|round| {
        let order = (1..=workers).flat_map(|worker| [Step::Receive(worker), Step::Send(worker)]);
        order.chain([Step::Compute(round)]).collect::<Vec<_>>()
    });
    let worker = |rank: u32| {
        let of_round = |round: u64| {
            let task_ns = task_ns(u64::from(rank) * 1_000 + round);
            [Step::Send(0), Step::Receive(0), Step::Compute(task_ns)]
        };
        (0..300).flat_map(of_round).collect::<Vec<_>>()
    };
    let programs: Vec<Vec<Step>> =
        std::iter::once(master.collect()).chain((1..=workers).map(worker)).collect();
    let slow = |from: u32, to: u32, number: u64| {
        let is_slow = quiet(from, to, number) > 1_000 && (75..225).contains(&number);
        quiet(from, to, number) * if is_slow { 20 } else { 1 }
    };
    let model = run(&programs, slow);
    let truth_ns = (model.end_ns - run(&programs, quiet).end_ns) as f64;
    let saving = graph_of(&model, &NODES).savings(None).causes[Blame::Background as usize];
    assert!(near(saving.wall_ns, truth_ns, 0.1), "{saving:?}, truth {truth_ns}");
}

/// Ranks exchange messages with partners at several distances, a call for each, some of them more than once in a step.
fn exchanges(work_ns: impl Fn(u32) -> u64) -> Model {
    const RANKS: u32 = 8;
    let mut model = Model { calls: Vec::new(), messages: Vec::new(), end_ns: 0 };
    let mut now_ns = vec![0; RANKS as usize];
    for _ in 0..200 {
        (0..RANKS).zip(&mut now_ns).for_each(|(rank, now_ns)| *now_ns += work_ns(rank));
        for distance in [4, 2, 1, 2] {
            let begun_ns = now_ns.clone();
            for (rank, now_ns) in (0..RANKS).zip(&mut now_ns) {
                let (partner, begin_ns) = (rank ^ distance, begun_ns[rank as usize]);
                let sent_ns = begun_ns[partner as usize];
                *now_ns = (begin_ns + RECEIVE_NS).max(sent_ns + 5_000);
                model.calls.push(call(rank, EXCHANGE, (begin_ns, *now_ns), Some(partner), 100));
                model.messages.push(message([partner, rank], 100, (sent_ns, *now_ns), begin_ns));
            }
        }
    }
    model.end_ns = now_ns.into_iter().max().unwrap();
    model
}

#[test]
fn what_an_exchange_sends_is_no_answer_to_what_it_receives() {
    let model = exchanges(|rank| if rank == 3 { 300_000 } else { 100_000 });
    let truth_ns = (model.end_ns - exchanges(|_| 125_000).end_ns) as f64;
    let saving = graph_of(&model, &[0; 8]).savings(None).causes[1];
    assert!(near(saving.wall_ns, truth_ns, 0.02), "{saving:?}, truth {truth_ns}");
}
