//! Processes that introduce themselves, and the nodes that they run on.

use super::state::Ingest;
use crate::process::ProcessInput;
use mpiscope_model::{Node, NodeInfo, ProcessState, Rank, RankCpus, RankInfo};
use mpiscope_wire::{Lost, Process};

/// More nodes than a run has.
const MOST_NODES: usize = 1 << 16;

/// More ranks than a run has: tables must not be sized by a job's own claims.
const MOST_RANKS: u32 = 1 << 23;

/// The cost of a process in the tables.
const PROCESS_BYTES: usize = 2 * size_of::<(ProcessInput, RankInfo, Lost)>();

impl Ingest {
    /// Counts the processes of a rank; returns how many it had before.
    fn next_generation(&mut self, rank: Rank, pid: u32) -> u32 {
        let next = self.generations.entry(rank).or_default();
        let generation = *next;
        *next += 1;
        if generation > 0 {
            let text = format!("rank {rank} was started again as process {pid}; its calls are added");
            self.fault(Some(rank), text);
        }
        generation
    }

    pub(super) fn process(&mut self, process: &Process) {
        let key = (self.origin, process.process);
        if self.processes.contains(key) {
            return;
        }
        if process.rank >= process.world_size || process.world_size > MOST_RANKS {
            self.fault(
                None,
                format!("process {} says it is rank {} of {}", process.pid, process.rank, process.world_size),
            );
            return;
        }
        let texts = 2 * (process.library.len() + process.node.len());
        let has_room = self.memory.take(PROCESS_BYTES + texts);
        let Some(node) = has_room.then(|| self.node(&process.node)).flatten() else {
            self.fault(
                None,
                "more processes or nodes than there is room for: what they did is missing".into(),
            );
            return;
        };
        let rank = Rank(process.rank);
        let generation = self.next_generation(rank, process.pid);
        let input = ProcessInput::new(self.origin, process, generation);
        self.processes.add(key, input);
        self.origins[self.origin as usize].number = Some(node);
        let info = RankInfo {
            rank,
            world_size: process.world_size,
            node,
            pid: process.pid,
            library: process.library.clone(),
            state: ProcessState::Running,
            cost_per_call_ns: process.cost_per_call_ns,
            cpus: RankCpus::default(),
        };
        self.decoded.batch.ranks.push(info.clone());
        self.infos.insert(key, info);
    }

    /// The number of a node; `None` when there are too many.
    pub(super) fn node(&mut self, name: &str) -> Option<Node> {
        if let Some(known) = self.nodes.iter().position(|node| node == name) {
            return Some(Node::from_index(known));
        }
        let node = Node(self.nodes.len() as u32);
        if self.nodes.len() >= MOST_NODES || !self.memory.take(2 * (name.len() + size_of::<NodeInfo>())) {
            return None;
        }
        self.nodes.push(name.to_owned());
        self.decoded.batch.nodes.push(NodeInfo { node, name: name.to_owned() });
        Some(node)
    }
}
