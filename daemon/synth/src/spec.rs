//! What is to be simulated.

use crate::disturbance::Disturbance;
use crate::error::Error;
use crate::pattern::Pattern;
use crate::placement::Placement;
use crate::style::Style;

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Who talks to whom.
    pub pattern: Pattern,
    /// Ranks.
    pub ranks: u32,
    /// Nodes they run on.
    pub nodes: u32,
    /// How long the job takes without disturbances. It sets the number of steps, which disturbances do not change.
    pub seconds: f64,
    /// Rows of calls a second over all ranks, without disturbances. It sets how much there is to compute in a step.
    pub rate: f64,
    /// Where all randomness comes from.
    pub seed: u64,
    /// What goes wrong.
    pub disturb: Vec<Disturbance>,
    /// How messages are waited for.
    pub style: Style,
    /// Where ranks run. Its cost is no disturbance; [`Disturbance::WorsePlacement`] is one.
    pub placement: Placement,
    /// How much messages carry.
    pub sizes: Sizes,
    /// How transmission times vary.
    pub noise: Noise,
    /// How the times of computing vary: the standard deviation of their logarithm.
    pub work_sigma: f64,
    /// Collectives over everyone; a job of masters and workers has none.
    pub collectives: Option<Collectives>,
    /// What a message costs. None is a network so slow that messages take some fifth of a step.
    pub network: Option<Network>,
    /// Messages to other nodes leave a rank one after the other, each when the bytes of the one before have left. Without
    /// this, where each rank has to wait for one message from another node, a second such message costs nothing.
    pub serial_port: bool,
    /// Blocking sends and nonblocking ones of more bytes wait for their receive.
    pub eager_limit_bytes: u64,
    /// Whether each node has an agent of its own even where all clocks show the same.
    pub has_agent_per_node: bool,
}

impl Spec {
    /// A job with nothing special about it: on nodes of eight ranks, with an `MPI_Allreduce` every ten steps.
    #[must_use]
    pub fn new(pattern: Pattern, ranks: u32, seconds: f64, rate: f64) -> Self {
        Self {
            pattern,
            ranks,
            nodes: ranks.div_ceil(8).max(1),
            seconds,
            rate,
            seed: 1,
            disturb: Vec::new(),
            style: Style::Waitall,
            placement: Placement::Block,
            sizes: Sizes { min_bytes: 1 << 10, max_bytes: 8 << 10 },
            noise: Noise::LogNormal { sigma: 0.05 },
            work_sigma: 0.01,
            collectives: Some(Collectives { every: 10, kinds: vec![Collective::Allreduce], bytes: 8 }),
            network: None,
            serial_port: false,
            eager_limit_bytes: 64 << 10,
            has_agent_per_node: false,
        }
    }

    /// Says what makes no sense.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let range = |what, needed, given: String| Err(Error::Range { what, needed, given });
        let positive = |number: f64| number.is_finite() && number > 0.0;
        self.pattern.check(self.ranks)?;
        if !(1..=self.ranks).contains(&self.nodes) {
            return Err(Error::Nodes { ranks: self.ranks, nodes: self.nodes });
        }
        if !positive(self.seconds) {
            return range("the length of the run", "more than 0 seconds", self.seconds.to_string());
        }
        if !positive(self.rate) {
            return range("the rate", "more than 0 calls a second", self.rate.to_string());
        }
        if self.sizes.min_bytes > self.sizes.max_bytes || self.sizes.max_bytes > MOST_BYTES {
            let given = format!("{} to {} bytes", self.sizes.min_bytes, self.sizes.max_bytes);
            return range("the size of messages", "a range up to 1 GiB", given);
        }
        if !(0.0..=3.0).contains(&self.work_sigma) {
            return range("the spread of computing", "from 0 to 3", self.work_sigma.to_string());
        }
        if !(0.0..=3.0).contains(&self.noise.sigma()) {
            return range("the spread of transmission times", "from 0 to 3", self.noise.sigma().to_string());
        }
        if let Noise::HeavyTailed { share, exponent, .. } = self.noise
            && !((0.0..=1.0).contains(&share) && exponent >= 0.5)
        {
            let given = format!("{share} and {exponent}");
            return range("a heavy tail", "a share from 0 to 1 with an exponent from 0.5", given);
        }
        if self.collectives.as_ref().is_some_and(|all| all.every == 0 || all.kinds.is_empty()) {
            return range("collectives", "some kind every N steps", "none or every 0 steps".into());
        }
        if let Some(network) = &self.network
            && !network.costs().iter().all(|cost| (0.0..1e9).contains(cost))
        {
            return range("a cost of the network", "from 0 to a second", format!("{network:?}"));
        }
        self.disturb.iter().try_for_each(Disturbance::check)
    }
}

const MOST_BYTES: u64 = 1 << 30;

/// Sizes of messages, evenly spread in their logarithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The least.
    pub min_bytes: u64,
    /// The most.
    pub max_bytes: u64,
}

/// How much transmission times vary. The median factor is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Not at all.
    None,
    /// Log-normally.
    LogNormal {
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
    /// Log-normally, and some messages take many times as long.
    HeavyTailed {
        /// The standard deviation of the logarithm.
        sigma: f64,
        /// How many messages are in the tail.
        share: f64,
        /// The exponent of the tail (Pareto): the smaller, the heavier.
        exponent: f64,
    },
}

impl Noise {
    pub(crate) fn sigma(self) -> f64 {
        match self {
            Noise::None => 0.0,
            Noise::LogNormal { sigma } | Noise::HeavyTailed { sigma, .. } => sigma,
        }
    }
}

/// A collective over everyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Collective {
    /// `MPI_Barrier`.
    Barrier,
    /// `MPI_Allreduce`.
    Allreduce,
    /// `MPI_Alltoall`.
    Alltoall,
    /// `MPI_Bcast` from rank 0.
    Bcast,
    /// `MPI_Reduce` to rank 0.
    Reduce,
}

/// When there are collectives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collectives {
    /// One every N steps.
    pub every: u32,
    /// Which, in turn.
    pub kinds: Vec<Collective>,
    /// What each rank hands over (to each other, in `MPI_Alltoall`).
    pub bytes: u32,
}

/// What a message costs without noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// An empty message within a node.
    pub intra_base_ns: f64,
    /// Each byte of it.
    pub intra_byte_ns: f64,
    /// An empty message between nodes.
    pub inter_base_ns: f64,
    /// Each byte of it.
    pub inter_byte_ns: f64,
}

impl Network {
    fn costs(&self) -> [f64; 4] {
        [self.intra_base_ns, self.intra_byte_ns, self.inter_base_ns, self.inter_byte_ns]
    }
}
