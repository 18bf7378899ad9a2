//! One connection of an external program: its requests, its subscriptions one batch at a time, and what others say.

use super::board::{self, Member};
use super::requests::{label, read, write};
use super::subscription::{Moment, Subscription};
use crate::live::{Source, stopped};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use mpiscope_feed::exchange::{Command, Selection};
use mpiscope_model::Nanoseconds;
use mpiscope_protocol::{
    Barrier, Clock, Failed, Format, Hello, Mode, Passed, Reply, Request, Right, Subscribe, Subscribed,
    VERSION, Welcome,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at, timeout};
use warp::ws::{Message, WebSocket};

/// To say who it is.
const GREETING: Duration = Duration::from_secs(10);
/// To take one message, before it counts as dead.
const SEND: Duration = Duration::from_secs(5);
/// To give a sign of life; it is asked for one three times as often.
const SILENCE: Duration = Duration::from_secs(60);
/// To take the last rows when the server ends.
const FAREWELL: Duration = Duration::from_millis(1_500);
/// How often subscriptions in step with a running clock are looked after.
const FRAME: Duration = Duration::from_millis(33);
/// Requests that were read and wait.
const REQUESTS_MAX: usize = 16;
/// Subscriptions of one client.
const SUBSCRIPTIONS_MAX: usize = 32;
const BARRIER_MS_MAX: u32 = 10_000;
/// Of what a client tells another, as JSON.
const TOLD_BYTES_MAX: usize = 64 << 10;

/// The close code for what is against the protocol.
const PROTOCOL_ERROR: u16 = 1002;
/// The close code for a server that ends.
const GOING_AWAY: u16 = 1001;

/// What it takes to serve a client.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) source: Source,
    /// Readers of files, of all pages and programs together.
    pub(crate) readers: Arc<Semaphore>,
    pub(crate) rights: Vec<Right>,
}

/// Why a connection ends.
enum Ended {
    /// The client left, or takes nothing.
    Gone,
    /// It does not keep to the protocol.
    Wrong(String),
    /// The server ends.
    Stopped,
}

/// Serves a client until it leaves, gets stuck, or the server ends.
pub(crate) async fn run(socket: WebSocket, program: Program, mut stop: watch::Receiver<bool>) {
    let (mut out, mut incoming) = socket.split();
    let ended = match greeted(&mut incoming).await {
        Ok(hello) => {
            let (requests, mut inbox) = mpsc::channel(REQUESTS_MAX);
            let mut client = Client::join(program, &hello, &mut out);
            let ended = tokio::select! {
                ended = listen(incoming, requests) => ended,
                ended = client.serve(&mut inbox, &mut stop) => ended,
            };
            client.finish(&mut inbox).await;
            ended
        }
        Err(ended) => ended,
    };
    let close = match ended {
        Ended::Gone => None,
        Ended::Wrong(reason) => {
            let reason: String = reason.chars().take(100).collect();
            Some(Message::close_with(PROTOCOL_ERROR, reason))
        }
        Ended::Stopped => Some(Message::close_with(GOING_AWAY, "mpiscope ends")),
    };
    // Errors here mean that there is nobody any more.
    if let Some(close) = close {
        let _ = timeout(FAREWELL, out.send(close)).await;
    }
    let _ = timeout(FAREWELL, out.close()).await;
}

/// The first message, which says who this is.
async fn greeted(incoming: &mut SplitStream<WebSocket>) -> Result<Hello, Ended> {
    let first = async {
        while let Some(Ok(message)) = incoming.next().await {
            if message.is_text() || message.is_binary() {
                return read(&message).map_err(Ended::Wrong);
            }
        }
        Err(Ended::Gone)
    };
    let Ok(first) = timeout(GREETING, first).await else { return Err(Ended::Gone) };
    let Request::Hello(hello) = first? else {
        return Err(Ended::Wrong("the first message is hello".to_owned()));
    };
    if hello.protocol != VERSION {
        return Err(Ended::Wrong(format!("this is protocol {VERSION}, not {}", hello.protocol)));
    }
    Ok(Hello { name: board::name(&hello.name).map_err(Ended::Wrong)?, ..hello })
}

/// Reads requests. While none is taken, nothing is read.
async fn listen(mut incoming: SplitStream<WebSocket>, requests: mpsc::Sender<Request>) -> Ended {
    while let Ok(Some(Ok(message))) = timeout(SILENCE, incoming.next()).await {
        if message.is_close() {
            break;
        }
        if message.is_text() || message.is_binary() {
            match read(&message) {
                Ok(request) => {
                    if requests.send(request).await.is_err() {
                        break;
                    }
                }
                Err(reason) => return Ended::Wrong(reason),
            }
        }
    }
    Ended::Gone
}

