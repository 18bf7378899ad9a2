//! A client's messages as they are read, in either format.

use mpiscope_protocol::{Format, Reply, Request, Subscribe};
use warp::ws::Message;

/// Reads a message.
///
/// # Errors
/// One sentence about what is wrong with it.
pub(super) fn read(message: &Message) -> Result<Request, String> {
    if message.is_text() {
        serde_json::from_slice(message.as_bytes())
            .map_err(|error| format!("this is no message of the protocol: {error}"))
    } else {
        rmp_serde::from_slice(message.as_bytes())
            .map_err(|error| format!("this is no message of the protocol: {error}"))
    }
}

/// Writes a message in the client's format; nothing where that fails, which it does not for these types.
pub(super) fn write(reply: &Reply, format: Format) -> Option<Message> {
    match format {
        Format::Json => serde_json::to_string(reply).ok().map(Message::text),
        Format::Msgpack => rmp_serde::to_vec_named(reply).ok().map(Message::binary),
    }
}

/// What a request is to do, and its number, for the answer when that fails.
pub(super) fn label(request: &Request) -> (&'static str, Option<u32>) {
    match request {
        Request::Hello(_) => ("hello", None),
        Request::Subscribe(Subscribe { id, .. }) => ("subscribe", Some(*id)),
        Request::Unsubscribe { id } => ("unsubscribe", Some(*id)),
        Request::Live => ("live", None),
        Request::Pause => ("pause", None),
        Request::Play { .. } => ("play", None),
        Request::Rate { .. } => ("rate", None),
        Request::Seek { .. } => ("seek", None),
        Request::Step { .. } => ("step", None),
        Request::StepTo { id, .. } => ("step_to", Some(*id)),
        Request::Select(_) => ("select", None),
        Request::Barrier(barrier) => ("barrier", Some(barrier.id)),
        Request::Drawn { .. } => ("drawn", None),
        Request::Annotate(asked) => ("annotate", Some(asked.id)),
        Request::Remove { .. } => ("remove", None),
        Request::Series(_) => ("series", None),
        Request::Tell(_) => ("tell", None),
    }
}
