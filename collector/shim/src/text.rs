//! Texts among the arguments of calls.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use core::ffi::{CStr, c_char, c_void};

/// A text as its language passes it.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    start: *const c_char,
    /// Where it does not end with a zero byte: it is filled with spaces.
    length: Option<usize>,
}

impl Text {
    /// As C has it.
    pub(crate) fn ended(start: *const c_void) -> Self {
        Self { start: start.cast(), length: None }
    }

    /// As Fortran has it.
    pub(crate) fn padded(start: *const c_void, length: usize) -> Self {
        Self { start: start.cast(), length: Some(length) }
    }

    /// Its text.
    ///
    /// # Safety
    /// It is a text as the language has them.
    pub(crate) unsafe fn read(self) -> String {
        if self.start.is_null() {
            return String::new();
        }
        // SAFETY: by the caller's word.
        let bytes = unsafe {
            match self.length {
                None => CStr::from_ptr(self.start).to_bytes(),
                Some(length) => core::slice::from_raw_parts(self.start.cast(), length),
            }
        };
        let text = String::from_utf8_lossy(bytes);
        if self.length.is_some() { text.trim_end_matches(' ').to_owned() } else { text.into_owned() }
    }
}

/// Most bytes that are read where nobody promises a text.
const MOST_BYTES: usize = 64;

/// The text at an address where there may be anything, or nothing: words of letters that can be seen.
pub(crate) fn perhaps(address: *const c_void) -> Option<String> {
    let mut bytes = [0_u8; MOST_BYTES];
    let page_rest = 4096 - address.addr() % 4096;
    let own = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: MOST_BYTES.min(page_rest) };
    let other = libc::iovec { iov_base: address.cast_mut(), iov_len: own.iov_len };
    // SAFETY: the system copies what there is into `bytes`, or says that there is nothing.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &raw const own, 1, &raw const other, 1, 0) };
    let found = &bytes[..usize::try_from(copied).ok()?];
    let text = std::str::from_utf8(&found[..found.iter().position(|&byte| byte == 0)?]).ok()?;
    let is_text = !text.is_empty() && !text.chars().any(char::is_control);
    is_text.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_each_language_has_them() {
        // SAFETY: these are texts.
        unsafe {
            assert_eq!(Text::ended(c"out.dat".as_ptr().cast()).read(), "out.dat");
            assert_eq!(Text::padded(c"out.dat   ".as_ptr().cast(), 10).read(), "out.dat");
            assert_eq!(Text::ended(core::ptr::null()).read(), "");
        }
    }

    #[test]
    fn what_may_be_no_text_is_looked_at_without_harm() {
        assert_eq!(perhaps(c"phase one".as_ptr().cast()).as_deref(), Some("phase one"));
        assert_eq!(perhaps(c"".as_ptr().cast()), None);
        assert_eq!(perhaps(c"\x01\x02".as_ptr().cast()), None);
        assert_eq!(perhaps(core::ptr::null()), None);
        assert_eq!(perhaps(core::ptr::without_provenance(7)), None);
    }
}
