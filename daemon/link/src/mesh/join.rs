//! Another process: it calls process 0, learns who the others are, and connects with each.

use crate::encryption::{Accepting, Certificate, Connecting, Stream};
use crate::error::LinkError;
use crate::greeting::greet;
use crate::mesh::arrivals::{Arrivals, Caller, Doorkeeper, MOST_ARRIVING};
use crate::mesh::control::{Control, Event, Notice, PeerAddress, finish};
use crate::mesh::introduction::{ProcessIntroduction, Purpose};
use crate::mesh::matrix::Matrix;
use crate::mesh::streams::{Mesh, STREAMS};
use crate::mesh::tunnel::Pace;
use crate::secret::Secret;
use crate::tcp::{connect, listen};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// How long an address may take to answer, and a process to let us in.
const CONNECT: Duration = Duration::from_secs(2);
const HANDSHAKE: Duration = Duration::from_secs(6);
/// Between two attempts.
const REST: Duration = Duration::from_millis(50);
/// How long another process may be tried, once all are there.
const PEERS_PATIENCE: Duration = Duration::from_secs(8);
/// More than process 0 takes to notice that a process cannot connect.
const CONNECTING: Duration = Duration::from_secs(20);

/// Whom to call, and who calls.
pub struct MemberOptions {
    /// Addresses of process 0, each `host:port`, tried one after the other until one works.
    pub addresses: Vec<String>,
    /// What the processes have in common.
    pub secret: Secret,
    /// What process 0 is known by; without, nothing is encrypted.
    pub certificate: Option<String>,
    /// Its own number, from 1.
    pub number: usize,
    /// How long to wait for process 0 and the others.
    pub patience: Duration,
}

/// Connects with all other processes. Returns the streams, and the plan of process 0. Not to be called from asynchronous
/// code.
///
/// # Errors
/// When process 0 cannot be reached, refuses this process, or ends the meeting, or another process cannot be reached.
pub fn join(options: MemberOptions) -> Result<(Mesh, Vec<u8>), LinkError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let number = options.number;
    let joining = Joining::new(options)?;
    let (matrix, plan) = match runtime.block_on(joining.join()) {
        Ok(joined) => joined,
        Err(error) => {
            // A host name may still be looked up: nobody waits for that.
            runtime.shutdown_background();
            return Err(error);
        }
    };
    Ok((Mesh::begin(runtime, number, matrix.into_remotes(), Pace::default())?, plan))
}

struct Joining {
    options: MemberOptions,
    /// Its number as it travels.
    number: u32,
    center: Connecting,
    /// Its own, for those with larger numbers.
    certificate: Option<Certificate>,
    deadline: Instant,
}

/// Calls to other processes; each gives the numbers of process and stream, and the connection.
type Calls = JoinSet<Result<(usize, usize, Box<dyn Stream>), LinkError>>;

/// Process 0 has let us in.
struct Meeting {
    stream: Box<dyn Stream>,
    /// Its address.
    center: SocketAddr,
    /// Where this process listens.
    listener: TcpListener,
}

