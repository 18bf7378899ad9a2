//! Frames in a tunnel: a length, then the payload. Two lengths mean something else.

use crate::error::LinkError;

/// The bytes before the payload.
pub(crate) const HEADER_BYTES: usize = 4;
/// The longest payload.
pub(crate) const MOST_PAYLOAD_BYTES: usize = 64 << 10;
/// Nothing new, but alive.
pub(crate) const ALIVE: [u8; HEADER_BYTES] = 0_u32.to_le_bytes();
/// No bytes follow in this direction.
pub(crate) const END: [u8; HEADER_BYTES] = u32::MAX.to_le_bytes();

/// The header of a frame with this number of payload bytes, at least one.
pub(crate) fn header(payload_bytes: usize) -> [u8; HEADER_BYTES] {
    debug_assert!((1..=MOST_PAYLOAD_BYTES).contains(&payload_bytes));
    (payload_bytes as u32).to_le_bytes()
}

/// Takes frames apart, however the bytes are split.
#[derive(Debug, Default)]
pub(crate) struct FrameDecoder {
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    /// What the payload of the current frame still lacks.
    missing_bytes: usize,
    has_ended: bool,
}

impl FrameDecoder {
    /// Whether the other side has announced that no bytes follow.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Appends the payloads in these bytes.
    pub(crate) fn decode(&mut self, mut bytes: &[u8], payload: &mut Vec<u8>) -> Result<(), LinkError> {
        while !bytes.is_empty() {
            if self.missing_bytes > 0 {
                let (now, later) = bytes.split_at(self.missing_bytes.min(bytes.len()));
                payload.extend_from_slice(now);
                self.missing_bytes -= now.len();
                bytes = later;
                continue;
            }
            let (now, later) = bytes.split_at((HEADER_BYTES - self.header_bytes).min(bytes.len()));
            self.header[self.header_bytes..][..now.len()].copy_from_slice(now);
            self.header_bytes += now.len();
            bytes = later;
            if self.header_bytes == HEADER_BYTES {
                self.header_bytes = 0;
                self.begin_frame()?;
            }
        }
        Ok(())
    }

    fn begin_frame(&mut self) -> Result<(), LinkError> {
        match self.header {
            ALIVE => Ok(()),
            _ if self.has_ended => Err(LinkError::Protocol("sent bytes after the end of a stream")),
            END => {
                self.has_ended = true;
                Ok(())
            }
            length => {
                self.missing_bytes = u32::from_le_bytes(length) as usize;
                if self.missing_bytes > MOST_PAYLOAD_BYTES {
                    return Err(LinkError::Protocol("announced a frame that is too large"));
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_split_gives_the_same_bytes(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..20),
            cuts in proptest::collection::vec(1_usize..30, 1..50),
        ) {
            let mut bytes = Vec::new();
            for payload in &payloads {
                // An empty one is what says "alive".
                bytes.extend((payload.len() as u32).to_le_bytes());
                bytes.extend(payload);
            }
            bytes.extend(END);
            bytes.extend(ALIVE);
            let (mut decoder, mut decoded) = (FrameDecoder::default(), Vec::new());
            let mut left = &bytes[..];
            for cut in cuts.iter().cycle() {
                let (now, later) = left.split_at((*cut).min(left.len()));
                decoder.decode(now, &mut decoded).unwrap();
                left = later;
                prop_assert_eq!(decoder.has_ended(), left.len() <= HEADER_BYTES);
                if left.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(decoded, payloads.concat());
        }
    }

    #[test]
    fn frames_that_are_too_large_or_late_are_refused() {
        let decode = |bytes: &[u8]| FrameDecoder::default().decode(bytes, &mut Vec::new());
        assert!(decode(&header(MOST_PAYLOAD_BYTES)).is_ok());
        assert!(decode(&(MOST_PAYLOAD_BYTES as u32 + 1).to_le_bytes()).is_err());
        assert!(decode(&[END, ALIVE].concat()).is_ok());
        assert!(decode(&[END, header(1)].concat()).is_err());
        assert!(decode(&[END, END].concat()).is_err());
    }
}
