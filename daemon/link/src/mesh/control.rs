//! The connection between process 0 and another one until all streams exist.

use crate::encryption::Stream;
use crate::error::LinkError;
use crate::listener::ALIVE_EVERY;
use crate::packet::{hear_any, say};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, split};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// The longest plan.
pub(crate) const MOST_PLAN_BYTES: usize = 1 << 20;
/// The longest notice: a plan, and what has to be known of all processes.
const MOST_BYTES: usize = MOST_PLAN_BYTES + (1 << 20);
/// Notices that wait to be sent.
const MOST_WAITING: usize = 4;
/// How long the other side may take to close the connection after the last notice.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Where a process listens for those with larger numbers, and how it is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PeerAddress {
    pub(crate) address: String,
    pub(crate) certificate: Option<String>,
}

/// The packets of this connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// Nothing new, but alive.
    Alive,
    /// From process 0: all others, from number 1, and the plan. The process is to connect now.
    Connect {
        peers: Vec<PeerAddress>,
        #[serde(with = "serde_bytes")]
        plan: Vec<u8>,
    },
    /// To process 0: all streams exist.
    Ready,
    /// From process 0: all streams of all processes exist.
    Begin,
    /// The streams will not exist, with the reason.
    Failed { why: String },
}

/// Something happened on the connection with the process of this number.
pub(crate) struct Event {
    pub(crate) number: usize,
    /// Counts the connections of all processes: an old one may be reported late.
    pub(crate) visit: u64,
    pub(crate) notice: Result<Notice, LinkError>,
}

/// One end of the connection.
pub(crate) struct Control {
    notices: Sender<Notice>,
    task: JoinHandle<()>,
}

impl Control {
    /// Takes over a connection. What arrives is sent to `events`; after an error nothing more.
    pub(crate) fn begin(stream: Box<dyn Stream>, number: usize, visit: u64, events: Sender<Event>) -> Self {
        let (notices, waiting) = channel(MOST_WAITING);
        Self { notices, task: tokio::spawn(serve(stream, number, visit, waiting, events)) }
    }

    /// Sends a notice. If it cannot be sent, an event says so.
    pub(crate) async fn say(&self, notice: Notice) {
        let _ = self.notices.send(notice).await;
    }
}

/// Waits until everything has gone out on all connections, but not for long.
pub(crate) async fn finish(controls: impl IntoIterator<Item = Control>) {
    let tasks: Vec<_> = controls.into_iter().map(|control| control.task).collect();
    let finished = async {
        for task in tasks {
            let _ = task.await;
        }
    };
    let _ = timeout(LAST_WORDS, finished).await;
}

async fn serve(
    stream: Box<dyn Stream>,
    number: usize,
    visit: u64,
    mut waiting: Receiver<Notice>,
    events: Sender<Event>,
) {
    let (mut reading, mut writing) = split(stream);
    let hear = async {
        loop {
            match hear_any(&mut reading, MOST_BYTES).await {
                Ok(Notice::Alive) => {}
                Ok(notice) => {
                    let _ = events.send(Event { number, visit, notice: Ok(notice) }).await;
                }
                Err(error) => return error,
            }
        }
    };
    let tell = async {
        loop {
            match timeout(ALIVE_EVERY, waiting.recv()).await {
                Ok(Some(notice)) => say(&mut writing, &notice).await?,
                Ok(None) => break,
                Err(_) => say(&mut writing, &Notice::Alive).await?,
            }
        }
        let _ = writing.shutdown().await;
        // A connection that is closed before the other side has closed it may lose the last words.
        sleep(LAST_WORDS).await;
        Err::<(), LinkError>(LinkError::Silence(LAST_WORDS.as_secs()))
    };
    let error = tokio::select! {
        error = hear => error,
        Err(error) = tell => error,
    };
    let _ = events.send(Event { number, visit, notice: Err(error) }).await;
}
