//! The comparison for people: at most sixty lines, the largest changes first.

use crate::functions::{changed, times};
use crate::wording::{amount, on, time};
use mpiscope_feed::{Alignment, BudgetChange, Comparison, Count, Figure, RegionChange};
use mpiscope_model::words::{bytes, count, nanoseconds, plural, ranges};
use std::fmt::Write as _;

/// So much fits on a page.
const MOST_REMARKS: usize = 6;
const MOST_FUNCTIONS: usize = 8;
const MOST_PLACES: usize = 6;
const MOST_MEDIANS: usize = 4;
const MOST_REGIONS: usize = 3;
const MOST_STRETCHES: usize = 4;

/// What changed, in sentences.
#[must_use]
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(comparison, &mut out);
    out.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn write(comparison: &Comparison, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{}", comparison.answer)?;
    writeln!(out)?;
    for (name, side, of) in [("A", &comparison.a, 0), ("B", &comparison.b, 1)] {
        let of = |count: &Count| [count.a, count.b][of].unwrap_or_default();
        let (ranks, nodes) =
            (plural(of(&comparison.job.ranks), "rank"), plural(of(&comparison.job.nodes), "node"));
        let length = [comparison.job.duration_s.a, comparison.job.duration_s.b][usize::from(name == "B")];
        let length = length.map_or_else(|| "of unknown length".into(), time);
        writeln!(out, "  {name}  {length}, {ranks} on {nodes}, {}", side.folder)?;
        if !side.headline.is_empty() {
            writeln!(out, "     {}", side.headline)?;
        }
    }
    if comparison.remarks.len() > MOST_REMARKS {
        writeln!(out, "  {} more remarks (--json has them)", comparison.remarks.len() - MOST_REMARKS)?;
    }
    comparison.remarks.iter().take(MOST_REMARKS).try_for_each(|remark| writeln!(out, "  {remark}"))?;
    alignment(&comparison.alignment, out)?;
    whole(comparison, out)?;
    functions(comparison, out)?;
    places(comparison, out)?;
    medians(comparison, out)?;
    regions(comparison, out)?;
    others(comparison, out)?;
    writeln!(out, "\n  {}", comparison.noise.sentence)
}

/// By what the runs are aligned, and where B loses time.
fn alignment(alignment: &Alignment, out: &mut String) -> std::fmt::Result {
    if alignment.reason.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {}", alignment.reason)?;
    let all = &alignment.stretches;
    all.iter().take(MOST_STRETCHES).try_for_each(|stretch| writeln!(out, "    {}", stretch.sentence))?;
    more(all.len(), MOST_STRETCHES, "difference", out)?;
    match (alignment.by.as_str(), all.is_empty()) {
        ("start", _) | (_, false) => Ok(()),
        (by, true) => writeln!(out, "    no {by} took another time"),
    }
}

/// A, B, what is between them, and how many times.
fn columns(figure: &Figure, is_share: bool) -> String {
    let of = |value: Option<f64>| value.map_or_else(|| "?".into(), |value| amount(value, is_share));
    let change = figure.change.unwrap_or_default();
    let sign = if change.difference < 0.0 { "-" } else { "+" };
    let difference = if is_share {
        format!("{sign}{:.1} pts", 100.0 * change.difference.abs())
    } else {
        format!("{sign}{}", time(change.difference.abs()))
    };
    let ratio = change.ratio.filter(|ratio| *ratio > 0.0).map_or_else(String::new, times);
    format!("{:>10} {:>10} {difference:>11} {ratio:>7}", of(figure.a), of(figure.b))
}

fn heading(out: &mut String, name: &str, width: usize) -> std::fmt::Result {
    writeln!(out, "\n  {name:<width$} {:>10} {:>10} {:>11}", "A", "B", "change")
}

/// A part of a rank's time, and what it is made of.
type Part<'a> = (&'a str, &'a Figure, Vec<(&'a str, &'a Figure)>);

