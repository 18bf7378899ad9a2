//! The verdict on a part of a run: a range of time, some ranks, or both. What replays save is divided over windows and
//! ranks. A part gets its share of that, and the sentences of a whole run.

use super::actions::actions;
use super::blame::{moving, named_source, ranks as blamed_ranks, without_cpu};
use super::number_format::{percent, time};
use super::recorded_time::recorded_ns;
use super::sources::{MOST_RANKS, few};
use super::words::{claim, without};
use mpiscope_diagnosis::NEGLIGIBLE;
use mpiscope_feed::{
    Attribution, Course, Diagnosis, Disturbance, Quiet, RangeBudget, RangeVerdict, RangeVerdicts, Source,
    SourceRank, Verdict, WhatIf,
};
use mpiscope_model::words::{ranges, run_time_of};
use mpiscope_model::{Blame, Gap, Rank};

/// What reaches to within this share of the part's end goes on to it.
const AT_ONCE: f64 = 0.05;

/// Gives the verdict on parts of a run by what was found about all of it.
#[derive(Debug)]
pub struct PartVerdicts {
    whole: Diagnosis,
    ranks: u32,
}

/// A part of a run.
struct Part<'a> {
    of: &'a RangeBudget,
    course: &'a Course,
    /// How many ranks it has.
    count: u32,
}

impl PartVerdicts {
    /// For a job with this number of ranks.
    #[must_use]
    pub fn new(whole: &Diagnosis, ranks: u32) -> Self {
        Self { whole: whole.clone(), ranks }
    }

    /// What was found, cut down to a part.
    fn cut(&self, part: &Part<'_>) -> Diagnosis {
        let whole = &self.whole;
        let verdict = self.verdict_on(part);
        let sources: Vec<Source> = [Blame::Pattern, Blame::Cpu]
            .into_iter()
            .filter_map(|blame| self.source(blame.word(), part))
            .collect();
        let quiet = whole.quiet.iter().filter_map(|of| {
            let (from_s, to_s) = part.clipped(of.from_s, of.to_s)?;
            Some(Quiet { from_s, to_s, ..of.clone() })
        });
        let disturbances = whole.disturbances.iter().filter_map(|of| {
            let (from_s, to_s) = part.clipped(of.from_s, of.to_s)?;
            Some(Disturbance { cause: of.cause.clone(), from_s, to_s })
        });
        Diagnosis {
            budget: part.of.parts.clone(),
            sources,
            quiet: quiet.collect(),
            disturbances: disturbances.collect(),
            verdict,
            // These are of the whole run.
            waits: Vec::new(),
            gathered: Vec::new(),
            sites: Vec::new(),
            attribution: Vec::new(),
            cpu_contention: None,
            whatif: WhatIf::default(),
            ..whole.clone()
        }
    }

    fn verdict_on(&self, part: &Part<'_>) -> Verdict {
        let whole = &self.whole.verdict;
        let length_s = part.length_s();
        let ranks_s = length_s * f64::from(part.count);
        let (cause, avoidable_s) = part.of.causes.first().cloned().unwrap_or_default();
        let share = if ranks_s > 0.0 { avoidable_s / ranks_s } else { 0.0 };
        let is_enough = share >= NEGLIGIBLE;
        let figure = |value: f64| if is_enough { value } else { 0.0 };
        let cause = if is_enough { cause } else { "none".into() };
        Verdict {
            avoidable_s: figure(avoidable_s),
            avoidable_wall_s: figure(share * length_s),
            share: figure(share),
            confidence: self.confidence(part, &cause),
            causes: part.of.causes.clone(),
            cause,
            ..whole.clone()
        }
    }

    /// From which ranks a cause comes in the part.
    fn source(&self, cause: &str, part: &Part<'_>) -> Option<Source> {
        let of_part = source(cause, part, self.ranks)?;
        let of_run = self.whole.sources.iter().find(|of| of.cause == cause);
        let (few_nodes, few_hosts) = of_run
            .filter(|of| of.few == of_part.few)
            .map(|of| (of.few_nodes, of.few_hosts.clone()))
            .unwrap_or_default();
        Some(Source { few_nodes, few_hosts, ..of_part })
    }

