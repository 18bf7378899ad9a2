//! Programs of computing, messages and barriers, run by maxima.

use mpiscope_diagnosis::whatif::{CallKind, Graph, GraphBuilder};
use mpiscope_model::{Call, Comm, Flow, Message, Node, Rank};
use std::collections::{HashMap, VecDeque};

pub(crate) const SEND: u16 = 0;
pub(crate) const RECEIVE: u16 = 1;
pub(crate) const BARRIER: u16 = 2;
pub(crate) const EXCHANGE: u16 = 3;
pub(crate) const START: u16 = 4;
pub(crate) const WAIT: u16 = 5;
pub(crate) const POLL: u16 = 6;
pub(crate) const BROADCAST: u16 = 7;
pub(crate) const REDUCE: u16 = 8;
pub(crate) const TOGETHER: u16 = 9;
pub(crate) const POST: u16 = 10;
pub(crate) const ACCESS: u16 = 11;
pub(crate) const UNLOCK: u16 = 12;
pub(crate) const START_TOGETHER: u16 = 13;
pub(crate) const TO_ALL: u16 = 14;

pub(crate) fn kinds() -> Vec<CallKind> {
    let barrier = CallKind::Collective { flow: Some(Flow::All), is_barrier: true };
    let start = CallKind::Start { flow: Some(Flow::All), is_barrier: false };
    let broadcast = CallKind::Collective { flow: Some(Flow::FromRoot), is_barrier: false };
    let reduce = CallKind::Collective { flow: Some(Flow::ToRoot), is_barrier: false };
    let together = CallKind::Collective { flow: None, is_barrier: true };
    let (send, wait, poll, post) = (CallKind::Send, CallKind::Wait, CallKind::Poll, CallKind::Post);
    let receive = CallKind::Receive;
    let [access, unlock] = [false, true].map(|unlocks| CallKind::Access { unlocks });
    let start_together = CallKind::Start { flow: None, is_barrier: false };
    let calls = [send, receive, barrier, send, start, wait, poll, broadcast, reduce, together];
    let to_all = CallKind::Collective { flow: Some(Flow::All), is_barrier: false };
    [&calls[..], &[post, access, unlock, start_together, to_all]].concat()
}

/// What a rank does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Compute(u64),
    Send(u32),
    Receive(u32),
    /// One call that waits for a message of each.
    ReceiveBoth(u32, u32),
    /// One call that waits for a message of each other rank.
    ReceiveOthers,
    Barrier,
}

/// A run by maxima: its rows, and when it ended.
pub(crate) struct Model {
    pub(crate) calls: Vec<Call>,
    pub(crate) messages: Vec<Message>,
    pub(crate) end_ns: u64,
}

pub(crate) const SEND_NS: u64 = 500;
pub(crate) const RECEIVE_NS: u64 = 300;
pub(crate) const BARRIER_NS: u64 = 2_000;

/// A call from its beginning to its end.
pub(crate) fn call(
    rank: u32,
    function: u16,
    (start_ns, end_ns): (u64, u64),
    peer: Option<u32>,
    bytes: u64,
) -> Call {
    Call { rank: Rank(rank), function, start_ns, end_ns, peer: peer.map(Rank), bytes, ..Call::default() }
}

/// A message from its sending to the return of the receive, which had been entered at a time.
pub(crate) fn message(
    [src, dst]: [u32; 2],
    bytes: u64,
    (send_ns, recv_ns): (u64, u64),
    entered_ns: u64,
) -> Message {
    let t_msg_ns = recv_ns - send_ns.max(entered_ns);
    let late_sender_ns = send_ns.saturating_sub(entered_ns);
    Message {
        src: Rank(src),
        dst: Rank(dst),
        bytes,
        send_ns,
        recv_ns,
        t_msg_ns,
        late_sender_ns,
        ..Message::default()
    }
}

/// Runs programs; flights by source, destination and number.
pub(crate) fn run(programs: &[Vec<Step>], flight_ns: impl Fn(u32, u32, u64) -> u64) -> Model {
    let ranks = programs.len();
    let mut running = Running::new(ranks);
    loop {
        let mut moved = false;
        for (rank, program) in programs.iter().enumerate() {
            while let Some(step) = program.get(running.at[rank]) {
                if !running.step(rank as u32, *step, &flight_ns) {
                    break;
                }
                running.at[rank] += 1;
                moved = true;
            }
        }
        let in_barrier = |rank: usize| matches!(programs[rank].get(running.at[rank]), Some(Step::Barrier));
        if !moved && (0..ranks).all(in_barrier) {
            running.barrier();
            moved = true;
        }
        if !moved {
            break;
        }
    }
    let Running { mut model, now, .. } = running;
    model.end_ns = now.into_iter().max().unwrap_or(0);
    model
}

/// Programs that are going on.
struct Running {
    model: Model,
    /// By rank, until when it came, its step and its barrier.
    now: Vec<u64>,
    at: Vec<usize>,
    barriers: Vec<u32>,
    /// When messages on their way were sent and arrive, by source and destination.
    channels: HashMap<(u32, u32), VecDeque<(u64, u64)>>,
    /// How many messages were sent.
    numbers: HashMap<(u32, u32), u64>,
}

