//! What was found, in sentences.

use super::actions::actions;
use super::blame::{cause_words, evidence, ranks};
use super::certainty::is_unsure;
use super::number_format::{percent, time};
use crate::processors::{and_others, blocked_sentence, shortage_sentence};
use mpiscope_diagnosis::NEGLIGIBLE;
use mpiscope_feed::{BasisState, Diagnosis, FindingsReport, Quiet, Verdict};
use mpiscope_model::words::{cause_title, run_time_of};

/// What began within this share of the run was there from the beginning.
const AT_ONCE: f64 = 0.05;
/// What was so for this share of the run was so most of the time.
const MOSTLY: f64 = 0.8;
/// The most times of network contention that are listed.
const MOST_TIMES: usize = 3;

/// What ranks waited for needs a word if it is this share of all waiting, and this share of the time in MPI.
const MOST_OF_WAITING: f64 = 0.5;
const LONG_WAITING: f64 = 0.1;
/// What a cause costs needs a word if it is less than this share of the waiting for it.
const FEW_OF_WAITING: f64 = 0.5;
/// A run that is shorter by less than this share is no shorter.
const NEXT_TO_NOTHING: f64 = 0.005;
/// Where ranks compute less than this share of the time, what they do otherwise needs a word.
const LITTLE_COMPUTING: f64 = 0.7;
/// This share of the time in MPI is most of it.
const MOST_OF_MPI: f64 = 0.5;
/// Parts of the time in MPI that less communication makes shorter.
const TRANSFER: &str = "expected transfer time";
const DISTANCE: &str = "inter-node cost";
const OPERATION: &str = "collective operations";
/// How the sentence begins that says what to do.
pub const ADVICE: &str = "What to do: ";

/// The verdict: what is missing first, then how much, who or what, when, how sure, and what comes next.
fn headline(found: &Diagnosis) -> String {
    let verdict = &found.verdict;
    match verdict.basis.sentence.as_str() {
        missing if verdict.is_withheld() => missing.into(),
        "" => claim(found, when(found)),
        missing => format!("{missing} {}", claim(found, when(found))),
    }
}

/// What is avoidable, in one sentence, and since when.
pub(super) fn claim(found: &Diagnosis, when: Option<String>) -> String {
    let verdict = &found.verdict;
    if verdict.cause == "none" {
        let known = if verdict.is_at_least { " is known; there may be more" } else { "" };
        return match shortage(found) {
            Some(shortage) => format!("{shortage} No other avoidable time above 2 %."),
            None => format!("No avoidable time above 2 %{known}."),
        };
    }
    let when = when.map(|when| format!(", {when}")).unwrap_or_default();
    let next = next(found).map(|next| format!(" Next: {next}.")).unwrap_or_default();
    let (doubt, is_first) = if is_unsure(verdict) { ("No clear cause. Perhaps ", false) } else { ("", true) };
    format!(
        "{doubt}{} avoidable ({} of {}): {}{when}. {}, {} sure.{next}",
        at_least(verdict, &percent(verdict.share), is_first),
        time(verdict.avoidable_wall_s),
        time(verdict.avoidable_wall_s / verdict.share.max(1e-12)),
        cause_words(found),
        cause_title(&verdict.cause),
        percent(verdict.confidence),
    )
}

/// That ranks had too few CPUs.
fn shortage(found: &Diagnosis) -> Option<String> {
    found.cpu_contention.as_ref().map(shortage_sentence)
}

/// That ranks were stopped.
fn stopped(found: &Diagnosis) -> Option<String> {
    let longest = found.stopped.longest.first()?;
    let others = and_others(found.stopped.count);
    let seconds = time(longest.seconds);
    Some(format!("A signal or a debugger stopped rank {} for {seconds}{others}.", longest.rank))
}

/// A figure that may well be greater.
fn at_least(verdict: &Verdict, figure: &str, is_first: bool) -> String {
    match (verdict.is_at_least, is_first) {
        (true, true) => format!("At least {figure}"),
        (true, false) => format!("at least {figure}"),
        (false, _) => figure.to_owned(),
    }
}

/// Causes as people call them.
pub(super) fn name(cause: &str) -> &str {
    match cause {
        "mapping" => "placement",
        "pattern" => "load imbalance",
        "background" => "network contention",
        "cpu" => "CPU contention",
        other => other,
    }
}