    /// Where the ranks with more work change during the run, those of the part are of little use.
    fn actions(&self, mut found: Diagnosis) -> Vec<String> {
        if found.verdict.cause == "pattern" && moving(&self.whole).is_some() {
            found.sources.clone_from(&self.whole.sources);
        }
        actions(&found)
    }

    /// How sure a cause is: by the stretches of the run that the part touches, and more by the whole run the more of it the
    /// part is.
    fn confidence(&self, part: &Part<'_>, cause: &str) -> f64 {
        let agrees = |of: &str, confidence: f64| if of == cause { confidence } else { 1.0 - confidence };
        let whole = &self.whole.verdict;
        let stretches = self.whole.attribution.iter().filter(|of| of.region.is_none());
        let (mut run_s, mut length_s, mut sure_s) = (0.0, 0.0, 0.0);
        for Attribution { from_s, to_s, cause: of, confidence, .. } in stretches {
            run_s += to_s - from_s;
            if let Some((from_s, to_s)) = part.clipped(*from_s, *to_s) {
                length_s += to_s - from_s;
                sure_s += agrees(of, *confidence) * (to_s - from_s);
            }
        }
        if length_s <= 0.0 {
            return 0.0;
        }
        let share = length_s / run_s * f64::from(part.count) / f64::from(self.ranks.max(1));
        share * agrees(&whole.cause, whole.confidence) + (1.0 - share) * sure_s / length_s
    }
}

impl RangeVerdicts for PartVerdicts {
    fn verdict(
        &self,
        of: &RangeBudget,
        course: &Course,
        ranks: Option<&[(Rank, Rank)]>,
    ) -> Option<RangeVerdict> {
        let count = ranks.map_or(self.ranks, |ranks| counted(ranks, self.ranks));
        let part = Part { of, course, count };
        if self.whole.verdict.is_withheld() || count == 0 || part.length_s() <= 0.0 {
            return None;
        }
        if of.is_within_a_window() {
            return None;
        }
        let found = self.cut(&part);
        let verdict = &found.verdict;
        Some(RangeVerdict {
            cause: verdict.cause.clone(),
            avoidable_wall_s: verdict.avoidable_wall_s,
            share: verdict.share,
            confidence: verdict.confidence,
            ranks: blamed_ranks(&found),
            sentence: claim(&found, part.when(&found)),
            details: details(&found),
            actions: self.actions(found.clone()),
        })
    }
}

impl Part<'_> {
    fn range_s(&self) -> (f64, f64) {
        (self.of.from_ns as f64 / 1e9, self.of.to_ns as f64 / 1e9)
    }

    /// Its length without the time in which recording was off.
    fn length_s(&self) -> f64 {
        let off = self.course.off_ns.iter();
        let off = off.map(|&(from_ns, until_ns)| Gap { from_ns, until_ns: Some(until_ns) });
        recorded_ns(off, self.of.from_ns, self.of.to_ns) as f64 / 1e9
    }

    /// What of a time lies in it.
    fn clipped(&self, from_s: f64, to_s: f64) -> Option<(f64, f64)> {
        let (begin_s, end_s) = self.range_s();
        let clipped = (from_s.max(begin_s), to_s.min(end_s));
        (clipped.0 < clipped.1).then_some(clipped)
    }

    /// When in it the cause is to blame; nothing where that is so all the time, or not known.
    fn when(&self, found: &Diagnosis) -> Option<String> {
        let blamed = found.disturbances.iter().filter(|of| of.cause == found.verdict.cause);
        let times: Vec<(f64, f64)> = blamed.map(|of| (of.from_s, of.to_s)).collect();
        let ((begin_s, end_s), (first, last)) = (self.range_s(), (times.first()?, times.last()?));
        // Times are known to the window.
        let near_s = (AT_ONCE * (end_s - begin_s)).max(self.course.width_ns as f64 / 1e9);
        match (times.len(), first.0 - begin_s <= near_s, end_s - last.1 <= near_s) {
            (1, true, true) => None,
            (1, true, false) => Some(format!("until {}", run_time_of(last.1))),
            (1, false, true) => Some(format!("since {}", run_time_of(first.0))),
            (1, false, false) => Some(format!("from {} to {}", run_time_of(first.0), run_time_of(last.1))),
            (number, ..) => Some(format!(
                "in {number} periods between {} and {}",
                run_time_of(first.0),
                run_time_of(last.1)
            )),
        }
    }
}

