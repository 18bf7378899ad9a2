//! Figures that every rank has, by name.

/// A figure of each rank, of a range of the run or of all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RankMetric {
    /// Time in MPI calls, or in those of one function.
    MpiTime,
    /// Time in no MPI call, up to the end of its last one where it makes no more.
    OutsideMpi,
    /// Time after its last MPI call, where it makes no more.
    Finished,
    /// Time outside MPI, divided by the mean of all ranks.
    Load,
    /// Calls, or those of one function.
    Calls,
    /// Messages it sent or received.
    Messages,
    /// Messages it sent.
    Sent,
    /// Messages it received.
    Received,
    /// Payload it sent.
    BytesSent,
    /// Payload it received.
    BytesReceived,
    /// Mean latency L of the messages it received.
    Latency,
    /// Messages it received later than usual.
    Delayed,
    /// Time it waited for sends to begin.
    LateSender,
    /// Time in which it waited for other ranks.
    Waiting,
    /// Of that, for ranks that computed.
    WaitingCompute,
    /// Of that, while those ranks waited for a CPU.
    WaitingCpu,
    /// For messages, within their expected transfer time.
    WaitingBase,
    /// For the inter-node cost of messages.
    WaitingDistance,
    /// For messages, beyond their expected transfer time.
    WaitingExcess,
    /// For collectives that others were in.
    WaitingOperation,
    /// Time that a better placement avoids.
    Placement,
    /// Time that an even load avoids.
    Imbalance,
    /// Time that a quiet network avoids.
    Network,
    /// Time that a CPU for each rank avoids.
    CpuContention,
    /// Time it was ready to run and had no CPU.
    CpuWait,
    /// Times its CPU went to another thread.
    Preemptions,
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Calls, or what is counted of them all the time.
    Calls,
    /// Messages.
    Messages,
    /// What was diagnosed, window by window.
    Diagnosed,
    /// The scheduler's figures of the whole run.
    Scheduler,
}

const ALL: [(RankMetric, &str); 26] = [
    (RankMetric::MpiTime, "mpi_time"),
    (RankMetric::OutsideMpi, "outside_mpi"),
    (RankMetric::Finished, "finished"),
    (RankMetric::Load, "load"),
    (RankMetric::Calls, "calls"),
    (RankMetric::Messages, "messages"),
    (RankMetric::Sent, "sent"),
    (RankMetric::Received, "received"),
    (RankMetric::BytesSent, "bytes_sent"),
    (RankMetric::BytesReceived, "bytes_received"),
    (RankMetric::Latency, "latency"),
    (RankMetric::Delayed, "delayed"),
    (RankMetric::LateSender, "late_sender"),
    (RankMetric::Waiting, "waiting"),
    (RankMetric::WaitingCompute, "waiting_compute"),
    (RankMetric::WaitingCpu, "waiting_cpu"),
    (RankMetric::WaitingBase, "waiting_base"),
    (RankMetric::WaitingDistance, "waiting_distance"),
    (RankMetric::WaitingExcess, "waiting_excess"),
    (RankMetric::WaitingOperation, "waiting_operation"),
    (RankMetric::Placement, "mapping"),
    (RankMetric::Imbalance, "pattern"),
    (RankMetric::Network, "background"),
    (RankMetric::CpuContention, "cpu"),
    (RankMetric::CpuWait, "cpu_wait"),
    (RankMetric::Preemptions, "preemptions"),
];

impl RankMetric {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter().map(|(metric, _)| metric)
    }

    /// The metric with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|(_, other)| *other == name).map(|(metric, _)| metric)
    }

    /// Its name in messages; those of causes are the causes' names.
    #[must_use]
    pub fn name(self) -> &'static str {
        ALL.into_iter().find(|(metric, _)| *metric == self).map_or("", |(_, name)| name)
    }

    pub(crate) fn origin(self) -> Origin {
        match self {
            Self::MpiTime | Self::OutsideMpi | Self::Finished | Self::Load | Self::Calls => Origin::Calls,
            Self::Messages
            | Self::Sent
            | Self::Received
            | Self::BytesSent
            | Self::BytesReceived
            | Self::Latency
            | Self::Delayed
            | Self::LateSender => Origin::Messages,
            Self::Waiting
            | Self::WaitingCompute
            | Self::WaitingCpu
            | Self::WaitingBase
            | Self::WaitingDistance
            | Self::WaitingExcess
            | Self::WaitingOperation
            | Self::Placement
            | Self::Imbalance
            | Self::Network
            | Self::CpuContention => Origin::Diagnosed,
            Self::CpuWait | Self::Preemptions => Origin::Scheduler,
        }
    }
}
