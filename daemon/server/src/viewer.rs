//! One open page: its own pace, its own last number, at most one message in hand.

use crate::live::{Source, stopped};
use crate::stage::Seat;
use futures_util::stream::SplitStream;
use futures_util::{Sink, SinkExt, StreamExt};
use mpiscope_feed::encode;
use mpiscope_feed::exchange::{Command, Incoming, Question, REPLACEABLE, Senseless};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;
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

/// Questions of one page that wait for their answers.
const ASKED_MAX: usize = 8;

/// How often a page gets what other programs say, at the most.
const ANNOTATIONS_EVERY: Duration = Duration::from_millis(250);

/// The page's connection is no use any more.
struct Gone;

/// The close code for a server that ends.
const GOING_AWAY: u16 = 1001;
/// The close code for what makes no sense.
const UNSUPPORTED: u16 = 1003;
/// The close code for a fault of ours.
const INTERNAL_ERROR: u16 = 1011;

/// Carries the feed to one page until it leaves, gets stuck, or the server ends.
pub(crate) async fn run(
    socket: WebSocket,
    source: Source,
    readers: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
    patience: Patience,
) {
    let (mut out, incoming) = socket.split();
    let stage = Arc::clone(&source.stage);
    let (answer, answers) = mpsc::channel(ASKED_MAX);
    let asked = Arc::new(Semaphore::new(ASKED_MAX));
    let page = Page { source: source.clone(), readers, answer, asked, newest: Arc::default() };
    let left = tokio::select! {
        left = listen(incoming, &page, stage.enter(), patience.silence) => left,
        _ = write(&mut out, source, answers, stop, patience) => Left::Gone,
    };
    if let Left::Senseless(reason) = left {
        // Says why when there is somebody; errors here mean that there is not.
        let reason: String = reason.chars().take(100).collect();
        let _ = timeout(patience.farewell, out.send(Message::close_with(UNSUPPORTED, reason))).await;
    }
    let _ = timeout(patience.farewell, out.close()).await;
}

/// Why nothing more is read from a page.
enum Left {
    Gone,
    Senseless(String),
}

/// What it takes to answer a page.
struct Page {
    source: Source,
    /// Questions of all pages together that may read files at a time.
    readers: Arc<Semaphore>,
    answer: mpsc::Sender<Vec<u8>>,
    asked: Arc<Semaphore>,
    /// How many questions of each replaceable kind it asked: an answer to another than the last is not wanted any more.
    newest: Arc<[AtomicU64; REPLACEABLE]>,
}

/// Nobody waits for answers any more.
impl Drop for Page {
    fn drop(&mut self) {
        self.newest.iter().for_each(|newest| newest.store(u64::MAX, Ordering::Release));
    }
}

/// Returns when the page closes, sends what makes no sense, or was silent for too long.
async fn listen(
    mut incoming: SplitStream<WebSocket>,
    page: &Page,
    mut seat: Seat<'_>,
    silence: Duration,
) -> Left {
    while let Ok(Some(Ok(message))) = timeout(silence, incoming.next()).await {
        if message.is_close() {
            break;
        }
        if !message.is_binary() && !message.is_text() {
            continue;
        }
        match Incoming::decode(message.as_bytes()) {
            Ok(Incoming::Do(Command::Follow(follow))) => seat.follow(follow),
            Ok(Incoming::Do(Command::Record(is_on))) => page.source.stage.want(is_on),
            Ok(Incoming::Do(command)) => page.source.stage.command(command, page.source.known()),
            Ok(Incoming::Ask(id, question)) => page.ask(id, question).await,
            Err(Senseless(reason)) => return Left::Senseless(reason),
        }
    }
    Left::Gone
}

impl Page {
    /// Sees to it that the answer comes. A page with as many questions open as it may have is not read from meanwhile.
    async fn ask(&self, id: u32, question: Question) {
        // Before it waits for its turn, so that what is being answered stops at once.
        let number = question.replaceable().map(|kind| {
            let number = self.newest[kind].fetch_add(1, Ordering::AcqRel).wrapping_add(1);
            (kind, number)
        });
        let newest = Arc::clone(&self.newest);
        let is_wanted =
            move || number.is_none_or(|(kind, number)| newest[kind].load(Ordering::Acquire) == number);
        let Ok(asked) = Arc::clone(&self.asked).acquire_owned().await else { return };
        let (library, readers) = (Arc::clone(&self.source.library), Arc::clone(&self.readers));
        let answer = self.answer.clone();
        tokio::spawn(async move {
            let Ok(reader) = readers.acquire_owned().await else { return };
            let found =
                spawn_blocking(move || encode(&library.answer_while(id, &question, &is_wanted))).await;
            drop(reader);
            if let Ok(Ok(bytes)) = found {
                // The page may have left meanwhile.
                let _ = answer.send(bytes).await;
            }
            drop(asked);
        });
    }
}

async fn write<S>(
    out: &mut S,
    mut source: Source,
    mut answers: mpsc::Receiver<Vec<u8>>,
    mut stop: watch::Receiver<bool>,
    patience: Patience,
) -> Result<(), Gone>
where
    S: Sink<Message, Error = warp::Error> + Unpin,
{
    let mut last = None;
    let every = |period| {
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    };
    let mut ping = every(patience.silence / 3);
    let mut second = every(Duration::from_secs(1));
    let stage = Arc::clone(&source.stage);
    let mut moves = stage.changes();
    let mut board = source.board.changes();
    let mut moment = every(ANNOTATIONS_EVERY);
    let mut has_news = source.board.version() > 0;
    catch_up(out, &source, &mut last, patience.send).await?;
    tell_perspective(out, &source, patience.send).await?;
    loop {
        tokio::select! {
            () = source.changed() => catch_up(out, &source, &mut last, patience.send).await?,
            // The stage lives as long as the source, so that this does not fail.
            _ = moves.changed() => tell_perspective(out, &source, patience.send).await?,
            _ = second.tick(), if stage.is_playing() => tell_perspective(out, &source, patience.send).await?,
            // The board too.
            _ = board.changed(), if !has_news => has_news = true,
            _ = moment.tick(), if has_news => {
                board.mark_unchanged();
                has_news = false;
                if let Ok(bytes) = encode(&source.board.shown()) {
                    send(out, Message::binary(bytes), patience.send).await?;
                }
            }
            Some(bytes) = answers.recv() => send(out, Message::binary(bytes), patience.send).await?,
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

async fn tell_perspective<S>(out: &mut S, source: &Source, patience: Duration) -> Result<(), Gone>
where
    S: Sink<Message, Error = warp::Error> + Unpin,
{
    match encode(&source.stage.message(source.known())) {
        Ok(bytes) => send(out, Message::binary(bytes), patience).await,
        // The feed itself will say so.
        Err(_) => Ok(()),
    }
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
