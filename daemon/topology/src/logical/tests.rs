//! What is answered against vector clocks as they are defined, on programs that are played step by step.

use super::*;
use crate::test_messages::message;
use mpiscope_model::{Flow, Message, Rank};
use proptest::prelude::*;
use std::collections::VecDeque;

/// One thing that a thread does.
#[derive(Debug, Clone)]
enum Step {
    Send { to: usize },
    Collective { meeting: usize, place: usize },
    Receive { message: usize },
}

/// A run, with the vector of each event, by rank and number.
#[derive(Debug, Default)]
struct Played {
    messages: Vec<Message>,
    meetings: Vec<Meeting>,
    vectors: Vec<Vec<Vec<u32>>>,
}

/// What a program does, as numbers that a run is played by.
#[derive(Debug, Clone)]
struct Program {
    ranks: usize,
    threads: usize,
    steps: Vec<(u8, usize, usize, u32)>,
    turns: Vec<usize>,
}

fn program() -> impl Strategy<Value = Program> {
    let steps = prop::collection::vec((0..8_u8, 0..64_usize, 0..64_usize, any::<u32>()), 1..40);
    let turns = prop::collection::vec(0..1_000_usize, 400);
    (1..6_usize, 1..3_usize, steps, turns).prop_map(|(ranks, threads, steps, turns)| Program {
        ranks,
        threads,
        steps,
        turns,
    })
}

const FLOWS: [Flow; 4] = [Flow::All, Flow::FromRoot, Flow::ToRoot, Flow::FromLower];

/// Plays a program: what comes next of any thread happens one at a time, one nanosecond apart or at the same instant where
/// nothing of that instant can have led to it.
fn play(program: &Program) -> Played {
    let Program { ranks, threads, steps, turns } = program;
    let mut scripts: Vec<Vec<VecDeque<Step>>> = vec![vec![VecDeque::new(); *threads]; *ranks];
    let mut played = Played { vectors: vec![Vec::new(); *ranks], ..Played::default() };
    for &(kind, one, other, bits) in steps {
        if kind < 6 {
            let (src, dst) = (one % ranks, other % ranks);
            let message_id = played.messages.len();
            played.messages.push(message(src as u32, dst as u32, 0, 0));
            scripts[src][bits as usize % threads].push_back(Step::Send { to: message_id });
            scripts[dst][(bits >> 8) as usize % threads].push_back(Step::Receive { message: message_id });
        } else {
            // One in two is a collective of everyone, in an order of its own.
            let is_everyone = bits & 1 == 0;
            let mut members: Vec<usize> =
                (0..*ranks).filter(|rank| is_everyone || bits >> (rank + 8) & 1 == 1).collect();
            if members.is_empty() {
                continue;
            }
            let by = one % members.len();
            members.rotate_left(by);
            let root = Some(members[other % members.len()] as u32);
            let meeting = played.meetings.len();
            let flow = FLOWS[(bits >> 2) as usize % 4];
            for (place, &rank) in members.iter().enumerate() {
                scripts[rank][(bits >> 4) as usize % threads].push_back(Step::Collective { meeting, place });
            }
            let member = |&rank: &usize| Member { rank: Rank(rank as u32), enter_ns: 0, exit_ns: 0 };
            played.meetings.push(Meeting {
                flow,
                root: root.map(Rank),
                members: members.iter().map(member).collect(),
            });
        }
    }
    run(&mut played, scripts, turns);
    played
}

fn run(played: &mut Played, mut scripts: Vec<Vec<VecDeque<Step>>>, turns: &[usize]) {
    let ranks = scripts.len();
    let mut clocks = vec![vec![0_u32; ranks]; ranks];
    let mut sent: Vec<Option<Vec<u32>>> = vec![None; played.messages.len()];
    let mut entered: Vec<Vec<Option<Vec<u32>>>> =
        played.meetings.iter().map(|meeting| vec![None; meeting.members.len()]).collect();
    let (mut now_ns, mut turn) = (1, 0);
    let mut inside: Vec<Vec<Option<(usize, usize)>>> =
        scripts.iter().map(|threads| vec![None; threads.len()]).collect();
    loop {
        let at = |rank: usize, thread: usize| (rank, thread);
        let all: Vec<(usize, usize)> = (0..ranks)
            .flat_map(|rank| (0..scripts[rank].len()).map(move |thread| at(rank, thread)))
            .collect();
        let can = |&(rank, thread): &(usize, usize)| match inside[rank][thread] {
            Some((meeting, place)) => awaited(&played.meetings[meeting], place, &entered[meeting]).is_some(),
            None => match scripts[rank][thread].front() {
                None => false,
                Some(Step::Receive { message }) => sent[*message].is_some(),
                Some(_) => true,
            },
        };
        let able: Vec<(usize, usize)> = all.into_iter().filter(can).collect();
        // What is left when nobody can go on waits for ever; its messages are taken out below.
        let Some(&(rank, thread)) = able.get(turns[turn % turns.len()] % able.len().max(1)) else { break };
        turn += 1;
        now_ns += 1;
        clocks[rank][rank] += 1;
        if let Some((meeting, place)) = inside[rank][thread].take() {
            let before = awaited(&played.meetings[meeting], place, &entered[meeting]).unwrap();
            before.iter().for_each(|clock| join(&mut clocks[rank], clock));
            played.meetings[meeting].members[place].exit_ns = now_ns;
        } else {
            match scripts[rank][thread].pop_front().unwrap() {
                Step::Send { to } => {
                    sent[to] = Some(clocks[rank].clone());
                    played.messages[to].send_ns = now_ns;
                }
                Step::Receive { message } => {
                    let clock = sent[message].clone().unwrap();
                    join(&mut clocks[rank], &clock);
                    played.messages[message].recv_ns = now_ns;
                }
                Step::Collective { meeting, place } => {
                    entered[meeting][place] = Some(clocks[rank].clone());
                    played.meetings[meeting].members[place].enter_ns = now_ns;
                    inside[rank][thread] = Some((meeting, place));
                }
            }
        }
        played.vectors[rank].push(clocks[rank].clone());
    }
    end_open(played);
}

