//! The report for scripts.

use super::message_sizes::{SizeClass, of_selection, of_sums};
use super::selection::{OF_THE_RUN, Selection, name};
use super::sites::{SiteFigures, sites};
use anyhow::Result;
use mpiscope_engine::load::Loaded;
use mpiscope_feed::{
    Attribution, Between, CpuContention, Disturbance, Efficiency, FunctionFigures, GatheredWait, Parts,
    Quiet, RangeVerdict, SelectedFunctions, SelectedRanks, SelectedRegions, SlowLinks, Source, Verdict, Wait,
    WhatIf,
};
use mpiscope_model::RankInfo;
use mpiscope_placement::Placement;
use mpiscope_topology::Advice;
use mpiscope_verdict::{Criterion, Findings};
use serde::Serialize;

/// What is null has no diagnosis.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    /// What the figures are of; null for the whole run.
    selection: Option<Selected<'a>>,
    job: Job<'a>,
    totals: Totals,
    functions: Vec<Function>,
    ranks: Vec<Rank<'a>>,
    message_sizes: Option<Vec<SizeClass>>,
    criteria: Option<&'a [Criterion]>,
    regions: Option<Vec<Region>>,
    /// What pairs of regions exchanged.
    between: Option<&'a [Between]>,
    budget: Option<&'a Parts>,
    efficiency: Option<&'a Efficiency>,
    waits: Option<&'a [Wait]>,
    gathered: Option<&'a [GatheredWait]>,
    sources: Option<&'a [Source]>,
    sites: Vec<SiteFigures<'a>>,
    attribution: Option<&'a [Attribution]>,
    disturbances: Option<&'a [Disturbance]>,
    quiet: Option<&'a [Quiet]>,
    verdict: Option<&'a Verdict>,
    /// Null where ranks had enough CPUs, too.
    #[serde(rename = "cpu_shortage")]
    cpu_contention: Option<&'a CpuContention>,
    /// Links that are slower throughout than was measured before.
    slow_links: Option<&'a SlowLinks>,
    /// What the run would take without its causes.
    whatif: Option<&'a WhatIf>,
    remap: Option<Remap>,
    /// When recording was switched off, and how many calls were made meanwhile; null where it never was.
    pauses: &'a Option<mpiscope_recording::Pauses>,
    /// Hosts with calls that are neither recorded nor counted as lost; usually none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    uncounted: &'a [mpiscope_recording::Uncounted],
    /// Whether the job hung, who waited for whom then, and which calls ranks were in when they ended.
    // words: allow the key of the report
    #[serde(rename = "standing")]
    hangs: &'a mpiscope_feed::Hangs,
    missing: Vec<&'a str>,
}

#[derive(Serialize)]
struct Selected<'a> {
    from_s: f64,
    to_s: f64,
    /// Ranges with both ends included; null for all.
    ranks: Option<Vec<(u32, u32)>>,
    /// What of it was diagnosed; null without that.
    budget_from_s: Option<f64>,
    budget_to_s: Option<f64>,
    /// What is shorter than this has no verdict.
    window_s: Option<f64>,
    /// The verdict on it; null where the recording or so short a part supports none.
    verdict: Option<&'a RangeVerdict>,
}

impl<'a> From<&'a Selection> for Selected<'a> {
    fn from(selection: &'a Selection) -> Self {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let budget = selection.figures.budget.as_ref();
        Self {
            from_s: seconds(selection.figures.from_ns),
            to_s: seconds(selection.figures.to_ns),
            ranks: selection.ranks.as_deref().map(plain),
            budget_from_s: budget.map(|budget| seconds(budget.from_ns)),
            budget_to_s: budget.map(|budget| seconds(budget.to_ns)),
            window_s: budget.map(|budget| seconds(budget.window_ns)),
            verdict: budget.and_then(|budget| budget.verdict.as_ref()),
        }
    }
}

fn plain(ranks: &[(mpiscope_model::Rank, mpiscope_model::Rank)]) -> Vec<(u32, u32)> {
    ranks.iter().map(|(first, last)| (first.0, last.0)).collect()
}

#[derive(Serialize)]
struct Job<'a> {
    ranks: u32,
    nodes: Vec<Node<'a>>,
    mpi: &'a str,
    command: &'a [String],
    duration_s: Option<f64>,
    exit: Option<i32>,
    state: mpiscope_recording::State,
}

