//! The report for people.

use super::sites::{SiteFigures, sites};
use mpiscope_engine::load::Loaded;
use mpiscope_engine::uncounted;
use mpiscope_feed::Diagnosis;
use mpiscope_matching::Counts;
use mpiscope_model::words::{bytes, count, nanoseconds, plural, run_time_of};
use mpiscope_placement::Placement;
use mpiscope_process::output::bold;
use mpiscope_recording::State;
use mpiscope_verdict::{
    Findings, blocked_sentence, budget_lines, regions_sentence, verdict_sentences, where_ranks_run,
};
use mpiscope_wire::Family;
use std::fmt::Write as _;

/// So much fits on a page.
const MOST_FUNCTIONS: usize = 10;
const MOST_CALL_SITES: usize = 8;
const MOST_MISSING: usize = 6;
const MOST_SENTENCES: usize = 12;
const MOST_ENDED: usize = 8;
/// Less than this share of the time in MPI is not worth a word.
const WORTH_A_WORD: f64 = 0.01;

pub(crate) fn text(
    loaded: &Loaded,
    placement: Option<&Placement<'_>>,
    findings: Option<&Findings>,
) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(loaded, placement, findings, &mut out);
    out
}

/// How the job ended; nothing where no recording could know.
fn ending(loaded: &Loaded) -> Option<String> {
    Some(match (loaded.state, loaded.job.exit) {
        (State::Running, _) => "still running".into(),
        (_, Some(exit)) if exit > 128 => format!("ended by signal {}", exit - 128),
        (_, Some(exit)) => format!("exit status {exit}"),
        (_, None) if loaded.job.is_imported() => return None,
        (_, None) => "exit status unknown".into(),
    })
}

fn write(
    loaded: &Loaded,
    placement: Option<&Placement<'_>>,
    findings: Option<&Findings>,
    out: &mut String,
) -> std::fmt::Result {
    heading(loaded, out)?;
    hangs(loaded, out)?;
    if loaded.totals.calls == 0 {
        writeln!(out, "  No MPI call was recorded so far.\n")?;
    } else if let Some(findings) = findings {
        diagnosis(&findings.diagnosis, &loaded.counts, out)?;
        if let Some(sentence) = regions_sentence(findings.regions()) {
            writeln!(out, "  {sentence}\n")?;
        }
    }
    figures(loaded, out)?;
    let is_in_verdict = findings.is_some_and(|findings| findings.diagnosis.cpu_contention.is_some());
    if let Some(sentence) = loaded.processors.sentence().filter(|_| !is_in_verdict) {
        writeln!(out, "\n  {sentence}")?;
        if let Some(sentence) = loaded.processors.recorder_sentence(loaded.recorder_ns) {
            writeln!(out, "  {sentence}")?;
        }
    }
    // Findings of earlier versions do not say so.
    let is_in_verdict = findings.is_some_and(|findings| findings.diagnosis.blocked.count > 0);
    if let Some(sentence) = blocked_sentence(&loaded.processors.blocked()).filter(|_| !is_in_verdict) {
        writeln!(out, "\n  {sentence}")?;
    }
    if let Some(sentence) = placement.and_then(better_placement) {
        writeln!(out, "\n  {sentence}")?;
    }
    functions(loaded, out)?;
    call_sites(loaded, findings, out)?;
    missing(loaded, out)
}

/// What ran, where and for how long.
fn heading(loaded: &Loaded, out: &mut String) -> std::fmt::Result {
    let job = &loaded.job;
    writeln!(out, "{}", loaded.run)?;
    writeln!(out, "  {}", job.command.join(" "))?;
    writeln!(
        out,
        "  {} {}, {}",
        plural(job.ranks.into(), "rank"),
        where_ranks_run(job.nodes.len(), &loaded.processors),
        job.mpi
    )?;
    let length = run_time_of(job.duration_s.unwrap_or_default());
    let ended: Vec<String> = std::iter::once(length).chain(ending(loaded)).collect();
    writeln!(out, "  {}\n", ended.join(", "))
}

