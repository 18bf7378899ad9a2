//! Both sides over real sockets: everything arrives once, whatever happens to the connection; strangers get nowhere.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use mpiscope_link::{
    CallerOptions, Certificate, Event, KnownAgent, LinkError, Listener, ListenerOptions, Outbox, Parcel,
    Secret, call,
};
use mpiscope_wire::{ClockSample, Flight, Message};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(30);

fn now() -> u64 {
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Ahead of the daemon's by a thousand seconds.
fn agents_now() -> u64 {
    now() + 1_000_000_000_000
}

/// This number of clock samples, each with its number.
struct SampleOutbox {
    count: u64,
    acknowledged: AtomicU64,
    ended: AtomicBool,
}

impl SampleOutbox {
    fn new(count: u64) -> Self {
        Self { count, acknowledged: AtomicU64::new(0), ended: AtomicBool::new(false) }
    }
}

impl Outbox for SampleOutbox {
    fn take(&self, from: u64, _: usize) -> std::io::Result<Option<Parcel>> {
        let until = self.count.min(from + 10);
        let mut bytes = Vec::new();
        (from..until).for_each(|at| {
            Message::ClockSample(ClockSample { ticks: at, monotonic_ns: at }).encode(&mut bytes);
        });
        let frames = until.saturating_sub(from) as u32;
        Ok((frames > 0).then_some(Parcel { first: from, frames, bytes }))
    }

    fn acknowledged(&self, next: u64) {
        self.acknowledged.fetch_max(next, Ordering::SeqCst);
    }

    fn heard(&self) {}

    fn flights(&self) -> Option<Vec<Flight>> {
        None
    }

    fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    fn switch(&self, _: bool) {}

    fn last(&self) -> Option<u64> {
        self.ended.load(Ordering::SeqCst).then_some(self.count)
    }
}

/// Wakes the thread that makes this.
fn waking_this() -> Arc<dyn Fn() + Send + Sync> {
    let thread = std::thread::current();
    Arc::new(move || thread.unpark())
}

struct Setting {
    secret: Secret,
    certificate: Certificate,
}

impl Setting {
    fn new() -> Self {
        Self { secret: Secret::draw().unwrap(), certificate: Certificate::make().unwrap() }
    }

    fn listener(&self, port: u16, known: Vec<KnownAgent>) -> Listener {
        let options = ListenerOptions {
            address: ([127, 0, 0, 1], port).into(),
            secret: self.secret.clone(),
            certificate: Some(self.certificate.clone()),
            now,
            known,
            arrived: waking_this(),
        };
        // A daemon that is started again may find its port still busy for a moment.
        let begun = Instant::now();
        loop {
            let made = ListenerOptions {
                certificate: options.certificate.clone(),
                known: options.known.clone(),
                secret: options.secret.clone(),
                arrived: Arc::clone(&options.arrived),
                ..options
            };
            match Listener::open(made) {
                Ok(listener) => return listener,
                Err(error) => assert!(begun.elapsed() < LIMIT, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn options(&self, port: u16) -> CallerOptions {
        CallerOptions {
            addresses: vec!["127.0.0.1:1".into(), format!("127.0.0.1:{port}")],
            secret: self.secret.clone(),
            certificate: Some(self.certificate.public().to_owned()),
            identity: 77,
            node: "node\u{7}7".into(),
            now: Arc::new(agents_now),
            wake: Arc::default(),
        }
    }
}

fn calling(
    options: CallerOptions,
    outbox: Arc<SampleOutbox>,
) -> std::thread::JoinHandle<Result<(), LinkError>> {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { tokio::time::timeout(LIMIT, call(&options, &*outbox)).await.unwrap() })
    })
}

/// What a daemon keeps: the numbers of clock samples in order, without repeated ones.
#[derive(Default)]
struct Received {
    ticks: Vec<u64>,
    joined: Vec<(u32, u128, String)>,
    trips: Vec<mpiscope_wire::RoundTrip>,
}

impl Received {
    fn take(&mut self, listener: &mut Listener) {
        while let Some(event) = listener.next_event() {
            match event {
                Event::Joined { agent, identity, node } => self.joined.push((agent, identity, node)),
                Event::Frames { agent, first, frames, .. } => {
                    let wanted = self.ticks.len() as u64;
                    assert!(first <= wanted, "a gap: {first} when {wanted} was wanted");
                    let fresh = frames.iter().skip((wanted - first) as usize);
                    for (_, message) in fresh {
                        let Message::ClockSample(sample) = message else { panic!("{message:?}") };
                        self.ticks.push(sample.ticks);
                    }
                    listener.taken(agent, self.ticks.len() as u64);
                }
                Event::RoundTrip(trip) => self.trips.push(trip),
                Event::Flights { .. } => {}
            }
        }
    }

    fn until(&mut self, listener: &mut Listener, mut done: impl FnMut(&Self, &Listener) -> bool) {
        let begun = Instant::now();
        while !done(self, listener) {
            assert!(begun.elapsed() < LIMIT, "{} samples", self.ticks.len());
            self.take(listener);
            // What should not wait is sent at once; the rest is looked for now and then.
            if !done(self, listener) {
                std::thread::park_timeout(Duration::from_secs(1));
            }
        }
    }
}

fn is_finished(_: &Received, listener: &Listener) -> bool {
    listener.agent_states().iter().any(|state| state.is_finished)
}

#[test]
fn everything_arrives_once_and_clocks_are_compared() {
    let setting = Setting::new();
    let mut listener = setting.listener(0, Vec::new());
    let outbox = Arc::new(SampleOutbox::new(1000));
    let caller = calling(setting.options(listener.address().port()), Arc::clone(&outbox));
    let mut kept = Received::default();
    kept.until(&mut listener, |kept, _| kept.ticks.len() == 1000);
    listener.end();
    kept.until(&mut listener, |kept, listener| is_finished(kept, listener) && kept.trips.len() >= 24);
    caller.join().unwrap().unwrap();
    assert_eq!(kept.ticks, (0..1000).collect::<Vec<_>>());
    assert_eq!(kept.joined, [(1, 77, "node7".to_owned())]);
    assert_eq!(outbox.acknowledged.load(Ordering::SeqCst), 1000);
    let wrong = |trip: &&mpiscope_wire::RoundTrip| {
        (trip.offset_ns + 1_000_000_000_000).unsigned_abs() > trip.uncertainty_ns
    };
    assert_eq!(kept.trips.iter().filter(wrong).count(), 0);
}

/// A wire between both sides that is cut again and again.
fn cut_often(to: u16, pieces: usize) -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let turn = Mutex::new(0_usize);
        for incoming in socket.incoming().flatten() {
            let Ok(outgoing) = TcpStream::connect(("127.0.0.1", to)) else { continue };
            let mut turn = turn.lock().unwrap();
            *turn += 1;
            // The first ones are cut after more and more bytes; later ones stay.
            let limit = if *turn > pieces { usize::MAX } else { 700 * *turn };
            let pipe = |mut from: TcpStream, mut into: TcpStream, mut left: usize| {
                std::thread::spawn(move || {
                    let mut chunk = [0; 512];
                    while let Ok(count @ 1..) = from.read(&mut chunk) {
                        if count > left || into.write_all(&chunk[..count]).is_err() {
                            break;
                        }
                        left = left.saturating_sub(count);
                    }
                    let _ =
                        (from.shutdown(std::net::Shutdown::Both), into.shutdown(std::net::Shutdown::Both));
                });
            };
            pipe(incoming.try_clone().unwrap(), outgoing.try_clone().unwrap(), limit);
            pipe(outgoing, incoming, usize::MAX);
        }
    });
    port
}

