//! Serves a client: its requests, its subscriptions one batch at a time, and what others say.

use super::board;
use super::client::{Client, ConnectionEnd, LaterReply, Program, REQUESTS_MAX};
use super::liveness::LOOK_EVERY;
use super::reading::{Read, finished};
use super::requests::{self, read};
use crate::access::revoked;
use crate::farewell::farewell;
use crate::live::{Source, stopped};
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use mpiscope_feed::exchange::Command;
use mpiscope_protocol::{Clock, Failed, Hello, Mode, Reply, Request, VERSION, Welcome};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, timeout};
use warp::ws::{Message, WebSocket};

/// To say who it is.
const GREETING: Duration = Duration::from_secs(4);
/// To take the last rows when the server ends.
const FAREWELL: Duration = Duration::from_millis(1_500);
/// How often subscriptions in step with a running clock are looked after, and how often moves of the clock are sent.
const FRAME: Duration = Duration::from_millis(33);
/// A close frame holds no more.
const REASON_BYTES_MAX: usize = 120;
/// The close code for what is against the protocol.
const PROTOCOL_ERROR: u16 = 1002;
/// The close code for a server that ends.
const GOING_AWAY: u16 = 1001;
/// The close code for a token that was revoked.
const POLICY: u16 = 1008;

/// Serves a client until it leaves, gets stuck, or the server ends.
pub(crate) async fn run(socket: WebSocket, program: Program, mut stop: watch::Receiver<bool>) {
    let (mut out, mut incoming) = socket.split();
    let mut grant = program.connected.grant().clone();
    let greeting = tokio::select! {
        greeting = greeted(&mut incoming) => greeting,
        () = revoked(&mut grant) => Err(ConnectionEnd::Revoked),
    };
    let ended = match greeting {
        Ok(hello) => {
            let (requests, mut inbox) = mpsc::channel(REQUESTS_MAX);
            let signs = Arc::new(AtomicU64::new(0));
            let mut client = Client::join(program, &hello, &mut out, Arc::clone(&signs));
            let ended = tokio::select! {
                ended = listen(&mut incoming, requests, &signs) => ended,
                ended = client.serve(&mut inbox, &mut stop) => ended,
                () = revoked(&mut grant) => ConnectionEnd::Revoked,
            };
            if !matches!(ended, ConnectionEnd::Revoked) {
                client.finish(&mut inbox).await;
            }
            ended
        }
        Err(ended) => ended,
    };
    let close = match ended {
        // Nobody is waited for who is not there.
        ConnectionEnd::Gone => return,
        ConnectionEnd::Wrong(reason) => {
            Message::close_with(PROTOCOL_ERROR, requests::shortened(&reason, REASON_BYTES_MAX))
        }
        ConnectionEnd::Stopped => Message::close_with(GOING_AWAY, "mpiscope ends"),
        ConnectionEnd::Revoked => Message::close_with(POLICY, "the token was revoked"),
    };
    farewell(&mut out, &mut incoming, Some(close), FAREWELL).await;
}

/// The first message, which says who this is.
async fn greeted(incoming: &mut SplitStream<WebSocket>) -> Result<Hello, ConnectionEnd> {
    let first = async {
        while let Some(Ok(message)) = incoming.next().await {
            if message.is_text() || message.is_binary() {
                return read(&message).map_err(ConnectionEnd::Wrong);
            }
        }
        Err(ConnectionEnd::Gone)
    };
    let Ok(first) = timeout(GREETING, first).await else { return Err(ConnectionEnd::Gone) };
    let Request::Hello(hello) = first? else {
        return Err(ConnectionEnd::Wrong("the first message is hello".to_owned()));
    };
    if hello.protocol != VERSION {
        return Err(ConnectionEnd::Wrong(format!("this is protocol {VERSION}, not {}", hello.protocol)));
    }
    Ok(Hello { name: board::name(&hello.name).map_err(ConnectionEnd::Wrong)?, ..hello })
}

/// Reads requests. While none is taken, nothing is read.
async fn listen(
    incoming: &mut SplitStream<WebSocket>,
    requests: mpsc::Sender<Result<Request, Failed>>,
    signs: &AtomicU64,
) -> ConnectionEnd {
    while let Some(Ok(message)) = incoming.next().await {
        signs.fetch_add(1, Ordering::Relaxed);
        if message.is_close() {
            break;
        }
        if message.is_text() || message.is_binary() {
            let request = match read(&message) {
                // What is too large is let go here, before more of it waits.
                Ok(request) => requests::checked(request, message.as_bytes().len()),
                Err(reason) => return ConnectionEnd::Wrong(reason),
            };
            if requests.send(request).await.is_err() {
                break;
            }
        }
    }
    ConnectionEnd::Gone
}

