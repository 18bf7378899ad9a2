//! What is found when a running job is looked at, and what is arranged on such occasions: which criteria are held against
//! its own, and which placement would be better.

use crate::advice;
use crate::diagnosis::diagnosis;
use crate::evolution::evolution;
use crate::live_findings::LiveFindings;
use crate::recorded_time::RecordedTime;
use crate::reference_criteria;
use crate::regions;
use crate::replayed::Replayed;
use crossbeam_channel::{Receiver, TryRecvError, bounded};
use mpiscope_diagnosis::{Budgeter, Reference};
use mpiscope_model::{Batch, Nanoseconds};
use mpiscope_topology::{Advice, Follower, Tracker, talk_graph};

/// There is no verdict before this much is diagnosed: expected transfer times are not known yet.
const FIRST_NS: u64 = 2_000_000_000;
/// From this number of messages on a better placement is looked for, and again whenever there are twice as many.
const ENOUGH_MESSAGES: u64 = 1_000;

#[derive(Default)]
pub(super) struct Outlook {
    seen: RecordedTime,
    left_out_calls: u64,
    ranks: u32,
    library: String,
    /// Criteria that the run was given.
    given: Reference,
    is_referenced: bool,
    /// New criteria, until somebody takes them; none if they did not change.
    new_reference: Option<Reference>,
    /// Up to where the diagnosis was when it last looked.
    looked_ns: Nanoseconds,
    /// For how many messages a placement was last asked for, and who is being asked.
    advised_messages: u64,
    asked: Option<Receiver<Option<Advice>>>,
    neighbourhoods: Neighbourhoods,
}

/// Regions as they are known, which are found by a thread apart: with many ranks that takes seconds.
#[derive(Default)]
struct Neighbourhoods {
    /// None while it is with the thread.
    follower: Option<Follower>,
    is_begun: bool,
    found: Option<Receiver<(Follower, bool)>>,
    tracker: Tracker,
    with_collectives: bool,
    /// The version by which latency is counted.
    counted_by: u64,
}

impl Neighbourhoods {
    /// Takes what was found, and has regions found anew where so much was exchanged that it is worth a look.
    fn follow(&mut self, budgeter: &Budgeter, ranks: u32, until_ns: Nanoseconds) {
        if let Some(found) = &self.found {
            match found.try_recv() {
                Ok((follower, with_collectives)) => {
                    self.tracker = follower.tracker().clone();
                    self.with_collectives = with_collectives;
                    self.follower = Some(follower);
                }
                Err(TryRecvError::Empty) => return,
                // Regions stay as they were found last.
                Err(TryRecvError::Disconnected) => {}
            }
            self.found = None;
        }
        if !std::mem::replace(&mut self.is_begun, true) {
            self.follower = Some(Follower::default());
        }
        let messages: u64 = budgeter.traffic().pairs().map(|(.., flow)| flow.messages).sum();
        let weight = (messages + budgeter.collective_traffic().calls()) as f64;
        let is_due = |follower: &mut Follower| follower.may_be_stale(until_ns, ranks as usize, weight);
        let Some(mut follower) = self.follower.take_if(is_due) else { return };
        let (traffic, collectives) = (budgeter.traffic().clone(), budgeter.collective_traffic().clone());
        let (answer, found) = bounded(1);
        let finding = std::thread::Builder::new().name("regions".into()).spawn(move || {
            let (graph, with_collectives) = talk_graph(ranks, &traffic, &collectives);
            drop((traffic, collectives));
            follower.look(until_ns, weight, &graph);
            // Nobody may ask any more.
            let _ = answer.send((follower, with_collectives));
        });
        self.found = finding.ok().map(|_| found);
    }
}

impl Neighbourhoods {
    /// Has latency counted by the regions as they are known now.
    fn count_by(&mut self, budgeter: &mut Budgeter) {
        let version = self.tracker.version();
        if std::mem::replace(&mut self.counted_by, version) != version {
            budgeter.divide(regions::partition(&self.tracker));
        }
    }
}

impl Outlook {
    pub(super) fn new(given: Reference) -> Self {
        Self { given, ..Self::default() }
    }

    pub(super) fn see(&mut self, batch: &Batch) {
        if let Some(gaps) = &batch.gaps {
            self.seen.gaps.clone_from(gaps);
        }
        for info in &batch.ranks {
            self.ranks = self.ranks.max(info.world_size);
            self.library.clone_from(&info.library);
        }
    }

