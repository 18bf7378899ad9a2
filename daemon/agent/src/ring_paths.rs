//! Which ring files there are in the folders where ranks make them.

use std::collections::HashSet;
use std::path::PathBuf;

/// The ring files in these folders that are not known yet, in order of their paths.
pub(super) fn new_ring_paths(folders: &[PathBuf], known: &HashSet<PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders {
        // A folder that is not there yet, or no more, holds no ring file.
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "ring") && !known.contains(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
