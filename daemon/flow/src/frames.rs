//! Numbers in bytes, and frames of them on a stream: few bytes for small numbers, and fewer for many zeros.

use mpiscope_model::{Numbers, Sink, Source};
use std::io::Read;

/// Before each frame.
const LENGTH_BYTES: usize = 4;
/// The longest frame.
const MOST_BYTES: usize = 1 << 30;
/// Zeros in one that take no bytes.
const MOST_ZEROS: u64 = 1 << 26;

/// Stands before the number of zeros that follow.
const ZEROS: u8 = 0;
/// As many are written so.
const FEWEST_ZEROS: u64 = 3;
/// What a zero is by itself.
const SINGLE_ZERO: u8 = 1;

/// Numbers from here on take more than eight bytes.
const MOST_IN_WORD: u64 = (1 << 56) - 1;
const EACH_TOP_BIT: u64 = 0x8080_8080_8080_8080;

/// The lowest 56 bits, seven in each byte.
#[inline]
fn spread(bits: u64) -> u64 {
    let halves = bits & 0x0fff_ffff | (bits & 0xff_ffff_f000_0000) << 4;
    let quarters = halves & 0x3fff_0000_3fff | (halves & 0x0fff_c000_0fff_c000) << 2;
    quarters & 0x007f_007f_007f_007f | (quarters & 0x3f80_3f80_3f80_3f80) << 1
}

/// The lowest seven bits of each byte, as [`spread`] took them apart.
#[inline]
fn join(spread: u64) -> u64 {
    let quarters = spread & 0x007f_007f_007f_007f | (spread & 0x7f00_7f00_7f00_7f00) >> 1;
    let halves = quarters & 0x3fff_0000_3fff | (quarters & 0x3fff_0000_3fff_0000) >> 2;
    halves & 0x0fff_ffff | (halves & 0x0fff_ffff_0000_0000) >> 4
}

/// Numbers that are written as bytes: each in as few as it needs, several zeros as how many there are.
#[derive(Default)]
struct ByteSink {
    bytes: Vec<u8>,
    /// Those that came last, which are not written yet.
    zeros: u64,
}

impl ByteSink {
    /// Seven bits of what is one more than the number in each byte.
    #[inline]
    fn put_number(&mut self, number: u64) {
        if number < 0x7f {
            self.bytes.push(number as u8 + 1);
        } else {
            self.put_long(number);
        }
    }

    #[inline]
    fn put_long(&mut self, number: u64) {
        if number >= MOST_IN_WORD {
            self.put_longest(number);
            return;
        }
        let number = number + 1;
        let bytes = (u64::BITS - number.leading_zeros()).div_ceil(7);
        let others_follow = EACH_TOP_BIT & ((1 << (8 * (bytes - 1))) - 1);
        // All eight at once take less time than a loop over those that there are.
        let end = self.bytes.len() + bytes as usize;
        self.bytes.extend_from_slice(&(spread(number) | others_follow).to_le_bytes());
        self.bytes.truncate(end);
    }

    #[cold]
    fn put_longest(&mut self, number: u64) {
        let mut left = u128::from(number) + 1;
        while left >= 0x80 {
            self.bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.bytes.push(left as u8);
    }

    #[inline]
    fn put_zeros(&mut self) {
        let zeros = std::mem::take(&mut self.zeros);
        if zeros >= FEWEST_ZEROS {
            self.bytes.push(ZEROS);
            self.put_number(zeros);
        } else {
            (0..zeros).for_each(|_| self.bytes.push(SINGLE_ZERO));
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.put_zeros();
        self.bytes
    }
}

impl Sink for ByteSink {
    #[inline]
    fn number(&mut self, number: u64) {
        if number == 0 {
            self.zeros += 1;
            return;
        }
        if self.zeros > 0 {
            self.put_zeros();
        }
        self.put_number(number);
    }
}

/// Numbers that are read from bytes.
struct ByteSource<'a> {
    bytes: &'a [u8],
    /// How many follow before the next byte.
    zeros: u64,
    /// How many more may follow without bytes of their own.
    allowed_zeros: u64,
}

impl<'a> ByteSource<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, zeros: 0, allowed_zeros: MOST_ZEROS }
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    /// The number that this byte is the first of.
    #[inline]
    fn number_from(&mut self, first: u8) -> Option<u64> {
        if first < 0x80 { u64::from(first).checked_sub(1) } else { self.long_number(first) }
    }