#[test]
fn a_connection_that_is_cut_again_and_again_loses_and_doubles_nothing() {
    let setting = Setting::new();
    let mut listener = setting.listener(0, Vec::new());
    let outbox = Arc::new(SampleOutbox::new(3000));
    let caller = calling(setting.options(cut_often(listener.address().port(), 20)), Arc::clone(&outbox));
    let mut kept = Received::default();
    kept.until(&mut listener, |kept, _| kept.ticks.len() == 3000);
    listener.end();
    kept.until(&mut listener, is_finished);
    caller.join().unwrap().unwrap();
    assert_eq!(kept.ticks, (0..3000).collect::<Vec<_>>());
}

#[test]
fn a_daemon_that_takes_over_goes_on_where_the_first_stopped() {
    let setting = Setting::new();
    let mut listener = setting.listener(0, Vec::new());
    let port = listener.address().port();
    let outbox = Arc::new(SampleOutbox::new(5000));
    let caller = calling(setting.options(port), Arc::clone(&outbox));
    let mut kept = Received::default();
    kept.until(&mut listener, |kept, _| kept.ticks.len() > 100);
    // What it had taken and not acknowledged is as lost as what it had not taken.
    drop(listener);
    kept.ticks.truncate(100);
    let mut second = setting.listener(
        port,
        vec![KnownAgent { identity: 77, node: "node7".into(), next: 100, is_finished: false }],
    );
    kept.until(&mut second, |kept, _| kept.ticks.len() == 5000);
    second.end();
    kept.until(&mut second, is_finished);
    caller.join().unwrap().unwrap();
    assert_eq!(kept.ticks, (0..5000).collect::<Vec<_>>());
    assert_eq!(kept.joined.len(), 1, "it was known to the second");
}