    /// Takes in how many calls were lost until now, and how many were recorded.
    pub(super) fn count_losses(&mut self, lost: u64, recorded: u64) {
        self.seen.lost_share = RecordedTime::share(lost, recorded);
    }

    /// Nothing is known of what came before.
    pub(super) fn begin_anew(&mut self, from_ns: Nanoseconds, left_out_calls: u64) {
        let given = std::mem::take(&mut self.given);
        // Regions keep their names.
        let neighbourhoods = Neighbourhoods { counted_by: 0, ..std::mem::take(&mut self.neighbourhoods) };
        let seen = RecordedTime { from_ns, ..std::mem::take(&mut self.seen) };
        *self = Self { seen, left_out_calls, neighbourhoods, ..Self::new(given) };
    }

    /// Whether enough was diagnosed for a verdict, and more than when it last looked.
    pub(super) fn is_due(&self, budgeter: &Budgeter) -> bool {
        let until_ns = budgeter.settled_ns();
        until_ns != self.looked_ns && self.seen.length_ns(0, until_ns) >= FIRST_NS
    }

    /// What is found.
    pub(super) fn look(&mut self, budgeter: &mut Budgeter, replayed: &Replayed) -> LiveFindings {
        let until_ns = budgeter.settled_ns();
        self.looked_ns = until_ns;
        self.refer(budgeter);
        self.be_advised(budgeter);
        self.neighbourhoods.follow(budgeter, self.ranks, until_ns);
        self.neighbourhoods.count_by(budgeter);
        let (mut diagnosis, course) =
            diagnosis(budgeter, self.is_referenced, self.ranks, &self.seen, replayed);
        let Neighbourhoods { tracker, with_collectives, .. } = &self.neighbourhoods;
        diagnosis.regions =
            regions::describe(tracker, *with_collectives, budgeter).bounded(regions::MOST_REPORTED);
        let found = mpiscope_feed::FindingsReport {
            from_s: self.seen.from_ns as f64 / 1e9,
            until_s: until_ns as f64 / 1e9,
            left_out_calls: self.left_out_calls,
            is_final: false,
            diagnosis,
            evolution: evolution(budgeter.evolution(), budgeter.criteria().has_normal()),
            // Written in words once the call sites are known.
            ..mpiscope_feed::FindingsReport::default()
        };
        LiveFindings { report: found, course, criteria: budgeter.criteria().clone() }
    }

    /// Once all ranks are there it is known which criteria fit.
    fn refer(&mut self, budgeter: &mut Budgeter) {
        let nodes = budgeter.node_of_rank();
        if self.is_referenced || nodes.len() < self.ranks as usize {
            return;
        }
        let mut ranks = vec![0_u32; nodes.iter().map(|node| node.index() + 1).max().unwrap_or_default()];
        nodes.iter().for_each(|node| ranks[node.index()] += 1);
        let reference = match &self.given {
            Reference::None => {
                reference_criteria::measured(&self.library, ranks.into_iter().max().unwrap_or_default())
            }
            given => given.clone(),
        };
        self.is_referenced = reference.is_some();
        if self.is_referenced {
            self.new_reference = Some(reference.clone());
            budgeter.hold_against(reference);
        }
    }

    /// Criteria from elsewhere, once, when it is known which fit.
    pub(super) fn new_reference(&mut self) -> Option<Reference> {
        self.new_reference.take()
    }

    /// Takes the advice that has come, and asks for another one when much was exchanged since.
    fn be_advised(&mut self, budgeter: &mut Budgeter) {
        if let Some(asked) = &self.asked {
            match asked.try_recv() {
                Ok(Some(advice)) => budgeter.follow(advice),
                Ok(None) | Err(TryRecvError::Disconnected) => {}
                Err(TryRecvError::Empty) => return,
            }
            self.asked = None;
        }
        let nodes = budgeter.node_of_rank();
        let messages: u64 = budgeter.traffic().pairs().map(|(.., flow)| flow.messages).sum();
        let has_nodes = nodes.iter().any(|node| Some(node) != nodes.first());
        if !has_nodes || messages < ENOUGH_MESSAGES.max(2 * self.advised_messages) {
            return;
        }
        self.advised_messages = messages;
        let (answer, asked) = bounded(1);
        let (traffic, nodes) = (budgeter.traffic().clone(), nodes.to_vec());
        let asking = std::thread::Builder::new().name("advice".into()).spawn(move || {
            // Without advice there is no word on the placement; at the end it is asked for again.
            let _ = answer.send(advice::ask(&traffic, &nodes).ok());
        });
        self.asked = asking.ok().map(|_| asked);
    }
}
