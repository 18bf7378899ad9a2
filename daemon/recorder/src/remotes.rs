//! The agents of other hosts: what they bring goes into the log and on, and they learn what the log has.

use crate::names::listed;
use crate::protocol::Link;
use anyhow::{Result, bail};
use mpiscope_agent::Agent;
use mpiscope_ingest::KnownAgent;
use mpiscope_link::{AgentState, Event, Listener, ListenerOptions, Secret};
use mpiscope_model::words::run_time;
use mpiscope_process::own_process::allow_files;
use mpiscope_ring::clock::monotonic_ns;
use mpiscope_wire::{Contact, Flight, Heard, Message, Origin};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Two connections for each agent of the largest jobs, and files of our own.
const AGENTS_FILES: u64 = 2 * 16_384 + 1024;
/// Batches in one go: the rings of this host must not wait for long.
const MOST_EVENTS: usize = 16;
/// From this number of slots on, the next batch waits: rows take several times as much memory.
const MOST_SLOTS: usize = 1 << 19;
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// An agent that is away for this long is reported as silent.
const MISSED_AFTER: Duration = Duration::from_secs(3);
/// How long, after the command is over, ranks are waited for that were never heard of: when it went well, and when not.
const UNSEEN: Duration = Duration::from_secs(5);
const UNSEEN_OF_FAILED: Duration = Duration::from_secs(1);
/// Longer waits are reported.
const SAY_AFTER: Duration = Duration::from_secs(2);

pub(crate) struct Remotes {
    listener: Listener,
    /// How long an agent that is away is waited for at the end.
    patience: Duration,
    flights: BTreeMap<u32, Vec<Flight>>,
    silent: BTreeSet<u32>,
    finished: BTreeSet<u32>,
    looked: Instant,
    ending: Option<Ending>,
}

struct Ending {
    since: Instant,
    well: bool,
    is_reported: bool,
}

impl Remotes {
    /// Listens to agents, those of a predecessor included, and tells when something arrived.
    pub(crate) fn listen(
        link: &Link,
        known: &[KnownAgent],
        arrived: &Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self> {
        allow_files(AGENTS_FILES);
        Ok(Self {
            listener: listener(link, known, arrived)?,
            patience: link.patience,
            flights: BTreeMap::new(),
            silent: BTreeSet::new(),
            finished: BTreeSet::new(),
            looked: Instant::now(),
            ending: None,
        })
    }

    /// Where agents reach it.
    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Takes in some of what came; says whether there was much.
    pub(crate) fn work(&mut self, agent: &mut Agent, sink: &mut dyn FnMut(Message)) -> bool {
        let mut taken = BTreeMap::new();
        let (mut count, mut slots) = (0, 0);
        while count < MOST_EVENTS
            && slots < MOST_SLOTS
            && let Some(event) = self.listener.next_event()
        {
            count += 1;
            self.take(event, &mut taken, agent, &mut |message| {
                slots += message.slot_count();
                sink(message);
            });
        }
        // What the log did not take stays with the agent, until there is no later to try it again.
        if !taken.is_empty() && (agent.flush() || self.ending.is_some()) {
            for (number, next) in taken {
                self.listener.taken(number, next);
            }
        }
        if self.looked.elapsed() >= LOOK_EVERY {
            self.looked = Instant::now();
            self.look(agent, sink);
        }
        count == MOST_EVENTS || slots >= MOST_SLOTS
    }

    /// Takes in one event. `taken` has the number after the last frame of each agent that sent some.
    fn take(
        &mut self,
        event: Event,
        taken: &mut BTreeMap<u32, u64>,
        agent: &mut Agent,
        sink: &mut dyn FnMut(Message),
    ) {
        match event {
            Event::Joined { agent: number, identity, node } => {
                agent.tell(Message::Agent(mpiscope_wire::Agent { agent: number, identity, node }), sink);
            }
            Event::RoundTrip(trip) => agent.tell(Message::RoundTrip(trip), sink),
            Event::Flights { agent, calls } => {
                self.flights.insert(agent, calls);
            }
            Event::Frames { agent: number, first, mut frames, bytes } => {
                let wanted = taken.get(&number).copied().unwrap_or_else(|| self.listener.wanted(number));
                let known = wanted.saturating_sub(first).min(frames.len() as u64);
                frames.drain(..known as usize);
                if first > wanted {
                    let missing = first - wanted;
                    agent.add_fault(format!("{missing} messages of agent {number} never arrived"));
                }
                let next = first + known + frames.len() as u64;
                let from = Origin { agent: number, sequence: first + known };
                agent.relay(from, frames, &bytes, sink);
                taken.insert(number, next.max(wanted));
            }
        }
    }

    /// Writes down who is missed and who is back. The log needs it once more before the end of the run: whoever has not
    /// finished by then is named.
    pub(crate) fn look(&mut self, agent: &mut Agent, sink: &mut dyn FnMut(Message)) {
        let (mut silent, mut again) = (Vec::new(), Vec::new());
        for AgentState { agent: number, node, away, is_finished } in self.listener.agent_states() {
            let missed = !is_finished && away.is_some_and(|away| away > MISSED_AFTER);
            if missed && self.silent.insert(number) {
                self.flights.remove(&number);
                silent.push(node);
                agent.tell(Message::Contact(Contact { agent: number, heard: Heard::Missed }), sink);
            } else if away.is_none() && self.silent.remove(&number) {
                again.push(node);
                agent.tell(Message::Contact(Contact { agent: number, heard: Heard::Again }), sink);
            }
            if is_finished && self.finished.insert(number) {
                agent.tell(Message::Contact(Contact { agent: number, heard: Heard::Finished }), sink);
            } else if !is_finished {
                self.finished.remove(&number);
            }
        }
        if !silent.is_empty() {
            let nodes = listed(&silent);
            agent.add_notice(format!("nothing is heard of {nodes}; what its ranks do comes when it is back"));
        }
        if !again.is_empty() {
            agent.add_notice(format!("{} is heard of again", listed(&again)));
        }
    }

    /// Calls are to be recorded on other hosts from now on, or not.
    pub(crate) fn switch(&self, is_on: bool) {
        self.listener.switch(is_on);
    }

    /// The calls in flight on other hosts, as far as agents sent them, each with its agent.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = (u32, Flight)> + '_ {
        self.flights.iter().flat_map(|(&agent, calls)| calls.iter().map(move |&call| (agent, call)))
    }

