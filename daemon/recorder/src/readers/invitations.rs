//! The live analysis in the processes that read calls, as the daemon sees it: they join it on streams of their own. The recorder, which
//! has the readers, and the thread of the analysis, which needs them, tell each other here what they know.

use super::packets::Order;
use crate::hosts::{AnalysisHosts, Notices};
use crate::names::listed;
use anyhow::Result;
use mpiscope_flow::Cluster;
use mpiscope_link::{Mesh, Secret};
use mpiscope_verdict::Helpers;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long all of them may take to come, and one for its way.
const PATIENCE: Duration = Duration::from_secs(15);
const OWN_PATIENCE: Duration = Duration::from_secs(12);
/// How often one may be lost, beyond those whose processes are.
const MOST_LOSSES: usize = 2;
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Who reads calls.
#[derive(Clone, Default)]
enum Who {
    /// That is not decided.
    #[default]
    Unknown,
    /// Processes on these hosts, which know this secret.
    Readers(Vec<String>, Secret),
    /// Nobody but the daemon.
    Nobody,
}

#[derive(Default)]
struct State {
    who: Who,
    /// How often that has changed.
    changes: u64,
    /// How many ranks there are, once that is known.
    ranks: Option<u32>,
    generation: u64,
    /// For each reader, until the recorder takes them.
    orders: Option<Vec<Order>>,
}

/// What is known of readers, and what they are to join.
#[derive(Clone, Default)]
pub(crate) struct Invitations(Arc<Mutex<State>>);

impl Invitations {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, who: Who) {
        let mut state = self.state();
        (state.who, state.orders) = (who, None);
        state.changes += 1;
    }

    /// There are readers now, on these hosts; they know this secret.
    pub(crate) fn are_there(&self, hosts: Vec<String>, secret: Secret) {
        self.change(Who::Readers(hosts, secret));
    }

    /// There are none now, and others may come.
    pub(crate) fn are_gone(&self) {
        self.change(Who::Unknown);
    }

    /// There are none any more.
    pub(crate) fn are_none(&self) {
        self.change(Who::Nobody);
    }

    /// How many ranks the job has.
    pub(crate) fn tell_ranks(&self, ranks: u32) {
        self.state().ranks = Some(ranks);
    }

    /// What readers are to join, each its own.
    pub(crate) fn take_orders(&self) -> Option<Vec<Order>> {
        self.state().orders.take()
    }

    /// Waits until it is known who reads how many ranks. None where nobody does.
    fn wait(&self, goes_on: &dyn Fn() -> bool) -> Option<(Vec<String>, Secret, u64, u32)> {
        loop {
            {
                let state = self.state();
                match (&state.who, state.ranks) {
                    (Who::Nobody, _) => return None,
                    (Who::Readers(hosts, secret), Some(ranks)) => {
                        return Some((hosts.clone(), secret.clone(), state.changes, ranks));
                    }
                    _ => {}
                }
            }
            if !goes_on() {
                return None;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn changes(&self) -> u64 {
        self.state().changes
    }
}

/// The readers, as those who share the live analysis.
pub(crate) struct OnReaders {
    invitations: Invitations,
    how: AnalysisHosts,
    notices: Notices,
    mesh: Option<Mesh>,
    /// Whose shares were announced last.
    announced: Vec<String>,
    losses: usize,
}

impl OnReaders {
    pub(crate) fn new(invitations: Invitations, how: &AnalysisHosts, notices: Notices) -> Self {
        Self { invitations, how: how.clone(), notices, mesh: None, announced: Vec::new(), losses: 0 }
    }

    /// Invites this number of readers, and waits for them.
    fn attempt(
        &self,
        share: &[u8],
        (readers, secret): (usize, &Secret),
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Mesh> {
        let (meeting, certificate) = self.how.open(secret, readers)?;
        let addresses = self.how.addresses(&meeting);
        {
            let mut state = self.invitations.state();
            state.generation += 1;
            let generation = state.generation;
            let order = |number| Order {
                generation,
                share: share.to_vec(),
                addresses: addresses.clone(),
                certificate: certificate.as_ref().map(|certificate| certificate.public().to_owned()),
                number,
                patience: OWN_PATIENCE,
            };
            state.orders = Some((1..=readers).map(order).collect());
        }
        Ok(meeting.hold(share, PATIENCE, goes_on)?)
    }
}

impl Helpers for OnReaders {
    fn fed_ranks(&mut self, goes_on: &dyn Fn() -> bool) -> Option<u32> {
        self.invitations.wait(goes_on).map(|(.., ranks)| ranks)
    }

    fn gather(&mut self, share: &[u8], goes_on: &dyn Fn() -> bool) -> Option<Cluster> {
        self.mesh = None;
        if self.losses > MOST_LOSSES * (self.how.hosts.len() + 1) {
            self.dismissed("its processes are lost too often");
            return None;
        }
        loop {
            let (hosts, secret, changes, _) = self.invitations.wait(goes_on)?;
            let are_the_same = || self.invitations.changes() == changes;
            match self.attempt(share, (hosts.len(), &secret), &|| goes_on() && are_the_same()) {
                Ok(mut mesh) => {
                    let (number, peers) = (mesh.number, std::mem::take(&mut mesh.peers));
                    self.mesh = Some(mesh);
                    if self.announced != hosts {
                        say!("the live analysis is shared with {}", listed(&hosts));
                        self.announced = hosts;
                    }
                    return Some(Cluster { number, peers });
                }
                Err(_) if !goes_on() => return None,
                // With those that are there now.
                Err(_) if !are_the_same() => {}
                Err(error) => {
                    self.notices.add(format!("the live analysis is not shared: {error:#}"));
                    return None;
                }
            }
        }
    }

    fn lost(&mut self, _number: usize) {
        self.losses += 1;
        // Whoever comes next is news.
        self.announced.clear();
    }

    fn dismissed(&mut self, why: &str) {
        self.notices.add(format!("the live analysis is no longer shared: {why}"));
    }
}
