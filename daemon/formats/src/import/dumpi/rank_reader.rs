//! Finds out what the calls of one rank of a DUMPI trace sent and received.
//!
//! A text has each call with its arguments. The requests of a wait or a test tell which receives it completed. The statuses
//! tell source and size. Where the program ignored the statuses, the arguments of the receive do, if they are definite.

use super::arguments::{MessageArguments, PendingRequest, Request, comm_creation, requests, status};
use super::comms::{OWN_SELF, RankComms, ResolvedComms};
use super::text_reader::{Record, Status};
use crate::import::log_stream::{CommMembers, MAX_THREADS};
use crate::import::receive_order::CompletedReceive;
use crate::import::trace::{ItemSink, TraceItem};
use crate::import::trace_piece::{CallKey, Collective, PieceKind, TraceCall, TracePiece, Transfer};
use crate::limits::{MAX_NS, sum_bytes};
use anyhow::{Result, bail};
use mpiscope_wire::{Family, by_id};
use std::collections::{BTreeMap, HashMap};

/// Requests that are not complete.
const MAX_REQUESTS: usize = 1 << 22;

/// Counts over all ranks.
#[derive(Debug, Default)]
pub(crate) struct RankCounts {
    pub(crate) calls: u64,
    /// When the first call began and the last one ended, each with its rank.
    pub(crate) from: Option<(u64, u32)>,
    pub(crate) to: (u64, u32),
    bytes: u64,
    /// Calls of MPI functions that are not recorded, by name.
    pub(crate) unknown: BTreeMap<String, u64>,
    /// Messages whose source or communicator is not known.
    pub(crate) unknown_transfers: u64,
}

/// Reads the calls of one rank.
pub(crate) struct RankReader<'a> {
    pub(crate) rank: u32,
    pub(crate) functions: &'a HashMap<&'static str, u16>,
    /// The sizes of datatypes in bytes, by number.
    pub(crate) sizes: &'a HashMap<i64, u64>,
    pub(crate) resolved: &'a ResolvedComms,
    pub(crate) ranks: u32,
    pub(crate) counts: &'a mut RankCounts,
    own: RankComms,
    /// How many communicators its calls have made.
    made: usize,
    requests: HashMap<i64, PendingRequest>,
    calls: u64,
    messages: u64,
    last_ns: HashMap<u32, u64>,
}

impl<'a> RankReader<'a> {
    pub(crate) fn new(
        (rank, ranks): (u32, u32),
        functions: &'a HashMap<&'static str, u16>,
        sizes: &'a HashMap<i64, u64>,
        resolved: &'a ResolvedComms,
        counts: &'a mut RankCounts,
    ) -> Self {
        Self {
            rank,
            functions,
            sizes,
            resolved,
            ranks,
            counts,
            own: RankComms::new(),
            made: 0,
            requests: HashMap::new(),
            calls: 0,
            messages: 0,
            last_ns: HashMap::new(),
        }
    }

