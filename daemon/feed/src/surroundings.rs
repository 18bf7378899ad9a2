//! What the advice on the placement of ranks comes to.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where ranks had better be.
pub trait RemapSource: Send + Sync + fmt::Debug {
    /// The advice by what was recorded so far; it may take a while.
    ///
    /// # Errors
    /// One sentence when there is none.
    fn remap(&self) -> Result<Remap, String>;
}

/// A better placement of the ranks on their nodes, as `mpiscope remap` tells it; of a run that goes on, by what was
/// recorded so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Remap {
    /// Whether it is better than how ranks are placed. If not, the files have them placed as they are.
    pub gains: bool,
    /// Messages between nodes as ranks are placed.
    pub inter_messages_before: u64,
    /// As they would be.
    pub inter_messages_after: u64,
    /// Their bytes as ranks are placed.
    pub inter_bytes_before: u64,
    /// As they would be.
    pub inter_bytes_after: u64,
    /// Ranks that move to another node.
    pub moved: u32,
    /// All ranks.
    pub ranks: u32,
    /// Remarks.
    pub sentences: Vec<String>,
    /// The files for launchers.
    pub files: Vec<RemapFile>,
}

/// A placement in the words of a launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RemapFile {
    /// Whose file it is.
    pub format: RemapFormat,
    /// What to call it; the command expects it under this name.
    pub name: String,
    /// What is in it.
    pub text: String,
    /// What starts the job with it.
    pub command: String,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum RemapFormat {
    /// Of Open MPI.
    Rankfile,
    /// Of MPICH and its relatives.
    Machinefile,
    /// Of Slurm.
    Slurm,
}
