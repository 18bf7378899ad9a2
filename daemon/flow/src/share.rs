//! What each process of a flow has to know of its share.

use crate::frames::to_bytes;
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