impl Joining {
    fn new(options: MemberOptions) -> Result<Self, LinkError> {
        let number = u32::try_from(options.number).ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| {
            LinkError::Given(format!(
                "process {} cannot join: the others' numbers begin with 1",
                options.number
            ))
        })?;
        let center = Connecting::new(options.certificate.as_deref())?;
        let certificate = options.certificate.is_some().then(Certificate::make).transpose()?;
        // A patience without end is possible.
        let century = Duration::from_secs(100 * 365 * 86_400);
        let deadline = Instant::now() + options.patience.min(century);
        Ok(Self { options, number, center, certificate, deadline })
    }

    async fn join(self) -> Result<(Matrix, Vec<u8>), LinkError> {
        let Meeting { stream, center, listener } = self.reach_center().await?;
        let (send, mut events) = channel(4);
        let control = Control::begin(stream, 0, 0, send);
        let outcome = self.connect(center, listener, &control, &mut events).await;
        if let Err(error) = &outcome {
            control.say(Notice::Failed { why: format!("process {}: {error}", self.number) }).await;
        }
        drop(events);
        finish([control]).await;
        outcome
    }

    /// Calls process 0 until it lets us in.
    async fn reach_center(&self) -> Result<Meeting, LinkError> {
        let addresses = &self.options.addresses;
        if addresses.is_empty() {
            return Err(LinkError::Given("no address of process 0 is known".into()));
        }
        let mut last = None;
        let calls = async {
            loop {
                for address in addresses {
                    match self.call_center(address).await {
                        Ok(meeting) => return Some(meeting),
                        Err(error) => last = Some(error),
                    }
                }
                // Somebody else may live at one of the addresses: all have been tried.
                if matches!(
                    last,
                    Some(LinkError::Refused(_) | LinkError::Stranger | LinkError::Encryption(_))
                ) {
                    return None;
                }
                sleep(REST).await;
            }
        };
        let outcome = timeout_at(self.deadline, calls).await;
        let why = last.unwrap_or(LinkError::Silence(self.options.patience.as_secs()));
        match outcome {
            Ok(Some(meeting)) => Ok(meeting),
            Ok(None) => Err(why),
            Err(_) => {
                let (listed, waited) = (addresses.join(", "), self.options.patience.as_secs_f64());
                Err(LinkError::Mesh(format!("cannot reach process 0 at {listed} within {waited} s: {why}")))
            }
        }
    }

    async fn call_center(&self, address: &str) -> Result<Meeting, LinkError> {
        let stream = connect(address, CONNECT).await?;
        let center = stream.peer_addr()?;
        let listener = self.listen(stream.local_addr()?.ip())?;
        let port = listener.local_addr()?.port();
        let certificate = self.certificate.as_ref().map(|certificate| certificate.public().to_owned());
        let introduction =
            ProcessIntroduction { from: self.number, to: 0, purpose: Purpose::Meet { port, certificate } };
        let stream = greet_in_time(stream, &self.center, &self.options.secret, &introduction).await?;
        Ok(Meeting { stream, center, listener })
    }

    /// Listens where this process is seen by process 0, or everywhere if that is not possible. Others cannot reach the
    /// loopback address, unless all are on this host.
    fn listen(&self, local: IpAddr) -> Result<TcpListener, LinkError> {
        let local = local.to_canonical();
        let everywhere = match local {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        if local.is_loopback() && !self.options.addresses.iter().all(|address| is_loopback(address)) {
            return Ok(listen((everywhere, 0).into(), MOST_ARRIVING)?);
        }
        Ok(listen((local, 0).into(), MOST_ARRIVING)
            .or_else(|_| listen((everywhere, 0).into(), MOST_ARRIVING))?)
    }

    /// Connects with all others, once process 0 says who they are.
    async fn connect(
        &self,
        center: SocketAddr,
        listener: TcpListener,
        control: &Control,
        events: &mut Receiver<Event>,
    ) -> Result<(Matrix, Vec<u8>), LinkError> {
        let Ok(notice) = timeout_at(self.deadline, next(events)).await else {
            let waited = self.options.patience.as_secs_f64();
            return Err(LinkError::Mesh(format!("the other processes did not come within {waited} s")));
        };
        let Notice::Connect { peers, plan } = notice? else {
            return Err(LinkError::Protocol("sent a packet that is not allowed at this point"));
        };
        let connect = async {
            let own = self.options.number;
            let mut matrix = Matrix::new(own, peers.len() + 1);
            let mut calls = self.call_all(center, &peers)?;
            let accepting = Accepting::new(self.certificate.as_ref())?;
            let secret = self.options.secret.clone();
            let mut arrivals =
                Arrivals::begin(listener, Doorkeeper { secret, accepting, number: self.number });
            while !matrix.is_complete() {
                tokio::select! {
                    Some(call) = calls.join_next() => {
                        let (process, stream, connection) = call.map_err(std::io::Error::other)??;
                        matrix.insert(process, stream, connection);
                    }
                    Some(guest) = arrivals.next() => admit(guest, own, peers.len(), &mut matrix).await,
                    notice = next(events) => {
                        notice?;
                        return Err(LinkError::Protocol("sent a packet that is not allowed at this point"));
                    }
                }
            }
            control.say(Notice::Ready).await;
            match next(events).await? {
                Notice::Begin => Ok(matrix),
                _ => Err(LinkError::Protocol("sent a packet that is not allowed at this point")),
            }
        };
        let silence = |_| LinkError::Mesh(format!("not all are connected after {} s", CONNECTING.as_secs()));
        Ok((timeout(CONNECTING, connect).await.map_err(silence)??, plan))
    }

    /// Calls all processes with smaller numbers, at the same time.
    fn call_all(&self, center: SocketAddr, peers: &[PeerAddress]) -> Result<Calls, LinkError> {
        let center_known =
            PeerAddress { address: center.to_string(), certificate: self.options.certificate.clone() };
        let mut calls = JoinSet::new();
        for (process, peer) in
            std::iter::once(&center_known).chain(peers).enumerate().take(self.options.number)
        {
            if peer.certificate.is_some() != self.certificate.is_some() {
                return Err(LinkError::Protocol("names a process without a certificate"));
            }
            let connecting = Arc::new(Connecting::new(peer.certificate.as_deref())?);
            let address = reachable_address(&peer.address, center.ip());
            for stream in 0..STREAMS {
                let (connecting, address) = (Arc::clone(&connecting), address.clone());
                let (secret, from) = (self.options.secret.clone(), self.number);
                calls.spawn(async move {
                    let introduction = ProcessIntroduction {
                        from,
                        to: process as u32,
                        purpose: Purpose::Stream(stream as u8),
                    };
                    let connection = call(&address, &connecting, &secret, &introduction).await;
                    Ok((process, stream, connection?))
                });
            }
        }
        Ok(calls)
    }
}

