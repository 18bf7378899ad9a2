//! Numbers of some bits each, one behind the other, the lowest bits first.

/// Takes numbers and puts whole bytes behind others.
pub(super) struct Bits<'a> {
    to: &'a mut Vec<u8>,
    waiting: u64,
    /// How many bits wait; fewer than 64.
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(to: &'a mut Vec<u8>) -> Self {
        Self { to, waiting: 0, count: 0 }
    }

    /// The number has no more bits than the width, which is 64 at most.
    #[inline]
    pub(super) fn put(&mut self, number: u64, width: u32) {
        self.waiting |= number << self.count;
        let count = self.count + width;
        if count < u64::BITS {
            self.count = count;
            return;
        }
        self.to.extend_from_slice(&self.waiting.to_le_bytes());
        self.waiting = number.checked_shr(u64::BITS - self.count).unwrap_or(0);
        self.count = count - u64::BITS;
    }

    /// The last byte is filled up with zeros.
    pub(super) fn finish(self) {
        let bytes = self.count.div_ceil(u8::BITS) as usize;
        self.to.extend_from_slice(&self.waiting.to_le_bytes()[..bytes]);
    }
}

/// The bits that a number needs.
pub(super) fn width(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// A number of any size in bytes of seven bits each.
pub(super) fn put_varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Likewise a signed number, the small ones of both signs in few bytes.
pub(super) fn put_signed_varint(number: i64, to: &mut Vec<u8>) {
    put_varint(((number << 1) ^ (number >> 63)).cast_unsigned(), to);
}
