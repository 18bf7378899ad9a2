//! What is kept of it in the recording.

use anyhow::{Context as _, Result};
use mpiscope_feed::Hangs;
use mpiscope_process::private::{create_private, write_json};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file in a recording.
// words: allow names in recordings
pub const FILE: &str = "standing.json";
// words: allow names in recordings
const SCHEMA: &str = "mpiscope.standing/1";

#[derive(Serialize, Deserialize)]
struct HangFile {
    schema: String,
    #[serde(flatten)]
    hangs: Hangs,
}

/// Leaves it in the folder of a recording.
///
/// # Errors
/// When it cannot be written.
pub fn write(dir: &Path, hangs: &Hangs) -> Result<()> {
    let new = dir.join(format!("{FILE}.new"));
    let write = || {
        let file = create_private(&new)?;
        write_json(&file, &HangFile { schema: SCHEMA.into(), hangs: hangs.clone() })?;
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
pub fn read(dir: &Path) -> Result<Hangs> {
    let path = dir.join(FILE);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Hangs::default()),
        bytes => bytes.with_context(|| format!("read {}", path.display()))?,
    };
    let kept: HangFile = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} does not say where the job hung", path.display()))?;
    Ok(kept.hangs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_feed::{Hang, HangSentence};

    #[test]
    fn what_is_kept_is_read_and_what_is_damaged_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), Hangs::default());
        let sentences = vec![HangSentence { text: "Rank 1 waits.".into(), ranks: vec![1] }];
        let hang = Hang { since_s: 1.5, sentences, ..Hang::default() };
        let hangs = Hangs { count: 1, newest: vec![hang], ..Hangs::default() };
        write(dir.path(), &hangs).unwrap();
        assert_eq!(read(dir.path()).unwrap(), hangs);
        std::fs::write(dir.path().join(FILE), "{\"schema\": 7").unwrap();
        let error = format!("{:#}", read(dir.path()).unwrap_err());
        assert!(error.contains("does not say where the job hung"), "{error}");
    }
}
