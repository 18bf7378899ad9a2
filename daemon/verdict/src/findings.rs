//! What was found about a run, as it is kept in its recording.

use super::criteria_conversion::{diagnosis_collectives, diagnosis_scope, parse_scope, recorded_collectives};
use super::diagnosis::{diagnosis, withhold};
use super::disturbances::disturbances;
use super::evolution::evolution;
use super::recorded_time::RecordedTime;
use super::regions;
use super::replayed::Replayed;
use super::words::say;
use crate::criteria_file::CollectiveCriterion;
use crate::ending::{Ending, cut_short, diagnosed_until_s};
use crate::hosts::Hosts;
use crate::live_findings::LiveFindings;
use mpiscope_diagnosis::{Budgeter, MessageCriterion, Version};
use mpiscope_feed::{Course, Diagnosis, Evolution, FindingsReport as Report, Regions};
use mpiscope_model::SiteInfo;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "mpiscope.findings/1";

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    schema: String,
    /// Expected transfer times.
    pub criteria: Vec<Criterion>,
    /// The expected times of collectives.
    #[serde(default)]
    pub collectives: Vec<CollectiveCriterion>,
    /// The verdict, with its costs and sentences.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// Window by window.
    #[serde(default)]
    pub course: Course,
    /// How latency went by region.
    #[serde(default)]
    pub(crate) evolution: Evolution,
    /// From how many bytes on a blocking send was seen to wait for its receive.
    pub(crate) blocking_from_bytes: Option<u64>,
    /// Whether a quiet network was measured before, for this MPI and number of ranks on a node.
    pub(crate) is_calibrated: bool,
    /// Calls whose other side never became known.
    pub(crate) given_up: u64,
    /// Whether this comes from the first of two readings of the run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_first_reading: bool,
    /// Whether there was time for a part of the run only, from its start.
    #[serde(default, skip_serializing_if = "is_false")]
    is_cut: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_false(of: &bool) -> bool {
    !of
}

/// The expected transfer time of messages of some sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Whether within a node or between nodes.
    pub scope: String,
    /// The smallest message of the class, in bytes.
    pub size_from: u64,
    /// The first size that is not meant any more.
    pub size_to: u64,
    /// How many were measured.
    pub samples: u64,
    /// What half of them took at most.
    pub median_ns: u64,
    /// Up to this long is normal: the 95th percentile of quiet windows.
    #[serde(default)]
    pub(crate) normal_ns: Option<u64>,
}

impl Findings {
    pub(super) fn from_budgeter(
        budgeter: &Budgeter,
        is_referenced: bool,
        ranks: u32,
        seen: &RecordedTime,
        replayed: &Replayed,
    ) -> Self {
        let (mut diagnosis, course) = diagnosis(budgeter, is_referenced, ranks, seen, replayed);
        diagnosis.regions = regions::of_whole_run(budgeter, ranks);
        Self {
            schema: SCHEMA.into(),
            criteria: criteria(budgeter.criteria()),
            collectives: recorded_collectives(budgeter.criteria()),
            diagnosis,
            course,
            evolution: evolution(budgeter.evolution(), budgeter.criteria().has_normal()),
            blocking_from_bytes: budgeter.blocking_from_bytes(),
            is_calibrated: is_referenced,
            given_up: budgeter.given_up(),
            is_first_reading: false,
            is_cut: false,
        }
    }

    /// Says that these come from the first of two readings.
    pub(super) fn limit_to_first_reading(&mut self) {
        self.is_first_reading = true;
        // Ranks have other regions only in the second one.
        self.diagnosis.attribution.retain(|stretch| stretch.region.is_none());
    }

    /// Says that only a share of the run was replayed, and no other placement.
    pub(super) fn limit_to_parts(&mut self, replayed: f64, nodes: usize) {
        let verdict = &mut self.diagnosis.verdict;
        if verdict.is_withheld() {
            return;
        }
        if replayed <= 0.0 {
            verdict.is_at_least = true;
            verdict.remarks.push("There was no time for replays, so savings are not known".into());
            return;
        }
        let percent = (100.0 * replayed).clamp(1.0, 100.0);
        let placement = if nodes > 1 { "; another placement was not looked at" } else { "" };
        verdict.is_at_least |= nodes > 1;
        verdict.remarks.push(format!("Savings are estimated from {percent:.0} % of the run{placement}"));
    }

    /// Says that there was no time for what came later.
    pub(super) fn say_cut(&mut self) {
        self.is_cut = true;
    }

    /// What was found while the job ran, where nothing can be found after it.
    pub fn of_found(found: LiveFindings) -> Self {
        let LiveFindings { report, course, criteria: version } = found;
        Self {
            schema: SCHEMA.into(),
            criteria: criteria(&version),
            collectives: recorded_collectives(&version),
            diagnosis: report.diagnosis,
            course,
            evolution: report.evolution,
            blocking_from_bytes: None,
            is_calibrated: false,
            given_up: 0,
            is_first_reading: false,
            is_cut: false,
        }
    }

