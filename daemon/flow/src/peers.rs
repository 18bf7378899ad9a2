//! The other workers, as one of them sees them: what goes to each, and what came from them.

use crate::gate::Gate;
use crate::packet::{Command, Packet};
use crate::parcel::CENTER;
use crate::remote::{OwnWorkers, Remote};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use mpiscope_diagnosis::Pushes;
use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// How often a worker that waits for another looks whether all is over.
const LOOK: Duration = Duration::from_millis(20);

/// How long a worker looks for what it waits for before it sleeps, and how often between two looks at the time.
const AWAKE: Duration = Duration::from_micros(50);
const TRIES: u32 = 64;

/// All is over: a worker panicked, or nobody wants to know any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

/// The way to a worker.
#[derive(Clone)]
enum Way {
    /// In this process, by its place there.
    Local(usize, Sender<(usize, Packet)>),
    Remote(Arc<Remote>),
}

/// The other workers.
pub(crate) struct Peers {
    number: usize,
    /// The first that has any ranks.
    first: usize,
    ways: Arc<[Way]>,
    /// The other processes.
    remotes: Arc<[Arc<Remote>]>,
    from: Receiver<(usize, Packet)>,
    /// What came before it was waited for.
    early: VecDeque<(usize, Packet)>,
    gate: Arc<Gate>,
    turn: u64,
    /// There are CPUs for all workers: one that stays awake takes none from another.
    spins: bool,
}

impl Peers {
    /// Those of each worker of a flow within one process.
    #[cfg(test)]
    pub(crate) fn all(workers: usize, gate: &Arc<Gate>) -> Vec<Self> {
        Self::of_process((0, workers), vec![None], 0, gate).unwrap().0
    }

    /// Those of each worker of a process with this number and number of threads, and these streams to the others; and the ways to the
    /// others.
    pub(crate) fn of_process(
        (process, threads): (usize, usize),
        streams: Vec<Option<UnixStream>>,
        first: usize,
        gate: &Arc<Gate>,
    ) -> std::io::Result<(Vec<Self>, Vec<Arc<Remote>>)> {
        // What comes from another process takes longer than it is worth to stay awake.
        let is_alone = streams.len() == 1;
        let spins = is_alone && available_parallelism().is_ok_and(|cpus| cpus.get() >= threads);
        let (to, from): (Vec<_>, Vec<_>) = (0..threads).map(|_| unbounded()).unzip();
        let own = OwnWorkers { process, first: process * threads, to, gate: Arc::clone(gate) };
        let (mut ways, mut remotes) = (Vec::with_capacity(threads * streams.len()), Vec::new());
        for (other, stream) in streams.into_iter().enumerate() {
            match stream {
                None => ways.extend(own.to.iter().cloned().enumerate().map(|(at, to)| Way::Local(at, to))),
                Some(stream) => {
                    let remote = Remote::open(other, stream, own.clone())?;
                    ways.extend(std::iter::repeat_n(Way::Remote(Arc::clone(&remote)), threads));
                    remotes.push(remote);
                }
            }
        }
        let (ways, of_peers): (Arc<[Way]>, Arc<[Arc<Remote>]>) = (ways.into(), remotes.clone().into());
        let peers = |(number, from)| Self {
            number,
            first,
            ways: Arc::clone(&ways),
            remotes: Arc::clone(&of_peers),
            from,
            early: VecDeque::new(),
            gate: Arc::clone(gate),
            turn: 0,
            spins,
        };
        Ok(((own.first..).zip(from).map(peers).collect(), remotes))
    }

