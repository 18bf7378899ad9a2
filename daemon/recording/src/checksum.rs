//! CRC-32 as in gzip and zlib, so that anyone can check a file of a recording with the tools at hand.

const POLYNOMIAL: u32 = 0xEDB8_8320;

/// Eight tables let the loop take eight bytes at a time: a segment is checked each time it is opened.
const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0_u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// A checksum that grows with the bytes it is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checksum {
    state: u32,
}

impl Checksum {
    pub(crate) fn new() -> Self {
        Self { state: !0 }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let mut state = self.state;
        let mut words = bytes.chunks_exact(8);
        for word in words.by_ref() {
            let low = state ^ u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            state = TABLES[7][(low & 0xFF) as usize]
                ^ TABLES[6][(low >> 8 & 0xFF) as usize]
                ^ TABLES[5][(low >> 16 & 0xFF) as usize]
                ^ TABLES[4][(low >> 24) as usize]
                ^ TABLES[3][usize::from(word[4])]
                ^ TABLES[2][usize::from(word[5])]
                ^ TABLES[1][usize::from(word[6])]
                ^ TABLES[0][usize::from(word[7])];
        }
        for &byte in words.remainder() {
            state = (state >> 8) ^ TABLES[0][((state ^ u32::from(byte)) & 0xFF) as usize];
        }
        self.state = state;
    }

    pub(crate) fn value(self) -> u32 {
        !self.state
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
        let mut checksum = Checksum::new();
        checksum.add(b"123456789");
        assert_eq!(checksum.value(), 0xCBF4_3926);
    }
}
