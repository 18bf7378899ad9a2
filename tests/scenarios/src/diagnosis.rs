//! One job through ingest and analysis, twice: to learn criteria, and to use them.

use crate::ablation::without_each;
use crate::cases::{Case, Half};
use anyhow::{Context as _, Result};
use mpiscope_diagnosis::whatif::{CallKind, Graph, GraphBuilder, Rule};
use mpiscope_diagnosis::{Assessment, Basis, BudgetOptions, Budgeter, ReplaySavings, Version, Windowed};
use mpiscope_ingest::Ingest;
use mpiscope_matching::Matched;
use mpiscope_model::{Batch, Blame, Node};
use mpiscope_synth::{
    Cause, Collective, Collectives, Disturbance, Network, Noise, Part, Pattern, Run, Spec, Style, Truth,
    generate,
};
use mpiscope_wire::FUNCTIONS;
use std::collections::BTreeMap;

/// Seconds are near enough when they are off by no more than this share of the true ones.
pub(crate) const NEAR: f64 = 0.15;
/// What costs a smaller share of the ranks' time is nothing, in what is true as in what is found.
const NEGLIGIBLE: f64 = 0.02;

/// What was found, and what is true.
#[derive(Clone)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) half: Half,
    pub(crate) truth: Truth,
    pub(crate) found: Assessment,
    pub(crate) calls: u64,
    /// Nothing was done to the job but to its clocks.
    pub(crate) is_left_alone: bool,
    /// Nothing can tell the cause: from its first second to its last, without a good run to compare with.
    pub(crate) is_hidden: bool,
    pub(crate) details: String,
}

pub(crate) fn blame(cause: Cause) -> Option<Blame> {
    match cause {
        Cause::Mapping => Some(Blame::Mapping),
        Cause::Pattern => Some(Blame::Pattern),
        Cause::Background => Some(Blame::Background),
        Cause::Cpu => Some(Blame::Cpu),
        Cause::None => None,
    }
}

impl Outcome {
    pub(crate) fn expected(&self) -> Option<Blame> {
        blame(self.truth.main.cause)
    }

    pub(crate) fn is_right(&self) -> bool {
        self.found.verdict.cause == self.expected()
    }

    /// Whether nobody disturbed the job, and no better placement saves anything either.
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.is_left_alone && self.expected().is_none()
    }

    /// Whether what costs most is so near to what is nothing that seconds which are near enough may say either.
    pub(crate) fn is_on_the_line(&self) -> bool {
        let most = self.truth.parts.iter().map(|part| part.share).fold(0.0, f64::max);
        (NEGLIGIBLE * (1.0 - NEAR)..=NEGLIGIBLE * (1.0 + NEAR)).contains(&most)
    }

    /// Whether several causes cost something, and, if so, whether those that do are found in the order of their cost. Two
    /// that cost nearly as much may come in either order.
    pub(crate) fn has_all_in_order(&self) -> Option<bool> {
        let mut true_shares = Blame::ALL.map(|cause| (cause, self.true_share(cause)));
        true_shares.sort_by(|one, other| other.1.total_cmp(&one.1));
        let costly = true_shares.iter().filter(|(_, share)| *share >= NEGLIGIBLE).count();
        if costly < 2 {
            return None;
        }
        let found = |cause: Blame| self.found_share(cause);
        let costs_what_it_should = |at: usize| {
            let (cause, share) = true_shares[at];
            let is_found = found(cause) >= NEGLIGIBLE || share < NEGLIGIBLE * (1.0 + NEAR);
            let before = at.checked_sub(1).map(|at| true_shares[at]);
            let in_order =
                |(other, more): (Blame, f64)| found(other) >= found(cause) || share > more * (1.0 - NEAR);
            is_found && before.is_none_or(in_order)
        };
        Some((0..costly).all(costs_what_it_should))
    }

    /// The share of the ranks' time that a cause costs.
    pub(crate) fn true_share(&self, cause: Blame) -> f64 {
        self.truth.parts.iter().filter(|part| blame(part.cause) == Some(cause)).map(|part| part.share).sum()
    }

    /// Likewise as it was found.
    pub(crate) fn found_share(&self, cause: Blame) -> f64 {
        let of_cause = self.found.causes.iter().find(|(blame, _)| *blame == cause);
        of_cause.map_or(0.0, |(_, seconds)| seconds / self.found.ranks_s)
    }

    /// How far the seconds are off, as a share of the true ones; none where nothing was to be found.
    pub(crate) fn error(&self) -> Option<f64> {
        let expected = self.expected()?;
        let found = self.found.causes.iter().find(|(blame, _)| *blame == expected)?.1;
        Some((found - self.truth.main.avoidable_s) / self.truth.main.avoidable_s)
    }

    pub(crate) fn line(&self) -> String {
        let word = |blame: Option<Blame>| blame.map_or("none", Blame::word);
        let shares: Vec<String> = self
            .found
            .causes
            .iter()
            .map(|(blame, seconds)| format!("{} {:.1}%", blame.word(), 100.0 * seconds / self.found.ranks_s))
            .collect();
        format!(
            "{} {}: {} ({:.1}%), found {} at {:.2} [{}] {:?} {}",
            if self.is_right() { "right" } else { "WRONG" },
            self.name,
            self.truth.main.cause.word(),
            100.0 * self.truth.main.share,
            word(self.found.verdict.cause),
            self.found.verdict.confidence,
            shares.join(", "),
            self.found.verdict.remarks,
            self.details,
        )
    }
}