/// How much was recorded.
fn figures(loaded: &Loaded, out: &mut String) -> std::fmt::Result {
    let Loaded { job, totals, .. } = loaded;
    let mut row = |name: &str, value: String| writeln!(out, "  {name:<24} {value:>16}");
    row("calls", count(totals.calls))?;
    if totals.polls > 0 {
        row("folded polls", count(totals.polls))?;
    }
    row("messages", count(totals.messages))?;
    row("  within nodes", count(totals.intra_messages))?;
    row("  between nodes", count(totals.inter_messages))?;
    row("payload", bytes(totals.bytes))?;
    row("unmatched sends", count(totals.unmatched_sends))?;
    row("unmatched receives", count(totals.unmatched_receives))?;
    if totals.uncertain_messages > 0 {
        row("ambiguous matches", count(totals.uncertain_messages))?;
    }
    row("lost calls", count(loaded.losses.total()) + &uncounted::note(&loaded.uncounted))?;
    if let Some(pauses) = &loaded.pauses {
        row("calls while paused", count(pauses.calls))?;
        let end_ns = seconds_ns(job.duration_s.unwrap_or_default());
        let off = pauses.gaps.iter().map(|gap| gap.until_ns.unwrap_or(end_ns).saturating_sub(gap.from_ns));
        let times = plural(pauses.gaps.len() as u64, "stretch").replace("stretchs", "stretches");
        row("  paused for", format!("{} in {times}", nanoseconds(off.sum())))?;
    }
    if job.nodes.len() > 1 {
        let clocks = (0..job.nodes.len()).filter_map(|node| loaded.clock_of(node));
        row("clock uncertainty", nanoseconds(clocks.map(|clock| clock.uncertainty_ns).max().unwrap_or(0)))?;
        row("received before sent", count(totals.clock_violations_after))?;
        row("  with raw clocks", count(totals.clock_violations_before))?;
    }
    Ok(())
}

/// What of the recording is missing.
pub(super) fn missing(loaded: &Loaded, out: &mut String) -> std::fmt::Result {
    if !loaded.missing.is_empty() {
        writeln!(out, "\n{}", bold("Missing:"))?;
        for sentence in loaded.missing.iter().take(MOST_MISSING) {
            writeln!(out, "  {sentence}")?;
        }
        if loaded.missing.len() > MOST_MISSING {
            writeln!(out, "  and {} more (see --json)", loaded.missing.len() - MOST_MISSING)?;
        }
    }
    Ok(())
}

/// Why the run takes longer than it has to, and where its time in MPI went.
fn diagnosis(found: &Diagnosis, counts: &Counts, out: &mut String) -> std::fmt::Result {
    let sentences = verdict_sentences(found);
    if let Some((first, others)) = sentences.split_first() {
        writeln!(out, "  {}", bold(first))?;
        others.iter().try_for_each(|sentence| writeln!(out, "  {sentence}"))?;
    }
    let lines = budget_lines(found);
    if !lines.is_empty() {
        writeln!(out, "\n  {:<24} {:>16} {:>8}", "time in MPI", "seconds of ranks", "share")?;
        for (name, time, share) in lines {
            writeln!(out, "  {name:<24} {time:>16} {share:>6.1} %")?;
        }
    }
    if let Some(sentence) = whole_calls(found, counts) {
        writeln!(out, "  {sentence}")?;
    }
    let efficiency = &found.efficiency;
    if efficiency.parallel > 0.0 {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        writeln!(
            out,
            "  parallel efficiency {} = load balance {} x communication efficiency {} (serialization {} x transfer {})",
            percent(efficiency.parallel),
            percent(efficiency.load_balance),
            percent(efficiency.communication),
            percent(efficiency.serialization),
            percent(efficiency.transfer)
        )?;
    }
    writeln!(out)
}