/// How many ranks of a job are in these ranges, which may overlap.
fn counted(ranges: &[(Rank, Rank)], ranks: u32) -> u32 {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let (mut count, mut next) = (0, 0);
    for (first, last) in sorted {
        let (first, end) = (first.0.max(next), last.0.saturating_add(1).min(ranks));
        count += end.saturating_sub(first);
        next = next.max(end);
    }
    count
}

/// From which ranks a cause comes in a part of the run.
fn source(cause: &str, part: &Part<'_>, ranks: u32) -> Option<Source> {
    let mut by_rank = vec![0_u64; ranks as usize];
    let mut rest_ns = 0.0;
    for of in part.course.sources.iter().filter(|of| of.cause == cause) {
        let (from_s, to_s) = (of.from_ns as f64 / 1e9, of.to_ns as f64 / 1e9);
        let Some((begin_s, end_s)) = part.clipped(from_s, to_s) else { continue };
        let share_ns = 1e9 * (end_s - begin_s) / (to_s - from_s);
        rest_ns += of.total_s * share_ns;
        for (rank, seconds) in &of.ranks {
            if let Some(sum) = by_rank.get_mut(*rank as usize) {
                *sum += (seconds * share_ns) as u64;
                rest_ns -= seconds * share_ns;
            }
        }
    }
    let total_ns: u64 = by_rank.iter().sum();
    if total_ns == 0 {
        return None;
    }
    // Parts list the ranks with the most. What others have is little each.
    let unlisted = by_rank.iter().filter(|ns| **ns == 0).count().max(1);
    let each_ns = (rest_ns.max(0.0) / unlisted as f64) as u64;
    by_rank.iter_mut().filter(|ns| **ns == 0).for_each(|ns| *ns = each_ns);
    let (few, few_ns) = few(&by_rank);
    let seconds = |ns: u64| ns as f64 / 1e9;
    let named = |&rank: &Rank| SourceRank {
        rank: rank.0,
        seconds: seconds(by_rank[rank.index()]),
        ..SourceRank::default()
    };
    Some(Source {
        cause: cause.into(),
        total_s: seconds(by_rank.iter().sum()),
        few_s: seconds(few_ns),
        ranks: few.iter().take(MOST_RANKS).map(named).collect(),
        few: few.into_iter().map(|rank| rank.0).collect(),
        ..Source::default()
    })
}

/// What shows it.
fn details(found: &Diagnosis) -> Vec<String> {
    let verdict = &found.verdict;
    if verdict.cause == "none" {
        return Vec::new();
    }
    let less = time(verdict.avoidable_wall_s);
    let mut details = vec![format!("{} this part takes about {less} less.", without(&verdict.cause))];
    details.extend(named_source(found, &verdict.cause).map(|of| {
        let share = percent(of.few_s / of.total_s.max(1e-12));
        let (names, total) = (ranges(&of.few), time(of.total_s));
        match verdict.cause.as_str() {
            "cpu" => format!("{share} of the {total} {} falls on {names}.", without_cpu(found)),
            _ => format!("{share} of the {total} of excess work is on {names}."),
        }
    }));
    details
}

#[cfg(test)]
mod tests;
