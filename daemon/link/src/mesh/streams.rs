//! The streams of one process to all others, and the thread that moves their bytes.

use crate::encryption::Stream;
use crate::error::LinkError;
use crate::mesh::tunnel::{Pace, becomes_true, tunnel};
use std::io::Read as _;
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Streams between each pair of processes: one for the dataflow, one for messages between workers.
pub const STREAMS: usize = 2;

/// Connects one process with all others. Each direction of a stream ends by itself when its writer shuts it down. A stream whose process is lost ends in both directions.
///
/// Dropping it ends the tunnels. Bytes that were written still go out, within two seconds.
pub struct Mesh {
    /// Its own number.
    pub number: usize,
    /// The streams to each process by number; `None` at its own.
    pub peers: Vec<Option<[UnixStream; STREAMS]>>,
    ending: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Shows no more than who is connected.
impl std::fmt::Debug for Mesh {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Mesh({} of {})", self.number, self.peers.len())
    }
}

/// The connections to one process.
pub(crate) type Remotes = [Box<dyn Stream>; STREAMS];

impl Mesh {
    /// Begins to move bytes. The connections belong to the runtime, which goes to a thread.
    pub(crate) fn begin(
        runtime: Runtime,
        number: usize,
        remotes: Vec<Option<Remotes>>,
        pace: Pace,
    ) -> Result<Self, LinkError> {
        let ending = watch::Sender::new(false);
        let (mut peers, mut tasks) = (Vec::new(), JoinSet::new());
        let guard = runtime.enter();
        for remotes in remotes {
            let Some(remotes) = remotes else {
                peers.push(None);
                continue;
            };
            let pairs = [UnixStream::pair()?, UnixStream::pair()?];
            let mut locals = Vec::new();
            for (local, remote) in
                pairs.each_ref().map(|(_, local)| local.try_clone()).into_iter().zip(remotes)
            {
                let local = local?;
                local.set_nonblocking(true)?;
                locals.push((tokio::net::UnixStream::from_std(local)?, remote));
            }
            peers.push(Some(pairs.map(|(stream, _)| stream)));
            tasks.spawn(serve(locals, pace, ending.subscribe()));
        }
        drop(guard);
        let thread = if tasks.is_empty() {
            None
        } else {
            let work = move || {
                runtime.block_on(tasks.join_all());
            };
            Some(std::thread::Builder::new().name("mesh".into()).spawn(work)?)
        };
        Ok(Self { number, peers, ending, thread })
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.peers.clear();
        self.ending.send_replace(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves all streams to one process. When one is lost, the process is: all of them end.
async fn serve(
    locals: Vec<(tokio::net::UnixStream, Box<dyn Stream>)>,
    pace: Pace,
    ending: watch::Receiver<bool>,
) {
    let mut tunnels = JoinSet::new();
    let lost = watch::Sender::new(false);
    for (mut local, remote) in locals {
        let (ending, is_lost, lost) = (ending.clone(), lost.subscribe(), lost.clone());
        tunnels.spawn(async move {
            let outcome = tokio::select! {
                outcome = tunnel(&mut local, remote, pace, ending) => outcome,
                () = becomes_true(is_lost) => Ok(()),
            };
            if outcome.is_err() {
                lost.send_replace(true);
            }
            close(&local);
        });
    }
    tunnels.join_all().await;
}

/// Shuts a stream down both ways: the other end reads what was delivered, then the end.
fn close(local: &tokio::net::UnixStream) {
    let Ok(direct) = local.as_fd().try_clone_to_owned() else { return };
    let mut direct = UnixStream::from(direct);
    let _ = direct.shutdown(Shutdown::Both);
    // Unread bytes would turn the end into an error.
    let mut rest = [0; 4096];
    while let Ok(1..) = direct.read(&mut rest) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::frame::{ALIVE, END, header};
    use std::io::Write as _;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    const PATIENT: Pace =
        Pace { alive_every: Duration::from_millis(2), silence: Duration::from_secs(100_000) };

    fn runtime() -> Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    fn mesh(number: usize, remotes: [DuplexStream; STREAMS], pace: Pace) -> Mesh {
        let mut peers = vec![None, None];
        peers[1 - number] = Some(remotes.map(|remote| Box::new(remote) as Box<dyn Stream>));
        Mesh::begin(runtime(), number, peers, pace).unwrap()
    }

    /// Process 0, and what process 1 has of the connections.
    fn half(pace: Pace) -> (Mesh, [DuplexStream; STREAMS]) {
        let pairs = [duplex(1000), duplex(1000)];
        let [(one, first), (two, second)] = pairs;
        (mesh(0, [one, two], pace), [first, second])
    }

    fn read_all(mut stream: &UnixStream) -> Vec<u8> {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn assert_lost(mesh: &Mesh, arrived: [&[u8]; STREAMS]) {
        for (stream, arrived) in mesh.peers[1].iter().flatten().zip(arrived) {
            assert_eq!(read_all(stream), arrived);
            assert!({ stream }.write_all(&[0]).is_err());
        }
    }

    #[test]
    fn a_silent_process_is_lost() {
        let pace = Pace { silence: Duration::from_millis(80), ..PATIENT };
        let (mesh, remotes) = half(pace);
        assert_lost(&mesh, [b"", b""]);
        drop(remotes);
    }

    #[test]
    fn a_process_says_that_it_is_alive() {
        let (_mesh, [mut remote, _second]) = half(PATIENT);
        let mut bytes = [1; 3 * ALIVE.len()];
        runtime().block_on(remote.read_exact(&mut bytes)).unwrap();
        assert_eq!(bytes, [ALIVE; 3].concat()[..]);
    }

    #[test]
    fn one_lost_connection_is_a_lost_process() {
        let (mesh, [mut first, _second]) = half(PATIENT);
        let bytes = [&header(5)[..], b"hello", &header(9), b"cut"].concat();
        runtime().block_on(first.write_all(&bytes)).unwrap();
        drop(first);
        assert_lost(&mesh, [b"hellocut", b""]);
    }

    #[test]
    fn a_damaged_connection_is_a_lost_process() {
        let (mesh, [mut first, _second]) = half(PATIENT);
        runtime().block_on(first.write_all(&(u32::MAX - 1).to_le_bytes())).unwrap();
        assert_lost(&mesh, [b"", b""]);
    }

    /// A process that has dropped its mesh ends one stream after the other.
    #[test]
    fn an_ended_connection_leaves_the_other_stream_alone() {
        let (mesh, [mut first, mut second]) = half(PATIENT);
        let [one, two] = mesh.peers[1].as_ref().unwrap();
        runtime().block_on(first.write_all(&[&header(1)[..], b"1", &END].concat())).unwrap();
        drop(first);
        assert_eq!(read_all(one), b"1");
        runtime().block_on(second.write_all(&[&header(1)[..], b"2", &END].concat())).unwrap();
        assert_eq!(read_all(two), b"2");
    }

    #[test]
    fn bytes_arrive_however_little_the_connection_takes() {
        let [(one, first), (two, second)] = [duplex(7), duplex(1)];
        let meshes = [mesh(0, [one, two], PATIENT), mesh(1, [first, second], PATIENT)];
        let bytes = |seed: usize| (0..5000).map(|at| (at * 7 + seed) as u8).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            for (own, mesh) in meshes.iter().enumerate() {
                for (number, mut stream) in mesh.peers[1 - own].iter().flatten().enumerate() {
                    scope.spawn(move || {
                        stream.write_all(&bytes(own * 2 + number)).unwrap();
                        stream.shutdown(Shutdown::Write).unwrap();
                        assert!(read_all(stream) == bytes((1 - own) * 2 + number));
                    });
                }
            }
        });
    }
}
