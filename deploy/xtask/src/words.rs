//! Retired words: `deploy/xtask/words.txt` lists them, with what to write instead.
//!
//! In: the tracked files. Out: the retired words in them, with their places.

mod lexer;
mod list;

use crate::git::tracked;
use anyhow::{Context, Result, bail};
use lexer::{Kind, Language};
use list::List;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const LIST: &str = "deploy/xtask/words.txt";
/// Not written by hand, not ours, or about retired words.
const LEFT_OUT: [&str; 7] = [
    "deploy/xtask/words.txt",
    "deploy/xtask/src/words",
    "tests/recordings/",
    "tests/fuzz/corpus/",
    "LICENSE",
    "collector/standard.txt",
    "dashboard/src/feed/types.ts",
];
/// Places that are named of one word.
const MOST_PLACES: usize = 12;

/// A file and a line.
type Place = (String, usize);

/// Where retired words are used.
#[derive(Default)]
struct Uses {
    places: BTreeMap<(Kind, String), Vec<Place>>,
    instead: BTreeMap<String, String>,
    files: usize,
}

impl Uses {
    fn in_tree(root: &Path, list: &List) -> Result<Self> {
        let mut found = Self::default();
        found.instead.extend(list.retired.iter().map(|word| (word.name.clone(), word.instead.clone())));
        for path in tracked(root)? {
            if LEFT_OUT.iter().any(|left_out| path.starts_with(left_out)) || path.contains("/generated/") {
                continue;
            }
            // A file that is deleted but not yet committed is still listed; one that is no text is not read.
            let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
            let Some(language) = Language::of_file(&path, &text) else { continue };
            found.files += 1;
            for used in list.uses_in_path(&path).into_iter().chain(list.uses(language, &text)) {
                let key = (used.kind, list.retired[used.retired].name.clone());
                found.places.entry(key).or_default().push((path.clone(), used.line));
            }
        }
        Ok(found)
    }
}

/// Fails when a retired word is used.
pub(crate) fn check(root: &Path) -> Result<()> {
    let text = std::fs::read_to_string(root.join(LIST)).with_context(|| format!("read {LIST}"))?;
    let found = Uses::in_tree(root, &List::parse(&text).with_context(|| format!("parse {LIST}"))?)?;
    let mut report = String::new();
    for ((kind, word), places) in &found.places {
        let instead = found.instead.get(word).map_or("", String::as_str);
        writeln!(report, "\"{word}\" in {}: {}; write: {instead}", kind.name(), places.len())?;
        for (path, line) in places.iter().take(MOST_PLACES) {
            writeln!(report, "  {path}:{line}")?;
        }
        if places.len() > MOST_PLACES {
            writeln!(report, "  and {} more", places.len() - MOST_PLACES)?;
        }
    }
    if !report.is_empty() {
        bail!("{report}retired words are used: write what GLOSSARY.md says, or see {LIST} for exceptions");
    }
    println!("words hold: {} files, no retired word", found.files);
    Ok(())
}