/// Runs with other slow messages that a heavy tail is averaged over.
const DRAWS: u64 = 32;

struct Passed {
    builder: Option<GraphBuilder>,
    budgeter: Budgeter,
    network: Network,
    truth: Option<Truth>,
}

/// What messages and collectives take in the quiet network of a job, as `mpiscope calibrate` would find it.
fn calibrated(case: &Case, network: Network) -> Result<Option<Version>> {
    if !case.is_calibrated {
        return Ok(None);
    }
    let mut spec = Spec::new(Pattern::Ring, case.spec.ranks, 60.0, 2_000.0);
    spec.nodes = case.spec.nodes;
    spec.style = Style::Blocking;
    spec.network = Some(network);
    spec.noise = case.spec.noise;
    spec.sizes = case.spec.sizes;
    let of_job = case.spec.collectives.iter().flat_map(|of| of.kinds.iter().copied());
    let mut kinds: Vec<Collective> = of_job.collect();
    if !kinds.contains(&Collective::Allreduce) {
        kinds.push(Collective::Allreduce);
    }
    let bytes = case.spec.collectives.as_ref().map_or(8, |of| of.bytes);
    spec.collectives = Some(Collectives { every: 2, kinds, bytes });
    let quiet = Case { name: "quiet".into(), half: case.half, spec, is_hidden: false, is_calibrated: false };
    Ok(Some(pass(&quiet, None, false)?.budgeter.learnt()))
}

/// What a verdict rests on.
struct References<'a> {
    criteria: &'a Version,
    learnt: &'a Budgeter,
    /// What messages take in a quiet network, if that was measured.
    quiet: Option<&'a Version>,
}

/// A builder of the job's graph, which knows what messages take in a quiet network, as the program's does.
fn graph_builder(given: &References<'_>) -> GraphBuilder {
    let mut builder = GraphBuilder::new(kinds());
    if let Some(quiet) = given.quiet {
        builder.refer_to(quiet);
    }
    builder
}

/// One pass over a job; uses criteria where some are given.
fn pass(case: &Case, given: Option<&References<'_>>, wants_truth: bool) -> Result<Passed> {
    let mut run = generate(&case.spec)?;
    let mut ingest = Ingest::for_diagnosis();
    let mut windowed = Windowed::new(BudgetOptions::default());
    if let Some(References { criteria, learnt, .. }) = given {
        windowed = windowed.with_criteria((*criteria).clone());
        windowed.budgeter =
            windowed.budgeter.with_advice(learnt.advice()).with_course(learnt.course(criteria));
    }
    let mut builder = given.map(graph_builder);
    let mut take = |batch: Option<&Batch>, matched: Matched| {
        let Some(builder) = &mut builder else { return };
        if let Some(batch) = batch {
            batch.ranks.iter().for_each(|info| builder.place(info.rank, info.node));
            batch.calls.iter().for_each(|call| builder.call(call));
            batch.collected.iter().for_each(|of| builder.collected(*of));
            batch.scheduling.iter().for_each(|of| builder.scheduling(*of));
        }
        matched.messages.iter().for_each(|message| builder.message(message));
    };
    for message in run.by_ref() {
        if let Some(batch) = ingest.step(message) {
            let matched = windowed.feed(&batch, batch.until_ns);
            take(Some(&batch), matched);
        }
    }
    take(None, windowed.finish());
    let budgeter = windowed.budgeter;
    let network = run.network();
    let truth = wants_truth.then(|| {
        let share = saved_by_advice(case, &run, &budgeter);
        truth_with_placement(run.truth(), share)
    });
    Ok(Passed { builder, budgeter, network, truth })
}

/// The share of the run that it would take less with the placement that is advised.
fn saved_by_advice(case: &Case, run: &Run, budgeter: &Budgeter) -> f64 {
    // The analysis numbers nodes as their ranks come, the simulation as they are placed.
    let simulated: BTreeMap<Node, u32> =
        budgeter.node_of_rank().iter().copied().zip(run.node_of_rank().iter().copied()).collect();
    let advised = budgeter.advice().node_of_rank;
    let nodes: Vec<u32> = advised.iter().map(|node| simulated.get(node).copied().unwrap_or(node.0)).collect();
    let saved = |luck| {
        let is = run.seconds_if_placed(run.node_of_rank(), luck);
        (is - run.seconds_if_placed(&nodes, luck)) / is
    };
    // With a heavy tail one draw is a matter of luck.
    let draws = if matches!(case.spec.noise, Noise::HeavyTailed { .. }) { 0..DRAWS } else { 0..1 };
    draws.clone().map(saved).sum::<f64>() / draws.count() as f64
}

