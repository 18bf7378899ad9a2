//! A reader's share of the live analysis: it feeds the calls that it reads, and analyses those of its ranks.

use super::packets::{Feeding, Order};
use anyhow::{Context as _, Result};
use mpiscope_flow::{Cluster, Feeder, work_on_share};
use mpiscope_link::{MemberOptions, Secret, join};
use mpiscope_model::{Activity, Batch, Nanoseconds, Rank};
use rustc_hash::FxHashSet;

/// Behind everything else of its host, as in the daemon.
const LOW_PRIORITY: i32 = 10;

/// The analysis that it was last invited to.
pub(super) struct Analysing {
    generation: u64,
    /// None once something is missing: what comes behind that is of no use.
    feeder: Option<Feeder>,
    /// Whether it has fed anything.
    has_begun: bool,
    /// After calls were left out: threads that were heard since.
    heard: Option<FxHashSet<(Rank, u16)>>,
}

impl Analysing {
    /// Joins an analysis, on a thread of its own.
    ///
    /// # Errors
    /// When the share cannot be read, or the system has no thread left.
    pub(super) fn begin(order: Order, secret: Secret) -> Result<Self> {
        let Order { generation, share, addresses, certificate, number, patience } = order;
        let feeder = Feeder::new(&share)?;
        let of_thread = feeder.clone();
        let options = MemberOptions { addresses, secret, certificate, number, patience };
        let work = move || {
            // Inherited by the workers.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOW_PRIORITY);
            // Whoever has invited it notices that it does not come, or is gone.
            if let Ok((mut mesh, share)) = join(options) {
                let cluster = Cluster { number: mesh.number, peers: std::mem::take(&mut mesh.peers) };
                let _ = work_on_share(&share, cluster, Some(of_thread));
            }
        };
        std::thread::Builder::new().name("analysis".into()).spawn(work).context("join the live analysis")?;
        Ok(Self { generation, feeder: Some(feeder), has_begun: false, heard: None })
    }

    /// Feeds what became known, behind what did until then; says whether that is of use. It is not where the analysis is another
    /// one, or lacks something.
    pub(super) fn feed(&mut self, given: Option<(Feeding, Batch)>, before_ns: Nanoseconds) -> bool {
        let given = given.filter(|(feeding, _)| feeding.generation == self.generation);
        let Some((Feeding { is_anew, .. }, mut batch)) = given else {
            if self.has_begun {
                self.close();
            }
            return false;
        };
        let Some(feeder) = &self.feeder else { return false };
        let mut all = Vec::new();
        if !std::mem::replace(&mut self.has_begun, true) {
            self.heard = is_anew.then(FxHashSet::default);
            all.push(Batch { until_ns: before_ns, ..Batch::default() });
        }
        if let Some(heard) = &mut self.heard {
            let is_new = |call: &&mut Activity| heard.insert((call.rank, call.call.thread()));
            batch.activities.iter_mut().filter(is_new).for_each(|call| call.after_loss = true);
        }
        all.push(batch);
        let is_taken = all.into_iter().all(|batch| feeder.try_feed(batch).is_ok());
        if !is_taken {
            self.close();
        }
        is_taken
    }

    /// Nothing more comes: nobody waits for it.
    fn close(&mut self) {
        if let Some(feeder) = self.feeder.take() {
            feeder.close();
        }
    }
}

impl Drop for Analysing {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_flow::FlowOptions;
    use mpiscope_model::{CallId, Effect};
    use std::time::Duration;

    fn batch(number: u64) -> Batch {
        let call = Activity {
            rank: Rank(3),
            call: CallId::new(0, number),
            function: 1,
            start_ns: number,
            end_ns: number + 1,
            since_ns: number,
            effect: Effect::Other,
            site: None,
            after_loss: false,
        };
        Batch { activities: vec![call], until_ns: number + 1, ..Batch::default() }
    }

    fn analysing() -> Analysing {
        let order = Order {
            generation: 5,
            share: FlowOptions { most_calls: 1, ..FlowOptions::default() }.for_others(),
            addresses: Vec::new(),
            certificate: None,
            number: 1,
            patience: Duration::ZERO,
        };
        Analysing::begin(order, Secret::draw().unwrap()).unwrap()
    }

    #[test]
    fn what_has_a_gap_is_not_fed_any_further() {
        let given = |generation, at| Some((Feeding { generation, is_anew: false }, batch(at)));
        let mut analysing = analysing();
        assert!(!analysing.feed(given(4, 0), 0), "of an earlier one");
        assert!(analysing.feed(given(5, 1), 1) && analysing.feed(given(5, 2), 2));
        assert!(!analysing.feed(None, 3) && !analysing.feed(given(5, 4), 4));
    }

    #[test]
    fn there_is_no_room_for_more_than_may_wait() {
        let feeding = Feeding { generation: 5, is_anew: true };
        let mut analysing = analysing();
        let window_ns = FlowOptions::default().budget.window_ns;
        let all: Vec<bool> =
            (1..20).map(|at| analysing.feed(Some((feeding, batch(at * 2 * window_ns))), 0)).collect();
        let taken = all.iter().filter(|is_taken| **is_taken).count();
        assert!(taken > 0 && taken < all.len(), "nobody analyses: {all:?}");
        assert!(all.is_sorted_by(|one, other| one >= other), "behind a gap: {all:?}");
    }
}
