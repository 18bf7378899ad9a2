//! The main thing in one sentence, and what limits the comparison.

use crate::digest::{Digest, Pair};
use crate::functions::{changed, stand_out, times};
use crate::noise::{RATIO, beyond};
use crate::wording::{amount, on, time};
use mpiscope_feed::{BudgetChange, Comparison, Figure};
use mpiscope_model::words::{counted, plural};

/// What is less of a difference than this is not the reason for it.
const MUCH: f64 = 0.25;
/// A cause or a rank that so much of the waiting is for is named.
const MOST: f64 = 0.5;
const UNEVEN: &str = "load imbalance";
const SLOW: &str = "behind messages slower than expected";
/// This share of what came back under another name is reported.
const TRADED: f64 = 0.2;

/// What changed, in one sentence.
pub(crate) fn answer(pair: &Pair<'_>, comparison: &Comparison) -> String {
    if pair.is_share {
        return cut_off(pair, comparison);
    }
    let (Some(a_s), Some(b_s)) = (pair.a.duration_s(), pair.b.duration_s()) else {
        return "How long the runs took is not known, so their lengths are not compared.".into();
    };
    let change = comparison.job.duration_s.change.unwrap_or_default();
    let than = if change.difference > 0.0 { "longer" } else { "less" };
    let took = format!(
        "B took {} {than} than A ({:+.0} %)",
        time(change.difference.abs()),
        100.0 * (b_s / a_s - 1.0)
    );
    if change.is_change {
        return format!("{took}, {}.", mostly(pair, comparison, change.difference));
    }
    let largest = comparison.functions.first().filter(|of| changed(&of.of_rank)).map(|of| {
        let change = of.of_rank.change.unwrap_or_default();
        format!("what changed most is {} ({} of a rank)", of.name, signed(change.difference))
    });
    let same = format!("B took as long as A ({} and {})", time(b_s), time(a_s));
    match (beyond(a_s, b_s, RATIO), largest) {
        (true, None) => format!("{took}, which is within the noise of the runs."),
        (true, Some(largest)) => format!("{took}, within the noise of the runs; {largest}."),
        (false, None) => format!("No change: {same}."),
        (false, Some(largest)) => format!("{same}; {largest}."),
    }
}

fn signed(seconds: f64) -> String {
    format!("{}{}", if seconds < 0.0 { "-" } else { "+" }, time(seconds.abs()))
}

/// Which recordings were cut off, and what changed most nevertheless.
fn cut_off(pair: &Pair<'_>, comparison: &Comparison) -> String {
    let lasted = |of: &Digest| of.duration_s().map(|seconds| format!(" after {}", time(seconds)));
    let state = |name: &str, of: &Digest| {
        let lasted = lasted(of).unwrap_or_default();
        match of.job.exit {
            _ if of.is_whole() => format!("{name} ended{lasted}"),
            Some(exit) => format!("{name} was killed by signal {}{lasted}", exit - 128),
            None if of.side.state == "running" => format!("{name} still runs{lasted}"),
            None => format!("{name} was cut off{lasted}"),
        }
    };
    let most = comparison.functions.first().filter(|of| changed(&of.of_rank)).map(|of| {
        let figure = &of.of_rank;
        let share = |value: Option<f64>| amount(value.unwrap_or_default(), true);
        format!(
            "; what changed most is {}, {} of a rank's time instead of {}",
            of.name,
            share(figure.b),
            share(figure.a)
        )
    });
    let runs = [state("A", pair.a), state("B", pair.b)].join(" and ");
    format!("{runs}, so their lengths are not compared{}.", most.unwrap_or_default())
}

/// A part of a rank's time that may be the reason.
struct Part {
    difference: f64,
    words: String,
}

/// Of what the difference is mostly.
fn mostly(pair: &Pair<'_>, comparison: &Comparison, difference: f64) -> String {
    let mut parts = parts(pair, comparison, difference.signum());
    parts.retain(|part| part.difference >= MUCH * difference.abs());
    parts.sort_by(|one, other| other.difference.total_cmp(&one.difference));
    parts.truncate(2);
    let words: Vec<&str> = parts.iter().map(|part| part.words.as_str()).collect();
    match words[..] {
        [] => "and no part of it changed by more than noise".into(),
        [one] => format!("mostly {one}"),
        [one, other, ..] => format!("mostly {one}, and {other}"),
    }
}

