//! Parquet's `DELTA_BINARY_PACKED`: each number as the difference to the one before.

use super::bits::{Bits, put_signed_varint, put_varint, width};
use super::number::Number;

/// Pieces of a block, each packed with a width of its own.
const PIECES: usize = 4;

/// Writes all numbers.
pub(super) fn put_differences<N: Number>(numbers: &[N], to: &mut Vec<u8>) {
    let block = PIECES * N::PIECE;
    put_varint(block as u64, to);
    put_varint(PIECES as u64, to);
    put_varint(numbers.len() as u64, to);
    let first = numbers.first().copied().unwrap_or_default();
    put_signed_varint(first.wide(), to);
    let mut before = first;
    let mut differences = Vec::with_capacity(block);
    for numbers in numbers.get(1..).unwrap_or_default().chunks(block) {
        differences.clear();
        differences
            .extend(numbers.iter().map(|number| number.minus(std::mem::replace(&mut before, *number))));
        put_block(&differences, N::PIECE, to);
    }
}

fn put_block(differences: &[i64], piece: usize, to: &mut Vec<u8>) {
    let least = differences.iter().copied().min().unwrap_or_default();
    put_signed_varint(least, to);
    let beyond = |difference: &i64| difference.wrapping_sub(least).cast_unsigned();
    let widths = to.len();
    // Pieces that nothing is in have none.
    to.extend([0; PIECES]);
    for (number, piece_of) in differences.chunks(piece).enumerate() {
        let width = width(piece_of.iter().map(beyond).fold(0, |bits, beyond| bits | beyond));
        if width == 0 {
            continue;
        }
        to[widths + number] = width as u8;
        let mut bits = Bits::new(to);
        piece_of.iter().for_each(|difference| bits.put(beyond(difference), width));
        (piece_of.len()..piece).for_each(|_| bits.put(0, width));
        bits.finish();
    }
}