/// Since when, or when, the cause is to blame; nothing where that is not known.
fn when(found: &Diagnosis) -> Option<String> {
    let mut whole = found.attribution.iter().filter(|stretch| stretch.region.is_none());
    let first = whole.next()?;
    // Of a run as short as a window nobody knows when.
    let (begin_s, end_s) = (first.from_s, whole.next_back()?.to_s);
    let near_s = AT_ONCE * (end_s - begin_s);
    let blamed = found.disturbances.iter().filter(|of| of.cause == found.verdict.cause);
    let times: Vec<(f64, f64)> = blamed.map(|of| (of.from_s, of.to_s)).collect();
    let (first, last) = (*times.first()?, *times.last()?);
    let at = run_time_of;
    let is_from_start = first.0 - begin_s <= near_s;
    let is_to_end = end_s - last.1 <= near_s;
    let sum_s: f64 = times.iter().map(|(from_s, to_s)| to_s - from_s).sum();
    Some(match (times.len(), is_from_start, is_to_end) {
        // Where ranks run does not change.
        (1, true, true) if found.verdict.cause == "mapping" => return None,
        (1, true, true) => "since the start".into(),
        (1, true, false) => format!("from the start to {}", at(last.1)),
        (1, false, true) => format!("since {}", at(first.0)),
        (1, false, false) => format!("from {} to {}", at(first.0), at(last.1)),
        _ if sum_s > MOSTLY * (end_s - begin_s) => "most of the time".into(),
        (number, ..) => format!("in {number} periods between {} and {}", at(first.0), at(last.1)),
    })
}

/// The cause that costs most but for the first.
fn next(found: &Diagnosis) -> Option<String> {
    let verdict = &found.verdict;
    let (cause, seconds) = verdict.causes.iter().find(|(cause, _)| *cause != verdict.cause)?;
    let share = seconds * verdict.share / verdict.avoidable_s;
    (share >= NEGLIGIBLE).then(|| format!("{}, {}", name(cause), percent(share)))
}

/// What a cause costs, in seconds of all ranks.
fn avoidable_s(verdict: &Verdict, cause: &str) -> f64 {
    verdict.causes.iter().find(|(of, _)| of == cause).map_or(0.0, |(_, seconds)| *seconds)
}

/// When the network was quiet and when not, where that cost something and was not so all the time.
fn network(found: &Diagnosis) -> Option<String> {
    let verdict = &found.verdict;
    let share = avoidable_s(verdict, "background") * verdict.share / verdict.avoidable_s;
    if verdict.cause == "none" || verdict.cause != "background" && share < NEGLIGIBLE {
        return None;
    }
    let length = |of: &Quiet| of.to_s - of.from_s;
    let (quiet, mut disturbed): (Vec<_>, Vec<_>) = found.quiet.iter().partition(|of| of.is_quiet);
    if quiet.is_empty() || disturbed.is_empty() {
        return None;
    }
    let quiet_s: f64 = quiet.iter().copied().map(length).sum();
    let disturbed_s: f64 = disturbed.iter().copied().map(length).sum();
    let slower = disturbed.iter().map(|of| of.slower * length(of)).sum::<f64>() / disturbed_s;
    disturbed.sort_by(|one, other| length(other).total_cmp(&length(one)));
    let others = disturbed.len().saturating_sub(MOST_TIMES);
    disturbed.truncate(MOST_TIMES);
    disturbed.sort_by(|one, other| one.from_s.total_cmp(&other.from_s));
    let at = run_time_of;
    let times: Vec<String> =
        disturbed.iter().map(|of| format!("{} to {}", at(of.from_s), at(of.to_s))).collect();
    let others = if others > 0 { format!(" and {others} shorter times") } else { String::new() };
    Some(format!(
        "The network was quiet for {} of the time; messages took {slower:.1} times as long from {}{others}.",
        percent(quiet_s / (quiet_s + disturbed_s)),
        times.join(", from "),
    ))
}

/// What ranks waited for most, and what removing that saves, if the verdict names another cause or the saving is much less:
/// who waits for a rank may have to wait for something else as long.
fn waiting_note(found: &Diagnosis) -> Option<String> {
    let (verdict, whatif, by) = (&found.verdict, &found.whatif, &found.budget.waiting_by);
    let no_cpu_s = by.cpu_wait;
    let reasons = [
        ("pattern", by.compute - no_cpu_s, "ranks that computed longer", "balanced work"),
        ("cpu", no_cpu_s, "ranks that had no CPU", "a CPU for each rank"),
        ("mapping", by.distance, "messages between nodes", "the best placement that is known"),
        ("background", by.excess, "messages that took longer than expected", "a quiet network"),
    ];
    let (cause, waited_s, what, remedy) =
        reasons.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let is_most = waited_s > MOST_OF_WAITING * found.budget.waiting_s;
    let is_long = waited_s > LONG_WAITING * found.budget.total_s;
    if !is_most || !is_long || verdict.is_withheld() || whatif.recorded_s <= 0.0 {
        return None;
    }
    if cause == verdict.cause {
        let saved_s = verdict.avoidable_s;
        let (saved, waiting) = (time(saved_s), time(found.budget.waiting_s));
        // Where other parts shortened the waiting, this one is longer than all of it.
        return (saved_s < FEW_OF_WAITING * waited_s.min(found.budget.waiting_s)).then(|| {
            format!(
                "{} saves {saved} of the {waiting} of waiting: for the rest ranks would wait for something else.",
                capital(remedy)
            )
        });
    }
    // Of each rank's waiting it may be a great part all the same.
    if avoidable_s(verdict, cause) >= FEW_OF_WAITING * waited_s {
        return None;
    }
    let without = whatif.without.iter().find(|of| matches!(&of.causes[..], [only] if only == cause));
    let saved_s = without.map_or(0.0, |of| whatif.recorded_s - of.run_s);
    let shorter = match saved_s / whatif.recorded_s {
        share if share < NEXT_TO_NOTHING => "no shorter".to_owned(),
        share if share < NEGLIGIBLE => format!("only {} shorter", time(saved_s)),
        // The headline has it as the next cause.
        _ => return None,
    };
    Some(format!(
        "Ranks waited {} in all for {what}, but with {remedy} the run is {shorter}: they would wait for something else.",
        time(waited_s)
    ))
}

