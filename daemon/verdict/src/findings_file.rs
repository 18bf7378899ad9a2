//! Reads and writes `findings.json` of a recording.

use crate::findings::Findings;
use crate::shares;
use anyhow::{Context as _, Result, bail};
use mpiscope_process::private::replace_json;
use mpiscope_recording::{Manifest, SHARES_FILE, read_listed};
use std::path::Path;

/// What was found, in the folder of the recording.
pub const FILE: &str = "findings.json";

/// What was found about a recording before; none where it was not diagnosed.
pub fn read(dir: &Path) -> Result<Option<Findings>> {
    let path = dir.join(FILE);
    let Some(bytes) = read_listed(dir, FILE)? else { return Ok(None) };
    let findings: serde_json::Result<Findings> = serde_json::from_slice(&bytes);
    let mut findings =
        findings.with_context(|| format!("{} does not say what was found about the run", path.display()))?;
    // Whoever shows regions goes through their ranks.
    let ranks = Manifest::read(dir).map_or(0, |manifest| manifest.job.ranks);
    let mut of_regions = findings.regions().regions.iter().flat_map(|region| &region.ranks);
    if let Some((first, last)) =
        of_regions.find(|(first, last)| first > last || (ranks > 0 && *last >= ranks))
    {
        bail!("{} has a region of ranks {first} to {last}, and the job has {ranks}", path.display());
    }
    findings = findings.completed();
    findings.course.shares = shares::read(dir);
    Ok(Some(findings))
}

/// Whether a folder without a readable manifest has what was found about its run.
pub fn may_be_read(dir: &Path) -> bool {
    let bytes = std::fs::read(dir.join(FILE)).unwrap_or_default();
    serde_json::from_slice::<Findings>(&bytes).is_ok()
}

/// Leaves what was found in the folder of a recording.
///
/// # Errors
/// When it cannot be written.
pub fn write(dir: &Path, findings: &Findings) -> Result<()> {
    replace_json(dir, FILE, findings).with_context(|| format!("write {}", dir.join(FILE).display()))?;
    // A view of the page lacks them where they cannot be written, and nothing else does.
    let _ = shares::write(dir, &findings.course.shares);
    Ok(())
}

/// Removes what an earlier diagnosis left.
///
/// # Errors
/// When there is something that cannot be removed.
pub fn remove(dir: &Path) -> std::io::Result<()> {
    for name in [FILE, SHARES_FILE] {
        match std::fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_read_or_said_to_be_damaged() {
        let dir = tempfile::tempdir().unwrap();
        Manifest::default().write(dir.path()).unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        std::fs::write(dir.path().join(FILE), "{\"schema\": 7").unwrap();
        let error = format!("{:#}", read(dir.path()).unwrap_err());
        assert!(error.contains("findings.json does not say what was found"), "{error}");
    }
}
