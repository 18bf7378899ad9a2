//! A random program, as each of its ranks saw it.

use mpiscope_model::{
    Activity, Batch, Blocking, Call, CallId, Collected, Collective, Comm, CommInfo, Effect, Event, Flow,
    Nanoseconds, Node, PostId, ProcessState, Rank, RankCpus, RankInfo, Scheduling, Side, Site,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One thing that happens.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Message {
        from: u32,
        to: u32,
        tag: i32,
        bytes: u64,
        blocks: bool,
    },
    /// Receives that are posted first, some with wildcards, and completed by one call.
    Many {
        to: u32,
        wild: bool,
    },
    /// A receive that is posted and never completes: cancelled, freed, or left open.
    Idle {
        rank: u32,
        from: u32,
        end: u8,
    },
    Barrier,
    Reduce {
        root: u32,
    },
    Polls {
        rank: u32,
    },
    /// A collective that each rank completes later.
    Start {
        root: Option<u32>,
    },
    /// A rank completes what it started.
    Complete {
        rank: u32,
    },
    /// A call of a rank is lost: one that sent, or one that received.
    Lost {
        from: u32,
        to: u32,
        sender: bool,
    },
}

pub(crate) const RANKS: u32 = 5;

pub(crate) fn steps() -> impl Strategy<Value = Vec<(Step, [u64; 6])>> {
    let rank = 0..RANKS;
    let step = prop_oneof![
        6 => (rank.clone(), rank.clone(), 0_i32..2, 0_u64..3, any::<bool>())
            .prop_map(|(from, to, tag, size, blocks)| Step::Message { from, to, tag, bytes: size * 100, blocks }),
        3 => (rank.clone(), any::<bool>()).prop_map(|(to, wild)| Step::Many { to, wild }),
        1 => (rank.clone(), rank.clone(), 0_u8..3).prop_map(|(rank, from, end)| Step::Idle { rank, from, end }),
        1 => Just(Step::Barrier),
        1 => rank.clone().prop_map(|root| Step::Reduce { root }),
        1 => rank.clone().prop_map(|rank| Step::Polls { rank }),
        1 => prop::option::of(rank.clone()).prop_map(|root| Step::Start { root }),
        2 => rank.clone().prop_map(|rank| Step::Complete { rank }),
        2 => (rank.clone(), rank, any::<bool>()).prop_map(|(from, to, sender)| Step::Lost { from, to, sender }),
    ];
    proptest::collection::vec((step, prop::array::uniform6(0_u64..1_500)), 0..80)
}

/// A call, and what traffic it did.
#[derive(Debug, Clone)]
struct Did {
    activity: Activity,
    events: Vec<Event>,
    collected: Vec<Collected>,
}

#[derive(Debug, Default)]
struct Tape {
    now_ns: Nanoseconds,
    calls: Vec<Did>,
    posts: PostId,
    collectives: u32,
    /// Collectives that were started and not completed.
    started: Vec<u32>,
    /// Messages sent to each rank and received from it.
    numbers: BTreeMap<u32, (u64, u64)>,
    /// Peers whose numbers must be reported before the next call with them.
    untold: Vec<u32>,
    has_lost: bool,
}

/// All ranks.
#[derive(Debug, Default)]
pub(crate) struct Program {
    tapes: Vec<Tape>,
}

const fn receiving(posts: u16, receives: u16) -> Effect {
    Effect::Transfer { sends: 0, posts, receives, send: Blocking::Never, peer: None, bytes: 0 }
}

impl Program {
    pub(crate) fn from_steps(steps: &[(Step, [u64; 6])]) -> Self {
        let mut program = Self { tapes: (0..RANKS).map(|_| Tape::default()).collect() };
        for (step, lengths) in steps {
            let mut lengths = lengths.iter().copied().cycle();
            program.step(step, &mut || lengths.next().unwrap_or_default());
        }
        for rank in 0..RANKS {
            program.call(rank, 1, (5, 5), Effect::Other);
        }
        program
    }