/// The length of the run, and what a rank did in it.
fn whole(comparison: &Comparison, out: &mut String) -> std::fmt::Result {
    const WIDTH: usize = 30;
    let is_share = comparison.basis == "share";
    heading(out, if is_share { "share of a rank's time" } else { "time of a rank" }, WIDTH)?;
    let mut row = |name: &str, figure: &Figure, is_share: bool| {
        writeln!(out, "  {name:<WIDTH$} {}", columns(figure, is_share))
    };
    if !is_share {
        row("the whole run", &comparison.job.duration_s, false)?;
    }
    let Some(of_rank) = &comparison.of_rank else { return Ok(()) };
    row("in MPI", &of_rank.total, is_share)?;
    for (name, figure, inner) in parts(of_rank) {
        if changed(figure) || inner.iter().any(|(_, of)| changed(of)) {
            row(name, figure, is_share)?;
        }
        inner.iter().filter(|(_, of)| changed(of)).try_for_each(|(name, of)| row(name, of, is_share))?;
    }
    Ok(())
}

/// Where the time of a rank went, the largest change first.
fn parts(of_rank: &BudgetChange) -> [Part<'_>; 5] {
    let by = &of_rank.waiting_by;
    let size = |of: &Figure| of.change.map_or(0.0, |change| change.difference.abs());
    let mut parts: [Part<'_>; 5] = [
        ("outside of MPI", &of_rank.outside, Vec::new()),
        ("finished, after its last call", &of_rank.finished, Vec::new()),
        (
            "waiting for others",
            &of_rank.waiting,
            vec![
                ("  because of load imbalance", &by.compute),
                ("    of it waiting for a CPU", &by.cpu_wait),
                ("  behind messages, collectives", &by.transfer),
            ],
        ),
        (
            "messages, collectives",
            &of_rank.transfer,
            vec![
                ("  expected transfer time", &of_rank.base),
                ("  inter-node cost", &of_rank.distance),
                ("  slower than expected", &of_rank.excess),
                ("  collective operations", &of_rank.operation),
                ("  unknown", &of_rank.unknown),
            ],
        ),
        ("other calls, CPU wait in MPI", &of_rank.other, Vec::new()),
    ];
    parts.sort_by(|one, other| size(other.1).total_cmp(&size(one.1)));
    parts
}

fn functions(comparison: &Comparison, out: &mut String) -> std::fmt::Result {
    let all: Vec<_> = comparison.functions.iter().filter(|of| changed(&of.of_rank)).collect();
    if all.is_empty() {
        return writeln!(out, "\n  No function took another time.");
    }
    heading(out, "function, time of a rank", 30)?;
    for of in all.iter().take(MOST_FUNCTIONS) {
        let figures = columns(&of.of_rank, comparison.basis == "share");
        writeln!(out, "  {:<30} {figures}  {}{}", of.name, of.why, on(&of.ranks))?;
    }
    more(all.len(), MOST_FUNCTIONS, "function", out)
}

fn more(all: usize, listed: usize, what: &str, out: &mut String) -> std::fmt::Result {
    match all.saturating_sub(listed) {
        0 => Ok(()),
        1 => writeln!(out, "  1 more {what} (--json has it)"),
        left => writeln!(out, "  {left} more {what}s (--json has them)"),
    }
}

fn places(comparison: &Comparison, out: &mut String) -> std::fmt::Result {
    let all: Vec<_> = comparison.sites.iter().filter(|of| changed(&of.of_rank)).collect();
    if all.is_empty() {
        return Ok(());
    }
    let name = |site: &mpiscope_feed::SiteChange| {
        let moved = match (site.line.a, site.line.b) {
            (Some(a), Some(b)) if a != b => format!(" (line {a} in A)"),
            _ => String::new(),
        };
        format!("{} {}{moved}", site.place, site.calls_function.as_deref().unwrap_or("?"))
    };
    let names: Vec<String> = all.iter().take(MOST_PLACES).map(|site| name(site)).collect();
    // Long names stand out rather than push the figures from the screen.
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().clamp(30, 60);
    heading(out, "call site", width)?;
    for (site, name) in all.iter().zip(names) {
        writeln!(
            out,
            "  {name:<width$} {}  {}",
            columns(&site.of_rank, comparison.basis == "share"),
            site.why
        )?;
    }
    more(all.len(), MOST_PLACES, "call site", out)
}

