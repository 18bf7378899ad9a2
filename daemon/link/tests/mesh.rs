//! Processes of an analysis, as threads: they meet, each pair exchanges bytes, and a lost one is noticed.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use mpiscope_link::{
    Certificate, LinkError, Meeting, MeetingOptions, MemberOptions, Mesh, STREAMS, Secret, join,
};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);
const PLAN: &[u8] = b"the plan";

struct Setting {
    secret: Secret,
    certificate: Option<Certificate>,
}

type Joined = JoinHandle<Result<(Mesh, Vec<u8>), LinkError>>;

impl Setting {
    fn new(is_encrypted: bool) -> Self {
        let certificate = is_encrypted.then(|| Certificate::make().unwrap());
        Self { secret: Secret::draw().unwrap(), certificate }
    }

    fn meeting(&self, others: usize) -> Meeting {
        Meeting::open(MeetingOptions {
            address: ([127, 0, 0, 1], 0).into(),
            secret: self.secret.clone(),
            certificate: self.certificate.clone(),
            others,
        })
        .unwrap()
    }

    fn options(&self, center: SocketAddr, number: usize) -> MemberOptions {
        MemberOptions {
            addresses: vec!["127.0.0.1:1".into(), center.to_string()],
            secret: self.secret.clone(),
            certificate: self.certificate.as_ref().map(|certificate| certificate.public().to_owned()),
            number,
            patience: LIMIT,
        }
    }

    fn join(&self, center: SocketAddr, number: usize) -> Joined {
        let options = self.options(center, number);
        spawn(move || join(options))
    }

    /// Connected processes, by number.
    fn meet(&self, processes: usize) -> Vec<Mesh> {
        let meeting = self.meeting(processes - 1);
        let center = meeting.address();
        let joining: Vec<_> = (1..processes).rev().map(|number| self.join(center, number)).collect();
        let first = meeting.hold(PLAN, LIMIT, &|| true).unwrap();
        complete(first, joining)
    }
}

fn complete(first: Mesh, joining: Vec<Joined>) -> Vec<Mesh> {
    let mut meshes = vec![first];
    for joined in joining {
        let (mesh, plan) = joined.join().unwrap().unwrap();
        assert_eq!(plan, PLAN);
        meshes.push(mesh);
    }
    meshes.sort_by_key(|mesh| mesh.number);
    let count = meshes.len();
    for (number, mesh) in meshes.iter_mut().enumerate() {
        assert_eq!((mesh.number, mesh.peers.len()), (number, count));
        for (peer, streams) in mesh.peers.iter().enumerate() {
            assert_eq!(streams.is_none(), peer == number);
            // A test that hangs fails.
            for stream in streams.iter().flatten() {
                stream.set_read_timeout(Some(LIMIT)).unwrap();
                stream.set_write_timeout(Some(LIMIT)).unwrap();
            }
        }
    }
    meshes
}

fn streams(mesh: &Mesh) -> impl Iterator<Item = (usize, usize, &UnixStream)> {
    let peers = mesh.peers.iter().enumerate().filter_map(|(peer, streams)| Some((peer, streams.as_ref()?)));
    peers.flat_map(|(peer, streams)| {
        streams.iter().enumerate().map(move |(number, stream)| (peer, number, stream))
    })
}

/// Bytes that no other stream has.
fn pattern(from: usize, to: usize, stream: usize, length: usize) -> Vec<u8> {
    let seed = (from * 31 + to) * 31 + stream;
    (0..length).map(|at| (at.wrapping_mul(at / 251 + 7) + seed) as u8).collect()
}

