//! Bins of sizes, and the wider classes of them.

/// Sizes up to here have bins of 50 bytes, greater ones bins of a 64th of themselves.
pub(super) const FINE_BYTES: u64 = 64 << 10;
const FINE_BIN_BYTES: u64 = 50;
pub(super) const FINE_BINS: u32 = FINE_BYTES.div_ceil(FINE_BIN_BYTES) as u32;
/// Bins of an octave of greater sizes: 2^(1/45) is a 64th more.
const BINS_PER_OCTAVE: f64 = 45.0;

/// The bin of a size.
#[must_use]
pub fn size_bin(bytes: u64) -> u32 {
    if bytes < FINE_BYTES {
        (bytes / FINE_BIN_BYTES) as u32
    } else {
        FINE_BINS + ((bytes as f64 / FINE_BYTES as f64).log2() * BINS_PER_OCTAVE) as u32
    }
}

/// The sizes of a bin: from, and the first beyond it.
#[must_use]
pub fn bin_sizes(bin: u32) -> (u64, u64) {
    if bin < FINE_BINS {
        let from = u64::from(bin) * FINE_BIN_BYTES;
        return (from, (from + FINE_BIN_BYTES).min(FINE_BYTES));
    }
    let edge = |bin: u32| (FINE_BYTES as f64 * (f64::from(bin - FINE_BINS) / BINS_PER_OCTAVE).exp2()).ceil();
    (edge(bin) as u64, edge(bin + 1) as u64)
}

/// Classes of an octave of sizes: used where no single bin of a scope has enough samples.
const CLASSES_PER_OCTAVE: f64 = 4.0;
/// Smaller sizes take about the same.
const SMALL_BYTES: u64 = 64;

pub(super) fn class_of(bin: u32) -> u32 {
    let (from, _) = bin_sizes(bin);
    (((from + SMALL_BYTES) as f64).log2() * CLASSES_PER_OCTAVE) as u32
}
