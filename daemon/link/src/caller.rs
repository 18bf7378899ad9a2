//! The agent's side: it calls the daemon, sends its frames, and calls again whenever the connection is lost.

use crate::batch::{MOST_BATCH_BYTES, pack};
use crate::encryption::{Connecting, Stream};
use crate::error::LinkError;
use crate::greeting::greet;
use crate::introduction::{AgentIntroduction, Purpose};
use crate::listener::ALIVE_EVERY;
use crate::packet::{MOST_BYTES, MOST_OF_STRANGERS, Packet, SILENCE, hear, say};
use crate::secret::Secret;
use crate::tcp::connect;
use mpiscope_wire::Flight;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, split};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

/// How long an address may take to answer, and a daemon to let us in.
const CONNECT: Duration = Duration::from_secs(1);
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Between two calls for the daemon, growing.
const FIRST_REST: Duration = Duration::from_millis(50);
const MOST_REST: Duration = Duration::from_secs(1);
/// What may be on its way without having been acknowledged.
const MOST_UNDERWAY_BYTES: usize = 8 << 20;
/// Without being woken, the agent looks so often whether there is something to bring.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Comparisons of clocks at the beginning and at the end, and the rest between two of them then and otherwise.
const BURST: u32 = 16;
const BURST_REST: Duration = Duration::from_millis(1);
const CLOCK_EVERY: Duration = Duration::from_millis(100);
/// The rest grows to this: a thousand agents ask one daemon.
const CLOCK_EVERY_LATER: Duration = Duration::from_millis(500);
/// Frames wait so long for the clocks to be compared first.
const CLOCK_FIRST: Duration = Duration::from_secs(2);

/// Frames as they lie in the agent's keeping.
pub struct Parcel {
    /// The number of the first.
    pub first: u64,
    /// How many.
    pub frames: u32,
    /// The frames.
    pub bytes: Vec<u8>,
}

/// What the agent has to bring, and what it wants to know.
pub trait Outbox: Send + Sync {
    /// Whole frames from this number on, or from the oldest that is left: at least one when there is any, and no more
    /// than this number of bytes if several.
    ///
    /// # Errors
    /// When they cannot be read.
    fn take(&self, from: u64, most_bytes: usize) -> std::io::Result<Option<Parcel>>;
    /// The daemon has all frames before this number.
    fn acknowledged(&self, next: u64);
    /// The daemon has let a connection in.
    fn connected(&self) {}
    /// The clocks were compared for the first time.
    fn compared(&self) {}
    /// The daemon has sent something.
    fn heard(&self);
    /// The calls in flight, when there is news of them.
    fn flights(&self) -> Option<Vec<Flight>>;
    /// The daemon reports the end of the command.
    fn end(&self);
    /// The daemon switches recording on or off.
    fn switch(&self, is_on: bool);
    /// The number after the last frame, once nothing will come any more.
    fn last(&self) -> Option<u64>;
}

/// Whom to call, and who calls.
pub struct CallerOptions {
    /// Addresses of the daemon, each `host:port`.
    pub addresses: Vec<String>,
    /// What the daemon wants to be known.
    pub secret: Secret,
    /// What the daemon is known by; without, nothing is encrypted.
    pub certificate: Option<String>,
    /// What the agent calls itself, the same whenever it is started again.
    pub identity: u128,
    /// Its host.
    pub node: String,
    /// Its clock.
    pub now: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Woken when there is something to bring.
    pub wake: Arc<Notify>,
}

struct Caller<'a> {
    options: &'a CallerOptions,
    connecting: Connecting,
    outbox: &'a dyn Outbox,
    /// The address that answered last.
    favourite: AtomicUsize,
    has_compared: AtomicBool,
    is_ending: AtomicBool,
    ending: Notify,
    has_compared_at_end: AtomicBool,
}

/// Sends everything to the daemon until nothing is left. It goes on through lost connections for ever: the caller
/// decides when to give up.
///
/// # Errors
/// When it makes no sense to go on: the daemon of that address does not know the secret, or does not know us.
pub async fn call(options: &CallerOptions, outbox: &dyn Outbox) -> Result<(), LinkError> {
    let caller = Caller {
        options,
        connecting: Connecting::new(options.certificate.as_deref())?,
        outbox,
        favourite: AtomicUsize::new(0),
        has_compared: AtomicBool::new(false),
        is_ending: AtomicBool::new(false),
        ending: Notify::new(),
        has_compared_at_end: AtomicBool::new(false),
    };
    tokio::select! {
        done = caller.again_and_again(Purpose::Frames) => done,
        done = caller.again_and_again(Purpose::Clock) => done,
    }
}

