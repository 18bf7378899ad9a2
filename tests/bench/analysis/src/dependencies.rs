//! How long the dependency graph of a stretch takes, and questions about logical time, on one core.
//!
//! Jobs exchange with four neighbours in a grid, step by step. Every N steps there is a collective of everyone or of
//! each row, or none at all. None is the worst for questions: the search may not stop before the first event.

use mpiscope_model::{Comm, Flow, Message, Rank};
use mpiscope_topology::{Dag, DagScope, EventId, LogicalTime, Meeting, Member};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 5;
const QUESTIONS: u32 = 200;
const SIDE: u32 = 16;

#[derive(Debug, Clone, Copy)]
enum Collectives {
    None,
    OfAll { every: u64 },
    OfRows { every: u64 },
}

struct Job {
    messages: Vec<Message>,
    meetings: Vec<Meeting>,
}

fn job(events: usize, collectives: Collectives) -> Job {
    let ranks = SIDE * SIDE;
    let mut job = Job { messages: Vec::new(), meetings: Vec::new() };
    let mut random = 1_u64;
    let mut next = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 40) % 700
    };
    let mut made = 0;
    for step in 0_u64.. {
        let begin_ns = step * 10_000;
        for rank in 0..ranks {
            let (row, column) = (rank / SIDE, rank % SIDE);
            let neighbours = [
                ((row + 1) % SIDE, column),
                ((row + SIDE - 1) % SIDE, column),
                (row, (column + 1) % SIDE),
                (row, (column + SIDE - 1) % SIDE),
            ];
            for (row, column) in neighbours {
                let (send_ns, takes_ns) = (begin_ns + next(), 1_000 + next());
                job.messages.push(Message {
                    src: Rank(rank),
                    dst: Rank(row * SIDE + column),
                    tag: 0,
                    comm: Comm::WORLD,
                    bytes: 8 * takes_ns,
                    send_ns,
                    recv_ns: send_ns + takes_ns,
                    t_msg_ns: takes_ns,
                    late_sender_ns: 0,
                    late_receiver_ns: None,
                    inter: row % 2 == 0,
                    exact: true,
                });
                made += 2;
            }
        }
        let mut meet = |members: Vec<Rank>| {
            made += 2 * members.len();
            let member = |rank| Member {
                rank,
                enter_ns: begin_ns + 5_000 + next(),
                exit_ns: begin_ns + 6_000 + next(),
            };
            job.meetings.push(Meeting {
                flow: Flow::All,
                root: None,
                members: members.into_iter().map(member).collect(),
            });
        };
        match collectives {
            Collectives::OfAll { every } if step % every == 0 => meet(Rank::all(ranks).collect()),
            Collectives::OfRows { every } if step % every == 0 => {
                (0..SIDE).for_each(|row| meet((row * SIDE..(row + 1) * SIDE).map(Rank).collect()));
            }
            _ => {}
        }
        if made >= events {
            return job;
        }
    }
    job
}

/// Milliseconds: least, middle, most.
fn took<T>(times: usize, mut what: impl FnMut(usize) -> T) -> [f64; 3] {
    let once = |time| {
        let begun = Instant::now();
        black_box(what(time));
        begun.elapsed().as_secs_f64() * 1e3
    };
    super::sorted((0..times).map(once).collect())
}

fn say(what: &str, [least, middle, most]: [f64; 3]) {
    println!("  {what:<44} {middle:>8.2} ms [{least:.2}..{most:.2}]");
}

fn graph(most_nodes: usize, what: &str) {
    let Job { messages, .. } = job(200_000, Collectives::None);
    let scope = DagScope { range_ns: 0..u64::MAX, ranks: None, most_nodes };
    let dag = Dag::build(&messages, &scope);
    println!(
        "dependency graph of {} messages, {what}: {} nodes, {} edges, {} layers, {} messages left out",
        messages.len(),
        dag.nodes.len(),
        dag.edges.len(),
        dag.layers,
        dag.left_out
    );
    say("nodes, edges, layers and their order", took(ROUNDS, |_| Dag::build(&messages, &scope)));
    if dag.nodes.len() < 20_000 {
        say("what follows each", took(ROUNDS, |_| dag.following()));
    }
    say("bars", took(ROUNDS, |_| dag.bars(64, |_, bytes| Some(bytes))));
}

fn time(collectives: Collectives) {
    let Job { messages, meetings } = job(1_000_000, collectives);
    let time = LogicalTime::build(&messages, &meetings, &(0..u64::MAX));
    let events = time.count();
    println!(
        "logical time, collectives {collectives:?}: {events} events, {} cuts, {:.1} bytes an event beside the messages",
        time.cuts(),
        time.bytes() as f64 / events as f64
    );
    say("building", took(ROUNDS, |_| LogicalTime::build(&messages, &meetings, &(0..u64::MAX))));
    let of = |time: usize, salt: u64| {
        EventId(
            (((time as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                ^ salt.wrapping_mul(0xff51_afd7_ed55_8ccd))
                % events as u64) as u32,
        )
    };
    let questions = QUESTIONS as usize;
    say("vector", took(questions, |at| time.vector(of(at, 1))));
    say("precedes", took(questions, |at| time.precedes(of(at, 2), of(at, 3))));
    say("concurrent", took(questions, |at| time.concurrent(of(at, 4), of(at, 5))));
    say("past", took(questions, |at| time.past(of(at, 6))));
    say("future", took(questions, |at| time.future(of(at, 7))));
    let last = EventId(events as u32 - 1);
    say("past of the last event", took(ROUNDS, |_| time.past(last)));
    say("future of the first event", took(ROUNDS, |_| time.future(EventId(0))));
}

pub(crate) fn all() {
    graph(usize::MAX, "all of it");
    graph(5_000, "as much as a page draws");
    for collectives in [Collectives::None, Collectives::OfRows { every: 2 }, Collectives::OfAll { every: 10 }]
    {
        time(collectives);
    }
}
