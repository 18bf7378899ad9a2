//! A second opinion about what a program calls: `tests/apps/support/count_calls.c`, which shares nothing with the
//! collector, and what it writes.

use crate::apps::counting_library;
use crate::mpi::Mpi;
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// What a program calls MPI from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// C, and everything that calls the functions of C.
    C,
    /// Fortran, where it has functions of its own.
    Fortran,
}

/// What the library counted in one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls by rank and function.
    pub calls: BTreeMap<(u32, String, Language), u64>,
    /// Messages and bytes that the sends of a rank handed over.
    pub sent: BTreeMap<(u32, Language), (u64, u64)>,
}

/// Makes a command that is not run yet count the calls of the program that it starts.
///
/// # Errors
/// When the library does not compile.
pub fn counted(mpi: &Mpi, command: &mut Command, folder: &Path) -> Result<()> {
    let mut preload = OsString::from(counting_library(mpi)?);
    let before = command.get_envs().find(|(name, _)| *name == "LD_PRELOAD").and_then(|(_, value)| value);
    if let Some(before) = before {
        preload.push(":");
        preload.push(before);
    }
    command.env("LD_PRELOAD", preload).env("COUNT_CALLS_FOLDER", folder);
    Ok(())
}

impl Counted {
    /// Reads what so many ranks wrote into a folder.
    ///
    /// # Errors
    /// When a rank has not written, or something that makes no sense.
    pub fn load(folder: &Path, ranks: u32) -> Result<Self> {
        let mut counted = Self::default();
        for rank in 0..ranks {
            let path = folder.join(format!("{rank}.calls"));
            let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
            ensure!(!text.is_empty(), "{} is empty", path.display());
            for line in text.lines() {
                counted.take(rank, line).with_context(|| format!("the line {line:?}"))?;
            }
        }
        Ok(counted)
    }

    fn take(&mut self, rank: u32, line: &str) -> Result<()> {
        let language = |word| match word {
            "C" => Ok(Language::C),
            "Fortran" => Ok(Language::Fortran),
            _ => bail!("a language that is not counted"),
        };
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["calls", word, function, calls] => {
                self.calls.insert((rank, function.to_owned(), language(word)?), calls.parse()?);
            }
            ["sent", word, messages, bytes] => {
                self.sent.insert((rank, language(word)?), (messages.parse()?, bytes.parse()?));
            }
            _ => bail!("neither calls nor what was sent"),
        }
        Ok(())
    }

    /// Calls by rank and function, of these languages together.
    #[must_use]
    pub fn calls_of(&self, languages: &[Language]) -> BTreeMap<(u32, String), u64> {
        let mut sums = BTreeMap::new();
        for ((rank, function, language), calls) in &self.calls {
            if languages.contains(language) {
                *sums.entry((*rank, function.clone())).or_default() += calls;
            }
        }
        sums
    }
}