#[derive(Serialize)]
struct Node<'a> {
    name: &'a str,
    ranks: &'a [u32],
    /// CPUs that are online, and those that affinities and quotas leave to its ranks; null if not known.
    cpus: Option<u32>,
    usable_cpus: Option<f64>,
    /// Whether each rank is bound to a part of them.
    is_bound: Option<bool>,
    clock: Option<NodeClock>,
}

/// The clock of a node against that of the host where `mpiscope run` was.
#[derive(Serialize)]
struct NodeClock {
    ahead_ns: i64,
    drift_ppb: f64,
    uncertainty_ns: u64,
}

#[derive(Serialize, Default)]
struct Totals {
    calls: u64,
    polls: u64,
    messages: u64,
    bytes: u64,
    intra_messages: u64,
    inter_messages: u64,
    /// These are known of the whole run only, and null for a part of it.
    unmatched_sends: Option<u64>,
    unmatched_receives: Option<u64>,
    uncertain_messages: Option<u64>,
    lost_calls: Option<u64>,
    /// Messages that end before they begin by the clocks as they are known now; before they were corrected.
    clock_violations: Option<u64>,
    clock_violations_before: Option<u64>,
}

#[derive(Serialize)]
struct Function {
    name: &'static str,
    #[serde(flatten)]
    figures: FunctionFigures,
}

/// One rank; what the scheduler did to it is null in recordings that do not say.
#[derive(Serialize)]
struct Rank<'a> {
    rank: u32,
    node: Option<&'a str>,
    /// The CPUs that it may use, as `0-3,8`; null if not known.
    cpus: Option<&'a str>,
    state: &'static str,
    calls: u64,
    mpi_s: f64,
    sent: u64,
    received: u64,
    bytes_sent: u64,
    run_s: Option<f64>,
    wait_s: Option<f64>,
    stopped_s: Option<f64>,
    /// In uninterruptible sleep in the kernel.
    blocked_s: Option<f64>,
    /// Major page faults: pages that had to be read from a disk, a network file system, or swap.
    major_faults: Option<u64>,
    voluntary: Option<u64>,
    involuntary: Option<u64>,
}

impl Rank<'_> {
    /// With the figures of a selection, if it is selected.
    fn narrowed(mut self, selected: &SelectedRanks) -> Option<Self> {
        let at = selected.rank.0.binary_search(&self.rank).ok()?;
        self.calls = selected.calls.0[at] as u64;
        self.mpi_s = selected.mpi_time_ns.0[at] / 1e9;
        self.sent = selected.sent.0[at] as u64;
        self.received = selected.received.0[at] as u64;
        self.bytes_sent = selected.bytes_sent.0[at] as u64;
        Some(self)
    }

    fn without_scheduling(self) -> Self {
        Self {
            run_s: None,
            wait_s: None,
            stopped_s: None,
            blocked_s: None,
            major_faults: None,
            voluntary: None,
            involuntary: None,
            ..self
        }
    }
}

/// Ranks that talk mostly among themselves, and how late their messages were.
#[derive(Serialize)]
struct Region {
    id: u32,
    ranks: Vec<u32>,
    latency: Option<f64>,
    messages: u64,
    delayed: u64,
    /// L above 1, as the paper of PCLVis defines delayed.
    above_expected: u64,
    exact: f64,
}

impl Region {
    /// With the figures of a selection, if it has this region.
    fn narrowed(mut self, selected: &SelectedRegions) -> Option<Self> {
        let at = selected.id.0.iter().position(|id| *id == self.id)?;
        let (messages, exact) = (selected.messages.0[at], selected.exact.0[at]);
        self.latency = Some(selected.latency.0[at]).filter(|latency| !latency.is_nan());
        self.messages = messages as u64;
        self.delayed = selected.delayed.0[at] as u64;
        self.above_expected = selected.above_expected.0[at] as u64;
        self.exact = if messages > 0.0 { exact / messages } else { 0.0 };
        Some(self)
    }
}

impl From<&mpiscope_feed::Region> for Region {
    fn from(region: &mpiscope_feed::Region) -> Self {
        let mpiscope_feed::Region { id, latency, messages, delayed, above_expected, exact, .. } = region;
        let ranks = region.each_rank().map(|rank| rank.0).collect();
        Self {
            id: *id,
            ranks,
            latency: *latency,
            messages: *messages,
            delayed: *delayed,
            above_expected: *above_expected,
            exact: *exact,
        }
    }
}

