//! Words of a command line, and lists in them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// `NAME=VALUE`, as two.
pub(super) fn split_assignment(word: &OsStr) -> Option<(&str, &OsStr)> {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let name = std::str::from_utf8(&bytes[..at]).ok()?;
    Some((name, OsStr::from_bytes(&bytes[at + 1..])))
}

pub(super) fn assignment(name: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(name);
    word.push("=");
    word.push(value);
    word
}

/// The parts of a list.
pub(super) fn split(list: &OsStr, separator: u8) -> Vec<OsString> {
    let parts = list.as_bytes().split(|byte| *byte == separator);
    parts.filter(|part| !part.is_empty()).map(|part| OsStr::from_bytes(part).to_owned()).collect()
}

pub(super) fn join(parts: &[OsString], separator: &str) -> OsString {
    parts.join(OsStr::new(separator))
}
