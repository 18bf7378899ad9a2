//! The agent's thread: it empties the rings and what agents of other hosts bring, until the command is over.

use crate::protocol::Configuration;
use crate::queue::{Item, Sending};
use crate::remotes::Remotes;
use crate::switch;
use crossbeam_channel::{Receiver, TryRecvError};
use mpiscope_agent::{Agent, LINGER, LITTLE_SLOTS, OWN, Pass, REST, SHORT_REST};
use mpiscope_ring::clock::{clock_sample, monotonic_ns};
use mpiscope_wire::{Message, RunEnd, Switched};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What is little stays in a ring for so long at most, when somebody watches and when nobody does.
const LITTLE_WAITS: Duration = Duration::from_millis(10);
const LITTLE_WAITS_UNWATCHED: Duration = Duration::from_millis(50);
/// It is looked so often whether recording is to be switched.
const SWITCH_EVERY: Duration = Duration::from_millis(100);
/// How long ranks may take to begin once `run` is gone.
const BEGINNING: Duration = Duration::from_secs(10);

/// How the command ended, as far as this process knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandEnd {
    pub(crate) exit: Option<i32>,
}

/// What the agent's thread works with.
pub(crate) struct Watch {
    agent: Agent,
    remotes: Option<Remotes>,
    send: Sending,
    /// The recording's folder, which says whether calls are to be recorded.
    dir: PathBuf,
    is_on: bool,
    switch_seen: Instant,
    /// For how long calls are held back while recording is off.
    flight: Option<Duration>,
    /// How long ranks may go on when the command is over.
    linger: Duration,
}

impl Watch {
    /// Hands on to `send` what the agent, and those of other hosts, find of this run.
    pub(crate) fn new(
        configuration: &Configuration,
        agent: Agent,
        remotes: Option<Remotes>,
        send: Sending,
    ) -> Self {
        Self {
            agent,
            remotes,
            send,
            dir: configuration.out.clone(),
            is_on: true,
            switch_seen: Instant::now(),
            flight: configuration.flight,
            linger: LINGER,
        }
    }

    /// Collects what some work has to say, and hands it on as one item.
    fn hand_on<T>(
        &mut self,
        work: impl FnOnce(&mut Agent, &mut Option<Remotes>, &mut dyn FnMut(Message)) -> T,
    ) -> T {
        let mut messages = Vec::new();
        let done = work(&mut self.agent, &mut self.remotes, &mut |message| messages.push(message));
        let faults = self.agent.take_faults();
        let notices = self.agent.take_notices();
        let in_flight = self.agent.in_flight_if_due().map(|own| {
            let others = self.remotes.iter().flat_map(Remotes::in_flight);
            own.into_iter().map(|call| (OWN, call)).chain(others).collect()
        });
        if !messages.is_empty() || !faults.is_empty() || !notices.is_empty() || in_flight.is_some() {
            self.send.send(Item { messages, faults, notices, in_flight });
        }
        done
    }

    /// Hands on the first messages of a run.
    fn begin(&mut self, start: Message) {
        self.hand_on(|agent, _, sink| {
            agent.tell(start, sink);
            agent.tell(Message::ClockSample(clock_sample()), sink);
        });
    }

    /// Switches recording on or off where the folder says so.
    fn look_at_switch(&mut self) {
        let is_on = switch::is_on(&self.dir);
        self.switch_seen = Instant::now();
        if std::mem::replace(&mut self.is_on, is_on) == is_on {
            return;
        }
        if let Some(remotes) = &self.remotes {
            remotes.switch(is_on);
        }
        let flight = self.flight;
        self.hand_on(|agent, _, sink| {
            if !is_on {
                // What was made until now is recorded.
                agent.pass(sink);
            }
            agent.switch(is_on, sink);
            agent.tell(switched(is_on, flight), sink);
            agent.add_notice(match (is_on, flight.map(|span| span.as_secs())) {
                (true, None) => "recording is switched on".to_owned(),
                (true, Some(seconds)) => format!("recording is switched on, with the last {seconds} s"),
                (false, None) => {
                    "recording is switched off: calls are not recorded until it is on again".to_owned()
                }
                (false, Some(seconds)) => {
                    format!("recording is off: calls of the last {seconds} s are held back until it is on")
                }
            });
        });
    }

    fn pass(&mut self) -> Pass {
        self.hand_on(|agent, _, sink| agent.pass(sink))
    }

    /// Takes in what other hosts bring; says whether there was much.
    fn listen(&mut self) -> bool {
        // While the recorder is behind, what agents bring can wait in their spools; the rings here cannot.
        self.remotes.is_some()
            && !self.send.is_half_full()
            && self.hand_on(|agent, remotes, sink| {
                remotes.as_mut().is_some_and(|remotes| remotes.work(agent, sink))
            })
    }

    /// Whether no rank is left of a run that has been without a command since that moment.
    fn is_deserted(&self, alone_since: Instant) -> bool {
        // Ranks may not have begun yet.
        let begun = self.agent.census.world_size > 0 || alone_since.elapsed() > BEGINNING;
        let others = || self.remotes.as_ref().is_some_and(Remotes::any_at_work);
        begun && !self.agent.has_living() && !others()
    }

