//! Opening a recording with the program, and asking what a page asks.

use crate::spread;
use anyhow::{Context as _, Result, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use mpiscope_feed::exchange::{Answer, Outgoing};
use mpiscope_recording::Recording;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

const QUESTIONS: usize = 40;
/// As many bins as a wide window has points.
const BINS: u64 = 1_400;
/// As many calls as a page draws.
const CALLS: u64 = 40_000;
/// Steps of going through the whole run.
const STEPS: u64 = 400;

pub(crate) fn measure(words: impl Iterator<Item = String>) -> Result<()> {
    let mut words: Vec<String> = words.collect();
    let is_cold = words.iter().position(|word| word == "--cold").map(|at| words.remove(at)).is_some();
    let [program, dir] = words.as_slice() else { bail!("read needs a program and a recording") };
    let recording = Recording::open(Path::new(dir))?;
    let end_ns = recording.call_segments().iter().map(|segment| segment.to_ns).max().unwrap_or_default();
    println!("{dir}: {} calls in {:.1} s", recording.manifest().totals.calls, end_ns as f64 / 1e9);
    let forget = || if is_cold { forget(Path::new(dir)) } else { Ok(()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut opening = Vec::new();
        for _ in 0..5 {
            forget()?;
            let (page, seconds) = Replay::open(program, dir).await?;
            opening.push(seconds * 1e3);
            drop(page);
        }
        say("opening, until the page has its first picture", opening);
        let mut draw = Draw(7);
        let seeks: Vec<Value> = (0..QUESTIONS)
            .map(|_| {
                let at_ns = draw.below(end_ns);
                json!({"ask": "calls", "id": 1, "from_ns": at_ns, "to_ns": at_ns + 50_000_000, "most": CALLS})
            })
            .collect();
        let mut first = Vec::new();
        for seek in &seeks[..10] {
            forget()?;
            let (mut replay, _) = Replay::open(program, dir).await?;
            first.push(replay.timed(seek).await?);
        }
        say("first events of 50 ms after the first seek", first);
        let (mut replay, _) = Replay::open(program, dir).await?;
        say("of later seeks", replay.all(&seeks).await?);
        for zoom in 0..16 {
            let span_ns = end_ns >> zoom;
            let questions: Vec<Value> = (0..QUESTIONS / 4)
                .map(|_| {
                    let from_ns = draw.below((end_ns - span_ns).max(1));
                    json!({"ask": "timeline", "id": 1, "from_ns": from_ns, "to_ns": from_ns + span_ns, "bins": BINS})
                })
                .collect();
            let name = format!("timeline of {:.3} s", span_ns as f64 / 1e9);
            say(&name, replay.all(&questions).await?);
        }
        let to_then: Vec<Value> = (0..QUESTIONS / 4)
            .map(|_| json!({"ask": "history", "id": 1, "from_ns": 0, "to_ns": draw.below(end_ns)}))
            .collect();
        say("history until then", replay.all(&to_then).await?);
        for backward in [false, true] {
            let step_ns = end_ns / STEPS;
            let steps = (0..STEPS).map(|step| if backward { STEPS - 1 - step } else { step });
            let questions: Vec<Value> = steps
                .map(|step| {
                    let from_ns = step * step_ns;
                    json!({"ask": "calls", "id": 1, "from_ns": from_ns, "to_ns": from_ns + step_ns, "most": CALLS})
                })
                .collect();
            let begun = Instant::now();
            let figures = replay.all(&questions).await?;
            let rate = end_ns as f64 / 1e9 / begun.elapsed().as_secs_f64();
            let way = if backward { "backward" } else { "forward" };
            say(&format!("{way}, a step, at {rate:.0} times the run's speed"), figures);
        }
        println!("most memory: {} MiB", replay.most_memory_kib()? / 1024);
        Ok(())
    })
}

fn say(what: &str, figures: Vec<f64>) {
    let (least, median, greatest) = spread(figures);
    println!("{what}: {median:.1} [{least:.1}..{greatest:.1}] ms");
}

/// A recording on its page.
struct Replay {
    child: Child,
    feed: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Replay {
    /// Opens it; says the seconds until the first state came.
    async fn open(program: &str, dir: &str) -> Result<(Self, f64)> {
        let begun = Instant::now();
        let mut child = Command::new(program).args(["replay", dir]).stderr(Stdio::piped()).spawn()?;
        let errors = BufReader::new(child.stderr.take().context("no stderr")?);
        let mut lines = errors.lines();
        let url = lines.by_ref().map_while(Result::ok).find(|line| line.contains("http://"));
        let url = url.context("no address was printed")?;
        // Whoever closes the pipe ends the program at its next word.
        std::thread::spawn(move || lines.for_each(drop));
        let address = url.split_whitespace().last().context("no address")?;
        let (host, token) = address
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once("/?token="))
            .context("no token")?;
        let port = host.rsplit(':').next().context("no port")?;
        let mut request = format!("ws://{host}/feed").into_client_request()?;
        request.headers_mut().insert("cookie", format!("mpiscope_{port}={token}").parse()?);
        request.headers_mut().insert("origin", format!("http://{host}").parse()?);
        let (feed, _) = tokio_tungstenite::connect_async(request).await?;
        let mut replay = Self { child, feed };
        while !matches!(replay.hear().await?, Outgoing::State(_)) {}
        Ok((replay, begun.elapsed().as_secs_f64()))
    }

    async fn hear(&mut self) -> Result<Outgoing> {
        loop {
            let heard = tokio::time::timeout(Duration::from_secs(120), self.feed.next()).await?;
            if let Message::Binary(bytes) = heard.context("the page closed")?? {
                return Outgoing::decode(&bytes).map_err(|senseless| anyhow::anyhow!(senseless.0));
            }
        }
    }

    /// Asks; says the milliseconds until the answer was there.
    async fn timed(&mut self, question: &Value) -> Result<f64> {
        let begun = Instant::now();
        self.feed.send(Message::binary(rmp_serde::to_vec_named(question)?)).await?;
        let answer: Box<Answer> = loop {
            if let Outgoing::Answer(answer) = self.hear().await? {
                break answer;
            }
        };
        if let Some(error) = answer.error() {
            bail!("{question}: {error}");
        }
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }

    async fn all(&mut self, questions: &[Value]) -> Result<Vec<f64>> {
        let mut figures = Vec::new();
        for question in questions {
            figures.push(self.timed(question).await?);
        }
        Ok(figures)
    }

    fn most_memory_kib(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).context("the system does not say")
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Puts the files of a folder out of the system's memory.
fn forget(dir: &Path) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            forget(&path)?;
        } else {
            let file = std::fs::File::open(&path)?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
        }
    }
    Ok(())
}

/// The same numbers each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) % limit.max(1)
    }
}
