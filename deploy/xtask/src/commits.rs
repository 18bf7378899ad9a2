//! Subjects of commits: `area: imperative summary`, at most 72 characters.
//!
//! In: the history since [`AFTER`]. Out: every subject that is not of this form. A clone without that history is skipped.

use crate::git::{output, tracked};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::path::Path;

/// Commits up to this one are as they are.
const AFTER: &str = "215eb3f71282a73ca7b59cebf6fc5c287da08fa2";
const MOST_CHARACTERS: usize = 72;
/// Areas beside the names of crates, folders and files.
const AREAS: [&str; 8] = ["changelog", "ci", "deps", "docs", "page", "readme", "release", "tests"];
/// Imperatives that end as other forms do.
const IMPERATIVES: [&str; 15] = [
    "alias", "bias", "bring", "embed", "exceed", "feed", "focus", "need", "ping", "proceed", "seed", "shed",
    "speed", "string", "succeed",
];

/// A commit: its number, its subject, and the names in the paths that it changed.
struct Commit<'a> {
    number: &'a str,
    subject: &'a str,
    names: BTreeSet<&'a str>,
}

/// Fails with every subject that is not of the form.
pub(crate) fn check(root: &Path) -> Result<()> {
    let Ok(log) = log(root) else {
        println!("SKIPPED: commits: no history back to {} in this clone", &AFTER[..7]);
        return Ok(());
    };
    let tree = tracked(root)?;
    let tree: BTreeSet<&str> = tree.iter().flat_map(|path| names(path)).collect();
    let commits = parse(&log);
    let faults: Vec<String> = commits.iter().filter_map(|commit| fault(commit, &tree)).collect();
    ensure!(
        faults.is_empty(),
        "{}\nwrite `area: imperative summary` in at most {MOST_CHARACTERS} characters",
        faults.join("\n")
    );
    println!("subjects hold: {} commits since {}", commits.len(), &AFTER[..7]);
    Ok(())
}

/// The commits since [`AFTER`] with the paths that they changed; an error where the history does not reach so far.
fn log(root: &Path) -> Result<String> {
    output(root, &["merge-base", "--is-ancestor", AFTER, "HEAD"])?;
    let range = format!("{AFTER}..HEAD");
    output(root, &["log", "--no-merges", "--name-only", "--no-renames", "--format=%x00%h %s", &range])
}

fn parse(log: &str) -> Vec<Commit<'_>> {
    let commits = log.split('\0').filter_map(|entry| {
        let mut lines = entry.lines();
        let (number, subject) = lines.next()?.split_once(' ')?;
        Some(Commit { number, subject, names: lines.flat_map(names).collect() })
    });
    commits.collect()
}

/// The folders of a path, and its file without the ending.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').map(|part| part.split('.').next().unwrap_or(part)).filter(|part| !part.is_empty())
}

fn fault(commit: &Commit<'_>, tree: &BTreeSet<&str>) -> Option<String> {
    let why = why(commit.subject, |area| {
        // A folder may have another name by now.
        AREAS.contains(&area) || tree.contains(area) || commit.names.contains(area)
    })?;
    Some(format!("{} {}: {why}", commit.number, commit.subject))
}

/// Why a subject is not of the form.
fn why(subject: &str, is_area: impl Fn(&str) -> bool) -> Option<String> {
    let length = subject.chars().count();
    if length > MOST_CHARACTERS {
        return Some(format!("{length} characters"));
    }
    let Some((area, summary)) = subject.split_once(": ") else { return Some("no area".into()) };
    if !area.split('/').all(is_area) {
        return Some(format!("{area} is no crate, folder or file"));
    }
    let first = summary.split([' ', ',']).next().unwrap_or_default();
    if first.is_empty() || !first.starts_with(|letter: char| letter.is_lowercase()) {
        return Some("the summary does not begin with a verb in small letters".into());
    }
    if summary.ends_with('.') {
        return Some("a full stop at the end".into());
    }
    let is_form =
        first.ends_with("ed") || first.ends_with("ing") || first.ends_with('s') && !first.ends_with("ss");
    (is_form && !IMPERATIVES.contains(&first)).then(|| format!("{first} is no imperative"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(subject: &str) -> Option<String> {
        why(subject, |area| area == "agent")
    }

    #[test]
    fn an_area_and_an_imperative_are_fine() {
        for subject in
            ["agent: sleep until a ring is a quarter full", "agent: pass frames on", "agent: feed the log"]
        {
            assert_eq!(fault_of(subject), None, "{subject}");
        }
    }

    #[test]
    fn other_subjects_are_refused() {
        let long = format!("agent: {}", "x".repeat(66));
        for (subject, expected) in [
            ("Sleep until a ring is full", "no area"),
            ("daemons: sleep", "daemons is no crate, folder or file"),
            ("agent: Sleep", "the summary does not begin with a verb in small letters"),
            ("agent: sleep.", "a full stop at the end"),
            ("agent: slept, adds nothing", ""),
            ("agent: added sleep", "added is no imperative"),
            ("agent: sleeping", "sleeping is no imperative"),
            ("agent: sleeps", "sleeps is no imperative"),
            (&long, "73 characters"),
        ] {
            assert_eq!(fault_of(subject).unwrap_or_default(), expected, "{subject}");
        }
    }

    #[test]
    fn a_tree_without_history_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        assert!(log(folder.path()).is_err());
        check(folder.path()).unwrap();
    }

    #[test]
    fn commits_are_read_with_the_names_in_their_paths() {
        let commits = parse("\0abc agent: sleep\n\ndaemon/agent/src/lib.rs\nREADME.md\n\0def page: draw\n");
        assert_eq!((commits[0].number, commits[0].subject), ("abc", "agent: sleep"));
        assert_eq!(commits[0].names, BTreeSet::from(["README", "agent", "daemon", "lib", "src"]));
        assert_eq!((commits[1].subject, commits[1].names.len()), ("page: draw", 0));
        assert_eq!(fault(&commits[0], &BTreeSet::new()), None);
    }
}
