//! What the criteria of a run are compared with: those that it was given, or those that `mpiscope calibrate` left
//! for this MPI and number of ranks on a node.

use crate::criteria_conversion::version_of_file;
use crate::criteria_file::{self, CriteriaFile};
use anyhow::Result;
use mpiscope_diagnosis::Reference;
use mpiscope_recording::{Job, read_listed};
use std::path::Path;

/// Criteria that a run was given, in its folder.
pub const GIVEN: &str = "criteria.json";

/// Leaves the criteria that a run was given in its folder.
pub fn give(criteria: &CriteriaFile, dir: &Path) -> Result<()> {
    criteria.write(&dir.join(GIVEN))
}

/// What the criteria of a run are held against.
///
/// # Errors
/// When the criteria that it was given cannot be read.
pub(super) fn reference(dir: &Path, job: &Job) -> Result<Reference> {
    if let Some(given) = read_listed(dir, GIVEN)? {
        return Ok(by(&CriteriaFile::parse(&given, &dir.join(GIVEN))?));
    }
    let ranks_per_node = job.nodes.iter().map(|node| node.ranks.len() as u32).max();
    Ok(measured(&job.mpi, ranks_per_node.unwrap_or_default()))
}

/// Criteria that a run was given.
pub(super) fn by(file: &CriteriaFile) -> Reference {
    Reference::Given(version_of_file(file))
}

/// Those that somebody measured for an MPI and a number of ranks on the fullest node.
pub(super) fn measured(mpi: &str, ranks_per_node: u32) -> Reference {
    let wanted = CriteriaFile::new(mpi.to_owned(), 0, ranks_per_node, 0);
    let file = criteria_file::folder(|name| std::env::var_os(name))
        .and_then(|folder| CriteriaFile::read(&wanted.place_in(&folder)).ok());
    file.map_or(Reference::None, |file| Reference::Quiet(version_of_file(&file)))
}