struct Client<'a> {
    program: Program,
    format: Format,
    out: &'a mut SplitSink<WebSocket, Message>,
    member: Arc<Member>,
    from_others: mpsc::Receiver<Arc<Reply>>,
    /// Answers that take a while.
    later: (mpsc::Sender<Reply>, mpsc::Receiver<Reply>),
    subscriptions: BTreeMap<u32, (Subscribe, Subscription)>,
}

impl<'a> Client<'a> {
    fn join(program: Program, hello: &Hello, out: &'a mut SplitSink<WebSocket, Message>) -> Self {
        let (member, from_others) = program.source.board.join(hello.name.clone());
        let (format, later) = (hello.format, mpsc::channel(REQUESTS_MAX));
        let subscriptions = BTreeMap::new();
        Self { program, format, out, member: Arc::new(member), from_others, later, subscriptions }
    }

    async fn serve(
        &mut self,
        inbox: &mut mpsc::Receiver<Request>,
        stop: &mut watch::Receiver<bool>,
    ) -> Ended {
        match self.serve_until(inbox, stop).await {
            Err(ended) => ended,
            Ok(()) => {
                // What is known now still comes.
                let rest = async {
                    while self.pump(inbox).await? {}
                    Ok::<_, Ended>(())
                };
                let _ = timeout(FAREWELL, rest).await;
                Ended::Stopped
            }
        }
    }

    async fn serve_until(
        &mut self,
        inbox: &mut mpsc::Receiver<Request>,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<(), Ended> {
        let stage = Arc::clone(&self.program.source.stage);
        let mut source = self.program.source.clone();
        let mut moves = stage.changes();
        let mut frame = interval(FRAME);
        frame.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ping = interval_at(Instant::now() + SILENCE / 3, SILENCE / 3);
        // A recording that is still being read is not known yet.
        while source.number() == 0 {
            tokio::select! {
                () = source.changed() => {}
                () = stopped(stop) => return Ok(()),
            }
        }
        let mut outline = source.outline();
        self.welcome().await?;
        self.answers().await?;
        loop {
            // Who connects before the job has begun learns of ranks and hosts when they are there.
            let newer = source.outline();
            if std::mem::replace(&mut outline, newer) != newer {
                self.welcome().await?;
            }
            while self.pump(inbox).await? {
                if *stop.borrow() {
                    return Ok(());
                }
            }
            let is_playing = stage.is_playing() && !self.subscriptions.is_empty();
            tokio::select! {
                request = inbox.recv() => match request {
                    Some(request) => self.take(request).await?,
                    None => return Err(Ended::Gone),
                },
                Some(reply) = self.from_others.recv() => self.pass_on(&reply).await?,
                Some(reply) = self.later.1.recv() => self.send(&reply).await?,
                _ = moves.changed() => {
                    let clock = Reply::Clock(self.clock());
                    self.send(&clock).await?;
                }
                () = source.changed() => {}
                _ = frame.tick(), if is_playing => {}
                _ = ping.tick() => self.send_message(Message::ping(Vec::new())).await?,
                () = stopped(stop) => return Ok(()),
            }
        }
    }

    /// Carries out what the client asked before it left. There is nobody any more who takes replies.
    async fn finish(&mut self, inbox: &mut mpsc::Receiver<Request>) {
        while let Ok(request) = inbox.try_recv() {
            let _ = self.carry_out(request).await;
        }
    }

    async fn send(&mut self, reply: &Reply) -> Result<(), Ended> {
        match write(reply, self.format) {
            Some(message) => self.send_message(message).await,
            None => Ok(()),
        }
    }

    async fn send_message(&mut self, message: Message) -> Result<(), Ended> {
        match timeout(SEND, self.out.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Ended::Gone),
        }
    }

    async fn pass_on(&mut self, reply: &Reply) -> Result<(), Ended> {
        let lost = self.member.take_lost();
        if lost > 0 {
            let text = format!("{lost} messages of other clients were not taken in time and are lost");
            self.send(&Reply::Failed(Failed { request: "receive".to_owned(), id: None, text })).await?;
        }
        self.send(reply).await
    }

