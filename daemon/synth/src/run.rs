//! A simulated run as the messages that a log holds, slice by slice.

use crate::clocks::{BEGIN_NS, NodeClock};
use crate::disturbance::Disturbance;
use crate::error::Error;
use crate::plan::{Basis, Plan};
use crate::simulation::{Channel, SLICE_NS, Simulation};
use crate::spec::{Network, Spec};
use crate::tape::process_id;
use crate::theft::Summed;
use crate::torus::NodeTorus;
use crate::truth::{Cause, Part, Traffic, Truth, stretch};
use mpiscope_wire::{
    Agent, ClockKind, ClockSample, Contact, EndState, Heard, Lost, Message, Origin, Process, RunEnd,
    RunStart, Scheduling, Slots,
};
use std::collections::{BTreeMap, VecDeque};

/// Slots in one message, to keep it no longer than a frame.
const MOST_SLOTS: usize = 1 << 16;
/// Slices between two scheduler readings and clock comparisons: ten times a second.
const LOOK_EVERY: u64 = 2;
/// The run ends so long after its last call.
const AFTER_NS: u64 = 1_000_000;
/// When simulated runs begin, in nanoseconds since 1970: the same input is the same run.
const UNIX_NS: u64 = 1_700_000_000_000_000_000;
/// What recording a call would cost.
const COST_PER_CALL_NS: f64 = 20.0;

/// Models a job.
///
/// # Errors
/// When the spec makes no sense, or asks for more calls than its job can make.
pub fn generate(spec: &Spec) -> Result<Run, Error> {
    spec.check()?;
    let basis = Basis::build(spec)?;
    let mut run = Run {
        simulation: Simulation::new(Plan::new(spec, &basis, |_| false)),
        basis,
        waiting: VecDeque::new(),
        next_sequence: vec![0; spec.nodes as usize],
        ranks_of: Vec::new(),
        summed: vec![Summed::default(); spec.ranks as usize],
        is_over: false,
    };
    run.introduce();
    Ok(run)
}

/// A run: its messages in the order of a log, and its truth.
#[derive(Debug)]
pub struct Run {
    simulation: Simulation<true>,
    basis: Basis,
    /// Messages of the slice at hand.
    waiting: VecDeque<Message>,
    /// By node, how many messages its agent has sent.
    next_sequence: Vec<u64>,
    /// By agent, the ranks that it reports.
    ranks_of: Vec<Vec<u32>>,
    /// By rank, how long it was without its processor.
    summed: Vec<Summed>,
    is_over: bool,
}

impl Iterator for Run {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        while self.waiting.is_empty() && !self.is_over {
            self.slice();
        }
        self.waiting.pop_front()
    }
}

/// The name of a node.
#[must_use]
pub fn node_name(node: u32) -> String {
    format!("node-{node}")
}

impl Run {
    /// Assigns ranks to agents, and introduces everybody.
    fn introduce(&mut self) {
        let has_agent_per_node = self.spec().has_agent_per_node || self.simulation.clocks().differ();
        let agents = if has_agent_per_node { self.spec().nodes } else { 1 };
        self.ranks_of = vec![Vec::new(); agents as usize];
        for (rank, &node) in (0..).zip(&self.simulation.plan.node_of) {
            self.ranks_of[if agents == 1 { 0 } else { node as usize }].push(rank);
        }
        self.begin();
    }

    fn spec(&self) -> &Spec {
        &self.simulation.plan.spec
    }

    /// Number of agents of the run: one for all nodes, or one for each.
    fn agents(&self) -> u32 {
        self.ranks_of.len() as u32
    }

    fn begin(&mut self) {
        let spec = self.spec();
        let (ranks, pattern) = (spec.ranks, spec.pattern.name());
        self.waiting.push_back(Message::RunStart(RunStart {
            run: format!("synth-{pattern}-{ranks}"),
            node: node_name(0),
            unix_ns: UNIX_NS,
            monotonic_ns: BEGIN_NS,
            command: vec!["synth".into(), pattern.into(), ranks.to_string()],
        }));
        for agent in 1..self.agents() {
            let introduced = Agent { agent, identity: u128::from(agent) + 1, node: node_name(agent) };
            self.waiting.push_back(Message::Agent(introduced));
        }
        for agent in 0..self.agents() {
            self.turn_to(agent, true);
            for rank in self.ranks_of[agent as usize].clone() {
                let node = self.simulation.plan.node_of[rank as usize];
                let process = Process {
                    process: rank,
                    pid: process_id(rank),
                    made_ns: self.simulation.clocks().shown_ns(node, 1),
                    rank,
                    world_size: ranks,
                    clock: ClockKind::Monotonic,
                    cost_per_call_ns: COST_PER_CALL_NS,
                    library: "simulated MPI".into(),
                    node: node_name(node),
                };
                self.tell(agent, Message::Process(process));
            }
            self.clock_sample(agent, 0);
        }
    }

