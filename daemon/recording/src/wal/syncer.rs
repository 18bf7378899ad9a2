//! Waits for the disk on a thread of its own, and compresses full files: the writer of the log never waits.

use super::compressed::compress;
use crate::error::RecordingError;
use crate::folder::sync_folder;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Files that may wait for the disk: one of before a rotation, and the current one.
const MOST_WAITING: usize = 2;

/// Compressing goes behind the job.
const LOW_PRIORITY: i32 = 10;

struct Order {
    file: File,
    path: PathBuf,
    /// The file is new: its name has to reach the disk as well.
    new: bool,
    /// It gets no more frames.
    last: bool,
}

/// The thread and what it found.
pub(crate) struct Syncer {
    orders: Option<SyncSender<Order>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<RecordingError>>>,
}

impl Syncer {
    pub(crate) fn start() -> Self {
        let (orders, received) = sync_channel::<Order>(MOST_WAITING);
        let failure = Arc::new(Mutex::new(None));
        let shared_failure = Arc::clone(&failure);
        let thread = std::thread::Builder::new().name("sync".into()).spawn(move || {
            // The job goes first; a system that does not allow it changes nothing but that.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOW_PRIORITY);
            for order in received {
                if let Err(error) = order.carry_out() {
                    *shared_failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
            }
        });
        // Without a thread every order is carried out at once.
        let orders = thread.is_ok().then_some(orders);
        Self { orders, thread: thread.ok(), failure }
    }

    /// Sees to it that what the file holds now reaches the disk, soon and without waiting for it. One that cannot be
    /// taken because others wait is left to the next time.
    pub(crate) fn order(&self, file: &File, path: &Path, new: bool) -> Result<(), RecordingError> {
        self.send(file, path, new, false)
    }

    /// Likewise a file that gets no more frames; it is compressed then.
    pub(crate) fn order_last(&self, file: &File, path: &Path) -> Result<(), RecordingError> {
        self.send(file, path, true, true)
    }

    fn send(&self, file: &File, path: &Path, new: bool, last: bool) -> Result<(), RecordingError> {
        let file = file.try_clone().map_err(RecordingError::io("sync", path))?;
        let order = Order { file, path: path.to_path_buf(), new, last };
        match self.orders.as_ref().map(|orders| orders.try_send(order)) {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(order) | TrySendError::Disconnected(order))) if last => {
                // It stays as it is then.
                order.sync()?;
            }
            Some(Err(_)) | None => {}
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

impl Order {
    fn carry_out(&self) -> Result<(), RecordingError> {
        self.sync()?;
        if !self.last {
            return Ok(());
        }
        match compress(&self.path) {
            // The end of the run removes the log, or --keep its beginning.
            Err(_) if !self.path.exists() => Ok(()),
            compressed => compressed,
        }
    }

    fn sync(&self) -> Result<(), RecordingError> {
        self.file.sync_data().map_err(RecordingError::io("sync", &self.path))?;
        match self.path.parent().filter(|_| self.new) {
            Some(folder) => sync_folder(folder),
            None => Ok(()),
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            // A thread that failed has nothing left to do.
            let _ = thread.join();
        }
    }
}
