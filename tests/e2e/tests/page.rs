//! The page of a running job: closed without its token, and live with it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use futures_util::StreamExt as _;
use mpiscope_feed::message::{Kind, Message};
use mpiscope_harness::{Mpi, Running, Truth, folder, mpiscope, processes};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

const LIMIT: Duration = Duration::from_secs(60);
const RANKS: u32 = 2;

/// The address that `mpiscope run` printed, in parts.
#[derive(Debug)]
struct Page {
    address: SocketAddr,
    token: String,
}

impl Page {
    fn of(running: &Running) -> Self {
        let find = || {
            let errors = running.errors_until_now();
            let line = errors.lines().find(|line| line.starts_with("mpiscope: live page"))?.to_owned();
            // The end of the line may not have been written yet.
            errors.contains(&format!("{line}\n")).then_some(line)
        };
        let line = processes::until(LIMIT, find).expect("no address is printed");
        let url = line.split_whitespace().last().unwrap();
        let (address, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Self { address: address.parse().unwrap(), token: token.to_owned() }
    }

    fn cookie(&self) -> String {
        format!("mpiscope_{}={}", self.address.port(), self.token)
    }

    /// The answer to a GET with these further header lines.
    fn get(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let host = self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// The messages of the feed until the server closes it.
async fn all_of_the_feed(page: &Page) -> Vec<Message> {
    let mut request = format!("ws://{}/feed", page.address).into_client_request().unwrap();
    request.headers_mut().insert("cookie", page.cookie().parse().unwrap());
    request.headers_mut().insert("origin", format!("http://{}", page.address).parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let mut messages = Vec::new();
    while let Some(Ok(message)) = tokio::time::timeout(LIMIT, socket.next()).await.unwrap() {
        if let tungstenite::Message::Binary(bytes) = message {
            messages.push(rmp_serde::from_slice(&bytes).unwrap());
        }
    }
    messages
}

fn run_with_page(mpi: &Mpi, seconds: &str, out: &std::path::Path) -> Running {
    let mut command = mpiscope(&["run", "--out"]).unwrap();
    command.arg(out).arg("--").args(mpi.words(RANKS, &mpi.app("linger").unwrap(), &[seconds, "500"]));
    mpi.prepare(&mut command).unwrap();
    Running::start(&mut command).unwrap()
}

#[test]
fn without_the_token_nothing_is_told() {
    let Some(mpi) = Mpi::all_or_skip("page without_the_token_nothing_is_told").into_iter().next() else {
        return;
    };
    let folder = folder().unwrap();
    let running = run_with_page(&mpi, "1", &folder.path().join("recording"));
    let page = Page::of(&running);
    assert!(page.address.ip().is_loopback(), "{page:?}");
    assert_eq!(page.token.len(), 32);
    let wrong = "0".repeat(32);
    for path in ["/", "/feed", "/health", "/nothing", &format!("/?token={wrong}")] {
        let answer = page.get(path, "");
        assert_eq!(status(&answer), 403, "{path}: {answer}");
    }
    let upgrade =
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    assert_eq!(status(&page.get("/feed", upgrade)), 403);
    assert_eq!(status(&page.get("/", &format!("Cookie: mpiscope_{}={wrong}\r\n", page.address.port()))), 403);

    let entered = page.get(&format!("/?token={}", page.token), "");
    assert!(status(&entered) == 303 && entered.contains(&page.cookie()), "{entered}");
    let html = page.get("/", &format!("Cookie: {}\r\n", page.cookie()));
    assert!(status(&html) == 200 && html.contains("<html"), "{html}");
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
}

#[test]
fn the_feed_grows_while_the_job_runs_and_ends_with_all_of_it() {
    for mpi in Mpi::all_or_skip("page the_feed_grows_while_the_job_runs_and_ends_with_all_of_it") {
        let folder = folder().unwrap();
        let running = run_with_page(&mpi, "2", &folder.path().join("recording"));
        let page = Page::of(&running);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let messages = runtime.block_on(all_of_the_feed(&page));
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_eq!(messages[0].kind, Kind::Snapshot);
        let totals: Vec<_> = messages.iter().filter_map(|message| message.totals).collect();
        let mut different: Vec<u64> = totals.iter().map(|totals| totals.messages).collect();
        assert!(different.is_sorted(), "{different:?}");
        different.dedup();
        assert!(different.len() > 5, "{different:?} of {} messages", messages.len());
        let truth = Truth::parse(&ended.stdout).unwrap();
        let last = totals.last().unwrap();
        assert_eq!((last.messages, last.bytes), truth.all_messages());
        assert_eq!(last.calls + last.polls, truth.all_calls());
        let job = messages.iter().filter_map(|message| message.job.as_ref()).next_back().unwrap();
        assert_eq!((job.ranks, job.exit), (RANKS, Some(0)));
    }
}
