//! The list of retired words (`deploy/xtask/words.txt`), and where a file uses them.

use super::lexer::{Kind, Language, pieces};
use anyhow::{Context, Result, bail};
use std::collections::{HashMap, HashSet};

/// A line with this comment, and the one after it, may use any word.
const EXEMPT: &str = "words: allow ";

/// A retired word with all its forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Retired {
    /// The first form; the key of the baseline.
    pub(crate) name: String,
    pub(crate) instead: String,
}

/// A use of a retired word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    /// Its place in the list.
    pub(crate) retired: usize,
    pub(crate) kind: Kind,
    pub(crate) line: usize,
}

/// The list, ready to be looked up.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) retired: Vec<Retired>,
    /// By the first word of a form: its other words, and its place in the list.
    texts: HashMap<String, Vec<(Vec<String>, usize)>>,
    names: HashMap<String, usize>,
    pairs: HashMap<(String, String), usize>,
    files: HashMap<String, usize>,
    /// Names in files and interfaces that other programs read: they stay.
    formats: HashSet<String>,
}

impl List {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut list = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let [kind, forms, instead] = fields[..] else { bail!("no KIND | FORMS | INSTEAD: {line}") };
            if kind == "format" {
                list.formats.extend(forms.split(',').map(|form| form.trim().to_owned()));
                continue;
            }
            let at = list.retired.len();
            let first = forms.split(',').next().context("a line without a form")?;
            let name = if kind == "text" { first.to_owned() } else { format!("{kind} {first}") };
            list.retired.push(Retired { name, instead: instead.to_owned() });
            for form in forms.split(',').map(str::trim) {
                list.add(kind, form, at)?;
            }
        }
        Ok(list)
    }

    fn add(&mut self, kind: &str, form: &str, at: usize) -> Result<()> {
        let mut words = form.split([' ', '\'']).map(str::to_owned);
        let first = words.next().with_context(|| format!("an empty form of {kind}"))?;
        match (kind, words.next()) {
            ("text", next) => {
                let rest = next.into_iter().chain(words).collect();
                self.texts.entry(first).or_default().push((rest, at));
            }
            ("name", None) => drop(self.names.insert(first, at)),
            ("name", Some(second)) => drop(self.pairs.insert((first, second), at)),
            ("file", None) => drop(self.files.insert(first, at)),
            _ => bail!("{kind} {form}: the kinds are text, name and file"),
        }
        Ok(())
    }

    /// Whether the path of a file has a retired name in it.
    pub(crate) fn uses_in_path(&self, path: &str) -> Vec<Use> {
        let stems = path.split('/').map(|part| part.split('.').next().unwrap_or(part));
        let found = stems.filter_map(|stem| self.files.get(stem));
        found.map(|&retired| Use { retired, kind: Kind::Files, line: 0 }).collect()
    }

    /// The uses in a file, in order.
    pub(crate) fn uses(&self, language: Language, text: &str) -> Vec<Use> {
        let lines = Lines::new(text);
        let mut uses = Vec::new();
        let mut words = Vec::new();
        for (kind, range) in pieces(language, text) {
            let mut before: Option<&str> = None;
            for (from, until) in identifiers(text, range.start, range.end) {
                let name = &text[from..until];
                if kind == Kind::Code {
                    let pair = before.filter(|_| text[..from].ends_with(' '));
                    let pair = pair.and_then(|before| self.pair(before, name));
                    uses.extend(
                        pair.or_else(|| self.names.get(name).copied()).map(|retired| (retired, kind, from)),
                    );
                    before = Some(name);
                }
                if self.formats.contains(with_hyphens(text, from, until)) {
                    continue;
                }
                split_name(text, from, until, |from, until| words.push((kind, from, until)));
            }
        }
        self.texts_among(text, &words, &mut uses);
        uses.sort_by_key(|&(_, _, at)| at);
        let uses = uses.into_iter().map(|(retired, kind, at)| Use { retired, kind, line: lines.number(at) });
        uses.filter(|found| !lines.exempt.contains(&found.line)).collect()
    }

    fn pair(&self, before: &str, name: &str) -> Option<usize> {
        // Few first words: no need to look up the pair of every name.
        (before == "fn").then(|| self.pairs.get(&(before.to_owned(), name.to_owned())).copied())?
    }

    fn texts_among(&self, text: &str, words: &[(Kind, usize, usize)], uses: &mut Vec<(usize, Kind, usize)>) {
        let mut lower = String::new();
        let mut at = 0;
        while let Some(&(kind, from, until)) = words.get(at) {
            lower.clear();
            lower.extend(text[from..until].chars().map(|letter| letter.to_ascii_lowercase()));
            let forms = self.texts.get(lower.as_str()).map_or(&[][..], Vec::as_slice);
            let fits = |rest: &[String]| {
                rest.iter().enumerate().all(|(next, word)| {
                    let (one, two) = (words[at + next], words.get(at + next + 1));
                    two.is_some_and(|&(other, from, until)| {
                        other == kind
                            && text[from..until].eq_ignore_ascii_case(word)
                            && is_joined(text, one.2, from)
                    })
                })
            };
            let longest = forms.iter().filter(|(rest, _)| fits(rest)).max_by_key(|(rest, _)| rest.len());
            if let Some((rest, retired)) = longest {
                uses.push((*retired, kind, from));
                at += rest.len();
            }
            at += 1;
        }
    }
}

