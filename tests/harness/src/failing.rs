//! System calls that fail: `tests/apps/support/fail_call.c`, and what it reports.

use crate::apps::failing_tracer;
use crate::broken::copy;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A system call that fails, or several that follow each other.
#[derive(Debug, Clone)]
pub struct FailingCall {
    /// Whose: `run` for the command itself, `rank`, or the first argument of a process of the same program.
    pub role: String,
    /// A kind of call of `fail_call.c`.
    pub kind: String,
    /// Which of this kind, from 1; with 0 all of them are made and counted.
    pub number: u64,
    /// How many fail, one after the other.
    pub times: u64,
}

/// What the tracer reports.
#[derive(Debug, Clone, Default)]
pub struct FailedCall {
    /// The file that the last of them was about, or its kind; `None` if it was not made.
    pub about: Option<String>,
    /// Calls by kind.
    pub counts: BTreeMap<String, u64>,
}

impl FailingCall {
    /// A command under the tracer, which reports to `log`.
    ///
    /// # Errors
    /// When the tracer does not compile.
    pub fn give_to(&self, command: &Command, log: &Path) -> Result<Command> {
        let words = [self.role.as_str(), &self.kind, &self.number.to_string(), &self.times.to_string()];
        let words = words.map(Into::into);
        let before = [&words[..], &[log.into(), command.get_program().into()]].concat();
        Ok(copy(command, failing_tracer()?.into(), before))
    }
}

impl FailedCall {
    /// Reads a report.
    ///
    /// # Errors
    /// When there is none, or it makes no sense.
    pub fn read(log: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(log).with_context(|| format!("read {}", log.display()))?;
        let mut found = Self::default();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').context("a line of one word")?;
            if word == "failed" {
                found.about = Some(rest.to_owned());
            } else {
                found.counts.insert(word.to_owned(), rest.parse().with_context(|| line.to_owned())?);
            }
        }
        Ok(found)
    }
}
