//! Process 0: it waits for all others, says who they are, and waits until each is connected with each.

use crate::encryption::{Accepting, Certificate};
use crate::error::LinkError;
use crate::mesh::arrivals::{Arrivals, Caller, Doorkeeper, MOST_ARRIVING};
use crate::mesh::control::{Control, Event, MOST_PLAN_BYTES, Notice, PeerAddress, finish};
use crate::mesh::introduction::Purpose;
use crate::mesh::matrix::Matrix;
use crate::mesh::streams::{Mesh, STREAMS};
use crate::mesh::tunnel::Pace;
use crate::secret::Secret;
use crate::tcp::listen;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, interval};

/// What a mesh may consist of at the most, process 0 included.
const MOST_PROCESSES: usize = 512;
/// How often the caller is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// How long the processes may take to connect with each other once all have come.
const CONNECTING: Duration = Duration::from_secs(15);
/// Processes that an error names.
const MOST_NAMED: usize = 10;
/// Notices from processes that wait to be read.
const MOST_EVENTS: usize = 64;

/// How to wait for the others.
pub struct MeetingOptions {
    /// Where to listen.
    pub address: SocketAddr,
    /// What the others have to know.
    pub secret: Secret,
    /// With what to encrypt; without, nothing is.
    pub certificate: Option<Certificate>,
    /// How many others there are; their numbers begin with 1.
    pub others: usize,
}

/// Where the processes of an analysis meet.
pub struct Meeting {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    doorkeeper: Doorkeeper,
    others: usize,
    is_encrypted: bool,
}

impl Meeting {
    /// Begins to listen. Nobody is let in before [`Meeting::hold`].
    ///
    /// # Errors
    /// When the address cannot be had, encryption cannot be set up, or there are too many others.
    pub fn open(options: MeetingOptions) -> Result<Self, LinkError> {
        let MeetingOptions { address, secret, certificate, others } = options;
        if others >= MOST_PROCESSES {
            let why =
                format!("an analysis cannot have {} processes; {MOST_PROCESSES} are the limit", others + 1);
            return Err(LinkError::Given(why));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _guard = runtime.enter();
            listen(address, MOST_ARRIVING)?
        };
        let address = listener.local_addr()?;
        let accepting = Accepting::new(certificate.as_ref())?;
        let doorkeeper = Doorkeeper { secret, accepting, number: 0 };
        Ok(Self { runtime, listener, address, doorkeeper, others, is_encrypted: certificate.is_some() })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until all others have come, gives each of them the plan, and returns the streams once each process is
    /// connected with each. Not to be called from asynchronous code.
    ///
    /// `goes_on` is asked about every 50 ms.
    ///
    /// # Errors
    /// When processes are missing after `patience`, a process is lost or cannot reach another one, or `goes_on` returns
    /// false.
    pub fn hold(
        self,
        plan: &[u8],
        patience: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Mesh, LinkError> {
        let Self { runtime, listener, doorkeeper, others, is_encrypted, .. } = self;
        if plan.len() > MOST_PLAN_BYTES {
            return Err(LinkError::Given(format!("a plan has at most {MOST_PLAN_BYTES} bytes")));
        }
        let matrix = runtime.block_on(async {
            let (send, events) = channel(MOST_EVENTS);
            let members = (0..others).map(|_| None).collect();
            let matrix = Matrix::new(0, others + 1);
            let mut table =
                Table { members, matrix, is_encrypted, plan, is_connecting: false, visits: 0, send };
            let arrivals = Arrivals::begin(listener, doorkeeper);
            let outcome = table.fill(arrivals, events, patience, goes_on).await;
            let last = match &outcome {
                Ok(()) => Notice::Begin,
                Err(error) => Notice::Failed { why: error.to_string() },
            };
            let controls = table.members.into_iter().flatten().map(|member| member.control);
            let controls: Vec<_> = controls.collect();
            for control in &controls {
                control.say(last.clone()).await;
            }
            finish(controls).await;
            outcome.map(|()| table.matrix)
        })?;
        Mesh::begin(runtime, 0, matrix.into_remotes(), Pace::default())
    }
}

/// A process that has come.
struct Member {
    visit: u64,
    address: PeerAddress,
    control: Control,
    is_ready: bool,
}

/// Who has come.
struct Table<'a> {
    /// By number, from 1.
    members: Vec<Option<Member>>,
    matrix: Matrix,
    is_encrypted: bool,
    plan: &'a [u8],
    /// Whether all have come and have the plan.
    is_connecting: bool,
    /// Counts those that came.
    visits: u64,
    send: Sender<Event>,
}

impl Table<'_> {
    /// Returns when all streams of all processes exist.
    async fn fill(
        &mut self,
        mut arrivals: Arrivals,
        mut events: Receiver<Event>,
        patience: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), LinkError> {
        let mut limit = patience;
        let mut since = Instant::now();
        let mut ask = interval(ASK_EVERY);
        loop {
            if !self.is_connecting && self.members.iter().all(Option::is_some) {
                self.is_connecting = true;
                (since, limit) = (Instant::now(), CONNECTING);
                self.connect().await;
            }
            let is_ready = |member: &Option<Member>| member.as_ref().is_some_and(|member| member.is_ready);
            if self.is_connecting && self.members.iter().all(is_ready) && self.matrix.is_complete() {
                return Ok(());
            }
            tokio::select! {
                Some(guest) = arrivals.next() => self.admit(guest).await,
                Some(event) = events.recv() => self.take(event)?,
                _ = ask.tick() => {
                    if !goes_on() {
                        return Err(LinkError::Stopped);
                    }
                    if since.elapsed() >= limit {
                        return Err(self.missing(limit));
                    }
                }
            }
        }
    }

