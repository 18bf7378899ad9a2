//! What `mpiscope run` says on stderr at the end: the figures.

use mpiscope_engine::uncounted;
use mpiscope_model::words::{bytes, nanoseconds, plural, run_time};
use mpiscope_recorder::Summary;
use mpiscope_verdict::ADVICE;
use std::path::Path;
use std::time::Duration;

const MOST_FUNCTIONS: usize = 5;
const MOST_MISSING: usize = 4;
const MOST_SENTENCES: usize = 2;

/// The figures: at most twenty lines.
pub(crate) fn print(summary: &Summary, out: &Path) {
    for line in lines(summary, out) {
        say!("{line}");
    }
}

fn lines(summary: &Summary, out: &Path) -> Vec<String> {
    let duration = run_time(Duration::from_nanos(summary.duration_ns));
    if summary.ranks == 0 {
        return vec![
            format!("no MPI call was recorded in {duration}; did the program start MPI?"),
            "programs that link MPI statically cannot be recorded; `mpiscope doctor` says more".into(),
        ];
    }
    let mut lines = job(summary, &duration);
    let (advice, verdict): (Vec<&String>, Vec<&String>) =
        summary.verdict.iter().partition(|sentence| sentence.starts_with(ADVICE));
    lines.extend(verdict.into_iter().take(MOST_SENTENCES).chain(advice).cloned());
    lines.extend(functions(summary));
    // It may be a part of the verdict.
    let processors =
        summary.processors.iter().filter(|sentence| !lines.iter().any(|line| line.contains(*sentence)));
    let processors: Vec<String> = processors.cloned().collect();
    lines.extend(processors);
    lines.extend(missing(summary));
    lines.extend(cost(summary));
    lines.push(format!("recording in {}", out.display()));
    lines
}

/// What ran, and how much it communicated.
fn job(summary: &Summary, duration: &str) -> Vec<String> {
    let mut lines = vec![format!(
        "{} on {}, {}, {duration}",
        plural(summary.ranks.into(), "rank"),
        plural(summary.nodes.into(), "node"),
        summary.mpi,
    )];
    let polls = if summary.polls > 0 {
        format!(" and {} folded into them", plural(summary.polls, "poll"))
    } else {
        String::new()
    };
    lines.push(format!(
        "{}{polls}, {} of {}",
        plural(summary.calls, "call"),
        plural(summary.messages, "message"),
        bytes(summary.bytes),
    ));
    if summary.unmatched_sends + summary.unmatched_receives > 0 {
        lines.push(format!(
            "{} without a receive, {} without a send",
            plural(summary.unmatched_sends, "send"),
            plural(summary.unmatched_receives, "receive"),
        ));
    }
    lines
}

/// The functions with most time.
fn functions(summary: &Summary) -> impl Iterator<Item = String> {
    let total_ns: u64 = summary.functions.iter().map(|(_, _, time_ns)| time_ns).sum();
    summary.functions.iter().take(MOST_FUNCTIONS).map(move |(name, calls, time_ns)| {
        let share = if total_ns == 0 { 0.0 } else { *time_ns as f64 / total_ns as f64 * 100.0 };
        format!(
            "  {name:<24} {:>16}   {:>9} {share:5.1} % of the time in MPI",
            plural(*calls, "call"),
            nanoseconds(*time_ns),
        )
    })
}

fn missing(summary: &Summary) -> impl Iterator<Item = String> {
    let others = summary.missing.len().saturating_sub(MOST_MISSING);
    let more = (others > 0).then(|| format!("missing: {others} more, see the report"));
    summary.missing.iter().take(MOST_MISSING).map(|missing| format!("missing: {missing}")).chain(more)
}

/// What recording cost, and what was lost.
fn cost(summary: &Summary) -> [String; 2] {
    let made = (summary.calls + summary.polls).max(1);
    [
        format!(
            "recording cost about {} per call, {} in all ranks; the daemon used {} of CPU time",
            nanoseconds(summary.cost_per_call_ns as u64),
            nanoseconds((summary.cost_s * 1e9) as u64),
            nanoseconds((summary.agent_cpu_s * 1e9) as u64),
        ),
        format!(
            "{} lost{}; {} on disk, {:.1} bytes per call",
            if summary.lost_calls == 0 { "no call".into() } else { plural(summary.lost_calls, "call") },
            uncounted::note(&summary.uncounted),
            bytes(summary.bytes_on_disk),
            summary.bytes_on_disk as f64 / made as f64,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_at_most_twenty_lines() {
        let summary = Summary {
            ranks: 4,
            functions: vec![("MPI_Send".into(), 1, 1); 30],
            missing: vec!["something".into(); 30],
            unmatched_sends: 1,
            polls: 1,
            verdict: [vec!["Incomplete run".into(); 9], vec![format!("{ADVICE}that")]].concat(),
            processors: Some("ranks waited".into()),
            ..Summary::default()
        };
        let lines = lines(&summary, Path::new("/x"));
        assert!(lines.len() <= 20, "{lines:?}");
        assert!(lines.contains(&"What to do: that".to_owned()), "{lines:?}");
    }
}
