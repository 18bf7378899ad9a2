//! Matching against a plain slow model of MPI on random programs: the model decides which receive takes which message
//! as MPI does, the operator has to find the same pairs from what each rank could see.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use mpiscope_matching::Matcher;
use mpiscope_model::{CallId, Comm, Event, PostId, Rank};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
enum Step {
    Send { rank: u32, to: u32, tag: i32 },
    Post { rank: u32, from: Option<u32>, tag: Option<i32> },
    Receive { rank: u32, from: Option<u32>, tag: Option<i32> },
    Complete { rank: u32, which: usize },
    Cancel { rank: u32, which: usize },
}

const RANKS: u32 = 3;

fn step() -> impl Strategy<Value = Step> {
    let rank = 0..RANKS;
    let from = prop_oneof![2 => (0..RANKS).prop_map(Some), 1 => Just(None)];
    let tag = prop_oneof![3 => (0_i32..2).prop_map(Some), 1 => Just(None)];
    prop_oneof![
        4 => (rank.clone(), 0..RANKS, 0_i32..2).prop_map(|(rank, to, tag)| Step::Send { rank, to, tag }),
        3 => (rank.clone(), from.clone(), tag.clone()).prop_map(|(rank, from, tag)| Step::Post { rank, from, tag }),
        2 => (rank.clone(), from, tag).prop_map(|(rank, from, tag)| Step::Receive { rank, from, tag }),
        3 => (rank.clone(), 0_usize..8).prop_map(|(rank, which)| Step::Complete { rank, which }),
        1 => (rank, 0_usize..8).prop_map(|(rank, which)| Step::Cancel { rank, which }),
    ]
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    number: u64,
    src: u32,
    tag: i32,
    bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    post: PostId,
    from: Option<u32>,
    tag: Option<i32>,
    took: Option<Sent>,
}

fn fits(from: Option<u32>, tag: Option<i32>, sent: &Sent) -> bool {
    from.is_none_or(|from| from == sent.src) && tag.is_none_or(|tag| tag == sent.tag)
}

#[derive(Default)]
struct Side {
    unexpected: Vec<Sent>,
    open: Vec<Open>,
    posts: u64,
    events: Vec<Event>,
}

/// The model: what each rank saw, and which pairs there really were.
#[derive(Default)]
struct Model {
    sides: Vec<Side>,
    numbers: u64,
    truth: BTreeSet<(u64, u64)>,
}

impl Model {
    fn next(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn send(&mut self, rank: u32, to: u32, tag: i32) {
        let number = self.next();
        // Few sizes, to keep sizes from giving the pairs away.
        let bytes = 8 * (number % 2);
        let sent = Sent { number, src: rank, tag, bytes };
        let event = Event::Send {
            rank: Rank(rank),
            call: CallId::default(),
            comm: Comm::WORLD,
            to: Rank(to),
            tag,
            bytes,
            begin_ns: number,
            blocked_until_ns: None,
        };
        self.sides[rank as usize].events.push(event);
        let side = &mut self.sides[to as usize];
        match side.open.iter_mut().find(|open| open.took.is_none() && fits(open.from, open.tag, &sent)) {
            Some(open) => open.took = Some(sent),
            None => side.unexpected.push(sent),
        }
    }

    fn post(&mut self, rank: u32, from: Option<u32>, tag: Option<i32>) {
        let at_ns = self.next();
        let side = &mut self.sides[rank as usize];
        let found = side.unexpected.iter().position(|sent| fits(from, tag, sent));
        let took = found.map(|at| side.unexpected.remove(at));
        let post = side.posts;
        side.posts += 1;
        side.open.push(Open { post, from, tag, took });
        side.events.push(Event::Post {
            rank: Rank(rank),
            call: CallId::default(),
            comm: Comm::WORLD,
            from: from.map(Rank),
            tag,
            post,
            at_ns,
        });
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Send { rank, to, tag } => self.send(rank, to, tag),
            Step::Post { rank, from, tag } => self.post(rank, from, tag),
            Step::Receive { rank, from, tag } => {
                let side = &mut self.sides[rank as usize];
                let Some(at) = side.unexpected.iter().position(|sent| fits(from, tag, sent)) else { return };
                let sent = side.unexpected.remove(at);
                self.completed(rank, None, sent);
            }
            Step::Complete { rank, which } => {
                let side = &mut self.sides[rank as usize];
                let mut done: Vec<usize> =
                    (0..side.open.len()).filter(|&at| side.open[at].took.is_some()).collect();
                if done.is_empty() {
                    return;
                }
                let open = side.open.remove(done.swap_remove(which % done.len()));
                self.completed(rank, Some(open.post), open.took.unwrap());
            }
            Step::Cancel { rank, which } => {
                let side = &mut self.sides[rank as usize];
                let mut idle: Vec<usize> =
                    (0..side.open.len()).filter(|&at| side.open[at].took.is_none()).collect();
                if idle.is_empty() {
                    return;
                }
                let open = side.open.remove(idle.swap_remove(which % idle.len()));
                side.events.push(Event::Cancelled { rank: Rank(rank), post: open.post });
            }
        }
    }

