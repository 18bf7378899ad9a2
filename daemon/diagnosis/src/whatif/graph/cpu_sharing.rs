//! How long ranks that share CPUs wait for one, by how many of them are ready to run.

/// Ranks that wait for less, for each second on a CPU, do not share CPUs.
const LEAST_WAIT: f64 = 0.02;
/// A stopped rank waits for no CPU: where ranks were stopped for this share of the time, nothing is known.
const MOST_STOPPED: f64 = 0.01;

/// Times of all ranks of a node in a slice of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) calls_ns: f64,
    /// Computing, without waiting for a CPU.
    pub(crate) computing_ns: f64,
    /// Waiting for a CPU while computing.
    pub(crate) delays_ns: f64,
}

impl Times {
    pub(crate) fn add(&mut self, other: Self) {
        self.calls_ns += other.calls_ns;
        self.computing_ns += other.computing_ns;
        self.delays_ns += other.delays_ns;
    }

    fn sum_ns(&self) -> f64 {
        self.calls_ns + self.computing_ns + self.delays_ns
    }
}

/// What the scheduler says of all ranks of a node in a slice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scheduled {
    pub(crate) ready_ns: f64,
    pub(crate) stopped_ns: f64,
}

/// A node in a slice of the recorded run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared {
    ranks: usize,
    cpus: f64,
    /// The shares of calls and of computing in which ranks are ready to run.
    calls: f64,
    computing: f64,
    /// How long they wait for each second on a CPU, by how many are ready.
    waited: f64,
}

impl Shared {
    /// Nothing where the ranks of the node do not wait for each other's CPUs.
    pub(crate) fn new((ranks, cpus): (usize, f64), scheduled: Scheduled, recorded: Times) -> Option<Self> {
        if ranks as f64 <= cpus || scheduled.stopped_ns > MOST_STOPPED * recorded.sum_ns() {
            return None;
        }
        let share = |ns: f64, of_ns: f64| if of_ns > 0.0 { (ns / of_ns).clamp(0.0, 1.0) } else { 0.0 };
        // MPI polls in calls, so they are ready first.
        let undelayed_ns = (scheduled.ready_ns - recorded.delays_ns).max(0.0);
        let calls = share(undelayed_ns, recorded.calls_ns);
        let computing = share(undelayed_ns - recorded.calls_ns, recorded.computing_ns);
        let mut shared = Self { ranks, cpus, calls, computing, waited: 0.0 };
        shared.waited = shared.waits_with(recorded);
        (shared.waited >= LEAST_WAIT).then_some(shared)
    }

    /// How long ranks wait for each second on a CPU with these times.
    fn waits_with(&self, times: Times) -> f64 {
        let ready_ns = self.calls * times.calls_ns + self.computing * times.computing_ns + times.delays_ns;
        let ready = self.ranks as f64 * ready_ns / times.sum_ns().max(1.0);
        let waiting = waiting((self.ranks, self.cpus), ready);
        if waiting > 0.0 { waiting / (ready - waiting) } else { 0.0 }
    }
}

/// How many of these ranks wait for one of the CPUs on average, if `ready` of them are ready, each independently of the others.
fn waiting((ranks, cpus): (usize, f64), ready: f64) -> f64 {
    let share = ready / ranks as f64;
    if share >= 1.0 {
        return (ranks as f64 - cpus).max(0.0);
    }
    // By logarithms: with many ranks, it is very improbable that none is ready.
    let odds = (share / (1.0 - share)).ln();
    let mut probability = ranks as f64 * (1.0 - share).ln();
    let mut waiting = 0.0;
    for count in 1..=ranks {
        probability += ((ranks - count + 1) as f64 / count as f64).ln() + odds;
        waiting += probability.exp() * (count as f64 - cpus).max(0.0);
    }
    waiting
}

/// Nodes whose ranks share CPUs, by slice of the run.
#[derive(Debug)]
pub(crate) struct CpuSharing {
    /// By call, the number of the slice and node that it and the computing before it count to.
    pub(crate) slice_of: Vec<u32>,
    /// By this number.
    pub(crate) slices: Vec<Option<Shared>>,
    /// By rank, the number of its node.
    pub(crate) node_of: Vec<usize>,
    pub(crate) nodes: usize,
}

impl CpuSharing {
    /// How many slices of nodes there are.
    pub(crate) fn count(&self) -> usize {
        self.slices.len()
    }

    /// The number of the slice and node of a call.
    pub(crate) fn slice_of(&self, call: usize) -> usize {
        self.slice_of[call] as usize
    }

    /// By slice and node, the share of the recorded waiting for a CPU that is left with these times.
    pub(crate) fn left(&self, times: &[Times]) -> Vec<f64> {
        let left = |(shared, times): (&Option<Shared>, &Times)| {
            shared.map_or(1.0, |shared| (shared.waits_with(*times) / shared.waited).min(1.0))
        };
        self.slices.iter().zip(times).map(left).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By all sets of ranks that may be ready.
    fn waiting_by_sets(ranks: u32, cpus: f64, ready: f64) -> f64 {
        let share = ready / f64::from(ranks);
        let of_set = |set: u32| {
            let count = set.count_ones() as i32;
            let probability = share.powi(count) * (1.0 - share).powi(ranks as i32 - count);
            probability * (f64::from(count) - cpus).max(0.0)
        };
        (0..1_u32 << ranks).map(of_set).sum()
    }

    #[test]
    fn as_many_wait_as_over_all_sets_of_ready_ranks() {
        for (ranks, cpus) in [(1, 0.5), (3, 1.0), (8, 2.0), (12, 7.5), (16, 2.0)] {
            for ready in [0.01, 0.4, 0.9, 0.999].map(|share| share * f64::from(ranks)) {
                let (found, wanted) =
                    (waiting((ranks as usize, cpus), ready), waiting_by_sets(ranks, cpus, ready));
                assert!((found - wanted).abs() < 1e-9, "{ranks} {cpus} {ready}: {found}, not {wanted}");
            }
        }
        assert_eq!(waiting((4, 1.0), 4.0), 3.0);
        assert_eq!(waiting((4, 1.0), 0.0), 0.0);
        let many = waiting((4_096, 64.0), 4_000.0);
        assert!((many - 3_936.0).abs() < 1e-6, "{many}");
    }

    #[test]
    fn waiting_grows_with_the_queue_and_not_with_the_share_that_waits() {
        let times = |ready: f64| Times { calls_ns: ready, computing_ns: 32.0 - ready, ..Times::default() };
        let scheduled = Scheduled { ready_ns: 20.0, ..Scheduled::default() };
        let shared = Shared::new((32, 2.0), scheduled, times(20.0)).unwrap();
        // 18 wait for the turns of two; then, on average, 6 do.
        assert!((shared.waited - 9.0).abs() < 0.01, "{shared:?}");
        assert!((shared.waits_with(times(8.0)) - 3.0).abs() < 0.05, "{shared:?}");
    }
}