impl Caller<'_> {
    async fn again_and_again(&self, purpose: Purpose) -> Result<(), LinkError> {
        let mut rest = FIRST_REST;
        loop {
            let begun = Instant::now();
            let result = match purpose {
                Purpose::Frames => self.bring().await,
                Purpose::Clock => self.compare().await,
            };
            match result {
                Ok(()) => return Ok(()),
                Err(fatal @ (LinkError::Refused(_) | LinkError::Stranger | LinkError::Encryption(_))) => {
                    return Err(fatal);
                }
                // A connection that had lived begins anew.
                Err(_) if begun.elapsed() > SILENCE => rest = FIRST_REST,
                Err(_) => {}
            }
            sleep(rest).await;
            rest = (rest * 2).min(MOST_REST);
        }
    }

    async fn connect(&self, purpose: Purpose) -> Result<(Box<dyn Stream>, u64), LinkError> {
        let addresses = &self.options.addresses;
        let first = self.favourite.load(Ordering::Relaxed);
        let mut fault = LinkError::Given("no address of the daemon is known".into());
        for turn in 0..addresses.len() {
            let at = (first + turn) % addresses.len();
            match self.call(&addresses[at], purpose).await {
                Ok(greeted) => {
                    self.favourite.store(at, Ordering::Relaxed);
                    self.outbox.connected();
                    return Ok(greeted);
                }
                // Somebody else may live at one of the addresses: another may be the daemon's.
                Err(error) => fault = error,
            }
        }
        Err(fault)
    }

    /// Returns the next wanted frame with the connection.
    async fn call(&self, address: &str, purpose: Purpose) -> Result<(Box<dyn Stream>, u64), LinkError> {
        let CallerOptions { secret, identity, node, .. } = self.options;
        let introduction = AgentIntroduction { purpose, identity: *identity, node: node.clone() };
        let stream = connect(address, CONNECT).await?;
        let silence = |_| LinkError::Silence(HANDSHAKE.as_secs());
        timeout(HANDSHAKE, greet(stream, &self.connecting, secret, &introduction)).await.map_err(silence)?
    }

    /// A connection that compares clocks.
    async fn compare(&self) -> Result<(), LinkError> {
        let (mut stream, _) = self.connect(Purpose::Clock).await?;
        let (mut left, mut is_last, mut rest) = (BURST, false, CLOCK_EVERY);
        loop {
            let agent_ns = (self.options.now)();
            say(&mut stream, &Packet::Ping { agent_ns }).await?;
            let answer = hear(&mut stream, MOST_OF_STRANGERS).await?;
            let Packet::Pong { agent_ns: asked_ns, daemon_ns } = answer else {
                return Err(LinkError::Protocol("does not answer clock comparisons"));
            };
            let took_ns = (self.options.now)().saturating_sub(agent_ns);
            if asked_ns == agent_ns {
                let local_ns = agent_ns + took_ns / 2;
                let offset_ns = daemon_ns.wrapping_sub(local_ns) as i64;
                // Half of an odd number is rounded up: the truth lies within.
                let uncertainty_ns = took_ns.div_ceil(2);
                say(&mut stream, &Packet::RoundTrip { local_ns, offset_ns, uncertainty_ns }).await?;
            }
            left = left.saturating_sub(1);
            if left > 0 {
                sleep(BURST_REST).await;
                continue;
            }
            if !self.has_compared.swap(true, Ordering::AcqRel) {
                self.outbox.compared();
            }
            if is_last {
                self.has_compared_at_end.store(true, Ordering::Release);
                self.options.wake.notify_one();
                sleep(CLOCK_EVERY).await;
                left = 1;
            } else {
                // Cut short by the end, which adds one more burst.
                let _ = timeout(rest, self.ending.notified()).await;
                rest = (rest * 5 / 4).min(CLOCK_EVERY_LATER);
                is_last = self.is_ending.load(Ordering::Acquire);
                left = if is_last { BURST } else { 1 };
            }
        }
    }

    /// A connection that brings frames.
    async fn bring(&self) -> Result<(), LinkError> {
        let begun = Instant::now();
        while !self.has_compared.load(Ordering::Acquire) && begun.elapsed() < CLOCK_FIRST {
            sleep(BURST_REST).await;
        }
        let (stream, next) = self.connect(Purpose::Frames).await?;
        self.outbox.heard();
        self.outbox.acknowledged(next);
        let finished = AtomicBool::new(false);
        let acknowledged = AtomicU64::new(next);
        let (mut reading, mut writing) = split(stream);
        tokio::select! {
            heard = self.listen(&mut reading, &acknowledged, &finished) => heard,
            outcome = self.tell(&mut writing, next, &acknowledged, &finished) => outcome,
        }
    }

    /// Takes in what the daemon sends on a connection that brings frames.
    async fn listen(
        &self,
        reading: &mut (impl AsyncRead + Unpin),
        acknowledged: &AtomicU64,
        finished: &AtomicBool,
    ) -> Result<(), LinkError> {
        loop {
            let packet = match hear(reading, MOST_BYTES).await {
                // It has heard the last word and hung up.
                Err(_) if finished.load(Ordering::Acquire) => return Ok(()),
                packet => packet?,
            };
            self.outbox.heard();
            match packet {
                Packet::Acknowledged { next } => {
                    acknowledged.fetch_max(next, Ordering::AcqRel);
                    self.outbox.acknowledged(next);
                    self.options.wake.notify_one();
                }
                Packet::End => {
                    self.is_ending.store(true, Ordering::Release);
                    self.ending.notify_one();
                    self.outbox.end();
                }
                Packet::Switch { is_on } => self.outbox.switch(is_on),
                Packet::Alive => {}
                _ => return Err(LinkError::Protocol("sent a packet that is not allowed at this point")),
            }
        }
    }

    async fn tell(
        &self,
        writing: &mut (impl AsyncWrite + Unpin),
        mut next: u64,
        acknowledged: &AtomicU64,
        finished: &AtomicBool,
    ) -> Result<(), LinkError> {
        let mut underway = Underway::default();
        let (mut last_sent, mut complete_since) = (Instant::now(), None);
        loop {
            let done = acknowledged.load(Ordering::Acquire);
            underway.acknowledge(done);
            let mut rest = LOOK_EVERY;
            if underway.takes_more()
                && let Some(parcel) = self.outbox.take(next, MOST_BATCH_BYTES)?
            {
                next = parcel.first + u64::from(parcel.frames);
                underway.add(next, parcel.bytes.len());
                say(writing, &pack(parcel.first, parcel.frames, &parcel.bytes)?).await?;
                (last_sent, rest) = (Instant::now(), Duration::ZERO);
            }
            if self.tell_flights(writing).await? {
                last_sent = Instant::now();
            }
            if let Some(last) = self.outbox.last()
                && done >= last
                && self.has_clocks_compared(*complete_since.get_or_insert_with(Instant::now))
            {
                return finish(writing, last, finished).await;
            }
            if last_sent.elapsed() >= ALIVE_EVERY {
                say(writing, &Packet::Alive).await?;
                last_sent = Instant::now();
            }
            if !rest.is_zero() {
                // Woken or not: there may be something.
                let _ = timeout(rest, self.options.wake.notified()).await;
            }
        }
    }

    /// Sends the calls in flight, if there is news of them.
    async fn tell_flights(&self, writing: &mut (impl AsyncWrite + Unpin)) -> Result<bool, LinkError> {
        let Some(calls) = self.outbox.flights() else { return Ok(false) };
        let calls = calls.iter().map(Flight::encode).collect();
        say(writing, &Packet::Flights { calls }).await?;
        Ok(true)
    }

    /// Whether the last comparison of the clocks is over, or has taken too long, when the daemon has had all frames since
    /// that moment.
    fn has_clocks_compared(&self, complete_since: Instant) -> bool {
        /// How long the clocks may take to be compared once more.
        const LAST_COMPARISON: Duration = Duration::from_millis(300);
        !self.is_ending.load(Ordering::Acquire)
            || self.has_compared_at_end.load(Ordering::Acquire)
            || complete_since.elapsed() > LAST_COMPARISON
    }
}

