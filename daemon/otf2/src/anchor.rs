//! A look at an anchor file before the library reads it: the library believes how many properties it says it has, and
//! looks for each of them, however short the file is.

use crate::error::Otf2Error;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// No anchor is longer: it has a few lines of text.
const MOST_BYTES: u64 = 16 << 20;
/// What it begins with, behind a byte that says how the file is buffered and one for the order of bytes.
const MAGIC: &[u8] = b"OTF2\0";
const LITTLE_ENDIAN: u8 = b'B';
/// The version of the format whose layout is known here.
const FORMAT: u8 = 3;
/// Where the name of the machine is; two more texts follow, and the number of properties.
const TEXTS_AT: usize = 46;
const TEXTS: usize = 3;
/// A property is two texts, each with a zero behind it.
const LEAST_PROPERTY_BYTES: usize = 2;

/// Looks whether an anchor file can have what it says it has.
///
/// # Errors
/// When it cannot. Whatever cannot be read is left to the library.
pub(crate) fn check(path: &Path) -> Result<(), Otf2Error> {
    let mut bytes = Vec::new();
    let Ok(file) = File::open(path) else { return Ok(()) };
    if file.take(MOST_BYTES + 1).read_to_end(&mut bytes).is_err() {
        return Ok(());
    }
    let refused = |why: String| Otf2Error::Refused { doing: "read", path: path.to_owned(), why };
    if bytes.len() as u64 > MOST_BYTES {
        return Err(refused(format!("it has more than {MOST_BYTES} bytes, as no anchor file has")));
    }
    match properties(&bytes) {
        Some((count, left)) if count as usize > left / LEAST_PROPERTY_BYTES => Err(refused(format!(
            "it is damaged: it cannot have {count} properties in the {left} bytes that are left"
        ))),
        _ => Ok(()),
    }
}

/// How many properties it says it has, and how many bytes come behind that; none where the layout is another.
fn properties(bytes: &[u8]) -> Option<(u32, usize)> {
    if bytes.get(2..2 + MAGIC.len())? != MAGIC || *bytes.get(2 + MAGIC.len())? != FORMAT {
        return None;
    }
    let mut at = TEXTS_AT;
    for _ in 0..TEXTS {
        at += bytes.get(at..)?.iter().position(|byte| *byte == 0)? + 1;
    }
    let count: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    let is_little = bytes.get(1) == Some(&LITTLE_ENDIAN);
    let count = if is_little { u32::from_le_bytes(count) } else { u32::from_be_bytes(count) };
    Some((count, bytes.len() - at - 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(texts: &[u8], count: u32, rest: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x03BOTF2\0\x03".to_vec();
        bytes.resize(TEXTS_AT, 0);
        bytes.extend_from_slice(texts);
        bytes.extend(count.to_le_bytes());
        bytes.extend_from_slice(rest);
        bytes
    }

    #[test]
    fn properties_that_do_not_fit_are_refused() {
        assert_eq!(properties(&anchor(b"\0one\0two\0", 2, b"a\0b\0c\0d\0")), Some((2, 8)));
        // Texts that lack their ends, other layouts, and what is too short say nothing.
        assert_eq!(properties(&anchor(b"one", 0x0101_0101, b"")), None);
        assert_eq!(properties(b"\x03BOTF2\0\x02"), None);
        assert_eq!(properties(b""), None);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("traces.otf2");
        let outcome = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            check(&path).map_err(|error| error.to_string())
        };
        assert_eq!(outcome(&anchor(b"\0\0\0", 1, b"a\0b\0")), Ok(()));
        let error = outcome(&anchor(b"\0\0\0", 0x0FFF_FFFF, b"a\0b\0")).unwrap_err();
        assert!(error.contains("cannot have 268435455 properties in the 4 bytes"), "{error}");
        assert_eq!(check(&folder.path().join("none")).map_err(|error| error.to_string()), Ok(()));
    }
}