    /// Limits the verdict to what a recording of a run that ended like this supports.
    pub fn limit(&mut self, ending: &Ending) {
        let Self { diagnosis: found, course, .. } = self;
        let verdict = &mut found.verdict;
        // Recordings of earlier versions have the share of lost calls only.
        let missing_share = verdict.basis.missing_share.max(verdict.lost_share);
        let until_s = diagnosed_until_s(&found.attribution);
        verdict.basis = ending.basis(missing_share, until_s);
        if self.is_cut {
            verdict.basis = cut_short(std::mem::take(&mut verdict.basis), until_s);
        }
        if verdict.is_withheld() {
            withhold(found, course);
        }
    }

    /// With what older recordings do not have.
    pub(super) fn completed(mut self) -> Self {
        if !self.evolution.has_normal {
            let regions = &mut self.diagnosis.regions;
            regions.regions.iter_mut().for_each(|region| region.above_expected = region.delayed);
            regions.between.iter_mut().for_each(|pair| pair.above_expected = pair.delayed);
        }
        self.evolution = self.evolution.completed();
        if self.diagnosis.disturbances.is_empty() {
            self.diagnosis.disturbances = disturbances(&self.diagnosis, &self.course);
        }
        self
    }

    /// The expected times of messages and collectives.
    pub fn criteria(&self) -> Version {
        let messages = self.criteria.iter().filter_map(|criterion| {
            let scope = diagnosis_scope(parse_scope(&criterion.scope)?);
            let sizes = (criterion.size_from, criterion.size_to);
            let known = MessageCriterion::of_sizes(scope, sizes, criterion.samples, criterion.median_ns);
            Some(known.with_normal(criterion.normal_ns))
        });
        Version::new(messages.collect(), diagnosis_collectives(&self.collectives))
    }

    /// The regions of the whole run.
    pub fn regions(&self) -> &Regions {
        &self.diagnosis.regions
    }

    /// Fills in the names of hosts.
    pub(super) fn name_hosts(&mut self, hosts: &Hosts) {
        hosts.name(&mut self.diagnosis);
    }

    /// Fills in the names of call sites.
    pub fn name_places(&mut self, sites: &[SiteInfo]) {
        name_places(&mut self.diagnosis, sites);
    }

    /// All that viewers receive of it.
    pub fn found(&self) -> LiveFindings {
        LiveFindings { report: self.report(), course: self.course.clone(), criteria: self.criteria() }
    }

    /// What pages show of it.
    pub fn report(&self) -> Report {
        let mut diagnosis = self.diagnosis.clone();
        diagnosis.regions = diagnosis.regions.bounded(regions::MOST_REPORTED);
        let mut report = Report {
            from_s: 0.0,
            until_s: diagnosis.attribution.last().map_or(0.0, |last| last.to_s),
            left_out_calls: 0,
            is_final: true,
            diagnosis,
            evolution: self.evolution.clone(),
            ..Report::default()
        };
        say(&mut report);
        report
    }
}

/// Fills in the names of call sites.
pub(super) fn name_places(diagnosis: &mut Diagnosis, sites: &[SiteInfo]) {
    let place = |site: Option<u32>| {
        let known = site.and_then(|site| sites.get(site as usize));
        known.map(|known| known.words_with_caller(sites)).unwrap_or_default()
    };
    diagnosis.waits.iter_mut().for_each(|wait| wait.place = place(wait.site));
    diagnosis.sites.iter_mut().for_each(|wait| wait.place = place(wait.site));
    diagnosis.gathered.iter_mut().for_each(|wait| wait.place = place(wait.site));
}

fn criteria(version: &Version) -> Vec<Criterion> {
    let criterion = |of: &MessageCriterion| {
        let (size_from, size_to) = of.sizes();
        Criterion {
            scope: of.scope.word().into(),
            size_from,
            size_to,
            samples: of.samples,
            median_ns: of.median_ns,
            normal_ns: of.normal_ns,
        }
    };
    version.messages().map(criterion).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_parts_say_so() {
        let version = Version::new(Vec::new(), Vec::new());
        let found = || LiveFindings {
            report: Report::default(),
            course: Course::default(),
            criteria: version.clone(),
        };
        for (nodes, more) in [(1, ""), (2, "; another placement was not looked at")] {
            let mut findings = Findings::of_found(found());
            findings.limit_to_parts(0.124, nodes);
            let verdict = &findings.diagnosis.verdict;
            assert_eq!(verdict.remarks, [format!("Savings are estimated from 12 % of the run{more}")]);
            assert_eq!(verdict.is_at_least, nodes > 1);
        }
        let mut findings = Findings::of_found(found());
        findings.limit_to_parts(0.0, 1);
        let verdict = &findings.diagnosis.verdict;
        assert_eq!(verdict.remarks, ["There was no time for replays, so savings are not known"]);
        assert!(verdict.is_at_least);
    }
}
