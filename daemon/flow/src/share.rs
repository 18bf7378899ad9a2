//! What each process of a flow has to know of its share.

use crate::error::FlowError;
use crate::frames::{from_bytes, to_bytes};
use crate::gate::Gate;
use crate::options::FlowOptions;
use mpiscope_diagnosis::{BudgetOptions, Neighbours, Owners};
use mpiscope_model::numbers;

/// How many times as many calls as in the center's process may wait in another one.
const ROOM_OF_OTHERS: usize = 4;

/// The same for all processes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// Workers of each process.
    pub(crate) threads: usize,
    pub(crate) neighbours: u32,
    pub(crate) fed_by_others: Option<u32>,
    pub(crate) budget: BudgetOptions,
    pub(crate) counts_window_ns: Option<u64>,
    /// What each process that feeds has room for.
    pub(crate) most_calls: usize,
    pub(crate) as_bytes: bool,
}

numbers! { Share { threads, neighbours, fed_by_others, budget, counts_window_ns, most_calls, as_bytes } }

impl Share {
    pub(crate) fn new(options: &FlowOptions) -> Self {
        let window_ns = options.budget.window_ns.max(1);
        Self {
            threads: options.workers.clamp(1, usize::from(u16::MAX)),
            neighbours: options.neighbours.max(1),
            fed_by_others: options.fed_by_others,
            budget: BudgetOptions { window_ns, ..options.budget },
            counts_window_ns: options.counts_window_ns,
            // More than the center's: that one is full first, and says so.
            most_calls: options.most_calls.saturating_mul(ROOM_OF_OTHERS),
            as_bytes: options.as_bytes,
        }
    }

    /// Which worker has which ranks, of this number of processes.
    pub(crate) fn owners(&self, processes: usize) -> Result<Owners, FlowError> {
        let Self { threads, neighbours, fed_by_others, .. } = *self;
        let of_processes = |processes| u16::try_from(threads * processes);
        let (Ok(shards), Ok(of_center)) = (of_processes(processes), of_processes(1)) else {
            return Err(FlowError::NoWorkers(format!(
                "{threads} in each of {processes} processes are too many"
            )));
        };
        Ok(match fed_by_others.filter(|_| processes > 1) {
            Some(ranks) => Owners { shards, first: of_center, neighbours: Neighbours::All(ranks) },
            None => Owners { shards, first: 0, neighbours: Neighbours::Blocks(neighbours) },
        })
    }

    /// What the center's process has made for this one.
    pub(crate) fn of_another(bytes: &[u8]) -> Result<Self, FlowError> {
        let share = from_bytes(bytes);
        share.ok_or_else(|| FlowError::Failed("the center's process has another version".to_owned()))
    }

    pub(crate) fn gate(&self) -> Gate {
        Gate::new(self.budget.window_ns, self.most_calls)
    }
}

impl FlowOptions {
    /// What other processes have to know to work on a share of the flow.
    #[must_use]
    pub fn for_others(&self) -> Vec<u8> {
        to_bytes(&Share::new(self))
    }
}
