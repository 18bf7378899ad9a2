//! A tunnel: moves the bytes of a local stream through a connection, both ways.

use crate::encryption::Stream;
use crate::error::LinkError;
use crate::listener::ALIVE_EVERY;
use crate::mesh::frame::{ALIVE, END, FrameDecoder, HEADER_BYTES, MOST_PAYLOAD_BYTES, header};
use crate::packet::SILENCE;
use std::io::Read as _;
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio::net::UnixStream;
use tokio::net::unix::{ReadHalf, WriteHalf};
use tokio::sync::{Notify, watch};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

/// How long the last bytes may take once a side has nothing more to send, or the mesh is dropped.
pub(crate) const LINGER: Duration = Duration::from_secs(2);
/// Silence is counted in this number of parts. A process that was stopped does not take its own pause for silence.
const SILENT_PARTS: u32 = 8;

/// How often a side says that it is alive, and when it misses the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) alive_every: Duration,
    pub(crate) silence: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { alive_every: ALIVE_EVERY, silence: SILENCE }
    }
}

/// Returns when the value is true; a sender that is gone means the same.
pub(crate) async fn becomes_true(mut value: watch::Receiver<bool>) {
    let _ = value.wait_for(|is_true| *is_true).await;
}

fn ticks(every: Duration) -> Interval {
    let mut ticks = interval(every);
    // After a pause one tick, not all that were missed.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Moves bytes until both sides have sent everything, or the other side has closed the connection after its last byte.
/// When `ending` becomes true, what the local side has written still goes out.
///
/// # Errors
/// When the connection is lost, or the other side is silent.
pub(crate) async fn tunnel(
    local: &mut UnixStream,
    remote: Box<dyn Stream>,
    pace: Pace,
    ending: watch::Receiver<bool>,
) -> Result<(), LinkError> {
    let direct = std::os::unix::net::UnixStream::from(local.as_fd().try_clone_to_owned()?);
    let (reading, writing) = split(remote);
    let (from_local, to_local) = local.split();
    let other_ended = Notify::new();
    let limit = ending.clone();
    let outgoing = Outgoing { from_local, direct: &direct, writing, other_ended: &other_ended };
    let mut incoming = pin!(bring_in(reading, to_local, pace, &other_ended));
    let both = async {
        tokio::select! {
            outcome = &mut incoming => outcome,
            outcome = outgoing.carry_out(pace, ending) => {
                if outcome.is_err() {
                    // Whoever writes notices at once; what has arrived is still delivered.
                    let _ = direct.shutdown(Shutdown::Read);
                }
                // A side that closes after its last byte takes no more: that is not a loss.
                timeout(LINGER, incoming).await.unwrap_or(outcome)
            }
        }
    };
    tokio::select! {
        outcome = both => outcome,
        () = async {
            becomes_true(limit).await;
            sleep(LINGER).await;
        } => Err(LinkError::Silence(LINGER.as_secs())),
    }
}

struct Outgoing<'a, W> {
    from_local: ReadHalf<'a>,
    /// The same stream, to be read without waiting.
    direct: &'a std::os::unix::net::UnixStream,
    writing: W,
    /// Notified when the other side has sent its last byte.
    other_ended: &'a Notify,
}