/// Parts that changed in the direction of the whole.
fn parts(pair: &Pair<'_>, comparison: &Comparison, direction: f64) -> Vec<Part> {
    let less = if direction < 0.0 { "less " } else { "" };
    let mut parts = Vec::new();
    let mut add = |figure: &Figure, words: &dyn Fn() -> String| {
        let difference =
            figure.change.filter(|change| change.is_change).map_or(0.0, |change| change.difference);
        if difference * direction > 0.0 {
            parts.push(Part { difference: difference * direction, words: format!("{less}{}", words()) });
        }
    };
    let Some(budget) = &comparison.of_rank else {
        add(&outside(pair, comparison), &|| format!("time outside of MPI{}", on_outside(pair, comparison)));
        for function in &comparison.functions {
            add(&function.of_rank, &|| format!("time {}", in_function(comparison, &function.name)));
        }
        return parts;
    };
    add(&budget.outside, &|| format!("time outside of MPI{}", on_outside(pair, comparison)));
    add(&budget.finished, &|| "time after the last call of ranks that have finished".into());
    add(&budget.waiting, &|| waiting(pair, comparison, direction));
    let of = |figure: &Figure| figure.change.map_or(0.0, |change| change.difference * direction);
    let most =
        comparison.functions.iter().max_by(|one, other| of(&one.of_rank).total_cmp(&of(&other.of_rank)));
    let place = most.map(|function| in_function(comparison, &function.name)).unwrap_or_default();
    // What a worse placement does first of all.
    let between = comparison.totals.inter_messages.change.filter(|change| change.is_change);
    let between =
        between.filter(|change| change.difference as f64 * direction > 0.0).and_then(|change| change.ratio);
    let between = between.map(|ratio| format!(" ({} as many messages between nodes)", times(ratio)));
    let between = between.unwrap_or_default();
    add(&budget.transfer, &|| format!("messages and collectives under way {place}{between}"));
    add(&budget.other, &|| format!("calls that transfer nothing {place}"));
    parts
}

/// What is not in MPI, without a diagnosis.
fn outside(pair: &Pair<'_>, comparison: &Comparison) -> Figure {
    let ((in_a, in_b), (finished_a, finished_b)) = (pair.in_mpi(), pair.finished());
    let mut figure = comparison.job.duration_s;
    if let Some(change) = &mut figure.change {
        change.difference -= in_b - in_a + finished_b - finished_a;
    }
    figure
}

/// The ranks that were longer outside of MPI, where not all were.
fn on_outside(pair: &Pair<'_>, comparison: &Comparison) -> String {
    if pair.a.job.ranks != pair.b.job.ranks {
        return String::new();
    }
    let mut changes = vec![
        comparison.job.duration_s.change.map_or(0.0, |change| change.difference);
        pair.a.job.ranks as usize
    ];
    for (of, sign) in [(pair.a, 1.0), (pair.b, -1.0)] {
        for function in of.windows.functions.values() {
            changes.iter_mut().zip(&function.by_rank).for_each(|(sum, seconds)| *sum += sign * seconds);
        }
        changes.iter_mut().zip(&of.finished_s).for_each(|(sum, seconds)| *sum += sign * seconds);
    }
    on(&stand_out(&changes))
}

/// A function with the place that changed most in it, and the ranks.
fn in_function(comparison: &Comparison, name: &str) -> String {
    let sites = comparison.sites.iter().filter(|site| site.calls_function.as_deref() == Some(name));
    let size = |figure: &Figure| figure.change.map_or(0.0, |change| change.difference.abs());
    let most = sites.max_by(|one, other| size(&one.of_rank).total_cmp(&size(&other.of_rank)));
    let place = most.map(|site| format!(" at {}", site.place)).unwrap_or_default();
    let ranks = comparison
        .functions
        .iter()
        .find(|function| function.name == name)
        .map(|function| on(&function.ranks));
    format!("in {name}{place}{}", ranks.unwrap_or_default())
}

/// Where most more is waited, for whom and why.
fn waiting(pair: &Pair<'_>, comparison: &Comparison, direction: f64) -> String {
    let of = |figure: &Figure| figure.change.map_or(0.0, |change| change.difference * direction);
    let site = comparison
        .sites
        .iter()
        .filter(|site| of(&site.waiting_of_rank) > 0.0)
        .max_by(|one, other| of(&one.waiting_of_rank).total_cmp(&of(&other.waiting_of_rank)));
    let function =
        comparison.functions.iter().max_by(|one, other| of(&one.of_rank).total_cmp(&of(&other.of_rank)));
    let name = site.and_then(|site| site.calls_function.as_deref()).or(function.map(|of| of.name.as_str()));
    let name = name.unwrap_or_default();
    let place = site.map(|site| format!(" at {}", site.place)).unwrap_or_default();
    let ranks =
        comparison.functions.iter().find(|of| of.name == name).map(|of| on(&of.ranks)).unwrap_or_default();
    let why = because(comparison, direction);
    let awaited = match awaited(pair, name, direction) {
        Some(rank) => format!(", for rank {rank}"),
        // Who has more work is waited for.
        None if why == Some(UNEVEN) => on_outside(pair, comparison).replacen(" on ", ", for ", 1),
        None => String::new(),
    };
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    format!("waiting in {name}{place}{ranks}{awaited}{why}")
}