/// Which calls the table has whole, their waiting included, where that is most of what it calls other MPI calls.
fn whole_calls(found: &Diagnosis, counts: &Counts) -> Option<String> {
    let kinds = [Family::OneSided, Family::Io, Family::Neighbor];
    // Of each kind the longest function, and the time of all.
    let mut of_kinds = [("", 0_u64); 3];
    for (function, totals) in counts.functions_by_time() {
        let Some(entry) = mpiscope_wire::by_id(function) else { continue };
        if let Some(at) = kinds.iter().position(|kind| *kind == entry.family) {
            let (longest, time_ns) = &mut of_kinds[at];
            *longest = if longest.is_empty() { entry.name } else { *longest };
            *time_ns += totals.time_ns;
        }
    }
    let named = ["on windows", "on files", "among neighbours"].into_iter().zip(of_kinds);
    let (what, (longest, time_ns)) = named.max_by_key(|(_, (_, time_ns))| *time_ns)?;
    let time_s = time_ns as f64 / 1e9;
    let others_s = found.budget.other_s - found.budget.cpu_wait_s;
    (time_s > others_s / 2.0 && time_s > WORTH_A_WORD * found.budget.total_s).then(|| {
        format!(
            "Other MPI calls are mostly calls {what}, {} (most in {longest}): this table does not say how long they waited.",
            nanoseconds(time_ns)
        )
    })
}

/// What another placement of the ranks would change; nothing where there is one node only.
fn better_placement(placement: &Placement<'_>) -> Option<String> {
    let advice = &placement.advice;
    let (before, after) = (count(advice.inter_messages_before), count(advice.inter_messages_after));
    match placement.nodes() {
        0 | 1 => None,
        _ if !advice.gains() => {
            Some("No better placement was found: none has fewer messages between nodes.".into())
        }
        _ if before == after => Some(format!(
            "A better placement sends {} instead of {} between nodes; mpiscope remap writes it.",
            bytes(advice.inter_bytes_after),
            bytes(advice.inter_bytes_before)
        )),
        _ => Some(format!(
            "A better placement sends {after} instead of {before} messages between nodes; mpiscope remap writes it."
        )),
    }
}

fn functions(loaded: &Loaded, out: &mut String) -> std::fmt::Result {
    let functions = loaded.counts.functions_by_time();
    let total_ns: u64 = functions.iter().map(|(_, totals)| totals.time_ns).sum();
    writeln!(
        out,
        "\n  {:<22} {:>14} {:>10} {:>7} {:>9} {:>9} {:>9} {:>11}",
        "function", "calls", "time", "share", "median", "p99", "longest", "bytes"
    )?;
    let (listed, rest) = functions.split_at(functions.len().min(MOST_FUNCTIONS));
    for (function, totals) in listed {
        let name = mpiscope_wire::by_id(*function).map_or("?", |entry| entry.name);
        let share = if total_ns == 0 { 0.0 } else { totals.time_ns as f64 / total_ns as f64 * 100.0 };
        writeln!(
            out,
            "  {name:<22} {:>14} {:>10} {share:>5.1} % {:>9} {:>9} {:>9} {:>11}",
            count(totals.calls + totals.polls),
            nanoseconds(totals.time_ns),
            nanoseconds(totals.quantile_ns(0.5)),
            nanoseconds(totals.quantile_ns(0.99)),
            nanoseconds(totals.max_ns()),
            bytes(totals.bytes),
        )?;
    }
    if !rest.is_empty() {
        let rest_ns: u64 = rest.iter().map(|(_, totals)| totals.time_ns).sum();
        writeln!(out, "  and {} more functions, {} (see --json)", rest.len(), nanoseconds(rest_ns))?;
    }
    Ok(())
}

