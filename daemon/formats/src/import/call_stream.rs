//! Writes the calls of a trace, with the messages that they sent and received, as the log of a run.

use super::log_stream::{JobDescription, LogStream, MAX_THREADS};
use super::trace_piece::{CallKey, Collective, PhaseMark, PieceKind, TraceCall, TracePiece, Transfer};
use anyhow::Result;
use mpiscope_wire::{
    Call, CallFlags, Family, Message, ModuleDefinition, NO_COMM, PEER_NONE, Part, PartFlags, PathPart,
    SiteDefinition, Slot, by_id, id,
};
use std::collections::{HashMap, HashSet};

/// Call sites per trace. Calls from further ones have no call site.
const MAX_CALL_SITES: usize = 1 << 12;
/// The level of `MPI_Pcontrol` that begins a phase; below zero it ends one. Lower levels pause and resume.
const PHASE_LEVEL: i32 = 3;

/// Writes the pieces of a trace, which come in the order of time, in batches of `most_slots`.
pub(crate) fn write_calls(
    job: &JobDescription<'_>,
    call_sites: &[String],
    pieces: impl Iterator<Item = Result<TracePiece>>,
    most_slots: usize,
    sink: &mut dyn FnMut(Message),
) -> Result<()> {
    let mut stream = LogStream::begin(job, sink);
    let mut writer = CallWriter {
        call_sites,
        defined_sites: HashSet::new(),
        collectives: HashMap::new(),
        started: HashMap::new(),
    };
    let (mut posted, mut transfers, mut completed) = (Vec::new(), Vec::new(), Vec::new());
    for piece in pieces {
        let piece = piece?;
        match piece.kind {
            PieceKind::Posted(one) => posted.push(one),
            PieceKind::Message(one) => transfers.push(one),
            PieceKind::Completed(number) => completed.extend(writer.started.remove(&number)),
            PieceKind::Call(call) => {
                if stream.pending_slots() >= most_slots {
                    // All calls that ended before this moment were pushed.
                    stream.flush(piece.key.end_ns);
                }
                writer.write_call(&mut stream, (piece.key, &call), &posted, &transfers, &completed);
                posted.clear();
                transfers.clear();
                completed.clear();
            }
            PieceKind::Phase(mark) => write_phase(&mut stream, piece.key.end_ns, &mark),
        }
    }
    stream.finish();
    Ok(())
}

/// Writes the beginning or the end of a phase as the call of `MPI_Pcontrol` by which a program says so.
fn write_phase(stream: &mut LogStream<'_>, at_ns: u64, mark: &PhaseMark) {
    let call = Call {
        flags: CallFlags::NONE,
        function: id::PCONTROL,
        duration: 0,
        start: stream.to_clock_ns(at_ns),
        peer: PEER_NONE,
        comm: stream.define_phase(mark.rank, mark.phase),
        site: 0,
        tag: if mark.is_begin { PHASE_LEVEL } else { -PHASE_LEVEL },
        bytes: 0,
    };
    let thread = usize::from(mark.thread).min(MAX_THREADS - 1);
    stream.push_slots(mark.rank, thread, &[call.encode()]);
}

/// Defines the communicators of a call and of its messages.
fn define_comms<'a>(
    stream: &mut LogStream<'_>,
    call: &TraceCall,
    transfers: impl Iterator<Item = &'a Transfer>,
) {
    for comm in transfers.map(|one| one.comm).chain(call.collective.map(|of| of.comm)) {
        stream.define_comm(call.rank, comm);
    }
}

/// A call without what it sent and received.
fn plain_call(call: &TraceCall, end_ns: u64, clock_ns: u64, site: u32) -> Call {
    Call {
        flags: CallFlags::NONE,
        function: call.function,
        duration: end_ns - call.start_ns,
        start: clock_ns,
        peer: PEER_NONE,
        comm: NO_COMM,
        site,
        tag: 0,
        bytes: 0,
    }
}

fn encode_transfer(transfer: &Transfer) -> Slot {
    let flags = match (transfer.is_receive, transfer.post) {
        (false, _) => PartFlags::SENT,
        (true, None) => PartFlags::INLINE,
        (true, Some(_)) => PartFlags::COMPLETED,
    };
    encode_part(flags, transfer)
}

/// A nonblocking collective that a call completed: its communicator, and its number on it.
fn encode_completed(&(comm, tag): &(u32, i32)) -> Slot {
    let flags = PartFlags::COLLECTED;
    Part { flags, tag, post: u64::from(tag.cast_unsigned()), peer: PEER_NONE, comm, bytes: 0 }.encode()
}