    async fn welcome(&mut self) -> Result<(), Ended> {
        let source = &self.program.source;
        let about = source.about();
        let welcome = Welcome {
            protocol: VERSION,
            client: self.member.number,
            rights: self.program.rights.clone(),
            command: about.command,
            ranks: about.ranks,
            nodes: about.nodes,
            functions: about.functions,
            is_live: about.is_live,
            run_ns: about.run_ns,
            clock: self.clock(),
        };
        self.send(&Reply::Welcome(welcome)).await
    }

    /// What was said about the run before.
    async fn answers(&mut self) -> Result<(), Ended> {
        let answers = self.program.source.board.answers();
        for annotation in answers.annotations {
            self.send(&Reply::Annotation(annotation)).await?;
        }
        for series in answers.series {
            self.send(&Reply::Series(series)).await?;
        }
        Ok(())
    }

    fn clock(&self) -> Clock {
        let source = &self.program.source;
        let known = source.known();
        let told = source.stage.message(known);
        Clock {
            version: told.version,
            mode: match told.mode {
                mpiscope_feed::exchange::Mode::Live => Mode::Live,
                mpiscope_feed::exchange::Mode::Paused => Mode::Paused,
                mpiscope_feed::exchange::Mode::Playing => Mode::Playing,
            },
            time_ns: told.time_ns,
            rate: told.rate,
            until_ns: known.until_ns,
            selection: mpiscope_protocol::Selection {
                range_ns: told.selection.range_ns,
                ranks: told.selection.ranks,
                hidden: told.selection.hidden,
            },
            pages: told.pages,
            clients: self.program.source.board.clients(),
        }
    }

    fn moment(&self) -> Moment {
        let source = &self.program.source;
        let (known, is_over) = (source.known(), source.is_over());
        let told = source.stage.message(known);
        let until_ns = known.until_ns as Nanoseconds;
        Moment {
            complete_ns: if is_over { until_ns.saturating_add(1) } else { until_ns },
            is_over,
            clock_ns: told.time_ns as Nanoseconds,
            is_moving: told.mode != mpiscope_feed::exchange::Mode::Paused,
            jumps: source.stage.jumps(),
            verdict: source.verdict(),
        }
    }

    /// Sends one reply of each subscription that has something to say. Says whether there may be more.
    async fn pump(&mut self, inbox: &mut mpsc::Receiver<Request>) -> Result<bool, Ended> {
        let ids: Vec<u32> = self.subscriptions.keys().copied().collect();
        let mut is_more = false;
        for id in ids {
            // A request between two batches is not kept waiting.
            while let Ok(request) = inbox.try_recv() {
                self.take(request).await?;
                // It may be a subscription, which is not among these.
                is_more = true;
            }
            let Some((asked, mut subscription)) = self.subscriptions.remove(&id) else { continue };
            let (moment, library) = (self.moment(), Arc::clone(&self.program.source.library));
            let Ok(reader) = Arc::clone(&self.program.readers).acquire_owned().await else {
                return Err(Ended::Stopped);
            };
            let done = spawn_blocking(move || {
                let reply = subscription.next(&library, &moment);
                let has_replied = matches!(reply, Ok(Some(_)));
                let has_more = subscription.has_more(&moment, has_replied);
                (subscription, reply, has_more)
            });
            // A panic while rows are read ends this client alone.
            let Ok((subscription, reply, has_more)) = done.await else { return Err(Ended::Gone) };
            drop(reader);
            match reply {
                Ok(reply) => {
                    is_more |= has_more;
                    self.subscriptions.insert(id, (asked, subscription));
                    if let Some(reply) = reply {
                        self.send(&reply).await?;
                    }
                }
                Err(text) => {
                    let request = "subscribe".to_owned();
                    self.send(&Reply::Failed(Failed { request, id: Some(id), text })).await?;
                }
            }
        }
        Ok(is_more)
    }

    async fn take(&mut self, request: Request) -> Result<(), Ended> {
        let (name, id) = label(&request);
        match self.carry_out(request).await {
            Ok(None) => Ok(()),
            Ok(Some(reply)) => self.send(&reply).await,
            Err(text) => self.send(&Reply::Failed(Failed { request: name.to_owned(), id, text })).await,
        }
    }

