//! A running job: its ranks, and how each goes on.

use super::channel::Channel;
use super::master::Master;
use super::meeting::Meetings;
use crate::clocks::Clocks;
use crate::pattern::Pattern;
use crate::plan::Plan;
use crate::random::{Purpose, Stream};
use crate::script::Op;
use crate::tape::{Tape, plain};
use mpiscope_wire::id;
use std::collections::VecDeque;

/// Ranks call `MPI_Init` so long after the run began, and are in it for about so long.
const INIT_NS: u64 = 1_000_000;
const INIT_TAKES_NS: u64 = 2_000_000;
/// Everything up to such a moment is simulated before anything after it.
pub(crate) const SLICE_NS: u64 = 50_000_000;
/// Between two calls.
pub(super) const GAP_NS: u64 = 50;

/// A receive that was posted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) channel: u32,
    pub(super) post: u64,
    /// Whether the call that posted it was recorded.
    pub(super) recorded: bool,
}

/// A rank.
#[derive(Debug, Default)]
pub(super) struct Rank {
    /// Until when it has come.
    pub(super) clock_ns: u64,
    /// When it entered the call that it is in.
    pub(super) entry_ns: u64,
    /// When all that it waits for and that is known is there.
    pub(super) ready_ns: u64,
    /// How much of what it waits for is not known yet.
    pub(super) pending: u32,
    pub(super) waits: bool,
    pub(super) op: u32,
    pub(super) step: u32,
    pub(super) open_sends: u32,
    pub(super) meetings: u32,
    /// When the next message to another node can leave.
    pub(super) port_ns: u64,
    pub(super) open: Vec<Open>,
    pub(super) posts: u64,
    pub(super) pieces: u64,
    pub(super) rows: u64,
    pub(super) calls: u64,
}

/// A running job. Only a recorded one writes its calls down.
#[derive(Debug)]
pub(crate) struct Simulation<const TOLD: bool> {
    pub(crate) plan: Plan,
    pub(super) clocks: Clocks,
    pub(super) ranks: Vec<Rank>,
    pub(super) channels: Vec<Channel>,
    pub(super) meetings: Meetings,
    pub(super) master: Master,
    pub(super) tapes: Vec<Tape>,
    /// Ranks that can go on.
    pub(super) ready: VecDeque<u32>,
    /// Ranks that have come to the end of the slice.
    pub(super) paused: Vec<u32>,
    pub(super) until_ns: u64,
    pub(super) finalizing: u32,
    /// When the last rank had done half of its steps.
    pub(super) midway_ns: u64,
    /// When it had done all of them.
    pub(super) worked_ns: u64,
    pub(super) end_ns: Option<u64>,
}

impl<const TOLD: bool> Simulation<TOLD> {
    /// All ranks stand before `MPI_Init`.
    pub(crate) fn new(plan: Plan) -> Self {
        let count = plan.spec.ranks;
        let tapes =
            if TOLD { (0..count).map(|rank| Tape::new(&plan.spec, rank)).collect() } else { Vec::new() };
        let mut simulation = Self {
            clocks: Clocks::new(&plan.spec),
            ranks: (0..count).map(|_| Rank::default()).collect(),
            channels: plan.script.ways.iter().map(|way| Channel::new(way, &plan.node_of)).collect(),
            meetings: Meetings::new(count),
            master: Master::new(&plan),
            tapes,
            ready: VecDeque::new(),
            paused: (0..count).collect(),
            until_ns: 0,
            finalizing: 0,
            midway_ns: 0,
            worked_ns: 0,
            end_ns: None,
            plan,
        };
        let stream = Stream::new(simulation.plan.spec.seed, Purpose::Start);
        for rank in 0..count {
            let begin_ns = INIT_NS + stream.word(rank, 0) % 100_000;
            let end_ns = begin_ns + INIT_TAKES_NS + stream.word(rank, 1) % 20_000;
            simulation.open(rank, end_ns);
            simulation.row(rank, plain(id::INIT, begin_ns, end_ns));
            simulation.ranks[rank as usize].clock_ns = end_ns + GAP_NS;
            simulation.ranks[rank as usize].op = simulation.plan.script.first[rank as usize];
        }
        simulation
    }