/// Turns calls into slots.
struct CallWriter<'a> {
    /// Names of call sites, from number 1 on.
    call_sites: &'a [String],
    /// Pairs of rank and call site that are defined.
    defined_sites: HashSet<(u32, u32)>,
    /// The number of collectives so far, by rank and communicator.
    collectives: HashMap<(u32, u32), i32>,
    /// The communicator of each nonblocking collective that is not complete, and its number on it.
    started: HashMap<u32, (u32, i32)>,
}

impl CallWriter<'_> {
    fn write_call(
        &mut self,
        stream: &mut LogStream<'_>,
        (key, call): (CallKey, &TraceCall),
        posted: &[Transfer],
        transfers: &[Transfer],
        completed: &[(u32, i32)],
    ) {
        define_comms(stream, call, posted.iter().chain(transfers));
        let thread = usize::from(call.thread).min(MAX_THREADS - 1);
        let site = self.define_call_site(stream, call.rank, call.site);
        let plain = plain_call(call, key.end_ns, stream.to_clock_ns(call.start_ns), site);
        let main = main_transfer(call.function, transfers);
        let whole = match (main, call.collective) {
            (Some(one), _) => Call {
                flags: if one.is_receive { CallFlags::RECEIVE } else { CallFlags::SEND },
                peer: one.peer.cast_signed(),
                comm: one.comm,
                tag: one.tag,
                bytes: one.bytes,
                ..plain
            },
            (None, Some(collective)) => self.collective(call.rank, &collective, plain),
            (None, None) if call.count > 1 && transfers.is_empty() && posted.is_empty() => {
                Call { flags: CallFlags::FOLDED, bytes: call.count, ..plain }
            }
            (None, None) => plain,
        };
        let mut slots: Vec<Slot> = posted.iter().map(|one| encode_part(PartFlags::POSTED, one)).collect();
        let others = transfers.iter().filter(|one| !main.is_some_and(|main| std::ptr::eq(*one, main)));
        slots.extend(others.map(encode_transfer));
        slots.extend(completed.iter().map(encode_completed));
        if whole.needs_wide() {
            slots.push(whole.encode_wide());
        }
        slots.push(whole.encode());
        stream.push_slots(call.rank, thread, &slots);
    }

    /// Numbers a collective by how many came before it on its communicator.
    fn collective(&mut self, rank: u32, of: &Collective, plain: Call) -> Call {
        let next = self.collectives.entry((rank, of.comm)).or_default();
        let number = *next;
        *next = next.wrapping_add(1);
        if let Some(started) = of.started {
            self.started.insert(started.get(), (of.comm, number));
        }
        Call {
            flags: CallFlags::COLLECTIVE,
            peer: of.root.map_or(PEER_NONE, u32::cast_signed),
            comm: of.comm,
            tag: number,
            bytes: of.bytes,
            ..plain
        }
    }

    /// Defines a call site for a rank, once. Its name takes the place of the path of a module.
    fn define_call_site(&mut self, stream: &mut LogStream<'_>, rank: u32, site: u32) -> u32 {
        let known = (site as usize).checked_sub(1).filter(|&at| at < MAX_CALL_SITES);
        let Some(path) = known.and_then(|at| self.call_sites.get(at)) else { return 0 };
        if self.defined_sites.insert((rank, site)) {
            let path = path.as_bytes();
            stream.push_slots(rank, 0, &[ModuleDefinition::new(site, path, &[]).encode()]);
            let parts: Vec<_> = PathPart::all(site, path).map(|part| part.encode()).collect();
            stream.push_slots(rank, 0, &parts);
            stream.push_slots(
                rank,
                0,
                &[SiteDefinition { number: site, module: site, offset: 0, parent: 0 }.encode()],
            );
        }
        site
    }
}

/// The one message that is written into the call's own slot. All others become parts of the call.
fn main_transfer(function: u16, transfers: &[Transfer]) -> Option<&Transfer> {
    let family = by_id(function).map(|entry| entry.family);
    let is_main = |one: &&Transfer| match family {
        Some(Family::Send) => !one.is_receive,
        Some(Family::Receive) => one.is_receive && one.post.is_none(),
        _ => false,
    };
    let mut found = transfers.iter().filter(is_main);
    let main = found.next()?;
    (found.next().is_none() && (transfers.len() == 1 || !main.is_receive)).then_some(main)
}

fn encode_part(flags: PartFlags, one: &Transfer) -> Slot {
    let (tag, comm, bytes, post) = (one.tag, one.comm, one.bytes, one.post.unwrap_or_default());
    Part { flags, tag, post, peer: one.peer.cast_signed(), comm, bytes }.encode()
}