/// For whom more is waited in a function, where that is mostly one.
fn awaited(pair: &Pair<'_>, function: &str, direction: f64) -> Option<u32> {
    let mut changes: std::collections::BTreeMap<u32, f64> = std::collections::BTreeMap::new();
    for (of, sign) in [(pair.a, -direction), (pair.b, direction)] {
        for wait in &of.findings.as_ref()?.diagnosis.waits {
            if wait.function == function {
                *changes.entry(wait.awaited).or_default() += sign * wait.seconds;
            }
        }
    }
    let all: f64 = changes.values().filter(|change| **change > 0.0).sum();
    let (rank, most) = changes.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (most > MOST * all && all > 0.0).then_some(rank)
}

/// What kept those who were waited for.
fn because(comparison: &Comparison, direction: f64) -> Option<&'static str> {
    let by = &comparison.of_rank.as_ref()?.waiting_by;
    let of = |figure: &Figure| figure.change.map_or(0.0, |change| change.difference * direction);
    let compute = of(&by.compute);
    let causes = [
        (compute, if of(&by.cpu_wait) > MOST * compute { "ranks waiting for a CPU" } else { UNEVEN }),
        (
            of(&by.transfer),
            if of(&by.excess) > MOST * of(&by.transfer) { SLOW } else { "behind messages of others" },
        ),
    ];
    let all: f64 = causes.iter().map(|(change, _)| change.max(0.0)).sum();
    let (most, words) = causes.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    (most > MOST * all && all > 0.0).then_some(words)
}

/// What limits the comparison, a sentence each.
pub(crate) fn remarks(pair: &Pair<'_>, comparison: &Comparison) -> Vec<String> {
    let mut remarks = differences_of_jobs(pair);
    if comparison.of_rank.as_ref().is_some_and(trade_places) {
        remarks.push(
            "Each run learned its own expected transfer times. Time may have moved between these four without a real change: \
             expected transfer time, inter-node cost, slower than expected, unknown. `mpiscope run --criteria A` diagnoses \
             the next run by A."
                .into(),
        );
    }
    for (name, of) in [("A", pair.a), ("B", pair.b)] {
        if of.findings.is_none() {
            remarks.push(format!("{name} has no diagnosis: where it lost time is not compared."));
        }
        let lost = of.lost_calls;
        if lost > 0 {
            let missing = counted(lost, "call");
            remarks.push(format!(
                "In {name} {missing} of {} are missing.",
                of.totals.calls + of.totals.polls + lost
            ));
        }
    }
    remarks
}

/// In what the jobs themselves differ, a sentence each.
fn differences_of_jobs(pair: &Pair<'_>) -> Vec<String> {
    let (a, b) = (pair.a, pair.b);
    let mut remarks = Vec::new();
    if a.side.run == b.side.run && a.side.started_unix_ns == b.side.started_unix_ns && !a.side.run.is_empty()
    {
        remarks.push("A and B are the same recording.".into());
    }
    if a.job.ranks != b.job.ranks {
        remarks.push(format!(
            "A has {} and B {}: times are the mean of a rank, and regions are not compared.",
            plural(a.job.ranks.into(), "rank"),
            plural(b.job.ranks.into(), "rank")
        ));
    }
    if a.job.command != b.job.command {
        remarks.push(format!(
            "The commands differ: A  {}  B  {}",
            a.job.command.join(" "),
            b.job.command.join(" ")
        ));
    }
    if a.job.mpi != b.job.mpi {
        remarks.push(format!("The MPI differs: A  {}  B  {}", a.job.mpi, b.job.mpi));
    }
    if pair.is_share {
        remarks.push("One of them has no end of its own: times are shares of each run, not seconds.".into());
    } else if a.job.exit != b.job.exit {
        let exit = |of: &Digest| {
            of.job.exit.map_or_else(|| "an unknown exit status".into(), |exit| format!("exit status {exit}"))
        };
        remarks.push(format!("A ended with {} and B with {}.", exit(a), exit(b)));
    }
    remarks
}

/// Whether what messages take went from one part to another rather than changed.
fn trade_places(of_rank: &BudgetChange) -> bool {
    let parts = [&of_rank.base, &of_rank.distance, &of_rank.excess, &of_rank.operation, &of_rank.unknown];
    let moved = |figure: &Figure| {
        figure.change.filter(|change| change.is_change).map_or(0.0, |change| change.difference)
    };
    let (up, down) =
        parts.iter().map(|part| moved(part)).fold((0.0_f64, 0.0_f64), |(up, down), difference| {
            (up + difference.max(0.0), down + (-difference).max(0.0))
        });
    up.min(down) > TRADED * up.max(down)
}
