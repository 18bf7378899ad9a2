//! How much the tables of a run may hold of what its processes say.
//!
//! A job says of itself what it likes: communicators, windows, files, names, places, threads, without end. All that is kept
//! of it is paid for here, whatever table it is in; what finds no more room is left out and counted.

/// All tables together, as they lie in memory, about. A run of 100,000 ranks with 200 places and 20 communicators each
/// takes three quarters of it.
pub(crate) const ROOM_BYTES: usize = 1 << 30;

/// What is left of it.
#[derive(Debug)]
pub(crate) struct Room {
    left_bytes: usize,
    refused: u64,
}

impl Room {
    pub(crate) fn of(bytes: usize) -> Self {
        Self { left_bytes: bytes, refused: 0 }
    }

    /// Takes so many bytes for what will soon be gone; `false` when there are not so many.
    pub(crate) fn borrow(&mut self, bytes: usize) -> bool {
        let left = self.left_bytes.checked_sub(bytes);
        self.left_bytes = left.unwrap_or(self.left_bytes);
        left.is_some()
    }

    /// Takes so many bytes for what is kept; `false`, and one more that was left out, when there are not so many.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let has_room = self.borrow(bytes);
        self.refused += u64::from(!has_room);
        has_room
    }

    /// Takes what an entry of a hash table costs: tables are at most half empty.
    pub(crate) fn take_entry<T>(&mut self) -> bool {
        self.take(2 * (size_of::<T>() + 1))
    }

    /// What was taken is kept no more.
    pub(crate) fn give(&mut self, bytes: usize) {
        self.left_bytes = self.left_bytes.saturating_add(bytes);
    }

    /// How many found no room.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::of(ROOM_BYTES)
    }
}
