//! The report for scripts.

use super::sites::{SiteFigures, sites};
use crate::judge::{Criterion, Findings};
use crate::load::Loaded;
use crate::remap::Placement;
use anyhow::Result;
use mpiscope_analysis::Advice;
use mpiscope_feed::{
    Attribution, Between, CpuShortage, Efficiency, GatheredWait, Parts, Quiet, Source, Verdict, Wait, WhatIf,
};
use mpiscope_model::RankInfo;
use serde::Serialize;

/// What is null was not judged.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    job: Job<'a>,
    totals: Totals,
    functions: Vec<Function>,
    ranks: Vec<Rank<'a>>,
    criteria: Option<&'a [Criterion]>,
    regions: Option<Vec<Region<'a>>>,
    /// What pairs of regions exchanged.
    between: Option<&'a [Between]>,
    budget: Option<&'a Parts>,
    efficiency: Option<&'a Efficiency>,
    waits: Option<&'a [Wait]>,
    gathered: Option<&'a [GatheredWait]>,
    sources: Option<&'a [Source]>,
    sites: Vec<SiteFigures<'a>>,
    attribution: Option<&'a [Attribution]>,
    quiet: Option<&'a [Quiet]>,
    verdict: Option<&'a Verdict>,
    /// Null where ranks had enough CPUs, too.
    cpu_shortage: Option<&'a CpuShortage>,
    /// What the run would take without its causes.
    whatif: Option<&'a WhatIf>,
    remap: Option<Remap<'a>>,
    /// When recording was switched off, and how many calls were made meanwhile; null where it never was.
    pauses: &'a Option<mpiscope_recording::Pauses>,
    /// Whether the job stood still, who waited for whom then, and which calls ranks were in when they ended.
    standing: &'a mpiscope_feed::Standing,
    missing: &'a [String],
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
    clock: Option<NodeClock>,
}

/// The clock of a node against that of the host where `mpiscope run` was.
#[derive(Serialize)]
struct NodeClock {
    ahead_ns: i64,
    drift_ppb: f64,
    uncertainty_ns: u64,
}

#[derive(Serialize)]
struct Totals {
    calls: u64,
    polls: u64,
    messages: u64,
    bytes: u64,
    intra_messages: u64,
    inter_messages: u64,
    unmatched_sends: u64,
    unmatched_receives: u64,
    uncertain_messages: u64,
    lost_calls: u64,
    /// Messages that end before they begin by the clocks as they are known now; before they were corrected.
    clock_violations: u64,
    clock_violations_before: u64,
}

#[derive(Serialize)]
struct Function {
    name: &'static str,
    calls: u64,
    polls: u64,
    bytes: u64,
    seconds: f64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

/// One rank; what the scheduler did to it is null in recordings that do not say.
#[derive(Serialize)]
struct Rank<'a> {
    rank: u32,
    node: Option<&'a str>,
    state: &'static str,
    run_s: Option<f64>,
    wait_s: Option<f64>,
    stopped_s: Option<f64>,
    voluntary: Option<u64>,
    involuntary: Option<u64>,
}

/// Ranks that talk mostly among themselves, and how late their messages were.
#[derive(Serialize)]
struct Region<'a> {
    id: u32,
    ranks: Vec<u32>,
    latency: &'a Option<f64>,
    messages: u64,
    delayed: u64,
    exact: f64,
}

impl<'a> From<&'a mpiscope_feed::Region> for Region<'a> {
    fn from(region: &'a mpiscope_feed::Region) -> Self {
        let mpiscope_feed::Region { id, latency, messages, delayed, exact, .. } = region;
        let ranks = region.each_rank().collect();
        Self { id: *id, ranks, latency, messages: *messages, delayed: *delayed, exact: *exact }
    }
}

/// A better placement; null where it is not known which rank was on which node.
#[derive(Serialize)]
struct Remap<'a> {
    inter_messages_before: u64,
    inter_messages_after: u64,
    inter_bytes_before: u64,
    inter_bytes_after: u64,
    /// Of each rank its node, counted from 0 as they are in `job.nodes`.
    node_of_rank: &'a [u32],
}

