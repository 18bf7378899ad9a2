//! Numbers of the format, as far as they are used here.

/// A number that stands for nothing.
pub const UNDEFINED: u32 = u32::MAX;
/// Where a collective has no root.
pub const NO_ROOT: u32 = u32::MAX;

/// What a region is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RegionRole {
    /// An ordinary function.
    Function = 1,
    /// Synchronises all.
    Barrier = 15,
    /// From one to all.
    OneToAll = 23,
    /// From all to one.
    AllToOne = 24,
    /// From all to all.
    AllToAll = 25,
    /// Another collective.
    OtherCollective = 26,
    /// Files.
    Files = 27,
    /// Between two.
    PointToPoint = 28,
    /// One-sided.
    OneSided = 29,
}

/// What a collective does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is the MPI function of the same name")]
pub enum CollectiveOp {
    Barrier = 0,
    Bcast = 1,
    Gather = 2,
    Gatherv = 3,
    Scatter = 4,
    Scatterv = 5,
    Allgather = 6,
    Allgatherv = 7,
    Alltoall = 8,
    Alltoallv = 9,
    Alltoallw = 10,
    Allreduce = 11,
    Reduce = 12,
    ReduceScatter = 13,
    Scan = 14,
    Exscan = 15,
    ReduceScatterBlock = 16,
}

impl CollectiveOp {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::Barrier,
        Self::Bcast,
        Self::Gather,
        Self::Gatherv,
        Self::Scatter,
        Self::Scatterv,
        Self::Allgather,
        Self::Allgatherv,
        Self::Alltoall,
        Self::Alltoallv,
        Self::Alltoallw,
        Self::Allreduce,
        Self::Reduce,
        Self::ReduceScatter,
        Self::Scan,
        Self::Exscan,
        Self::ReduceScatterBlock,
    ];

    /// The one of a number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The blocking MPI function that does it.
    #[must_use]
    pub fn function(self) -> &'static str {
        match self {
            Self::Barrier => "MPI_Barrier",
            Self::Bcast => "MPI_Bcast",
            Self::Gather => "MPI_Gather",
            Self::Gatherv => "MPI_Gatherv",
            Self::Scatter => "MPI_Scatter",
            Self::Scatterv => "MPI_Scatterv",
            Self::Allgather => "MPI_Allgather",
            Self::Allgatherv => "MPI_Allgatherv",
            Self::Alltoall => "MPI_Alltoall",
            Self::Alltoallv => "MPI_Alltoallv",
            Self::Alltoallw => "MPI_Alltoallw",
            Self::Allreduce => "MPI_Allreduce",
            Self::Reduce => "MPI_Reduce",
            Self::ReduceScatter => "MPI_Reduce_scatter",
            Self::Scan => "MPI_Scan",
            Self::Exscan => "MPI_Exscan",
            Self::ReduceScatterBlock => "MPI_Reduce_scatter_block",
        }
    }
}

/// What the members of a group are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum GroupKind {
    /// Something else.
    Unknown = 0,
    /// Locations.
    Locations = 1,
    /// Regions.
    Regions = 2,
    /// Metrics.
    Metrics = 3,
    /// The locations of all that communicate by a paradigm, in order.
    CommLocations = 4,
    /// Places in that order.
    CommGroup = 5,
    /// The process itself.
    CommSelf = 6,
    /// The location groups of all that communicate by a paradigm, in order.
    CommLocationGroups = 7,
}

impl GroupKind {
    pub(crate) fn from_number(number: u8) -> Self {
        let all = [
            Self::Locations,
            Self::Regions,
            Self::Metrics,
            Self::CommLocations,
            Self::CommGroup,
            Self::CommSelf,
            Self::CommLocationGroups,
        ];
        all.into_iter().find(|kind| *kind as u8 == number).unwrap_or(Self::Unknown)
    }
}

pub(crate) const FILE_MODE_WRITE: u8 = 0;
pub(crate) const SUBSTRATE_POSIX: u8 = 1;
pub(crate) const COMPRESSION_NONE: u8 = 1;
pub(crate) const EVENT_CHUNK_BYTES: u64 = 1 << 20;
pub(crate) const DEFINITION_CHUNK_BYTES: u64 = 4 << 20;
pub(crate) const FLUSH: u8 = 1;
/// What is of MPI.
pub const PARADIGM_MPI: u8 = 4;
/// What is of the program itself: marked by hand, by the compiler, or found by sampling.
pub(crate) const PARADIGMS_OF_PROGRAMS: [u8; 3] = [1, 2, 21];
/// Functions, loops, and other marked code.
pub(crate) const ROLES_OF_FUNCTIONS: [u8; 3] = [1, 3, 4];
pub(crate) const PARADIGM_CLASS_PROCESS: u8 = 0;
pub(crate) const LOCATION_GROUP_PROCESS: u8 = 1;
pub(crate) const LOCATION_CPU_THREAD: u8 = 1;
pub(crate) const DOMAIN_MACHINE: u8 = 0;
pub(crate) const DOMAIN_SHARED_MEMORY: u8 = 1;
pub(crate) const TYPE_UINT64: u8 = 4;
pub(crate) const TYPE_STRING: u8 = 11;
pub(crate) const TYPE_SOURCE_CODE_LOCATION: u8 = 20;
pub(crate) const SUCCESS: i32 = 0;
pub(crate) const INTERRUPT: i32 = 1;
