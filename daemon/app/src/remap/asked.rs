//! The advice for pages that ask: the figures and files of `mpiscope remap`, of a recording or of a run as far as it came.

use super::placement::place_by;
use super::{Format, checked_by, summary};
use anyhow::{Result, ensure};
use mpiscope_engine::SharedTraffic;
use mpiscope_engine::load::{Traffic, load_traffic};
use mpiscope_feed::{Remap, RemapFile, RemapFormat, RemapSource};
use mpiscope_recording::{Job, Recording};
use mpiscope_verdict::ask_for_advice;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Of a run that goes on it is found anew so often at most.
const EVERY: Duration = Duration::from_secs(5);

/// What is asked, and what was answered last. Shared between those who ask and whoever hears where ranks are.
#[derive(Debug, Clone)]
pub(crate) struct Placements(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    of: Of,
    kept: Mutex<Option<Kept>>,
}

#[derive(Debug)]
enum Of {
    Recording(PathBuf),
    Run { traffic: SharedTraffic, job: Mutex<Job> },
}

#[derive(Debug)]
struct Kept {
    since: Instant,
    /// Messages and ranks that were known then.
    known: (u64, usize),
    told: Result<Remap, String>,
}

/// A panic elsewhere while the lock was held leaves values that are still fine to show.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Placements {
    /// Of a recording that nothing is added to.
    pub(crate) fn of_recording(dir: &Path) -> Self {
        Self::of(Of::Recording(dir.to_path_buf()))
    }

    /// Of a run, whose messages are counted here.
    pub(crate) fn of_run(traffic: SharedTraffic) -> Self {
        Self::of(Of::Run { traffic, job: Mutex::default() })
    }

    fn of(of: Of) -> Self {
        Self(Arc::new(Inner { of, kept: Mutex::default() }))
    }

    /// The ranks of the run, and where they are.
    pub(crate) fn know(&self, known: Job) {
        if let Of::Run { job, .. } = &self.0.of {
            *lock(job) = known;
        }
    }
}

impl Of {
    /// How many messages and ranks are known; of a recording that is always the same.
    fn known(&self) -> (u64, usize) {
        match self {
            Of::Recording(_) => (0, 0),
            Of::Run { traffic, job } => {
                let messages = {
                    let traffic = traffic.lock();
                    traffic.pairs().map(|(.., flow)| flow.messages).sum::<u64>() + traffic.left_out().messages
                };
                (messages, lock(job).nodes.iter().map(|node| node.ranks.len()).sum())
            }
        }
    }

    fn traffic(&self) -> Result<Traffic> {
        match self {
            Of::Recording(dir) => load_traffic(dir, &Recording::open(dir)?),
            Of::Run { traffic, job } => {
                let job = lock(job).clone();
                Ok(Traffic { job, traffic: traffic.lock().clone(), faults: Vec::new() })
            }
        }
    }
}

impl RemapSource for Placements {
    fn remap(&self) -> Result<Remap, String> {
        // Whoever asks the same meanwhile waits for this answer.
        let mut kept = lock(&self.0.kept);
        let known = self.0.of.known();
        if let Some(Kept { told, .. }) =
            kept.as_ref().filter(|kept| kept.known == known || kept.since.elapsed() < EVERY)
        {
            return told.clone();
        }
        let told =
            self.0.of.traffic().and_then(|traffic| told(&traffic)).map_err(|error| format!("{error:#}"));
        *kept = Some(Kept { since: Instant::now(), known, told: told.clone() });
        told
    }
}

fn told(traffic: &Traffic) -> Result<Remap> {
    let placement = checked_by(traffic, || {
        let job = &traffic.job;
        place_by(job, |today| {
            ensure!(
                today.iter().any(|node| Some(node) != today.first()),
                "all ranks are on one node, so that there is nothing to place"
            );
            ask_for_advice(&traffic.traffic, today)
        })
    })?;
    let file = |(format, told, name): (Format, RemapFormat, &str)| RemapFile {
        format: told,
        name: name.to_owned(),
        text: format.text(&placement),
        command: format.command(&placement, Path::new(name)),
    };
    let files = [
        (Format::Rankfile, RemapFormat::Rankfile, "mpiscope.rankfile"),
        (Format::Machinefile, RemapFormat::Machinefile, "mpiscope.machinefile"),
        (Format::Slurm, RemapFormat::Slurm, "mpiscope.hostfile"),
    ];
    let advice = &placement.advice;
    Ok(Remap {
        gains: advice.gains(),
        inter_messages_before: advice.inter_messages_before,
        inter_messages_after: advice.inter_messages_after,
        inter_bytes_before: advice.inter_bytes_before,
        inter_bytes_after: advice.inter_bytes_after,
        moved: placement.moved() as u32,
        ranks: placement.ranks() as u32,
        sentences: summary(&placement, traffic),
        files: files.into_iter().map(file).collect(),
    })
}