    /// Takes the next call. The pieces of it go to `sink`.
    pub(crate) fn call(&mut self, record: &Record, sink: &mut ItemSink<'_>) -> Result<()> {
        if let Some(made) = comm_creation(record) {
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
        if record.start_ns < *last || record.end_ns > MAX_NS {
            bail!("{} begins before the call before it ended, or beyond what any run takes", record.function);
        }
        *last = record.end_ns;
        // Threads beyond the limit count as the last one.
        let thread = record.thread.min(MAX_THREADS as u32 - 1);
        let number = self.rank * MAX_THREADS as u32 + thread;
        let key = CallKey { end_ns: record.end_ns, thread: number, call: self.calls };
        self.calls += 1;
        self.counts.calls += 1;
        let began = (record.start_ns, self.rank);
        self.counts.from = Some(self.counts.from.map_or(began, |from| from.min(began)));
        self.counts.to = self.counts.to.max((record.end_ns, self.rank));
        let collective = self.record_transfers(record, function, key, sink)?;
        let called = TraceCall {
            start_ns: record.start_ns,
            rank: self.rank,
            thread: thread as u16,
            function,
            count: 1,
            site: 0,
            collective,
        };
        sink(TraceItem::Piece(TracePiece { key, order: 0, kind: PieceKind::Call(called) }))
    }

    /// Records what a call sent and received. Returns the collective, if it is one.
    fn record_transfers(
        &mut self,
        record: &Record,
        function: u16,
        key: CallKey,
        sink: &mut ItemSink<'_>,
    ) -> Result<Option<Collective>> {
        let at_ns = record.start_ns;
        match record.function.trim_start_matches("MPI_") {
            "Send" | "Bsend" | "Ssend" | "Rsend" => {
                let message = self.message_arguments(record, "dest", "tag", "count", "datatype")?;
                self.send(&message, key, sink)?;
            }
            "Isend" | "Ibsend" | "Issend" | "Irsend" => {
                let message = self.message_arguments(record, "dest", "tag", "count", "datatype")?;
                self.send(&message, key, sink)?;
                self.request(record, Request::Send(message), false, Some(at_ns))?;
            }
            "Recv" => {
                let message = self.message_arguments(record, "source", "tag", "count", "datatype")?;
                self.receive(&message, status(record, "status"), at_ns, key, sink)?;
            }
            "Sendrecv" => {
                let message = self.message_arguments(record, "dest", "sendtag", "sendcount", "sendtype")?;
                self.send(&message, key, sink)?;
                let message = self.message_arguments(record, "source", "recvtag", "recvcount", "recvtype")?;
                self.receive(&message, status(record, "status"), at_ns, key, sink)?;
            }
            "Sendrecv_replace" => {
                let message = self.message_arguments(record, "dest", "sendtag", "count", "datatype")?;
                self.send(&message, key, sink)?;
                let message = self.message_arguments(record, "source", "recvtag", "count", "datatype")?;
                self.receive(&message, status(record, "status"), at_ns, key, sink)?;
            }
            _ if self.change_requests(record, key, sink)? => {}
            _ if by_id(function).is_some_and(|entry| entry.family == Family::Complete) => {
                self.complete(record, key, sink)?;
            }
            _ => return self.collective(record, function),
        }
        Ok(None)
    }

    /// Takes in a call that makes, starts or frees requests; `false` if it is another one.
    fn change_requests(&mut self, record: &Record, key: CallKey, sink: &mut ItemSink<'_>) -> Result<bool> {
        match record.function.trim_start_matches("MPI_") {
            "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" => {
                let message = self.message_arguments(record, "dest", "tag", "count", "datatype")?;
                self.request(record, Request::Send(message), true, None)?;
            }
            "Recv_init" => {
                let message = self.message_arguments(record, "source", "tag", "count", "datatype")?;
                self.request(record, Request::Receive(message), true, None)?;
            }
            "Irecv" => {
                let message = self.message_arguments(record, "source", "tag", "count", "datatype")?;
                self.request(record, Request::Receive(message), false, Some(record.start_ns))?;
            }
            "Start" | "Startall" => self.start(record, record.start_ns, key, sink)?,
            "Request_free" => {
                for request in requests(record) {
                    self.requests.remove(&request);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The message that the arguments of a call describe.
    fn message_arguments(
        &self,
        record: &Record,
        peer: &str,
        tag: &str,
        count: &str,
        datatype: &str,
    ) -> Result<MessageArguments> {
        let number = |name: &str| match record.number(name) {
            Some(number) => Ok(number),
            None => bail!("{} says no {name}", record.function),
        };
        let bytes = self.bytes(record, number(count)?, number(datatype)?)?;
        Ok(MessageArguments { comm: number("comm")?, peer: number(peer)?, tag: number(tag)?, bytes })
    }

    fn bytes(&self, record: &Record, count: i64, datatype: i64) -> Result<u64> {
        let Some(&size) = self.sizes.get(&datatype) else {
            bail!(
                "the size of datatype {datatype} of {} is missing: write the texts with dumpi2ascii -a",
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

    /// The world rank at a place in a communicator.
    fn rank_in(&self, comm: u32, place: i64) -> Option<u32> {
        let at = usize::try_from(place).ok()?;
        match self.resolved.members.get(&comm) {
            None => u32::try_from(at).ok().filter(|&rank| rank < self.ranks),
            Some(CommMembers::Group(group)) => group.get(at).copied(),
            Some(_) => (comm == OWN_SELF && at == 0).then_some(self.rank),
        }
    }

    /// The message in terms of the recording; none where there is no message, as with `MPI_PROC_NULL`, or too little is known.
    fn transfer(&mut self, message: &MessageArguments, is_receive: bool) -> Option<Transfer> {
        // A negative rank is no rank, whatever the MPI library means by it.
        if message.peer < 0 {
            return None;
        }
        let comm = self.own.get(message.comm);
        let peer = comm.and_then(|comm| self.rank_in(comm, message.peer));
        let known = comm.zip(peer).zip(i32::try_from(message.tag).ok().filter(|&tag| tag >= 0));
        let Some(((comm, peer), tag)) = known else {
            self.counts.unknown_transfers += 1;
            return None;
        };
        Some(Transfer { peer, tag, comm, bytes: message.bytes, is_receive, post: None })
    }

    fn send(&mut self, message: &MessageArguments, key: CallKey, sink: &mut ItemSink<'_>) -> Result<()> {
        let Some(transfer) = self.transfer(message, false) else { return Ok(()) };
        let Some(sum) = sum_bytes(self.counts.bytes, transfer.bytes) else {
            bail!("the sizes of all messages add up to more than 4 EiB");
        };
        self.counts.bytes = sum;
        self.messages += 1;
        sink(TraceItem::Piece(TracePiece { key, order: self.messages, kind: PieceKind::Message(transfer) }))
    }

    /// Records a receive that is complete.
    fn receive(
        &mut self,
        message: &MessageArguments,
        status: Option<Status>,
        posted_ns: u64,
        key: CallKey,
        sink: &mut ItemSink<'_>,
    ) -> Result<()> {
        let message = match status {
            Some(status) if status.is_cancelled => return Ok(()),
            Some(Status { bytes, source, tag, .. }) => {
                MessageArguments { comm: message.comm, peer: source, tag, bytes }
            }
            // The source is MPI_ANY_SOURCE and the program ignored the status.
            None if message.peer == -1 || message.tag < 0 => {
                self.counts.unknown_transfers += 1;
                return Ok(());
            }
            None => *message,
        };
        let Some(transfer) = self.transfer(&message, true) else { return Ok(()) };
        self.messages += 1;
        let order = (posted_ns, self.messages);
        sink(TraceItem::Receive(CompletedReceive { rank: self.rank, order, key, transfer }))
    }

    fn request(
        &mut self,
        record: &Record,
        request: Request,
        is_persistent: bool,
        started_ns: Option<u64>,
    ) -> Result<()> {
        if self.requests.len() >= MAX_REQUESTS {
            bail!("more than {MAX_REQUESTS} requests are not complete");
        }
        for number in requests(record) {
            self.requests.insert(number, PendingRequest { request, is_persistent, started_ns });
        }
        Ok(())
    }

    fn start(&mut self, record: &Record, at_ns: u64, key: CallKey, sink: &mut ItemSink<'_>) -> Result<()> {
        for request in requests(record) {
            let Some(known) = self.requests.get_mut(&request) else { continue };
            known.started_ns = Some(at_ns);
            if let Request::Send(message) = known.request {
                self.send(&message, key, sink)?;
            }
        }
        Ok(())
    }

    /// Records the receives that a wait or a test completed.
    fn complete(&mut self, record: &Record, key: CallKey, sink: &mut ItemSink<'_>) -> Result<()> {
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
            let (what, started_ns) = (known.request, known.started_ns.take());
            if !known.is_persistent {
                self.requests.remove(&request);
            }
            if let (Request::Receive(message), Some(posted_ns)) = (what, started_ns) {
                let status = statuses.as_ref().map(|statuses| statuses[number]);
                self.receive(&message, status, posted_ns, key, sink)?;
            }
        }
        Ok(())
    }

    /// A blocking collective: the bytes it sent, or received if it sent nothing.
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
            Some(CommMembers::Group(group)) => group.len() as i64,
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
        // A count that is not significant on this rank is not in the text: it counts as 0 bytes.
        let bytes = match count.zip(record.number(datatype)) {
            Some((count, datatype)) if count > 0 => self.bytes(record, count, datatype)?,
            _ => 0,
        };
        Ok(Some(Collective { comm, root, bytes, started: None }))
    }
}