    fn call(&mut self, rank: u32, function: u16, (idle_ns, length_ns): (u64, u64), effect: Effect) -> CallId {
        let tape = &mut self.tapes[rank as usize];
        let call = CallId::new(0, tape.calls.len() as u64);
        let start_ns = tape.now_ns + idle_ns;
        let end_ns = start_ns + length_ns;
        tape.now_ns = end_ns;
        let after_loss = std::mem::take(&mut tape.has_lost);
        let activity = Activity {
            rank: Rank(rank),
            call,
            function,
            start_ns,
            end_ns,
            since_ns: start_ns,
            effect,
            site: Some(Site(function.into())),
            after_loss,
        };
        let events = if after_loss { vec![Event::Lost { rank: Rank(rank) }] } else { Vec::new() };
        tape.calls.push(Did { activity, events, collected: Vec::new() });
        call
    }

    /// Says something of the last call of a rank.
    fn event(&mut self, rank: u32, event: Event) {
        let tape = &mut self.tapes[rank as usize];
        let peer = match event {
            Event::Send { to, .. } => Some(to),
            Event::Receive { from, .. } => Some(from),
            _ => None,
        };
        let Some(did) = tape.calls.last_mut() else { return };
        if let Some(at) = tape.untold.iter().position(|untold| Some(*untold) == peer.map(|rank| rank.0)) {
            let peer = tape.untold.remove(at);
            let (sent, received) = tape.numbers.get(&peer).copied().unwrap_or_default();
            did.events.push(Event::Numbers {
                rank: Rank(rank),
                comm: Comm::WORLD,
                peer: Rank(peer),
                sent,
                received,
            });
        }
        if let Some(peer) = peer {
            let numbers = tape.numbers.entry(peer.0).or_default();
            match event {
                Event::Send { .. } => numbers.0 += 1,
                _ => numbers.1 += 1,
            }
        }
        did.events.push(event);
    }

    fn last(&self, rank: u32) -> Activity {
        self.tapes[rank as usize].calls.last().map_or_else(|| unreachable!("it called"), |did| did.activity)
    }

    fn send(&mut self, from: u32, to: u32, tag: i32, bytes: u64, blocks: bool, at: (u64, u64)) {
        let send = if blocks { Blocking::Always } else { Blocking::Perhaps };
        let effect = Effect::Transfer { sends: 1, posts: 0, receives: 0, send, peer: Some(Rank(to)), bytes };
        let call = self.call(from, 10, at, effect);
        let Activity { start_ns: begin_ns, end_ns, .. } = self.last(from);
        let blocked_until_ns = blocks.then_some(end_ns);
        self.event(
            from,
            Event::Send {
                rank: Rank(from),
                call,
                comm: Comm::WORLD,
                to: Rank(to),
                tag,
                bytes,
                begin_ns,
                blocked_until_ns,
            },
        );
    }

    /// A message came: for which post, when an earlier call made it.
    fn receive(
        &mut self,
        (call, to): (CallId, u32),
        (from, tag, bytes): (u32, i32, u64),
        post: Option<PostId>,
        alone: bool,
    ) {
        let Activity { start_ns: begin_ns, end_ns, .. } = self.last(to);
        let rank = to;
        self.event(
            rank,
            Event::Receive {
                rank: Rank(rank),
                call,
                comm: Comm::WORLD,
                from: Rank(from),
                tag,
                bytes,
                post,
                begin_ns,
                end_ns,
                alone,
            },
        );
    }

    fn post(&mut self, rank: u32, from: Option<u32>, tag: Option<i32>, idle_ns: u64) -> PostId {
        let call = self.call(rank, 21, (idle_ns, 10), receiving(1, 0));
        let at_ns = self.last(rank).start_ns;
        let tape = &mut self.tapes[rank as usize];
        let post = tape.posts;
        tape.posts += 1;
        self.event(
            rank,
            Event::Post { rank: Rank(rank), call, comm: Comm::WORLD, from: from.map(Rank), tag, post, at_ns },
        );
        post
    }

