//! What the calls of one rank of a DUMPI trace sent and received.
//!
//! The text gives each call with its arguments. Which message a wait or a test received is found by its requests; where
//! from and how much say the statuses, and where the program ignored those, the arguments of the receive, if they are certain.

use super::super::pairing::Received;
use super::super::step::{Called, Collective, Moved, Place, Step, What};
use super::super::telling::{MOST_THREADS, Members};
use super::super::trace::{Found, MOST_NS, Sink, sum_bytes};
use super::comms::{How, Made, OWN_SELF, Own, Resolved};
use super::text::{Record, Status};
use anyhow::{Result, bail};
use mpiscope_wire::{Family, by_id};
use std::collections::{BTreeMap, HashMap};

/// Requests that are not complete.
const MOST_REQUESTS: usize = 1 << 22;

/// What is counted of all ranks.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    /// When the first call began and the last ended, and of which ranks.
    pub(crate) from: Option<(u64, u32)>,
    pub(crate) to: (u64, u32),
    bytes: u64,
    /// Calls of MPI that are not recorded, by name.
    pub(crate) unknown: BTreeMap<String, u64>,
    /// Messages of which it is not known who is in their communicator, or whence they came.
    pub(crate) untold: u64,
}

/// A message as the rank sees it.
#[derive(Debug, Clone, Copy)]
struct Of {
    comm: i64,
    peer: i64,
    tag: i64,
    bytes: u64,
}

#[derive(Debug, Clone, Copy)]
enum Request {
    Send(Of),
    Receive(Of),
}

#[derive(Debug, Clone, Copy)]
struct Known {
    what: Request,
    is_persistent: bool,
    /// When it was started; none while a persistent one is not.
    started_ns: Option<u64>,
}

/// One rank.
pub(crate) struct Rank<'a> {
    pub(crate) rank: u32,
    pub(crate) functions: &'a HashMap<&'static str, u16>,
    /// By number, the bytes of datatypes.
    pub(crate) sizes: &'a HashMap<i64, u64>,
    pub(crate) resolved: &'a Resolved,
    pub(crate) ranks: u32,
    pub(crate) counts: &'a mut Counts,
    own: Own,
    /// How many communicators it has made.
    made: usize,
    requests: HashMap<i64, Known>,
    calls: u64,
    messages: u64,
    last_ns: HashMap<u32, u64>,
}

/// The call of a function that makes a communicator.
pub(crate) fn made(record: &Record) -> Option<Made> {
    let new = record.number("newcomm")?;
    let old = record.number("oldcomm").unwrap_or_default();
    let how = match record.function.as_str() {
        "MPI_Comm_dup" => How::Copied,
        "MPI_Comm_split" => How::Split { color: record.number("color")?, key: record.number("key")? },
        _ => How::Otherwise,
    };
    Some(Made { old, new, how })
}

impl<'a> Rank<'a> {
    pub(crate) fn new(
        (rank, ranks): (u32, u32),
        functions: &'a HashMap<&'static str, u16>,
        sizes: &'a HashMap<i64, u64>,
        resolved: &'a Resolved,
        counts: &'a mut Counts,
    ) -> Self {
        Self {
            rank,
            functions,
            sizes,
            resolved,
            ranks,
            counts,
            own: Own::new(),
            made: 0,
            requests: HashMap::new(),
            calls: 0,
            messages: 0,
            last_ns: HashMap::new(),
        }
    }

