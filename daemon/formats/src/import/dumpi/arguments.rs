//! What the arguments of a call of a DUMPI text say: messages, requests, new communicators.

use super::comms::{CommCreation, CommOrigin};
use super::text_reader::{Record, Status};

/// A message as the arguments of a call describe it; all numbers but the bytes are the rank's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageArguments {
    pub(super) comm: i64,
    pub(super) peer: i64,
    pub(super) tag: i64,
    pub(super) bytes: u64,
}

/// What a request sends or receives.
#[derive(Debug, Clone, Copy)]
pub(super) enum Request {
    Send(MessageArguments),
    Receive(MessageArguments),
}

/// A request that is not complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingRequest {
    pub(super) request: Request,
    pub(super) is_persistent: bool,
    /// When it was started; none while a persistent request is not.
    pub(super) started_ns: Option<u64>,
}

/// The communicator that a call makes, if it makes one.
pub(super) fn comm_creation(record: &Record) -> Option<CommCreation> {
    let new = record.number("newcomm")?;
    let old = record.number("oldcomm").unwrap_or_default();
    let how = match record.function.as_str() {
        "MPI_Comm_dup" => CommOrigin::Copied,
        "MPI_Comm_split" => CommOrigin::Split { color: record.number("color")?, key: record.number("key")? },
        _ => CommOrigin::Otherwise,
    };
    Some(CommCreation { old, new, how })
}

/// The requests that a call names.
pub(super) fn requests(record: &Record) -> Vec<i64> {
    record.numbers("requests").or_else(|| record.numbers("request")).unwrap_or_default()
}

/// A single status: texts write an array of one.
pub(super) fn status(record: &Record, name: &str) -> Option<Status> {
    record.statuses(name)?.first().copied()
}
