use crate::cpus::RankCpus;
use crate::ids::{Comm, Function, Nanoseconds, Node, Rank};

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
    /// The CPUs that it may use.
    pub cpus: RankCpus,
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
    /// Time stopped by a signal or a debugger.
    pub stopped_ns: u64,
    /// Time in uninterruptible sleep in the kernel, such as for a disk or for swapped memory.
    pub blocked_ns: u64,
    /// Major page faults: pages that had to be read from a disk, a network file system, or swap.
    pub major_faults: u64,
}

crate::numbers! {
    Scheduling { rank, at_ns, run_ns, wait_ns, voluntary, involuntary, stopped_ns, blocked_ns, major_faults }
}

impl Scheduling {
    /// The time in which it could not run though it may have wanted to.
    #[must_use]
    pub fn delayed_ns(&self) -> u64 {
        // A job may claim any number.
        self.wait_ns.saturating_add(self.stopped_ns)
    }
}

/// One host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeInfo {
    /// The index.
    pub node: Node,
    /// Its host name.
    pub name: String,
}

/// What the members of a communicator share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CommKind {
    /// It is a communicator.
    #[default]
    Communicator,
    /// A window of one-sided communication.
    Window,
    /// A file.
    File,
    /// What the program calls a stretch of its course.
    Phase,
}

crate::numbers! { enum CommKind { Communicator = 0, Window = 1, File = 2, Phase = 3 } }

impl CommKind {
    /// All of them.
    pub const ALL: [Self; 4] = [CommKind::Communicator, CommKind::Window, CommKind::File, CommKind::Phase];

    /// The word for people and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            CommKind::Communicator => "communicator",
            CommKind::Window => "window",
            CommKind::File => "file",
            CommKind::Phase => "phase",
        }
    }
}

/// One communicator or similar object, with the same index on every member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommInfo {
    /// The index.
    pub comm: Comm,
    /// The identity that its members agree on.
    pub id: u64,
    /// How many ranks it has, those of both groups of an intercommunicator.
    pub size: u32,
    /// The size of its first group; none where there is one group, or the other is of another job. The diagnosis needs
    /// it, recordings do not keep it.
    pub first_size: Option<u32>,
    /// The communicator it was made from.
    pub parent: Option<Comm>,
    /// The world rank of its rank 0.
    pub leader: Rank,
    /// What it is.
    pub kind: CommKind,
    /// Its name in the program, or the path of the file; empty where it has no name. A later name comes as a
    /// [`CommName`].
    pub name: String,
}

crate::numbers! { CommInfo { comm, id, size, first_size, parent, leader, kind, name } }

impl CommInfo {
    /// What it is called where people read it.
    #[must_use]
    pub fn words(&self) -> String {
        match (self.comm, self.name.as_str()) {
            (Comm::WORLD, "") => "MPI_COMM_WORLD".into(),
            (comm, "") => format!("{} {comm}", self.kind.word()),
            (_, name) => name.into(),
        }
    }
}

/// A communicator has a name from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommName {
    /// Which.
    pub comm: Comm,
    /// How it is called.
    pub name: String,
}

/// Where a rank stands in one dimension of a communicator's grid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coordinate {
    /// Which communicator.
    pub comm: Comm,
    /// Who.
    pub rank: Rank,
    /// In which dimension.
    pub dimension: u16,
    /// Where.
    pub coordinate: u32,
    /// Of how many places.
    pub size: u32,
    /// 1 where its ends meet, else 0.
    pub periodic: u16,
}

/// One MPI function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionInfo {
    /// The number.
    pub function: Function,
    /// Its name in C.
    pub name: &'static str,
}