    #[inline]
    fn long_number(&mut self, first: u8) -> Option<u64> {
        // All bytes of most numbers at once: a loop over them takes longer.
        if let Some((word, _)) = self.bytes.split_first_chunk() {
            let word = u64::from_le_bytes(*word);
            let more = (!word & EACH_TOP_BIT).trailing_zeros() / 8 + 1;
            if more < 8 {
                self.bytes = &self.bytes[more as usize..];
                let number = join(word & ((1 << (8 * more)) - 1)) << 7 | u64::from(first & 0x7f);
                return number.checked_sub(1);
            }
        }
        self.longest_number(first)
    }

    #[cold]
    fn longest_number(&mut self, first: u8) -> Option<u64> {
        let mut number = u128::from(first & 0x7f);
        for shift in (7..=u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return u64::try_from(number.checked_sub(1)?).ok();
            }
        }
        None
    }

    /// The first of several zeros.
    fn zeros(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let zeros = self.number_from(first)?;
        self.allowed_zeros = self.allowed_zeros.checked_sub(zeros)?;
        self.zeros = zeros.checked_sub(1)?;
        Some(0)
    }

    fn is_at_end(&self) -> bool {
        self.bytes.is_empty() && self.zeros == 0
    }
}

impl Source for ByteSource<'_> {
    #[inline]
    fn number(&mut self) -> Option<u64> {
        if self.zeros > 0 {
            self.zeros -= 1;
            return Some(0);
        }
        match self.byte()? {
            ZEROS => self.zeros(),
            first => self.number_from(first),
        }
    }

    /// Any bytes may stand for zeros.
    #[inline]
    fn left(&self) -> usize {
        let unseen = if self.bytes.is_empty() { 0 } else { self.bytes.len() as u64 + self.allowed_zeros };
        (self.zeros + unseen) as usize
    }
}

/// The bytes of a value.
pub fn to_bytes(value: &impl Numbers) -> Vec<u8> {
    let mut sink = ByteSink::default();
    value.put(&mut sink);
    sink.finish()
}

/// The value; none where the bytes are not those of one. Bytes that stand for too many zeros are refused.
#[must_use]
pub fn from_bytes<T: Numbers>(bytes: &[u8]) -> Option<T> {
    let mut source = ByteSource::new(bytes);
    let value = T::get(&mut source)?;
    source.is_at_end().then_some(value)
}

/// An empty frame, which ends a stream.
pub(crate) const END: [u8; LENGTH_BYTES] = [0; LENGTH_BYTES];

/// The frame of a value: how many bytes it has, then these.
pub(crate) fn to_frame(value: &impl Numbers) -> std::io::Result<Vec<u8>> {
    let mut sink = ByteSink { bytes: END.to_vec(), zeros: 0 };
    value.put(&mut sink);
    let mut frame = sink.finish();
    let head = frame_head(frame.len() - LENGTH_BYTES)?;
    frame[..LENGTH_BYTES].copy_from_slice(&head);
    Ok(frame)
}

/// What stands before a frame of that many bytes.
///
/// # Errors
/// When these are too many.
pub fn frame_head(length: usize) -> std::io::Result<[u8; LENGTH_BYTES]> {
    let length = u32::try_from(length).ok().filter(|length| *length as usize <= MOST_BYTES);
    Ok(length.ok_or(std::io::ErrorKind::FileTooLarge)?.to_le_bytes())
}

