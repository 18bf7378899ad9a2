//! A client's messages as they are read, in either format.

use mpiscope_protocol::{Failed, Format, Reply, Request, Subscribe, read_request};
use warp::ws::Message;

/// Of what a client tells another, as it came.
const TOLD_BYTES_MAX: usize = 64 << 10;
/// Of any other request but points of a series.
const REQUEST_BYTES_MAX: usize = 256 << 10;
/// What a sentence about a message may have.
const TEXT_BYTES_MAX: usize = 400;

/// Reads a message.
///
/// # Errors
/// One sentence about what is wrong with it.
pub(super) fn read(message: &Message) -> Result<Request, String> {
    let format = if message.is_text() { Format::Json } else { Format::Msgpack };
    read_request(message.as_bytes(), format).map_err(|reason| shortened(&reason, TEXT_BYTES_MAX))
}

/// A request of N bytes, unless it is larger than requests of its kind are.
pub(super) fn checked(request: Request, bytes: usize) -> Result<Request, Failed> {
    let most = match &request {
        Request::Series(_) => return Ok(request),
        Request::Tell(_) | Request::TellPanel(_) => TOLD_BYTES_MAX,
        _ => REQUEST_BYTES_MAX,
    };
    if bytes <= most {
        return Ok(request);
    }
    let (name, id) = label(&request);
    let text = format!("{} KiB is the most that such a request may have", most >> 10);
    Err(Failed { request: name.to_owned(), id, text })
}

/// The beginning of a text.
pub(super) fn shortened(text: &str, bytes_max: usize) -> String {
    text[..text.floor_char_boundary(bytes_max)].to_owned()
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
        Request::Panel(asked) => ("panel", Some(asked.id)),
        Request::TellPanel(asked) => ("tell_panel", Some(asked.id)),
        Request::ClosePanel { id } => ("close_panel", Some(*id)),
    }
}
