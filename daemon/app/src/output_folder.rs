//! The folder that a recording is written to.

use anyhow::{Result, bail};
use mpiscope_recording::is_being_written;
use std::path::Path;

/// A folder that holds something is not ours to fill; `option` names another.
pub(crate) fn refuse_occupied(out: &Path, option: &str) -> Result<()> {
    if is_being_written(out) {
        bail!(
            "{} is being recorded into by another mpiscope: choose another folder with {option}",
            out.display()
        );
    }
    match std::fs::read_dir(out) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                bail!("{} is not empty: choose another folder with {option}, or remove it", out.display());
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => {
            bail!("{} cannot hold a recording: {error}; choose another folder with {option}", out.display())
        }
    }
    Ok(())
}
