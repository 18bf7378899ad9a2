//! What the criteria of a run are held against: those that it was to be judged by, or those that `mpiscope calibrate` left
//! for this MPI and number of ranks on a node.

use super::Findings;
use super::findings::Criterion;
use crate::criteria_file::{self, CollectiveCriterion, CriteriaFile, MessageCriterion, Scope};
use anyhow::{Context as _, Result};
use mpiscope_diagnosis::{CollectiveKey, MessageCriterion as Known, Reference, Version, bin_sizes, size_bin};
use mpiscope_recording::{Job, read_listed};
use std::path::Path;

/// Criteria that a run is to be judged by, in its folder.
pub const GIVEN: &str = "criteria.json";

/// Leaves the criteria that a run is to be judged by in its folder.
pub fn give(criteria: &CriteriaFile, dir: &Path) -> Result<()> {
    criteria.write(&dir.join(GIVEN))
}

/// Reads criteria that somebody named: a file of them, or a recording that was judged.
pub fn named(path: &Path) -> Result<CriteriaFile> {
    if !path.is_dir() {
        return CriteriaFile::read(path);
    }
    let findings = super::read(path)?;
    let findings = findings.with_context(|| format!("{} is no recording that was judged", path.display()))?;
    Ok(of_findings(findings))
}

impl Findings {
    /// What messages and collectives usually take.
    pub fn criteria(&self) -> Version {
        let messages = self.criteria.iter().filter_map(|criterion| {
            let scope = scope(named_scope(&criterion.scope)?);
            let sizes = (criterion.size_from, criterion.size_to);
            let known = Known::of_sizes(scope, sizes, criterion.samples, criterion.median_ns);
            Some(known.with_normal(criterion.normal_ns))
        });
        Version::new(messages.collect(), of_kinds(&self.collectives))
    }
}

fn of_findings(findings: Findings) -> CriteriaFile {
    let mut file = CriteriaFile::new(String::new(), 0, 0, 0);
    file.messages = findings
        .criteria
        .iter()
        .filter_map(|criterion| {
            let Criterion { samples, median_ns, normal_ns, .. } = *criterion;
            // Files have one size.
            let size = criterion.size_from.midpoint(criterion.size_to.saturating_sub(1));
            Some(MessageCriterion {
                scope: named_scope(&criterion.scope)?,
                size,
                samples,
                median_ns,
                normal_ns,
            })
        })
        .collect();
    file.collectives = findings.collectives;
    file
}

/// What the criteria of a run are held against.
///
/// # Errors
/// When it was to be judged by criteria that cannot be read.
pub(super) fn reference(dir: &Path, job: &Job) -> Result<Reference> {
    if let Some(given) = read_listed(dir, GIVEN)? {
        return Ok(by(&CriteriaFile::parse(&given, &dir.join(GIVEN))?));
    }
    let ranks_per_node = job.nodes.iter().map(|node| node.ranks.len() as u32).max();
    Ok(measured(&job.mpi, ranks_per_node.unwrap_or_default()))
}

/// Criteria that a run is to be judged by.
pub(super) fn by(file: &CriteriaFile) -> Reference {
    Reference::Given(version(file))
}

/// Those that somebody measured for an MPI and a number of ranks on the fullest node.
pub(super) fn measured(mpi: &str, ranks_per_node: u32) -> Reference {
    let wanted = CriteriaFile::new(mpi.to_owned(), 0, ranks_per_node, 0);
    let file = criteria_file::folder(|name| std::env::var_os(name))
        .and_then(|folder| CriteriaFile::read(&wanted.place_in(&folder)).ok());
    file.map_or(Reference::None, |file| Reference::Quiet(version(&file)))
}

fn scope(scope: Scope) -> mpiscope_diagnosis::Scope {
    match scope {
        Scope::Intra => mpiscope_diagnosis::Scope::Intra,
        Scope::Inter => mpiscope_diagnosis::Scope::Inter,
    }
}

fn named_scope(word: &str) -> Option<Scope> {
    [Scope::Intra, Scope::Inter].into_iter().find(|of| scope(*of).word() == word)
}

fn version(file: &CriteriaFile) -> Version {
    let messages = file.messages.iter().map(|criterion| {
        let scope = scope(criterion.scope);
        Known::of_size(scope, criterion.size, criterion.samples, criterion.median_ns)
            .with_normal(criterion.normal_ns)
    });
    Version::new(messages.collect(), of_kinds(&file.collectives))
}

fn of_kinds(collectives: &[CollectiveCriterion]) -> Vec<mpiscope_diagnosis::CollectiveCriterion> {
    let known = collectives.iter().filter_map(|criterion| {
        let function = mpiscope_wire::FUNCTIONS.iter().find(|entry| entry.name == criterion.function)?;
        Some(mpiscope_diagnosis::CollectiveCriterion {
            key: CollectiveKey {
                function: function.id,
                ranks: criterion.ranks,
                bin: size_bin(criterion.bytes),
                is_root: criterion.is_root,
            },
            samples: criterion.samples,
            median_ns: criterion.median_ns,
        })
    });
    known.collect()
}

/// What collectives of a run usually take, as it is kept.
pub(super) fn collectives(version: &Version) -> Vec<CollectiveCriterion> {
    let all = version.collectives().into_iter().filter_map(|criterion| {
        let function = mpiscope_wire::by_id(criterion.key.function)?.name.to_owned();
        Some(CollectiveCriterion {
            function,
            ranks: criterion.key.ranks,
            bytes: bin_sizes(criterion.key.bin).0,
            is_root: criterion.key.is_root,
            samples: criterion.samples,
            median_ns: criterion.median_ns,
        })
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_time::RecordedTime;
    use crate::replayed::Replayed;

    #[test]
    fn criteria_of_a_recording_are_those_it_was_judged_by() {
        let messages =
            [(mpiscope_diagnosis::Scope::Intra, 64, 700), (mpiscope_diagnosis::Scope::Inter, 70_000, 9_000)];
        let messages = messages.map(|(scope, bytes, median_ns)| {
            Known::of_size(scope, bytes, 40, median_ns).with_normal(Some(2 * median_ns))
        });
        let function = mpiscope_wire::FUNCTIONS.iter().find(|entry| entry.name == "MPI_Bcast").unwrap().id;
        let collectives = [true, false].map(|is_root| mpiscope_diagnosis::CollectiveCriterion {
            key: CollectiveKey { function, ranks: 8, bin: size_bin(4096), is_root },
            samples: 33,
            median_ns: 5_000 + u64::from(is_root),
        });
        let known = Version::new(messages.to_vec(), collectives.to_vec());
        let mut budgeter = mpiscope_diagnosis::Budgeter::new(mpiscope_diagnosis::BudgetOptions::default());
        budgeter.hold_against(Reference::Given(known.clone()));
        let findings = Findings::of(&budgeter, true, 8, &RecordedTime::default(), &Replayed::default());
        let file = of_findings(serde_json::from_str(&serde_json::to_string(&findings).unwrap()).unwrap());
        assert_eq!(version(&file), known);
    }
}
