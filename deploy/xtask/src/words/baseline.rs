//! How often each retired word is still used (`deploy/xtask/words-baseline.txt`). Counts only fall.

use super::lexer::Kind;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// By kind and retired word.
pub(crate) type Counts = BTreeMap<(Kind, String), usize>;

const BANNER: &str =
    "# How often retired words are left, by kind. Counts only fall: `cargo xtask words --write` lowers them.
# Documents have none, so they have no line here.
";

pub(crate) fn parse(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [kind, word, count] = fields[..] else { bail!("no KIND | WORD | COUNT: {line}") };
        let kind = Kind::ALL.into_iter().find(|known| known.name() == kind);
        let kind = kind.with_context(|| format!("no such kind: {line}"))?;
        counts.insert((kind, word.to_owned()), count.parse().with_context(|| format!("no count: {line}"))?);
    }
    Ok(counts)
}

pub(crate) fn text(counts: &Counts) -> String {
    let lines = counts.iter().filter(|(_, count)| **count > 0);
    let lines = lines.map(|((kind, word), count)| format!("{} | {word} | {count}\n", kind.name()));
    BANNER.to_owned() + &lines.collect::<String>()
}

/// What differs from the baseline.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Words that are used more often.
    pub(crate) rises: Vec<(Kind, String)>,
    /// Words that are used less often.
    pub(crate) falls: Vec<(Kind, String)>,
}

pub(crate) fn difference(baseline: &Counts, found: &Counts) -> Difference {
    let mut difference = Difference::default();
    let keys: std::collections::BTreeSet<_> = baseline.keys().chain(found.keys()).collect();
    for key in keys {
        let (before, now) = (allowed(baseline, key), found.get(key).copied().unwrap_or(0));
        match now.cmp(&before) {
            std::cmp::Ordering::Greater => difference.rises.push(key.clone()),
            std::cmp::Ordering::Less => difference.falls.push(key.clone()),
            std::cmp::Ordering::Equal => {}
        }
    }
    difference
}

pub(crate) fn allowed(baseline: &Counts, key: &(Kind, String)) -> usize {
    if key.0 == Kind::Documents { 0 } else { baseline.get(key).copied().unwrap_or(0) }
}

/// The baseline after a check: lower counts, and words that were not in it at all under any kind.
pub(crate) fn lowered(baseline: &Counts, found: &Counts) -> Counts {
    let is_new = |word: &str| !baseline.keys().any(|(_, known)| known == word);
    let counts = found.iter().filter(|((kind, _), _)| *kind != Kind::Documents).map(|(key, &now)| {
        let most = if is_new(&key.1) { now } else { allowed(baseline, key).min(now) };
        (key.clone(), most)
    });
    counts.filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(Kind, &str, usize)]) -> Counts {
        of.iter().map(|&(kind, word, count)| ((kind, word.to_owned()), count)).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let counts = counts(&[(Kind::Code, "knot", 3), (Kind::Texts, "stand still", 1)]);
        assert_eq!(parse(&text(&counts)).unwrap(), counts);
        assert!(parse("code | knot").is_err() && parse("colour | knot | 1").is_err());
    }

    #[test]
    fn a_count_may_only_fall() {
        let before = counts(&[(Kind::Code, "knot", 3), (Kind::Code, "deed", 2)]);
        let now = counts(&[(Kind::Code, "knot", 4), (Kind::Code, "deed", 1)]);
        let knot = vec![(Kind::Code, "knot".to_owned())];
        let deed = vec![(Kind::Code, "deed".to_owned())];
        assert_eq!(difference(&before, &now), Difference { rises: knot, falls: deed });
        assert_eq!(lowered(&before, &now), counts(&[(Kind::Code, "knot", 3), (Kind::Code, "deed", 1)]));
    }

    #[test]
    fn a_word_that_is_new_in_the_list_gets_its_count_and_documents_never_do() {
        let now = counts(&[(Kind::Code, "shelf", 4), (Kind::Documents, "shelf", 1)]);
        assert_eq!(lowered(&Counts::new(), &now), counts(&[(Kind::Code, "shelf", 4)]));
        assert_eq!(difference(&now, &now).rises, [(Kind::Documents, "shelf".to_owned())]);
    }

    #[test]
    fn a_word_whose_last_use_went_leaves_the_baseline() {
        let before = counts(&[(Kind::Code, "knot", 1)]);
        assert!(lowered(&before, &Counts::new()).is_empty());
        assert_eq!(difference(&before, &Counts::new()).falls.len(), 1);
    }
}
