//! Where an agent writes what it tells before it gives the rings back.

use anyhow::Result;
use mpiscope_recording::WalWriter;

/// Frames, kept in order.
pub trait Journal: Send {
    /// Appends a frame.
    fn write(&mut self, frame: &[u8]) -> Result<()>;

    /// Hands what was written to the system: from then on this process may die.
    fn flush(&mut self) -> Result<()>;

    /// Lets it be written to the disk: soon after, the machine may die.
    fn sync_soon(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether it may hold messages of several agents, and says whose they are.
    fn has_origins(&self) -> bool {
        false
    }

    /// What could not be kept, in bytes.
    fn dropped_bytes(&self) -> u64 {
        0
    }

    /// Whether all that was written may be forgotten elsewhere.
    fn is_safe(&self) -> bool {
        true
    }

    /// Whether it takes more.
    fn has_room(&self) -> bool {
        true
    }

    /// Whether it needs the whole state once more, to drop its older part.
    fn wants_checkpoint(&mut self) -> bool {
        false
    }
}

/// The log of the run. What it cannot keep has been handed on all the same, and the tables will have it: so it always has
/// room, and what was written is as safe as it gets.
impl Journal for WalWriter {
    fn write(&mut self, frame: &[u8]) -> Result<()> {
        Ok(WalWriter::write(self, frame)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(WalWriter::flush(self)?)
    }

    fn sync_soon(&mut self) -> Result<()> {
        Ok(WalWriter::sync_soon(self)?)
    }

    fn has_origins(&self) -> bool {
        true
    }

    fn dropped_bytes(&self) -> u64 {
        WalWriter::dropped_bytes(self)
    }
}