    /// Takes a call at a time; what comes of it goes to `sink`.
    pub(crate) fn call(&mut self, record: &Record, sink: &mut Sink<'_>) -> Result<()> {
        if let Some(made) = made(record) {
            let comm = self.resolved.made[self.rank as usize].get(self.made).copied().flatten();
            self.own.set(made.new, comm);
            self.made += 1;
        }
        let Some(&function) = self.functions.get(record.function.as_str()) else {
            if record.function.starts_with("MPI_") {
                *self.counts.unknown.entry(record.function.clone()).or_default() += 1;
            }
            return Ok(());
        };
        let last = self.last_ns.entry(record.thread).or_default();
        if record.start_ns < *last || record.end_ns > MOST_NS {
            bail!("{} begins before the call before it ended, or beyond what any run takes", record.function);
        }
        *last = record.end_ns;
        // Threads beyond those that can be told apart are the last of these.
        let thread = record.thread.min(MOST_THREADS as u32 - 1);
        let number = self.rank * MOST_THREADS as u32 + thread;
        let place = Place { end_ns: record.end_ns, thread: number, call: self.calls };
        self.calls += 1;
        self.counts.calls += 1;
        let began = (record.start_ns, self.rank);
        self.counts.from = Some(self.counts.from.map_or(began, |from| from.min(began)));
        self.counts.to = self.counts.to.max((record.end_ns, self.rank));
        let collective = self.move_all(record, function, place, sink)?;
        let called = Called {
            start_ns: record.start_ns,
            rank: self.rank,
            thread: thread as u16,
            function,
            count: 1,
            site: 0,
            collective,
        };
        sink(Found::Step(Step { place, order: 0, what: What::Call(called) }))
    }

    /// What a call sent and received; says whether it is a collective.
    fn move_all(
        &mut self,
        record: &Record,
        function: u16,
        place: Place,
        sink: &mut Sink<'_>,
    ) -> Result<Option<Collective>> {
        let name = record.function.trim_start_matches("MPI_");
        let at_ns = record.start_ns;
        match name {
            "Send" | "Bsend" | "Ssend" | "Rsend" => {
                let of = self.of(record, "dest", "tag", "count", "datatype")?;
                self.send(&of, place, sink)?;
            }
            "Isend" | "Ibsend" | "Issend" | "Irsend" => {
                let of = self.of(record, "dest", "tag", "count", "datatype")?;
                self.send(&of, place, sink)?;
                self.request(record, Request::Send(of), false, Some(at_ns))?;
            }
            "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" => {
                let of = self.of(record, "dest", "tag", "count", "datatype")?;
                self.request(record, Request::Send(of), true, None)?;
            }
            "Irecv" | "Recv_init" => {
                let of = self.of(record, "source", "tag", "count", "datatype")?;
                let is_persistent = name == "Recv_init";
                self.request(record, Request::Receive(of), is_persistent, (!is_persistent).then_some(at_ns))?;
            }
            "Recv" => {
                let of = self.of(record, "source", "tag", "count", "datatype")?;
                self.receive(&of, status(record, "status"), at_ns, place, sink)?;
            }
            "Sendrecv" => {
                let of = self.of(record, "dest", "sendtag", "sendcount", "sendtype")?;
                self.send(&of, place, sink)?;
                let of = self.of(record, "source", "recvtag", "recvcount", "recvtype")?;
                self.receive(&of, status(record, "status"), at_ns, place, sink)?;
            }
            "Sendrecv_replace" => {
                let of = self.of(record, "dest", "sendtag", "count", "datatype")?;
                self.send(&of, place, sink)?;
                let of = self.of(record, "source", "recvtag", "count", "datatype")?;
                self.receive(&of, status(record, "status"), at_ns, place, sink)?;
            }
            "Start" | "Startall" => self.start(record, at_ns, place, sink)?,
            "Request_free" => {
                for request in requests(record) {
                    self.requests.remove(&request);
                }
            }
            _ if by_id(function).is_some_and(|entry| entry.family == Family::Complete) => {
                self.complete(record, place, sink)?;
            }
            _ => return self.collective(record, function),
        }
        Ok(None)
    }

