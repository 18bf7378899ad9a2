//! Criteria that somebody named.

use crate::criteria_conversion::parse_scope;
use crate::criteria_file::{CriteriaFile, MessageCriterion};
use crate::findings::{Criterion, Findings};
use crate::findings_file::read;
use anyhow::{Context as _, Result};
use std::path::Path;

/// Reads criteria that somebody named: a file of them, or a recording with a diagnosis.
pub fn named(path: &Path) -> Result<CriteriaFile> {
    if !path.is_dir() {
        return CriteriaFile::read(path);
    }
    let findings = read(path)?;
    let findings = findings.with_context(|| format!("{} has no diagnosis", path.display()))?;
    Ok(of_findings(findings))
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
                scope: parse_scope(&criterion.scope)?,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criteria_conversion::version_of_file;
    use crate::recorded_time::RecordedTime;
    use crate::replayed::Replayed;
    use mpiscope_diagnosis::{CollectiveKey, MessageCriterion, Reference, Version, size_bin};

    #[test]
    fn criteria_of_a_recording_are_those_it_was_diagnosed_with() {
        let messages =
            [(mpiscope_diagnosis::Scope::Intra, 64, 700), (mpiscope_diagnosis::Scope::Inter, 70_000, 9_000)];
        let messages = messages.map(|(scope, bytes, median_ns)| {
            MessageCriterion::of_size(scope, bytes, 40, median_ns).with_normal(Some(2 * median_ns))
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
        let findings =
            Findings::from_budgeter(&budgeter, true, 8, &RecordedTime::default(), &Replayed::default());
        let file = of_findings(serde_json::from_str(&serde_json::to_string(&findings).unwrap()).unwrap());
        assert_eq!(version_of_file(&file), known);
    }
}
