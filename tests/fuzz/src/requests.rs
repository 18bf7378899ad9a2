//! Any bytes as what an external program sends: a hostile client.

use mpiscope_protocol::{Format, read_request};

/// Any bytes as a request: in MessagePack where the first byte is odd, else in JSON. What is read can be written and is read
/// again.
///
/// # Panics
/// When it is not.
pub fn requests(bytes: &[u8]) {
    let (Some(form), bytes) = (bytes.first(), bytes.get(1..).unwrap_or_default()) else { return };
    let format = if form % 2 == 1 { Format::Msgpack } else { Format::Json };
    match read_request(bytes, format) {
        Err(reason) => assert!(!reason.is_empty()),
        Ok(request) => {
            let written = rmp_serde::to_vec_named(&request);
            assert!(written.is_ok_and(|written| read_request(&written, Format::Msgpack).is_ok()));
        }
    }
}