    /// Tells all processes who the others are.
    async fn connect(&self) {
        let members = || self.members.iter().flatten();
        let peers: Vec<_> = members().map(|member| member.address.clone()).collect();
        for member in members() {
            member.control.say(Notice::Connect { peers: peers.clone(), plan: self.plan.to_vec() }).await;
        }
    }

    /// Lets a process in that knows the secret, or says why not.
    async fn admit(&mut self, guest: Caller) {
        let number = guest.introduction.from as usize;
        let others = self.members.len();
        let Some(member) = number.checked_sub(1).and_then(|at| self.members.get_mut(at)) else {
            let why = format!("process {number} is not wanted: the others have the numbers 1 to {others}");
            return guest.refuse(why).await;
        };
        match guest.introduction.purpose.clone() {
            Purpose::Meet { .. } if member.is_some() => {
                guest
                    .refuse(format!("the number {number} is taken: process {number} has already come"))
                    .await;
            }
            Purpose::Meet { certificate, .. } if certificate.is_some() != self.is_encrypted => {
                guest.refuse(format!("process {number} has no certificate, or one that is not wanted")).await;
            }
            Purpose::Meet { port, certificate } => {
                let address = SocketAddr::new(guest.address.ip().to_canonical(), port).to_string();
                let Ok(stream) = guest.welcome(()).await else { return };
                self.visits += 1;
                let visit = self.visits;
                let control = Control::begin(stream, number, visit, self.send.clone());
                let address = PeerAddress { address, certificate };
                *member = Some(Member { visit, address, control, is_ready: false });
            }
            Purpose::Stream(stream) if self.is_connecting && usize::from(stream) < STREAMS => {
                if let Ok(connection) = guest.welcome(()).await {
                    self.matrix.insert(number, stream.into(), connection);
                }
            }
            Purpose::Stream(_) => guest.refuse(format!("process {number} has not met the others yet")).await,
        }
    }

    /// Takes in what a process reports.
    fn take(&mut self, event: Event) -> Result<(), LinkError> {
        let Event { number, visit, notice } = event;
        let Some(entry) = self.members.get_mut(number - 1) else { return Ok(()) };
        let Some(member) = entry.as_mut().filter(|member| member.visit == visit) else { return Ok(()) };
        match notice {
            Ok(Notice::Ready) if self.is_connecting => member.is_ready = true,
            Ok(Notice::Failed { why }) if self.is_connecting => {
                return Err(LinkError::Missing { why, numbers: vec![number] });
            }
            Err(error) if self.is_connecting => {
                let why = format!("process {number} was lost while the processes connected: {error}");
                return Err(LinkError::Missing { why, numbers: vec![number] });
            }
            // It may come again, or another one in its place.
            _ => *entry = None,
        }
        Ok(())
    }

    fn missing(&self, limit: Duration) -> LinkError {
        let is_missing = |number: &usize| match &self.members[number - 1] {
            Some(member) => self.is_connecting && !(member.is_ready && self.matrix.is_connected(*number)),
            None => true,
        };
        let numbers: Vec<_> = (1..=self.members.len()).filter(is_missing).collect();
        let action = if self.is_connecting { "did not connect with all others" } else { "did not come" };
        let why = format!("{} {action} within {} s", name(&numbers), limit.as_secs_f64());
        LinkError::Missing { why, numbers }
    }
}

/// Names processes, the first of them if there are many.
fn name(numbers: &[usize]) -> String {
    let listed: Vec<_> = numbers.iter().take(MOST_NAMED).map(usize::to_string).collect();
    match (numbers, listed.split_last()) {
        ([number], _) => format!("process {number}"),
        (_, None) => "no process".into(),
        (_, Some(_)) if numbers.len() > MOST_NAMED => {
            format!("processes {} and {} more", listed.join(", "), numbers.len() - MOST_NAMED)
        }
        (_, Some((last, first))) => format!("processes {} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_first_processes() {
        assert_eq!(name(&[3]), "process 3");
        assert_eq!(name(&[1, 4]), "processes 1 and 4");
        assert_eq!(name(&[1, 2, 4]), "processes 1, 2 and 4");
        let all: Vec<_> = (1..=12).collect();
        assert_eq!(name(&all), "processes 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more");
    }
}
