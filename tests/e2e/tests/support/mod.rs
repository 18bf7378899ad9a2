//! The page as a program sees it: its address, plain requests, the feed.

pub(crate) mod exactness;
pub(crate) mod failing;
pub(crate) mod hosts;
pub(crate) mod numbers;
pub(crate) mod recordings;
pub(crate) mod turns;

use futures_util::{SinkExt as _, StreamExt as _};
use mpiscope_feed::exchange::{Answer, Outgoing};
use mpiscope_feed::message::Message;
use mpiscope_harness::{LIMIT, Mpi, Running, mpiscope, processes};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use tokio::net::TcpStream as Stream;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// A simulated job on four nodes, shown live; its disturbance and length are arguments.
pub(crate) const MODELLED_LIVE: [&str; 11] = [
    "synth",
    "--pattern",
    "halo2d",
    "--ranks",
    "16",
    "--nodes",
    "4",
    "--rate",
    "20000",
    "--live",
    "127.0.0.1:0",
];

/// The address that was printed, in parts.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Page {
    /// Waits for the line that begins so.
    pub(crate) fn open(running: &Running, begins: &str) -> Self {
        let find = || {
            let errors = running.errors_until_now();
            let line = errors.lines().find(|line| line.starts_with(begins))?.to_owned();
            // The end of the line may not have been written yet.
            errors.contains(&format!("{line}\n")).then_some(line)
        };
        let line = processes::until(LIMIT, find).expect("no address is printed");
        let url = line.split_whitespace().last().unwrap();
        let (address, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Self { address: address.parse().unwrap(), token: token.to_owned() }
    }

    pub(crate) fn cookie(&self) -> String {
        format!("mpiscope_{}={}", self.address.port(), self.token)
    }

    /// The answer to a GET with these further header lines.
    pub(crate) fn get(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let host = self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

pub(crate) fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// An open feed.
pub(crate) struct Feed(WebSocketStream<MaybeTlsStream<Stream>>);

impl Feed {
    pub(crate) async fn open(page: &Page) -> Self {
        Self::try_open(page).await.unwrap()
    }

    /// The feed, if the server lets anybody in.
    pub(crate) async fn try_open(page: &Page) -> Result<Self, tungstenite::Error> {
        let mut request = format!("ws://{}/feed", page.address).into_client_request().unwrap();
        request.headers_mut().insert("cookie", page.cookie().parse().unwrap());
        request.headers_mut().insert("origin", format!("http://{}", page.address).parse().unwrap());
        Ok(Self(tokio_tungstenite::connect_async(request).await?.0))
    }

    /// The next message; nothing once the server closed.
    pub(crate) async fn hear(&mut self) -> Option<Outgoing> {
        while let Some(Ok(message)) = tokio::time::timeout(LIMIT, self.0.next()).await.unwrap() {
            if let tungstenite::Message::Binary(bytes) = message {
                return Some(Outgoing::decode(&bytes).unwrap());
            }
        }
        None
    }

    /// Sends a command, or a question.
    pub(crate) async fn send(&mut self, message: serde_json::Value) {
        self.0.send(tungstenite::Message::binary(rmp_serde::to_vec_named(&message).unwrap())).await.unwrap();
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&mut self, question: serde_json::Value) -> Answer {
        self.send(question).await;
        loop {
            if let Outgoing::Answer(answer) = self.hear().await.unwrap() {
                return *answer;
            }
        }
    }

    /// The next state.
    pub(crate) async fn state(&mut self) -> Message {
        loop {
            if let Outgoing::State(message) = self.hear().await.unwrap() {
                return *message;
            }
        }
    }

    /// The states that come until the server closes.
    pub(crate) async fn all(mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        while let Some(heard) = self.hear().await {
            if let Outgoing::State(message) = heard {
                messages.push(*message);
            }
        }
        messages
    }
}

/// Starts a program under `mpiscope run`, with a page.
pub(crate) fn run_with_page(mpi: &Mpi, ranks: u32, app: &str, arguments: &[&str], out: &Path) -> Running {
    run_with_options(mpi, ranks, (app, arguments), out, &[])
}

/// Likewise with these options of `run`.
pub(crate) fn run_with_options(
    mpi: &Mpi,
    ranks: u32,
    (app, arguments): (&str, &[&str]),
    out: &Path,
    options: &[&str],
) -> Running {
    let mut command = mpiscope(&["run", "--out"]).unwrap();
    command.arg(out).args(options).arg("--").args(mpi.words(ranks, &mpi.app(app).unwrap(), arguments));
    mpi.prepare(&mut command).unwrap();
    Running::start(&mut command).unwrap()
}

/// A file for `--hostfile` that has two more processes on this host.
pub(crate) fn hosts_for_two_more(folder: &Path) -> String {
    let hosts = folder.join("hosts");
    std::fs::write(&hosts, "localhost slots=2\nlocalhost processes=3 # with the daemon\n").unwrap();
    hosts.to_str().unwrap().to_owned()
}

/// Runs one thing after another, on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
