//! What git knows of the tree.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
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

/// The lines that were added since a file last changed; none where git has no history.
pub(crate) fn added_since(root: &Path, file: &str) -> Option<BTreeMap<String, Vec<usize>>> {
    let commit = output(root, &["log", "-1", "--format=%H", "--", file]).ok()?;
    let commit = Some(commit.trim()).filter(|commit| !commit.is_empty())?;
    let diff = output(root, &["diff", "--unified=0", "--no-color", "--no-ext-diff", commit]).ok()?;
    Some(added_in(&diff))
}

fn added_in(diff: &str) -> BTreeMap<String, Vec<usize>> {
    let mut added: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut path = "";
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            path = name;
        } else if let Some(hunk) = line.strip_prefix("@@ ")
            && let Some(plus) = hunk.split(' ').find_map(|part| part.strip_prefix('+'))
        {
            let (from, count) = plus.split_once(',').unwrap_or((plus, "1"));
            if let (Ok(from), Ok(count)) = (from.parse::<usize>(), count.parse::<usize>()) {
                added.entry(path.to_owned()).or_default().extend(from..from + count);
            }
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_come_from_the_heads_of_hunks() {
        let diff =
            "--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +3,2 @@ fn a()\n+b\n+c\n@@ -9 +12 @@\n+d\n@@ -9,2 +12,0 @@\n";
        assert_eq!(added_in(diff), BTreeMap::from([("x.rs".to_owned(), vec![3, 4, 12])]));
    }
}
