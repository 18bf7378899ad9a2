//! Random jobs as batches, in whatever slices and order, and what came of them.

pub(crate) mod program;

use mpiscope_diagnosis::{
    Budgeter, Causes, Ledger, Series, SiteWaits, Version, WaitKey, WaitTotals, Windowed,
};
use mpiscope_flow::{Cluster, Feeder, Flow, FlowError, FlowOptions, TryFeedError, work_on_share};
use mpiscope_matching::{Counts, Matched};
use mpiscope_model::{Batch, Nanoseconds, Node, Rank};
use mpiscope_topology::{Lateness, Traffic};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Everything that can be asked.
#[derive(Debug, PartialEq)]
pub(crate) struct Answers {
    pub(crate) ledger: Ledger,
    pub(crate) paths: Vec<(Rank, Nanoseconds, Causes)>,
    pub(crate) waits: Vec<(WaitKey, WaitTotals)>,
    pub(crate) site_waits: SiteWaits,
    pub(crate) learnt: Version,
    pub(crate) criteria: Version,
    pub(crate) given_up: u64,
    pub(crate) critical_path: (Nanoseconds, Causes),
    pub(crate) blocking_from_bytes: Option<u64>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) traffic: Vec<(Rank, Rank, u64, u64)>,
    pub(crate) messages: u64,
    pub(crate) uncertain: u64,
    pub(crate) unmatched: (u64, u64),
    pub(crate) settled_ns: Nanoseconds,
    pub(crate) evolution: Vec<String>,
    pub(crate) lateness: Vec<(Rank, Rank, Lateness)>,
    pub(crate) collectives: Vec<(Rank, Rank, f64)>,
    pub(crate) network: String,
}

/// How latency went, as far as it can be asked.
fn evolution(budgeter: &Budgeter) -> Vec<String> {
    let evolution = budgeter.evolution();
    let text = |key: String, series: &Series| {
        format!("{key}: {:?} {:?} {:?}", series.total(), series.open(), series.bands())
    };
    let regions = evolution.regions().map(|(region, series)| text(format!("{region}"), series));
    let pairs = evolution.pairs().map(|(pair, series)| text(format!("{pair:?}"), series));
    let others = [format!("{:?} {:?}", evolution.others(), evolution.provisional())];
    regions.chain(pairs).chain(others).collect()
}

fn pairs(traffic: &Traffic) -> Vec<(Rank, Rank, u64, u64)> {
    let mut pairs: Vec<_> =
        traffic.pairs().map(|(one, other, flow)| (one, other, flow.messages, flow.bytes)).collect();
    pairs.sort_unstable();
    pairs
}

impl Answers {
    fn from_budgeter(budgeter: &Budgeter, messages: u64, uncertain: u64, unmatched: (u64, u64)) -> Self {
        let mut waits: Vec<_> = budgeter.waits().map(|(key, totals)| (*key, *totals)).collect();
        waits.sort_unstable_by_key(|(key, _)| *key);
        Self {
            ledger: budgeter.ledger().clone(),
            paths: budgeter.paths().collect(),
            waits,
            site_waits: budgeter.site_waits().clone(),
            learnt: budgeter.learnt(),
            criteria: budgeter.criteria().clone(),
            given_up: budgeter.given_up(),
            critical_path: budgeter.critical_path(),
            blocking_from_bytes: budgeter.blocking_from_bytes(),
            nodes: budgeter.node_of_rank().to_vec(),
            traffic: pairs(budgeter.traffic()),
            messages,
            uncertain,
            unmatched,
            settled_ns: budgeter.settled_ns(),
            evolution: evolution(budgeter),
            lateness: budgeter.lateness().pairs(),
            collectives: budgeter.collective_traffic().pairs(),
            network: format!("{:?}", budgeter.network()),
        }
    }

