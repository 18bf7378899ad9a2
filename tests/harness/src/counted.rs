//! A second opinion about what a program calls: `tests/apps/support/count_calls.c`, which shares nothing with the
//! collector, and what it writes.

use crate::apps::counting_library;
use crate::mpi::Mpi;
use crate::product::record;
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
    /// Bytes that blocking collectives moved, of those functions where that follows from the arguments.
    pub moved: BTreeMap<(u32, String, Language), u64>,
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

/// `mpiscope run` without a page, of a program whose calls are counted in the same run: the counting library stands
/// before the collector, so both see the same calls, also of a program that calls as often as the moment makes it.
///
/// # Errors
/// When something is not built.
pub fn record_counted(
    mpi: &Mpi,
    ranks: u32,
    program: &Path,
    arguments: &[&str],
    (out, counts): (&Path, &Path),
) -> Result<Command> {
    // What is preloaded is known to the ranks alone: the collector is put before what the launcher is given.
    let script = r#"LD_PRELOAD=$COUNT_CALLS_LIBRARY:$LD_PRELOAD exec "$0" "$@""#;
    let program = program.to_str().context("the program's name is no text")?;
    let words = [&["-c", script, program], arguments].concat();
    let mut command = record(mpi, ranks, Path::new("/bin/sh"), &words, out)?;
    command.env("COUNT_CALLS_LIBRARY", counting_library(mpi)?).env("COUNT_CALLS_FOLDER", counts);
    Ok(command)
}

impl Counted {
    /// Reads the counts that this number of ranks wrote into a folder.
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
            ["moved", word, function, bytes] => {
                self.moved.insert((rank, function.to_owned(), language(word)?), bytes.parse()?);
            }
            _ => bail!("neither calls, nor what was moved or sent"),
        }
        Ok(())
    }

    /// Calls by rank and function, of all languages together.
    #[must_use]
    pub fn all_calls(&self) -> BTreeMap<(u32, String), u64> {
        sums(&self.calls)
    }

    /// What collectives moved, by rank and function, of all languages together; nothing is in it as well.
    #[must_use]
    pub fn all_moved(&self) -> BTreeMap<(u32, String), u64> {
        sums(&self.moved)
    }
}

fn sums(by_language: &BTreeMap<(u32, String, Language), u64>) -> BTreeMap<(u32, String), u64> {
    let mut sums = BTreeMap::new();
    for ((rank, function, _), figure) in by_language {
        *sums.entry((*rank, function.clone())).or_default() += figure;
    }
    sums
}
