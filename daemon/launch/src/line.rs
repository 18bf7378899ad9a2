//! A command line that is being changed, with the environment that the launcher in it will have.

use super::launch::Launch;
use super::needs::PRELOAD;
use super::prefix;
use super::surroundings::Surroundings;
use super::words::{assignment, join, split_assignment};
use std::ffi::OsString;
use std::path::Path;

pub(super) struct Line<'a, S> {
    pub(super) words: Vec<OsString>,
    pub(super) surroundings: &'a S,
    /// Where the command proper begins, behind `env`, `time` and their kind.
    pub(super) command: usize,
    /// Whether a word before it empties the environment. Nothing can be passed to it then.
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

    /// All that is seen of the command: its words, and the files among them that are text.
    pub(super) fn text(&self) -> String {
        let words = &self.words[self.command..];
        let mut text = join(words, " ").to_string_lossy().into_owned();
        for file in words.iter().filter_map(|word| self.surroundings.read(Path::new(word))) {
            text.push('\n');
            text.push_str(&file);
        }
        text
    }

    pub(super) fn into_launch(self) -> Launch {
        Launch { words: self.words, set: self.set, removed: self.removed }
    }
}