/// Whether two words belong together: only blanks, the marks of a comment or a hyphen are between them.
fn is_joined(text: &str, from: usize, until: usize) -> bool {
    text.get(from..until).is_some_and(|between| {
        between.bytes().all(|byte| byte.is_ascii_whitespace() || b"/!#*>_-'\\".contains(&byte))
    })
}

/// Runs of letters, digits and underscores.
fn identifiers(text: &str, from: usize, until: usize) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let is_part = move |at: usize| bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_';
    let mut at = from;
    std::iter::from_fn(move || {
        while at < until && !is_part(at) {
            at += 1;
        }
        let begin = at;
        while at < until && is_part(at) {
            at += 1;
        }
        (begin < at).then_some((begin, at))
    })
}

/// The name together with what hyphens join to it: `--even-work` has one.
fn with_hyphens(text: &str, from: usize, until: usize) -> &str {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let bytes = text.as_bytes();
    let before = bytes[..from].iter().rev().take_while(|byte| is_part(byte)).count();
    let after = bytes[until..].iter().take_while(|byte| is_part(byte)).count();
    text[from - before..until + after].trim_matches('-')
}

/// The words of a name: `wait_ns` and `waitNs` have two.
fn split_name(text: &str, from: usize, until: usize, mut word: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut begin = from;
    for at in from..until {
        let is_border = bytes[at] == b'_';
        let is_new = at > begin && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
        if is_border || is_new {
            if begin < at {
                word(begin, at);
            }
            begin = if is_border { at + 1 } else { at };
        }
    }
    if begin < until {
        word(begin, until);
    }
}

struct Lines {
    starts: Vec<usize>,
    exempt: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Self {
        let (mut starts, mut exempt) = (Vec::new(), Vec::new());
        let mut begin = 0;
        for (at, line) in text.split_inclusive('\n').enumerate() {
            starts.push(begin);
            begin += line.len();
            if line.contains(EXEMPT) {
                exempt.extend([at + 1, at + 2]);
            }
        }
        Self { starts, exempt }
    }

    /// Counted from 1.
    fn number(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(list: &str, language: Language, text: &str) -> Vec<(&'static str, usize)> {
        let uses = List::parse(list).unwrap().uses(language, text);
        uses.into_iter().map(|found| (found.kind.name(), found.line)).collect()
    }

    #[test]
    fn a_word_is_found_in_names_comments_and_texts() {
        let text = "struct NewKnot { knot_ns: u64 } // a knot\nlet x = \"Knots\"; let knotted = 1;";
        let expected = [("code", 1), ("code", 1), ("comments", 1), ("texts", 2)];
        assert_eq!(found("text | knot, knots | sample", Language::Rust, text), expected);
    }

    #[test]
    fn a_phrase_goes_over_lines_of_a_comment_and_not_over_a_full_stop() {
        let text = "// it stands\n// still\n// it stands. Still\nfn stands_still() {}";
        assert_eq!(found("text | stands still | hang", Language::Rust, text), [("comments", 1), ("code", 4)]);
    }

    #[test]
    fn the_longest_form_counts_once() {
        let list = "text | no core, had no core, had | CPU";
        assert_eq!(found(list, Language::Plain, "who had no core"), [("texts", 1)]);
    }

    #[test]
    fn a_name_is_a_whole_identifier_in_code() {
        let text = "let told = 1; // told\nlet told_ns = \"told\"; fn of() {} x.of();";
        assert_eq!(
            found("name | told | state\nname | fn of | verb", Language::Rust, text),
            [("code", 1), ("code", 2)]
        );
    }

    #[test]
    fn an_exempt_line_and_the_next_are_not_counted() {
        let text = "// words: allow the key of the report\nknot\nknot\n";
        assert_eq!(found("text | knot | sample", Language::Rust, text), [("code", 3)]);
    }

    #[test]
    fn names_of_formats_stay_and_others_like_them_do_not() {
        let list =
            "text | even work, no core | balance\nformat | even-work, no_core | the command line, the feed";
        let text = "\"--even-work\", \"even work\", \"even-worker\"\nx.no_core; let no_core_ns = 1;";
        assert_eq!(found(list, Language::Rust, text), [("texts", 1), ("code", 2)]);
    }

    #[test]
    fn files_are_found_by_their_names() {
        let list = List::parse("file | told | subject").unwrap();
        assert_eq!(list.uses_in_path("a/told.rs").len(), 1);
        assert_eq!(list.uses_in_path("a/told/mod.rs").len(), 1);
        assert!(list.uses_in_path("a/untold.rs").is_empty());
    }

    #[test]
    fn a_line_that_is_no_entry_is_refused() {
        assert!(List::parse("text | knot").is_err());
        assert!(List::parse("colour | knot | sample").is_err());
    }
}
