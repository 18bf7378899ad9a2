//! One open page: its own pace, its own last number, at most one message in hand. One that gives no sign of life is
//! disconnected.

use crate::access::{Connected, OWNER, may_ask, needs, revoked};
use crate::farewell::farewell;
use crate::live::{Source, stopped};
use crate::stage::Seat;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use mpiscope_feed::exchange::{Answer, Command, Incoming, InvalidMessage, Question, REPLACEABLE};
use mpiscope_feed::{Access, encode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, broadcast, mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};
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
/// The close code for a token that was revoked.
const POLICY: u16 = 1008;
/// The close code for a fault of ours.
const INTERNAL_ERROR: u16 = 1011;

/// Carries the feed to one page until it leaves, gets stuck, or the server ends.
pub(crate) async fn run(
    socket: WebSocket,
    source: Source,
    connected: Connected,
    readers: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
    patience: Patience,
) {
    let (mut out, mut incoming) = socket.split();
    let stage = Arc::clone(&source.stage);
    let (answer, answers) = mpsc::channel(ASKED_MAX);
    let asked = Arc::new(Semaphore::new(ASKED_MAX));
    let mut grant = connected.grant().clone();
    let connected = Arc::new(connected);
    let page = Page {
        source: source.clone(),
        connected: Arc::clone(&connected),
        readers,
        answer,
        asked,
        newest: Arc::default(),
    };
    let writer = Writer::new(&mut out, source, &connected, patience);
    let left = tokio::select! {
        left = listen(&mut incoming, &page, stage.enter(), patience.silence) => left,
        // A page that takes nothing is not waited for longer than others are.
        _ = writer.write(answers, stop) => Left::Ended,
        () = revoked(&mut grant) => Left::Revoked,
    };
    // Nobody waits for its answers any more.
    drop(page);
    if matches!(left, Left::Gone) {
        let _ = timeout(patience.farewell, out.close()).await;
    } else {
        farewell(&mut out, &mut incoming, left.reason(), patience.farewell).await;
    }
}

/// Why nothing more is read from a page.
enum Left {
    Gone,
    /// The server ends, or cannot go on.
    Ended,
    InvalidMessage(String),
    Revoked,
}

impl Left {
    /// The message that closes the connection, if the page is still there and has a reason to know.
    fn reason(self) -> Option<Message> {
        match self {
            Self::Gone | Self::Ended => None,
            Self::InvalidMessage(reason) => {
                Some(Message::close_with(UNSUPPORTED, reason.chars().take(100).collect::<String>()))
            }
            Self::Revoked => Some(Message::close_with(POLICY, "the link was revoked")),
        }
    }
}

/// What it takes to answer a page.
struct Page {
    source: Source,
    connected: Arc<Connected>,
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
    incoming: &mut SplitStream<WebSocket>,
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
            Ok(Incoming::Do(command)) => page.carry_out(command, &mut seat).await,
            Ok(Incoming::Ask(id, question)) => page.ask(id, question).await,
            Err(InvalidMessage(reason)) => return Left::InvalidMessage(reason),
        }
    }
    Left::Gone
}

impl Page {
    /// Does what the page may do, and says so where it may not.
    async fn carry_out(&self, command: Command, seat: &mut Seat<'_>) {
        let (tokens, grant) = (self.connected.tokens(), self.connected.grant());
        let done = match (grant.rights.check(needs(&command)), command) {
            (Err(refused), _) => Err(refused),
            (Ok(()), Command::Issue(asked)) => tokens.issue(grant, &asked).map(Some),
            (Ok(()), Command::Revoke(number)) => tokens.revoke(grant, number).map(|()| None),
            (Ok(()), command) => {
                match command {
                    Command::Follow(follow) => seat.follow(follow),
                    Command::Record(is_on) => self.source.stage.want(is_on),
                    command => self.source.stage.command(command, self.source.known()),
                }
                return;
            }
        };
        let (made, refused) = match done {
            Ok(made) => (made, String::new()),
            Err(refused) => (None, refused),
        };
        if let Ok(bytes) = encode(&Access { made, refused, ..tokens.message(grant) }) {
            // The page may have left meanwhile.
            let _ = self.answer.send(bytes).await;
        }
    }

    /// Sees to it that the answer comes. A page with as many questions open as it may have is not read from meanwhile.
    async fn ask(&self, id: u32, question: Question) {
        if let Err(reason) = may_ask(self.connected.grant(), &question) {
            if let Ok(bytes) = encode(&Answer::new(id, Err(reason))) {
                // The page may have left meanwhile.
                let _ = self.answer.send(bytes).await;
            }
            return;
        }
        // Before it waits for its turn: an answer in progress stops at once.
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

/// What a page is sent, one message at a time: a slow page holds one message and no queue.
struct Writer<'a> {
    out: &'a mut SplitSink<WebSocket, Message>,
    source: Source,
    connected: &'a Connected,
    /// The number of the last step of the feed that the page has.
    last: Option<u64>,
    panels: watch::Receiver<u64>,
    patience: Patience,
}

impl<'a> Writer<'a> {
    fn new(
        out: &'a mut SplitSink<WebSocket, Message>,
        source: Source,
        connected: &'a Connected,
        patience: Patience,
    ) -> Self {
        let panels = source.panels.changes();
        Self { out, source, connected, last: None, panels, patience }
    }

