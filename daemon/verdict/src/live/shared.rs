//! What the thread of the live diagnosis and its other end share.

use super::helpers::Gathering;
use crate::live_findings::LiveFindings;
use mpiscope_model::{Batch, Message};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

/// What the thread receives.
pub(super) enum Report {
    Batch(Box<Given>),
    /// What others feed later is for a flow that knows nothing yet, instead of the one of this number.
    Prepare {
        flow: u64,
        /// Whether a process is gone that it has, or others have fed it what it does not begin with.
        after_loss: bool,
        is_torn: bool,
    },
    /// Calls were left out until now; these ranks and communicators are known.
    Anew {
        left_out_calls: u64,
        known: Box<Batch>,
    },
    /// Batches were left to the log: its messages up to this one come first.
    Log {
        dir: PathBuf,
        messages: u64,
        /// How many calls that leaves out where the log cannot be read.
        calls: u64,
        known: Box<Batch>,
    },
}

/// A batch for the thread.
pub(super) struct Given {
    /// Where others have fed its calls, these are there only if they are to be replayed.
    pub(super) batch: Batch,
    pub(super) messages: Vec<Message>,
    /// How many calls.
    pub(super) calls: usize,
    pub(super) are_fed: bool,
    /// Whether it has all calls and messages for a replay, or would have if there were any.
    pub(super) has_rows: bool,
}

/// What both ends look at.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) gathering: Gathering,
    pub(super) waiting_calls: AtomicUsize,
    /// Replays have no time left for more calls.
    pub(super) is_replay_paused: AtomicBool,
    pub(super) found: Mutex<Option<LiveFindings>>,
    /// Of the calls that were made until now, those that were lost, and those that were not.
    pub(super) lost: AtomicU64,
    pub(super) recorded: AtomicU64,
    /// Whether what waits is to be let go.
    pub(super) is_skipping: AtomicBool,
    /// Whether the log could not be read as far as it should have been.
    pub(super) lacks_log: AtomicBool,
    /// Whether the thread has ended.
    pub(super) is_over: AtomicBool,
    /// Why the diagnosis ended early, until somebody asks.
    pub(super) fault: Mutex<Option<String>>,
}