    fn completed(&mut self, rank: u32, post: Option<PostId>, sent: Sent) {
        let end_ns = self.next();
        let Sent { number, src: from, tag, bytes } = sent;
        self.truth.insert((number, end_ns));
        let event = Event::Receive {
            rank: Rank(rank),
            call: CallId::default(),
            comm: Comm::WORLD,
            from: Rank(from),
            tag,
            bytes,
            post,
            begin_ns: end_ns,
            end_ns,
            alone: true,
        };
        self.sides[rank as usize].events.push(event);
    }
}

fn run(steps: &[Step], complete_all: bool) -> Model {
    let mut model = Model { sides: (0..RANKS).map(|_| Side::default()).collect(), ..Model::default() };
    for step in steps {
        model.step(step);
    }
    for rank in (0..RANKS).filter(|_| complete_all) {
        while model.sides[rank as usize].open.iter().any(|open| open.took.is_some()) {
            model.step(&Step::Complete { rank, which: 0 });
        }
    }
    model
}

/// Any order between ranks that keeps each rank's own.
fn shuffled(model: &Model, choices: &[usize]) -> Vec<Event> {
    let mut next = vec![0; model.sides.len()];
    let mut out = Vec::new();
    for turn in 0.. {
        let left: Vec<usize> =
            (0..next.len()).filter(|&rank| next[rank] < model.sides[rank].events.len()).collect();
        if left.is_empty() {
            return out;
        }
        let rank = left[choices[turn % choices.len()] % left.len()];
        out.push(model.sides[rank].events[next[rank]]);
        next[rank] += 1;
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_pairs_are_those_that_mpi_made(
        steps in proptest::collection::vec(step(), 0..120),
        choices in proptest::collection::vec(0_usize..3, 1..40),
        batch in 1_usize..30,
    ) {
        let model = run(&steps, true);
        let mut matcher = Matcher::default();
        let mut found = BTreeSet::new();
        let mut uncertain = 0;
        let events = shuffled(&model, &choices);
        for events in events.chunks(batch) {
            let matched = matcher.feed(events);
            uncertain += matched.uncertain;
            found.extend(matched.messages.iter().map(|message| (message.send_ns, message.recv_ns)));
        }
        // An open wildcard that took nothing may hold pairs back until the end, never change them.
        prop_assert!(found.is_subset(&model.truth));
        prop_assert_eq!(uncertain, 0);
        let at_end = matcher.finish();
        found.extend(at_end.messages.iter().map(|message| (message.send_ns, message.recv_ns)));
        prop_assert_eq!(&found, &model.truth);
        let sends = events.iter().filter(|event| matches!(event, Event::Send { .. })).count();
        prop_assert_eq!(matcher.unmatched_sends(), (sends - found.len()) as u64);
        prop_assert_eq!(matcher.unmatched_receives(), 0);
    }

    #[test]
    fn batches_do_not_matter(
        steps in proptest::collection::vec(step(), 0..120),
        choices in proptest::collection::vec(0_usize..3, 1..40),
        batch in 1_usize..30,
    ) {
        let events = shuffled(&run(&steps, false), &choices);
        let mut whole = Matcher::default();
        let mut expected = whole.feed(&events).messages;
        expected.extend(whole.finish().messages);
        let mut pieces = Matcher::default();
        let mut found: Vec<_> = events.chunks(batch).flat_map(|events| pieces.feed(events).messages).collect();
        found.extend(pieces.finish().messages);
        expected.sort_unstable_by_key(|message| message.recv_ns);
        found.sort_unstable_by_key(|message| message.recv_ns);
        prop_assert_eq!(found, expected);
    }
}