    /// The message that a call's arguments speak of.
    fn of(&self, record: &Record, peer: &str, tag: &str, count: &str, datatype: &str) -> Result<Of> {
        let number = |name: &str| match record.number(name) {
            Some(number) => Ok(number),
            None => bail!("{} says no {name}", record.function),
        };
        let bytes = self.bytes(record, number(count)?, number(datatype)?)?;
        Ok(Of { comm: number("comm")?, peer: number(peer)?, tag: number(tag)?, bytes })
    }

    fn bytes(&self, record: &Record, count: i64, datatype: i64) -> Result<u64> {
        let Some(&size) = self.sizes.get(&datatype) else {
            bail!(
                "the size of datatype {datatype} of {} is not told: write the texts with dumpi2ascii -a",
                record.function
            );
        };
        let bytes =
            u64::try_from(count).unwrap_or_default().checked_mul(size).and_then(|bytes| sum_bytes(0, bytes));
        match bytes {
            Some(bytes) => Ok(bytes),
            None => bail!("{} moves more than 4 EiB", record.function),
        }
    }

    /// A place in a communicator, as a rank of the world.
    fn rank_in(&self, comm: u32, place: i64) -> Option<u32> {
        let at = usize::try_from(place).ok()?;
        match self.resolved.members.get(&comm) {
            None => u32::try_from(at).ok().filter(|&rank| rank < self.ranks),
            Some(Members::Group(group)) => group.get(at).copied(),
            Some(_) => (comm == OWN_SELF && at == 0).then_some(self.rank),
        }
    }

    /// What can be told of a message: nothing where there is none, as with `MPI_PROC_NULL`.
    fn moved(&mut self, of: &Of, is_receive: bool) -> Option<Moved> {
        // Below zero is nobody, whatever the MPI library calls that.
        if of.peer < 0 {
            return None;
        }
        let comm = self.own.get(of.comm);
        let peer = comm.and_then(|comm| self.rank_in(comm, of.peer));
        let told = comm.zip(peer).zip(i32::try_from(of.tag).ok().filter(|&tag| tag >= 0));
        let Some(((comm, peer), tag)) = told else {
            self.counts.untold += 1;
            return None;
        };
        Some(Moved { peer, tag, comm, bytes: of.bytes, is_receive, post: None })
    }

    fn send(&mut self, of: &Of, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        let Some(moved) = self.moved(of, false) else { return Ok(()) };
        let Some(sum) = sum_bytes(self.counts.bytes, moved.bytes) else {
            bail!("the sizes of all messages add up to more than 4 EiB");
        };
        self.counts.bytes = sum;
        self.messages += 1;
        sink(Found::Step(Step { place, order: self.messages, what: What::Message(moved) }))
    }

    /// A receive is complete, which was posted at a time.
    fn receive(
        &mut self,
        of: &Of,
        status: Option<Status>,
        posted_ns: u64,
        place: Place,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let of = match status {
            Some(status) if status.is_cancelled => return Ok(()),
            Some(Status { bytes, source, tag, .. }) => Of { comm: of.comm, peer: source, tag, bytes },
            // From anywhere, and the program did not want to know whence.
            None if of.peer == -1 || of.tag < 0 => {
                self.counts.untold += 1;
                return Ok(());
            }
            None => *of,
        };
        let Some(moved) = self.moved(&of, true) else { return Ok(()) };
        self.messages += 1;
        let order = (posted_ns, self.messages);
        sink(Found::Received(Received { rank: self.rank, order, place, moved }))
    }

    fn request(
        &mut self,
        record: &Record,
        what: Request,
        is_persistent: bool,
        started_ns: Option<u64>,
    ) -> Result<()> {
        if self.requests.len() >= MOST_REQUESTS {
            bail!("more than {MOST_REQUESTS} requests are not complete");
        }
        for request in requests(record) {
            self.requests.insert(request, Known { what, is_persistent, started_ns });
        }
        Ok(())
    }

