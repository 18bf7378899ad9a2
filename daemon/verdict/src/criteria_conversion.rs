//! From criteria as they are kept to those of the diagnosis, and back.

use crate::criteria_file::{CollectiveCriterion, CriteriaFile, Scope};
use mpiscope_diagnosis::{CollectiveKey, MessageCriterion, Version, bin_sizes, size_bin};

pub(super) fn diagnosis_scope(scope: Scope) -> mpiscope_diagnosis::Scope {
    match scope {
        Scope::Intra => mpiscope_diagnosis::Scope::Intra,
        Scope::Inter => mpiscope_diagnosis::Scope::Inter,
    }
}

pub(super) fn parse_scope(word: &str) -> Option<Scope> {
    [Scope::Intra, Scope::Inter].into_iter().find(|of| diagnosis_scope(*of).word() == word)
}

pub(super) fn version_of_file(file: &CriteriaFile) -> Version {
    let messages = file.messages.iter().map(|criterion| {
        let scope = diagnosis_scope(criterion.scope);
        MessageCriterion::of_size(scope, criterion.size, criterion.samples, criterion.median_ns)
            .with_normal(criterion.normal_ns)
    });
    Version::new(messages.collect(), diagnosis_collectives(&file.collectives))
}

pub(super) fn diagnosis_collectives(
    collectives: &[CollectiveCriterion],
) -> Vec<mpiscope_diagnosis::CollectiveCriterion> {
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

/// The expected times of collectives of a run, as they are kept.
pub(super) fn recorded_collectives(version: &Version) -> Vec<CollectiveCriterion> {
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
