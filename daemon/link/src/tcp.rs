//! Ports and connections, as the agents of hosts and the processes of an analysis both need them.

use crate::error::LinkError;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;

/// Listens at an address; that many connections may wait to be accepted.
pub(crate) fn listen(address: SocketAddr, most_arriving: u32) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A process that takes over has the port of the one before.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(most_arriving)
}

/// Connects with an address that answers soon enough.
pub(crate) async fn connect(address: &str, patience: Duration) -> Result<TcpStream, LinkError> {
    match timeout(patience, TcpStream::connect(address)).await {
        Ok(stream) => Ok(stream?),
        Err(_) => Err(LinkError::Silence(patience.as_secs())),
    }
}

/// The next connection. When no more files can be had, those that are open go on.
pub(crate) async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}