    fn start(&mut self, record: &Record, at_ns: u64, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        for request in requests(record) {
            let Some(known) = self.requests.get_mut(&request) else { continue };
            known.started_ns = Some(at_ns);
            if let Request::Send(of) = known.what {
                self.send(&of, place, sink)?;
            }
        }
        Ok(())
    }

    /// A wait or a test: which requests it completed, and with which statuses.
    fn complete(&mut self, record: &Record, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        if record.number("flag") == Some(0) {
            return Ok(());
        }
        let all = requests(record);
        let at = |index: i64| usize::try_from(index).ok().and_then(|index| all.get(index)).copied();
        let done: Vec<i64> = if let Some(index) = record.number("index") {
            at(index).into_iter().collect()
        } else if record.number("outcount").is_some() {
            let indices = record.numbers("indices").unwrap_or_default();
            indices.into_iter().filter_map(at).collect()
        } else {
            all
        };
        let one = status(record, "status").map(|status| vec![status]);
        let statuses = record.statuses("statuses").or(one).filter(|statuses| statuses.len() == done.len());
        for (number, request) in done.into_iter().enumerate() {
            let Some(known) = self.requests.get_mut(&request) else { continue };
            let (what, started_ns) = (known.what, known.started_ns.take());
            if !known.is_persistent {
                self.requests.remove(&request);
            }
            if let (Request::Receive(of), Some(posted_ns)) = (what, started_ns) {
                let status = statuses.as_ref().map(|statuses| statuses[number]);
                self.receive(&of, status, posted_ns, place, sink)?;
            }
        }
        Ok(())
    }

    /// A collective that is done when it returns: what it sent, or received where it sent nothing.
    fn collective(&self, record: &Record, function: u16) -> Result<Option<Collective>> {
        let is_collective = by_id(function)
            .is_some_and(|entry| matches!(entry.family, Family::Barrier | Family::Rooted | Family::All));
        let Some(comm) = record.number("comm").and_then(|comm| self.own.get(comm)).filter(|_| is_collective)
        else {
            return Ok(None);
        };
        let root = record.number("root").and_then(|root| self.rank_in(comm, root));
        let is_root = root == Some(self.rank);
        let members = match self.resolved.members.get(&comm) {
            None => i64::from(self.ranks),
            Some(Members::Group(group)) => group.len() as i64,
            Some(_) => 1,
        };
        let all = |name: &str| {
            record
                .numbers(name)
                .map(|counts| counts.iter().fold(0, |sum: i64, count| sum.saturating_add(*count)))
        };
        let (count, datatype) = match record.function.trim_start_matches("MPI_") {
            "Scatter" if is_root => {
                (record.number("sendcount").map(|count| count.saturating_mul(members)), "sendtype")
            }
            "Scatterv" if is_root => (all("sendcounts"), "sendtype"),
            "Scatter" | "Scatterv" => (record.number("recvcount"), "recvtype"),
            "Alltoall" => (record.number("sendcount").map(|count| count.saturating_mul(members)), "sendtype"),
            "Alltoallv" => (all("sendcounts"), "sendtype"),
            "Reduce_scatter" => (all("recvcounts"), "datatype"),
            "Gather" | "Gatherv" | "Allgather" | "Allgatherv" => (record.number("sendcount"), "sendtype"),
            _ => (record.number("count"), "datatype"),
        };
        // Where a count is not told, as of what is not significant, nothing is known to have moved.
        let bytes = match count.zip(record.number(datatype)) {
            Some((count, datatype)) if count > 0 => self.bytes(record, count, datatype)?,
            _ => 0,
        };
        Ok(Some(Collective { comm, root, bytes }))
    }
}

/// The requests that a call names.
fn requests(record: &Record) -> Vec<i64> {
    record.numbers("requests").or_else(|| record.numbers("request")).unwrap_or_default()
}

/// A single status, which is told as an array of one.
fn status(record: &Record, name: &str) -> Option<Status> {
    record.statuses(name)?.first().copied()
}