    /// Reads the rings if that is worth it. Returns how much they had.
    fn pass_if_worth(&mut self, waits: Duration) -> Pass {
        if self.agent.is_worth_a_pass(LITTLE_SLOTS, waits) { self.pass() } else { Pass::default() }
    }

    /// The command is over: takes in what is left, here and elsewhere.
    fn finish(&mut self, exit: Option<i32>) {
        let begun = Instant::now();
        loop {
            // Also tells the agents that it is over.
            let wait =
                self.remotes.as_mut().is_some_and(|remotes| remotes.is_worth_waiting(&self.agent, exit));
            let busy = self.listen();
            let found = self.hand_on(|agent, _, sink| agent.pass_all(sink));
            let lingers = (found.slots > 0 || self.agent.has_living()) && begun.elapsed() < self.linger;
            // However long it takes: nobody else will read what ranks have left that are gone.
            if !wait && !busy && !lingers && !self.agent.has_rest_of_gone() {
                break;
            }
            if !busy && !found.busy {
                std::thread::sleep(REST);
            }
        }
        let (flight, is_on) = (self.flight, self.is_on);
        self.hand_on(|agent, remotes, sink| {
            agent.look(sink);
            // Some may have ended since.
            agent.drain(Duration::ZERO, sink);
            agent.tell(Message::ClockSample(clock_sample()), sink);
            if flight.is_some() && !is_on {
                // The end of a job is recorded in any case.
                agent.switch(true, sink);
                agent.tell(switched(true, flight), sink);
            }
            remotes.iter_mut().for_each(|remotes| remotes.look(agent, sink));
            agent.tell(Message::RunEnd(RunEnd { exit, monotonic_ns: monotonic_ns() }), sink);
            agent.close();
        });
    }
}

/// Recording is switched now; what was held back until then counts as recorded.
fn switched(is_on: bool, flight: Option<Duration>) -> Message {
    let buffered_span = flight.filter(|_| is_on).unwrap_or_default();
    let monotonic_ns = monotonic_ns().saturating_sub(buffered_span.as_nanos() as u64);
    Message::Switched(Switched { is_on, monotonic_ns })
}

/// The agent's thread.
pub(crate) fn watch(
    mut watch: Watch,
    start: Option<Message>,
    ended: &Receiver<CommandEnd>,
    watched: impl Fn() -> bool,
) {
    if let Some(start) = start {
        watch.begin(start);
    }
    let mut alone_since = None;
    watch.look_at_switch();
    let exit = loop {
        if watch.switch_seen.elapsed() >= SWITCH_EVERY {
            watch.look_at_switch();
        }
        let waits = if watched() { LITTLE_WAITS } else { LITTLE_WAITS_UNWATCHED };
        let is_much_brought = watch.listen();
        let pass = watch.pass_if_worth(waits);
        match ended.try_recv() {
            Ok(CommandEnd { exit }) => break exit,
            Err(TryRecvError::Empty) => {}
            // `run` is gone: the run ends with its ranks.
            Err(TryRecvError::Disconnected) => {
                if watch.is_deserted(*alone_since.get_or_insert_with(Instant::now)) {
                    break None;
                }
            }
        }
        if !is_much_brought && !pass.busy {
            if pass.slots < LITTLE_SLOTS {
                watch.agent.rest(waits);
            } else {
                std::thread::sleep(SHORT_REST);
            }
        }
    };
    watch.finish(exit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::queue;
    use mpiscope_agent::Resume;
    use mpiscope_ring::{Capacities, Identity, Waker, Writer};
    use mpiscope_wire::ClockKind;

    #[test]
    fn what_ranks_have_left_is_read_however_long_that_takes() {
        let folder = tempfile::tempdir().unwrap();
        let identity = Identity {
            // No process has this number.
            pid: u32::MAX,
            made_ns: 5,
            rank: 0,
            world_size: 1,
            clock: ClockKind::Monotonic,
            cost_per_call_ns: 20.0,
            library: "Open MPI".into(),
            node: mpiscope_process::local_host::host_name(),
            constants: [-1, -2, -1],
        };
        let capacities = Capacities { first_slots: 1 << 15, ..Capacities::default() };
        let writer = Writer::create(folder.path(), &identity, capacities, || Waker::open(folder.path()).ok());
        let writer = writer.unwrap();
        // A pass takes a quarter of it.
        let written = 30_000;
        let (_, mut producer) = writer.claim(0).unwrap();
        assert!((0..written).all(|_| producer.push(&[], &[1; 4], 1)));
        let (send, receive) = queue();
        let agent = Agent::new(vec![folder.path().to_owned()], Resume::default(), None);
        let mut configuration = Configuration::of_run("run".into(), folder.path().join("out")).unwrap();
        configuration.rings = vec![folder.path().to_owned()];
        // As if the recorder had been behind for longer than ranks may linger.
        let mut watch = Watch { linger: Duration::ZERO, ..Watch::new(&configuration, agent, None, send) };
        watch.finish(Some(0));
        drop(watch);
        let mut read = 0;
        while let Ok(item) = receive.receive(Duration::from_secs(60), &|| false) {
            for message in item.messages {
                read += message.slot_count();
            }
        }
        assert_eq!(read, written);
    }
}
