//! Types of records and events of PICL traces, as PICL 2.0 and MPICL number them.

/// An event that takes no time.
pub(crate) const MARK: i32 = -2;
/// An event begins.
pub(crate) const ENTRY: i32 = -3;
/// An event ends.
pub(crate) const EXIT: i32 = -4;
/// What an event type is called.
pub(crate) const LABEL: i32 = -5;
/// A set of processors.
pub(crate) const PROCESSOR_SUBSET: i32 = -201;
/// A set of processes.
pub(crate) const PROCESS_SUBSET: i32 = -202;

pub(crate) const SEND: i32 = -21;
pub(crate) const RECEIVE: i32 = -52;
pub(crate) const IPROBE: i32 = -54;
pub(crate) const BARRIER: i32 = -402;
/// Processors were allocated: a node.
pub(crate) const ALLOCATE: i32 = -501;
/// A communicator was split.
pub(crate) const SPLIT: i32 = -812;
/// The trace of a process.
pub(crate) const TRACE: i32 = -901;
/// A text.
pub(crate) const TEXT: i32 = -911;

/// The communicator of all processes.
pub(crate) const WORLD: i64 = -1;
/// No communicator.
pub(crate) const NO_COMM: i64 = -2;
/// What begins a text with the name of a node; its number and its name follow.
pub(crate) const NODE_NAME: &str = "mpiscope node";

/// What the data of an event say. Messages have `bytes tag rank process`, and in addition `communicator` and `sent_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A message, when it begins.
    Send,
    /// A message, when it begins; its number, when it ends.
    StartSend,
    /// A message, when it ends.
    Receive,
    /// The number of the request, when it ends.
    StartReceive,
    /// The number of the request, when it begins; a message, when it ends.
    CompleteReceive,
    /// A communicator.
    Barrier,
    /// Bytes, root, communicator.
    Rooted,
    /// Bytes, communicator.
    All,
    /// Nothing that is needed.
    Plain,
}

/// A type of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventType {
    pub(crate) number: i32,
    pub(crate) function: &'static str,
    pub(crate) shape: Shape,
    /// Whether calls of the function are written as this event.
    pub(crate) is_written: bool,
}

const fn written(number: i32, function: &'static str, shape: Shape) -> EventType {
    EventType { number, function, shape, is_written: true }
}

const fn read(number: i32, function: &'static str, shape: Shape) -> EventType {
    EventType { number, function, shape, is_written: false }
}

/// The types of events that are MPI functions, from the highest number down.
pub(crate) const EVENT_TYPES: &[EventType] = {
    use Shape::{All, CompleteReceive, Plain, Receive, Rooted, Send, StartReceive, StartSend};
    &[
        read(-11, "MPI_Init", Plain),
        read(-12, "MPI_Finalize", Plain),
        written(SEND, "MPI_Send", Send),
        written(-22, "MPI_Bsend", Send),
        written(-23, "MPI_Ssend", Send),
        written(-24, "MPI_Rsend", Send),
        written(-27, "MPI_Isend", StartSend),
        read(-28, "MPI_Test", Plain),
        read(-29, "MPI_Test", Plain),
        read(-30, "MPI_Wait", Plain),
        read(-31, "MPI_Wait", Plain),
        read(-32, "MPI_Cancel", Plain),
        written(-33, "MPI_Ibsend", StartSend),
        read(-34, "MPI_Test", Plain),
        read(-35, "MPI_Test", Plain),
        read(-36, "MPI_Wait", Plain),
        read(-37, "MPI_Wait", Plain),
        read(-38, "MPI_Cancel", Plain),
        written(-39, "MPI_Issend", StartSend),
        read(-40, "MPI_Test", Plain),
        read(-41, "MPI_Test", Plain),
        read(-42, "MPI_Wait", Plain),
        read(-43, "MPI_Wait", Plain),
        read(-44, "MPI_Cancel", Plain),
        written(-45, "MPI_Irsend", StartSend),
        read(-46, "MPI_Test", Plain),
        read(-47, "MPI_Test", Plain),
        read(-48, "MPI_Wait", Plain),
        read(-49, "MPI_Wait", Plain),
        read(-50, "MPI_Cancel", Plain),
        read(-51, "MPI_Recv", Receive),
        written(RECEIVE, "MPI_Recv", Receive),
        read(-53, "MPI_Iprobe", Plain),
        read(IPROBE, "MPI_Iprobe", Plain),
        read(-55, "MPI_Probe", Plain),
        read(-56, "MPI_Probe", Plain),
        written(-57, "MPI_Irecv", StartReceive),
        read(-58, "MPI_Test", CompleteReceive),
        read(-59, "MPI_Test", Plain),
        read(-60, "MPI_Wait", CompleteReceive),
        read(-61, "MPI_Wait", CompleteReceive),
        read(-62, "MPI_Cancel", Plain),
        written(BARRIER, "MPI_Barrier", Shape::Barrier),
        read(-756, "MPI_Pack", Plain),
        read(-773, "MPI_Unpack", Plain),
        written(-780, "MPI_Allgather", All),
        written(-782, "MPI_Allreduce", All),
        written(-783, "MPI_Alltoall", All),
        written(-785, "MPI_Bcast", Rooted),
        written(-786, "MPI_Gather", Rooted),
        written(-790, "MPI_Reduce", Rooted),
        written(-791, "MPI_Reduce_scatter", All),
        written(-792, "MPI_Scan", All),
        written(-793, "MPI_Scatter", Rooted),
        read(-804, "MPI_Comm_create", Plain),
        read(-805, "MPI_Comm_dup", Plain),
        read(-806, "MPI_Comm_free", Plain),
        read(SPLIT, "MPI_Comm_split", Plain),
        read(-826, "MPI_Intercomm_create", Plain),
        read(-827, "MPI_Intercomm_merge", Plain),
        read(-841, "MPI_Cart_create", Plain),
        read(-846, "MPI_Cart_sub", Plain),
        read(-849, "MPI_Graph_create", Plain),
    ]
};

/// The type of an event, if it is an MPI function.
pub(crate) fn event_type(number: i32) -> Option<&'static EventType> {
    let at = EVENT_TYPES.binary_search_by(|kind| number.cmp(&kind.number)).ok()?;
    EVENT_TYPES.get(at)
}

/// What to call an event that is no MPI function, in the singular.
pub(crate) fn event_name(number: i32) -> String {
    match number {
        0.. => "user event".into(),
        -13 => "identity query".into(),
        -14 => "receive query".into(),
        -15 => "message buffer".into(),
        -299..=-201 => "file operation".into(),
        -401 => "clock synchronization".into(),
        -599..=-501 => "processor allocation".into(),
        -601 => "idle time".into(),
        -603..=-602 => "overhead time".into(),
        _ => format!("event of type {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn types_differ_and_functions_are_written_one_way() {
        assert!(EVENT_TYPES.is_sorted_by(|one, next| one.number > next.number));
        assert!(EVENT_TYPES.iter().all(|kind| event_type(kind.number) == Some(kind)));
        let written: Vec<&str> =
            EVENT_TYPES.iter().filter(|kind| kind.is_written).map(|kind| kind.function).collect();
        assert_eq!(written.iter().collect::<HashSet<_>>().len(), written.len());
        for name in written {
            assert!(mpiscope_wire::FUNCTIONS.iter().any(|entry| entry.name == name), "{name}");
        }
        assert_eq!((event_type(-52).map(|kind| kind.function), event_type(5)), (Some("MPI_Recv"), None));
    }
}