    /// Agents that have not finished and were heard of lately.
    fn at_work(&self) -> impl Iterator<Item = AgentState> + '_ {
        let lately = |state: &AgentState| state.away.is_none_or(|away| away < self.patience);
        self.listener.agent_states().into_iter().filter(move |state| !state.is_finished && lately(state))
    }

    pub(crate) fn any_at_work(&self) -> bool {
        self.at_work().next().is_some()
    }

    /// The command is over. Whether agents or ranks are still worth waiting for.
    pub(crate) fn is_worth_waiting(&mut self, agent: &Agent, exit: Option<i32>) -> bool {
        let ending = self.ending.get_or_insert_with(|| {
            self.listener.end();
            Ending { since: Instant::now(), well: exit == Some(0), is_reported: false }
        });
        let (waited, well, is_reported) = (ending.since.elapsed(), ending.well, ending.is_reported);
        let unseen = agent.census.lacks_some() || agent.census.world_size == 0;
        let patience = if well { UNSEEN } else { UNSEEN_OF_FAILED };
        let unfinished: Vec<String> = self.at_work().map(|state| state.node).collect();
        if !unfinished.is_empty() && waited > SAY_AFTER && !is_reported {
            self.ending.iter_mut().for_each(|ending| ending.is_reported = true);
            say!(
                "waiting for what {} still has to bring, at most {} when it is cut off",
                listed(&unfinished),
                run_time(self.patience)
            );
        }
        !unfinished.is_empty() || unseen && waited < patience
    }
}

/// Listens at the first address that can be had.
fn listener(link: &Link, known: &[KnownAgent], arrived: &Arc<dyn Fn() + Send + Sync>) -> Result<Listener> {
    let mut fault = None;
    for &address in &link.addresses {
        let options = ListenerOptions {
            address,
            secret: Secret::from_text(&link.secret)?,
            certificate: link.certificate.clone(),
            now: monotonic_ns,
            known: known.iter().map(known_agent).collect(),
            arrived: Arc::clone(arrived),
        };
        match Listener::open(options) {
            Ok(listener) => return Ok(listener),
            Err(error) => fault = Some(error),
        }
    }
    let fault = fault.map_or_else(|| "no port is allowed".to_owned(), |fault| fault.to_string());
    bail!("agents of other hosts cannot be listened to: {fault}")
}

fn known_agent(agent: &KnownAgent) -> mpiscope_link::KnownAgent {
    mpiscope_link::KnownAgent {
        identity: agent.identity,
        node: agent.node.clone(),
        next: agent.next_sequence,
        is_finished: agent.is_finished,
    }
}
