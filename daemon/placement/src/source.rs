//! The advice for pages that ask: the figures and files of `mpiscope remap`, of a recording or of a run as far as it came.

use crate::placement::place_by;
use crate::summary::{checked_by, summary};
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
pub struct Placements(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    messages_from: MessagesFrom,
    last: Mutex<Option<LastAnswer>>,
}

#[derive(Debug)]
enum MessagesFrom {
    Recording(PathBuf),
    Run { traffic: SharedTraffic, job: Mutex<Job> },
}

#[derive(Debug)]
struct LastAnswer {
    since: Instant,
    /// Messages and ranks that were known then.
    known: (u64, usize),
    answer: Result<Remap, String>,
}

/// A panic elsewhere while the lock was held leaves values that are still fine to show.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Placements {
    /// Of a recording that nothing is added to.
    #[must_use]
    pub fn of_recording(dir: &Path) -> Self {
        Self::new(MessagesFrom::Recording(dir.to_path_buf()))
    }

    /// Of a run, whose messages are counted here.
    #[must_use]
    pub fn of_run(traffic: SharedTraffic) -> Self {
        Self::new(MessagesFrom::Run { traffic, job: Mutex::default() })
    }

    fn new(messages_from: MessagesFrom) -> Self {
        Self(Arc::new(Inner { messages_from, last: Mutex::default() }))
    }

    /// The ranks of the run, and where they are.
    pub fn set_job(&self, known: Job) {
        if let MessagesFrom::Run { job, .. } = &self.0.messages_from {
            *lock(job) = known;
        }
    }
}

impl MessagesFrom {
    /// How many messages and ranks are known; of a recording that is always the same.
    fn known(&self) -> (u64, usize) {
        match self {
            MessagesFrom::Recording(_) => (0, 0),
            MessagesFrom::Run { traffic, job } => {
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
            MessagesFrom::Recording(dir) => load_traffic(dir, &Recording::open(dir)?),
            MessagesFrom::Run { traffic, job } => {
                let job = lock(job).clone();
                Ok(Traffic { job, traffic: traffic.lock().clone(), faults: Vec::new() })
            }
        }
    }
}

impl RemapSource for Placements {
    fn remap(&self) -> Result<Remap, String> {
        // Whoever asks the same meanwhile waits for this answer.
        let mut last = lock(&self.0.last);
        let known = self.0.messages_from.known();
        let is_current = |last: &&LastAnswer| last.known == known || last.since.elapsed() < EVERY;
        if let Some(LastAnswer { answer, .. }) = last.as_ref().filter(is_current) {
            return answer.clone();
        }
        let traffic = self.0.messages_from.traffic();
        let answer = traffic.and_then(|traffic| advice(&traffic)).map_err(|error| format!("{error:#}"));
        *last = Some(LastAnswer { since: Instant::now(), known, answer: answer.clone() });
        answer
    }
}

fn advice(traffic: &Traffic) -> Result<Remap> {
    let placement = checked_by(traffic, || {
        let job = &traffic.job;
        place_by(job, |today| {
            ensure!(
                today.iter().any(|node| Some(node) != today.first()),
                "all ranks are on one node: there is nothing to place"
            );
            ask_for_advice(&traffic.traffic, today)
        })
    })?;
    let file = |(format, name): (RemapFormat, &str)| RemapFile {
        format,
        name: name.to_owned(),
        text: placement.text(format),
        command: placement.command(format, Path::new(name)),
    };
    let files = [
        (RemapFormat::Rankfile, "mpiscope.rankfile"),
        (RemapFormat::Machinefile, "mpiscope.machinefile"),
        (RemapFormat::Slurm, "mpiscope.hostfile"),
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