#[test]
fn who_does_not_know_the_secret_is_refused() {
    let setting = Setting::new();
    let mut listener = setting.listener(0, Vec::new());
    let wrong =
        CallerOptions { secret: Secret::draw().unwrap(), ..setting.options(listener.address().port()) };
    let refused = calling(wrong, Arc::new(SampleOutbox::new(10))).join().unwrap();
    assert!(matches!(&refused, Err(LinkError::Refused(why)) if why.contains("secret")), "{refused:?}");
    assert!(listener.next_event().is_none());
    assert!(listener.agent_states().is_empty());
}

#[test]
fn a_daemon_that_does_not_have_the_certificate_is_not_believed() {
    let setting = Setting::new();
    let listener = setting.listener(0, Vec::new());
    let other = Certificate::make().unwrap().public().to_owned();
    let options = CallerOptions { certificate: Some(other), ..setting.options(listener.address().port()) };
    let outbox = Arc::new(SampleOutbox::new(10));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // It tries again and again, and never speaks to it.
    let tried = runtime.block_on(async {
        tokio::time::timeout(Duration::from_millis(1500), call(&options, &*outbox)).await
    });
    assert!(tried.is_err());
    assert!(listener.agent_states().is_empty());
}

/// Without encryption: packets can be inspected and repeated.
fn plain(setting: &Setting) -> Listener {
    Listener::open(ListenerOptions {
        address: ([127, 0, 0, 1], 0).into(),
        secret: setting.secret.clone(),
        certificate: None,
        now,
        known: Vec::new(),
        arrived: waking_this(),
    })
    .unwrap()
}

/// Sends these bytes after the daemon's challenge came; says how many came back until it hung up.
fn say(listener: &Listener, bytes: &[u8]) -> usize {
    let mut stream = TcpStream::connect(listener.address()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut challenge = [0; 4];
    stream.read_exact(&mut challenge).unwrap();
    let mut rest = vec![0; u32::from_le_bytes(challenge) as usize];
    stream.read_exact(&mut rest).unwrap();
    // It may have hung up already.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer.len()
}

#[test]
fn what_was_said_once_is_worth_nothing_said_again() {
    let setting = Setting::new();
    let mut listener = plain(&setting);
    // Somebody between both writes down what the agent says.
    let between = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = between.local_addr().unwrap().port();
    let to = listener.address();
    let heard = std::thread::spawn(move || {
        let mut agent = between.accept().unwrap().0;
        let mut daemon = TcpStream::connect(to).unwrap();
        let (mut back, mut to_agent) = (daemon.try_clone().unwrap(), agent.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut back, &mut to_agent));
        let (mut heard, mut chunk) = (Vec::new(), [0; 4096]);
        while heard.len() < 400 {
            let count = agent.read(&mut chunk).unwrap();
            heard.extend(&chunk[..count]);
            daemon.write_all(&chunk[..count]).unwrap();
        }
        heard
    });
    let mut options = setting.options(port);
    options.certificate = None;
    options.addresses.remove(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outbox = SampleOutbox::new(10);
    let _ = runtime
        .block_on(async { tokio::time::timeout(Duration::from_secs(1), call(&options, &outbox)).await });
    let heard = heard.join().unwrap();
    let mut events = Vec::new();
    while let Some(event) = listener.next_event() {
        events.push(event);
    }
    assert!(
        matches!(events.first(), Some(Event::Joined { .. })),
        "the one who knew it was let in: {events:?}"
    );
    assert!(say(&listener, &heard) > 0);
    assert!(listener.next_event().is_none(), "who says it again is not");
}

#[test]
fn strangers_get_nowhere() {
    let setting = Setting::new();
    let mut listener = plain(&setting);
    let huge = u32::MAX.to_le_bytes();
    let mut empty_map = 1_u32.to_le_bytes().to_vec();
    empty_map.push(0x80);
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], &huge, &empty_map, &[]] {
        if bytes.is_empty() {
            continue;
        }
        let answer = say(&listener, bytes);
        assert!(answer < 200, "{answer} bytes for {bytes:?}");
    }
    assert!(listener.next_event().is_none());
    // The listener lives on.
    let caller = {
        let mut options = setting.options(listener.address().port());
        options.certificate = None;
        calling(options, Arc::new(SampleOutbox::new(20)))
    };
    let mut kept = Received::default();
    kept.until(&mut listener, |kept, _| kept.ticks.len() == 20);
    listener.end();
    kept.until(&mut listener, is_finished);
    caller.join().unwrap().unwrap();
}

#[test]
fn who_says_nothing_is_hung_up_on() {
    let setting = Setting::new();
    let listener = plain(&setting);
    let mut stream = TcpStream::connect(listener.address()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let end = stream.read_to_end(&mut Vec::new());
    assert!(!end.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "nobody hangs up");
}
