//! A slot: four words, the unit of a ring. Which kinds there are, and how fields lie in its words.

/// The words of a slot.
pub const SLOT_WORDS: usize = 4;
/// The bytes of a slot.
pub const SLOT_BYTES: usize = SLOT_WORDS * 8;
/// A slot as it lies in a ring.
pub type Slot = [u64; SLOT_WORDS];

// Kinds, in the lowest byte of a slot.
pub(crate) const KIND_CALL: u8 = 1;
pub(crate) const KIND_WIDE: u8 = 2;
pub(crate) const KIND_PART: u8 = 3;
pub(crate) const KIND_COMM: u8 = 4;
pub(crate) const KIND_LOST: u8 = 5;
pub(crate) const KIND_SYNC: u8 = 6;
pub(crate) const KIND_THREAD: u8 = 7;
pub(crate) const KIND_SITE: u8 = 8;
pub(crate) const KIND_MODULE: u8 = 9;
pub(crate) const KIND_PATH: u8 = 10;
pub(crate) const KIND_HANDLE: u8 = 11;
pub(crate) const KIND_NAME: u8 = 20;
pub(crate) const KIND_GRID: u8 = 21;
pub(crate) const KIND_PAUSED: u8 = 22;

/// A word of two halves.
pub(crate) const fn pack_halves(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// 24 bytes as the last three words of a slot.
pub(crate) fn words_of(bytes: &[u8; 24]) -> [u64; 3] {
    std::array::from_fn(|at| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at * 8..][..8]);
        u64::from_le_bytes(word)
    })
}

/// The bytes of the last three words of a slot.
pub(crate) fn bytes_of(words: [u64; 3]) -> [u8; 24] {
    let mut bytes = [0; 24];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

const _: () = assert!(size_of::<Slot>() == SLOT_BYTES);
