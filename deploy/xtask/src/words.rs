//! Retired words: `deploy/xtask/words.txt` lists them, `words-baseline.txt` says how often each may still be used.
//!
//! In: the tracked files. Out: every count that rose, with the places, and every count that fell, to be written down.

mod baseline;
mod lexer;
mod list;

use crate::git::{added_since, tracked};
use anyhow::{Context, Result, bail};
use baseline::{Counts, allowed, difference, lowered};
use lexer::{Kind, Language};
use list::List;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const LIST: &str = "deploy/xtask/words.txt";
const BASELINE: &str = "deploy/xtask/words-baseline.txt";
/// Not written by hand, not ours, or about retired words.
const LEFT_OUT: [&str; 7] = [
    "deploy/xtask/words",
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

    fn counts(&self) -> Counts {
        self.places.iter().map(|(key, places)| (key.clone(), places.len())).collect()
    }
}

/// Fails when a retired word is used more often than the baseline allows, or less often.
pub(crate) fn check(root: &Path) -> Result<()> {
    let (found, baseline) = read(root)?;
    let counts = found.counts();
    let difference = difference(&baseline, &counts);
    let mut report = String::new();
    let new = if difference.rises.is_empty() { None } else { added_since(root, BASELINE) };
    for key in &difference.rises {
        rise(&found, &baseline, key, new.as_ref(), &mut report)?;
    }
    for key in &difference.falls {
        let (before, now) = (allowed(&baseline, key), counts.get(key).copied().unwrap_or(0));
        writeln!(report, "\"{}\" in {}: {now}, was {before}", key.1, key.0.name())?;
    }
    if !difference.rises.is_empty() {
        bail!(
            "{report}retired words are used more often: write what GLOSSARY.md says, or see {LIST} for exceptions"
        );
    }
    if !difference.falls.is_empty() {
        bail!("{report}retired words became fewer: run `cargo xtask words --write` and commit {BASELINE}");
    }
    println!("words hold: {} files, {} retired words left", found.files, counts.values().sum::<usize>());
    Ok(())
}

/// Lowers the baseline to what is in the tree.
pub(crate) fn write(root: &Path) -> Result<()> {
    let (found, baseline) = read(root)?;
    let counts = lowered(&baseline, &found.counts());
    std::fs::write(root.join(BASELINE), baseline::text(&counts))
        .with_context(|| format!("write {BASELINE}"))?;
    println!("wrote {BASELINE}: {} retired words left", counts.values().sum::<usize>());
    check(root)
}

fn read(root: &Path) -> Result<(Uses, Counts)> {
    let text = std::fs::read_to_string(root.join(LIST)).with_context(|| format!("read {LIST}"))?;
    let found = Uses::in_tree(root, &List::parse(&text).with_context(|| format!("parse {LIST}"))?)?;
    // Without a baseline everything is new.
    let text = std::fs::read_to_string(root.join(BASELINE)).unwrap_or_default();
    Ok((found, baseline::parse(&text).with_context(|| format!("parse {BASELINE}"))?))
}

/// Names a word that is used more often; of its places those in lines that are newer than the baseline, where git
/// knows them.
fn rise(
    found: &Uses,
    baseline: &Counts,
    key: &(Kind, String),
    new: Option<&BTreeMap<String, Vec<usize>>>,
    report: &mut String,
) -> Result<()> {
    let places = found.places.get(key).map_or(&[][..], Vec::as_slice);
    let instead = found.instead.get(&key.1).map_or("", String::as_str);
    let (before, now) = (allowed(baseline, key), places.len());
    writeln!(report, "\"{}\" in {}: {now}, allowed {before}; write: {instead}", key.1, key.0.name())?;
    let is_new =
        |(path, line): &&Place| new.and_then(|new| new.get(path)).is_some_and(|lines| lines.contains(line));
    let mut named: Vec<&Place> = places.iter().filter(is_new).collect();
    if named.is_empty() {
        named = places.iter().collect();
    }
    for (path, line) in named.iter().take(MOST_PLACES) {
        writeln!(report, "  {path}:{line}")?;
    }
    if named.len() > MOST_PLACES {
        writeln!(report, "  and {} more", named.len() - MOST_PLACES)?;
    }
    Ok(())
}
