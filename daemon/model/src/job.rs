use crate::{Comm, Function, Nanoseconds, Node, Rank};

/// How a rank's process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It returned from `MPI_Finalize`.
    Finalized,
    /// It called `MPI_Abort`.
    Aborted,
    /// It is gone without either.
    Vanished,
    /// It ran when its node was last heard of.
    Silent,
}

impl ProcessState {
    /// The word for people and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ProcessState::Running => "running",
            ProcessState::Finalized => "finalized",
            ProcessState::Aborted => "aborted",
            ProcessState::Vanished => "vanished",
            ProcessState::Silent => "silent",
        }
    }
}

/// One rank of the job.
#[derive(Debug, Clone, PartialEq)]
pub struct RankInfo {
    /// The world rank.
    pub rank: Rank,
    /// Ranks in the job.
    pub world_size: u32,
    /// Where it runs.
    pub node: Node,
    /// The process.
    pub pid: u32,
    /// The MPI library, in one line.
    pub library: String,
    /// How it stands.
    pub state: ProcessState,
    /// What recording one call costs it, in nanoseconds, measured by the collector at start.
    pub cost_per_call_ns: f64,
}

/// What the scheduler did to a rank's process, from its start to a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// Whose.
    pub rank: Rank,
    /// When.
    pub at_ns: Nanoseconds,
    /// Time on a processor, of all its threads.
    pub run_ns: u64,
    /// Time ready to run and without a processor.
    pub wait_ns: u64,
    /// Times it gave its processor away.
    pub voluntary: u64,
    /// Times its processor was taken away.
    pub involuntary: u64,
}

/// One host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeInfo {
    /// The index.
    pub node: Node,
    /// Its host name.
    pub name: String,
}

/// One communicator, the same index on every member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommInfo {
    /// The index.
    pub comm: Comm,
    /// The identity that its members agree on.
    pub id: u64,
    /// How many ranks it has, those of both groups of an intercommunicator.
    pub size: u32,
    /// How many of them its first group has; none where there is one group, or the other is of another job. Whoever judges
    /// the run asks for it, recordings do not keep it.
    pub first_size: Option<u32>,
    /// The communicator it was made from.
    pub parent: Option<Comm>,
    /// The world rank of its rank 0.
    pub leader: Rank,
}

/// One MPI function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionInfo {
    /// The number.
    pub function: Function,
    /// Its name in C.
    pub name: &'static str,
}