    /// An agent's messages follow.
    fn turn_to(&mut self, agent: u32, compares: bool) {
        if self.agents() == 1 {
            return;
        }
        if compares && agent > 0 {
            let trip = self.simulation.clocks().round_trip(agent, self.simulation.until_ns());
            self.waiting.push_back(Message::RoundTrip(trip));
        }
        let sequence = self.next_sequence[agent as usize];
        self.waiting.push_back(Message::Origin(Origin { agent, sequence }));
    }

    fn tell(&mut self, agent: u32, message: Message) {
        self.next_sequence[agent as usize] += 1;
        self.waiting.push_back(message);
    }

    fn clock_sample(&mut self, agent: u32, run_ns: u64) {
        let monotonic_ns = self.simulation.clocks().shown_ns(agent, run_ns);
        self.tell(agent, Message::ClockSample(ClockSample { ticks: monotonic_ns, monotonic_ns }));
    }

    /// Everything that ended in the next slice.
    fn slice(&mut self) {
        self.simulation.run_slice();
        let until_ns = self.simulation.until_ns();
        let looks = (until_ns / SLICE_NS).is_multiple_of(LOOK_EVERY);
        for agent in 0..self.agents() {
            self.turn_to(agent, looks);
            let ranks = std::mem::take(&mut self.ranks_of[agent as usize]);
            for &rank in &ranks {
                self.slots(agent, rank, until_ns);
            }
            self.clock_sample(agent, until_ns);
            if looks {
                ranks.iter().for_each(|&rank| self.scheduling(agent, rank, until_ns));
            }
            self.ranks_of[agent as usize] = ranks;
        }
        if self.simulation.is_over() {
            self.end(0, self.simulation.end_ns());
        }
    }

    fn slots(&mut self, agent: u32, rank: u32, until_ns: u64) {
        let Some((mut from, mut slots)) = self.simulation.tape(rank).take(until_ns) else { return };
        while !slots.is_empty() {
            let rest = slots.split_off(slots.len().min(MOST_SLOTS));
            let count = slots.len() as u64;
            self.tell(agent, Message::Slots(Slots { process: rank, ring: 0, from, slots }));
            (from, slots) = (from + count, rest);
        }
    }

    fn scheduling(&mut self, agent: u32, rank: u32, until_ns: u64) {
        let theft = self.simulation.plan.thefts.iter().find(|theft| theft.concerns(rank));
        let summed = &mut self.summed[rank as usize];
        let (taken_ns, times) = theft.map_or((0, 0), |theft| theft.until(rank, until_ns, summed));
        let is_stop = theft.is_some_and(|theft| theft.is_stop);
        let (wait_ns, stopped_ns) = if is_stop { (0, taken_ns) } else { (taken_ns, 0) };
        let figures = Scheduling {
            process: rank,
            monotonic_ns: self.simulation.clocks().shown_ns(agent, until_ns),
            run_ns: until_ns - taken_ns,
            wait_ns,
            voluntary: 0,
            involuntary: if is_stop { 0 } else { times },
            stopped_ns,
            blocked_ns: 0,
            major_faults: 0,
        };
        self.tell(agent, Message::Scheduling(figures));
    }

    /// Until when everything that ended is among the messages.
    #[must_use]
    pub fn until_ns(&self) -> u64 {
        self.simulation.until_ns()
    }

    /// The clock of a node.
    #[must_use]
    pub fn clock_of(&self, node: u32) -> NodeClock {
        self.simulation.clocks().of_node(node)
    }

