//! What was found, in sentences.

use crate::words::{nanoseconds, ranges, run_time};
use mpiscope_feed::{Attribution, Judgement, Quiet, Wait};
use std::time::Duration;

/// A rank that so much of all waiting is for is named.
const MUCH: f64 = 0.3;
/// What began within this share of the run was there from the beginning.
const AT_ONCE: f64 = 0.05;
/// So many times at which the network was disturbed are named.
const MOST_TIMES: usize = 3;
/// Below this share of the ranks' time a further cause is not told.
const NEGLIGIBLE: f64 = 0.02;

fn time(seconds: f64) -> String {
    nanoseconds((seconds.max(0.0) * 1e9) as u64)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// The verdict in one sentence: how much, who or what, how sure, since when, and what comes next.
pub(crate) fn headline(judgement: &Judgement) -> String {
    let verdict = &judgement.verdict;
    let what = match verdict.cause.as_str() {
        "mapping" => "ranks that talk much are on different nodes".to_owned(),
        "pattern" => who_waits(&judgement.waits),
        "background" => "messages between nodes are slower than they can be".to_owned(),
        "cpu" => "ranks wait for a core".to_owned(),
        _ => return "No avoidable time above 2 % of the ranks' time.".to_owned(),
    };
    let since = since(&judgement.attribution, &verdict.cause);
    let since = since.map(|at| format!(" since {at}")).unwrap_or_default();
    let next = next(judgement).map(|next| format!(" Next: {next}.")).unwrap_or_default();
    format!(
        "{} of the ranks' time is avoidable: {what} ({}, confidence {}){since}.{next}",
        percent(verdict.share),
        name(&verdict.cause),
        percent(verdict.confidence),
    )
}

/// Causes as people call them.
fn name(cause: &str) -> &str {
    match cause {
        "mapping" => "placement",
        "background" => "background traffic",
        "cpu" => "no core",
        other => other,
    }
}

/// For whom is waited most, and by whom.
fn who_waits(waits: &[Wait]) -> String {
    let mut awaited: Vec<(u32, f64)> = Vec::new();
    for wait in waits {
        match awaited.iter_mut().find(|(rank, _)| *rank == wait.awaited) {
            Some((_, seconds)) => *seconds += wait.seconds,
            None => awaited.push((wait.awaited, wait.seconds)),
        }
    }
    let all: f64 = awaited.iter().map(|(_, seconds)| seconds).sum();
    let most = awaited.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
    match most {
        Some((rank, seconds)) if seconds >= MUCH * all && all > 0.0 => {
            let mut waiters: Vec<u32> =
                waits.iter().filter(|wait| wait.awaited == rank).map(|wait| wait.waiter).collect();
            waiters.sort_unstable();
            waiters.dedup();
            let wait = if waiters.len() == 1 { "waits" } else { "wait" };
            let place = place_of(waits, rank).map(|place| format!(" at {place}")).unwrap_or_default();
            format!("{} {wait} for rank {rank}{place}", ranges(&waiters))
        }
        _ => "ranks wait for each other, as work is uneven".to_owned(),
    }
}

/// The place in the program where a rank is waited for, where most of that is at one.
fn place_of(waits: &[Wait], awaited: u32) -> Option<&str> {
    let mut places: Vec<(&str, f64)> = Vec::new();
    for wait in waits.iter().filter(|wait| wait.awaited == awaited) {
        match places.iter_mut().find(|(place, _)| *place == wait.place) {
            Some((_, seconds)) => *seconds += wait.seconds,
            None => places.push((&wait.place, wait.seconds)),
        }
    }
    let all: f64 = places.iter().map(|(_, seconds)| seconds).sum();
    let (place, seconds) = places.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (!place.is_empty() && seconds > 0.5 * all).then_some(place)
}

/// Since when a cause is to blame without a break, where that was not so from the beginning.
fn since(stretches: &[Attribution], cause: &str) -> Option<String> {
    // Those of regions lie across those of the whole job.
    let whole: Vec<&Attribution> = stretches.iter().filter(|stretch| stretch.region.is_none()).collect();
    let begin = whole.iter().rposition(|stretch| stretch.cause != cause)? + 1;
    let (from_s, end_s) = (whole.get(begin)?.from_s, whole.last()?.to_s);
    (from_s > AT_ONCE * end_s).then(|| run_time(Duration::from_secs_f64(from_s)))
}

/// The cause that costs most but for the first.
fn next(judgement: &Judgement) -> Option<String> {
    let verdict = &judgement.verdict;
    let (cause, seconds) = verdict.causes.iter().find(|(cause, _)| *cause != verdict.cause)?;
    let share = seconds * verdict.share / verdict.avoidable_s;
    (share >= NEGLIGIBLE).then(|| format!("{} from {}", percent(share), name(cause)))
}

fn longest(waits: &[Wait]) -> Option<String> {
    let wait = waits.first().filter(|wait| wait.seconds > 0.0)?;
    Some(format!(
        "Of all waiting the longest: rank {} for rank {} in {}{}, {} ({}).",
        wait.waiter,
        wait.awaited,
        wait.function,
        if wait.place.is_empty() { String::new() } else { format!(" at {}", wait.place) },
        time(wait.seconds),
        wait.state
    ))
}

/// When the network was quiet and when not, where that cost something and was not so all the time.
fn network(judgement: &Judgement) -> Option<String> {
    let verdict = &judgement.verdict;
    let of_network = verdict.causes.iter().find(|(cause, _)| cause == "background");
    let share = of_network.map_or(0.0, |(_, seconds)| seconds * verdict.share / verdict.avoidable_s);
    if verdict.cause == "none" || verdict.cause != "background" && share < NEGLIGIBLE {
        return None;
    }
    let length = |of: &Quiet| of.to_s - of.from_s;
    let (quiet, mut disturbed): (Vec<_>, Vec<_>) = judgement.quiet.iter().partition(|of| of.is_quiet);
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
    let at = |seconds: f64| run_time(Duration::from_secs_f64(seconds.max(0.0)));
    let times: Vec<String> =
        disturbed.iter().map(|of| format!("{} to {}", at(of.from_s), at(of.to_s))).collect();
    let others = if others > 0 { format!(" and {others} shorter times") } else { String::new() };
    Some(format!(
        "The network was quiet for {} of the time; messages took {slower:.1} times as long from {}{others}.",
        percent(quiet_s / (quiet_s + disturbed_s)),
        times.join(", from "),
    ))
}

/// What the verdict rests on, how sure it is and what to do, a sentence each.
pub(crate) fn details(judgement: &Judgement) -> Vec<String> {
    let verdict = &judgement.verdict;
    let cost = format!(
        "costs {} of the ranks' time; without it the run would take about {} less",
        time(verdict.avoidable_s),
        time(verdict.avoidable_wall_s)
    );
    let mut sentences = match verdict.cause.as_str() {
        "mapping" => {
            vec![
                format!("The placement of the ranks {cost}."),
                "`mpiscope remap` writes a better one.".into(),
            ]
        }
        "pattern" => {
            let mut all = vec![format!("Uneven work, and waiting for those who have more of it, {cost}.")];
            all.extend(longest(&judgement.waits));
            all
        }
        "background" => vec![
            format!("Traffic that makes messages between nodes slower than usual {cost}."),
            "Run again at another time or on other nodes, where nobody else uses the network as much.".into(),
        ],
        "cpu" => vec![
            format!("Waiting for a core {cost}."),
            "Look for other programs on these nodes, and for more ranks than cores.".into(),
        ],
        _ => Vec::new(),
    };
    sentences.extend(network(judgement));
    if verdict.cause != "none" {
        let sureness = match verdict.confidence {
            sure if sure >= 0.8 => "This is quite sure",
            sure if sure >= 0.5 => "This is likely",
            _ => "This is a guess",
        };
        sentences.push(format!("{sureness} (confidence {}).", percent(verdict.confidence)));
    }
    sentences.extend(verdict.remarks.iter().map(|remark| format!("But {remark}.")));
    sentences
}

/// The verdict and what it rests on, a sentence each.
pub(crate) fn verdict_sentences(judgement: &Judgement) -> Vec<String> {
    let mut sentences = vec![headline(judgement)];
    sentences.extend(details(judgement));
    sentences
}

/// Where time in MPI went, a line each: what, how long, and its share.
pub(crate) fn budget_lines(judgement: &Judgement) -> Vec<(&'static str, String, f64)> {
    let budget = &judgement.budget;
    let total_s = budget.total_s.max(1e-12);
    let line = |name, seconds: f64| (name, time(seconds), 100.0 * seconds / total_s);
    let parts = [
        line("waiting for others", budget.waiting_s),
        line("usual transmission", budget.base_s),
        line("distance between nodes", budget.distance_s),
        line("slower than usual", budget.excess_s),
        line("collectives at work", budget.operation_s),
        line("other calls", budget.other_s),
        line("unknown", budget.unknown_s),
    ];
    parts.into_iter().filter(|(.., share)| *share >= 0.05).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_feed::Verdict;

    fn stretch(at: u32, cause: &str) -> Attribution {
        let (from_s, to_s) = (f64::from(at), f64::from(at + 1));
        Attribution { from_s, to_s, cause: cause.into(), ..Attribution::default() }
    }

    fn pattern() -> Judgement {
        let wait = |waiter, awaited, seconds| Wait {
            state: "late sender".into(),
            function: "MPI_Recv".into(),
            waiter,
            awaited,
            times: 1,
            seconds,
            ..Wait::default()
        };
        Judgement {
            waits: vec![wait(2, 5, 3.0), wait(0, 5, 3.0), wait(1, 5, 2.5), wait(7, 6, 1.0)],
            attribution: (0..40).map(|at| stretch(at, if at < 13 { "none" } else { "pattern" })).collect(),
            verdict: Verdict {
                cause: "pattern".into(),
                avoidable_s: 31.0,
                avoidable_wall_s: 3.9,
                share: 0.31,
                confidence: 0.92,
                causes: vec![("pattern".into(), 31.0), ("mapping".into(), 6.0), ("cpu".into(), 0.0)],
                remarks: Vec::new(),
            },
            ..Judgement::default()
        }
    }

    #[test]
    fn the_verdict_is_one_sentence() {
        assert_eq!(
            headline(&pattern()),
            "31 % of the ranks' time is avoidable: ranks 0-2 wait for rank 5 (pattern, confidence 92 %) \
             since 0:00:13.000. Next: 6 % from placement."
        );
        assert_eq!(
            details(&pattern())[0],
            "Uneven work, and waiting for those who have more of it, costs 31.0 s of the ranks' time; without it the run \
             would take about 3.90 s less."
        );
    }

    #[test]
    fn when_the_network_was_quiet_is_told_where_that_cost_something() {
        let quiet =
            |from_s: f64, to_s: f64, slower: f64| Quiet { from_s, to_s, is_quiet: slower < 1.5, slower };
        let mut judgement = pattern();
        judgement.quiet = vec![quiet(0.0, 10.0, 1.0), quiet(10.0, 14.0, 3.0), quiet(14.0, 20.0, 1.1)];
        let told = |judgement: &Judgement| details(judgement).into_iter().find(|text| text.contains("quiet"));
        assert_eq!(told(&judgement), None);
        let sentence = "The network was quiet for 80 % of the time; messages took 3.0 times as long from 0:00:10.000 to \
                        0:00:14.000.";
        judgement.verdict.causes.push(("background".into(), 3.0));
        assert_eq!(told(&judgement).as_deref(), Some(sentence));
        judgement.verdict.cause = "background".into();
        assert_eq!(told(&judgement).as_deref(), Some(sentence));
        judgement.quiet.extend((10..14).map(|at| quiet(f64::from(2 * at), f64::from(2 * at + 1), 5.0)));
        assert!(told(&judgement).unwrap().ends_with("from 0:00:22.000 to 0:00:23.000 and 2 shorter times."));
        // One that was never quiet is told of otherwise.
        judgement.quiet = vec![quiet(0.0, 10.0, 3.0)];
        assert_eq!(told(&judgement), None);
    }

    #[test]
    fn nothing_to_say_is_said() {
        let mut none = pattern();
        none.verdict = Verdict { cause: "none".into(), ..Verdict::default() };
        assert_eq!(headline(&none), "No avoidable time above 2 % of the ranks' time.");
        assert!(details(&none).is_empty());
    }

    #[test]
    fn what_was_so_all_the_time_has_no_since_and_waiting_for_everybody_no_name() {
        let mut always = pattern();
        always.attribution = (0..40).map(|at| stretch(at, "pattern")).collect();
        always.verdict.causes.truncate(1);
        for (at, wait) in always.waits.iter_mut().enumerate() {
            wait.awaited = 10 + at as u32;
            wait.seconds = 1.0;
        }
        assert_eq!(
            headline(&always),
            "31 % of the ranks' time is avoidable: ranks wait for each other, as work is uneven (pattern, confidence 92 %)."
        );
    }
}
