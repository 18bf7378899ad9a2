//! The part of a recording that `--from`, `--to` and `--rank` select. Its figures are the page's: both ask the same question.

use crate::command_line::{ReportOptions, ReportPart, range_ns};
use crate::report::text;
use anyhow::{Result, bail};
use mpiscope_engine::load::{self, Loaded};
use mpiscope_engine::uncounted;
use mpiscope_feed::exchange::{Content, Question, Ranks, SelectedQuestion};
use mpiscope_feed::{Overview, RangeBudget, Selected, SelectedFunctions};
use mpiscope_model::words::{bytes, count, nanoseconds, plural, run_time};
use mpiscope_page::{RunData, inform};
use mpiscope_placement::Placements;
use mpiscope_process::output::bold;
use mpiscope_recording::Recording;
use mpiscope_verdict::{ADVICE, Findings};
use std::fmt::Write as _;
use std::time::Duration;

/// Calls, and messages, that stay in memory while they are summed up.
const CACHE_BYTES: usize = 16 << 20;
const NS_PER_S: f64 = 1e9;

/// What is left out of the report of a selection.
pub(super) const OF_THE_RUN: &str = "waits, call sites and the placement are of the whole run only: run mpiscope report \
     without --from, --to and --rank";

/// A selection and its figures.
pub(crate) struct Selection {
    pub(super) ranks: Ranks,
    pub(super) figures: Selected,
}

impl Selection {
    /// The figures of what the options select; none where they select all.
    pub(super) fn read(
        options: &ReportOptions,
        loaded: &Loaded,
        findings: Option<&Findings>,
    ) -> Result<Option<Self>> {
        let (dir, ReportPart { from, to, rank }) = (&options.dir, &options.part);
        if from.is_none() && to.is_none() && rank.is_none() {
            return Ok(None);
        }
        let range_ns = range_ns(*from, *to)?.unwrap_or(0..u64::MAX);
        let recording = Recording::open(dir)?;
        if load::is_in_log(&recording) {
            bail!("{} is not complete: run mpiscope repair first", dir.display());
        }
        let library = RunData::of_recording(&recording, CACHE_BYTES, Placements::of_recording(dir))
            .into_library(dir, Overview::default());
        inform(&library, loaded, findings, loaded.end_ns().max(load::last_call_ns(&recording)));
        let ranks = rank.as_ref().map(|list| list.ranges());
        let question = SelectedQuestion { range_ns, ranks: ranks.clone(), hidden: Vec::new() };
        match library.answer(0, &Question::Selected(question)).content {
            Some(Content::Selected(figures)) => Ok(Some(Self { ranks, figures })),
            Some(Content::Error(error)) => bail!(error),
            _ => bail!("the answer to the selection is none"),
        }
    }

    /// The report for people.
    pub(super) fn text(&self, loaded: &Loaded) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(loaded, &mut out);
        out
    }

    fn write(&self, loaded: &Loaded, out: &mut String) -> std::fmt::Result {
        let figures = &self.figures;
        let [from, to] = [figures.from_ns, figures.to_ns].map(|ns| run_time(Duration::from_nanos(ns)));
        let ranks = figures.ranks.rank.0.len() as u64;
        writeln!(out, "{}", loaded.run)?;
        writeln!(out, "  {from} to {to}, {} of {}\n", plural(ranks, "rank"), count(loaded.job.ranks.into()))?;
        if let Some(budget) = &figures.budget {
            verdict(budget, out)?;
        }
        self.totals(loaded, out)?;
        functions(&figures.functions, out)?;
        writeln!(out, "\n  Not shown: {OF_THE_RUN}.")?;
        text::missing(loaded, out)
    }

    fn totals(&self, loaded: &Loaded, out: &mut String) -> std::fmt::Result {
        let figures = &self.figures;
        let mut row = |name: &str, value: String| writeln!(out, "  {name:<24} {value:>16}");
        row("calls", count(figures.calls))?;
        row("folded polls", count(figures.polls))?;
        row("time in MPI", nanoseconds(figures.mpi_time_ns))?;
        row("messages", count(figures.messages))?;
        row("  within nodes", count(figures.intra_messages))?;
        row("  between nodes", count(figures.inter_messages))?;
        row("payload", bytes(figures.bytes))?;
        if let Some(budget) = &figures.budget {
            row("waiting in MPI", nanoseconds((budget.parts.waiting_s.max(0.0) * NS_PER_S) as u64))?;
            // Windows are longer than a short range, and may not reach to its end yet.
            if (budget.from_ns, budget.to_ns) != (figures.from_ns, figures.to_ns) {
                let [from, to] = [budget.from_ns, budget.to_ns].map(|ns| run_time(Duration::from_nanos(ns)));
                row("  from", from)?;
                row("  to", to)?;
            }
        }
        let lost = loaded.losses.total();
        if lost > 0 || !loaded.uncounted.is_empty() {
            row("lost calls of the run", count(lost) + &uncounted::note(&loaded.uncounted))?;
        }
        Ok(())
    }
}

/// What the selection lost time to, if that is known, or why it is not.
fn verdict(budget: &RangeBudget, out: &mut String) -> std::fmt::Result {
    if let Some(verdict) = &budget.verdict {
        writeln!(out, "  {}", bold(&verdict.sentence))?;
        verdict.details.iter().try_for_each(|detail| writeln!(out, "  {detail}"))?;
        if !verdict.actions.is_empty() {
            writeln!(out, "  {ADVICE}{}", verdict.actions.join(" "))?;
        }
        writeln!(out)?;
    }
    if budget.is_within_a_window() {
        let window = nanoseconds(budget.window_ns);
        writeln!(
            out,
            "  Shorter than a window of {window}: no verdict, and waiting is the average of that window.\n"
        )?;
    }
    Ok(())
}

/// The functions, the longest time first.
fn functions(functions: &SelectedFunctions, out: &mut String) -> std::fmt::Result {
    let mut order: Vec<usize> = (0..functions.function.0.len()).collect();
    order.sort_by(|one, other| functions.time_ns.0[*other].total_cmp(&functions.time_ns.0[*one]));
    writeln!(out, "\n  {:<22} {:>14} {:>10} {:>9} {:>9}", "function", "calls", "time", "median", "longest")?;
    for at in order {
        let time = |ns: f64| nanoseconds(ns as u64);
        writeln!(
            out,
            "  {:<22} {:>14} {:>10} {:>9} {:>9}",
            name(functions.function.0[at]).unwrap_or("?"),
            count((functions.calls.0[at] + functions.polls.0[at]) as u64),
            time(functions.time_ns.0[at]),
            time(functions.p50_ns.0[at]),
            time(functions.max_ns.0[at]),
        )?;
    }
    Ok(())
}

/// The name of a function that is recorded.
pub(super) fn name(function: u32) -> Option<&'static str> {
    Some(mpiscope_wire::by_id(function.try_into().ok()?)?.name)
}
