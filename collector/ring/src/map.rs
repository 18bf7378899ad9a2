//! A file in shared memory, mapped. All unsafe code of this crate.
#![expect(
    unsafe_code,
    reason = "mapping a file and viewing it as the layout says is the work of this module"
)]

use crate::layout::{Capacities, PAGE_BYTES, RegionHeader, RingHeader};
use crate::slot_cell::SlotCell;
use crate::sync::AtomicU32;
use mpiscope_wire::SLOT_BYTES;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// A mapping of a whole ring file. It stays where it is until dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    address: *mut u8,
    bytes: usize,
}

// SAFETY: the memory is only ever viewed through atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Makes sure that every byte of the file has memory or disk behind it: no later write can then fail by a signal.
pub(crate) fn reserve(file: &File, bytes: usize) -> io::Result<()> {
    // SAFETY: the descriptor is open for writing as long as `file` lives.
    let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// The file by a number that is no standard descriptor's, where one of those was free: output to stderr must not get
/// into it.
pub(crate) fn above_standard(file: File) -> io::Result<File> {
    const STDERR: i32 = 2;
    // A clone never has the number of a standard descriptor.
    if file.as_raw_fd() <= STDERR { file.try_clone() } else { Ok(file) }
}

impl Mapping {
    /// Maps `bytes` of a file that is at least so long. `populate` touches every page at once.
    pub(crate) fn new(file: &File, bytes: usize, populate: bool) -> io::Result<Self> {
        let flags = libc::MAP_SHARED | if populate { libc::MAP_POPULATE } else { 0 };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice overlaps nothing.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file.as_raw_fd(), 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { address: address.cast(), bytes })
    }

    /// The first word of a file that is no ring file.
    pub(crate) fn word(&self) -> &AtomicU32 {
        assert!(self.bytes >= size_of::<AtomicU32>());
        // SAFETY: the mapping is page-aligned and long enough; every bit pattern is a number.
        unsafe { &*self.address.cast() }
    }

    pub(crate) fn header(&self) -> &RegionHeader {
        const { assert!(align_of::<RegionHeader>() <= PAGE_BYTES) };
        assert!(self.bytes >= size_of::<RegionHeader>());
        // SAFETY: the mapping is page-aligned and long enough; every bit pattern is a valid header of atomics.
        unsafe { &*self.address.cast() }
    }

    pub(crate) fn ring_header(&self, ring: usize) -> &RingHeader {
        let offset = PAGE_BYTES + ring * size_of::<RingHeader>();
        assert!(offset + size_of::<RingHeader>() <= self.bytes);
        // SAFETY: in bounds by the check, aligned because page and header sizes are multiples of 64.
        unsafe { &*self.address.add(offset).cast() }
    }

    pub(crate) fn slots(&self, capacities: &Capacities, ring: usize) -> &[SlotCell] {
        let (offset, count) = (capacities.offset(ring), capacities.slots(ring));
        assert!(offset + count * SLOT_BYTES <= self.bytes);
        // SAFETY: in bounds by the check, aligned because offsets are multiples of a slot; cells are atomics.
        unsafe { std::slice::from_raw_parts(self.address.add(offset).cast(), count) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no view of it outlives `self`.
        unsafe { libc::munmap(self.address.cast(), self.bytes) };
    }
}
