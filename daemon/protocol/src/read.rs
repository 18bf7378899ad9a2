//! A client's messages as they are read, in either format, whatever the bytes are.

use crate::request::{Format, Request};
use serde::Deserialize as _;

/// How deep lists and maps may lie in each other. JSON has a bound of its own, of 128.
const DEPTH_MAX: usize = 64;

/// Reads what a client sent.
///
/// # Errors
/// One sentence about what is wrong with it.
pub fn read_request(bytes: &[u8], format: Format) -> Result<Request, String> {
    let wrong = |error: String| format!("this is no message of the protocol: {error}");
    match format {
        Format::Json => serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string())),
        Format::Msgpack => {
            let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
            deserializer.set_max_depth(DEPTH_MAX);
            Request::deserialize(&mut deserializer).map_err(|error| wrong(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SetSeries, Tell};
    use proptest::prelude::*;

    /// A value below N lists.
    fn deep(levels: usize) -> Request {
        let data = (0..levels).fold(serde_json::Value::Null, |inner, _| serde_json::json!([inner]));
        Request::Tell(Tell { to: None, data })
    }

    #[test]
    fn what_lies_too_deep_is_refused_before_it_fills_the_stack() {
        for (levels, is_read) in [(10, true), (1_000, false)] {
            let bytes = rmp_serde::to_vec_named(&deep(levels)).unwrap();
            assert_eq!(read_request(&bytes, Format::Msgpack).is_ok(), is_read, "{levels}");
            let text = serde_json::to_string(&deep(levels)).unwrap();
            assert_eq!(read_request(text.as_bytes(), Format::Json).is_ok(), is_read, "{levels}");
        }
        // The beginning of a million lists.
        for format in [Format::Msgpack, Format::Json] {
            assert!(read_request(&vec![0x91; 1 << 20], format).is_err());
            assert!(read_request(&vec![b'['; 1 << 20], format).is_err());
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_request(&bytes, Format::Msgpack);
            let _ = read_request(&bytes, Format::Json);
        }

        /// A request with some bytes changed is read or refused.
        #[test]
        fn no_change_makes_it_panic(
            times in prop::collection::vec(any::<f64>(), 0..9),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            is_json in any::<bool>(),
        ) {
            let series = SetSeries { name: "a".into(), unit: "b".into(), value: times.clone(), time_ns: times };
            let request = Request::Series(series);
            let (mut bytes, format) = match is_json {
                true => (serde_json::to_vec(&request).unwrap(), Format::Json),
                false => (rmp_serde::to_vec_named(&request).unwrap(), Format::Msgpack),
            };
            if changes.is_empty() && !is_json {
                prop_assert!(read_request(&bytes, format).is_ok());
            }
            for (at, byte) in changes {
                *at.get_mut(&mut bytes) = byte;
            }
            let _ = read_request(&bytes, format);
        }
    }
}