impl<'a> From<&'a Advice> for Remap<'a> {
    fn from(advice: &'a Advice) -> Self {
        Self {
            inter_messages_before: advice.inter_messages_before,
            inter_messages_after: advice.inter_messages_after,
            inter_bytes_before: advice.inter_bytes_before,
            inter_bytes_after: advice.inter_bytes_after,
            node_of_rank: &advice.node_of_rank,
        }
    }
}

fn rank<'a>(loaded: &'a Loaded, info: &RankInfo) -> Rank<'a> {
    let scheduling = loaded.processors.of(info.rank);
    Rank {
        rank: info.rank,
        node: loaded.job.nodes.get(info.node as usize).map(|node| node.name.as_str()),
        state: info.state.word(),
        run_s: scheduling.map(|row| row.run_ns as f64 / 1e9),
        wait_s: scheduling.map(|row| row.wait_ns as f64 / 1e9),
        stopped_s: scheduling.map(|row| row.stopped_ns as f64 / 1e9),
        voluntary: scheduling.map(|row| row.voluntary),
        involuntary: scheduling.map(|row| row.involuntary),
    }
}

pub(crate) fn json(
    loaded: &Loaded,
    placement: Option<&Placement<'_>>,
    findings: Option<&Findings>,
) -> Result<String> {
    let totals = &loaded.totals;
    let mut functions: Vec<Function> = loaded
        .counts
        .functions()
        .filter_map(|(function, totals)| {
            Some(Function {
                name: mpiscope_wire::by_id(function)?.name,
                calls: totals.calls,
                polls: totals.polls,
                bytes: totals.bytes,
                seconds: totals.time_ns as f64 / 1e9,
                p50_ns: totals.quantile_ns(0.5),
                p99_ns: totals.quantile_ns(0.99),
                max_ns: totals.max_ns(),
            })
        })
        .collect();
    functions.sort_by_key(|function| function.name);
    let report = Report {
        schema: "mpiscope.report/1",
        job: Job {
            ranks: loaded.job.ranks,
            nodes: loaded
                .job
                .nodes
                .iter()
                .enumerate()
                .map(|(at, node)| Node {
                    name: &node.name,
                    ranks: &node.ranks,
                    clock: loaded.clock_of(at).map(|clock| NodeClock {
                        ahead_ns: clock.offset_ns,
                        drift_ppb: clock.drift_ppb,
                        uncertainty_ns: clock.uncertainty_ns,
                    }),
                })
                .collect(),
            mpi: &loaded.job.mpi,
            command: &loaded.job.command,
            duration_s: loaded.job.duration_s,
            exit: loaded.job.exit,
            state: loaded.state,
        },
        totals: Totals {
            calls: totals.calls,
            polls: totals.polls,
            messages: totals.messages,
            bytes: totals.bytes,
            intra_messages: totals.intra_messages,
            inter_messages: totals.inter_messages,
            unmatched_sends: totals.unmatched_sends,
            unmatched_receives: totals.unmatched_receives,
            uncertain_messages: totals.uncertain_messages,
            lost_calls: loaded.losses.total(),
            clock_violations: totals.clock_violations_after,
            clock_violations_before: totals.clock_violations_before,
        },
        functions,
        ranks: loaded.ranks.iter().map(|info| rank(loaded, info)).collect(),
        criteria: findings.map(|found| &found.criteria[..]),
        regions: findings.map(|found| found.judgement.regions.regions.iter().map(Region::from).collect()),
        between: findings.map(|found| &found.judgement.regions.between[..]),
        budget: findings.map(|found| &found.judgement.budget),
        efficiency: findings
            .filter(|found| !found.judgement.verdict.is_withheld())
            .map(|found| &found.judgement.efficiency),
        waits: findings.map(|found| &found.judgement.waits[..]),
        gathered: findings.map(|found| &found.judgement.gathered[..]),
        sources: findings.map(|found| &found.judgement.sources[..]),
        sites: sites(loaded, findings),
        attribution: findings.map(|found| &found.judgement.attribution[..]),
        quiet: findings.map(|found| &found.judgement.quiet[..]),
        verdict: findings.map(|found| &found.judgement.verdict),
        cpu_shortage: findings.and_then(|found| found.judgement.cpu_shortage.as_ref()),
        whatif: findings.map(|found| &found.judgement.whatif),
        remap: placement.map(|placement| Remap::from(&placement.advice)),
        pauses: &loaded.pauses,
        standing: &loaded.standing,
        missing: &loaded.missing,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
