//! The port of a process: who calls there proves itself first. Strangers are few at a time, and timed.

use crate::encryption::Accepting;
use crate::greeting::{Guest, let_in};
use crate::mesh::introduction::ProcessIntroduction;
use crate::secret::Secret;
use crate::tcp::accept;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Strangers at a time, and how long each may take to prove itself.
const MOST_STRANGERS: usize = 128;
const STRANGERS_PATIENCE: Duration = Duration::from_secs(5);
/// Callers that have proved themselves and wait for an answer.
const MOST_GUESTS: usize = 16;
/// Connections that wait to be accepted: those of all processes, which may begin at once.
pub(crate) const MOST_ARRIVING: u32 = 1024;

/// A process that has proved itself.
pub(crate) type Caller = Guest<ProcessIntroduction>;

/// What a caller is checked with.
pub(crate) struct Doorkeeper {
    pub(crate) secret: Secret,
    pub(crate) accepting: Accepting,
    /// The number of this process.
    pub(crate) number: u32,
}

/// Callers that have proved themselves, one after the other. Nobody is let in once it is dropped.
pub(crate) struct Arrivals {
    guests: Receiver<Caller>,
    task: JoinHandle<()>,
}

impl Arrivals {
    pub(crate) fn begin(listener: TcpListener, doorkeeper: Doorkeeper) -> Self {
        let (send, guests) = channel(MOST_GUESTS);
        Self { guests, task: tokio::spawn(let_all_in(listener, Arc::new(doorkeeper), send)) }
    }

    pub(crate) async fn next(&mut self) -> Option<Caller> {
        self.guests.recv().await
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn let_all_in(listener: TcpListener, doorkeeper: Arc<Doorkeeper>, guests: Sender<Caller>) {
    let strangers = Arc::new(Semaphore::new(MOST_STRANGERS));
    loop {
        let stream = accept(&listener).await;
        let Ok(stranger) = Arc::clone(&strangers).try_acquire_owned() else { continue };
        let (doorkeeper, guests) = (Arc::clone(&doorkeeper), guests.clone());
        tokio::spawn(async move {
            let Doorkeeper { secret, accepting, number } = &*doorkeeper;
            let guest =
                timeout(STRANGERS_PATIENCE, let_in::<ProcessIntroduction>(stream, accepting, secret)).await;
            drop(stranger);
            match guest {
                Ok(Ok(guest)) if guest.introduction.to == *number => {
                    let _ = guests.send(guest).await;
                }
                Ok(Ok(guest)) => {
                    let wanted = guest.introduction.to;
                    guest.refuse(format!("it calls process {wanted}, and this is process {number}")).await;
                }
                _ => {}
            }
        });
    }
}
