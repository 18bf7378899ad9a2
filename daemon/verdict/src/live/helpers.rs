//! The other processes of the live analysis. How they are started and reached is for whoever brings them.

use mpiscope_flow::{Cluster, Flow, FlowError, FlowOptions};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Brings other processes.
pub trait Helpers: Send {
    /// Where they feed the calls of ranks that they read: of how many ranks, once that is known. None where all calls come from this
    /// process, or nobody is left who reads any. `goes_on` is as in [`Helpers::gather`].
    fn fed_ranks(&mut self, goes_on: &dyn Fn() -> bool) -> Option<u32> {
        let _ = goes_on;
        None
    }

    /// Starts them, gives each its share, and connects all, those of an earlier analysis being over. None where this process goes on
    /// alone. `goes_on` says whether that is still worth waiting for.
    fn gather(&mut self, share: &[u8], goes_on: &dyn Fn() -> bool) -> Option<Cluster>;

    /// The one of this number is gone.
    fn lost(&mut self, number: usize);

    /// They are not brought together any more, for this reason.
    fn dismissed(&mut self, why: &str);
}

/// How it stands with them, for the thread that analyses and for those who give it calls.
#[derive(Default)]
pub(super) struct Gathering {
    is_going_on: AtomicBool,
    /// Whether those that there are now feed.
    are_feeding: AtomicBool,
    /// How often one was lost: each time, all begins again.
    losses: AtomicU64,
    /// How many flows were started.
    flows: AtomicU64,
    /// Nobody waits for them any more.
    is_ending: AtomicBool,
}

impl Gathering {
    pub(super) fn is_going_on(&self) -> bool {
        self.is_going_on.load(Ordering::Acquire)
    }

    pub(super) fn losses(&self) -> u64 {
        self.losses.load(Ordering::Acquire)
    }

    pub(super) fn are_feeding(&self) -> bool {
        self.are_feeding.load(Ordering::Acquire)
    }

    /// The number of the flow that was started last.
    pub(super) fn flow(&self) -> u64 {
        self.flows.load(Ordering::Acquire)
    }

    /// They are there, or do not come.
    pub(super) fn settle(&self) {
        self.is_going_on.store(false, Ordering::Release);
    }

    /// They are expected, from now on.
    pub(super) fn expect(&self) {
        self.is_going_on.store(true, Ordering::Release);
    }

    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
    }
}

/// How often they are brought together because an analysis begins anew, though none was lost: it takes seconds.
const MOST_AGAIN: u32 = 8;

/// Starts the flow of an analysis, over helpers if it has any.
pub(super) struct FlowStarter {
    helpers: Option<Box<dyn Helpers>>,
    again: u32,
}

impl FlowStarter {
    pub(super) fn new(helpers: Option<Box<dyn Helpers>>) -> Self {
        Self { helpers, again: 0 }
    }

    pub(super) fn is_alone(&self) -> bool {
        self.helpers.is_none()
    }

    /// A flow over all that can be had.
    pub(super) fn start(&mut self, options: &FlowOptions, gathering: &Gathering) -> Result<Flow, FlowError> {
        let (flow, are_feeding) = match self.gather(options, gathering) {
            Some((options, cluster)) => {
                (Flow::start_over(&options, cluster), options.fed_by_others.is_some())
            }
            None => (Flow::start(options), false),
        };
        gathering.are_feeding.store(are_feeding, Ordering::Release);
        gathering.flows.fetch_add(1, Ordering::AcqRel);
        gathering.settle();
        flow
    }

    fn gather(&mut self, options: &FlowOptions, gathering: &Gathering) -> Option<(FlowOptions, Cluster)> {
        let helpers = self.helpers.as_mut()?;
        gathering.expect();
        let goes_on = || !gathering.is_ending.load(Ordering::Acquire);
        let options = FlowOptions { fed_by_others: helpers.fed_ranks(&goes_on), ..options.clone() };
        let cluster = if goes_on() { helpers.gather(&options.for_others(), &goes_on) } else { None };
        if cluster.is_none() {
            self.helpers = None;
        }
        Some((options, cluster?))
    }

    /// The analysis begins anew, and none of them was lost.
    pub(super) fn begin_anew(&mut self) {
        self.again += 1;
        if self.again > MOST_AGAIN
            && let Some(mut helpers) = self.helpers.take()
        {
            helpers.dismissed("it began anew too often");
        }
    }

    /// The one of this number is gone, or what it was given was of no use. All begins again.
    pub(super) fn lost(&mut self, number: Option<usize>, gathering: &Gathering) {
        gathering.expect();
        gathering.losses.fetch_add(1, Ordering::AcqRel);
        if let (Some(helpers), Some(number)) = (&mut self.helpers, number) {
            helpers.lost(number);
        }
    }
}
