//! Numbers in bytes, and frames of them on a stream: few bytes for small numbers, and fewer for many zeros.

use mpiscope_model::{NumberReader, Numbers};
use std::io::{Read, Write};

/// The longest frame.
const MOST_BYTES: usize = 1 << 30;
/// Numbers in one, zeros that take no bytes among them.
const MOST_NUMBERS: u64 = 1 << 26;

/// Stands before the number of zeros that follow.
const ZEROS: u8 = 0;
/// As many are written so.
const FEWEST_ZEROS: usize = 3;

/// Seven bits of what is one more than the number in each byte.
#[inline]
fn put_number(number: u64, to: &mut Vec<u8>) {
    if number < 0x7f {
        to.push(number as u8 + 1);
        return;
    }
    let mut left = u128::from(number) + 1;
    while left >= 0x80 {
        to.push(left as u8 | 0x80);
        left >>= 7;
    }
    to.push(left as u8);
}

fn number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u128;
    for shift in (0..=u64::BITS).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u64::try_from(number.checked_sub(1)?).ok();
        }
    }
    None
}

/// Each number in as few bytes as it needs, several zeros as how many there are.
pub(crate) fn to_bytes(value: &impl Numbers) -> Vec<u8> {
    let mut numbers = Vec::new();
    value.put(&mut numbers);
    let mut bytes = Vec::with_capacity(2 * numbers.len());
    let mut rest = &numbers[..];
    while let Some((&first, after)) = rest.split_first() {
        let zeros = if first == 0 { rest.iter().take_while(|number| **number == 0).count() } else { 0 };
        if zeros < FEWEST_ZEROS {
            put_number(first, &mut bytes);
            rest = after;
        } else {
            bytes.push(ZEROS);
            put_number(zeros as u64, &mut bytes);
            rest = &rest[zeros..];
        }
    }
    bytes
}

/// The value; none where the bytes are not those of one. Bytes that stand for too many numbers are refused.
pub(crate) fn from_bytes<T: Numbers>(mut bytes: &[u8]) -> Option<T> {
    let mut numbers = Vec::with_capacity(bytes.len());
    while let Some(first) = bytes.first() {
        if *first == ZEROS {
            bytes = &bytes[1..];
            let zeros = number(&mut bytes)?;
            let all = (numbers.len() as u64).checked_add(zeros).filter(|all| *all <= MOST_NUMBERS)?;
            numbers.resize(all as usize, 0);
        } else {
            numbers.push(number(&mut bytes)?);
        }
    }
    let mut reader = NumberReader::new(&numbers);
    let value = T::get(&mut reader)?;
    reader.is_at_end().then_some(value)
}

/// Writes a frame; an empty one ends the stream.
pub(crate) fn write_frame(bytes: &[u8], to: &mut impl Write) -> std::io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length as usize <= MOST_BYTES);
    let length = length.ok_or(std::io::ErrorKind::FileTooLarge)?;
    let mut frame = Vec::with_capacity(4 + bytes.len());
    frame.extend(length.to_le_bytes());
    frame.extend(bytes);
    to.write_all(&frame)
}

/// Reads a frame.
pub(crate) fn read_frame(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_BYTES {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    // Memory grows with what really comes.
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(bytes) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_the_same_afterwards(
            numbers in proptest::collection::vec(prop_oneof![Just(0_u64), 0..300_u64, any::<u64>()], 0..200),
        ) {
            let bytes = to_bytes(&numbers);
            prop_assert_eq!(from_bytes::<Vec<u64>>(&bytes), Some(numbers));
            let mut stream = Vec::new();
            write_frame(&bytes, &mut stream).unwrap();
            let mut from = &stream[..];
            prop_assert_eq!(read_frame(&mut from).unwrap(), bytes);
            prop_assert!(read_frame(&mut &stream[..stream.len() - 1]).is_err());
        }

        #[test]
        fn garbage_is_refused_and_never_panics(garbage in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = from_bytes::<Vec<Option<Vec<u32>>>>(&garbage);
            let _ = read_frame(&mut &garbage[..]);
        }
    }

    #[test]
    fn many_zeros_take_few_bytes() {
        assert!(to_bytes(&vec![0_u64; 100_000]).len() < 10);
        // Three bytes that stand for more than there may be.
        let mut bytes = vec![ZEROS];
        put_number(u64::MAX - 1, &mut bytes);
        assert_eq!(from_bytes::<Vec<u64>>(&bytes), None);
    }
}
