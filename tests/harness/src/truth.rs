//! What a test program says that it did; `tests/apps/truth.h` has the format.

use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;

/// The functions that the test programs count. Of others a recording may have calls that no truth tells.
pub const TRUTH_FUNCTIONS: [&str; 34] = [
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Abort",
    "MPI_Send",
    "MPI_Bsend",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Isend",
    "MPI_Ibsend",
    "MPI_Issend",
    "MPI_Irsend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Probe",
    "MPI_Iprobe",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Comm_split",
    "MPI_Comm_dup",
    "MPI_Comm_create",
    "MPI_Comm_free",
];

const BEGIN: &str = "mpiscope-truth 1";
const END: &str = "end";

/// The truth of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// Messages and bytes by source and destination.
    pub pairs: BTreeMap<(u32, u32), (u64, u64)>,
    /// Calls by rank and function.
    pub calls: BTreeMap<(u32, String), u64>,
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
                ensure!(TRUTH_FUNCTIONS.contains(function), "a function that no test program counts");
                self.calls.insert((rank.parse()?, (*function).to_owned()), calls.parse()?).is_some()
            }
            _ => bail!("neither a pair nor calls"),
        };
        ensure!(!before, "told twice");
        Ok(())
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
        let output =
            "hello\nmpiscope-truth 1\npair 0 1 2 30\ncalls 0 MPI_Send 2\ncalls 1 MPI_Recv 2\nend\nbye\n";
        let truth = Truth::parse(output.as_bytes()).unwrap();
        assert_eq!(truth.pairs, BTreeMap::from([((0, 1), (2, 30))]));
        assert_eq!(truth.calls[&(1, "MPI_Recv".to_owned())], 2);
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
        assert!(fault("mpiscope-truth 1\npair 0 1 2 3\npair 0 1 2 3\nend\n").contains("twice"));
        assert!(Truth::parse(b"\xff").is_err());
    }

    #[test]
    fn the_functions_are_those_of_the_header() {
        let header = std::fs::read_to_string(crate::source_folder().join("truth.h")).unwrap();
        let list = header.split("#define TRUTH_FUNCTIONS(X)").nth(1).unwrap().split("\n\n").next().unwrap();
        let names: Vec<String> =
            list.split("X(").skip(1).map(|rest| format!("MPI_{}", rest.split(')').next().unwrap())).collect();
        assert_eq!(names, TRUTH_FUNCTIONS);
    }
}