    fn collective(&mut self, rank: u32, flow: Flow, root: Option<u32>, at: (u64, u64)) {
        let of = self.next(rank, flow, root);
        self.call(rank, if of.is_barrier { 50 } else { 52 }, at, Effect::Collective(of));
    }

    /// The next collective of a rank.
    fn next(&mut self, rank: u32, flow: Flow, root: Option<u32>) -> Collective {
        let tape = &mut self.tapes[rank as usize];
        let number = tape.collectives;
        tape.collectives += 1;
        let is_barrier = root.is_none();
        let bytes = if is_barrier { 0 } else { 8 };
        Collective {
            comm: Comm::WORLD,
            number,
            flow,
            side: Side::Only,
            root: root.map(Rank),
            bytes,
            is_barrier,
        }
    }

    fn step(&mut self, step: &Step, length: &mut impl FnMut() -> u64) {
        match *step {
            Step::Message { from, to, tag, bytes, blocks } => {
                self.send(from, to, tag, bytes, blocks && from != to, (length(), length()));
                let call = self.call(to, 20, (length(), length()), receiving(1, 1));
                self.receive((call, to), (from, tag, bytes), None, true);
            }
            Step::Many { to, wild } => self.many(to, wild, length),
            Step::Idle { rank, from, end } => {
                let post = self.post(rank, Some(from), Some(9), length());
                self.call(rank, 1, (length(), 10), Effect::Other);
                match end {
                    0 => self.event(rank, Event::Cancelled { rank: Rank(rank), post }),
                    1 => self.event(rank, Event::Freed { rank: Rank(rank), post }),
                    _ => {}
                }
            }
            Step::Barrier => {
                (0..RANKS).for_each(|rank| self.collective(rank, Flow::All, None, (length(), length())));
            }
            Step::Reduce { root } => {
                (0..RANKS)
                    .for_each(|rank| self.collective(rank, Flow::ToRoot, Some(root), (length(), length())));
            }
            Step::Polls { rank } => {
                self.call(rank, 34, (length(), length()), Effect::Polls);
            }
            Step::Start { root } => {
                for rank in 0..RANKS {
                    let flow = if root.is_some() { Flow::FromRoot } else { Flow::All };
                    let of = self.next(rank, flow, root);
                    self.call(rank, 100, (length(), length()), Effect::Start(of));
                    self.tapes[rank as usize].started.push(of.number);
                }
            }
            Step::Complete { rank } => {
                let call = self.call(rank, 31, (length(), length()), Effect::Other);
                let tape = &mut self.tapes[rank as usize];
                let all = std::mem::take(&mut tape.started).into_iter();
                if let Some(did) = tape.calls.last_mut() {
                    did.collected = all
                        .map(|number| Collected { rank: Rank(rank), call, comm: Comm::WORLD, number })
                        .collect();
                }
            }
            Step::Lost { from, to, sender } => self.lose(from, to, sender, length),
        }
    }

    /// A rank receives a message of each other in one call.
    fn many(&mut self, to: u32, wild: bool, length: &mut impl FnMut() -> u64) {
        let from: Vec<u32> = (0..RANKS).filter(|&from| from != to).collect();
        let posts: Vec<PostId> =
            from.iter().map(|&from| self.post(to, Some(from).filter(|_| !wild), Some(7), length())).collect();
        for &from in &from {
            self.send(from, to, 7, 100, false, (length(), length()));
        }
        let call = self.call(to, 31, (length(), length()), receiving(0, from.len() as u16));
        for (&post, from) in posts.iter().zip(from) {
            self.receive((call, to), (from, 7, 100), Some(post), false);
        }
    }

    /// The record of one end of a message is lost.
    fn lose(&mut self, from: u32, to: u32, sender: bool, length: &mut impl FnMut() -> u64) {
        let (loses, peer) = if sender { (from, to) } else { (to, from) };
        if sender {
            let call = self.call(to, 20, (length(), length()), receiving(1, 1));
            self.receive((call, to), (from, 0, 77), None, true);
        } else {
            self.send(from, to, 0, 77, false, (length(), length()));
        }
        let tape = &mut self.tapes[loses as usize];
        let numbers = tape.numbers.entry(peer).or_default();
        *(if sender { &mut numbers.0 } else { &mut numbers.1 }) += 1;
        if !tape.untold.contains(&peer) {
            tape.untold.push(peer);
        }
        tape.has_lost = true;
    }