/// The expected times of messages and collectives, those that changed most first.
fn medians(comparison: &Comparison, out: &mut String) -> std::fmt::Result {
    let far = |count: &Count| {
        let ratio = count.change.filter(|change| change.is_change).and_then(|change| change.ratio);
        ratio.map_or(0.0, |ratio| ratio.max(1e-9).ln().abs())
    };
    let mut lines: Vec<(f64, String)> = Vec::new();
    let line = |what: String, count: &Count| {
        let of = |value: Option<u64>| nanoseconds(value.unwrap_or_default());
        let ratio = count.change.and_then(|change| change.ratio).unwrap_or(1.0);
        format!("{what}: expected {} instead of {} ({} as long)", of(count.b), of(count.a), times(ratio))
    };
    for of in comparison.criteria.iter().flatten() {
        let scope = if of.scope == "intra" { "within nodes" } else { "between nodes" };
        lines.push((
            far(&of.median_ns),
            line(format!("messages {scope} from {}", bytes(of.size_from)), &of.median_ns),
        ));
    }
    for of in comparison.collectives.iter().flatten() {
        let root = if of.is_root { " at the root" } else { "" };
        let what =
            format!("{} of {} among {}{root}", of.function, bytes(of.bytes), plural(of.ranks.into(), "rank"));
        lines.push((far(&of.median_ns), line(what, &of.median_ns)));
    }
    lines.retain(|(far, _)| *far > 0.0);
    lines.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    if !lines.is_empty() {
        writeln!(out)?;
    }
    lines.iter().take(MOST_MEDIANS).try_for_each(|(_, line)| writeln!(out, "  {line}"))?;
    more(lines.len(), MOST_MEDIANS, "median", out)
}

fn regions(comparison: &Comparison, out: &mut String) -> std::fmt::Result {
    let Some(all) = &comparison.regions else { return Ok(()) };
    let mut others: Vec<&RegionChange> = all.iter().filter(|of| of.became != "stayed").collect();
    if others.is_empty() {
        return Ok(());
    }
    others.sort_by(|one, other| one.overlap.total_cmp(&other.overlap));
    writeln!(
        out,
        "\n  regions of ranks that talk mostly among themselves: {} stayed, {} did not",
        all.len() - others.len(),
        others.len()
    )?;
    let named = |ranges_of: &[(u32, u32)]| {
        let each: Vec<u32> = ranges_of.iter().flat_map(|&(first, last)| first..=last).collect();
        ranges(&each)
    };
    for of in others.iter().take(MOST_REGIONS) {
        let (a, b) = (named(&of.a_ranks), named(&of.b_ranks));
        let line = match (of.became.as_str(), of.a.len(), of.b.len()) {
            ("split", _, parts) => format!("{a} became {parts} regions"),
            ("joined", parts, _) => format!("{parts} regions became that of {b}"),
            ("gone", ..) => format!("that of {a} is gone"),
            ("new", ..) => format!("that of {b} is new"),
            _ => format!("{a} became {b}"),
        };
        writeln!(out, "    {line}")?;
    }
    more(others.len(), MOST_REGIONS, "region", out)
}

/// Counts and what the machine did, where that changed.
fn others(comparison: &Comparison, out: &mut String) -> std::fmt::Result {
    let totals = &comparison.totals;
    let mut parts: Vec<String> = Vec::new();
    let mut add = |name: &str, of: &Count, say: fn(u64) -> String| {
        if of.change.is_some_and(|change| change.is_change) {
            let value = |value: Option<u64>| say(value.unwrap_or_default());
            parts.push(format!("{name} {} instead of {}", value(of.b), value(of.a)));
        }
    };
    add("calls", &totals.calls, count);
    add("messages", &totals.messages, count);
    add("messages between nodes", &totals.inter_messages, count);
    add("payload", &totals.bytes, bytes);
    add("lost calls", &totals.lost_calls, count);
    add("unmatched sends", &totals.unmatched_sends, count);
    add("ended before they began", &totals.clock_violations, count);
    add("clock uncertainty", &comparison.quality.clock_uncertainty_ns, nanoseconds);
    let cpu_wait = &comparison.quality.cpu_wait_share;
    if changed(cpu_wait) {
        let share = |value: Option<f64>| format!("{:.0} %", 100.0 * value.unwrap_or_default());
        parts.push(format!(
            "waiting for a CPU {} of the time instead of {}",
            share(cpu_wait.b),
            share(cpu_wait.a)
        ));
    }
    if parts.is_empty() { Ok(()) } else { writeln!(out, "\n  {}", parts.join("; ")) }
}
