//! A call that has returned, in times and ids of the run, and what its parts moved.

use mpiscope_model::{Comm, Side, Site};
use mpiscope_wire::{self as wire, Call, CallFlags, NO_COMM, Part, PartFlags};

/// A part of a call with its communicator.
pub(crate) type ClosingPart = (Part, Option<Comm>);

/// A call with its full fields, its times as nanoseconds of the run, and its communicator as an index of the run.
pub(crate) struct Closed {
    pub(crate) call: Call,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) comm: Option<Comm>,
    /// The caller's group of it.
    pub(crate) side: Side,
    /// The parts, each with its communicator and, where it completes one, the number of its post.
    pub(crate) parts: Vec<ClosingPart>,
    /// Its call site.
    pub(crate) site: Option<Site>,
    /// The full number of the receive that the call posted.
    pub(crate) post: u64,
}

/// What the parts of a call sent and received, found in one pass.
#[derive(Default)]
pub(crate) struct Moved<'a> {
    pub(crate) sends: usize,
    pub(crate) sent_bytes: u64,
    pub(crate) receives: usize,
    pub(crate) received_bytes: u64,
    pub(crate) last: Option<&'a ClosingPart>,
    /// Persistent collectives that it started.
    pub(crate) started: usize,
    pub(crate) started_bytes: u64,
    pub(crate) last_started: Option<&'a ClosingPart>,
}

impl<'a> Moved<'a> {
    pub(crate) fn by(parts: &'a [ClosingPart]) -> Self {
        let mut moved = Self::default();
        for part in parts {
            let (number, bytes) = match part.0.flags {
                PartFlags::SENT => (&mut moved.sends, &mut moved.sent_bytes),
                flags if flags.is_receive() => (&mut moved.receives, &mut moved.received_bytes),
                PartFlags::STARTED => {
                    moved.started += 1;
                    moved.started_bytes = moved.started_bytes.saturating_add(part.0.bytes);
                    moved.last_started = Some(part);
                    continue;
                }
                _ => continue,
            };
            *number += 1;
            if part.0.bytes != Part::UNKNOWN_BYTES {
                *bytes = bytes.saturating_add(part.0.bytes);
            }
            moved.last = Some(part);
        }
        moved
    }
}

/// Whether the call is of a known function, and all ranks it names are in the job.
#[inline]
pub(crate) fn makes_sense(call: &Call, parts: &[Part], world_size: u32) -> bool {
    let beyond = |peer: i32| u32::try_from(peer).is_ok_and(|peer| peer >= world_size);
    wire::by_id(call.function).is_some() && !beyond(call.peer) && !parts.iter().any(|part| beyond(part.peer))
}

/// Whether messages of the call are on communicators that nobody defined.
#[inline]
pub(crate) fn lacks_comm(call: &Call, comm: Option<Comm>, parts: &[ClosingPart]) -> bool {
    let moves =
        [CallFlags::SEND, CallFlags::RECEIVE, CallFlags::POST].iter().any(|&flag| call.flags.has(flag));
    let moving =
        |flags: PartFlags| flags.is_receive() || flags == PartFlags::SENT || flags == PartFlags::POSTED;
    let lost_part = |(part, comm): &ClosingPart| comm.is_none() && moving(part.flags);
    comm.is_none() && (moves || call.comm != NO_COMM) || parts.iter().any(lost_part)
}
