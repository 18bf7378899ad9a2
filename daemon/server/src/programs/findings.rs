//! What was found about the run, as rows of a subscription in the order of when they begin.
//!
//! While a run goes on, findings change: one that begins, or began, before what a subscription has passed comes again when
//! it differs from what was sent, and once more when it is not held any more.

use mpiscope_feed::{FindingsReport, HangKind, Hangs, RegionCourse, runs};
use mpiscope_model::Nanoseconds;
use mpiscope_model::words::{cause_title, ranges};
use mpiscope_protocol::{Finding, FindingKind};
use std::collections::{BTreeMap, BTreeSet};

/// The most that are sent of a run.
const MOST: usize = 4_096;

/// What was found, in the order of when it begins.
pub(crate) fn findings(found: Option<&FindingsReport>, hangs: &Hangs) -> Vec<Finding> {
    let mut list = List::default();
    if let Some(found) = found {
        list.causes(found);
        list.network(found);
        list.sources(found);
        list.growth(found);
    }
    list.hangs(hangs);
    let mut all = list.all;
    if all.len() > MOST {
        all.sort_by(|one, other| (weight(one), place(one)).cmp(&(weight(other), place(other))));
        all.truncate(MOST);
    }
    all.sort_by(|one, other| place(one).cmp(&place(other)));
    all
}

/// What is sent first where there are too many: hangs, then what the verdict is about.
fn weight(finding: &Finding) -> u8 {
    match finding.kind {
        FindingKind::Hang => 0,
        FindingKind::Cause if finding.region.is_none() => 1,
        _ => 2,
    }
}

pub(super) fn place(finding: &Finding) -> (Nanoseconds, &str) {
    (finding.from_ns as Nanoseconds, &finding.finding)
}

fn ns(seconds: f64) -> f64 {
    (seconds * 1e9).round().max(0.0)
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3} s")
}

