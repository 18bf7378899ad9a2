//! The processes that share a flow: the streams of the dataflow between them.

use crate::error::FlowError;
use crossbeam_channel::bounded;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::Builder;
use std::time::Duration;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::{
    CommsGuard, initialize_networking_from_sockets,
};
use timely::communication::allocator::zero_copy::stream::Stream;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};

/// How long the last bytes of the others are waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The processes that share a flow, as one of them sees them.
#[derive(Debug)]
pub struct Cluster {
    /// The number of this one: 0 is that of the center, where batches come in.
    pub number: usize,
    /// To each process two streams: for the dataflow, and for what workers tell each other. None to itself.
    pub peers: Vec<Option<[UnixStream; 2]>>,
}

impl Cluster {
    /// Processes that are connected with each other, for whoever runs all of them as threads.
    ///
    /// # Errors
    /// When the system has no sockets left.
    pub fn all(processes: usize) -> std::io::Result<Vec<Self>> {
        let none = || (0..processes).map(|_| None).collect();
        let mut all: Vec<Self> = (0..processes).map(|number| Self { number, peers: none() }).collect();
        for one in 0..processes {
            for other in one + 1..processes {
                let (data, words) = (UnixStream::pair()?, UnixStream::pair()?);
                all[one].peers[other] = Some([data.0, words.0]);
                all[other].peers[one] = Some([data.1, words.1]);
            }
        }
        Ok(all)
    }
}

/// The threads that carry the dataflow to other processes.
pub(crate) struct Carriers(Option<CommsGuard>);

impl Carriers {
    /// Of a flow within one process.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// All went well: waits until the others have everything. One that was lost after its goodbye sends no end: it is not waited
    /// for any longer.
    pub(crate) fn finish(mut self) {
        let Some(guard) = self.0.take() else { return };
        let (over, until_over) = bounded::<()>(0);
        let wait = move || {
            drop(guard);
            drop(over);
        };
        // Where no thread can be started, this one waits.
        if Builder::new().name("last-bytes".into()).spawn(wait).is_ok() {
            let _ = until_over.recv_timeout(PATIENCE);
        }
    }
}

impl Drop for Carriers {
    /// Something went wrong: the threads may wait for a process that is gone.
    fn drop(&mut self) {
        std::mem::forget(self.0.take());
    }
}

/// Connects the workers of this process with those of others.
pub(crate) fn connect(
    number: usize,
    threads: usize,
    streams: Vec<Option<UnixStream>>,
) -> Result<(Vec<AllocatorBuilder>, Carriers), FlowError> {
    let streams = streams.into_iter().map(|stream| stream.map(DataStream::new)).collect();
    let hooks = Hooks::default();
    let own = ProcessBuilder::new_typed_vector(threads, hooks.refill.clone(), None);
    let (builders, guard) = initialize_networking_from_sockets(own, streams, number, threads, hooks)
        .map_err(|error| FlowError::NoWorkers(error.to_string()))?;
    Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Carriers(Some(guard))))
}

/// The last bytes of a dataflow that has ended: a header of nothing but zeros.
const END_BYTES: usize = 48;

/// A stream whose other end may be lost without anybody panicking: the dataflow's own threads take any fault as a reason to. What
/// is lost is noticed on the other stream to the same process.
struct DataStream {
    stream: UnixStream,
    /// How many zeros came last.
    zeros: usize,
}

impl DataStream {
    fn new(stream: UnixStream) -> Self {
        Self { stream, zeros: 0 }
    }
}

impl Read for DataStream {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.stream.read(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) if self.zeros < END_BYTES => std::thread::park(),
                Ok(read) => {
                    let last = bytes[..read].iter().rev().take_while(|byte| **byte == 0).count();
                    self.zeros = if last == read { self.zeros.saturating_add(read) } else { last };
                    return Ok(read);
                }
                Err(_) => return Ok(0),
            }
        }
    }
}

impl Write for DataStream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.stream.write(bytes) {
            Err(error) if error.kind() != ErrorKind::Interrupted => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Stream for DataStream {
    fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self::new(self.stream.try_clone()?))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> std::io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> std::io::Result<()> {
        let _ = self.stream.shutdown(how);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timely::WorkerConfig;
    use timely::execute::execute_from;

    #[test]
    fn whoever_is_lost_after_a_goodbye_is_not_waited_for_for_ever() {
        let mut all = Cluster::all(2).unwrap();
        drop(all.pop());
        let streams = all.remove(0).peers.into_iter().map(|streams| streams.map(|[data, _]| data));
        let (builders, carriers) = connect(0, 1, streams.collect()).unwrap();
        let workers = execute_from(builders, Box::new(()), WorkerConfig::default(), |_| ()).unwrap();
        assert!(workers.join().into_iter().all(|left| left.is_ok()));
        carriers.finish();
    }
}
