//! What a test program says that it did; `tests/apps/truth.h` has the format.

use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[path = "../../apps/support/truth_functions.rs"]
mod truth_functions;
pub use truth_functions::TRUTH_FUNCTIONS;

/// The functions that `truth_others.h` counts: a truth that tells of one of them tells of all.
pub(crate) static TRUTH_OTHERS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    truth_functions::listed(include_str!("../../apps/truth_others.h"), "#define TRUTH_OTHERS(X)")
});

/// The bytes of persistent collectives come from the calls that start them, and are unknown without such calls.
pub(crate) const STARTS: [&str; 2] = ["MPI_Start", "MPI_Startall"];

/// Whether the truth tells what calls of this function moved.
#[must_use]
pub(crate) fn tells_bytes(function: &str) -> bool {
    is_collective(function) || TRUTH_OTHERS.contains(&function) || STARTS.contains(&function)
}

/// Whether it is one of the collectives that `truth.h` counts.
#[must_use]
pub(crate) fn is_collective(function: &str) -> bool {
    let name = function.strip_prefix("MPI_").unwrap_or_default();
    let blocking = name.strip_prefix('I').unwrap_or(name).to_lowercase();
    let kinds =
        ["bcast", "reduce", "gather", "scatter", "allgather", "allreduce", "alltoall", "scan", "exscan"];
    TRUTH_FUNCTIONS.contains(&function) && kinds.iter().any(|kind| blocking.starts_with(kind))
}

const BEGIN: &str = "mpiscope-truth 1";
const END: &str = "end";

/// The truth of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// Messages and bytes by source and destination.
    pub pairs: BTreeMap<(u32, u32), (u64, u64)>,
    /// Calls by rank and function.
    pub calls: BTreeMap<(u32, String), u64>,
    /// What collectives moved, in bytes, by rank and function.
    pub moved: BTreeMap<(u32, String), u64>,
}

impl Truth {
    /// Takes the one block of truth out of a program's output.
    ///
    /// # Errors
    /// When there is none, more than one, one without an end, or a line in it that makes no sense.
    pub fn parse(output: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(output).context("the output is no text")?;
        ensure!(
            text.lines().filter(|line| *line == BEGIN).count() == 1,
            "not one block of truth in:\n{text}"
        );
        let mut truth = Self::default();
        for line in text.lines().skip_while(|line| *line != BEGIN).skip(1) {
            if line == END {
                return Ok(truth);
            }
            truth.take(line).with_context(|| format!("the line of truth {line:?}"))?;
        }
        bail!("the block of truth has no end")
    }

    fn take(&mut self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let before = match words.as_slice() {
            ["pair", source, destination, messages, bytes] => {
                let figures = (messages.parse()?, bytes.parse()?);
                self.pairs.insert((source.parse()?, destination.parse()?), figures).is_some()
            }
            ["calls", rank, function, calls] => {
                let is_known = TRUTH_FUNCTIONS.contains(function) || TRUTH_OTHERS.contains(function);
                ensure!(is_known, "a function that no test program counts");
                self.calls.insert((rank.parse()?, (*function).to_owned()), calls.parse()?).is_some()
            }
            ["moved", rank, function, bytes] => {
                ensure!(tells_bytes(function), "a function that is no collective");
                self.moved.insert((rank.parse()?, (*function).to_owned()), bytes.parse()?).is_some()
            }
            _ => bail!("neither a pair nor calls nor moved bytes"),
        };
        ensure!(!before, "told twice");
        Ok(())
    }

    /// Whether it tells of the functions of `truth_others.h`.
    #[must_use]
    pub fn tells_others(&self) -> bool {
        self.calls.keys().any(|(_, function)| TRUTH_OTHERS.contains(&function.as_str()))
    }

    /// All calls.
    #[must_use]
    pub fn all_calls(&self) -> u64 {
        self.calls.values().sum()
    }

    /// All messages and their bytes.
    #[must_use]
    pub fn all_messages(&self) -> (u64, u64) {
        self.pairs.values().fold((0, 0), |(messages, bytes), pair| (messages + pair.0, bytes + pair.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(output: &str) -> String {
        format!("{:#}", Truth::parse(output.as_bytes()).unwrap_err())
    }

    #[test]
    fn the_block_is_found_among_other_output() {
        let output = "hello\nmpiscope-truth 1\npair 0 1 2 30\ncalls 0 MPI_Send 2\ncalls 1 MPI_Recv 2\n\
             moved 1 MPI_Ibcast 12\nend\nbye\n";
        let truth = Truth::parse(output.as_bytes()).unwrap();
        assert_eq!(truth.pairs, BTreeMap::from([((0, 1), (2, 30))]));
        assert_eq!(truth.calls[&(1, "MPI_Recv".to_owned())], 2);
        assert_eq!(truth.moved, BTreeMap::from([((1, "MPI_Ibcast".to_owned()), 12)]));
        assert_eq!((truth.all_calls(), truth.all_messages()), (4, (2, 30)));
    }

    #[test]
    fn what_is_no_truth_is_refused() {
        assert!(fault("").contains("not one block"));
        assert!(fault("mpiscope-truth 1\nend\nmpiscope-truth 1\nend\n").contains("not one block"));
        assert!(fault("mpiscope-truth 1\npair 0 1 2 30\n").contains("no end"));
        assert!(fault("mpiscope-truth 1\npair 0 1 2\nend\n").contains("neither a pair"));
        assert!(fault("mpiscope-truth 1\npair 0 1 2 -30\nend\n").contains("pair 0 1 2 -30"));
        assert!(fault("mpiscope-truth 1\ncalls 0 MPI_Sned 2\nend\n").contains("no test program counts"));
        assert!(fault("mpiscope-truth 1\nmoved 0 MPI_Send 2\nend\n").contains("no collective"));
        assert!(fault("mpiscope-truth 1\npair 0 1 2 3\npair 0 1 2 3\nend\n").contains("twice"));
        assert!(Truth::parse(b"\xff").is_err());
    }

    #[test]
    fn collectives_differ_from_other_functions() {
        let collective = |name: &&str| is_collective(name);
        let others: Vec<&str> = TRUTH_FUNCTIONS.iter().copied().filter(|name| !collective(name)).collect();
        assert_eq!((TRUTH_FUNCTIONS.len(), others.len()), (77, 45), "{others:?}");
        assert!(!others.iter().any(|name| name.contains("all") && name.contains("gather")));
        for name in ["MPI_Allreduce", "MPI_Iallreduce", "MPI_Alltoallw", "MPI_Iexscan", "MPI_Ireduce_scatter"]
        {
            assert!(is_collective(name), "{name}");
        }
        for name in ["MPI_Send", "MPI_Barrier", "MPI_Ibarrier", "MPI_Irecv", "MPI_Allreduce_init", ""] {
            assert!(!is_collective(name), "{name}");
        }
    }

    #[test]
    fn the_functions_are_those_of_the_header() {
        assert!(TRUTH_FUNCTIONS.contains(&"MPI_Init") && TRUTH_FUNCTIONS.contains(&"MPI_Iexscan"));
        assert!(TRUTH_FUNCTIONS.len() > 70 && TRUTH_FUNCTIONS.iter().all(|name| name.starts_with("MPI_")));
    }
}
