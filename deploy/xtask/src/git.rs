//! What git knows of the tree.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// What a command of git prints.
pub(crate) fn output(root: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new("git").args(words).current_dir(root).output();
    let output = output.with_context(|| format!("run git {}", words.join(" ")))?;
    ensure!(output.status.success(), "git {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The tracked files.
pub(crate) fn tracked(root: &Path) -> Result<Vec<String>> {
    let listed = output(root, &["ls-files", "-z"])?;
    Ok(listed.split_terminator('\0').map(str::to_owned).collect())
}