    pub(crate) fn end_ns(&self) -> Nanoseconds {
        self.tapes.iter().map(|tape| tape.now_ns).max().unwrap_or_default()
    }

    /// The job in batches: one for each of these times, until which it is complete, and one for the rest. The ranks of a
    /// batch come in some order; some of them have told more than they must, and `behind` one has not told all.
    pub(crate) fn batches(&self, until_ns: &[Nanoseconds], order: &[usize], behind: bool) -> Vec<Batch> {
        let mut fed = vec![0; self.tapes.len()];
        let mut figures = 0;
        let mut batches = Vec::new();
        let rest = [self.end_ns() + 1];
        for (turn, &until_ns) in until_ns.iter().chain(&rest).enumerate() {
            let mut batch = Batch { until_ns, ..Batch::default() };
            if turn == 0 {
                batch.ranks = (0..RANKS).map(|rank| info(rank, rank / 2)).collect();
                batch.comms = vec![CommInfo {
                    comm: Comm::WORLD,
                    id: 1,
                    size: RANKS,
                    first_size: None,
                    parent: None,
                    leader: Rank(0),
                    ..CommInfo::default()
                }];
            }
            if behind && turn == 3 {
                batch.ranks.push(info(RANKS - 1, 0));
            }
            let ranks = self.tapes.len();
            let word = |at: usize| order.get(at % order.len().max(1)).copied().unwrap_or_default();
            let (first, step) = (word(turn), 1 + word(turn + 1) % 4);
            for at in 0..ranks {
                let rank = (first + at * step) % ranks;
                let ahead_ns = [0, 0, 300, 2_000][word(turn + rank) % 4];
                let is_last = until_ns > self.end_ns();
                let behind_ns = if behind && !is_last && word(turn + 2 * rank) % 5 == 0 { 1_800 } else { 0 };
                let to_ns = (until_ns + ahead_ns).saturating_sub(behind_ns);
                let calls = &self.tapes[rank].calls;
                while let Some(did) = calls.get(fed[rank]).filter(|did| did.activity.end_ns < to_ns) {
                    fed[rank] += 1;
                    tell(&mut batch, did);
                }
            }
            while figures * 700 < until_ns {
                figures += 1;
                batch.scheduling.extend((0..RANKS).map(|rank| scheduling(rank, figures)));
            }
            batches.push(batch);
        }
        batches
    }
}

fn info(rank: u32, node: u32) -> RankInfo {
    RankInfo {
        rank: Rank(rank),
        world_size: RANKS,
        node: Node(node),
        pid: 1,
        library: String::new(),
        state: ProcessState::Running,
        cost_per_call_ns: 0.0,
        cpus: RankCpus::default(),
    }
}

/// The rank with number 3 now and then waits for a CPU.
fn scheduling(rank: u32, number: u64) -> Scheduling {
    let lost = if rank == 3 { number / 2 } else { 0 };
    Scheduling {
        rank: Rank(rank),
        at_ns: number * 700,
        run_ns: number * 600,
        wait_ns: lost * 150,
        voluntary: number,
        involuntary: lost,
        stopped_ns: lost * 20,
        blocked_ns: lost * 10,
        major_faults: lost,
    }
}

fn tell(batch: &mut Batch, did: &Did) {
    let of = did.activity;
    batch.activities.push(of);
    batch.collected.extend(&did.collected);
    batch.calls.push(Call {
        rank: of.rank,
        function: of.function,
        start_ns: of.start_ns,
        end_ns: of.end_ns,
        bytes: 3,
        ..Call::default()
    });
    batch.events.extend(&did.events);
    batch.events_end_ns.extend(did.events.iter().map(|_| of.end_ns));
}
