//! Parquet's `RLE`: runs of equal numbers, and eights of different ones packed into bits.

use super::bits::{Bits, put_varint};

/// Numbers that are packed together. Shorter runs are packed, too.
const EIGHT: usize = 8;
/// This number of eights has a head of one byte, which any reader takes.
const MOST_EIGHTS: usize = 63;

/// Writes numbers that have no more bits than the width.
pub(super) fn put_runs<N: Copy + PartialEq + Into<u64>>(numbers: &[N], width: u32, to: &mut Vec<u8>) {
    // Behind the last run.
    let mut packed = 0;
    let mut at = 0;
    while at < numbers.len() {
        let rest = &numbers[at..];
        let equal = rest.iter().take_while(|number| **number == rest[0]).count();
        if equal < EIGHT {
            at += rest.len().min(EIGHT);
            continue;
        }
        put_packed(&numbers[packed..at], width, to);
        put_varint((equal as u64) << 1, to);
        let bytes = width.div_ceil(u8::BITS) as usize;
        to.extend_from_slice(&rest[0].into().to_le_bytes()[..bytes]);
        at += equal;
        packed = at;
    }
    put_packed(&numbers[packed..], width, to);
}

/// The last eight are filled up with zeros: whoever reads them knows how many numbers there are.
fn put_packed<N: Copy + Into<u64>>(numbers: &[N], width: u32, to: &mut Vec<u8>) {
    for numbers in numbers.chunks(MOST_EIGHTS * EIGHT) {
        let eights = numbers.len().div_ceil(EIGHT);
        put_varint((eights as u64) << 1 | 1, to);
        let mut bits = Bits::new(to);
        numbers.iter().for_each(|number| bits.put((*number).into(), width));
        (numbers.len()..eights * EIGHT).for_each(|_| bits.put(0, width));
        bits.finish();
    }
}
