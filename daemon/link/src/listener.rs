//! The daemon's side: it listens, authenticates callers, and hands on what agents send.

use crate::batch::unpack;
use crate::encryption::{Accepting, Certificate, Stream};
use crate::error::LinkError;
use crate::greeting::{Guest, let_in};
use crate::introduction::{AgentIntroduction, Purpose};
use crate::packet::{MOST_BYTES, MOST_OF_STRANGERS, Packet, hear, say};
use crate::registry::{Connection, Registry};
use crate::secret::Secret;
use crate::tcp::{accept, listen};
use mpiscope_wire::{Flight, Message};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::time::timeout;

pub use crate::registry::{AgentState, KnownAgent};

/// Strangers at a time, and how long each may take to prove itself.
const MOST_STRANGERS: usize = 256;
const STRANGERS_PATIENCE: Duration = Duration::from_secs(5);
/// Each side sends at least this often.
pub(crate) const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// Batches that wait for the log; beyond them, agents wait.
const MOST_WAITING: usize = 32;
/// Connections that wait to be accepted: those of all agents, which may begin at once.
const MOST_ARRIVING: u32 = 4096;

/// How to listen.
pub struct ListenerOptions {
    /// Where.
    pub address: SocketAddr,
    /// What agents have to know.
    pub secret: Secret,
    /// With what to encrypt; without, nothing is.
    pub certificate: Option<Certificate>,
    /// The daemon's clock.
    pub now: fn() -> u64,
    /// Agents that a predecessor knew, in order of their numbers from 1.
    pub known: Vec<KnownAgent>,
    /// Called by the listener's thread when something has happened that should not wait.
    pub arrived: Arc<dyn Fn() + Send + Sync>,
}

/// Something happened.
#[derive(Debug)]
pub enum Event {
    /// An agent that was not known before.
    Joined {
        /// Its number.
        agent: u32,
        /// What it calls itself.
        identity: u128,
        /// Its host.
        node: String,
    },
    /// Frames, checked.
    Frames {
        /// Whose.
        agent: u32,
        /// The number of the first.
        first: u64,
        /// Each with its place in `bytes`.
        frames: Vec<(Range<usize>, Message)>,
        /// As they came.
        bytes: Vec<u8>,
    },
    /// The calls in flight there.
    Flights {
        /// Whose.
        agent: u32,
        /// All of them.
        calls: Vec<Flight>,
    },
    /// A comparison of clocks.
    RoundTrip(mpiscope_wire::RoundTrip),
}

/// Where events go.
#[derive(Clone)]
struct Teller {
    events: Sender<Event>,
    arrived: Arc<dyn Fn() + Send + Sync>,
}

impl Teller {
    /// Whether the receiver still exists.
    async fn tell(&self, event: Event) -> bool {
        let can_wait = matches!(event, Event::RoundTrip(_) | Event::Flights { .. });
        let is_open = self.events.send(event).await.is_ok();
        if !can_wait || self.events.capacity() < MOST_WAITING / 2 {
            (self.arrived)();
        }
        is_open
    }

    /// Likewise for what there will soon be another of: it is left out while many events wait.
    fn offer(&self, event: Event) -> bool {
        if self.events.capacity() < MOST_WAITING / 2 {
            (self.arrived)();
        }
        !matches!(self.events.try_send(event), Err(TrySendError::Closed(_)))
    }
}

/// A thread that listens.
pub struct Listener {
    address: SocketAddr,
    events: Receiver<Event>,
    shared: Arc<Shared>,
}

struct Shared {
    secret: Secret,
    accepting: Accepting,
    now: fn() -> u64,
    registry: Registry,
    /// Whether the command is over.
    end: watch::Sender<bool>,
    /// Whether calls are to be recorded.
    is_on: watch::Sender<bool>,
    strangers: Semaphore,
    /// Held from the choice of an agent's number until the log has it: those that wait for a full queue may overtake each
    /// other.
    joining: Mutex<()>,
}

impl Listener {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the address cannot be had, or encryption cannot be set up.
    pub fn open(options: ListenerOptions) -> Result<Self, LinkError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let socket = {
            let _guard = runtime.enter();
            listen(options.address, MOST_ARRIVING)?
        };
        let address = socket.local_addr()?;
        let shared = Arc::new(Shared {
            secret: options.secret,
            accepting: Accepting::new(options.certificate.as_ref())?,
            now: options.now,
            registry: Registry::new(options.known),
            end: watch::Sender::new(false),
            is_on: watch::Sender::new(true),
            strangers: Semaphore::new(MOST_STRANGERS),
            joining: Mutex::new(()),
        });
        let (send, events) = channel(MOST_WAITING);
        let teller = Teller { events: send, arrived: options.arrived };
        let serving = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("link".into())
            .spawn(move || runtime.block_on(serve_all(&socket, &serving, &teller)))?;
        Ok(Self { address, events, shared })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What happened next; `None` when nothing did.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// The number of the frame of an agent that is wanted next.
    #[must_use]
    pub fn wanted(&self, agent: u32) -> u64 {
        self.shared.registry.next(agent).unwrap_or_default()
    }

    /// The log has all frames of an agent before this number.
    pub fn taken(&self, agent: u32, next: u64) {
        self.shared.registry.taken(agent, next);
    }

    /// The command is over: agents bring what they have left.
    pub fn end(&self) {
        self.shared.end.send_replace(true);
    }

    /// Calls are to be recorded from now on, or not.
    pub fn switch(&self, is_on: bool) {
        self.shared.is_on.send_replace(is_on);
    }