/// In order, each once.
fn sorted(ranks: &[u32]) -> Vec<u32> {
    ranks.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

#[derive(Default)]
struct List {
    all: Vec<Finding>,
    names: BTreeMap<String, u32>,
}

impl List {
    /// Adds one under a name that stays the same as long as it is about the same.
    fn add(
        &mut self,
        about: &str,
        kind: FindingKind,
        from_s: f64,
        to_s: Option<f64>,
        text: String,
    ) -> &mut Finding {
        let name = format!("{about}/{:.0}", ns(from_s));
        let count = self.names.entry(name.clone()).or_default();
        *count += 1;
        let finding = if *count == 1 { name } else { format!("{name}/{count}") };
        let (from_ns, to_ns) = (ns(from_s), to_s.map(ns));
        self.all.push(Finding {
            finding,
            kind,
            from_ns,
            to_ns,
            ranks: Vec::new(),
            region: None,
            other: None,
            cause: None,
            avoidable_s: None,
            confidence: None,
            text,
            is_final: false,
            is_withdrawn: false,
        });
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    fn causes(&mut self, found: &FindingsReport) {
        for of in found.diagnosis.attribution.iter().filter(|of| of.cause != "none") {
            let whose =
                of.region.map_or_else(|| "of the job".to_owned(), |region| format!("of region {region}"));
            let text = format!(
                "{} costs {} {whose}, from {} to {}, {:.0} % sure.",
                cause_title(&of.cause),
                seconds(of.avoidable_s),
                seconds(of.from_s),
                seconds(of.to_s),
                100.0 * of.confidence
            );
            let about = format!("cause/{}/{}", of.cause, of.region.map_or(-1, i64::from));
            let finding = self.add(&about, FindingKind::Cause, of.from_s, Some(of.to_s), text);
            (finding.region, finding.cause) = (of.region, Some(of.cause.clone()));
            (finding.avoidable_s, finding.confidence) = (Some(of.avoidable_s), Some(of.confidence));
            finding.is_final = found.is_final;
            let course = found.evolution.regions.iter().find(|course| Some(course.region) == of.region);
            finding.ranks = course.map(|course| course.ranks.clone()).unwrap_or_default();
        }
    }

    fn network(&mut self, found: &FindingsReport) {
        for of in found.diagnosis.quiet.iter().filter(|of| !of.is_quiet) {
            let text = format!(
                "Messages took {:.1} times as long as in a quiet network, from {} to {}.",
                of.slower,
                seconds(of.from_s),
                seconds(of.to_s)
            );
            let finding = self.add("disturbance", FindingKind::Disturbance, of.from_s, Some(of.to_s), text);
            (finding.cause, finding.is_final) = (Some("background".to_owned()), found.is_final);
        }
    }

    fn sources(&mut self, found: &FindingsReport) {
        let (from_s, until_s) = (found.from_s, found.until_s);
        for of in &found.diagnosis.sources {
            let what = if of.cause == "cpu" { "had no CPU" } else { "had more to do than others" };
            let about = format!("source/{}", of.cause);
            for time in &of.times {
                let (ranks, cause) = (sorted(&time.ranks), Some(of.cause.clone()));
                let text = format!(
                    "{} {what}, from {} to {}.",
                    subject(&ranks),
                    seconds(time.from_s),
                    seconds(time.to_s)
                );
                let finding = self.add(&about, FindingKind::Source, time.from_s, Some(time.to_s), text);
                (finding.ranks, finding.cause, finding.is_final) = (runs(ranks), cause, found.is_final);
            }
            if of.times.is_empty() && !of.few.is_empty() {
                let ranks = sorted(&of.few);
                let text = format!("{} {what}, for {} in all.", subject(&ranks), seconds(of.of_few_s()));
                let finding = self.add(&about, FindingKind::Source, from_s, Some(until_s), text);
                (finding.ranks, finding.cause, finding.is_final) =
                    (runs(ranks), Some(of.cause.clone()), found.is_final);
            }
        }
        for of in &found.diagnosis.stopped.longest {
            let text = format!("Rank {} was stopped for {}.", of.rank, seconds(of.seconds));
            let about = format!("stopped/{}", of.rank);
            let finding = self.add(&about, FindingKind::Stopped, from_s, Some(until_s), text);
            (finding.ranks, finding.is_final) = (vec![(of.rank, of.rank)], found.is_final);
        }
    }

    fn growth(&mut self, found: &FindingsReport) {
        let courses = found.evolution.regions.iter().chain(&found.evolution.links);
        for (course, of) in courses.flat_map(|course| course.segments.iter().map(move |of| (course, of))) {
            if of.kind != "growth" {
                continue;
            }
            let RegionCourse { region, other, ranks, .. } = course;
            let whose = other.map_or_else(
                || format!("of region {region}"),
                |other| format!("between regions {region} and {other}"),
            );
            let text = format!(
                "The latency {whose} rises by {:.0} %, from {} to {}.",
                100.0 * of.rise,
                seconds(of.from_s),
                seconds(of.to_s)
            );
            let about = format!("growth/{region}/{}", other.map_or(-1, i64::from));
            let finding = self.add(&about, FindingKind::Growth, of.from_s, Some(of.to_s), text);
            (finding.region, finding.other, finding.ranks) = (Some(*region), *other, ranks.clone());
            finding.is_final = of.is_closed && found.is_final;
        }
    }

    fn hangs(&mut self, hangs: &Hangs) {
        for of in &hangs.newest {
            let about = match of.kind {
                HangKind::Deadlock => "hang/deadlock",
                HangKind::Gone => "hang/gone",
                HangKind::Waits => "hang/waits",
            };
            let sentences: Vec<&str> = of.sentences.iter().map(|sentence| sentence.text.as_str()).collect();
            let mut ranks = of.stuck.clone();
            if ranks.is_empty() {
                ranks = of.calls.iter().map(|call| call.rank).collect();
            }
            let finding = self.add(about, FindingKind::Hang, of.since_s, of.until_s, sentences.join(" "));
            (finding.ranks, finding.is_final) = (runs(sorted(&ranks)), of.until_s.is_some());
        }
    }
}

/// The first of the ranks at the start of a sentence.
fn subject(ranks: &[u32]) -> String {
    let words = ranges(ranks);
    words.strip_prefix('r').map_or_else(|| words.clone(), |rest| format!("R{rest}"))
}

#[cfg(test)]
mod tests;
