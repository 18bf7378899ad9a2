//! A master that receives from the first sender.

use crate::pattern::{Pattern, TASK_TAG};
use crate::plan::Plan;
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
    pub(super) results: BinaryHeap<Reverse<(u64, u32, u32)>>,
    pub(super) serves: bool,
    pub(super) newest: u32,
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