    /// How all agents stand.
    #[must_use]
    pub fn agent_states(&self) -> Vec<AgentState> {
        self.shared.registry.agent_states()
    }
}

async fn serve_all(socket: &TcpListener, shared: &Arc<Shared>, teller: &Teller) {
    while !teller.events.is_closed() {
        let stream = tokio::select! {
            stream = accept(socket) => stream,
            () = teller.events.closed() => return,
        };
        let (shared, teller) = (Arc::clone(shared), teller.clone());
        // A refused or leaving caller gets the reason or nothing; it does not belong into the log of the run.
        tokio::spawn(async move { serve(stream, &shared, &teller).await });
    }
}

async fn serve(stream: TcpStream, shared: &Shared, teller: &Teller) -> Result<(), LinkError> {
    let Ok(stranger) = shared.strangers.try_acquire() else { return Ok(()) };
    let guest = timeout(STRANGERS_PATIENCE, let_in(stream, &shared.accepting, &shared.secret))
        .await
        .map_err(|_| LinkError::Silence(STRANGERS_PATIENCE.as_secs()))??;
    drop(stranger);
    let AgentIntroduction { purpose, identity, ref node } = guest.introduction;
    // A name is shown to people.
    let node: String = node.chars().filter(|character| !character.is_control()).collect();
    let joining = shared.joining.lock().await;
    let Some((agent, is_new)) = shared.registry.register(identity, &node) else {
        guest.refuse("there are too many agents".to_owned()).await;
        return Ok(());
    };
    if is_new && !teller.tell(Event::Joined { agent, identity, node }).await {
        return Ok(());
    }
    drop(joining);
    if purpose == Purpose::Clock {
        return clocks(guest.welcome(0).await?, agent, shared, teller).await;
    }
    let Some(connection) = shared.registry.connect(agent) else { return Ok(()) };
    let number = connection.number;
    let served = frames(guest, agent, connection, shared, teller).await;
    shared.registry.leave(agent, number);
    served
}

/// Answers questions for the time, as fast as it can: only the first result waits for the log.
async fn clocks(
    mut stream: Box<dyn Stream>,
    agent: u32,
    shared: &Shared,
    teller: &Teller,
) -> Result<(), LinkError> {
    let mut is_first = true;
    loop {
        match hear(&mut stream, MOST_OF_STRANGERS).await? {
            Packet::Ping { agent_ns } => {
                let daemon_ns = (shared.now)();
                say(&mut stream, &Packet::Pong { agent_ns, daemon_ns }).await?;
            }
            Packet::RoundTrip { local_ns, offset_ns, uncertainty_ns } => {
                let trip = mpiscope_wire::RoundTrip { agent, local_ns, offset_ns, uncertainty_ns };
                let trip = Event::RoundTrip(trip);
                let is_open = if is_first { teller.tell(trip).await } else { teller.offer(trip) };
                if !is_open {
                    return Ok(());
                }
                is_first = false;
            }
            _ => return Err(LinkError::Protocol("sent a packet that is not allowed at this point")),
        }
    }
}

/// Takes frames and acknowledges them.
async fn frames(
    guest: Guest<AgentIntroduction>,
    agent: u32,
    connection: Connection,
    shared: &Shared,
    teller: &Teller,
) -> Result<(), LinkError> {
    let next = connection.next;
    let wanted = *next.borrow();
    let (mut reading, mut writing) = split(guest.welcome(wanted).await?);
    let take = async {
        loop {
            let event = match hear(&mut reading, MOST_BYTES).await? {
                Packet::Batch { first, frames, raw_bytes, compressed } => {
                    let unpacked = unpack(frames, raw_bytes, &compressed)?;
                    Event::Frames { agent, first, frames: unpacked.frames, bytes: unpacked.bytes }
                }
                Packet::Flights { calls } => {
                    Event::Flights { agent, calls: calls.iter().map(Flight::decode).collect() }
                }
                Packet::Finished { next } => {
                    shared.registry.finished(agent, next);
                    (teller.arrived)();
                    return Ok(());
                }
                Packet::Alive => continue,
                _ => return Err(LinkError::Protocol("sent a packet that is not allowed at this point")),
            };
            if !teller.tell(event).await {
                return Ok(());
            }
        }
    };
    tokio::select! {
        taken = take => taken,
        outcome = acknowledge(&mut writing, next, (shared.end.subscribe(), shared.is_on.subscribe())) => outcome,
    }
}

/// Says what the log has, that the command is over, whether calls are recorded, or at least that the daemon lives.
async fn acknowledge(
    writing: &mut (impl AsyncWrite + Unpin),
    mut next: watch::Receiver<u64>,
    (mut end, mut is_on): (watch::Receiver<bool>, watch::Receiver<bool>),
) -> Result<(), LinkError> {
    let (mut said_end, mut said_on) = (false, None);
    loop {
        let wanted = *is_on.borrow_and_update();
        if said_on.replace(wanted) != Some(wanted) {
            say(writing, &Packet::Switch { is_on: wanted }).await?;
        }
        let is_over = *end.borrow_and_update();
        if is_over && !said_end {
            said_end = true;
            say(writing, &Packet::End).await?;
        }
        tokio::select! {
            changed = next.changed() => {
                // Another connection of the same agent has taken the place of this one.
                if changed.is_err() {
                    return Ok(());
                }
                let next = *next.borrow_and_update();
                say(writing, &Packet::Acknowledged { next }).await?;
            }
            _ = end.changed(), if !said_end => {}
            Ok(()) = is_on.changed() => {}
            () = tokio::time::sleep(ALIVE_EVERY) => say(writing, &Packet::Alive).await?,
        }
    }
}