/// Everything up to the end, however the stream ends.
fn read_all(mut stream: &UnixStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

fn read_some(mut stream: &UnixStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// Each process sends this number of bytes on each stream, all at once, then says that nothing follows.
fn exchange(meshes: &[Mesh], length: usize) {
    std::thread::scope(|scope| {
        for mesh in meshes {
            for (peer, number, mut stream) in streams(mesh) {
                let own = mesh.number;
                scope.spawn(move || {
                    stream.write_all(&pattern(own, peer, number, length)).unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                });
                scope.spawn(move || assert!(read_all(stream) == pattern(peer, own, number, length)));
            }
        }
    });
}

#[test]
fn each_process_is_connected_with_each() {
    for is_encrypted in [true, false] {
        for processes in [1, 2, 3, 4] {
            let meshes = Setting::new(is_encrypted).meet(processes);
            for mesh in &meshes {
                for (peer, number, mut stream) in streams(mesh) {
                    stream.write_all(&pattern(mesh.number, peer, number, 300)).unwrap();
                }
            }
            for mesh in &meshes {
                for (peer, number, stream) in streams(mesh) {
                    assert_eq!(read_some(stream, 300), pattern(peer, mesh.number, number, 300));
                }
            }
            exchange(&meshes, 1000);
        }
    }
}

#[test]
fn large_transfers_go_both_ways_at_once() {
    for is_encrypted in [true, false] {
        exchange(&Setting::new(is_encrypted).meet(3), (3 << 20) + 17);
    }
}

#[test]
fn one_direction_ends_and_the_other_stays() {
    let meshes = Setting::new(true).meet(2);
    let stream = |own: usize, number: usize| &meshes[own].peers[1 - own].as_ref().unwrap()[number];
    for number in 0..STREAMS {
        let (mut one, mut two) = (stream(0, number), stream(1, number));
        one.write_all(b"the last").unwrap();
        one.shutdown(Shutdown::Write).unwrap();
        assert_eq!(read_all(two), b"the last");
        // The other way is still open, both times.
        for _ in 0..2 {
            two.write_all(b"answer").unwrap();
            assert_eq!(read_some(one, 6), b"answer");
        }
        two.shutdown(Shutdown::Write).unwrap();
        assert_eq!(read_all(one), b"");
    }
}

#[test]
fn what_was_written_before_the_end_arrives() {
    let mut meshes = Setting::new(true).meet(3);
    for (peer, number, mut stream) in streams(&meshes[0]) {
        stream.write_all(&pattern(0, peer, number, 50_000)).unwrap();
    }
    drop(meshes.remove(0));
    for mesh in &meshes {
        for (number, stream) in mesh.peers[0].iter().flatten().enumerate() {
            assert!(read_all(stream) == pattern(0, mesh.number, number, 50_000));
        }
    }
}

/// Streams may be used elsewhere when the mesh is dropped.
#[test]
fn dropping_ends_streams_that_are_still_used() {
    let mut meshes = Setting::new(true).meet(2);
    let [mut first, second] = meshes[0].peers[1].take().unwrap();
    first.write_all(b"first").unwrap();
    drop(meshes.remove(0));
    assert!(first.write_all(b"late").is_err());
    assert_eq!(read_all(&first), b"");
    assert_eq!(read_all(&second), b"");
    let [one, two] = meshes[0].peers[0].as_ref().unwrap();
    assert_eq!(read_all(one), b"first");
    assert_eq!(read_all(two), b"");
}

/// Writes until that fails.
fn write_until_end(mut stream: &UnixStream) {
    let begun = Instant::now();
    while stream.write_all(&[1; 10_000]).is_ok() {
        assert!(begun.elapsed() < LIMIT);
    }
}

#[test]
fn a_lost_process_is_noticed_by_all_others() {
    let mut meshes = Setting::new(true).meet(3);
    drop(meshes.remove(1));
    std::thread::scope(|scope| {
        for mesh in &meshes {
            for stream in mesh.peers[1].iter().flatten() {
                scope.spawn(move || assert_eq!(read_all(stream), b""));
                // Writers notice as well.
                scope.spawn(move || write_until_end(stream));
            }
        }
    });
    // The others go on.
    let others = |mesh: &Mesh| mesh.peers[2 - mesh.number].as_ref().unwrap()[0].try_clone().unwrap();
    let (mut one, two) = (others(&meshes[0]), others(&meshes[1]));
    one.write_all(b"still here").unwrap();
    assert_eq!(read_some(&two, 10), b"still here");
}

/// A process that waits for memory of a stream is not taken for lost, and its bytes wait.
#[test]
fn who_does_not_read_makes_the_other_wait() {
    let meshes = Setting::new(true).meet(2);
    let [one, _] = meshes[0].peers[1].as_ref().unwrap();
    let [two, _] = meshes[1].peers[0].as_ref().unwrap();
    // More than all buffers hold: the writer stops.
    one.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut written = 0;
    while let Ok(count) = { one }.write(&[2; 100_000]) {
        written += count;
        assert!(written < 1 << 30);
    }
    one.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_all(two).len(), written);
}

#[test]
fn strangers_get_nowhere_and_end_nothing() {
    for is_encrypted in [true, false] {
        let setting = Setting::new(is_encrypted);
        let meeting = setting.meeting(2);
        let center = meeting.address();
        // Some are silent, some talk, one announces a large packet, some leave at once.
        let mut strangers: Vec<_> = (0..20).map(|_| TcpStream::connect(center).unwrap()).collect();
        for (at, stranger) in strangers.iter_mut().enumerate().skip(5) {
            let garbage = if at % 2 == 0 { vec![0xff; 100] } else { b"GET / HTTP/1.1\r\n\r\n".to_vec() };
            stranger.write_all(&garbage).unwrap();
        }
        strangers.truncate(15);
        let wrong = Setting { secret: Secret::draw().unwrap(), certificate: setting.certificate.clone() };
        let wrong = wrong.join(center, 2);
        let (first, joining) = std::thread::scope(|scope| {
            let first = scope.spawn(|| meeting.hold(PLAN, LIMIT, &|| true).unwrap());
            let refused = wrong.join().unwrap().unwrap_err();
            assert_eq!(refused.to_string(), "refused: it does not know the secret of this run");
            let joining = vec![setting.join(center, 1), setting.join(center, 2)];
            (first.join().unwrap(), joining)
        });
        exchange(&complete(first, joining), 1000);
        drop(strangers);
    }
}

/// Who knows the secret is not deceived by somebody who does not.
#[test]
fn a_center_without_the_secret_is_refused() {
    let setting = Setting::new(true);
    let other = Setting { secret: Secret::draw().unwrap(), certificate: setting.certificate.clone() };
    let meeting = other.meeting(1);
    let joining = setting.join(meeting.address(), 1);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let holding = scope.spawn(|| meeting.hold(PLAN, LIMIT, &|| !is_over.load(Ordering::SeqCst)));
        assert!(matches!(joining.join().unwrap(), Err(LinkError::Refused(_))));
        is_over.store(true, Ordering::SeqCst);
        assert!(matches!(holding.join().unwrap(), Err(LinkError::Stopped)));
    });
}