    /// What differs from another.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, is_same: bool, both: String| {
            if !is_same {
                found.push(format!("{what}: {both}"));
            }
        };
        macro_rules! fields {
            ($($field:ident),*) => {$(
                let both = format!("{:?} and not {:?}", self.$field, other.$field);
                compare(stringify!($field), self.$field == other.$field, both);
            )*};
        }
        let total = |answers: &Self| answers.ledger.total();
        compare(
            "total",
            total(self) == total(other),
            format!("{:?} and not {:?}", total(self), total(other)),
        );
        for (rank, (one, other)) in self.ledger.ranks().iter().zip(other.ledger.ranks()).enumerate() {
            compare(&format!("rank {rank}"), one == other, format!("{one:?} and not {other:?}"));
        }
        compare("ledger", self.ledger == other.ledger, String::new());
        fields!(paths, waits, site_waits, learnt, criteria, given_up, critical_path, blocking_from_bytes);
        fields!(nodes, traffic, messages, uncertain, unmatched, settled_ns);
        fields!(evolution, lateness, collectives, network);
        found
    }

    /// The part of the result that does not depend on how the job came in: windows without events may be skipped.
    pub(crate) fn however_it_came(mut self) -> Self {
        self.settled_ns = 0;
        self
    }
}

pub(crate) fn windowed(batches: &[Batch], options: &FlowOptions) -> Answers {
    let mut windowed = Windowed::new(options.budget);
    if let Some(criteria) = options.criteria.clone() {
        windowed = windowed.with_criteria(criteria);
    }
    if let Some(advice) = options.advice.clone() {
        windowed.budgeter = windowed.budgeter.with_advice(advice);
    }
    if let Some(course) = options.course.clone() {
        windowed.budgeter = windowed.budgeter.with_course(course);
    }
    let mut all = Matched::default();
    for batch in batches {
        all.append(windowed.feed(batch, batch.until_ns));
    }
    all.append(windowed.finish());
    let unmatched = (windowed.matcher.unmatched_sends(), windowed.matcher.unmatched_receives());
    Answers::from_budgeter(&windowed.budgeter, all.messages.len() as u64, all.uncertain, unmatched)
}

pub(crate) fn flowed(batches: &[Batch], options: &FlowOptions) -> (Answers, Option<Counts>) {
    answers(batches, Flow::start(options).unwrap())
}

/// The same over this number of processes with as many workers each. Each is a thread here; between them are real sockets.
pub(crate) fn flowed_over(
    processes: usize,
    batches: &[Batch],
    options: &FlowOptions,
) -> (Answers, Option<Counts>) {
    let share = options.for_others();
    let mut clusters = Cluster::all(processes).unwrap().into_iter();
    let center = clusters.next().unwrap();
    std::thread::scope(|scope| {
        let start = |cluster| scope.spawn(|| work_on_share(&share, cluster, None));
        let others: Vec<_> = clusters.map(start).collect();
        let found = answers(batches, Flow::start_over(options, center).unwrap());
        others.into_iter().for_each(|other| assert_eq!(other.join().unwrap(), Ok(())));
        found
    })
}

/// Likewise, where each of the others feeds the calls of some ranks, by `feeds`, and the first all else, and all of the batches before
/// this one.
pub(crate) fn fed_over(
    processes: usize,
    batches: &[Batch],
    options: &FlowOptions,
    (from, feeds): (usize, impl Fn(Rank) -> usize + Copy + Send),
) -> (Answers, Option<Counts>) {
    let share = options.for_others();
    let mut clusters = Cluster::all(processes).unwrap().into_iter();
    let center = clusters.next().unwrap();
    let have_begun = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let others: Vec<_> = clusters
            .map(|cluster| {
                let have_begun = &have_begun;
                let feeder = Feeder::new(&share).unwrap();
                let (number, feeds_all) = (cluster.number, feeder.clone());
                let (before, own) = batches.split_at(from);
                scope.spawn(move || {
                    if let Some(last) = before.last() {
                        feed_soon(&feeds_all, Batch { until_ns: last.until_ns, ..Batch::default() });
                    }
                    let mut own = own.iter().map(|batch| rows_of(batch, |rank| feeds(rank) == number));
                    own.next().into_iter().for_each(|first| feed_soon(&feeds_all, first));
                    have_begun.fetch_add(1, Ordering::AcqRel);
                    own.for_each(|batch| feed_soon(&feeds_all, batch));
                    feeds_all.close();
                });
                let share = &share;
                scope.spawn(move || work_on_share(share, cluster, Some(feeder)))
            })
            .collect();
        let flow = Flow::start_over(options, center).unwrap();
        // What came earlier is fed when what comes later is there already.
        while have_begun.load(Ordering::Acquire) < processes - 1 {
            std::thread::yield_now();
        }
        batches[..from].iter().for_each(|batch| flow.feed(batch.clone()).unwrap());
        for batch in &batches[from..] {
            let rest = Batch { scheduling: batch.scheduling.clone(), ..rest_of(batch) };
            flow.feed_beside(rest, batch.activities.len() as u64).unwrap();
        }
        let found = outcome(flow);
        others.into_iter().for_each(|other| assert_eq!(other.join().unwrap(), Ok(())));
        found
    })
}