/// Ticks at once and then so often; after a delay it does not catch up.
fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

impl Client<'_> {
    async fn serve(
        &mut self,
        inbox: &mut mpsc::Receiver<Result<Request, Failed>>,
        stop: &mut watch::Receiver<bool>,
    ) -> ConnectionEnd {
        match self.serve_until(inbox, stop).await {
            Err(ended) => ended,
            Ok(()) => {
                // What is known now still comes.
                let rest = async {
                    self.all_are_due();
                    while self.read_next() {
                        let read = finished(&mut self.reading).await;
                        self.take_read(read).await?;
                    }
                    Ok::<_, ConnectionEnd>(())
                };
                let _ = timeout(FAREWELL, rest).await;
                ConnectionEnd::Stopped
            }
        }
    }

    async fn serve_until(
        &mut self,
        inbox: &mut mpsc::Receiver<Result<Request, Failed>>,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<(), ConnectionEnd> {
        let mut source = self.source().clone();
        let stage = Arc::clone(&source.stage);
        let mut moves = stage.changes();
        let (mut frame, mut look) = (ticks(FRAME), ticks(LOOK_EVERY));
        if !self.wait_for_run(&mut source, &mut look, stop).await? {
            return Ok(());
        }
        let mut outline = source.outline();
        self.welcome().await?;
        let mut has_moved = false;
        loop {
            self.read_next();
            let is_playing = stage.is_playing() && !self.subscriptions.is_empty();
            tokio::select! {
                request = inbox.recv() => self.take(request.ok_or(ConnectionEnd::Gone)?).await?,
                Some(post) = self.from_others.recv() => self.pass_on(post.reply()).await?,
                Some(answer) = self.later.1.recv() => self.take_later(answer).await?,
                read = finished(&mut self.reading) => self.take_read(read).await?,
                _ = moves.changed() => {
                    has_moved = true;
                    self.all_are_due();
                }
                () = source.changed() => {
                    let newer = source.outline();
                    let is_other = std::mem::replace(&mut outline, newer) != newer;
                    self.run_changed(is_other).await?;
                }
                _ = frame.tick(), if is_playing || has_moved => {
                    self.next_frame(std::mem::take(&mut has_moved)).await?;
                }
                _ = look.tick() => self.look_after().await?,
                () = stopped(stop) => return Ok(()),
            }
        }
    }

    /// Waits for a recording that is still being read. Returns whether it came before the server stops.
    async fn wait_for_run(
        &mut self,
        source: &mut Source,
        look: &mut Interval,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<bool, ConnectionEnd> {
        while source.number() == 0 {
            tokio::select! {
                () = source.changed() => {}
                _ = look.tick() => self.look_after().await?,
                () = stopped(stop) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Who connects before the job has begun learns of ranks and hosts when they are there.
    async fn run_changed(&mut self, has_other_ranks: bool) -> Result<(), ConnectionEnd> {
        if has_other_ranks {
            self.welcome().await?;
        }
        self.all_are_due();
        Ok(())
    }

    /// Sends what is due now, and before it where the clock is, if that was moved.
    async fn next_frame(&mut self, has_moved: bool) -> Result<(), ConnectionEnd> {
        if has_moved {
            let clock = Reply::Clock(self.clock());
            self.send(&clock).await?;
        }
        self.all_are_due();
        Ok(())
    }

    /// Carries out what the client asked before it left. There is nobody any more who takes replies.
    async fn finish(&mut self, inbox: &mut mpsc::Receiver<Result<Request, Failed>>) {
        while let Ok(request) = inbox.try_recv() {
            if let Ok(request) = request {
                let _ = self.carry_out(request);
            }
        }
    }

    /// Asks for a sign of life; without any the client is gone.
    async fn look_after(&mut self) -> Result<(), ConnectionEnd> {
        let (now, signs) = (Instant::now(), self.signs.load(Ordering::Relaxed));
        if self.liveness.is_gone(signs, now) {
            return Err(ConnectionEnd::Gone);
        }
        if self.liveness.must_ask(now) {
            self.send_message(Message::ping(Vec::new())).await?;
        }
        Ok(())
    }

    async fn pass_on(&mut self, reply: &Reply) -> Result<(), ConnectionEnd> {
        let lost = self.member.take_lost();
        if lost > 0 {
            let text = format!("{lost} messages of other clients were not taken in time and are lost");
            self.send(&Reply::Failed(Failed { request: "receive".to_owned(), id: None, text })).await?;
        }
        self.send(reply).await
    }

    async fn take_later(&mut self, answer: LaterReply) -> Result<(), ConnectionEnd> {
        match answer {
            LaterReply::Reply(reply) => self.send(&reply).await,
            LaterReply::Time(found) => {
                self.search = None;
                match found {
                    Ok(time_ns) => {
                        // A clock that stands is where its message puts it.
                        self.command(Command::Pause);
                        let (known, _) = self.source().known_or_over();
                        let (clock_ns, ..) = self.source().stage.moment(known);
                        self.command(Command::Step(time_ns - clock_ns));
                        Ok(())
                    }
                    Err(failed) => self.send(&Reply::Failed(failed)).await,
                }
            }
        }
    }

    async fn welcome(&mut self) -> Result<(), ConnectionEnd> {
        let about = self.source().about();
        let welcome = Welcome {
            protocol: VERSION,
            client: self.member.number,
            rights: self.connected.grant().rights.list(),
            command: about.command,
            ranks: about.ranks,
            nodes: about.nodes,
            functions: about.functions,
            is_live: about.is_live,
            run_ns: about.run_ns,
            clock: self.clock(),
            second: self.source().second().map(|second| Box::new(second.about.clone())),
        };
        self.send(&Reply::Welcome(welcome)).await?;
        let (board, Some(before)) = (Arc::clone(&self.source().board), self.before.take()) else {
            return Ok(());
        };
        // One by one: all of them are far more than a client that reads nothing may take.
        let mut last = 0;
        while let Some(annotation) = board.annotation_after(last, &before) {
            last = annotation.annotation;
            self.send(&Reply::Annotation(annotation)).await?;
        }
        let mut place = 0;
        while let Some(series) = board.series_before(place, &before) {
            place += 1;
            self.send(&Reply::Series(series)).await?;
        }
        Ok(())
    }

    fn clock(&self) -> Clock {
        let source = self.source();
        let known = source.known();
        let shown = source.stage.message(known);
        Clock {
            version: shown.version,
            mode: match shown.mode {
                mpiscope_feed::exchange::Mode::Live => Mode::Live,
                mpiscope_feed::exchange::Mode::Paused => Mode::Paused,
                mpiscope_feed::exchange::Mode::Playing => Mode::Playing,
            },
            time_ns: shown.time_ns,
            rate: shown.rate,
            until_ns: known.until_ns,
            selection: mpiscope_protocol::Selection {
                range_ns: shown.selection.range_ns,
                ranks: shown.selection.ranks,
                hidden: shown.selection.hidden,
            },
            pages: shown.pages,
            clients: source.board.clients(),
        }
    }

    /// Begins to read for the next subscription that is due. Says whether something is being read.
    fn read_next(&mut self) -> bool {
        while self.reading.is_none()
            && let Some(id) = self.due.pop_front()
        {
            if let Some(entry) = self.subscriptions.get_mut(&id)
                && let Some(subscription) = entry.subscription.take()
            {
                self.reading_generation = entry.generation;
                self.reading = Some(self.turns.read(id, subscription, self.format));
            }
        }
        self.reading.is_some()
    }

    /// Sends what was read, unless the client does not want it any more.
    async fn take_read(&mut self, read: Option<Read>) -> Result<(), ConnectionEnd> {
        let Some(Read { id, subscription, message, has_more }) = read else {
            return Err(ConnectionEnd::Gone);
        };
        let generation = self.reading_generation;
        let Some(entry) = self.subscriptions.get_mut(&id).filter(|entry| entry.generation == generation)
        else {
            return Ok(());
        };
        match message {
            Ok(message) => {
                entry.subscription = Some(subscription);
                if has_more {
                    self.is_due(id);
                }
                match message {
                    Some(message) => self.send_message(message).await,
                    None => Ok(()),
                }
            }
            Err(text) => {
                self.subscriptions.remove(&id);
                let request = "subscribe".to_owned();
                self.send(&Reply::Failed(Failed { request, id: Some(id), text })).await
            }
        }
    }
}