/// What a better placement really saves, from a run of the same job with it, in place of what the simulated placements
/// would save: ranks in their order are not always placed best.
fn truth_with_placement(mut truth: Truth, share: f64) -> Truth {
    let wall_s = truth.duration_s * share;
    truth.parts.retain(|part| part.cause != Cause::Mapping);
    truth.parts.push(Part {
        cause: Cause::Mapping,
        avoidable_s: wall_s * f64::from(truth.ranks),
        avoidable_wall_s: wall_s,
        share,
        from_s: 0.0,
        to_s: truth.duration_s,
    });
    truth.settle();
    truth
}

/// What all functions do, by number.
fn kinds() -> Vec<CallKind> {
    let most = FUNCTIONS.iter().map(|entry| usize::from(entry.id)).max().unwrap_or(0);
    let mut kinds = vec![CallKind::Local; most + 1];
    FUNCTIONS.iter().for_each(|entry| kinds[usize::from(entry.id)] = CallKind::of_name(entry.name));
    kinds
}

/// What replays without each cause save.
fn replayed(graph: &Graph, advised: &[Node]) -> ReplaySavings {
    let found = graph.savings(Some(advised));
    ReplaySavings {
        wall_s: found.causes.map(|saving| saving.wall_ns / 1e9),
        range_s: found.causes.map(|saving| (saving.range_ns.0 / 1e9, saving.range_ns.1 / 1e9)),
        departs: found.departure.map(|departure| (departure.rank, departure.at_ns)),
        unexplained_s: graph.quality().unexplained_ns as f64 / 1e9,
    }
}

/// A job after both passes: what its verdict rests on beside its graph.
struct Diagnosed<'a> {
    case: &'a Case,
    /// After the pass that learnt criteria, and after the one that used them.
    learnt: Budgeter,
    budgeter: Budgeter,
    truth: Truth,
}

impl<'a> Diagnosed<'a> {
    /// Both passes; and what the graph is built from.
    fn pass(case: &'a Case) -> Result<(Self, GraphBuilder)> {
        let first = pass(case, None, true)?;
        let learnt = first.budgeter.learnt();
        let quiet = calibrated(case, first.network)?;
        let criteria = match &quiet {
            Some(quiet) => learnt.held_against(quiet),
            None => learnt,
        };
        let given = References { criteria: &criteria, learnt: &first.budgeter, quiet: quiet.as_ref() };
        let second = pass(case, Some(&given), false)?;
        let truth = first.truth.unwrap_or_else(|| unreachable!("it was asked for"));
        let builder = second.builder.unwrap_or_else(|| unreachable!("criteria were given"));
        Ok((Self { case, learnt: first.budgeter, budgeter: second.budgeter, truth }, builder))
    }

    fn outcome(&self, builder: GraphBuilder) -> Result<Outcome> {
        let Self { case, learnt, budgeter, truth } = self;
        let graph = builder.finish().ok().context("the run has no graph")?;
        let replayed = replayed(&graph, &learnt.advice().node_of_rank);
        let basis = Basis::new(budgeter, case.is_calibrated, replayed);
        let (length_ns, _) = budgeter.critical_path();
        let total = budgeter.ledger().total();
        let found = basis.assess(&total, case.spec.ranks, length_ns);
        let share = |ns: i64| format!("{:.1}", 100.0 * ns as f64 / 1e9 / found.ranks_s);
        let details = format!(
            "waiting by {:?} direct {:?} quiet {:.2}, truth {:?}",
            mpiscope_diagnosis::Cause::ALL.map(|cause| share(total.budget.waiting_by[cause])),
            mpiscope_diagnosis::Cause::ALL.map(|cause| share(total.budget.direct[cause])),
            basis.quiet_level(),
            truth
                .parts
                .iter()
                .map(|part| format!("{} {:.1}%", part.cause.word(), 100.0 * part.share))
                .collect::<Vec<_>>(),
        );
        Ok(Outcome {
            name: case.name.clone(),
            half: case.half,
            calls: truth.calls,
            truth: truth.clone(),
            found,
            is_left_alone: case
                .spec
                .disturb
                .iter()
                .all(|of| matches!(of, Disturbance::DriftingClocks { .. })),
            is_hidden: case.is_hidden,
            details,
        })
    }
}

pub(crate) fn diagnose(case: &Case) -> Result<Outcome> {
    let (diagnosed, builder) = Diagnosed::pass(case)?;
    diagnosed.outcome(builder)
}

/// By all rules, and without each of these.
pub(crate) fn diagnose_without_each(case: &Case, rules: &[Rule]) -> Result<Vec<Outcome>> {
    let (diagnosed, builder) = Diagnosed::pass(case)?;
    without_each(&builder, rules).map(|builder| diagnosed.outcome(builder)).collect()
}
