//! What is known of quiet networks: the file that `mpiscope calibrate` left for this MPI and so many ranks a node.

use crate::criteria_file::{self, CriteriaFile, Scope};
use mpiscope_analysis::{CollectiveCriterion, CollectiveKey, MessageCriterion, Reference, Version, size_bin};
use mpiscope_recording::Job;

/// What the criteria of a job are held against: those that somebody measured for its MPI and as many ranks a node.
pub(super) fn reference(job: &Job) -> Reference {
    let ranks_per_node = job.nodes.iter().map(|node| node.ranks.len() as u32).max();
    measured(&job.mpi, ranks_per_node.unwrap_or_default())
}

/// Those that somebody measured for an MPI and so many ranks on the fullest node.
pub(super) fn measured(mpi: &str, ranks_per_node: u32) -> Reference {
    let wanted = CriteriaFile::new(mpi.to_owned(), 0, ranks_per_node, 0);
    let file = criteria_file::folder(|name| std::env::var_os(name))
        .and_then(|folder| CriteriaFile::read(&wanted.place_in(&folder)).ok());
    file.map_or(Reference::None, |file| Reference::Quiet(version(&file)))
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
