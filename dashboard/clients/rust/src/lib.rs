//! A client of mpiscope: receives calls, messages and verdicts of a run, and answers.
//!
//! Rows come as fast as the client reads, or in step with the clock that all views share. The client can move that clock,
//! and add notes and values that all views show.
//!
//! ```no_run
//! use mpiscope_client::{Client, Reply, Request, Subscribe, Topic};
//!
//! # async fn example() -> Result<(), mpiscope_client::Error> {
//! // The address that `mpiscope run` or `mpiscope replay` printed.
//! let mut client = Client::connect("http://127.0.0.1:4711/?token=...", "slow messages").await?;
//! let slow = Subscribe { at_least_ns: 1e6, ..Subscribe::new(Topic::Messages, 1) };
//! client.send(&Request::Subscribe(slow)).await?;
//! while let Some(reply) = client.next().await? {
//!     if let Reply::Batch(batch) = reply {
//!         println!("{} messages took longer than 1 ms", batch.rows());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! `examples/` has whole programs. The messages are those of `mpiscope-protocol`; `docs/protocol.md` explains them.

pub use mpiscope_protocol::*;

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

/// The environment variable for the address. Unlike an argument, other users of the machine do not see it.
pub const VARIABLE: &str = "MPISCOPE_ADDRESS";

/// The most bytes of one message: a batch of as many rows as can be asked for.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is not the whole one that mpiscope printed.
    #[error(
        "this is not the address of a page: give the whole one that mpiscope printed, as http://HOST:PORT/?token=..."
    )]
    Address,
    /// The environment has no address.
    #[error("there is no address: set {VARIABLE} to the whole one that mpiscope printed")]
    NoAddress,
    /// The token in the address is not that of the run.
    #[error("mpiscope refused the token (HTTP status 403): give the address that it printed last")]
    TokenRefused,
    /// Nobody answers there, what answers is not mpiscope, or the connection broke.
    #[error("cannot talk to mpiscope: {0}")]
    Connection(#[from] Box<tungstenite::Error>),
    /// mpiscope ended the connection before it greeted: it speaks another version of the protocol, or it ends.
    #[error("mpiscope ended the connection: {0}")]
    Refused(String),
    /// What came is no message of this protocol.
    #[error("mpiscope sent what is no message of protocol {VERSION}: {0}")]
    Unreadable(#[from] rmp_serde::decode::Error),
    /// A request cannot be written.
    #[error("a request cannot be written: {0}")]
    Unwritable(#[from] rmp_serde::encode::Error),
}

impl From<tungstenite::Error> for Error {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Http(response) if response.status() == StatusCode::FORBIDDEN => {
                Error::TokenRefused
            }
            error => Error::Connection(Box::new(error)),
        }
    }
}

/// The address in the environment variable [`VARIABLE`].
///
/// # Errors
/// When it is not set.
pub fn address() -> Result<String, Error> {
    std::env::var(VARIABLE).map_err(|_| Error::NoAddress)
}

/// A connection to mpiscope.
#[derive(Debug)]
pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    welcome: Welcome,
}

impl Client {
    /// Connects to the run or recording whose page is at an address, under a name that people see.
    ///
    /// # Errors
    /// When nobody is there, or the address has the wrong token.
    pub async fn connect(address: &str, name: &str) -> Result<Self, Error> {
        Self::connect_patiently(address, name, None).await
    }

