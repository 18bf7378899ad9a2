//! What the two sides say to each other, and how it lies in bytes: a length, then MessagePack.

use crate::error::LinkError;
use mpiscope_wire::FLIGHT_WORDS;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

/// Each side misses the other after so long.
pub(crate) const SILENCE: Duration = Duration::from_secs(4);

/// The longest packet before authentication.
pub(crate) const MOST_OF_STRANGERS: usize = 4 << 10;
/// The longest packet at all.
pub(crate) const MOST_BYTES: usize = 8 << 20;
/// The most calls in flight in a packet.
const MOST_FLIGHTS: usize = 1 << 16;

/// A packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Packet {
    /// Frames in order, the first with this number.
    Batch {
        first: u64,
        frames: u32,
        raw_bytes: u32,
        #[serde(with = "serde_bytes")]
        compressed: Vec<u8>,
    },
    /// The log has all frames before this number.
    Acknowledged { next: u64 },
    /// The calls that are in flight now; it takes the place of the one before.
    Flights { calls: Vec<[u64; FLIGHT_WORDS]> },
    /// Nothing new, but alive.
    Alive,
    /// The command has ended: send the rest, then close.
    End,
    /// Calls are to be recorded from now on, or not.
    Switch { is_on: bool },
    /// Nothing is left, and nothing will come.
    Finished { next: u64 },
    /// What is the time? By the agent's clock it is this.
    Ping { agent_ns: u64 },
    /// By the daemon's clock it was this.
    Pong { agent_ns: u64, daemon_ns: u64 },
    /// The result of a ping and its answer.
    RoundTrip { local_ns: u64, offset_ns: i64, uncertainty_ns: u64 },
}

/// Writes a packet and sends it off.
pub(crate) async fn say(
    stream: &mut (impl AsyncWrite + Unpin),
    packet: &impl Serialize,
) -> Result<(), LinkError> {
    let mut bytes = vec![0; 4];
    rmp_serde::encode::write(&mut bytes, packet)
        .map_err(|_| LinkError::Protocol("would get a packet that cannot be encoded"))?;
    let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    stream.write_all(&bytes).await?;
    stream.flush().await?;
    Ok(())
}

/// Reads a packet between agent and daemon.
pub(crate) async fn hear(
    stream: &mut (impl AsyncRead + Unpin),
    most_bytes: usize,
) -> Result<Packet, LinkError> {
    match hear_any(stream, most_bytes).await? {
        Packet::Flights { calls } if calls.len() > MOST_FLIGHTS => {
            Err(LinkError::Protocol("reported more calls in flight than a node makes"))
        }
        packet => Ok(packet),
    }
}

/// Reads a packet of limited size. Memory grows with what really arrives, not with the announced size. A packet may be
/// slow, as long as some of it keeps arriving.
pub(crate) async fn hear_any<P: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
    most_bytes: usize,
) -> Result<P, LinkError> {
    let silence = |_| LinkError::Silence(SILENCE.as_secs());
    let length = timeout(SILENCE, stream.read_u32_le()).await.map_err(silence)?? as usize;
    if length > most_bytes {
        return Err(LinkError::Protocol("announced a packet that is too large"));
    }
    let mut bytes = Vec::with_capacity(length.min(64 << 10));
    let mut stream = stream.take(length as u64);
    while bytes.len() < length {
        if timeout(SILENCE, stream.read_buf(&mut bytes)).await.map_err(silence)?? == 0 {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
    }
    rmp_serde::from_slice(&bytes).map_err(|_| LinkError::Protocol("sent a packet that cannot be decoded"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    fn heard(bytes: &[u8], most_bytes: usize) -> Result<Packet, LinkError> {
        block_on(hear(&mut &*bytes, most_bytes))
    }

    #[test]
    fn a_packet_is_read_as_written() {
        let packets = [
            Packet::Batch { first: u64::MAX, frames: 1, raw_bytes: 2, compressed: vec![3; 300] },
            Packet::RoundTrip { local_ns: 1, offset_ns: -2, uncertainty_ns: 3 },
            Packet::Alive,
        ];
        for packet in packets {
            let mut bytes = Vec::new();
            block_on(say(&mut bytes, &packet)).unwrap();
            assert_eq!(heard(&bytes, MOST_BYTES).unwrap(), packet);
        }
    }

    #[test]
    fn what_is_announced_as_too_large_is_refused_before_it_is_read() {
        let mut bytes = (MOST_OF_STRANGERS as u32 + 1).to_le_bytes().to_vec();
        bytes.extend([0; 10]);
        assert!(matches!(heard(&bytes, MOST_OF_STRANGERS), Err(LinkError::Protocol(_))));
        // Announced within the bound and cut off.
        assert!(matches!(heard(&bytes, MOST_BYTES), Err(LinkError::Io(_))));
    }

    proptest! {
        #[test]
        fn garbage_is_refused_and_never_panics(garbage in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = (garbage.len() as u32).to_le_bytes().to_vec();
            bytes.extend(&garbage);
            let _ = heard(&bytes, MOST_BYTES);
        }
    }
}
