//! Bits of numbers, spread until any part of them is as good as chance.

/// Each bit of a number changes half of the bits (the finalizer of splitmix64); different numbers stay different.
#[must_use]
pub fn spread(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A share of 1 that a number draws; the same each time.
#[must_use]
pub fn drawn(number: u64) -> f64 {
    (spread(number) >> 11) as f64 / (1_u64 << 53) as f64
}