    /// Whether all of a slice of the run was handed out: the run may stop there.
    #[must_use]
    pub fn is_between_slices(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The job is broken off between two slices: only its end is left, with this status.
    pub fn break_off(&mut self, exit: i32) {
        if !self.is_over {
            self.end(exit, self.simulation.until_ns());
        }
    }

    fn end(&mut self, exit: i32, ended_ns: u64) {
        self.is_over = true;
        let end_ns = self.simulation.until_ns() + AFTER_NS;
        for agent in 0..self.agents() {
            self.turn_to(agent, true);
            for rank in self.ranks_of[agent as usize].clone() {
                let ring_full = self.simulation.tape(rank).lost_calls();
                let state = EndState::Finalized;
                let lost = Lost { process: rank, ring_full, no_ring: 0, unreadable: 0, state };
                self.tell(agent, Message::Lost(lost));
            }
            self.clock_sample(agent, end_ns);
            if agent > 0 {
                self.waiting.push_back(Message::Contact(Contact { agent, heard: Heard::Finished }));
            }
        }
        let monotonic_ns = BEGIN_NS + ended_ns + AFTER_NS;
        self.waiting.push_back(Message::RunEnd(RunEnd { exit: Some(exit), monotonic_ns }));
    }

    /// What messages cost in it without noise.
    #[must_use]
    pub fn network(&self) -> Network {
        self.basis.network
    }

    /// Where its ranks run.
    #[must_use]
    pub fn node_of_rank(&self) -> &[u32] {
        &self.simulation.plan.node_of
    }

    /// How long the run would take, disturbances and all, with its ranks on these nodes. With luck 0 each message is as
    /// slow as it was for its distance; with another number others are: where noise has a heavy tail, the few slowest
    /// messages alone can make up for what all others save.
    #[must_use]
    pub fn seconds_if_placed(&self, node_of_rank: &[u32], luck: u64) -> f64 {
        let mut plan = Plan::new(self.spec(), &self.basis, |_| false);
        if luck > 0 {
            plan.wires.draw_anew(self.spec().seed, luck);
        }
        let known = node_of_rank.iter().copied().chain(plan.node_of[node_of_rank.len()..].iter().copied());
        plan.node_of = known.collect();
        let mut placed: Simulation<false> = Simulation::new(plan);
        placed.run_to_end();
        placed.end_ns() as f64 / 1e9
    }

    /// What each disturbance costs: the run is simulated without it.
    fn costs_of_disturbances(&self) -> Vec<Part> {
        let spec = self.spec();
        let end_ns = self.simulation.end_ns();
        let (duration_s, ranks) = (end_ns as f64 / 1e9, f64::from(spec.ranks));
        let causes =
            spec.disturb.iter().enumerate().filter(|(_, one)| Cause::from_disturbance(one) != Cause::None);
        let part = |(at, disturbance)| {
            let mut without: Simulation<false> =
                Simulation::new(Plan::new(spec, &self.basis, |other| other == at));
            without.run_to_end();
            let avoidable_wall_s = (end_ns as f64 - without.end_ns() as f64) / 1e9;
            let (from_ns, to_ns) =
                stretch(disturbance).range_ns(self.basis.step_ns * f64::from(self.basis.steps));
            Part {
                cause: Cause::from_disturbance(disturbance),
                avoidable_s: avoidable_wall_s * ranks,
                avoidable_wall_s,
                share: avoidable_wall_s / duration_s,
                from_s: from_ns as f64 / 1e9,
                to_s: to_ns.min(end_ns) as f64 / 1e9,
            }
        };
        causes.map(part).collect()
    }

    /// What is true of the run. What of it was not handed out by now is gone through without that; then it is gone through
    /// once more without each disturbance.
    #[must_use]
    pub fn truth(mut self) -> Truth {
        self.waiting.clear();
        while !self.is_over {
            self.slice();
            self.waiting.clear();
        }
        let spec = self.spec();
        let duration_s = self.simulation.end_ns() as f64 / 1e9;
        let parts = self.costs_of_disturbances();
        let channels = self.simulation.channels();
        let messages = |inter| {
            let of = channels.iter().filter(|channel| channel.is_inter() == inter);
            of.map(|channel| u64::from(channel.sent)).sum::<u64>()
        };
        let (intra_messages, inter_messages) = (messages(false), messages(true));
        let pairs = traffic_of_pairs(channels);
        let bytes = channels.iter().map(|channel| channel.sent_bytes).sum();
        let of_rank: Vec<(u64, u64)> = (0..spec.ranks).map(|rank| self.simulation.calls_of(rank)).collect();
        Truth {
            pattern: spec.pattern.name(),
            ranks: spec.ranks,
            steps: self.basis.steps,
            duration_s,
            main: Truth::main(&parts, duration_s),
            parts,
            intra_messages,
            inter_messages,
            bytes,
            calls: of_rank.iter().map(|(_, calls)| calls).sum(),
            slow_rack: slow_rack(spec),
            rows_of_rank: of_rank.iter().map(|(rows, _)| *rows).collect(),
            pairs,
            lost_calls: (0..self.simulation.plan.spec.ranks)
                .map(|rank| self.simulation.tape(rank).lost_calls())
                .sum(),
        }
    }
}

fn slow_rack(spec: &Spec) -> Option<u32> {
    let has_one = spec.disturb.iter().any(|one| matches!(one, Disturbance::SlowRack { .. }));
    has_one.then(|| NodeTorus::with_nodes(spec.nodes).slow_rack(spec.seed))
}

/// What went from each rank to each other.
fn traffic_of_pairs(channels: &[Channel]) -> Vec<Traffic> {
    let mut pairs: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for channel in channels.iter().filter(|channel| channel.sent > 0) {
        let (messages, bytes) = pairs.entry((channel.src, channel.dst)).or_default();
        *messages += u64::from(channel.sent);
        *bytes += channel.sent_bytes;
    }
    let traffic = |((src, dst), (messages, bytes))| Traffic { src, dst, messages, bytes };
    pairs.into_iter().map(traffic).collect()
}
