//! What the library gives and takes back.

use libc::c_void;

/// What the library gives and takes back, and nobody looks into.
pub(crate) type Handle = *mut c_void;
