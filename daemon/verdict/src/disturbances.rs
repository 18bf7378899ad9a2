//! When each cause is to blame: one beginning and one end for every disturbance, for the verdict, the report and all views.

use mpiscope_feed::{Course, Diagnosis, Disturbance};
use mpiscope_model::Blame;

/// Times are one if they are nearer to each other than this share of the run.
const AT_ONCE: f64 = 0.05;
/// Windows belong to a disturbance that cost at least this share of its mean.
const COSTS: f64 = 0.5;

/// All disturbances, in order.
pub(super) fn disturbances(findings: &Diagnosis, course: &Course) -> Vec<Disturbance> {
    let mut whole = findings.attribution.iter().filter(|stretch| stretch.region.is_none());
    let Some(first) = whole.next() else { return Vec::new() };
    let (begin_s, end_s) = (first.from_s, whole.next_back().unwrap_or(first).to_s);
    let near_s = AT_ONCE * (end_s - begin_s);
    let mut all = Vec::new();
    for cause in Blame::WORDS {
        let times = joined(blamed(findings, cause), near_s);
        let is_network = cause == "background" && findings.quiet.iter().any(|of| !of.is_quiet);
        for (from_s, to_s) in times {
            let (from_s, to_s) =
                if is_network { (from_s, to_s) } else { refined(course, cause, (from_s, to_s)) };
            all.push(Disturbance { cause: cause.into(), from_s, to_s });
        }
    }
    all.sort_by(|one, other| one.from_s.total_cmp(&other.from_s).then(one.to_s.total_cmp(&other.to_s)));
    all
}

/// The times at which a cause is to blame. Of a network it is known more closely when it was disturbed.
fn blamed(findings: &Diagnosis, cause: &str) -> Vec<(f64, f64)> {
    // Those of regions lie across those of the whole job.
    let whole = findings.attribution.iter().filter(|of| of.region.is_none() && of.cause == cause);
    let times: Vec<(f64, f64)> = whole.map(|of| (of.from_s, of.to_s)).collect();
    let disturbed = findings.quiet.iter().filter(|of| !of.is_quiet);
    let disturbed: Vec<(f64, f64)> = disturbed.map(|of| (of.from_s, of.to_s)).collect();
    let is_blamed = !times.is_empty() || findings.verdict.cause == cause;
    if cause == "background" && is_blamed && !disturbed.is_empty() { disturbed } else { times }
}

fn joined(times: Vec<(f64, f64)>, near_s: f64) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (from_s, until_s) in times {
        match all.last_mut().filter(|(_, to_s)| from_s - *to_s <= near_s) {
            Some((_, to_s)) => *to_s = until_s,
            None => all.push((from_s, until_s)),
        }
    }
    all
}

/// The same to the window: of all ranges that touch the stretches and their neighbours, the one in which the cause costs
/// most beyond `COSTS` of its mean.
fn refined(course: &Course, cause: &str, (from_s, to_s): (f64, f64)) -> (f64, f64) {
    let Some(at) = Blame::WORDS.iter().position(|of| *of == cause) else { return (from_s, to_s) };
    let window_s = course.width_ns as f64 / 1e9;
    let begin_s = course.from_ns as f64 / 1e9;
    let count = course.avoidable.len();
    if window_s <= 0.0 || count == 0 {
        return (from_s, to_s);
    }
    let place = |seconds: f64| (((seconds - begin_s) / window_s).round().max(0.0) as usize).min(count);
    let (first, last) = (place(from_s), place(to_s));
    if first >= last {
        return (from_s, to_s);
    }
    let cost = |window: usize| course.avoidable[window][at].max(0.0);
    let mean = (first..last).map(cost).sum::<f64>() / (last - first) as f64;
    // A stretch has a fortieth of all windows; an end may lie in the next one.
    let around = count.div_ceil(40);
    let (mut best, mut sum, mut start) = ((0.0, first, last), 0.0, 0);
    for window in first.saturating_sub(around)..(last + around).min(count) {
        if sum <= 0.0 {
            (sum, start) = (0.0, window);
        }
        sum += cost(window) - COSTS * mean;
        if sum > best.0 {
            best = (sum, start, window + 1);
        }
    }
    let (_, first, last) = best;
    let end_s = if course.to_ns > 0 { course.to_ns as f64 / 1e9 } else { f64::INFINITY };
    (begin_s + first as f64 * window_s, (begin_s + last as f64 * window_s).min(end_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_feed::{Attribution, Quiet};

    fn stretch(from_s: f64, to_s: f64, cause: &str) -> Attribution {
        Attribution { from_s, to_s, cause: cause.into(), ..Attribution::default() }
    }

    fn times(of: &[Disturbance]) -> Vec<(&str, f64, f64)> {
        let round = |seconds: f64| (seconds * 1e6).round() / 1e6;
        of.iter().map(|of| (&*of.cause, round(of.from_s), round(of.to_s))).collect()
    }

    /// Windows of 0.1 s in 40 s, in which a rank lacks its CPU from 10.3 s to 15 s.
    fn course() -> Course {
        let windows = (0..400).map(|window| match window {
            103..150 => [0.0, 0.0, 0.0, 0.8],
            _ => [0.0, 0.0, 0.0, 0.01],
        });
        Course {
            width_ns: 100_000_000,
            to_ns: 40_000_000_000,
            avoidable: windows.collect(),
            ..Course::default()
        }
    }

    #[test]
    fn it_begins_and_ends_with_the_windows_that_it_costs() {
        let stretches = (0..40).map(|at| {
            let from_s = f64::from(at);
            stretch(from_s, from_s + 1.0, if (10..16).contains(&at) { "cpu" } else { "none" })
        });
        let findings = Diagnosis { attribution: stretches.collect(), ..Diagnosis::default() };
        assert_eq!(times(&disturbances(&findings, &course())), [("cpu", 10.3, 15.0)]);
        // Without windows it is known to the stretch.
        assert_eq!(times(&disturbances(&findings, &Course::default())), [("cpu", 10.0, 16.0)]);
    }

    #[test]
    fn of_a_network_the_times_are_those_of_its_messages() {
        let attribution =
            vec![stretch(0.0, 2.0, "none"), stretch(2.0, 4.0, "background"), stretch(4.0, 8.0, "none")];
        let quiet = |from_s, to_s, is_quiet| Quiet { from_s, to_s, is_quiet, slower: 1.0 };
        let quiet = vec![quiet(0.0, 2.3, true), quiet(2.3, 3.9, false), quiet(3.9, 8.0, true)];
        let findings = Diagnosis { attribution, quiet, ..Diagnosis::default() };
        assert_eq!(times(&disturbances(&findings, &Course::default())), [("background", 2.3, 3.9)]);
        let calm = Diagnosis { attribution: vec![stretch(0.0, 8.0, "none")], ..findings };
        assert_eq!(times(&disturbances(&calm, &Course::default())), []);
    }

    #[test]
    fn times_near_each_other_are_one() {
        let attribution = vec![
            stretch(0.0, 10.0, "pattern"),
            stretch(10.0, 10.4, "none"),
            stretch(10.4, 12.0, "pattern"),
            stretch(12.0, 20.0, "none"),
        ];
        let findings = Diagnosis { attribution, ..Diagnosis::default() };
        assert_eq!(times(&disturbances(&findings, &Course::default())), [("pattern", 0.0, 12.0)]);
    }
}
