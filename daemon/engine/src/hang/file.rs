//! What is kept of it in the recording.

use anyhow::{Context as _, Result};
use mpiscope_feed::Standing;
use mpiscope_process::private::{create_private, write_json};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file in a recording.
pub const FILE: &str = "standing.json";
const SCHEMA: &str = "mpiscope.standing/1";

#[derive(Serialize, Deserialize)]
struct Kept {
    schema: String,
    #[serde(flatten)]
    standing: Standing,
}

/// Leaves it in the folder of a recording.
///
/// # Errors
/// When it cannot be written.
pub fn write(dir: &Path, standing: &Standing) -> Result<()> {
    let new = dir.join(format!("{FILE}.new"));
    let write = || {
        let file = create_private(&new)?;
        write_json(&file, &Kept { schema: SCHEMA.into(), standing: standing.clone() })?;
        std::fs::rename(&new, dir.join(FILE))
    };
    write()
        .inspect_err(|_| {
            // What is there of it would take the space that a full disk lacks.
            let _ = std::fs::remove_file(&new);
        })
        .with_context(|| format!("write {}", dir.join(FILE).display()))
}

/// Reads it; nothing where the job never hung and all its calls returned. Of a run that was killed the file may be
/// newer than the manifest: it counts as it is.
///
/// # Errors
/// When what is there says something else.
pub fn read(dir: &Path) -> Result<Standing> {
    let path = dir.join(FILE);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Standing::default()),
        bytes => bytes.with_context(|| format!("read {}", path.display()))?,
    };
    let kept: Kept = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} does not say where the job hung", path.display()))?;
    Ok(kept.standing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_feed::{Still, StillSentence};

    #[test]
    fn what_is_kept_is_read_and_what_is_damaged_is_said() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), Standing::default());
        let sentences = vec![StillSentence { text: "Rank 1 waits.".into(), ranks: vec![1] }];
        let still = Still { since_s: 1.5, sentences, ..Still::default() };
        let standing = Standing { count: 1, stills: vec![still], ..Standing::default() };
        write(dir.path(), &standing).unwrap();
        assert_eq!(read(dir.path()).unwrap(), standing);
        std::fs::write(dir.path().join(FILE), "{\"schema\": 7").unwrap();
        let error = format!("{:#}", read(dir.path()).unwrap_err());
        assert!(error.contains("does not say where the job hung"), "{error}");
    }
}
