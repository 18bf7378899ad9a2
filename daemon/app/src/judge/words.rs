//! What was found, in sentences.

use super::findings::{Findings, Wait};
use crate::words::nanoseconds;

fn time(seconds: f64) -> String {
    nanoseconds((seconds.max(0.0) * 1e9) as u64)
}

fn longest(waits: &[Wait]) -> Option<String> {
    let wait = waits.first().filter(|wait| wait.seconds > 0.0)?;
    Some(format!(
        "the longest waiting: rank {} for rank {} in {}, {} ({})",
        wait.waiter,
        wait.awaited,
        wait.function,
        time(wait.seconds),
        wait.state
    ))
}

/// The verdict and what it rests on, a sentence each; the first is the verdict.
pub(crate) fn verdict_sentences(findings: &Findings) -> Vec<String> {
    let verdict = &findings.verdict;
    let cost = format!(
        "{} of the ranks' time ({:.0} %); without it the run would take about {} less",
        time(verdict.avoidable_s),
        100.0 * verdict.share,
        time(verdict.avoidable_wall_s)
    );
    let (mut sentences, wants_waits) = match verdict.cause.as_str() {
        "mapping" => (
            vec![
                format!("The placement of the ranks costs {cost}."),
                "`mpiscope remap` writes a better one.".to_owned(),
            ],
            false,
        ),
        "pattern" => (vec![format!("Uneven work and ranks that wait for others cost {cost}.")], true),
        "background" => (
            vec![format!("Traffic that makes messages between nodes slower than usual costs {cost}.")],
            false,
        ),
        "cpu" => (
            vec![
                format!("Ranks that had to wait for a core cost {cost}."),
                "Look for other programs on these nodes, and for more ranks than cores.".to_owned(),
            ],
            false,
        ),
        _ => (vec!["Nothing stands out: no cause costs 2 % of the ranks' time.".to_owned()], false),
    };
    if verdict.cause != "none" {
        let sureness = match verdict.confidence {
            sure if sure >= 0.8 => "This is quite sure",
            sure if sure >= 0.5 => "This is likely",
            _ => "This is a guess",
        };
        sentences.push(format!("{sureness} (confidence {:.2}).", verdict.confidence));
    }
    sentences.extend(verdict.remarks.iter().map(|remark| format!("But {remark}.")));
    if wants_waits {
        sentences.extend(longest(&findings.waits).map(|wait| format!("Of all waiting {wait}.")));
    }
    sentences
}

/// Where time in MPI went, a line each: what, how long, and its share.
pub(crate) fn budget_lines(findings: &Findings) -> Vec<(&'static str, String, f64)> {
    let budget = &findings.budget;
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