/// A better placement; null where it is not known which rank was on which node.
#[derive(Serialize)]
struct Remap {
    inter_messages_before: u64,
    inter_messages_after: u64,
    inter_bytes_before: u64,
    inter_bytes_after: u64,
    /// Of each rank its node, counted from 0 as they are in `job.nodes`.
    node_of_rank: Vec<u32>,
}

impl From<&Advice> for Remap {
    fn from(advice: &Advice) -> Self {
        Self {
            inter_messages_before: advice.inter_messages_before,
            inter_messages_after: advice.inter_messages_after,
            inter_bytes_before: advice.inter_bytes_before,
            inter_bytes_after: advice.inter_bytes_after,
            node_of_rank: advice.node_of_rank.iter().map(|node| node.0).collect(),
        }
    }
}

fn job(loaded: &Loaded) -> Job<'_> {
    let nodes = loaded.job.nodes.iter().enumerate().map(|(at, node)| {
        let cpus = loaded.processors.of_node(mpiscope_model::Node::from_index(at));
        Node {
            name: &node.name,
            ranks: &node.ranks,
            cpus: cpus.map(|cpus| cpus.on_host),
            usable_cpus: cpus.map(|cpus| cpus.usable),
            is_bound: cpus.map(|cpus| cpus.is_bound),
            clock: loaded.clock_of(at).map(|clock| NodeClock {
                ahead_ns: clock.offset_ns,
                drift_ppb: clock.drift_ppb,
                uncertainty_ns: clock.uncertainty_ns,
            }),
        }
    });
    Job {
        ranks: loaded.job.ranks,
        nodes: nodes.collect(),
        mpi: &loaded.job.mpi,
        command: &loaded.job.command,
        duration_s: loaded.job.duration_s,
        exit: loaded.job.exit,
        state: loaded.state,
    }
}

fn rank<'a>(loaded: &'a Loaded, info: &'a RankInfo) -> Rank<'a> {
    let scheduling = loaded.processors.figures_of(info.rank);
    let counted = loaded.counts.rank(info.rank);
    Rank {
        rank: info.rank.0,
        node: loaded.job.nodes.get(info.node.index()).map(|node| node.name.as_str()),
        cpus: Some(info.cpus.allowed.as_str()).filter(|list| !list.is_empty()),
        state: info.state.word(),
        calls: counted.calls,
        mpi_s: counted.time_ns as f64 / 1e9,
        sent: counted.sent,
        received: counted.received,
        bytes_sent: counted.sent_bytes,
        run_s: scheduling.map(|row| row.run_ns as f64 / 1e9),
        wait_s: scheduling.map(|row| row.wait_ns as f64 / 1e9),
        stopped_s: scheduling.map(|row| row.stopped_ns as f64 / 1e9),
        blocked_s: scheduling.map(|row| row.blocked_ns as f64 / 1e9),
        major_faults: scheduling.map(|row| row.major_faults),
        voluntary: scheduling.map(|row| row.voluntary),
        involuntary: scheduling.map(|row| row.involuntary),
    }
}

fn totals(loaded: &Loaded) -> Totals {
    let totals = &loaded.totals;
    Totals {
        calls: totals.calls,
        polls: totals.polls,
        messages: totals.messages,
        bytes: totals.bytes,
        intra_messages: totals.intra_messages,
        inter_messages: totals.inter_messages,
        unmatched_sends: Some(totals.unmatched_sends),
        unmatched_receives: Some(totals.unmatched_receives),
        uncertain_messages: Some(totals.uncertain_messages),
        lost_calls: Some(loaded.losses.total()),
        clock_violations: Some(totals.clock_violations_after),
        clock_violations_before: Some(totals.clock_violations_before),
    }
}

fn functions(loaded: &Loaded) -> Vec<Function> {
    let function = |(function, totals)| {
        let name = mpiscope_wire::by_id(function)?.name;
        Some(Function { name, figures: FunctionFigures::from(totals) })
    };
    let mut functions: Vec<Function> = loaded.counts.functions().filter_map(function).collect();
    functions.sort_by_key(|function| function.name);
    functions
}

