//! The port of a process: who calls there proves itself first. Strangers are few at a time, and timed.

use crate::encryption::Accepting;
use crate::mesh::greeting::{Guest, let_in};
use crate::secret::Secret;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Strangers at a time, and how long each may take to prove itself.
const MOST_STRANGERS: usize = 128;
const STRANGERS_PATIENCE: Duration = Duration::from_secs(5);
/// Callers that have proved themselves and wait for an answer.
const MOST_GUESTS: usize = 16;
/// Connections that wait to be accepted: those of all processes, which may begin at once.
const MOST_ARRIVING: u32 = 1024;

/// Listens at an address.
pub(crate) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A port of a process that has just ended may be used again.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(MOST_ARRIVING)
}

/// What a caller is checked with.
pub(crate) struct Doorkeeper {
    pub(crate) secret: Secret,
    pub(crate) accepting: Accepting,
    /// The number of this process.
    pub(crate) number: u32,
}

/// Callers that have proved themselves, one after the other. Nobody is let in once it is dropped.
pub(crate) struct Arrivals {
    guests: Receiver<Guest>,
    task: JoinHandle<()>,
}

impl Arrivals {
    pub(crate) fn begin(listener: TcpListener, doorkeeper: Doorkeeper) -> Self {
        let (send, guests) = channel(MOST_GUESTS);
        Self { guests, task: tokio::spawn(accept(listener, Arc::new(doorkeeper), send)) }
    }

    pub(crate) async fn next(&mut self) -> Option<Guest> {
        self.guests.recv().await
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, doorkeeper: Arc<Doorkeeper>, guests: Sender<Guest>) {
    let strangers = Arc::new(Semaphore::new(MOST_STRANGERS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // No more files to be had: those that are open go on.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(stranger) = Arc::clone(&strangers).try_acquire_owned() else { continue };
        let (doorkeeper, guests) = (Arc::clone(&doorkeeper), guests.clone());
        tokio::spawn(async move {
            let Doorkeeper { secret, accepting, number } = &*doorkeeper;
            let guest = timeout(STRANGERS_PATIENCE, let_in(stream, accepting, secret, *number)).await;
            drop(stranger);
            if let Ok(Ok(guest)) = guest {
                let _ = guests.send(guest).await;
            }
        });
    }
}
