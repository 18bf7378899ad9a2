//! How a connection ends: the other side hears why.

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::time::timeout;
use warp::ws::{Message, WebSocket};

/// Says why the connection ends, unless that was said, and reads on until the other side has closed it too: a socket that
/// is closed with bytes unread takes back what was sent last.
pub(crate) async fn farewell(
    out: &mut SplitSink<WebSocket, Message>,
    incoming: &mut SplitStream<WebSocket>,
    close: Option<Message>,
    patience: Duration,
) {
    let parting = async {
        // Errors here mean that there is nobody any more.
        let sent = match close {
            Some(close) => out.send(close).await,
            None => out.flush().await,
        };
        while sent.is_ok() && matches!(incoming.next().await, Some(Ok(_))) {}
        let _ = out.close().await;
    };
    let _ = timeout(patience, parting).await;
}
