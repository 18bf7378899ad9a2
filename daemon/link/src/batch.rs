//! Frames on the way: many at once, compressed.

use crate::error::LinkError;
use crate::packet::Packet;
use mpiscope_wire::{Message, first_frame};

/// The raw bytes of a batch at the most, unless a single frame is longer.
pub(crate) const MOST_BATCH_BYTES: usize = 1 << 20;
/// What a batch of one frame may hold when it arrives.
const MOST_RAW_BYTES: usize = mpiscope_wire::MAX_PAYLOAD_BYTES + mpiscope_wire::FRAME_HEADER_BYTES;
/// Speed counts for more than size: the agent shares its processors with the job.
const LEVEL: i32 = 1;

/// Compresses frames for the way.
pub(crate) fn pack(first: u64, frames: u32, raw: &[u8]) -> Result<Packet, LinkError> {
    let compressed = zstd::bulk::compress(raw, LEVEL)?;
    let raw_bytes =
        u32::try_from(raw.len()).map_err(|_| LinkError::Protocol("would get too large a batch"))?;
    Ok(Packet::Batch { first, frames, raw_bytes, compressed })
}

/// What arrived.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// The frames as they are, each with its place in `bytes`.
    pub(crate) frames: Vec<(std::ops::Range<usize>, Message)>,
    pub(crate) bytes: Vec<u8>,
}

/// Unpacks frames and checks every one of them; whether packed slots make sense is left to whoever reads them.
pub(crate) fn unpack(frames: u32, raw_bytes: u32, compressed: &[u8]) -> Result<Unpacked, LinkError> {
    let raw_bytes = raw_bytes as usize;
    // Many small frames take several times as much once they are decoded, and as many batches may wait for the log.
    if raw_bytes > if frames == 1 { MOST_RAW_BYTES } else { MOST_BATCH_BYTES } {
        return Err(LinkError::Protocol("announced a batch that is too large"));
    }
    let bytes = zstd::bulk::decompress(compressed, raw_bytes)
        .map_err(|_| LinkError::Protocol("sent a batch that does not unpack"))?;
    if bytes.len() != raw_bytes {
        return Err(LinkError::Protocol("sent a batch of another size than announced"));
    }
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(frame) =
        first_frame(&bytes[at..]).map_err(|_| LinkError::Protocol("sent a damaged frame"))?
    {
        let message = Message::decode(frame.kind, frame.payload)
            .map_err(|_| LinkError::Protocol("sent a frame of unknown kind or content"))?;
        if !message.is_from_agent() {
            return Err(LinkError::Protocol("sent a frame that only the daemon may write"));
        }
        found.push((at..at + frame.bytes.len(), message));
        at += frame.bytes.len();
    }
    if found.len() != frames as usize || at != bytes.len() {
        return Err(LinkError::Protocol("sent another number of frames than announced"));
    }
    Ok(Unpacked { frames: found, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_wire::{ClockSample, RunEnd, Slots};

    fn frames(messages: &[Message]) -> Vec<u8> {
        let mut bytes = Vec::new();
        messages.iter().for_each(|message| message.encode(&mut bytes));
        bytes
    }

    fn unpacked(packet: Packet) -> Result<Unpacked, LinkError> {
        let Packet::Batch { frames, raw_bytes, compressed, .. } = packet else { unreachable!() };
        unpack(frames, raw_bytes, &compressed)
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let messages = [
            Message::ClockSample(ClockSample { ticks: 1, monotonic_ns: 2 }),
            Message::Slots(Slots { process: 1, ring: 0, from: 7, slots: vec![[9; 4]; 1000] }),
            Message::of_slots(1, 0, 1007, &[[9; 4]; 1000]),
        ];
        let raw = frames(&messages);
        let packet = pack(3, 3, &raw).unwrap();
        let Packet::Batch { ref compressed, .. } = packet else { unreachable!() };
        assert!(compressed.len() < raw.len() / 10);
        let found = unpacked(packet).unwrap();
        assert_eq!(found.bytes, raw);
        assert_eq!(found.frames.iter().map(|(_, message)| message.clone()).collect::<Vec<_>>(), messages);
        assert_eq!(found.frames[2].0.end, raw.len());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let sample = frames(&[Message::ClockSample(ClockSample { ticks: 1, monotonic_ns: 2 })]);
        let end = frames(&[Message::RunEnd(RunEnd { exit: None, monotonic_ns: 1 })]);
        let mut damaged = sample.clone();
        damaged[20] ^= 1;
        for (count, raw) in [(2, &sample), (1, &end), (1, &damaged), (1, &sample[..10].to_vec())] {
            assert!(unpacked(pack(0, count, raw).unwrap()).is_err());
        }
        // A small packet that unpacks to more than it announces, or announces more than is allowed.
        let bomb = zstd::bulk::compress(&vec![0; 1 << 20], 1).unwrap();
        assert!(unpack(1, 100, &bomb).is_err());
        assert!(unpack(1, u32::MAX, &bomb).is_err());
        let many = sample.repeat(MOST_BATCH_BYTES / sample.len() + 1);
        assert!(unpacked(pack(0, (many.len() / sample.len()) as u32, &many).unwrap()).is_err());
        assert!(unpack(1, 100, b"no zstd").is_err());
    }
}