    /// Sends all that there is, and then what is new, until the server stops.
    async fn write(
        mut self,
        mut answers: mpsc::Receiver<Vec<u8>>,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), Gone> {
        let (mut ping, mut second) = (ticks(self.patience.silence / 3), ticks(Duration::from_secs(1)));
        let stage = Arc::clone(&self.source.stage);
        let mut moves = stage.changes();
        let (mut board, mut moment) = (self.source.board.changes(), ticks(ANNOTATIONS_EVERY));
        let mut has_news = self.source.board.version() > 0;
        let mut links = self.connected.tokens().changes();
        let mut panel_messages = self.greet().await?;
        loop {
            tokio::select! {
                () = self.source.changed() => self.catch_up().await?,
                // The stage lives as long as the source: this does not fail.
                _ = moves.changed() => self.tell_perspective().await?,
                _ = second.tick(), if stage.is_playing() => self.tell_perspective().await?,
                // The board too.
                _ = board.changed(), if !has_news => has_news = true,
                _ = moment.tick(), if has_news => {
                    board.mark_unchanged();
                    has_news = false;
                    self.tell_board().await?;
                }
                _ = links.changed(), if self.connected.grant().number == OWNER => self.tell_access().await?,
                _ = self.panels.changed() => self.tell_panels().await?,
                // A page that is too slow misses the oldest; the sender lives as long as the source.
                message = panel_messages.recv() => self.tell_panel_message(message.ok()).await?,
                Some(bytes) = answers.recv() => self.send(Message::binary(bytes)).await?,
                _ = ping.tick() => self.send(Message::ping(Vec::new())).await?,
                () = stopped(&mut stop) => break,
            }
        }
        timeout(self.patience.farewell, self.say_goodbye()).await.unwrap_or(Err(Gone))
    }

    /// Sends all that there is. Returns what panels send from now on.
    async fn greet(&mut self) -> Result<broadcast::Receiver<Arc<Vec<u8>>>, Gone> {
        self.tell_access().await?;
        self.catch_up().await?;
        self.tell_perspective().await?;
        let (newest, panel_messages) = self.source.panels.listen();
        self.tell_panels().await?;
        for bytes in newest {
            self.send(Message::binary(bytes.to_vec())).await?;
        }
        Ok(panel_messages)
    }

    async fn tell_access(&mut self) -> Result<(), Gone> {
        let encoded = encode(&self.connected.tokens().message(self.connected.grant()));
        self.tell(encoded).await
    }

    async fn tell_board(&mut self) -> Result<(), Gone> {
        let encoded = encode(&self.source.board.shown());
        self.tell(encoded).await
    }

    async fn tell_panels(&mut self) -> Result<(), Gone> {
        self.panels.mark_unchanged();
        let encoded = encode(&self.source.panels.tabs());
        self.tell(encoded).await
    }

    async fn tell_panel_message(&mut self, bytes: Option<Arc<Vec<u8>>>) -> Result<(), Gone> {
        let Some(bytes) = bytes else { return Ok(()) };
        // Of a panel it hears only when it knows the panel.
        if self.panels.has_changed().unwrap_or(false) {
            self.tell_panels().await?;
        }
        self.send(Message::binary(bytes.to_vec())).await
    }

    async fn tell_perspective(&mut self) -> Result<(), Gone> {
        let encoded = encode(&self.source.stage.message(self.source.known()));
        self.tell(encoded).await
    }

    /// Sends a message, if it can be written at all; the feed itself says so where it cannot.
    async fn tell<E>(&mut self, encoded: Result<Vec<u8>, E>) -> Result<(), Gone> {
        match encoded {
            Ok(bytes) => self.send(Message::binary(bytes)).await,
            Err(_) => Ok(()),
        }
    }

    /// Sends what the page misses.
    async fn catch_up(&mut self) -> Result<(), Gone> {
        loop {
            match self.source.next_after(self.last) {
                Ok(Some(step)) => {
                    self.send(Message::binary(step.bytes.to_vec())).await?;
                    self.last = Some(step.number);
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    let reason = error.to_string().chars().take(100).collect::<String>();
                    return self.send(Message::close_with(INTERNAL_ERROR, reason)).await.and(Err(Gone));
                }
            }
        }
    }

    async fn say_goodbye(&mut self) -> Result<(), Gone> {
        self.catch_up().await?;
        self.send(Message::close_with(GOING_AWAY, "mpiscope ends")).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        match timeout(self.patience.send, self.out.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }
}

/// Ticks so often, for the first time after one period; after a delay it does not catch up.
fn ticks(period: Duration) -> Interval {
    let mut ticks = interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
