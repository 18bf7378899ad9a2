//! What each process of a flow is told of its share, and its work on it.

use crate::cluster::Cluster;
use crate::crew::Crew;
use crate::error::FlowError;
use crate::frames::{from_bytes, to_bytes};
use crate::options::FlowOptions;
use mpiscope_diagnosis::BudgetOptions;
use mpiscope_model::numbers;

/// The same for all processes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// Workers of each process.
    pub(crate) threads: usize,
    pub(crate) neighbours: u32,
    pub(crate) budget: BudgetOptions,
    pub(crate) counts_window_ns: Option<u64>,
    pub(crate) as_bytes: bool,
}

numbers! { Share { threads, neighbours, budget, counts_window_ns, as_bytes } }

impl Share {
    pub(crate) fn new(options: &FlowOptions) -> Self {
        let window_ns = options.budget.window_ns.max(1);
        Self {
            threads: options.workers.clamp(1, usize::from(u16::MAX)),
            neighbours: options.neighbours.max(1),
            budget: BudgetOptions { window_ns, ..options.budget },
            counts_window_ns: options.counts_window_ns,
            as_bytes: options.as_bytes,
        }
    }
}

impl FlowOptions {
    /// What other processes have to know to work on a share of the flow.
    #[must_use]
    pub fn for_others(&self) -> Vec<u8> {
        to_bytes(&Share::new(self))
    }
}

/// Works on the share of a flow of another process, until that ends. `share` is what [`FlowOptions::for_others`] has there.
///
/// # Errors
/// When any process fails or is gone, when the flow was given up, and when the share cannot be read.
pub fn work_on_share(share: &[u8], cluster: Cluster) -> Result<(), FlowError> {
    let share: Share = from_bytes(share)
        .ok_or_else(|| FlowError::Failed("the center's process has another version".to_owned()))?;
    Crew::start(&share, None, cluster, 0)?.finish().map(|_| ())
}
