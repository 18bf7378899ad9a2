//! A server with a feed that a test moves, raw requests, and a page that is a WebSocket client.

use futures_util::{SinkExt, StreamExt};
use mpiscope_feed::exchange::{Outgoing, PerspectiveMessage};
use mpiscope_feed::message::Message;
use mpiscope_feed::{CallSource, FeedState, Job, JobState, Library, RankRow, Update};
use mpiscope_model::{Call, Comm, Losses, Nanoseconds, Node, ProcessState, Rank, Totals};
use mpiscope_server::{Options, Publisher, Server, Token, live};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Error};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Longer than any test takes, also on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) type Page = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A run of one call.
#[derive(Debug)]
pub(crate) struct OneCall;

impl CallSource for OneCall {
    fn visit(&self, _: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        visitor(&Call {
            rank: Rank(3),
            function: 7,
            start_ns: 100,
            end_ns: 250,
            peer: Some(Rank(1)),
            tag: Some(9),
            bytes: 64,
            comm: Some(Comm::WORLD),
            ..Call::default()
        });
        Ok(())
    }
}

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    pub(crate) publisher: Publisher,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) serving: JoinHandle<()>,
    ranks: Vec<RankRow>,
    now_ns: u64,
}

pub(crate) fn token() -> Token {
    Token::from_bytes(*b"0123456789abcdef")
}

pub(crate) async fn start(change: impl FnOnce(&mut Options)) -> Running {
    start_with(Arc::new(Library::new(Box::new(OneCall))), change).await
}

/// Of a run that can be asked for other things too.
pub(crate) async fn start_with(
    library: impl Into<Arc<Library>>,
    change: impl FnOnce(&mut Options),
) -> Running {
    let mut options = Options::new(token());
    // No page is dropped because this machine is busy; tests of these limits set shorter ones.
    options.send_timeout = 2 * PATIENCE;
    options.silence_timeout = 2 * PATIENCE;
    options.program_patience = 2 * PATIENCE;
    change(&mut options);
    let bound = Server::bind(Server::DEFAULT_ADDRESS, options).await.unwrap();
    let (address, url) = (bound.local_address(), bound.page_url());
    let (publisher, source) = live(FeedState::new(Job::default()), library.into());
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(bound.serve(source, async {
        let _ = stopped.await;
    }));
    Running { address, url, publisher, stop, serving, ranks: Vec::new(), now_ns: 0 }
}

impl Running {
    /// The next update; this many ranks change with it.
    pub(crate) fn publish(&mut self, ranks: u32, state: JobState) -> u64 {
        self.now_ns += 100_000_000;
        let row = |rank| RankRow {
            rank,
            node: Node(0),
            calls: self.now_ns,
            sent: 0,
            received: 0,
            bytes_sent: 0,
            mpi_time_ns: 0,
            run_ns: 0,
            wait_ns: 0,
            involuntary: 0,
            state: ProcessState::Running,
            ended_ns: 0,
        };
        self.ranks = Rank::all(ranks).map(row).collect();
        let job = Job { state, ranks, ..Job::default() };
        self.publisher.publish(&Update {
            now_ns: self.now_ns,
            lag_ns: 0,
            job: &job,
            totals: Totals::default(),
            losses: Losses::default(),
            functions: &[],
            ranks: &self.ranks,
            nodes: &[],
            timeline: &[],
            in_flight: &[],
            hangs: &mpiscope_feed::Hangs::default(),
            switch: &mpiscope_feed::Switch::default(),
            calls: &[],
            faults: &[],
            found: None,
        })
    }

    pub(crate) fn cookie(&self) -> String {
        format!("mpiscope_{}={}", self.address.port(), token().hex())
    }

    /// Sends one raw request and returns all that comes back.
    pub(crate) async fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// GET with the right Host and these other headers, each with its line end.
    pub(crate) async fn get(&self, path: &str, headers: &str) -> String {
        let host = self.address;
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")).await
    }

    pub(crate) async fn health(&self) -> serde_json::Value {
        let answer = self.get("/health", &format!("Cookie: {}\r\n", self.cookie())).await;
        serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
    }

    /// Waits until this number of pages is open.
    pub(crate) async fn until_viewers(&self, count: u32) {
        let count_them = async {
            while self.health().await["viewers"] != count {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, count_them).await.unwrap_or_else(|_| panic!("there are never {count} open pages"));
    }

    pub(crate) async fn open(&self) -> Result<Page, Error> {
        self.open_from(Some(&format!("http://{}", self.address)), &self.cookie()).await
    }

    pub(crate) async fn open_from(&self, origin: Option<&str>, cookie: &str) -> Result<Page, Error> {
        let mut request = format!("ws://{}/feed", self.address).into_client_request().unwrap();
        request.headers_mut().insert("cookie", cookie.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        tokio_tungstenite::connect_async(request).await.map(|(page, _)| page)
    }
}

/// The status of a refused WebSocket.
pub(crate) fn refused(result: Result<Page, Error>) -> u16 {
    match result {
        Err(Error::Http(response)) => response.status().as_u16(),
        other => panic!("expected a refusal, got {:?}", other.map(|_| "an open page")),
    }
}

/// Something that came from the server.
#[derive(Debug)]
pub(crate) enum Heard {
    Message(Outgoing),
    Closed(Option<u16>),
}

pub(crate) async fn hear(page: &mut Page) -> Heard {
    loop {
        match timeout(PATIENCE, page.next()).await.unwrap() {
            Some(Ok(tungstenite::Message::Binary(bytes))) => {
                return Heard::Message(Outgoing::decode(&bytes).unwrap());
            }
            Some(Ok(tungstenite::Message::Close(frame))) => {
                return Heard::Closed(frame.map(|frame| frame.code.into()));
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Heard::Closed(None),
        }
    }
}

/// The next feed message; nothing once the server closed.
pub(crate) async fn next(page: &mut Page) -> Option<Message> {
    loop {
        match hear(page).await {
            Heard::Message(Outgoing::State(message)) => return Some(*message),
            Heard::Closed(_) => return None,
            _ => {}
        }
    }
}

/// The next word of the shared clock.
pub(crate) async fn perspective(page: &mut Page) -> PerspectiveMessage {
    loop {
        if let Heard::Message(Outgoing::Perspective(message)) = hear(page).await {
            return message;
        }
    }
}

/// Sends what a page sends.
pub(crate) async fn say(page: &mut Page, message: serde_json::Value) {
    let bytes = rmp_serde::to_vec_named(&message).unwrap();
    page.send(tungstenite::Message::binary(bytes)).await.unwrap();
}
