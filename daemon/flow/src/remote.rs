//! The workers of another process: what goes to them and comes from them, on one stream.

use crate::error::FlowError;
use crate::frames::{END, from_bytes, read_frame, to_frame};
use crate::gate::Gate;
use crate::packet::{Command, Packet};
use crossbeam_channel::Sender;
use std::io::{BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

/// A packet on its way: to which worker, from which.
type Addressed = (usize, (usize, Packet));

/// All workers of a process, instead of the number of one.
const ALL: usize = usize::MAX;

/// The workers of this process, where what others send comes in.
#[derive(Clone)]
pub(crate) struct OwnWorkers {
    /// The number of this process.
    pub(crate) process: usize,
    /// The number of the first.
    pub(crate) first: usize,
    pub(crate) to: Vec<Sender<(usize, Packet)>>,
    pub(crate) gate: Arc<Gate>,
}

impl OwnWorkers {
    /// Gives a worker of this process, or all, what is for them.
    fn hand_over(&self, (to, (from, packet)): Addressed) -> Option<()> {
        match packet {
            Packet::Command(command) if to == ALL => {
                for own in 0..self.to.len() {
                    self.give(own, (from, Packet::Command(command.clone())))?;
                }
                Some(())
            }
            packet => self.give(to.checked_sub(self.first)?, (from, packet)),
        }
    }

    fn give(&self, own: usize, packet: (usize, Packet)) -> Option<()> {
        // One that is gone needs nothing any more.
        let _ = self.to.get(own)?.send(packet);
        self.gate.wake(own);
        Some(())
    }
}

/// The way to the workers of another process.
pub(crate) struct Remote {
    process: usize,
    stream: Mutex<UnixStream>,
    gate: Arc<Gate>,
}

impl Remote {
    /// Takes in what comes from them, on a thread of its own that ends with the stream.
    pub(crate) fn open(process: usize, stream: UnixStream, own: OwnWorkers) -> std::io::Result<Arc<Self>> {
        let reading = stream.try_clone()?;
        let gate = Arc::clone(&own.gate);
        std::thread::Builder::new().name(format!("process-{process}")).spawn(move || {
            if let Err(error) = take_in(process, reading, &own) {
                own.gate.fail(error);
            }
        })?;
        Ok(Arc::new(Self { process, stream: Mutex::new(stream), gate }))
    }

    fn write(&self, frame: std::io::Result<&[u8]>) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if frame.and_then(|frame| stream.write_all(frame)).is_err() {
            self.gate.fail(FlowError::Lost(self.process));
        }
    }

    pub(crate) fn send(&self, to: usize, from: usize, packet: Packet) {
        let frame = to_frame(&(to, (from, packet)));
        self.write(frame.as_deref().map_err(|error| error.kind().into()));
    }

    /// Has all of these workers do something.
    pub(crate) fn command(&self, from: usize, command: &Command) {
        self.send(ALL, from, Packet::Command(command.clone()));
    }

    /// The workers of this process leave everything as it is.
    pub(crate) fn say_failed(&self, error: &FlowError) {
        let lost = if let FlowError::Lost(process) = error { Some(*process) } else { None };
        self.send(0, 0, Packet::Failed(lost));
    }

    /// Nothing more comes from the workers of this process, and nothing went wrong.
    pub(crate) fn say_goodbye(&self) {
        self.write(Ok(&END));
    }
}

impl Drop for Remote {
    /// Without a goodbye, the others learn by it that something went wrong.
    fn drop(&mut self) {
        let stream = self.stream.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = stream.shutdown(Shutdown::Write);
    }
}

/// Takes in all until the other process says goodbye.
fn take_in(process: usize, stream: UnixStream, own: &OwnWorkers) -> Result<(), FlowError> {
    let mut stream = BufReader::new(stream);
    loop {
        let frame = read_frame(&mut stream).map_err(|_| FlowError::Lost(process))?;
        if frame.is_empty() {
            return Ok(());
        }
        match from_bytes::<Addressed>(&frame) {
            // One that has lost this process, or has a fault of its own, is lost itself.
            Some((_, (_, Packet::Failed(lost)))) => {
                return Err(FlowError::Lost(lost.filter(|lost| *lost != own.process).unwrap_or(process)));
            }
            addressed => {
                let taken = addressed.and_then(|addressed| own.hand_over(addressed));
                taken.ok_or(FlowError::Lost(process))?;
            }
        }
    }
}
