//! Keeps what programs say about a run, a moment after it came and when the server ends.

use super::board::{AnswerStore, Board};
use crate::live::Source;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// Notes within this time are written at once.
const GATHER: Duration = Duration::from_secs(1);

/// Writes answers to where they are kept.
#[derive(Debug)]
pub(crate) struct Keeper {
    store: Arc<dyn AnswerStore>,
    board: Arc<Board>,
    saved: AtomicU64,
}

impl Keeper {
    /// Starts with what was kept before.
    pub(crate) fn start(store: Arc<dyn AnswerStore>, source: &Source) -> Self {
        let board = Arc::clone(&source.board);
        board.restore(store.load());
        let saved = AtomicU64::new(board.version());
        Self { store, board, saved }
    }

    /// Saves whenever something changed. A write that failed is made again with the next change.
    pub(crate) async fn keep(&self) {
        let mut changes = self.board.changes();
        // The board lives as long as this, and this cannot fail.
        while changes.changed().await.is_ok() {
            sleep(GATHER).await;
            self.save().await;
        }
    }

    /// Saves what is new.
    pub(crate) async fn save(&self) {
        let version = self.board.version();
        if self.saved.load(Ordering::Relaxed) == version {
            return;
        }
        let (store, answers) = (Arc::clone(&self.store), self.board.answers());
        if let Ok(Ok(())) = spawn_blocking(move || store.save(&answers)).await {
            self.saved.store(version, Ordering::Relaxed);
        }
    }
}
