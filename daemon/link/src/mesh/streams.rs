//! The streams of one process to all others, and the thread that moves their bytes.

use crate::encryption::Stream;
use crate::error::LinkError;
use crate::mesh::tunnel::{Pace, becomes_true, tunnel};
use std::io::Read as _;
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Streams between each pair of processes: one for the dataflow, one for messages between workers.
pub const STREAMS: usize = 2;

/// Connects one process with all others. A stream whose process is lost ends in both directions.
///
/// Dropping it ends the tunnels. Bytes that were written still go out, within two seconds.
pub struct Mesh {
    /// Its own number.
    pub number: usize,
    /// The streams to each process by number; `None` at its own.
    pub peers: Vec<Option<[UnixStream; STREAMS]>>,
    ending: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Shows no more than who is connected.
impl std::fmt::Debug for Mesh {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Mesh({} of {})", self.number, self.peers.len())
    }
}

/// The connections to one process.
pub(crate) type Remotes = [Box<dyn Stream>; STREAMS];

impl Mesh {
    /// Begins to move bytes. The connections belong to the runtime, which goes to a thread.
    pub(crate) fn begin(
        runtime: Runtime,
        number: usize,
        remotes: Vec<Option<Remotes>>,
        pace: Pace,
    ) -> Result<Self, LinkError> {
        let ending = watch::Sender::new(false);
        let (mut peers, mut tasks) = (Vec::new(), JoinSet::new());
        let guard = runtime.enter();
        for remotes in remotes {
            let Some(remotes) = remotes else {
                peers.push(None);
                continue;
            };
            let pairs = [UnixStream::pair()?, UnixStream::pair()?];
            let mut locals = Vec::new();
            for (local, remote) in
                pairs.each_ref().map(|(_, local)| local.try_clone()).into_iter().zip(remotes)
            {
                let local = local?;
                local.set_nonblocking(true)?;
                locals.push((tokio::net::UnixStream::from_std(local)?, remote));
            }
            peers.push(Some(pairs.map(|(stream, _)| stream)));
            tasks.spawn(serve(locals, pace, ending.subscribe()));
        }
        drop(guard);
        let thread = if tasks.is_empty() {
            None
        } else {
            let work = move || {
                runtime.block_on(tasks.join_all());
            };
            Some(std::thread::Builder::new().name("mesh".into()).spawn(work)?)
        };
        Ok(Self { number, peers, ending, thread })
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.peers.clear();
        self.ending.send_replace(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves all streams to one process. When one is lost, the process is: all of them end.
async fn serve(
    locals: Vec<(tokio::net::UnixStream, Box<dyn Stream>)>,
    pace: Pace,
    ending: watch::Receiver<bool>,
) {
    let mut tunnels = JoinSet::new();
    let lost = watch::Sender::new(false);
    for (mut local, remote) in locals {
        let (ending, is_lost, lost) = (ending.clone(), lost.subscribe(), lost.clone());
        tunnels.spawn(async move {
            let outcome = tokio::select! {
                outcome = tunnel(&mut local, remote, pace, ending) => outcome,
                () = becomes_true(is_lost) => Ok(()),
            };
            if outcome.is_err() {
                lost.send_replace(true);
            }
            close(&local);
        });
    }
    tunnels.join_all().await;
}

/// Shuts a stream down both ways: the other end reads what was delivered, then the end.
fn close(local: &tokio::net::UnixStream) {
    let Ok(direct) = local.as_fd().try_clone_to_owned() else { return };
    let mut direct = UnixStream::from(direct);
    let _ = direct.shutdown(Shutdown::Both);
    // Unread bytes would turn the end into an error.
    let mut rest = [0; 4096];
    while let Ok(1..) = direct.read(&mut rest) {}
}
