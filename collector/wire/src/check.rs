//! A checksum over whole words: it finds torn and damaged frames, it does not resist a forger.

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The checksum of `bytes`, their length included.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let mut lanes = [MULTIPLIER ^ bytes.len() as u64, !MULTIPLIER];
    let mut words = bytes.chunks_exact(8);
    for (at, word) in words.by_ref().enumerate() {
        let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
        let lane = &mut lanes[at & 1];
        *lane = (*lane ^ word).wrapping_mul(MULTIPLIER).rotate_left(29);
    }
    let mut tail = [0_u8; 8];
    tail[..words.remainder().len()].copy_from_slice(words.remainder());
    let mut hash = lanes[0] ^ lanes[1].rotate_left(32) ^ u64::from_le_bytes(tail);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn every_flipped_bit_is_seen() {
        let bytes: Vec<u8> = (0..77_u8).collect();
        let whole = checksum(&bytes);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&damaged), whole, "bit {bit}");
        }
        assert_ne!(checksum(&bytes[..76]), whole);
    }
}