/// Feeds a batch as soon as there is room for it.
fn feed_soon(feeder: &Feeder, mut batch: Batch) {
    while let Err(refused) = feeder.try_feed(batch) {
        let TryFeedError::Full(again) = refused else { panic!("{refused}") };
        batch = *again;
        std::thread::yield_now();
    }
}

/// What some ranks did.
fn rows_of(batch: &Batch, is_theirs: impl Fn(Rank) -> bool) -> Batch {
    let calls = batch.calls.iter().filter(|of| is_theirs(of.rank)).copied().collect();
    Batch { calls, ..batch.activities_of(is_theirs) }
}

/// What is not of the calls of any rank.
fn rest_of(batch: &Batch) -> Batch {
    Batch {
        ranks: batch.ranks.clone(),
        comms: batch.comms.clone(),
        until_ns: batch.until_ns,
        ..Batch::default()
    }
}

/// What a flow says when one of its processes is killed after this number of batches; all others have ended then.
pub(crate) fn killed_after(
    after: usize,
    killed: usize,
    processes: usize,
    batches: &[Batch],
    options: &FlowOptions,
) -> FlowError {
    let share = options.for_others();
    let mut clusters = Cluster::all(processes).unwrap().into_iter();
    let center = clusters.next().unwrap();
    let streams = |cluster: &Cluster| -> Vec<UnixStream> {
        cluster.peers.iter().flatten().flatten().map(|stream| stream.try_clone().unwrap()).collect()
    };
    std::thread::scope(|scope| {
        let mut of_killed = Vec::new();
        let others: Vec<_> = clusters
            .map(|cluster| {
                if cluster.number == killed {
                    of_killed = streams(&cluster);
                }
                scope.spawn(|| work_on_share(&share, cluster, None))
            })
            .collect();
        let flow = Flow::start_over(options, center).unwrap();
        batches[..after].iter().for_each(|batch| flow.feed(batch.clone()).unwrap());
        // As when it is killed: nothing more comes from it, and nobody takes what it gets.
        of_killed.iter().for_each(|stream| stream.shutdown(Shutdown::Both).unwrap());
        let _ = batches[after..].iter().all(|batch| flow.feed(batch.clone()).is_ok());
        let failed = flow.finish().unwrap_err();
        others
            .into_iter()
            .for_each(|other| assert!(matches!(other.join().unwrap(), Err(FlowError::Lost(_)))));
        failed
    })
}

fn answers(batches: &[Batch], flow: Flow) -> (Answers, Option<Counts>) {
    for batch in batches {
        flow.feed(batch.clone()).unwrap();
    }
    outcome(flow)
}

fn outcome(flow: Flow) -> (Answers, Option<Counts>) {
    let outcome = flow.finish().unwrap();
    let unmatched = (outcome.unmatched_sends, outcome.unmatched_receives);
    let answers = Answers::from_budgeter(&outcome.budgeter, outcome.messages, outcome.uncertain, unmatched);
    (answers, outcome.counts)
}