impl Running {
    fn new(ranks: usize) -> Self {
        Self {
            model: Model { calls: Vec::new(), messages: Vec::new(), end_ns: 0 },
            now: vec![0; ranks],
            at: vec![0; ranks],
            barriers: vec![0; ranks],
            channels: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// Does a step; returns `false` if the rank has to wait.
    fn step(&mut self, rank: u32, step: Step, flight_ns: &impl Fn(u32, u32, u64) -> u64) -> bool {
        match step {
            Step::Compute(ns) => self.now[rank as usize] += ns,
            Step::Send(to) => {
                let number = self.numbers.entry((rank, to)).or_default();
                let flight_ns = flight_ns(rank, to, *number);
                *number += 1;
                self.send(rank, to, flight_ns);
            }
            Step::Receive(from) => return self.receive(rank, from),
            Step::ReceiveBoth(one, other) => return self.receive_all(rank, &[one, other]),
            Step::ReceiveOthers => {
                let others: Vec<u32> = (0..self.now.len() as u32).filter(|other| *other != rank).collect();
                return self.receive_all(rank, &others);
            }
            Step::Barrier => return false,
        }
        true
    }

    fn send(&mut self, rank: u32, to: u32, flight_ns: u64) {
        let now = &mut self.now[rank as usize];
        let begin_ns = *now;
        self.channels.entry((rank, to)).or_default().push_back((begin_ns, begin_ns + flight_ns));
        *now += SEND_NS;
        self.model.calls.push(call(rank, SEND, (begin_ns, *now), Some(to), 100));
    }

    fn receive(&mut self, rank: u32, from: u32) -> bool {
        let begin_ns = self.now[rank as usize];
        let channel = self.channels.entry((from, rank)).or_default();
        let Some((sent_ns, arrival_ns)) = channel.pop_front() else { return false };
        let end_ns = (begin_ns + RECEIVE_NS).max(arrival_ns);
        self.now[rank as usize] = end_ns;
        self.model.calls.push(call(rank, RECEIVE, (begin_ns, end_ns), Some(from), 100));
        self.model.messages.push(message([from, rank], 100, (sent_ns, end_ns), begin_ns));
        true
    }

    fn receive_all(&mut self, rank: u32, senders: &[u32]) -> bool {
        let begin_ns = self.now[rank as usize];
        let first = |from: &u32| Some((*from, *self.channels.get(&(*from, rank))?.front()?));
        let firsts: Option<Vec<(u32, (u64, u64))>> = senders.iter().map(first).collect();
        let Some(firsts) = firsts else { return false };
        let arrivals = firsts.iter().map(|(_, (_, arrival_ns))| *arrival_ns);
        let end_ns = arrivals.fold(begin_ns + RECEIVE_NS, u64::max);
        self.now[rank as usize] = end_ns;
        self.model.calls.push(call(rank, WAIT, (begin_ns, end_ns), None, 100));
        for (from, (sent_ns, _)) in firsts {
            self.channels.entry((from, rank)).or_default().pop_front();
            self.model.messages.push(message([from, rank], 100, (sent_ns, end_ns), begin_ns));
        }
        true
    }

    /// All ranks are in a barrier, and leave it.
    fn barrier(&mut self) {
        let last_ns = self.now.iter().copied().max().unwrap_or(0);
        for rank in 0..self.now.len() {
            let start_ns = self.now[rank];
            self.now[rank] = last_ns + BARRIER_NS;
            self.model.calls.push(Call {
                rank: Rank(rank as u32),
                function: BARRIER,
                start_ns,
                end_ns: self.now[rank],
                comm: Some(Comm::WORLD),
                instance: Some(self.barriers[rank]),
                ..Call::default()
            });
            self.barriers[rank] += 1;
            self.at[rank] += 1;
        }
    }
}

pub(crate) fn builder_of(model: &Model, nodes: &[u32]) -> GraphBuilder {
    let mut builder = GraphBuilder::new(kinds());
    model.calls.iter().for_each(|call| builder.call(call));
    model.messages.iter().for_each(|message| builder.message(message));
    (0_u32..).zip(nodes).for_each(|(rank, node)| builder.place(Rank(rank), Node(*node)));
    builder
}

pub(crate) fn graph_of(model: &Model, nodes: &[u32]) -> Graph {
    builder_of(model, nodes).finish().unwrap()
}

/// A ring: each rank computes, sends to the right and receives from the left.
pub(crate) fn ring(ranks: u32, steps: usize, computing_ns: impl Fn(u32, usize) -> u64) -> Vec<Vec<Step>> {
    let of_rank = |rank: u32| {
        let of_step = |step: usize| {
            let (right, left) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            [Step::Compute(computing_ns(rank, step)), Step::Send(right), Step::Receive(left)]
        };
        (0..steps).flat_map(of_step).collect()
    };
    (0..ranks).map(of_rank).collect()
}

pub(crate) fn near(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() <= share * other.abs().max(1.0)
}

/// A number from 0 to 1 that is the same in each run of the test.
pub(crate) fn luck(from: u32, to: u32, number: u64) -> f64 {
    let mixed = (u64::from(from) << 40 | u64::from(to) << 32 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 53) as f64
}
