//! What no tracked file may hold: paths of a machine, secrets, files that grew two subjects, tests that nobody runs.

use crate::git::tracked;
use anyhow::{Result, ensure};
use std::path::Path;

const MOST_LINES: usize = 600;

/// Tests that no program of tests has: of a crate that names its programs, files that neither its `Cargo.toml` nor
/// `tests/main.rs` names.
fn left_out<'a>(names: &'a [String], read: &dyn Fn(&str) -> String) -> Vec<&'a str> {
    let is_left_out = |name: &&str| {
        let Some((folder, file)) = name.rsplit_once('/') else { return false };
        let (Some(crate_folder), Some(module)) = (folder.strip_suffix("/tests"), file.strip_suffix(".rs"))
        else {
            return false;
        };
        let manifest = read(&format!("{crate_folder}/Cargo.toml"));
        manifest.contains("autotests = false")
            && !manifest.contains(&format!("path = \"tests/{file}\""))
            && !read(&format!("{folder}/main.rs")).lines().any(|line| line == format!("mod {module};"))
    };
    names.iter().map(String::as_str).filter(is_left_out).collect()
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
    let names = tracked(root)?;
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    for name in left_out(&names, &read) {
        faults.push(format!("{name} is in no program of tests: name it in main.rs beside it"));
    }
    for name in names {
        // A file that is deleted but not yet committed is still listed; one that is no text is not read.
        let Ok(text) = std::fs::read_to_string(root.join(&name)) else { continue };
        files += 1;
        for pattern in patterns.iter().filter(|pattern| text.contains(pattern.as_str())) {
            if !name.ends_with("xtask/src/tree.rs") {
                faults.push(format!("{name} holds {pattern}"));
            }
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
    use super::left_out;

    #[test]
    fn a_test_that_no_program_has_is_found() {
        let read = |name: &str| {
            let text = match name {
                "a/Cargo.toml" => {
                    "autotests = false\n[[test]]\npath = \"tests/main.rs\"\n[[test]]\npath = \"tests/own.rs\"\n"
                }
                "a/tests/main.rs" => "mod one;\nmod other;\n",
                _ => "",
            };
            text.to_owned()
        };
        let names = [
            "a/tests/main.rs",
            "a/tests/one.rs",
            "a/tests/own.rs",
            "a/tests/lost.rs",
            "b/tests/c.rs",
            "a/src/d.rs",
        ];
        assert_eq!(left_out(&names.map(str::to_owned), &read), ["a/tests/lost.rs"]);
    }
}
