//! The other processes of the live analysis. How they are started and reached is for whoever brings them.

use mpiscope_flow::{Cluster, Flow, FlowError, FlowOptions};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Brings other processes.
pub trait Helpers: Send {
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
    /// How often one was lost: each time, all begins again.
    losses: AtomicU64,
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
        let flow = match self.gather(options, gathering) {
            Some(cluster) => Flow::start_over(options, cluster),
            None => Flow::start(options),
        };
        gathering.is_going_on.store(false, Ordering::Release);
        flow
    }

    fn gather(&mut self, options: &FlowOptions, gathering: &Gathering) -> Option<Cluster> {
        let helpers = self.helpers.as_mut()?;
        let goes_on = || !gathering.is_ending.load(Ordering::Acquire);
        let cluster = if goes_on() { helpers.gather(&options.for_others(), &goes_on) } else { None };
        if cluster.is_none() {
            self.helpers = None;
        }
        cluster
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

    pub(super) fn lost(&mut self, number: usize, gathering: &Gathering) {
        gathering.expect();
        gathering.losses.fetch_add(1, Ordering::AcqRel);
        if let Some(helpers) = &mut self.helpers {
            helpers.lost(number);
        }
    }
}
