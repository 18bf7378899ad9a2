//! A port: a TAP interface, whose other end the lab hands to a host.

use anyhow::{Context as _, Result};
use rustix::fs::{Mode, OFlags};
use rustix::ioctl::{Setter, opcode};
use std::fs::File;

/// `IFF_TAP | IFF_NO_PI` of the kernel's `if_tun.h`: whole Ethernet frames, nothing before them.
const FLAGS: u16 = 0x0002 | 0x1000;

/// `struct ifreq` as `TUNSETIFF` reads it.
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: u16,
    unused: [u8; 22],
}

const _: () = assert!(size_of::<Request>() == 40, "the size of the kernel's struct ifreq");

/// Makes the interface of this name in the network namespace that the process is in. It goes when the file is closed.
pub(crate) fn open(name: &str) -> Result<File> {
    let path = "/dev/net/tun";
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let port = rustix::fs::open(path, flags, Mode::empty()).with_context(|| format!("open {path}"))?;
    let mut request = Request { name: [0; 16], flags: FLAGS, unused: [0; 22] };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    attach(&port, request).with_context(|| format!("make the interface {name}"))?;
    Ok(port.into())
}

#[expect(unsafe_code, reason = "rustix knows no TUNSETIFF")]
fn attach(port: &impl std::os::fd::AsFd, request: Request) -> rustix::io::Result<()> {
    // The number names an int, while the kernel reads a whole ifreq.
    const TUNSETIFF: rustix::ioctl::Opcode = opcode::write::<std::ffi::c_int>(b'T', 202);
    // SAFETY: TUNSETIFF reads and writes one ifreq at the address that it is given; the setter's value has that size
    // and lives until the call returns.
    unsafe { rustix::ioctl::ioctl(port, Setter::<TUNSETIFF, Request>::new(request)) }
}
