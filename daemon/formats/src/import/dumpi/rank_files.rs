//! Finds the texts of all ranks of a job, which lie beside each other, and names those that are missing.

use crate::limits::MAX_RANKS;
use anyhow::{Context as _, Result, bail};
use mpiscope_model::words::{counted, printable};
use std::path::{Path, PathBuf};

/// Texts that are named in one sentence.
const MAX_NAMED: usize = 5;

/// How texts are called: `PREFIX-0007.txt`.
#[derive(Debug, Clone)]
pub(super) struct FileNames {
    /// The text that was asked for.
    pub(super) file: PathBuf,
    pub(super) prefix: String,
    /// Digits of the number of a rank, at least.
    pub(super) width: usize,
    pub(super) extension: String,
}

impl FileNames {
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

/// Where a text ends that has no MPI_Finalize.
#[derive(Debug)]
pub(super) struct CutOff {
    pub(super) line: u64,
    /// The function that it ends in.
    pub(super) within: Option<String>,
}

/// The texts of a job.
#[derive(Debug)]
pub(crate) struct RankFiles {
    names: FileNames,
    /// By rank; none where there is none.
    paths: Vec<Option<PathBuf>>,
    /// The file that counts more ranks than there are texts.
    count_origin: Option<String>,
}

impl RankFiles {
    /// Looks for the texts of all ranks.
    pub(super) fn find(names: FileNames) -> Result<Self> {
        let folder = names.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(folder);
        let entries = entries.with_context(|| format!("look for texts in {}", folder.display()))?;
        let mut ranks: Vec<usize> =
            entries.flatten().filter_map(|entry| names.rank(entry.file_name().to_str()?)).collect();
        ranks.sort_unstable();
        let count = ranks.last().map_or(0, |last| last.saturating_add(1));
        let mut own = Self { names, paths: Vec::new(), count_origin: None };
        own.make_room(count, ranks.len(), |rank| ranks.binary_search(&rank).is_ok())?;
        for rank in ranks {
            own.paths[rank] = Some(own.names.file.with_file_name(own.names.name(rank)));
        }
        Ok(own)
    }

    /// Makes room for `count` ranks. A job that lacks most of its texts is refused: those found may be of another one.
    fn make_room(&mut self, count: usize, found: usize, has_text: impl Fn(usize) -> bool) -> Result<()> {
        if count > MAX_RANKS as usize {
            bail!("{}: no job has more than {MAX_RANKS} ranks", self.names.file.display());
        }
        if count > 2 * found {
            let first = self.path((0..count).find(|&rank| !has_text(rank)).unwrap_or_default());
            let texts = counted(found as u64, "rank");
            let origin = self.count_origin.as_ref().map_or(String::new(), |origin| format!(" ({origin})"));
            bail!(
                "{}: only {texts} of {count} have a text{origin}; put those of the others beside it, the first is {}",
                self.names.file.display(),
                first.display()
            );
        }
        self.paths.resize(count.max(self.paths.len()), None);
        Ok(())
    }

    /// Takes in the number of ranks that a line of a text says.
    ///
    /// # Errors
    /// When it does not fit the texts.
    pub(super) fn check_rank_count(&mut self, ranks: u64, of: usize, line: u64) -> Result<()> {
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
        self.count_origin = Some(format!("{}, line {line}: MPI_COMM_WORLD has {ranks}", self.names.name(of)));
        let found = self.paths.iter().flatten().count();
        // Gaps between texts are known already. Only ranks behind the last text are new.
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

    /// The file name of a rank's text.
    pub(super) fn name(&self, rank: usize) -> String {
        printable(&self.names.name(rank))
    }

    pub(super) fn kibibytes(&self) -> u64 {
        self.paths().map(kibibytes).sum()
    }

    /// A sentence about ranks without a text.
    pub(super) fn missing(&self) -> Option<String> {
        let missing: Vec<String> = (0..self.paths.len())
            .filter(|&rank| self.paths[rank].is_none())
            .map(|rank| format!("rank {rank} ({})", self.name(rank)))
            .collect();
        let origin = self.count_origin.as_ref();
        let origin = origin.map_or(String::new(), |origin| format!(" ({})", printable(origin)));
        (!missing.is_empty())
            .then(|| format!("calls of ranks without a text: {}{origin}", name_first(&missing)))
    }

    /// A sentence about ranks whose texts end too soon.
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
        let names = (!names.is_empty()).then(|| name_first(&names))?;
        Some(format!("calls after the end of texts without MPI_Finalize: {names}{ignored}"))
    }
}

/// The first names, and how many more there are.
fn name_first(names: &[String]) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(MAX_NAMED)].join(", "))
}

/// The length of a text.
pub(super) fn kibibytes(path: Option<&PathBuf>) -> u64 {
    path.and_then(|path| path.metadata().ok()).map_or(0, |found| found.len() >> 10)
}
