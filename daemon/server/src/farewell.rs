//! How a connection ends: the other side hears why.

use futures_util::future::join;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::time::timeout;
use warp::ws::{Message, WebSocket};

/// Sends why the connection ends, unless that was sent, and reads on until the other side has closed it too: a socket that
/// is closed with bytes unread takes back what was sent last.
pub(crate) async fn farewell(
    out: &mut SplitSink<WebSocket, Message>,
    incoming: &mut SplitStream<WebSocket>,
    close: Option<Message>,
    patience: Duration,
) {
    let send = async {
        // Errors here mean that there is nobody any more.
        let _ = match close {
            Some(close) => out.send(close).await,
            None => out.flush().await,
        };
    };
    // One that is sending itself may take nothing before that is read.
    let read = async { while let Some(Ok(_)) = incoming.next().await {} };
    let _ = timeout(patience, join(send, read)).await;
    let _ = timeout(patience, out.close()).await;
}