/// The next notice from process 0; an error when it ends the meeting.
async fn next(events: &mut Receiver<Event>) -> Result<Notice, LinkError> {
    match events.recv().await.map(|event| event.notice) {
        Some(Ok(Notice::Failed { why })) => Err(LinkError::Mesh(why)),
        Some(Ok(notice)) => Ok(notice),
        Some(Err(error)) => Err(LinkError::Mesh(format!("process 0 was lost: {error}"))),
        None => Err(LinkError::Mesh("process 0 was lost".into())),
    }
}

/// Lets a process with a larger number in.
async fn admit(guest: Caller, own: usize, others: usize, matrix: &mut Matrix) {
    let from = guest.introduction.from as usize;
    match guest.introduction.purpose {
        Purpose::Stream(stream) if (own + 1..=others).contains(&from) && usize::from(stream) < STREAMS => {
            if let Ok(connection) = guest.welcome(()).await {
                matrix.insert(from, stream.into(), connection);
            }
        }
        _ => guest.refuse(format!("process {own} expects no such connection from process {from}")).await,
    }
}

async fn greet_in_time(
    stream: TcpStream,
    connecting: &Connecting,
    secret: &Secret,
    introduction: &ProcessIntroduction,
) -> Result<Box<dyn Stream>, LinkError> {
    let silence = |_| LinkError::Silence(HANDSHAKE.as_secs());
    let greeted =
        timeout(HANDSHAKE, greet(stream, connecting, secret, introduction)).await.map_err(silence)??;
    Ok(greeted.0)
}

/// Calls another process until it lets us in, but not for long: it is there.
async fn call(
    address: &str,
    connecting: &Connecting,
    secret: &Secret,
    introduction: &ProcessIntroduction,
) -> Result<Box<dyn Stream>, LinkError> {
    let since = Instant::now();
    loop {
        let called =
            async { greet_in_time(connect(address, CONNECT).await?, connecting, secret, introduction).await };
        match called.await {
            Ok(stream) => return Ok(stream),
            Err(LinkError::Io(_) | LinkError::Silence(_)) if since.elapsed() < PEERS_PATIENCE => {
                sleep(REST).await;
            }
            Err(error) => {
                let to = introduction.to;
                return Err(LinkError::Mesh(format!("cannot reach process {to} at {address}: {error}")));
            }
        }
    }
}

/// Whether an address leads nowhere but to this host.
fn is_loopback(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A process on the host of process 0 may be known by its loopback address. On other hosts, the address of process 0 leads
/// there.
fn reachable_address(address: &str, center: IpAddr) -> String {
    match address.parse::<SocketAddr>() {
        Ok(peer) if peer.ip().is_loopback() && !center.is_loopback() => {
            SocketAddr::new(center, peer.port()).to_string()
        }
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_address_is_that_of_the_centers_host() {
        let center = "10.0.0.1".parse().unwrap();
        assert_eq!(reachable_address("127.0.0.1:7", center), "10.0.0.1:7");
        assert_eq!(reachable_address("10.0.0.2:7", center), "10.0.0.2:7");
        assert_eq!(reachable_address("127.0.0.1:7", "127.0.0.1".parse().unwrap()), "127.0.0.1:7");
        for (address, is_local) in [
            ("127.0.0.1:7", true),
            ("[::1]:7", true),
            ("localhost:7", true),
            ("node1:7", false),
            ("10.0.0.1:7", false),
        ] {
            assert_eq!(is_loopback(address), is_local, "{address}");
        }
    }
}
