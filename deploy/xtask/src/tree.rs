//! What no tracked file may hold: paths of a machine, secrets, files that grew two subjects, examples that nobody runs.

use crate::git::tracked;
use anyhow::{Result, ensure};
use std::path::Path;

const MOST_LINES: usize = 600;

/// Whether a source documents itself with code that `rustdoc` would run.
fn has_example(source: &str) -> bool {
    let documentation = source.lines().map(str::trim_start).filter_map(|line| {
        let text = line.strip_prefix("///").or(line.strip_prefix("//!"))?;
        text.trim_start().strip_prefix("```")
    });
    // Every second fence ends what the one before it began.
    documentation.step_by(2).any(|language| language.is_empty() || language == "rust")
}

/// Fails with everything that was found.
pub(crate) fn check(root: &Path) -> Result<()> {
    let home = std::env::var("HOME").unwrap_or_default();
    let mut patterns = vec![format!("{}/", root.display()), "PRIVATE KEY-----".to_owned()];
    if home.len() > 1 {
        patterns.push(format!("{home}/"));
    }
    let mut faults = Vec::new();
    let mut files = 0;
    for name in tracked(root)? {
        // A file that is deleted but not yet committed is still listed; one that is no text is not read.
        let Ok(text) = std::fs::read_to_string(root.join(&name)) else { continue };
        files += 1;
        for pattern in patterns.iter().filter(|pattern| text.contains(pattern.as_str())) {
            if !name.ends_with("xtask/src/tree.rs") {
                faults.push(format!("{name} holds {pattern}"));
            }
        }
        if name.ends_with(".rs") && has_example(&text) {
            faults
                .push(format!("{name} has an example in its documentation: tests/unit/run does not run it"));
        }
        let generated = name.contains("/generated/") || name.ends_with(".lock");
        let lines = text.lines().count();
        if name.ends_with(".rs") && !generated && lines > MOST_LINES {
            faults.push(format!("{name} has {lines} lines, more than {MOST_LINES}: split it by subject"));
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!("tree is clean: {files} files");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::has_example;

    #[test]
    fn code_in_documentation_is_an_example_unless_it_is_of_another_language() {
        assert!(has_example("//! How to:\n//!\n//! ```\n//! let a = 1;\n//! ```\n"));
        assert!(has_example("    /// ```text\n    /// a\n    /// ```\n    /// ```rust\n    /// ```\n"));
        assert!(!has_example("//! ```text\n//! a\n//! ```\n//! ```json\n//! {}\n//! ```\n"));
        assert!(!has_example("let fence = \"```\";\n"));
    }
}