/// Whether the job hung, and which calls ranks were in when they ended.
fn hangs(loaded: &Loaded, out: &mut String) -> std::fmt::Result {
    let hangs = &loaded.hangs;
    if let Some(hang) = hangs.newest.last() {
        let end = match hang.until_s {
            Some(until_s) => format!("for {}", nanoseconds(seconds_ns(until_s - hang.since_s))),
            None => "to the end".into(),
        };
        let since = run_time_of(hang.since_s);
        let times =
            if hangs.count > 1 { format!(", the last of {} hangs", hangs.count) } else { String::new() };
        writeln!(out, "  Hang since {since}, {end}{times}")?;
        for sentence in hang.sentences.iter().take(MOST_SENTENCES) {
            writeln!(out, "    {}", sentence.text)?;
        }
        if hang.sentences.len() > MOST_SENTENCES {
            writeln!(out, "    and {} more (see --json)", hang.sentences.len() - MOST_SENTENCES)?;
        }
        writeln!(out)?;
    }
    if hangs.ended_in.is_empty() {
        return Ok(());
    }
    let ended = plural(hangs.ended_in_count, "call");
    writeln!(out, "  {ended} had not returned when their ranks ended")?;
    let end_ns = seconds_ns(loaded.job.duration_s.unwrap_or_default());
    for call in hangs.ended_in.iter().take(MOST_ENDED) {
        let place = if call.place.is_empty() { String::new() } else { format!(" at {}", call.place) };
        let inside = nanoseconds(end_ns.saturating_sub(seconds_ns(call.since_s)));
        writeln!(out, "    rank {} in {}{place}, for {inside}", call.rank, call.call)?;
    }
    let listed = hangs.ended_in.len().min(MOST_ENDED) as u64;
    if hangs.ended_in_count > listed {
        writeln!(out, "    and {} more (see --json)", count(hangs.ended_in_count - listed))?;
    }
    writeln!(out)
}

fn seconds_ns(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9) as u64
}

/// The call sites with most time in MPI; nothing where that was not recorded.
fn call_sites(loaded: &Loaded, findings: Option<&Findings>, out: &mut String) -> std::fmt::Result {
    let all = sites(loaded, findings);
    let known: Vec<_> = all.iter().filter(|site| site.id.is_some()).collect();
    if known.is_empty() {
        return Ok(());
    }
    let name = |site: &SiteFigures<'_>| format!("{} {}", site.place, site.calls_function.unwrap_or("?"));
    let names: Vec<String> = known.iter().take(MOST_CALL_SITES).map(|site| name(site)).collect();
    // Names of C++ are long; beyond that much they stand out rather than push the figures from the screen.
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().clamp(44, 88);
    writeln!(out, "\n  {:<width$} {:>14} {:>10} {:>10}", "call site", "calls", "time", "waiting")?;
    for (site, name) in known.iter().zip(names) {
        let time = |seconds: f64| nanoseconds((seconds.max(0.0) * 1e9) as u64);
        let waiting = site.waiting_s.map_or_else(|| "?".to_owned(), time);
        writeln!(out, "  {name:<width$} {:>14} {:>10} {waiting:>10}", count(site.calls), time(site.seconds))?;
    }
    if known.len() > MOST_CALL_SITES {
        writeln!(out, "  and {} more call sites (see --json)", known.len() - MOST_CALL_SITES)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::whole_calls;
    use mpiscope_feed::Diagnosis;
    use mpiscope_matching::Counts;
    use mpiscope_model::Call;

    #[test]
    fn calls_whose_waiting_is_not_known_are_named_where_they_are_most_of_the_others() {
        let id = |name: &str| mpiscope_wire::FUNCTIONS.iter().find(|entry| entry.name == name).unwrap().id;
        let mut counts = Counts::new(1_000_000_000);
        let calls = [("MPI_Win_fence", 4), ("MPI_Put", 2), ("MPI_File_write_all", 5), ("MPI_Init", 9)];
        counts.calls(&calls.map(|(name, seconds)| Call {
            function: id(name),
            end_ns: seconds * 1_000_000_000,
            ..Call::default()
        }));
        let mut found = Diagnosis::default();
        (found.budget.total_s, found.budget.other_s) = (20.0, 11.0);
        let sentence = whole_calls(&found, &counts).unwrap();
        assert!(sentence.contains("calls on windows, 6.00 s (most in MPI_Win_fence)"), "{sentence}");
        found.budget.other_s = 13.0;
        assert_eq!(whole_calls(&found, &counts), None, "most of the others are others");
        (found.budget.total_s, found.budget.other_s) = (700.0, 11.0);
        assert_eq!(whole_calls(&found, &counts), None, "that is next to nothing");
    }
}
