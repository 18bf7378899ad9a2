//! The agents that ever called, and the progress of each. Shared by the connections and by the writer of the log.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// More nodes than a run has.
const MOST_AGENTS: usize = 1 << 14;

/// An agent that a predecessor knew.
#[derive(Debug, Clone)]
pub struct KnownAgent {
    /// What it calls itself.
    pub identity: u128,
    /// Its host.
    pub node: String,
    /// The number of the next frame that the log wants.
    pub next: u64,
    /// Whether it had sent everything.
    pub is_finished: bool,
}

/// How an agent stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentState {
    /// Its number.
    pub agent: u32,
    /// Its host.
    pub node: String,
    /// For how long it has not been connected; none while it is.
    pub away: Option<Duration>,
    /// Whether it has announced its end, and all it had is in the log.
    pub is_finished: bool,
}

struct AgentEntry {
    identity: u128,
    node: String,
    /// The number of the next frame that the log wants.
    next: watch::Sender<u64>,
    /// Counts its connections; only the newest counts.
    connection: u64,
    away_since: Option<Instant>,
    /// The number after its last frame, once announced.
    last: Option<u64>,
}

/// A connection that brings frames.
pub(crate) struct Connection {
    pub(crate) number: u64,
    pub(crate) next: watch::Receiver<u64>,
}

#[derive(Default)]
pub(crate) struct Registry(Mutex<Vec<AgentEntry>>);

impl Registry {
    pub(crate) fn new(known: impl IntoIterator<Item = KnownAgent>) -> Self {
        let agents = known.into_iter().map(|agent| AgentEntry {
            identity: agent.identity,
            node: agent.node,
            next: watch::Sender::new(agent.next),
            connection: 0,
            away_since: Some(Instant::now()),
            last: agent.is_finished.then_some(agent.next),
        });
        Self(Mutex::new(agents.collect()))
    }

    fn agents(&self) -> MutexGuard<'_, Vec<AgentEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of an agent, and whether it was not known before; `None` when there are too many.
    pub(crate) fn register(&self, identity: u128, node: &str) -> Option<(u32, bool)> {
        let mut agents = self.agents();
        if let Some(at) = agents.iter().position(|known| known.identity == identity) {
            return Some((at as u32 + 1, false));
        }
        if agents.len() >= MOST_AGENTS {
            return None;
        }
        agents.push(AgentEntry {
            identity,
            node: node.to_owned(),
            next: watch::Sender::new(0),
            connection: 0,
            away_since: Some(Instant::now()),
            last: None,
        });
        Some((agents.len() as u32, true))
    }

    /// An agent connects to bring frames; an older connection of the same one ends.
    pub(crate) fn connect(&self, agent: u32) -> Option<Connection> {
        self.with(agent, |known| {
            let next = *known.next.borrow();
            // Whoever listened to the old one hears that it is gone.
            known.next = watch::Sender::new(next);
            known.connection += 1;
            known.away_since = None;
            known.last = None;
            Connection { number: known.connection, next: known.next.subscribe() }
        })
    }

    fn with<T>(&self, agent: u32, work: impl FnOnce(&mut AgentEntry) -> T) -> Option<T> {
        self.agents().get_mut((agent as usize).checked_sub(1)?).map(work)
    }

    /// A connection has ended. A replaced one changes nothing.
    pub(crate) fn leave(&self, agent: u32, connection: u64) {
        self.with(agent, |known| {
            if known.connection == connection {
                known.away_since = Some(Instant::now());
            }
        });
    }

    /// The log has all frames of an agent before this number.
    pub(crate) fn taken(&self, agent: u32, next: u64) {
        self.with(agent, |known| known.next.send_replace(next));
    }

    /// The agent announces this as the number after its last frame.
    pub(crate) fn finished(&self, agent: u32, last: u64) {
        self.with(agent, |known| known.last = Some(last));
    }

    pub(crate) fn next(&self, agent: u32) -> Option<u64> {
        self.with(agent, |known| *known.next.borrow())
    }

    pub(crate) fn agent_states(&self) -> Vec<AgentState> {
        let agents = self.agents();
        let numbered = agents.iter().enumerate();
        numbered
            .map(|(at, known)| AgentState {
                agent: at as u32 + 1,
                node: known.node.clone(),
                away: known.away_since.map(|since| since.elapsed()),
                is_finished: known.last.is_some_and(|last| *known.next.borrow() >= last),
            })
            .collect()
    }
}