    pub(crate) fn count(&self) -> usize {
        self.ways.len()
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn is_center(&self) -> bool {
        self.number == CENTER
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.number;
        (0..self.ways.len()).filter(move |peer| *peer != own)
    }

    pub(crate) fn send(&self, to: usize, packet: Packet) {
        match &self.ways[to] {
            Way::Local(at, way) => {
                // One that is gone needs nothing any more.
                let _ = way.send((self.number, packet));
                self.gate.wake(*at);
            }
            Way::Remote(remote) => remote.send(to, self.number, packet),
        }
    }

    /// Has all others do something.
    pub(crate) fn command(&self, command: &Command) {
        for (peer, way) in self.ways.iter().enumerate() {
            if matches!(way, Way::Local(..)) && peer != self.number {
                self.send(peer, Packet::Command(command.clone()));
            }
        }
        self.remotes.iter().for_each(|remote| remote.command(self.number, command));
    }

    /// Something that is there already.
    pub(crate) fn look<T>(&mut self, wanted: impl Fn(usize, Packet) -> Result<T, Packet>) -> Option<T> {
        self.early.extend(self.from.try_iter());
        for skipped in 0..self.early.len() {
            let (from, packet) = self.early.pop_front()?;
            match wanted(from, packet) {
                Ok(found) => {
                    // What was skipped stays in its order before the rest.
                    self.early.rotate_right(skipped);
                    return Some(found);
                }
                Err(packet) => self.early.push_back((from, packet)),
            }
        }
        None
    }

    /// Waits for something.
    pub(crate) fn wait<T>(
        &mut self,
        wanted: impl Fn(usize, Packet) -> Result<T, Packet>,
    ) -> Result<T, Stopped> {
        loop {
            if let Some(found) = self.look(&wanted) {
                return Ok(found);
            }
            if self.spin() {
                continue;
            }
            match self.from.recv_timeout(LOOK) {
                Ok(packet) => self.early.push_back(packet),
                Err(RecvTimeoutError::Timeout) if !self.gate.is_over() => {}
                Err(_) => return Err(Stopped),
            }
        }
    }

    /// Whether something comes soon: others are mostly as busy as this one, and to be woken takes longer than that.
    fn spin(&mut self) -> bool {
        let begin = self.spins.then(Instant::now);
        while begin.is_some_and(|begin| begin.elapsed() < AWAKE) {
            for _ in 0..TRIES {
                if let Ok(packet) = self.from.try_recv() {
                    self.early.push_back(packet);
                    return true;
                }
                std::hint::spin_loop();
            }
        }
        false
    }

    /// The next command of the center.
    pub(crate) fn wait_for_command(&mut self) -> Result<Command, Stopped> {
        self.wait(|_, packet| if let Packet::Command(command) = packet { Ok(command) } else { Err(packet) })
    }

    /// One answer of each other worker.
    pub(crate) fn wait_for_all<T>(
        &mut self,
        wanted: impl Fn(usize, Packet) -> Result<T, Packet>,
    ) -> Result<Vec<T>, Stopped> {
        self.others().map(|_| self.wait(&wanted)).collect()
    }

    /// Hands over what others need, and returns what came from them; none when nobody needed anything. All workers with ranks do it
    /// the same number of times; the others need nothing.
    pub(crate) fn exchange(&mut self, pushes: Option<Vec<Pushes>>) -> Result<Option<Vec<Pushes>>, Stopped> {
        if self.number < self.first {
            return Ok(None);
        }
        self.turn += 1;
        let turn = self.turn;
        let mut moves = pushes.is_some();
        let mut pushes = pushes.map(|pushes| pushes.into_iter().map(Some).collect::<Vec<_>>());
        let first = self.first;
        let others = || self.others().filter(move |peer| *peer >= first);
        for peer in others() {
            let pushes = pushes.as_mut().and_then(|pushes| pushes[peer].take()).filter(|of| !of.is_empty());
            self.send(peer, Packet::Turn(turn, pushes, moves));
        }
        let wanted = |_, packet| match packet {
            Packet::Turn(of, pushes, moves) if of == turn => Ok((pushes, moves)),
            packet => Err(packet),
        };
        let count = others().count();
        let received = (0..count).map(|_| self.wait(wanted)).collect::<Result<Vec<_>, _>>()?;
        moves |= received.iter().any(|(_, moves)| *moves);
        Ok(moves.then(|| received.into_iter().filter_map(|(pushes, _)| pushes).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FlowError;

    #[test]
    fn whoever_waits_is_released_when_a_worker_fails() {
        let gate = Arc::new(Gate::new(100, 10));
        let mut peers = Peers::all(3, &gate).into_iter();
        let (mut center, mut other) = (peers.next().unwrap(), peers.next().unwrap());
        let waiting = std::thread::spawn(move || other.exchange(None).map(|_| ()));
        // It waits for the center, which never takes its turn.
        let turn = |_, packet| if let Packet::Turn(turn, ..) = packet { Ok(turn) } else { Err(packet) };
        assert_eq!(center.wait(turn), Ok(1));
        gate.fail(FlowError::Failed("it panicked".to_owned()));
        assert_eq!(waiting.join().unwrap(), Err(Stopped));
    }

    #[test]
    fn what_comes_early_is_kept_until_its_turn() {
        let gate = Arc::new(Gate::new(100, 10));
        let mut peers = Peers::all(2, &gate).into_iter();
        let (mut one, mut other) = (peers.next().unwrap(), peers.next().unwrap());
        one.send(1, Packet::Turn(2, None, false));
        one.send(1, Packet::Command(Command::Finish));
        one.send(1, Packet::Turn(1, Some(Pushes::default()), true));
        // Something moved in the first turn, and nothing in the second.
        assert_eq!(other.exchange(None).unwrap().map(|pushes| pushes.len()), Some(1));
        assert!(other.exchange(None).unwrap().is_none());
        assert!(matches!(other.wait_for_command(), Ok(Command::Finish)));
        let turn = |_, packet| if let Packet::Turn(turn, ..) = packet { Ok(turn) } else { Err(packet) };
        assert_eq!([one.wait(turn).unwrap(), one.wait(turn).unwrap()], [1, 2]);
    }
}
