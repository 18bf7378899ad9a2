//! The family of the MPI library whose calls are recorded.

use mpiscope_capture::Family;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Null until the library is known.
static RECORDED: AtomicPtr<Family> = AtomicPtr::new(core::ptr::null_mut());

/// The library is of this family.
pub(crate) fn set(family: &'static Family) {
    RECORDED.store(core::ptr::from_ref(family).cast_mut(), Ordering::Release);
}

/// The family; null while it is not known.
#[inline(always)]
pub(crate) fn get() -> *const Family {
    RECORDED.load(Ordering::Relaxed)
}