    /// The same for a program that does not call [`Client::next`] for as long as `patience_ms`, up to a minute. Only
    /// `next` answers pings, and mpiscope drops whoever leaves them unanswered for 5 s, or for that long.
    ///
    /// # Errors
    /// As of [`Client::connect`].
    pub async fn connect_patiently(
        address: &str,
        name: &str,
        patience_ms: Option<u32>,
    ) -> Result<Self, Error> {
        let (host, token) = parse(address).ok_or(Error::Address)?;
        let mut request = format!("ws://{host}/programs").into_client_request()?;
        let bearer = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| Error::Address)?;
        request.headers_mut().insert(AUTHORIZATION, bearer);
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        // Small requests should not wait for more of them.
        let (mut socket, _) = connect_async_with_config(request, Some(config), true).await?;
        let hello = Hello { protocol: VERSION, name: name.to_owned(), format: Format::Msgpack, patience_ms };
        socket.send(Message::binary(rmp_serde::to_vec_named(&Request::Hello(hello))?)).await?;
        match read(&mut socket).await? {
            Read::Reply(reply) => match *reply {
                Reply::Welcome(welcome) => Ok(Self { socket, welcome }),
                other => Err(Error::Refused(format!("{other:?} came before its greeting"))),
            },
            Read::Closed(reason) => Err(Error::Refused(reason)),
        }
    }

    /// The newest greeting of mpiscope.
    #[must_use]
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// The name of a function.
    #[must_use]
    pub fn function_name(&self, id: u32) -> Option<&str> {
        let function = self.welcome.functions.iter().find(|function| function.id == id)?;
        Some(&function.name)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// When mpiscope is gone.
    pub async fn send(&mut self, request: &Request) -> Result<(), Error> {
        Ok(self.socket.send(Message::binary(rmp_serde::to_vec_named(request)?)).await?)
    }

    /// The next reply; nothing once mpiscope has ended. The future may be dropped while it waits; nothing is lost.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn next(&mut self) -> Result<Option<Reply>, Error> {
        let reply = match read(&mut self.socket).await? {
            Read::Reply(reply) => *reply,
            Read::Closed(_) => return Ok(None),
        };
        if let Reply::Welcome(welcome) = &reply {
            self.welcome.clone_from(welcome);
        }
        Ok(Some(reply))
    }

    /// Leaves. Requests that were sent before are still carried out; whoever drops a client may lose some.
    ///
    /// # Errors
    /// When the connection is broken already.
    pub async fn close(mut self) -> Result<(), Error> {
        self.socket.close(None).await?;
        // What is on the way has to be read, or else the system would break the connection with requests in it.
        while let Some(Ok(_)) = self.socket.next().await {}
        Ok(())
    }
}

enum Read {
    Reply(Box<Reply>),
    Closed(String),
}

async fn read(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> Result<Read, Error> {
    while let Some(message) = socket.next().await {
        match message {
            Ok(Message::Binary(bytes)) => return Ok(Read::Reply(Box::new(rmp_serde::from_slice(&bytes)?))),
            Ok(Message::Close(frame)) => {
                return Ok(Read::Closed(frame.map_or_else(String::new, |frame| frame.reason.to_string())));
            }
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Read::Closed(String::new()))
}

/// The host with its port, and the token.
fn parse(address: &str) -> Option<(&str, &str)> {
    let rest = address.trim().strip_prefix("http://")?;
    let (host, path) = rest.split_once('/')?;
    let token = path.strip_prefix('?')?.split('&').find_map(|pair| pair.strip_prefix("token="))?;
    (!host.is_empty() && !token.is_empty()).then_some((host, token))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn no_error_shows_the_token() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for address in ["https://h/?token=secret", "http://h:x/?token=secret", "http://h/?token=sec\u{7f}ret"]
        {
            let error = runtime.block_on(super::Client::connect(address, "x")).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("sec"), "{error:?}");
        }
    }

    #[test]
    fn the_whole_address_is_needed() {
        assert_eq!(parse("http://127.0.0.1:80/?token=ab\n"), Some(("127.0.0.1:80", "ab")));
        assert_eq!(parse("http://[::1]:80/?a=b&token=ab"), Some(("[::1]:80", "ab")));
        for address in ["", "127.0.0.1:80", "http://127.0.0.1:80/", "http:///?token=ab", "http://h:1/?token="]
        {
            assert_eq!(parse(address), None, "{address}");
        }
    }
}
