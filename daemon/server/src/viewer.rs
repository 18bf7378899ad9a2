//! One open page: its own pace, its own last number, at most one message in hand.

use crate::live::{Source, stopped};
use futures_util::stream::SplitStream;
use futures_util::{Sink, SinkExt, StreamExt};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use warp::ws::{Message, WebSocket};

/// How long a page may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// To take one message.
    pub(crate) send: Duration,
    /// Between two signs of life; it is asked for one three times as often.
    pub(crate) silence: Duration,
    /// To take the last state when the server ends.
    pub(crate) farewell: Duration,
}

/// The page's connection is no use any more.
struct Gone;

/// The close code for a server that ends.
const GOING_AWAY: u16 = 1001;
/// The close code for a fault of ours.
const INTERNAL_ERROR: u16 = 1011;

/// Carries the feed to one page until it leaves, gets stuck, or the server ends.
pub(crate) async fn run(socket: WebSocket, source: Source, stop: watch::Receiver<bool>, patience: Patience) {
    let (mut out, incoming) = socket.split();
    tokio::select! {
        () = listen(incoming, patience.silence) => {}
        _ = write(&mut out, source, stop, patience) => {}
    }
    // Says goodbye when there is somebody; errors here mean that there is not.
    let _ = timeout(patience.farewell, out.close()).await;
}

/// Returns when the page closes, sends too much, or was silent for too long.
async fn listen(mut incoming: SplitStream<WebSocket>, silence: Duration) {
    while let Ok(Some(Ok(message))) = timeout(silence, incoming.next()).await {
        if message.is_close() {
            return;
        }
    }
}

async fn write<S>(
    out: &mut S,
    mut source: Source,
    mut stop: watch::Receiver<bool>,
    patience: Patience,
) -> Result<(), Gone>
where
    S: Sink<Message, Error = warp::Error> + Unpin,
{
    let mut last = None;
    let every = patience.silence / 3;
    let mut ping = interval_at(Instant::now() + every, every);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        catch_up(out, &source, &mut last, patience.send).await?;
        tokio::select! {
            () = source.changed() => {}
            _ = ping.tick() => send(out, Message::ping(Vec::new()), patience.send).await?,
            () = stopped(&mut stop) => break,
        }
    }
    let farewell = async {
        catch_up(out, &source, &mut last, patience.send).await?;
        send(out, Message::close_with(GOING_AWAY, "mpiscope ends"), patience.send).await
    };
    timeout(patience.farewell, farewell).await.unwrap_or(Err(Gone))
}

/// Sends what the page misses, one message at a time, so that a slow page holds one message and no queue.
async fn catch_up<S>(
    out: &mut S,
    source: &Source,
    last: &mut Option<u64>,
    patience: Duration,
) -> Result<(), Gone>
where
    S: Sink<Message, Error = warp::Error> + Unpin,
{
    loop {
        match source.next_after(*last) {
            Ok(Some(step)) => {
                send(out, Message::binary(step.bytes.to_vec()), patience).await?;
                *last = Some(step.number);
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                let reason = error.to_string().chars().take(100).collect::<String>();
                return send(out, Message::close_with(INTERNAL_ERROR, reason), patience).await.and(Err(Gone));
            }
        }
    }
}

async fn send<S>(out: &mut S, message: Message, patience: Duration) -> Result<(), Gone>
where
    S: Sink<Message, Error = warp::Error> + Unpin,
{
    match timeout(patience, out.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Gone),
    }
}