impl<W: AsyncWrite + Unpin> Outgoing<'_, W> {
    async fn carry_out(mut self, pace: Pace, ending: watch::Receiver<bool>) -> Result<(), LinkError> {
        let mut buffer = vec![0; HEADER_BYTES + MOST_PAYLOAD_BYTES];
        let mut ticks = ticks(pace.alive_every);
        let mut has_ended = false;
        let mut ending = pin!(becomes_true(ending));
        let mut other_ended = pin!(self.other_ended.notified());
        loop {
            tokio::select! {
                biased;
                () = &mut ending => break,
                read = self.from_local.read(&mut buffer[HEADER_BYTES..]), if !has_ended => {
                    match read {
                        Ok(count @ 1..) => send(&mut self.writing, &mut buffer, count).await?,
                        Ok(0) | Err(_) => {
                            has_ended = true;
                            say(&mut self.writing, &END).await?;
                        }
                    }
                }
                () = &mut other_ended, if has_ended => break,
                _ = ticks.tick() => say(&mut self.writing, &ALIVE).await?,
            }
        }
        if !has_ended {
            // Nothing more can be written; what was written is still there.
            self.direct.shutdown(Shutdown::Read)?;
            while let Ok(count @ 1..) = self.direct.read(&mut buffer[HEADER_BYTES..]) {
                send(&mut self.writing, &mut buffer, count).await?;
            }
            say(&mut self.writing, &END).await?;
        }
        self.writing.shutdown().await?;
        Ok(())
    }
}

/// Sends this number of bytes that lie after the header.
async fn send(
    writing: &mut (impl AsyncWrite + Unpin),
    buffer: &mut [u8],
    count: usize,
) -> Result<(), LinkError> {
    buffer[..HEADER_BYTES].copy_from_slice(&header(count));
    say(writing, &buffer[..HEADER_BYTES + count]).await
}

async fn say(writing: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Result<(), LinkError> {
    writing.write_all(bytes).await?;
    Ok(writing.flush().await?)
}

/// Delivers what arrives until the other side closes the connection after its last byte. While the local side does not
/// read, nobody is missed.
async fn bring_in(
    mut reading: impl AsyncRead + Unpin,
    mut to_local: WriteHalf<'_>,
    pace: Pace,
    other_ended: &Notify,
) -> Result<(), LinkError> {
    let mut buffer = vec![0; HEADER_BYTES + MOST_PAYLOAD_BYTES];
    let mut payload = Vec::with_capacity(buffer.len());
    let mut decoder = FrameDecoder::default();
    let mut ticks = ticks(pace.silence / SILENT_PARTS);
    let (mut silent_parts, mut is_read, mut is_open) = (0, true, true);
    loop {
        let read = tokio::select! {
            biased;
            read = reading.read(&mut buffer) => read,
            _ = ticks.tick() => {
                silent_parts += 1;
                // The first part has begun before the last byte came.
                if silent_parts > SILENT_PARTS {
                    return Err(LinkError::Silence(pace.silence.as_secs()));
                }
                continue;
            }
        };
        silent_parts = 0;
        match read {
            // What comes after the last byte is only about the connection.
            Ok(0) | Err(_) if decoder.has_ended() => return Ok(()),
            Ok(0) => return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
            Ok(count) => decoder.decode(&buffer[..count], &mut payload)?,
            Err(error) => return Err(error.into()),
        }
        if !payload.is_empty() {
            // What nobody reads any more is dropped.
            is_read = is_read && to_local.write_all(&payload).await.is_ok();
            payload.clear();
        }
        if is_open && decoder.has_ended() {
            is_open = false;
            let _ = to_local.shutdown().await;
            other_ended.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::frame::header;

    /// It may be noticed first by a byte that it does not take.
    #[test]
    fn a_side_that_closes_after_its_last_byte_is_not_lost() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut program, mut local) = UnixStream::pair().unwrap();
            let (reading, mut other) = tokio::io::duplex(100);
            let (writing, closed) = tokio::io::duplex(100);
            drop(closed);
            let ending = watch::Sender::new(false);
            let remote = Box::new(tokio::io::join(reading, writing));
            let tunnel = tunnel(&mut local, remote, Pace::default(), ending.subscribe());
            let program = async {
                while program.write_all(b"nobody takes this").await.is_ok() {
                    tokio::task::yield_now().await;
                }
                other.write_all(&[&header(4)[..], b"last", &END].concat()).await.unwrap();
                drop(other);
                let mut bytes = Vec::new();
                program.read_to_end(&mut bytes).await.unwrap();
                assert_eq!(bytes, b"last");
            };
            tokio::join!(tunnel, program).0.unwrap();
        });
    }
}
