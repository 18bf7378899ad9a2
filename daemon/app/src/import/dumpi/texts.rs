//! The texts of all ranks of a job, beside each other, and what is missing of them.

use super::super::trace::MOST_RANKS;
use crate::words::{counted, printable};
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// Texts that are named in one sentence.
const MOST_NAMED: usize = 5;

/// How texts are called: `PREFIX-0007.txt`.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// The text that was asked for.
    pub(super) file: PathBuf,
    pub(super) prefix: String,
    /// Digits of the number of a rank, at least.
    pub(super) width: usize,
    pub(super) extension: String,
}

impl Names {
    fn name(&self, rank: usize) -> String {
        let Self { prefix, width, extension, .. } = self;
        format!("{prefix}-{rank:0width$}{extension}")
    }

    /// The rank whose text has this name.
    fn rank(&self, name: &str) -> Option<usize> {
        let number = name.strip_prefix(&self.prefix)?.strip_prefix('-')?.strip_suffix(&self.extension)?;
        let rank = number.parse().ok()?;
        (self.name(rank) == name).then_some(rank)
    }
}

/// Where a text ends that does not lead to the end of the rank's MPI.
#[derive(Debug)]
pub(super) struct CutOff {
    pub(super) line: u64,
    /// The function that it ends in.
    pub(super) within: Option<String>,
}

/// The texts of a job.
#[derive(Debug)]
pub(crate) struct Texts {
    names: Names,
    /// By rank; none where there is none.
    paths: Vec<Option<PathBuf>>,
    /// What says how many ranks there are, where that is more than there are texts.
    said: Option<String>,
}

impl Texts {
    /// Looks for the texts of all ranks.
    pub(super) fn find(names: Names) -> Result<Self> {
        let folder = names.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(folder);
        let entries = entries.with_context(|| format!("look for texts in {}", folder.display()))?;
        let mut ranks: Vec<usize> =
            entries.flatten().filter_map(|entry| names.rank(entry.file_name().to_str()?)).collect();
        ranks.sort_unstable();
        let count = ranks.last().map_or(0, |last| last.saturating_add(1));
        let mut own = Self { names, paths: Vec::new(), said: None };
        own.make_room(count, ranks.len(), |rank| ranks.binary_search(&rank).is_ok())?;
        for rank in ranks {
            own.paths[rank] = Some(own.names.file.with_file_name(own.names.name(rank)));
        }
        Ok(own)
    }

    /// There are so many ranks. A job of which most is missing is refused: what was found may be of another.
    fn make_room(&mut self, count: usize, found: usize, has_text: impl Fn(usize) -> bool) -> Result<()> {
        if count > MOST_RANKS {
            bail!("{}: no job has more than {MOST_RANKS} ranks", self.names.file.display());
        }
        if count > 2 * found {
            let first = self.path((0..count).find(|&rank| !has_text(rank)).unwrap_or_default());
            let texts = counted(found as u64, "rank");
            let said = self.said.as_ref().map_or(String::new(), |said| format!(" ({said})"));
            bail!(
                "{}: only {texts} of {count} have a text{said}; put those of the others beside it, the first is {}",
                self.names.file.display(),
                first.display()
            );
        }
        self.paths.resize(count.max(self.paths.len()), None);
        Ok(())
    }

    /// A line of a rank's text says how many ranks there are.
    pub(super) fn job_has(&mut self, ranks: u64, of: usize, line: u64) -> Result<()> {
        let ranks = usize::try_from(ranks).unwrap_or(usize::MAX);
        if ranks < self.paths.len() {
            let last = self.path(self.paths.len() - 1);
            bail!(
                "{}, line {line}: MPI_COMM_WORLD has {ranks}, so {} is of another job; take it away",
                self.names.name(of),
                last.display()
            );
        }
        if ranks == self.paths.len() {
            return Ok(());
        }
        self.said = Some(format!("{}, line {line}: MPI_COMM_WORLD has {ranks}", self.names.name(of)));
        let found = self.paths.iter().flatten().count();
        // Ranks that are missing between others were found before: those behind the last are new.
        let last = self.paths.len();
        self.make_room(ranks, found, |rank| rank < last)
    }

    pub(super) fn count(&self) -> usize {
        self.paths.len()
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = Option<&PathBuf>> {
        self.paths.iter().map(Option::as_ref)
    }

    fn path(&self, rank: usize) -> PathBuf {
        self.names.file.with_file_name(self.names.name(rank))
    }

    /// What a rank's text is called.
    pub(super) fn name(&self, rank: usize) -> String {
        printable(&self.names.name(rank))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.paths().map(|path| kibibytes(path) << 10).sum()
    }

    /// Says which ranks have no text.
    pub(super) fn missing(&self) -> Option<String> {
        let missing: Vec<String> = (0..self.paths.len())
            .filter(|&rank| self.paths[rank].is_none())
            .map(|rank| format!("rank {rank} ({})", self.name(rank)))
            .collect();
        let said = self.said.as_ref().map_or(String::new(), |said| format!(" ({})", printable(said)));
        (!missing.is_empty()).then(|| format!("calls of ranks without a text: {}{said}", first_of(&missing)))
    }

    /// Says of which ranks the text ends too soon.
    pub(super) fn cut_off<'a>(&self, ends: impl Iterator<Item = Option<&'a CutOff>>) -> Option<String> {
        let sentence = |(rank, end): (usize, Option<&CutOff>)| {
            let CutOff { line, within } = end?;
            let within = within.as_ref().map_or(String::new(), |of| format!(", within {}", printable(of)));
            Some((format!("rank {rank} ({}, line {line}{within})", self.name(rank)), !within.is_empty()))
        };
        let cut: Vec<(String, bool)> = ends.enumerate().filter_map(sentence).collect();
        let ignored = cut.iter().filter(|(_, is_within)| *is_within).count() as u64;
        let names: Vec<String> = cut.into_iter().map(|(name, _)| name).collect();
        let ignored = if ignored > 0 {
            format!("; {} without an end left out", counted(ignored, "call"))
        } else {
            String::new()
        };
        let names = (!names.is_empty()).then(|| first_of(&names))?;
        Some(format!("calls after the end of texts without MPI_Finalize: {names}{ignored}"))
    }
}

/// The first of what is to be named, and how many more there are.
fn first_of(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(MOST_NAMED)].join(", "))
}

/// The length of a text.
pub(super) fn kibibytes(path: Option<&PathBuf>) -> u64 {
    path.and_then(|path| path.metadata().ok()).map_or(0, |found| found.len() >> 10)
}
