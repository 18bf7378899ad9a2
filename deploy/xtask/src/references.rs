//! What documents name of the code: paths, tests and options of the command line.
//!
//! In: the documents, the tracked files, the pinned help. Out: every name that the code does not have. Decisions are
//! left out: they are of their time.

use crate::git::tracked;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const HELP: &str = "daemon/app/help.txt";
const DECISIONS: &str = "docs/decisions/";
/// Inline code that begins with one of these is a path.
const TOP: [&str; 6] = ["collector/", "daemon/", "dashboard/", "deploy/", "docs/", "tests/"];
/// A name with fewer words is a field or a function, not a test.
const LEAST_WORDS: usize = 4;

/// What the code has.
#[derive(Default)]
struct Code {
    files: BTreeSet<String>,
    functions: BTreeSet<String>,
    /// The options of each command, such as `layout check`.
    options: BTreeMap<String, BTreeSet<String>>,
}

/// Fails with every name that is not there.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut code = Code { files: tracked(root)?.into_iter().collect(), ..Code::default() };
    let help = std::fs::read_to_string(root.join(HELP)).with_context(|| format!("read {HELP}"))?;
    code.options = options(&help);
    for name in code.files.iter().filter(|name| name.ends_with(".rs") && !name.contains("/generated/")) {
        // A file that is deleted but not yet committed is still listed.
        let Ok(text) = std::fs::read_to_string(root.join(name)) else { continue };
        code.functions.extend(functions(&text).map(str::to_owned));
    }
    let mut faults = Vec::new();
    let documents = code.files.iter().filter(|name| name.ends_with(".md") && !name.starts_with(DECISIONS));
    for name in documents {
        let Ok(text) = std::fs::read_to_string(root.join(name)) else { continue };
        faults.extend(code.missing(&text).into_iter().map(|(line, what)| format!("{name}:{line}: {what}")));
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!("references hold: {} commands, {} functions", code.options.len(), code.functions.len());
    Ok(())
}

impl Code {
    /// The lines that name something that is not there.
    fn missing(&self, text: &str) -> Vec<(usize, String)> {
        let mut missing = Vec::new();
        let mut is_block = false;
        for (at, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_block = !is_block;
                continue;
            }
            let inline = line.split('`').skip(1).step_by(2);
            let pieces: Vec<&str> = if is_block { vec![line] } else { inline.collect() };
            for piece in pieces {
                missing.extend(self.fault(piece, is_block).map(|what| (at + 1, what)));
            }
        }
        missing
    }

    fn fault(&self, piece: &str, is_block: bool) -> Option<String> {
        let command = piece.trim_start_matches("$ ").trim();
        if let Some(words) = command.strip_prefix("mpiscope ") {
            return self.unknown_option(words);
        }
        if is_block || piece.contains([' ', '*', '(']) {
            return None;
        }
        if TOP.iter().any(|top| piece.starts_with(top)) {
            let folder = format!("{}/", piece.trim_end_matches('/'));
            // Capitals stand for a name that the reader chooses.
            let is_pattern =
                piece.split(['/', '.']).any(|part| part.len() > 3 && part == part.to_uppercase());
            let is_there =
                self.files.contains(piece) || self.files.iter().any(|file| file.starts_with(&folder));
            return (!is_there && !is_pattern).then(|| format!("there is no {piece}"));
        }
        let is_name =
            piece.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        let is_test = is_name && piece.split('_').count() >= LEAST_WORDS && !piece.starts_with('_');
        (is_test && !self.functions.contains(piece)).then(|| format!("there is no function {piece}"))
    }

    /// An option, before `--`, that the command does not have.
    fn unknown_option(&self, words: &str) -> Option<String> {
        let words: Vec<&str> =
            words.split([' ', '\t']).take_while(|word| *word != "--" && *word != "|").collect();
        let two = words.get(..2).map(|two| two.join(" ")).filter(|two| self.options.contains_key(two));
        let command = two.or_else(|| words.first().map(|first| (*first).to_owned()))?;
        // Placeholders and sentences that begin with the program's name.
        if command.starts_with('-') || command.to_uppercase() == command {
            return None;
        }
        let Some(known) = self.options.get(&command) else {
            return Some(format!("there is no command {command}"));
        };
        let options =
            words.iter().filter(|word| word.starts_with("--") || word.len() == 2 && word.starts_with('-'));
        let unknown =
            options.map(|word| word.split('=').next().unwrap_or(word)).find(|word| !known.contains(*word));
        unknown.map(|word| format!("mpiscope {command} has no option {word}"))
    }
}

/// The options of each command in the pinned help.
fn options(help: &str) -> BTreeMap<String, BTreeSet<String>> {
    let sections = help.split("\n----\n").filter_map(|section| {
        let usage = section.lines().find_map(|line| line.strip_prefix("Usage: mpiscope "))?;
        let is_word = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase());
        let command: Vec<&str> = usage.split(' ').take_while(is_word).collect();
        let lines = section.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let words = lines.flat_map(|line| line.split([' ', ','])).filter(|word| word.starts_with('-'));
        Some((command.join(" "), words.map(str::to_owned).collect()))
    });
    sections.collect()
}

/// The names of the functions of a file, and of those that a macro makes of them.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.split("fn ").skip(1).filter_map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
        Some(&rest[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Usage: mpiscope <COMMAND>\n\nOptions:\n  -h, --help  Print\n\n----\n\
        Usage: mpiscope report [OPTIONS] <DIR>\n\nOptions:\n      --json  Print\n  -h, --help  Print\n\n----\n\
        Usage: mpiscope layout check [OPTIONS] <FILE>...\n\nOptions:\n      --ranks <N>  How many\n";

    fn missing(text: &str) -> Vec<(usize, String)> {
        let files = BTreeSet::from(["daemon/app/src/main.rs".to_owned()]);
        let functions = functions("fn a_test_of_it() {}").map(str::to_owned).collect();
        Code { files, functions, options: options(HELP) }.missing(text)
    }

    #[test]
    fn what_is_there_may_be_named() {
        let text = "`daemon/app` `daemon/app/src/main.rs` `daemon/NAME/x.rs` `a_test_of_it` `t_msg_ns` `report --any`\n\
            ```\n$ mpiscope report --json DIR -h\nmpiscope layout check --ranks 4 x -- --other\n```\n`mpiscope COMMAND --help`";
        assert_eq!(missing(text), []);
    }

    #[test]
    fn what_is_not_there_is_named_with_its_line() {
        let text = "`daemon/none`\n`a_test_of_none_such`\n`mpiscope report --jason`\n```\nmpiscope layout check -n 4\n```\n\
            `mpiscope reprot DIR`";
        let expected = [
            (1, "there is no daemon/none"),
            (2, "there is no function a_test_of_none_such"),
            (3, "mpiscope report has no option --jason"),
            (5, "mpiscope layout check has no option -n"),
            (7, "there is no command reprot"),
        ];
        assert_eq!(missing(text), expected.map(|(line, what)| (line, what.to_owned())));
    }
}
