//! A command line that is being changed, with the environment that the launcher in it will have.

use super::{Launch, PRELOAD, Surroundings, prefix};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

pub(super) struct Line<'a, S> {
    pub(super) words: Vec<OsString>,
    pub(super) surroundings: &'a S,
    /// Where the command proper begins, behind `env`, `time` and their kind.
    pub(super) command: usize,
    /// Whether a word before it empties the environment, so that nothing can be given to it.
    pub(super) emptied: bool,
    /// What `env` sets, with the place of the word.
    assigned: Vec<(String, usize)>,
    unset: Vec<String>,
    set: Vec<(String, OsString)>,
    removed: Vec<String>,
}

impl<'a, S: Surroundings> Line<'a, S> {
    pub(super) fn new(words: &[OsString], surroundings: &'a S) -> Self {
        let prefix = prefix::read(words);
        Self {
            words: words.to_vec(),
            surroundings,
            command: prefix.end,
            emptied: prefix.empties,
            assigned: prefix.assigned,
            unset: prefix.unset,
            set: Vec::new(),
            removed: Vec::new(),
        }
    }

    /// A variable as the command behind the prefix sees it.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        if let Some((_, at)) = self.assigned.iter().rev().find(|(assigned, _)| assigned == name) {
            return split_assignment(&self.words[*at]).map(|(_, value)| value.to_owned());
        }
        if self.emptied || self.unset.iter().any(|unset| unset == name) {
            return None;
        }
        self.surroundings.variable(name)
    }

    pub(super) fn preloaded(&self) -> Option<OsString> {
        self.variable(PRELOAD)
    }

    /// Sets a variable for the command; where `env` sets it, there.
    pub(super) fn set(&mut self, name: &str, value: OsString) {
        if let Some((_, at)) = self.assigned.iter().rev().find(|(assigned, _)| assigned == name) {
            self.words[*at] = assignment(name, &value);
            return;
        }
        self.set.push((name.to_owned(), value));
    }

    /// Removes a variable for the command; where `env` sets it, there.
    pub(super) fn remove(&mut self, name: &str) {
        match self.assigned.iter().rev().find(|(assigned, _)| assigned == name) {
            Some((_, at)) => self.words[*at] = format!("--unset={name}").into(),
            None => self.removed.push(name.to_owned()),
        }
    }

    /// Puts words in at places of the line as it stands.
    pub(super) fn insert(&mut self, mut places: Vec<(usize, Vec<OsString>)>) {
        places.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        for (at, words) in places {
            self.words.splice(at..at, words);
        }
    }

    pub(super) fn into_launch(self) -> Launch {
        Launch { words: self.words, set: self.set, removed: self.removed }
    }
}

/// `NAME=VALUE`, as two.
pub(super) fn split_assignment(word: &OsStr) -> Option<(&str, &OsStr)> {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let name = std::str::from_utf8(&bytes[..at]).ok()?;
    Some((name, OsStr::from_bytes(&bytes[at + 1..])))
}

pub(super) fn assignment(name: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(name);
    word.push("=");
    word.push(value);
    word
}

/// The parts of a list.
pub(super) fn split(list: &OsStr, separator: u8) -> Vec<OsString> {
    let parts = list.as_bytes().split(|byte| *byte == separator);
    parts.filter(|part| !part.is_empty()).map(|part| OsStr::from_bytes(part).to_owned()).collect()
}

pub(super) fn join(parts: &[OsString], separator: &str) -> OsString {
    parts.join(OsStr::new(separator))
}