fn selected_functions(selected: &SelectedFunctions) -> Vec<Function> {
    let function =
        |at: usize| Some(Function { name: name(selected.function.0[at])?, figures: selected.figures(at) });
    let mut functions: Vec<Function> = (0..selected.function.0.len()).filter_map(function).collect();
    functions.sort_by_key(|function| function.name);
    functions
}

/// Narrows a report of the run to a selection. What is known of the whole run only is left out.
fn narrow<'a>(report: Report<'a>, selection: &'a Selection, whole: &Loaded) -> Report<'a> {
    let figures = &selection.figures;
    let is_part = figures.from_ns > 0 || figures.to_ns < whole.end_ns();
    let rank = |rank: Rank<'a>| {
        let rank = rank.narrowed(&figures.ranks)?;
        // The scheduler's figures are of the whole run.
        Some(if is_part { rank.without_scheduling() } else { rank })
    };
    let region = |region: Region| region.narrowed(&figures.regions);
    let missing = report.missing.into_iter().chain([OF_THE_RUN]).collect();
    Report {
        selection: Some(selection.into()),
        totals: Totals {
            calls: figures.calls,
            polls: figures.polls,
            messages: figures.messages,
            bytes: figures.bytes,
            intra_messages: figures.intra_messages,
            inter_messages: figures.inter_messages,
            ..Totals::default()
        },
        functions: selected_functions(&figures.functions),
        ranks: report.ranks.into_iter().filter_map(rank).collect(),
        message_sizes: Some(of_selection(&figures.sizes)),
        regions: report.regions.map(|all| all.into_iter().filter_map(region).collect()),
        budget: figures.budget.as_ref().map(|budget| &budget.parts),
        sites: Vec::new(),
        missing,
        ..report
    }
}

pub(crate) fn json(
    loaded: &Loaded,
    placement: Option<&Placement<'_>>,
    findings: Option<&Findings>,
    selection: Option<&Selection>,
) -> Result<String> {
    // What is known of the whole run only is null for a part of it.
    let of_run = findings.filter(|_| selection.is_none());
    let report = whole(loaded, placement, findings, of_run);
    let report = match selection {
        Some(selection) => narrow(report, selection, loaded),
        None => report,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn whole<'a>(
    loaded: &'a Loaded,
    placement: Option<&'a Placement<'_>>,
    findings: Option<&'a Findings>,
    of_run: Option<&'a Findings>,
) -> Report<'a> {
    Report {
        schema: "mpiscope.report/1",
        selection: None,
        job: job(loaded),
        totals: totals(loaded),
        functions: functions(loaded),
        ranks: loaded.ranks.iter().map(|info| rank(loaded, info)).collect(),
        message_sizes: loaded.sums.sizes.as_ref().map(of_sums),
        criteria: findings.map(|found| &found.criteria[..]),
        regions: findings.map(|found| found.diagnosis.regions.regions.iter().map(Region::from).collect()),
        between: of_run.map(|found| &found.diagnosis.regions.between[..]),
        budget: findings.map(|found| &found.diagnosis.budget),
        efficiency: of_run
            .filter(|found| !found.diagnosis.verdict.is_withheld())
            .map(|found| &found.diagnosis.efficiency),
        waits: of_run.map(|found| &found.diagnosis.waits[..]),
        gathered: of_run.map(|found| &found.diagnosis.gathered[..]),
        sources: of_run.map(|found| &found.diagnosis.sources[..]),
        sites: sites(loaded, findings),
        attribution: of_run.map(|found| &found.diagnosis.attribution[..]),
        disturbances: of_run.map(|found| &found.diagnosis.disturbances[..]),
        quiet: of_run.map(|found| &found.diagnosis.quiet[..]),
        verdict: of_run.map(|found| &found.diagnosis.verdict),
        cpu_contention: of_run.and_then(|found| found.diagnosis.cpu_contention.as_ref()),
        slow_links: of_run.map(|found| &found.diagnosis.slow_links),
        whatif: of_run.map(|found| &found.diagnosis.whatif),
        remap: placement.map(|placement| Remap::from(&placement.advice)),
        pauses: &loaded.pauses,
        uncounted: &loaded.uncounted,
        hangs: &loaded.hangs,
        missing: loaded.missing.iter().map(String::as_str).collect(),
    }
}
