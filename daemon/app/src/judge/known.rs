//! What is known of quiet networks: the file that `mpiscope calibrate` left for this MPI and so many ranks a node.

use crate::criteria_file::{self, CriteriaFile, Scope};
use mpiscope_analysis::{CollectiveCriterion, CollectiveKey, MessageCriterion, Version, size_bin};
use mpiscope_recording::Job;

/// The criteria that fit a job, where somebody measured them.
pub(super) fn criteria(job: &Job) -> Option<Version> {
    let ranks_per_node = job.nodes.iter().map(|node| node.ranks.len() as u32).max()?;
    let wanted = CriteriaFile::new(job.mpi.clone(), job.nodes.len() as u32, ranks_per_node, 0);
    let folder = criteria_file::folder(|name| std::env::var_os(name))?;
    Some(version(&CriteriaFile::read(&wanted.place_in(&folder)).ok()?))
}

fn version(file: &CriteriaFile) -> Version {
    let messages = file.messages.iter().map(|criterion| MessageCriterion {
        scope: match criterion.scope {
            Scope::Intra => mpiscope_analysis::Scope::Intra,
            Scope::Inter => mpiscope_analysis::Scope::Inter,
        },
        bin: size_bin(criterion.size),
        samples: criterion.samples,
        median_ns: criterion.median_ns,
    });
    let collectives = file.collectives.iter().flat_map(|criterion| {
        let function = mpiscope_wire::FUNCTIONS.iter().find(|entry| entry.name == criterion.function);
        function.into_iter().map(|function| CollectiveCriterion {
            key: CollectiveKey {
                function: function.id,
                ranks: criterion.ranks,
                bin: size_bin(criterion.bytes),
                is_root: false,
            },
            samples: criterion.samples,
            median_ns: criterion.median_ns,
        })
    });
    Version::new(messages.collect(), collectives.collect())
}