/// What did not end by now ends beyond the stretch that is looked at.
fn end_open(played: &mut Played) {
    let never = |at_ns: &mut u64| {
        if *at_ns == 0 {
            *at_ns = u64::MAX;
        }
    };
    for message in &mut played.messages {
        never(&mut message.send_ns);
        never(&mut message.recv_ns);
    }
    for member in played.meetings.iter_mut().flat_map(|meeting| &mut meeting.members) {
        never(&mut member.enter_ns);
        never(&mut member.exit_ns);
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

/// The clocks with which those entered that a member waits for; none while one is missing.
fn awaited(meeting: &Meeting, place: usize, entered: &[Option<Vec<u32>>]) -> Option<Vec<Vec<u32>>> {
    let root = meeting.members.iter().position(|member| Some(member.rank) == meeting.root).unwrap();
    match meeting.flow {
        Flow::All => entered.iter().cloned().collect(),
        Flow::FromRoot => Some(vec![entered[root].clone()?]),
        Flow::ToRoot if place == root => entered.iter().cloned().collect(),
        Flow::ToRoot => Some(Vec::new()),
        Flow::FromLower => entered[..=place].iter().cloned().collect(),
    }
}

fn leads(one: &[u32], other: &[u32]) -> bool {
    one != other && one.iter().zip(other).all(|(one, other)| one <= other)
}

/// All events with their vectors by definition.
fn all(time: &LogicalTime, played: &Played) -> Vec<(EventId, Vec<u32>)> {
    (0..time.count() as u32)
        .map(|event| {
            let event = EventId(event);
            let LogicalEvent { rank, number, .. } = time.event(event);
            let vector = &played.vectors[rank.index()][number as usize];
            (event, time.ranks().iter().map(|&rank| vector[rank.index()]).collect())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Vectors, precedence, concurrency, past and future are those of full vector clocks.
    #[test]
    fn it_is_what_vector_clocks_say(program in program()) {
        let played = play(&program);
        let time = LogicalTime::build(&played.messages, &played.meetings, &(0..u64::MAX));
        prop_assert_eq!(time.count(), played.vectors.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(time.contradictions(), 0);
        let all = all(&time, &played);
        for (event, vector) in &all {
            prop_assert_eq!(&time.vector(*event), vector);
            let (past, future) = (time.past(*event), time.future(*event));
            for (other, of_other) in &all {
                let (before, after) = (leads(of_other, vector), leads(vector, of_other));
                prop_assert_eq!(time.precedes(*other, *event), before);
                prop_assert_eq!(time.concurrent(*other, *event), !before && !after && other != event);
                prop_assert_eq!(past.contains(*other), before || other == event);
                prop_assert_eq!(future.contains(*other), after || other == event);
                let at_ns = time.event(*other).at_ns;
                prop_assert!(past.beyond_ns.is_none_or(|beyond_ns| at_ns >= beyond_ns || before || other == event));
                prop_assert!(future.beyond_ns.is_none_or(|beyond_ns| at_ns < beyond_ns || after || other == event));
            }
        }
    }

    /// Whatever led to an event stands before it, also where clocks are wrong; and where there is such an order none of
    /// what is known is given up.
    #[test]
    fn the_order_of_all_events_follows_what_led_to_what(program in program(), wrong in prop::collection::vec(0..40_u64, 5)) {
        let mut played = play(&program);
        let late = |rank: u32, at_ns: u64| if at_ns == u64::MAX { at_ns } else { at_ns + wrong[rank as usize] };
        for message in &mut played.messages {
            message.send_ns = late(message.src.0, message.send_ns);
            message.recv_ns = late(message.dst.0, message.recv_ns);
        }
        for member in played.meetings.iter_mut().flat_map(|meeting| &mut meeting.members) {
            (member.enter_ns, member.exit_ns) = (late(member.rank.0, member.enter_ns), late(member.rank.0, member.exit_ns));
        }
        let time = LogicalTime::build(&played.messages, &played.meetings, &(0..u64::MAX));
        prop_assert_eq!(time.contradictions(), 0);
        let order = time.in_order();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert!(sorted.iter().enumerate().all(|(at, event)| event.0 as usize == at));
        let all = all(&time, &played);
        for (at, one) in order.iter().enumerate() {
            prop_assert_eq!(&time.vector(*one), &all[one.0 as usize].1);
            for other in &order[at + 1..] {
                prop_assert!(!leads(&all[other.0 as usize].1, &all[one.0 as usize].1));
                prop_assert!(!time.precedes(*other, *one));
            }
        }
    }

    /// Clocks that contradict each other cause no loop: an event that would lead to itself is reported and not
    /// searched.
    #[test]
    fn whatever_the_clocks_say_nothing_leads_to_itself(
        ends in prop::collection::vec((0..4_u32, 0..4_u32, 0..30_u64, 0..30_u64), 1..40),
    ) {
        let messages: Vec<Message> =
            ends.iter().map(|&(src, dst, send_ns, recv_ns)| message(src, dst, send_ns, recv_ns)).collect();
        let time = LogicalTime::build(&messages, &[], &(0..u64::MAX));
        let order = time.in_order();
        prop_assert_eq!(order.len(), 2 * messages.len());
        for (at, one) in order.iter().enumerate() {
            for other in &order[at + 1..] {
                prop_assert!(!time.precedes(*other, *one));
            }
        }
    }

    /// Messages in any order make the same events.
    #[test]
    fn the_order_of_the_input_does_not_matter(program in program()) {
        let played = play(&program);
        let one = LogicalTime::build(&played.messages, &played.meetings, &(0..u64::MAX));
        let reversed: Vec<Message> = played.messages.iter().rev().copied().collect();
        let other = LogicalTime::build(&reversed, &played.meetings, &(0..u64::MAX));
        prop_assert_eq!(one.messages(), other.messages());
        for event in (0..one.count() as u32).map(EventId) {
            prop_assert_eq!(one.event(event), other.event(event));
            prop_assert_eq!(one.vector(event), other.vector(event));
        }
    }
}

/// The relations of the paper's section 5.2, in a run of three processes that has all of the vectors it names: a = (0,0,1)
/// leads to b = (0,1,1), and c with 3 and 2 is concurrent to d with 4 and 1 (second and third components).
#[test]
fn it_has_the_relations_of_the_paper() {
    let messages =
        [message(3, 2, 10, 20), message(2, 1, 30, 40), message(2, 3, 50, 80), message(1, 2, 60, 70)];
    let time = LogicalTime::build(&messages, &[], &(0..u64::MAX));
    let event = |rank, at_ns| time.last_until(rank, at_ns).unwrap();
    let (a, b, c, d) = (event(Rank(3), 10), event(Rank(2), 20), event(Rank(3), 80), event(Rank(2), 70));
    assert_eq!(time.vector(a), [0, 0, 1]);
    assert_eq!(time.vector(b), [0, 1, 1]);
    assert_eq!(time.vector(c), [0, 3, 2]);
    assert_eq!(time.vector(d), [2, 4, 1]);
    assert!(time.precedes(a, b) && !time.precedes(b, a) && !time.concurrent(a, b));
    assert!(time.concurrent(c, d) && !time.precedes(c, d) && !time.precedes(d, c));
    assert!(!time.precedes(a, a) && !time.concurrent(a, a));
}

#[test]
fn nobody_looks_beyond_a_barrier_of_all() {
    let everyone = |enter_ns: [u64; 3], exit_ns: u64| Meeting {
        flow: Flow::All,
        root: None,
        members: (0..3)
            .map(|rank| Member { rank: Rank(rank), enter_ns: enter_ns[rank as usize], exit_ns })
            .collect(),
    };
    let messages = [message(0, 1, 5, 8), message(1, 2, 25, 28), message(2, 0, 50, 55)];
    let meetings = [everyone([10, 11, 12], 20), everyone([40, 30, 35], 41)];
    let time = LogicalTime::build(&messages, &meetings, &(0..u64::MAX));
    assert_eq!(time.cuts(), 2);
    let received = time.last_until(Rank(2), 28).unwrap();
    let past = time.past(received);
    assert_eq!((past.beyond_ns, time.vector(received)), (Some(10), vec![2, 4, 3]));
    let future = time.future(received);
    assert_eq!((future.beyond_ns, future.count()), (Some(41), 2 + 3 + 2));
    let first = time.first_from(Rank(0), 0).unwrap();
    assert_eq!((time.past(first).beyond_ns, time.past(first).count()), (None, 1));
    assert!(time.precedes(first, received));
}

#[test]
fn what_lies_outside_of_the_stretch_is_no_event() {
    let messages = [message(0, 1, 5, 15), message(1, 0, 16, 30)];
    let time = LogicalTime::build(&messages, &[], &(10..20));
    assert_eq!((time.count(), time.ranks()), (2, &[Rank(1)][..]));
    assert_eq!(time.vector(time.last_until(Rank(1), 99).unwrap()), [2]);
    assert_eq!(
        (time.last_until(Rank(1), 14), time.first_from(Rank(1), 17), time.last_until(Rank(0), 99)),
        (None, None, None)
    );
}
