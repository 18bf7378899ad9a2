//! CRC-32 as in gzip and zlib: anyone can check a file of a recording with common tools.

/// A checksum that grows with the bytes it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Checksum(crc32fast::Hasher);

impl Checksum {
    pub(crate) fn new() -> Self {
        Self(crc32fast::Hasher::new())
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn value(self) -> u32 {
        self.0.finalize()
    }
}

/// The checksum of some bytes.
#[must_use]
pub fn crc32_of(bytes: &[u8]) -> u32 {
    let mut checksum = Checksum::new();
    checksum.add(bytes);
    checksum.value()
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    #[test]
    fn it_is_the_checksum_of_zlib_in_any_split() {
        let bytes = b"123456789123456789";
        for split in 0..bytes.len() {
            let mut checksum = Checksum::new();
            checksum.add(&bytes[..split]);
            checksum.add(&bytes[split..]);
            assert_eq!(checksum.value(), 0x4B83_7AE4, "split at {split}");
        }
    }
}