    async fn carry_out(&mut self, request: Request) -> Result<Option<Reply>, String> {
        let needs = match &request {
            Request::Live
            | Request::Pause
            | Request::Play { .. }
            | Request::Rate { .. }
            | Request::Seek { .. }
            | Request::Step { .. }
            | Request::StepTo { .. }
            | Request::Select(_)
            | Request::Barrier(_) => Right::Control,
            Request::Annotate(_) | Request::Remove { .. } | Request::Series(_) | Request::Tell(_) => {
                Right::Annotate
            }
            Request::Hello(_)
            | Request::Subscribe(_)
            | Request::Unsubscribe { .. }
            | Request::Drawn { .. } => Right::Read,
        };
        if !self.program.rights.contains(&needs) {
            return Err(format!("this token does not give the right to {}", word(needs)));
        }
        match request {
            Request::Hello(_) => Err("hello was said before".to_owned()),
            Request::Subscribe(asked) => self.subscribe(asked).map(Some),
            Request::Unsubscribe { id } => {
                self.subscriptions.remove(&id).ok_or_else(|| format!("there is no subscription {id}"))?;
                Ok(None)
            }
            Request::Live => self.command(Command::Live),
            Request::Pause => self.command(Command::Pause),
            Request::Play { rate } => self.command(Command::Play(number(rate)?)),
            Request::Rate { rate } => self.command(Command::Rate(number(rate)?)),
            Request::Seek { time_ns } => self.command(Command::Seek(number(time_ns)?)),
            Request::Step { by_ns } => self.command(Command::Step(number(by_ns)?)),
            Request::StepTo { id, direction } => {
                let asked =
                    &self.subscriptions.get(&id).ok_or_else(|| format!("there is no subscription {id}"))?.0;
                let (asked, moment) = (asked.clone(), self.moment());
                let (library, clock_ns) = (Arc::clone(&self.program.source.library), moment.clock_ns);
                let found =
                    spawn_blocking(move || Subscription::find(&asked, &library, &moment, direction)).await;
                let time_ns = found.map_err(|_| "the search failed".to_owned())??;
                self.command(Command::Step(time_ns as f64 - clock_ns as f64))
            }
            Request::Select(selection) => {
                let mpiscope_protocol::Selection { range_ns, ranks, hidden } = selection;
                let selection = Selection { range_ns, ranks, hidden }.checked().map_err(|error| error.0)?;
                self.command(Command::Select(selection))
            }
            Request::Barrier(asked) => {
                self.wait(&asked);
                Ok(None)
            }
            Request::Drawn { barrier } => {
                self.member.drawn(barrier);
                Ok(None)
            }
            Request::Annotate(asked) => self.member.annotate(asked).map(|done| Some(Reply::Annotation(done))),
            Request::Remove { annotation } => self.member.remove(annotation).map(|()| None),
            Request::Series(asked) => self.member.series(asked).map(|_| None),
            Request::Tell(asked) => {
                if asked.data.to_string().len() > TOLD_BYTES_MAX {
                    return Err(format!("{} KiB as JSON is the most that can be told", TOLD_BYTES_MAX >> 10));
                }
                self.member.tell(asked.to, asked.data).map(|()| None)
            }
        }
    }

    fn subscribe(&mut self, asked: Subscribe) -> Result<Reply, String> {
        let id = asked.id;
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX && !self.subscriptions.contains_key(&id) {
            return Err(format!("a client has at most {SUBSCRIPTIONS_MAX} subscriptions"));
        }
        let subscription = Subscription::new(&asked, &self.program.source.library, &self.moment())?;
        self.subscriptions.insert(id, (asked, subscription));
        Ok(Reply::Subscribed(Subscribed { id }))
    }

    fn command(&self, command: Command) -> Result<Option<Reply>, String> {
        let source = &self.program.source;
        source.stage.command(command, source.known());
        Ok(None)
    }

    /// The answer comes when the others have drawn, or the time is over.
    fn wait(&self, asked: &Barrier) {
        let (id, patience) = (asked.id, Duration::from_millis(asked.timeout_ms.min(BARRIER_MS_MAX).into()));
        let (member, answer) = (Arc::clone(&self.member), self.later.0.clone());
        let mut waiting = self.member.wait_for_others();
        tokio::spawn(async move {
            let _ = timeout(patience, &mut waiting.passed).await;
            let missing = member.end_wait(&waiting);
            // The client may have left meanwhile.
            let _ = answer.send(Reply::Passed(Passed { id, missing })).await;
        });
    }
}

fn number(number: f64) -> Result<f64, String> {
    if number.is_finite() { Ok(number) } else { Err("a number is missing".to_owned()) }
}

fn word(right: Right) -> &'static str {
    match right {
        Right::Read => "read",
        Right::Control => "control",
        Right::Annotate => "annotate",
    }
}
