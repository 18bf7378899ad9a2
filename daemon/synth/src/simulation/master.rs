//! A master that receives from the first sender.

use super::Simulation;
use crate::pattern::{Pattern, RESULT_TAG, TASK_TAG};
use crate::plan::Plan;
use crate::spec::Style;
use crate::tape::{WORLD, plain};
use mpiscope_wire::{CallFlags, PEER_ANY, Part, PartFlags, id};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A worker without a task.
const NO_TASK: u64 = u64::MAX;

/// The master's rank and state. Other patterns have none.
#[derive(Debug, Default)]
pub(super) struct Master {
    /// By rank, its task; empty without a master.
    tasks: Vec<u64>,
    /// By rank, the channel to it.
    ways: Vec<u32>,
    dealt: u64,
    total: u64,
    /// What has been sent to it: when it is there, its channel, its bytes.
    results: BinaryHeap<Reverse<(u64, u32, u32)>>,
    serves: bool,
    newest: u32,
}

impl Master {
    pub(super) fn new(plan: &Plan) -> Self {
        if plan.spec.pattern != Pattern::MasterWorker {
            return Self::default();
        }
        let mut ways = vec![0; plan.spec.ranks as usize];
        for (way, number) in plan.script.ways.iter().zip(0..) {
            if way.tag == TASK_TAG {
                ways[way.dst as usize] = number;
            }
        }
        let total = u64::from(plan.steps) * u64::from(plan.spec.ranks - 1);
        Self { tasks: vec![NO_TASK; ways.len()], ways, total, ..Self::default() }
    }

    pub(super) fn deals(&self) -> bool {
        !self.tasks.is_empty()
    }

    pub(super) fn is_worker(&self, rank: u32) -> bool {
        self.deals() && rank > 0
    }

    /// The number of the task that a rank works on: the same task is the same work on any rank.
    pub(super) fn task(&self, rank: u32) -> Option<(u32, u64)> {
        self.tasks.get(rank as usize).map(|&task| (0, task))
    }

    pub(super) fn has_stopped(&self, rank: u32) -> bool {
        self.tasks[rank as usize] == NO_TASK
    }

    pub(super) fn result(&mut self, at_ns: u64, channel: u32, bytes: u32) {
        self.results.push(Reverse((at_ns, channel, bytes)));
    }

    /// The next task goes to a rank, or the word that there is none.
    pub(super) fn deal(&mut self, rank: u32) {
        let has_more = self.dealt < self.total;
        self.tasks[rank as usize] = if has_more { self.dealt } else { NO_TASK };
        self.dealt += u64::from(has_more);
    }

    /// The channel to whom it received from last.
    pub(super) fn back(&self) -> u32 {
        self.ways[self.newest as usize]
    }
}

impl<const TOLD: bool> Simulation<TOLD> {
    /// The master begins to receive from anybody.
    pub(super) fn begin_serving(&mut self, rank: u32) {
        let state = &mut self.ranks[rank as usize];
        state.pending += 1;
        self.master.serves = true;
        if self.plan.spec.style == Style::Waitall {
            let post = state.posts;
            let mut call = self.brief(rank, id::IRECV);
            call.flags = CallFlags::POST;
            (call.peer, call.comm, call.tag, call.bytes) = (PEER_ANY, WORLD, RESULT_TAG, post & 0xFFFF_FFFF);
            let recorded = self.write(rank, call);
            let state = &mut self.ranks[rank as usize];
            state.posts += 1;
            state.open.push(super::Open { channel: 0, post, recorded });
            state.entry_ns = state.clock_ns;
        }
    }

    /// No rank can do anything more in this slice: the master receives the first message that is there.
    pub(super) fn serve(&mut self) -> bool {
        if !self.master.serves {
            return false;
        }
        let Some(&Reverse((at_ns, channel, bytes))) = self.master.results.peek() else { return false };
        if at_ns >= self.until_ns {
            return false;
        }
        self.master.results.pop();
        self.master.serves = false;
        let worker = self.channels[channel as usize].src;
        self.channels[channel as usize].taken += 1;
        self.master.newest = worker;
        let master = self.channels[channel as usize].dst;
        self.served(master, worker, bytes, at_ns);
        let state = &mut self.ranks[master as usize];
        (state.pending, state.waits, state.ready_ns) = (0, false, 0);
        state.op += 1;
        self.go_on(master);
        true
    }

    fn served(&mut self, master: u32, worker: u32, bytes: u32, at_ns: u64) {
        let entry_ns = self.ranks[master as usize].entry_ns;
        let posted = self.ranks[master as usize].open.pop();
        let cost_ns = self.cost_ns(master);
        let mut begin_ns = entry_ns;
        if self.plan.spec.style == Style::Polling {
            let (polled_ns, polls) = self.polls(master, entry_ns, at_ns);
            begin_ns = polled_ns + cost_ns;
            self.open(master, begin_ns);
            self.folded(master, id::IPROBE, entry_ns, polls);
            let mut call = plain(id::IPROBE, polled_ns, begin_ns);
            call.flags = CallFlags::PROBE;
            (call.peer, call.comm) = (worker as i32, WORLD);
            (call.tag, call.bytes) = (RESULT_TAG, u64::from(bytes));
            self.row(master, call);
        }
        let end_ns = self.resume(master, at_ns.max(begin_ns + cost_ns));
        self.open(master, end_ns);
        self.moves(master, worker, false);
        let mut call = plain(id::RECV, begin_ns, end_ns);
        if let Some(posted) = posted {
            call.function = id::WAIT;
            let flags = if posted.recorded { PartFlags::COMPLETED } else { PartFlags::INLINE };
            let (peer, bytes) = (worker as i32, u64::from(bytes));
            self.part(master, Part { flags, tag: RESULT_TAG, post: posted.post, peer, comm: WORLD, bytes });
        } else {
            call.flags = CallFlags::RECEIVE;
            (call.peer, call.comm) = (worker as i32, WORLD);
            (call.tag, call.bytes) = (RESULT_TAG, u64::from(bytes));
        }
        self.row(master, call);
        self.done(master, end_ns);
    }
}
