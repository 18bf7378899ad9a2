//! The workers of a process, from their start to their end.

use crate::cluster::{Carriers, Cluster, connect};
use crate::error::FlowError;
use crate::gate::Gate;
use crate::peers::Peers;
use crate::remote::Remote;
use crate::settling::Role;
use crate::share::Share;
use crate::worker::{Left, Plan, fenced, work};
use crate::worker_figures::WorkerFigures;
use mpiscope_diagnosis::{Budgeter, Owners, Shard};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use timely::communication::WorkerGuards;
use timely::communication::allocator::AllocatorBuilder;
use timely::execute::execute_from;
use timely::{CommunicationConfig, WorkerConfig};

pub(crate) struct Crew {
    pub(crate) gate: Arc<Gate>,
    running: Mutex<Option<Running>>,
}

/// Threads, and the ways to those of other processes.
struct Running {
    guards: WorkerGuards<Option<Left>>,
    remotes: Vec<Arc<Remote>>,
    carriers: Carriers,
}

impl Crew {
    /// Starts the workers. Those of process 0 have `center`, to which all leads.
    pub(crate) fn start(
        share: &Share,
        center: Option<Budgeter>,
        cluster: Cluster,
        gate: Arc<Gate>,
    ) -> Result<Self, FlowError> {
        let threads = share.threads;
        let Cluster { number, peers: streams } = cluster;
        let owners = share.owners(streams.len())?;
        let (data, words): (Vec<_>, Vec<_>) =
            streams.into_iter().map(|streams| streams.map(|[data, words]| (data, words)).unzip()).unzip();
        let (builders, carriers) = communication(share, number, data)?;
        let (peers, remotes) = Peers::of_process((number, threads), words, owners.first.into(), &gate)
            .map_err(|error| FlowError::NoWorkers(error.to_string()))?;
        let plan = Plan {
            window_ns: share.budget.window_ns,
            counts_window_ns: share.counts_window_ns,
            owners,
            threads,
            first: number * threads,
            settling: Mutex::new(roles(peers, center, share, owners)),
            gate: Arc::clone(&gate),
        };
        let guards = execute_from(builders, Box::new(()), WorkerConfig::default(), move |worker| {
            fenced(worker, &plan.gate, |worker| work(worker, &plan))
        });
        let guards = guards.map_err(FlowError::NoWorkers)?;
        gate.workers(guards.guards().iter().map(|guard| guard.thread().clone()).collect());
        Ok(Self { gate, running: Mutex::new(Some(Running { guards, remotes, carriers })) })
    }

    /// Waits for the workers. Returns what all processes led to, at the center.
    pub(crate) fn finish(self) -> Result<Option<(Budgeter, WorkerFigures)>, FlowError> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { guards, remotes, carriers }) = running else { return Err(self.failure()) };
        let left: Option<Vec<Left>> = guards.join().into_iter().map(|left| left.ok().flatten()).collect();
        let Some(left) = left else {
            let failure = self.failure();
            remotes.iter().for_each(|remote| remote.say_failed(&failure));
            return Err(failure);
        };
        remotes.iter().for_each(|remote| remote.say_goodbye());
        drop(remotes);
        carriers.finish();
        Ok(left.into_iter().find_map(|left| left.0))
    }

    pub(crate) fn failure(&self) -> FlowError {
        self.gate.failure().unwrap_or_else(|| FlowError::Failed("a worker is gone".to_owned()))
    }
}

impl Drop for Crew {
    /// Nobody will ask: the workers leave everything as it is.
    fn drop(&mut self) {
        self.gate.abandon();
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { guards, .. }) = running {
            guards.join();
        }
    }
}

/// How the parts of the dataflow reach each other.
fn communication(
    share: &Share,
    number: usize,
    streams: Vec<Option<UnixStream>>,
) -> Result<(Vec<AllocatorBuilder>, Carriers), FlowError> {
    if streams.len() > 1 {
        return connect(number, share.threads, streams);
    }
    let within = match (share.threads, share.as_bytes) {
        (0 | 1, _) => CommunicationConfig::Thread,
        (threads, false) => CommunicationConfig::Process(threads),
        (threads, true) => CommunicationConfig::ProcessBinary(threads),
    };
    let (builders, _) = within.try_build().map_err(FlowError::NoWorkers)?;
    Ok((builders, Carriers::none()))
}

/// What each worker of the process settles with.
fn roles(
    peers: Vec<Peers>,
    mut center: Option<Budgeter>,
    share: &Share,
    owners: Owners,
) -> Vec<Option<(Role, Peers)>> {
    let role = |peers: Peers| {
        let number = peers.number() as u16;
        let role = match center.take().filter(|_| peers.is_center()) {
            Some(budgeter) => Role::Center(Box::new(budgeter.with_owners(owners))),
            None => Role::Other(Box::new(Shard::new(share.budget, owners, number))),
        };
        Some((role, peers))
    };
    peers.into_iter().map(role).collect()
}