/// What takes the time of ranks that compute little, where none of it is avoidable.
fn communication(found: &Diagnosis) -> Option<String> {
    let computing = found.efficiency.parallel;
    let is_explained = found.verdict.cause != "none" || found.cpu_contention.is_some();
    if is_explained || found.verdict.is_withheld() || !(0.0..LITTLE_COMPUTING).contains(&computing) {
        return None;
    }
    let budget = &found.budget;
    let moving = [(TRANSFER, budget.base_s), (DISTANCE, budget.distance_s), (OPERATION, budget.operation_s)];
    let is_most = |seconds: f64| seconds > 0.0 && seconds >= MOST_OF_MPI * budget.total_s;
    let (name, _) = moving.into_iter().find(|(_, seconds)| is_most(*seconds))?;
    Some(format!(
        "Ranks compute for {} of the time, and most of their time in MPI is {name}: fewer or larger messages, or fewer ranks, need \
         less of it.",
        percent(computing)
    ))
}

/// What the cause costs, in seconds of the run and of its ranks.
fn cost(verdict: &Verdict) -> String {
    let about = if verdict.is_at_least { "at least" } else { "about" };
    let all = match (verdict.avoidable_s / verdict.avoidable_wall_s.max(1e-12)).round() as u64 {
        0 | 1 => String::new(),
        ranks => {
            format!("; for {ranks} ranks that is {}", at_least(verdict, &time(verdict.avoidable_s), false))
        }
    };
    let saved = time(verdict.avoidable_wall_s);
    format!("{} the run takes {about} {saved} less{all}.", without(&verdict.cause))
}

/// Where a cause is removed, as the beginning of a sentence.
pub(super) fn without(cause: &str) -> String {
    match cause {
        "mapping" => "With better placement".into(),
        cause => format!("Without {}", name(cause)),
    }
}

/// What the verdict rests on and how sure it is, a sentence each.
fn details(found: &Diagnosis) -> Vec<String> {
    let verdict = &found.verdict;
    if verdict.basis.state == BasisState::Hung {
        return shortage(found).into_iter().collect();
    }
    let mut sentences = Vec::new();
    if verdict.cause != "none" {
        sentences.push(cost(verdict));
    }
    sentences.extend(evidence(found));
    if verdict.cause != "none" {
        sentences.extend(shortage(found));
    }
    sentences.extend(stopped(found));
    sentences.extend(blocked_sentence(&found.blocked));
    sentences.extend(network(found));
    sentences.extend(waiting_note(found));
    sentences.extend(communication(found));
    sentences.extend(verdict.remarks.iter().map(|remark| sentence(remark)));
    sentences
}

/// A remark as a sentence; in recordings of earlier versions it begins with a small letter.
fn sentence(remark: &str) -> String {
    format!("{}.", capital(remark))
}

/// With a capital letter at the start.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// Says what was found: the sentences that go with the figures.
pub(super) fn say(report: &mut FindingsReport) {
    let found = &report.diagnosis;
    report.headline = headline(found);
    report.blamed = ranks(found);
    report.details = details(found);
    report.waiting_note = waiting_note(found).unwrap_or_default();
    report.actions = actions(found);
}

/// The verdict and its evidence, a sentence each. What is missing comes first.
pub fn verdict_sentences(found: &Diagnosis) -> Vec<String> {
    let mut sentences = vec![headline(found)];
    sentences.extend(details(found));
    let actions = actions(found);
    sentences.extend(actions.first().map(|_| format!("{ADVICE}{}", actions.join(" "))));
    sentences
}

/// Where time in MPI went, a line each: what, how long, and its share.
pub fn budget_lines(found: &Diagnosis) -> Vec<(&'static str, String, f64)> {
    let budget = &found.budget;
    let total_s = budget.total_s.max(1e-12);
    let line = |name, seconds: f64| (name, time(seconds), 100.0 * seconds / total_s);
    let parts = [
        line("waiting for others", budget.waiting_s),
        line(TRANSFER, budget.base_s),
        line(DISTANCE, budget.distance_s),
        line("slower than expected", budget.excess_s),
        line(OPERATION, budget.operation_s),
        line("waiting for a CPU in MPI", budget.cpu_wait_s),
        line("other MPI calls", budget.other_s - budget.cpu_wait_s),
        line("unknown", budget.unknown_s),
    ];
    parts.into_iter().filter(|(.., share)| *share >= 0.05).collect()
}

#[cfg(test)]
mod tests;