    /// What the second half of the steps took; a worker's are the master's.
    pub(crate) fn second_half_ns(&self) -> u64 {
        self.worked_ns - self.midway_ns
    }

    /// When the job ended; until where it has come, before that.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns.unwrap_or(self.until_ns)
    }

    /// Whether all has been simulated, and all that ended is before the end of the slice.
    pub(crate) fn is_over(&self) -> bool {
        self.end_ns.is_some_and(|end_ns| end_ns < self.until_ns)
    }

    /// Where the last slice ended.
    pub(crate) fn until_ns(&self) -> u64 {
        self.until_ns
    }

    /// Rows of calls so far.
    pub(crate) fn rows(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.rows).sum()
    }

    /// Rows and calls of a rank so far.
    pub(crate) fn calls_of(&self, rank: u32) -> (u64, u64) {
        let rank = &self.ranks[rank as usize];
        (rank.rows, rank.calls)
    }

    pub(crate) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    pub(crate) fn channels(&self) -> &[Channel] {
        &self.channels
    }

    pub(crate) fn tape(&mut self, rank: u32) -> &mut Tape {
        &mut self.tapes[rank as usize]
    }

    /// Goes on to the end, without telling.
    pub(crate) fn run_to_end(&mut self) {
        while !self.is_over() {
            self.run_slice();
        }
    }

    /// Everything that happens in the next slice, and of what happens later what that leads to.
    pub(crate) fn run_slice(&mut self) {
        self.until_ns += SLICE_NS;
        let until_ns = self.until_ns;
        let (ranks, ready) = (&self.ranks, &mut self.ready);
        self.paused.retain(|&rank| {
            let goes_on = ranks[rank as usize].clock_ns < until_ns;
            if goes_on {
                ready.push_back(rank);
            }
            !goes_on
        });
        loop {
            while let Some(rank) = self.ready.pop_front() {
                self.go_on(rank);
            }
            if !self.serve() {
                return;
            }
        }
    }

    /// A rank has gone through its operations once more. Returns whether that was its last step.
    #[inline]
    fn is_last_step_over(&mut self, rank: u32) -> bool {
        let state = &mut self.ranks[rank as usize];
        state.step += 1;
        let is_worker = self.master.is_worker(rank);
        if state.step == self.plan.steps / 2 && !is_worker {
            self.midway_ns = self.midway_ns.max(state.clock_ns);
        }
        state.step == self.plan.steps && !is_worker
    }

    /// A rank begins a call. Returns whether it has to wait; otherwise a call that may wait is finished.
    #[inline]
    fn begin_to_wait(&mut self, rank: u32, op: Op) -> bool {
        self.begin(rank, op);
        if !waits(op) {
            return false;
        }
        let state = &mut self.ranks[rank as usize];
        state.waits = state.pending > 0;
        if state.waits {
            return true;
        }
        self.finish(rank);
        false
    }

    /// Performs an operation of a rank. Returns whether the rank goes on.
    #[inline]
    fn perform(&mut self, rank: u32, op: Op) -> bool {
        let state = &mut self.ranks[rank as usize];
        match op {
            Op::Compute { parts } => self.compute(rank, parts),
            Op::Handle => {
                let end_ns = self.advance(rank, self.ranks[rank as usize].clock_ns, self.plan.handle_ns);
                self.ranks[rank as usize].clock_ns = end_ns;
            }
            Op::Only { every, else_skip } => {
                if !(state.step + 1).is_multiple_of(every) {
                    state.op += else_skip;
                }
            }
            Op::First { else_skip } => state.op += if state.step > 0 { else_skip } else { 0 },
            Op::StopUnlessTask => {
                if self.master.has_stopped(rank) {
                    self.finalize(rank);
                    return false;
                }
            }
            _ => return !self.begin_to_wait(rank, op),
        }
        true
    }

    /// A rank goes on until it has to wait, or until the end of the slice.
    pub(super) fn go_on(&mut self, rank: u32) {
        let at = rank as usize;
        if std::mem::take(&mut self.ranks[at].waits) {
            self.finish(rank);
            self.ranks[at].op += 1;
        }
        let (first, last) = (self.plan.script.first[at], self.plan.script.first[at + 1]);
        loop {
            let state = &mut self.ranks[at];
            if state.clock_ns >= self.until_ns {
                self.paused.push(rank);
                return;
            }
            if state.op == last {
                state.op = first;
                if self.is_last_step_over(rank) {
                    self.finalize(rank);
                    return;
                }
            }
            let op = self.plan.script.ops[self.ranks[at].op as usize];
            if !self.perform(rank, op) {
                return;
            }
            self.ranks[at].op += 1;
        }
    }

    fn compute(&mut self, rank: u32, parts: u32) {
        let state = &mut self.ranks[rank as usize];
        let piece = self.master.task(rank).unwrap_or((rank, state.pieces));
        state.pieces += 1;
        let step = if self.plan.spec.pattern == Pattern::MasterWorker {
            (piece.1 / u64::from(self.plan.spec.ranks - 1)) as u32
        } else {
            state.step
        };
        let work_ns = self.plan.work.piece_ns(rank, piece, step, parts);
        let begin_ns = state.clock_ns;
        self.ranks[rank as usize].clock_ns = self.advance(rank, begin_ns, work_ns);
    }

    /// When work is done that a rank begins at a moment.
    #[inline]
    pub(super) fn advance(&self, rank: u32, at_ns: u64, work_ns: u64) -> u64 {
        let theft = self.plan.thefts.iter().find(|theft| theft.concerns(rank));
        theft.map_or(at_ns + work_ns, |theft| theft.advance(rank, at_ns, work_ns))
    }

    /// When a rank notices what happens at a moment.
    #[inline]
    pub(super) fn resume(&self, rank: u32, at_ns: u64) -> u64 {
        let theft = self.plan.thefts.iter().find(|theft| theft.concerns(rank));
        theft.map_or(at_ns, |theft| theft.resume(rank, at_ns))
    }

    /// An operation that a rank waits for, or will wait for, completes.
    #[inline]
    pub(super) fn complete(&mut self, rank: u32, at_ns: u64) {
        let state = &mut self.ranks[rank as usize];
        state.ready_ns = state.ready_ns.max(at_ns);
        state.pending -= 1;
        if state.pending == 0 && state.waits {
            self.ready.push_back(rank);
        }
    }

    /// A rank enters `MPI_Finalize`, which ends for all when the last has entered.
    pub(super) fn finalize(&mut self, rank: u32) {
        self.finalizing += 1;
        let state = &mut self.ranks[rank as usize];
        state.entry_ns = state.clock_ns;
        if self.finalizing < self.plan.spec.ranks {
            return;
        }
        let last_ns = self.ranks.iter().map(|rank| rank.entry_ns).max().unwrap_or_default();
        self.worked_ns = last_ns;
        let end_ns = last_ns + self.plan.wires.operation(u32::MAX, 0, last_ns);
        for rank in 0..self.plan.spec.ranks {
            self.open(rank, end_ns);
            let begin_ns = self.ranks[rank as usize].entry_ns;
            self.row(rank, plain(id::FINALIZE, begin_ns, end_ns));
            self.ranks[rank as usize].clock_ns = end_ns;
        }
        self.end_ns = Some(end_ns);
    }
}

/// Whether an operation can last, until something happens elsewhere.
fn waits(op: Op) -> bool {
    !matches!(op, Op::Post(_) | Op::Isend(_))
}