/// Says that nothing comes after the frame before this number, and waits until the daemon closes the connection.
async fn finish(
    writing: &mut (impl AsyncWrite + Unpin),
    last: u64,
    finished: &AtomicBool,
) -> Result<(), LinkError> {
    say(writing, &Packet::Finished { next: last }).await?;
    finished.store(true, Ordering::Release);
    // The daemon ends once it has that: whoever called it again because of a fault here would find nobody.
    let _ = tokio::io::AsyncWriteExt::shutdown(writing).await;
    // The closed connection confirms that it has arrived.
    sleep(SILENCE).await;
    Err(LinkError::Silence(SILENCE.as_secs()))
}

/// Batches that were sent and are not acknowledged yet.
#[derive(Default)]
struct Underway {
    /// Of each batch the number after its last frame, and its bytes.
    batches: VecDeque<(u64, usize)>,
    /// Whether the last batch was so large that more is waiting behind it.
    is_backlog: bool,
}

impl Underway {
    fn add(&mut self, next: u64, bytes: usize) {
        self.batches.push_back((next, bytes));
        self.is_backlog = bytes > MOST_BATCH_BYTES / 2;
    }

    /// The daemon has all frames before this number.
    fn acknowledge(&mut self, next: u64) {
        while self.batches.front().is_some_and(|(end, _)| *end <= next) {
            self.batches.pop_front();
        }
    }

    /// Whether another batch may be sent now. What is little waits for the acknowledgement of the batch before: a busy
    /// daemon gets fewer and larger ones.
    fn takes_more(&self) -> bool {
        let bytes: usize = self.batches.iter().map(|(_, bytes)| bytes).sum();
        self.batches.is_empty() || self.is_backlog && bytes < MOST_UNDERWAY_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    /// A connection on which everything arrives that was written, and which cannot be closed.
    struct Unclosable(Vec<u8>);

    impl AsyncWrite for Unclosable {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<Result<usize, Error>> {
            self.0.extend(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
            Poll::Ready(Err(ErrorKind::Other.into()))
        }
    }

    #[tokio::test]
    async fn who_said_that_nothing_comes_waits_for_the_daemon_to_hang_up() {
        let (mut writing, finished) = (Unclosable(Vec::new()), AtomicBool::new(false));
        let outcome = pin!(finish(&mut writing, 7, &finished)).poll(&mut Context::from_waker(Waker::noop()));
        assert!(outcome.is_pending(), "{outcome:?}");
        assert!(finished.into_inner() && !writing.0.is_empty());
    }
}