#[test]
fn wrong_numbers_are_refused() {
    let setting = Setting::new(true);
    let meeting = setting.meeting(2);
    let center = meeting.address();
    let refusal = |number| setting.join(center, number).join().unwrap().unwrap_err().to_string();
    assert_eq!(refusal(0), "process 0 cannot join: the others' numbers begin with 1");
    let (first, joining) = std::thread::scope(|scope| {
        let first = scope.spawn(|| meeting.hold(PLAN, LIMIT, &|| true).unwrap());
        assert_eq!(refusal(3), "refused: process 3 is not wanted: the others have the numbers 1 to 2");
        // Of two with the same number, one is refused.
        let (send, refused) = std::sync::mpsc::channel();
        let twins = [(); 2].map(|()| {
            let (options, send) = (setting.options(center, 1), send.clone());
            spawn(move || {
                let joined = join(options);
                if let Err(error) = &joined {
                    send.send(error.to_string()).unwrap();
                }
                joined
            })
        });
        let why = "refused: the number 1 is taken: process 1 has already come";
        assert_eq!(refused.recv_timeout(LIMIT).unwrap(), why);
        let mut joining = Vec::from(twins);
        joining.push(setting.join(center, 2));
        (first.join().unwrap(), joining)
    });
    let joining = joining.into_iter().map(|joined| joined.join().unwrap()).filter(Result::is_ok);
    let joining = joining.map(|joined| spawn(move || joined)).collect();
    exchange(&complete(first, joining), 1000);
}

#[test]
fn missing_processes_are_named() {
    let setting = Setting::new(true);
    for patience in (0..6).map(|power| Duration::from_secs(1 << power)) {
        let meeting = setting.meeting(3);
        let joining = setting.join(meeting.address(), 2);
        let error = meeting.hold(PLAN, patience, &|| true).unwrap_err().to_string();
        let refusal = joining.join().unwrap().unwrap_err().to_string();
        // A busy machine may need more patience until process 2 is there.
        if error.starts_with("processes 1 and 3") {
            let why = format!("processes 1 and 3 did not come within {} s", patience.as_secs());
            assert_eq!((error, refusal), (why.clone(), why));
            return;
        }
    }
    panic!("process 2 did not come");
}

/// A process that gave up while others were missing may be started again.
#[test]
fn a_process_may_come_again() {
    let setting = Setting::new(true);
    let meeting = setting.meeting(2);
    let center = meeting.address();
    let holding = spawn(move || meeting.hold(PLAN, LIMIT, &|| true).unwrap());
    // Either while it waits for the others, or before it has reached process 0.
    let impatient = MemberOptions { patience: Duration::from_millis(500), ..setting.options(center, 1) };
    assert!(matches!(join(impatient), Err(LinkError::Mesh(_))));
    let second = setting.join(center, 2);
    let again = loop {
        match join(setting.options(center, 1)) {
            // Process 0 has not noticed yet.
            Err(LinkError::Refused(_)) => {}
            joined => break spawn(move || joined),
        }
    };
    exchange(&complete(holding.join().unwrap(), vec![again, second]), 1000);
}

#[test]
fn a_meeting_without_others_is_over_at_once() {
    let mesh = Setting::new(true).meeting(0).hold(PLAN, Duration::ZERO, &|| true).unwrap();
    assert!(mesh.peers.len() == 1 && mesh.peers[0].is_none());
}

#[test]
fn a_process_that_finds_nobody_says_so() {
    let setting = Setting::new(true);
    let mut options = setting.options(([127, 0, 0, 1], 1).into(), 1);
    options.patience = Duration::from_millis(200);
    let error = join(options).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot reach process 0 at 127.0.0.1:1, 127.0.0.1:1 within 0.2 s: "),
        "{error}"
    );
}

#[test]
fn a_plan_and_a_number_of_processes_have_bounds() {
    let setting = Setting::new(false);
    assert!(setting.meeting(0).hold(&vec![0; (1 << 20) + 1], LIMIT, &|| true).is_err());
    let options = MeetingOptions {
        address: ([127, 0, 0, 1], 0).into(),
        secret: setting.secret.clone(),
        certificate: None,
        others: 1 << 20,
    };
    assert!(Meeting::open(options).is_err());
}
