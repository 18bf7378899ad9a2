//! The options of a launcher's command line, up to each program it starts.

use super::words::split_assignment;
use std::ffi::{OsStr, OsString};
use std::ops::Range;

/// How many of the words that follow an option are its values: told its name without dashes, and the next word.
pub(super) type Arity = fn(&str, Option<&OsStr>) -> usize;

/// An option: where it stands, its name without dashes, the words of its values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FoundOption {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) values: Range<usize>,
}

/// The options before one program. A line starts several programs when it has words `:`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Context {
    /// Where its first option stands, or could.
    pub(super) begin: usize,
    pub(super) options: Vec<FoundOption>,
}

/// All contexts of a launcher that stands at a place of the line.
pub(super) fn contexts(words: &[OsString], launcher: usize, arity: Arity) -> Vec<Context> {
    let mut contexts = Vec::new();
    let mut begin = launcher + 1;
    loop {
        let length = words[begin..].iter().position(|word| word == ":");
        let end = length.map_or(words.len(), |length| begin + length);
        contexts.push(Context { begin, options: read(words, begin..end, arity) });
        if length.is_none() {
            return contexts;
        }
        begin = end + 1;
    }
}

fn read(words: &[OsString], range: Range<usize>, arity: Arity) -> Vec<FoundOption> {
    let mut options = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let word = words[at].as_os_str();
        let (name, joined) = match split_assignment(word) {
            Some((name, _)) => (Some(name), true),
            None => (word.to_str(), false),
        };
        // What is no text is no option.
        let Some(name) = name.and_then(|name| name.strip_prefix("--").or_else(|| name.strip_prefix('-')))
        else {
            break;
        };
        let next = words[..range.end].get(at + 1).map(OsString::as_os_str);
        let count = if joined { 0 } else { arity(name, next) };
        let values = at + 1..(at + 1 + count).min(range.end);
        options.push(FoundOption { at, name: name.to_owned(), values: values.clone() });
        at = values.end;
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_end_where_a_program_begins() {
        let line = "mpirun -n 2 --x=1 -v ./a -n 5 : --n 3 ./b";
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let read = contexts(&words, 0, |name, _| usize::from(name == "n"));
        let names = |context: &Context| -> Vec<(String, usize)> {
            context.options.iter().map(|option| (option.name.clone(), option.values.len())).collect()
        };
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].begin, read[1].begin), (1, 9));
        assert_eq!(names(&read[0]), [("n".into(), 1), ("x".into(), 0), ("v".into(), 0)]);
        assert_eq!(names(&read[1]), [("n".into(), 1)]);
    }

    #[test]
    fn a_line_that_ends_early_is_no_fault() {
        for line in ["mpirun", "mpirun -n", "mpirun :", "mpirun -n : -n"] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let read = contexts(&words, 0, |_, _| 2);
            assert_eq!(read.len(), 1 + line.matches(':').count(), "{line}");
        }
    }
}