/// Reads a frame.
///
/// # Errors
/// When the stream fails or ends, or a frame is announced that is too long.
pub fn read_frame(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; LENGTH_BYTES];
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
    use crate::sent::Rows;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_the_same_afterwards(
            numbers in proptest::collection::vec(prop_oneof![Just(0_u64), 0..300_u64, any::<u64>()], 0..200),
        ) {
            let bytes = to_bytes(&numbers);
            prop_assert_eq!(from_bytes::<Vec<u64>>(&bytes), Some(numbers.clone()));
            let frame = to_frame(&numbers).unwrap();
            let stream = [&frame[..], &END].concat();
            let mut from = &stream[..];
            prop_assert_eq!(read_frame(&mut from).unwrap(), bytes);
            prop_assert_eq!(read_frame(&mut from).unwrap(), Vec::new());
            prop_assert!(read_frame(&mut &frame[..frame.len() - 1]).is_err());
        }

        #[test]
        fn garbage_is_refused_and_never_panics(garbage in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = from_bytes::<Vec<Option<Vec<u32>>>>(&garbage);
            let _ = from_bytes::<Rows<(u64, Vec<i32>)>>(&garbage);
            let _ = read_frame(&mut &garbage[..]);
        }
    }

    #[test]
    fn numbers_of_each_length_are_the_same_afterwards() {
        let limits = (0..u64::BITS).map(|bit| 1_u64 << bit).chain([0, u64::MAX]);
        for number in limits.flat_map(|limit| (0..3).map(move |add| limit.wrapping_sub(2).wrapping_add(add)))
        {
            let bytes = to_bytes(&number);
            assert_eq!(from_bytes(&bytes), Some(number));
            assert_eq!(
                bytes.len(),
                (u128::BITS - (u128::from(number) + 1).leading_zeros()).div_ceil(7) as usize
            );
            // The same when other bytes follow.
            assert_eq!(from_bytes(&to_bytes(&(number, [7_u64; 9]))), Some((number, [7_u64; 9])));
            for end in 0..bytes.len() {
                assert_eq!(from_bytes::<u64>(&bytes[..end]), None);
            }
        }
    }

    #[test]
    fn many_zeros_take_few_bytes() {
        for zeros in [100_000, MOST_ZEROS as usize] {
            let bytes = to_bytes(&vec![0_u64; zeros]);
            assert!(bytes.len() < 10);
            assert_eq!(from_bytes::<Vec<u64>>(&bytes).map(|numbers| numbers.len()), Some(zeros));
        }
    }

    /// Bytes of this number of items, and of zeros as those.
    fn zeros(items: u64, runs: &[u64]) -> Vec<u8> {
        let mut sink = ByteSink::default();
        sink.put_number(items);
        for zeros in runs {
            sink.bytes.push(ZEROS);
            sink.put_number(*zeros);
        }
        sink.finish()
    }

    #[test]
    fn few_bytes_that_stand_for_too_many_zeros_are_refused_soon() {
        let begin = std::time::Instant::now();
        assert_eq!(from_bytes(&zeros(5, &[2, 3])), Some(vec![0_u64; 5]));
        for all in [1 << 40, u64::MAX - 1] {
            assert_eq!(from_bytes::<Vec<u64>>(&zeros(all, &[all])), None);
            assert_eq!(from_bytes::<Vec<u64>>(&zeros(MOST_ZEROS, &[all])), None);
            assert_eq!(from_bytes::<Rows<u64>>(&zeros(all, &[all])), None);
            assert_eq!(from_bytes::<[u64; 4]>(&zeros(7, &[all])), None);
        }
        assert_eq!(from_bytes::<Vec<u64>>(&zeros(MOST_ZEROS + 2, &[MOST_ZEROS, 2])), None);
        // None at all, and some that nobody reads.
        assert_eq!(from_bytes::<Vec<u64>>(&zeros(0, &[0])), None);
        assert_eq!(from_bytes::<Vec<u64>>(&zeros(1, &[2])), None);
        assert!(begin.elapsed() < std::time::Duration::from_secs(10));
    }
}
